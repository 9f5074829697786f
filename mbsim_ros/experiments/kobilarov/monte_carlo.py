# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The Monte Carlo experiment behind K's Figure 2: where the steps of random bodies and velocities become singular."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from mbsim_ros.experiments.kobilarov.singular_kernel import WORK, newton_failures_into, singular_steps_into
from mbsim_ros.integrators.rigid_body.cayley_kernel import CAYLEY, NEWMARK
from mbsim_ros.lie.so3 import hat

SCHEMES = {"trapezoidal Lie-Newmark": NEWMARK, "Cayley": CAYLEY}
CHUNK = 5000
LONGEST = 10.0  # h |ω| up to which Newton's method is tried


@dataclass(frozen=True)
class Singularities:
    """What was found for one condition number, one scheme, and all inertias or those that a real body can have."""

    kappa: float
    scheme: str
    physical: bool
    samples: int
    smallest: float  # h |ω|, the smallest at which a sample was singular, infinite if none was
    share_singular: float  # of samples that are singular at some h |ω|
    share_failed: float  # of samples for which Newton's method failed at a random h |ω| up to LONGEST
    optimised: float  # h |ω|, the smallest that an optimiser finds from the best samples


def monte_carlo(
    kappas: Sequence[float], samples: int, progress: Callable[[float], None], *, seed: int = 0
) -> list[Singularities]:
    """Search on all cores: the kernels run without Python's lock, so threads do. A seed repeats the numbers."""
    cases = [(kappa, scheme, physical) for kappa in kappas for scheme in SCHEMES for physical in (False, True)]
    chunks = [min(CHUNK, samples - begin) for begin in range(0, samples, CHUNK)]
    parts: dict[int, list[tuple[np.ndarray, ...]]] = {number: [] for number in range(len(cases))}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {
            pool.submit(_chunk, *case, size, (seed, number, part)): number
            for number, case in enumerate(cases)
            for part, size in enumerate(chunks)
        }
        for done, future in enumerate(as_completed(futures)):
            parts[futures[future]].append(future.result())
            progress((done + 1) / len(futures))
    return [_summary(case, parts[number]) for number, case in enumerate(cases)]


def random_bodies(kappa: float, physical: bool, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Middle moments (size,) of diag(1, j, κ) and directions (size, 3); a real body's largest moment is no larger than
    the sum of the others."""
    lowest = max(1.0, kappa - 1.0) if physical else 1.0
    directions = rng.normal(size=(size, 3))
    return rng.uniform(lowest, kappa, size), directions / np.linalg.norm(directions, axis=1, keepdims=True)


def smallest_singular_step(scheme: str, kappa: float, middle: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The smallest singular h |ω| of each of n bodies, infinite for those that have none."""
    found = np.empty(len(middle))
    singular_steps_into(SCHEMES[scheme], middle, kappa, directions, np.zeros(WORK), found)
    return found


def first_singular_condition() -> tuple[float, float]:
    """The smallest κ at which the Cayley scheme has a singular step, for diag(1, κ, κ), and h |ω| there.

    That this shape is the first is an observation of optimisers, not proved. u = (cos θ, sin θ, 0), by its symmetry.
    """
    low, high, where = 1.0, 1000.0, np.inf
    while high - low > 1e-7 * high:
        kappa = 0.5 * (low + high)
        grid = np.linspace(0.0, np.pi / 2.0, 61)
        found = np.inf
        for _ in range(6):  # narrower and narrower about the direction in which the determinant comes nearest to zero
            directions = np.stack([np.cos(grid), np.sin(grid), 0.0 * grid], axis=1)
            found = float(smallest_singular_step("Cayley", kappa, np.full(len(grid), kappa), directions).min())
            if np.isfinite(found):
                break
            nearest, width = grid[np.argmin(_least_determinants(kappa, directions))], 3.0 * (grid[1] - grid[0])
            grid = np.linspace(max(0.0, nearest - width), min(np.pi / 2.0, nearest + width), 61)
        if np.isfinite(found):
            high, where = kappa, found
        else:
            low = kappa
    return high, where


def _least_determinants(kappa: float, directions: np.ndarray) -> np.ndarray:
    """The least det De(x) / (1 + x)⁶ over x of the Cayley scheme and diag(1, κ, κ), for each direction (n, 3)."""
    x = np.geomspace(0.5, 50.0, 150)[None, :, None, None]
    J = np.diag([1.0, kappa, kappa])
    linear = np.array([0.5 * (hat(u) @ J - hat(J @ u)) for u in directions])[:, None]
    square = np.array([0.25 * (u @ J @ u) * np.eye(3) + 0.5 * np.outer(u, J @ u) for u in directions])[:, None]
    values = np.linalg.det(J + x * linear + x**2 * square) / (1.0 + x[..., 0, 0]) ** 6
    return np.asarray(values.min(axis=1))


def _chunk(kappa: float, scheme: str, physical: bool, size: int, seed: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    middle, directions = random_bodies(kappa, physical, size, rng)
    found = smallest_singular_step(scheme, kappa, middle, directions)
    failed = np.zeros(size, dtype=bool)
    steps = rng.uniform(0.0, LONGEST, size)
    newton_failures_into(SCHEMES[scheme], middle, kappa, directions, steps, np.zeros(WORK), failed)
    best = np.argsort(found)[:3]
    return found, failed, found[best], middle[best], directions[best]


def _summary(case: tuple[float, str, bool], parts: list[tuple[np.ndarray, ...]]) -> Singularities:
    kappa, scheme, physical = case
    found, failed, values, middle, directions = (np.concatenate(each) for each in zip(*parts, strict=True))
    best = np.argsort(values, kind="stable")[:3]
    optimised = min((_climb(case, middle[k], directions[k]) for k in best if np.isfinite(values[k])), default=np.inf)
    shares = float(np.isfinite(found).mean()), float(failed.mean())
    return Singularities(kappa, scheme, physical, len(found), float(found.min()), *shares, optimised)


def _climb(case: tuple[float, str, bool], middle: float, direction: np.ndarray) -> float:
    """From one body to the one near it that becomes singular first."""
    kappa, scheme, physical = case
    lowest = max(1.0, kappa - 1.0) if physical else 1.0

    def step(parameters: np.ndarray) -> float:
        u = parameters[1:] / np.linalg.norm(parameters[1:])
        j = np.clip(parameters[:1], lowest, kappa)
        found = float(smallest_singular_step(scheme, kappa, j, u[None, :])[0])
        return found if np.isfinite(found) else 1e6

    start = np.concatenate([[middle], direction])
    options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000, "maxfev": 4000, "adaptive": True}
    first = minimize(step, start, method="Nelder-Mead", options=options)
    return float(minimize(step, first.x, method="Nelder-Mead", options=options).fun)
