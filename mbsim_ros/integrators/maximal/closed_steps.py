# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Steps of a robot with closed loops: Newton's method with a general sparse solve in place of Algorithm 5.1."""

from __future__ import annotations

import numpy as np

from mbsim_ros.integrators.maximal.arrays import ROWS, MaximalSystem
from mbsim_ros.integrators.maximal.equations_kernel import equations_into
from mbsim_ros.integrators.maximal.loop_closures import LoopClosures
from mbsim_ros.integrators.maximal.sparse_solver import SparseSystem
from mbsim_ros.integrators.maximal.step_kernel import (
    MOST_ITERATIONS,
    SOLVER_GAP,
    SOLVER_LEFT,
    begin,
    ends_plausibly,
    finish,
    give_up,
    has_converged,
)
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import KIND

Ends = tuple[np.ndarray, np.ndarray]


def closed_steps(
    system: MaximalSystem, closures: LoopClosures, sparse: SparseSystem, pulls: np.ndarray, h: float, steps: int,
    guess: int, tolerance: float, absolute: float,
) -> tuple[int, int, bool]:  # fmt: skip
    """Take steps of h; as `steps_by_tree`. pulls: impulses of the closures' kept rows, kept from step to step."""
    iterations = 0
    for done in range(steps):
        kept = pulls.copy()
        begin(system, h, guess)
        taken = _newton(system, closures, sparse, pulls, h, tolerance, absolute)
        if taken < 0 or not ends_plausibly(system, h):
            give_up(system)
            pulls[:] = kept
            return done, iterations, True
        iterations += taken
        finish(system, h)
    return steps, iterations, False


def _newton(
    system: MaximalSystem, closures: LoopClosures, sparse: SparseSystem, pulls: np.ndarray, h: float, tolerance: float,
    absolute: float,
) -> int:  # fmt: skip
    memory = system.state.memory
    _, now = _kept_rows(closures, system.state.X)
    before = 1.0e300
    for iteration in range(MOST_ITERATIONS):
        _, gap, scale = equations_into(system, h)
        sparse.pull(now, pulls)
        gaps, later = _kept_rows(closures, system.work.X_next)
        left = float(np.abs(system.work.unbalanced).max())
        left = max(left, _undriven(system))
        gap = max(gap, float(np.abs(gaps).max(initial=0.0)))
        scale = max(scale, float(np.abs(pulls).max(initial=0.0)))
        if not np.isfinite(left) or not np.isfinite(gap):
            return -1
        if has_converged(left, gap, scale, before, tolerance, absolute, memory):
            return iteration
        before = float(memory[SOLVER_LEFT] + memory[SOLVER_GAP])
        try:
            step = sparse.solve(now, later, gaps)
        except RuntimeError:  # singular
            return -1
        sparse.add(step, pulls)
    return -1


def _kept_rows(closures: LoopClosures, X: np.ndarray) -> tuple[np.ndarray, Ends]:
    g, G_a, G_b = closures.rows(X)
    kept = closures.kept
    return g[kept], (G_a[kept], G_b[kept])


def _undriven(system: MaximalSystem) -> float:
    """Largest difference between a coordinate's impulse and its law."""
    single = system.tree.topology[:, KIND] <= PRISMATIC
    return float(np.abs(system.work.gaps[single, ROWS]).max(initial=0.0))
