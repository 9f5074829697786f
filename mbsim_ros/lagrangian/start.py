# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether a motion can start: places and velocities that obey the constraints, and equations that can be solved."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from mbsim_ros.lagrangian.equations import DiscreteEquations
from mbsim_ros.lagrangian.newton import EPSILON, MOST_ITERATIONS

ALLOWED = 1e-9  # relative: how far a start may be from the constraints
SINGULAR = 1e-12  # relative to the largest singular value


def checked_start(
    equations: DiscreteEquations, q: np.ndarray, v: np.ndarray, t: float, project: bool
) -> tuple[np.ndarray, np.ndarray]:
    """q and v if they obey the constraints, or those nearest to them that do, if that is wanted."""
    near_q, near_v = nearest(equations, q, v)
    for name, given, near in (("q", q, near_q), ("v", v, near_v)):
        off = abs(near - given)
        if not project and off.max() > ALLOWED * (1.0 + abs(given).max()):
            worst = int(off.argmax())
            raise ValueError(
                f"{name}: does not obey the constraints: {name}[{worst}] = {given[worst]:.9g}, where the nearest that "
                f"does has {near[worst]:.9g}; give {name} = {near.tolist()}, or project=True"
            )
    q, v = (near_q, near_v) if project else (q, v)
    reason = what_is_singular(equations, q, v, t)
    if reason:
        raise ValueError(reason)
    return q, v


def nearest(equations: DiscreteEquations, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest place where g = 0, by Gauss and Newton, and the nearest velocity there with G v = 0."""
    place = q.copy()
    if equations.m == 0:
        return place, v.copy()
    for _ in range(MOST_ITERATIONS):
        g, G = equations.constraints(place)
        if not (np.isfinite(g).all() and np.isfinite(G).all()):
            raise ValueError(f"constraints: expected finite numbers and slopes at q, got {g.tolist()}")
        change = np.linalg.lstsq(G, g, rcond=None)[0]
        place -= change
        if abs(change).max() <= 4.0 * EPSILON * (1.0 + abs(place).max()):
            break
    g, G = equations.constraints(place)
    if (abs(g) > ALLOWED * np.linalg.norm(G, axis=1) * (1.0 + abs(place).max())).any():
        raise ValueError(f"q: no place that obeys the constraints was found near it; at the nearest g = {g.tolist()}")
    return place, v - np.linalg.lstsq(G, G @ v, rcond=None)[0]


def what_is_singular(equations: DiscreteEquations, q: np.ndarray, v: np.ndarray, t: float) -> str:
    """Why no step can be solved here, in words; empty if one can, W 2.3.5.

    Rows of G are compared with each other, and ∂²L/∂v² with its largest entry: units do not count.
    """
    n, m = equations.n, equations.m
    energy, (right, matrix) = equations.energy(q, v)[0], equations.acceleration(q, v, t)
    if not all(np.isfinite(each).all() for each in (energy, right, matrix)):
        return "lagrangian, forces: expected finite values and slopes at q and v, got others: are they defined there?"
    H, G = matrix[:n, :n], matrix[n:, :n].copy()
    G /= np.maximum(np.linalg.norm(G, axis=1, keepdims=True), np.finfo(float).tiny)
    if m:
        _, R, order = qr(G.T, pivoting=True, mode="economic")
        sizes = abs(np.diag(R))
        rank = int((sizes > SINGULAR * max(sizes[0], 0.5)).sum())
        if rank < m:
            rows = ", ".join(f"g[{k}]" for k in sorted(order[rank:]))
            return f"constraints: only {rank} of {m} are independent here: leave out {rows}, or start elsewhere"
    whole = np.block([[H / max(abs(H).max(), np.finfo(float).tiny), G.T], [G, np.zeros((m, m))]])
    _, sizes, directions = np.linalg.svd(whole)
    if sizes[-1] <= SINGULAR * sizes[0]:
        free = int(abs(directions[-1][:n]).argmax())
        return f"lagrangian: no kinetic energy where v[{free}] changes: ∂²L/∂v² is singular, and no constraint helps"
    return ""
