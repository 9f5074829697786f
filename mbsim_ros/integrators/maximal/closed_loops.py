# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a robot with closed loops needs beside its tree: a start that is closed, velocities that keep it so, steps."""

from __future__ import annotations

import numpy as np

from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.closures import CLOSED, MOST_OPEN, too_far_open
from mbsim_ros.integrators.maximal.arrays import MaximalSystem
from mbsim_ros.integrators.maximal.closed_steps import closed_steps
from mbsim_ros.integrators.maximal.coordinates import bodies_at
from mbsim_ros.integrators.maximal.loop_closures import LoopClosures
from mbsim_ros.integrators.maximal.sparse_solver import SparseSystem
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import IQ, IV, KIND, Model


class ClosedLoops:
    """The closures of a robot in motion. Impulses of the rows that are in use are kept from step to step."""

    def __init__(self, model: Model, system: MaximalSystem, closures: LoopClosures, workspace: Workspace):
        self.model, self.system, self.closures, self._workspace = model, system, closures, workspace
        m = len(closures.owners)
        self.pulls, self.in_use = np.zeros(m), np.ones(m)
        self._sparse: SparseSystem | None = None

    def closed(self, q: np.ndarray) -> np.ndarray:
        """The nearest q at which the loops are closed, found by moving joints of one dof; ValueError if it is far."""
        topology, q = self.model.topology, q.copy()
        single = topology[:, KIND] <= PRISMATIC
        dofs, places = topology[single, IV], topology[single, IQ]
        first = error = 0.0
        for iteration in range(20):
            X = bodies_at(self.model, self.system.tree, q, self._workspace)
            J = self.closures.jacobian(self.system.tree, X, self.model.nv)
            error = float(np.abs(self.closures.g).max())
            first = error if iteration == 0 else first
            if error <= CLOSED or first > MOST_OPEN:
                break
            q[places] -= np.linalg.lstsq(J[:, dofs], self.closures.g, rcond=1e-9)[0]
        if error > 100.0 * CLOSED:
            raise too_far_open(self.closures.names, first)
        return q

    def begin(self, X: np.ndarray) -> None:
        """Choose the rows to use at X, without impulses."""
        self.closures.keep_independent(self.closures.jacobian(self.system.tree, X, self.model.nv))
        self.in_use[:] = 0.0
        self.in_use[self.closures.kept] = 1.0
        self.pulls[:] = 0.0
        self._sparse = None

    def kept_velocity(self, q: np.ndarray, X: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Velocities (nv,) of momenta p that keep the loops closed: M v + Jᵀ μ = p, J v = 0."""
        J = self.closures.jacobian(self.system.tree, X, self.model.nv)[self.closures.kept]
        nv, m = self.model.nv, len(J)
        matrix = np.zeros((nv + m, nv + m))
        matrix[:nv, :nv], matrix[:nv, nv:], matrix[nv:, :nv] = mass_matrix(self.model, q), J.T, J
        return np.linalg.solve(matrix, np.concatenate([p, np.zeros(m)]))[:nv]  # type: ignore[no-any-return]

    def steps(self, h: float, steps: int, guess: int, tolerance: float, absolute: float) -> tuple[int, int, bool]:
        """Take steps of h, as `steps_by_tree` does."""
        if self._sparse is None:
            self.closures.kept = np.flatnonzero(self.in_use)
            self._sparse = SparseSystem(self.system, self.closures)
        pulls = self.pulls[self.closures.kept]
        done = closed_steps(
            self.system, self.closures, self._sparse, pulls, h, steps, guess, tolerance, absolute
        )  # fmt: skip
        self.pulls[self.closures.kept] = pulls
        return done

    def restored(self) -> None:
        """The arrays were written to: go by what they say."""
        self._sparse = None
        self.closures.kept = np.flatnonzero(self.in_use)
