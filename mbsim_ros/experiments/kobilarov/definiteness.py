# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where the Jacobians of K (17), (18) cease to be positive definite: by search, beside the bounds (19), (20).

With x = h |ω| and ω along the unit vector u the symmetric part is J + x A + x² B, B = 0 for the Lie-Newmark scheme. Its
first zero in x belongs to the largest positive root y = 1/x of y² J + y A + B, which is an eigenvalue.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from mbsim_ros.experiments.kobilarov.monte_carlo import random_bodies
from mbsim_ros.lie.so3 import hat

SAMPLES = 2000
REFINED = 3  # of the samples, the best
HATS = np.array([hat(axis) for axis in np.eye(3)])


def first_indefinite_step(kappa: float, with_cayley: bool, seed: int = 0) -> float:
    """The smallest h |ω| at which the Jacobian of a body diag(1, j, κ) is not positive definite, infinite if none."""
    rng = np.random.default_rng(seed)
    middle, directions = random_bodies(kappa, False, SAMPLES, rng)
    found = indefinite_steps(middle, kappa, directions, with_cayley)
    best = np.argsort(found, kind="stable")[:REFINED]
    if not np.isfinite(found[best[0]]):
        return float("inf")

    def step(parameters: np.ndarray) -> float:
        u = parameters[1:] / np.linalg.norm(parameters[1:])
        value = indefinite_steps(np.clip(parameters[:1], 1.0, kappa), kappa, u[None], with_cayley)[0]
        return float(value) if np.isfinite(value) else 1e6

    options = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 2000, "maxfev": 2000}
    starts = [np.concatenate([[middle[k]], directions[k]]) for k in best]
    return min(float(minimize(step, start, method="Nelder-Mead", options=options).fun) for start in starts)


def indefinite_steps(middle: np.ndarray, kappa: float, directions: np.ndarray, with_cayley: bool) -> np.ndarray:
    """The first h |ω| of n bodies at which their Jacobian is not positive definite (n,), infinite for never."""
    n = len(middle)
    J = np.zeros((n, 3, 3))
    J[:, 0, 0], J[:, 1, 1], J[:, 2, 2] = 1.0, middle, kappa
    turned = np.einsum("na,abc->nbc", directions, HATS) @ J
    A = 0.25 * (turned + turned.transpose(0, 2, 1))  # ½ û J, its symmetric part; that of Jω is antisymmetric
    B = np.zeros_like(A)
    if with_cayley:  # (18) with h²/4 and h²/2
        Ju = np.einsum("nab,nb->na", J, directions)
        outer = directions[:, :, None] * Ju[:, None, :]
        B = 0.25 * np.einsum("na,na->n", directions, Ju)[:, None, None] * np.eye(3)
        B = B + 0.25 * (outer + outer.transpose(0, 2, 1))
    companion = np.zeros((n, 6, 6))
    companion[:, :3, :3], companion[:, :3, 3:] = -np.linalg.solve(J, A), -np.linalg.solve(J, B)
    companion[:, 3:, :3] = np.eye(3)
    roots = np.linalg.eigvals(companion)
    is_real = (np.abs(roots.imag) <= 1e-9 * np.abs(roots)) & (roots.real > 1e-9)
    largest = np.where(is_real, roots.real, 0.0).max(axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / largest)
