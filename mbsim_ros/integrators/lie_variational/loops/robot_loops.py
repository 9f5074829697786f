# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The loops of a robot: a start that is closed, velocities that keep it so, how far they are open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from mbsim_ros.coupling.configuration import CouplingConfiguration, identity
from mbsim_ros.coupling.coupled_dynamics import reduced, solve_reduced, tree_mass_matrix
from mbsim_ros.coupling.engagement import Engagement, engage
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.closures import (
    CLOSED,
    MOST_OPEN,
    closure_geometry,
    independent_rows,
    too_far_open,
)
from mbsim_ros.integrators.lie_variational.arrays import System, Tree
from mbsim_ros.integrators.lie_variational.loops.arrays import LoopArrays
from mbsim_ros.integrators.lie_variational.loops.build import for_columns, keep_rows, make_loops
from mbsim_ros.integrators.lie_variational.loops.multipliers_kernel import closed_node_velocity_into
from mbsim_ros.integrators.lie_variational.loops.rows_kernel import closure_rows_into
from mbsim_ros.integrators.lie_variational.loops.step_kernel import closed_steps_into
from mbsim_ros.model.model import IV, Model
from mbsim_ros.model.sidecar.settings import Closure

BESIDE = 1e-3  # rad, m: how far from a pose it is seen whether it is a singular one
FOLDED = 1e-3  # smallest over largest singular value of the rows: near a pose in which a loop can go two ways


class RobotLoops:
    """Closures of a robot in motion; `arrays` is what kernels take, multipliers included."""

    def __init__(self, model: Model, tree: Tree, closures: Iterable[Closure], nu: int):
        geometry = closure_geometry(model, closures)
        self.model, self.names, self._tree = model, geometry.names, tree
        self.arrays: LoopArrays = make_loops(model, geometry, nu)
        self._workspace = Workspace(model)

    def rows(self, q_tree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All rows g (m,) at q (tree nq,) and their derivatives by the dofs of the tree (m, nv), copies."""
        G, ws = np.zeros(self.arrays.G_node.shape), self._workspace
        closure_rows_into(self._tree, self.arrays, q_tree, ws.sincos, ws.rows, G)
        return self.arrays.g.copy(), G

    def error(self, q_tree: np.ndarray) -> float:
        """How far the closures are open: the largest of all rows, kept or not [m, or sine of an angle]."""
        return float(np.abs(self.rows(q_tree)[0]).max(initial=0.0))

    def closed(self, q: np.ndarray) -> np.ndarray:
        """The nearest q (nq,) at which the loops are closed, found by moving joints of one dof; ValueError if far."""
        model, q = self.model, np.array(q, dtype=float)
        places, columns, D = self._single_joints()
        first = error = 0.0
        for iteration in range(20):
            g, G = self.rows(model.tree_q(q))
            error = float(np.abs(g).max(initial=0.0))
            first = error if iteration == 0 else first
            if error <= CLOSED or first > MOST_OPEN:
                break
            q[places] -= np.linalg.lstsq((G @ D)[:, columns], g, rcond=1e-9)[0]
        if not error <= 100.0 * CLOSED:
            raise too_far_open(self.names, first)
        return q

    def _single_joints(self) -> tuple[np.ndarray, list[int], np.ndarray]:
        """Places in q of the joints of one dof, their columns of D without couplings, and that D.

        It moves joints that mimic others with them.
        """
        model, D = self.model, identity(self.model).D
        joints = [joint for joint in model.joints if joint.nv == 1 and joint.iq >= 0]
        columns = [int(np.flatnonzero(D[model.topology[joint.body, IV]])[0]) for joint in joints]
        return np.array([joint.iq for joint in joints], dtype=np.int64), columns, D

    def refuse_folded(self, q: np.ndarray, configuration: CouplingConfiguration) -> None:
        """ValueError for a start at q (nq,) from which the loops can go more than one way."""
        J = self.rows(self.model.tree_q(q))[1] @ configuration.D
        if len(independent_rows(J)) < self._rank_beside(q, configuration):
            raise ValueError(
                f"q: the closures {', '.join(self.names)} are folded here, and from here can go more than one way: "
                "give a q a little beside this one"
            )

    def begin(self, q_tree: np.ndarray, configuration: CouplingConfiguration) -> None:
        """Choose the rows to use at q with a coupling, without multipliers."""
        if self.arrays.J_node.shape[1] != configuration.nu:
            self.arrays = for_columns(self.arrays, configuration.nu)
        keep_rows(self.arrays, independent_rows(self.rows(q_tree)[1] @ configuration.D))
        self.arrays.force[:] = 0.0

    def is_folded(self, q: np.ndarray, configuration: CouplingConfiguration) -> bool:
        """Whether q (nq,) is near a singular pose, from which the loops can go more than one way."""
        J = self.rows(self.model.tree_q(q))[1] @ configuration.D
        kept = independent_rows(J)
        sizes = np.linalg.svd(J[kept], compute_uv=False)
        return bool(len(sizes) and sizes[-1] < FOLDED * sizes[0]) or len(kept) < self._rank_beside(q, configuration)

    def _rank_beside(self, q: np.ndarray, configuration: CouplingConfiguration) -> int:
        """How many rows are independent a little further on, where the loops are closed, too."""
        places, columns, D = self._single_joints()
        J = (self.rows(self.model.tree_q(q))[1] @ D)[:, columns]
        way = np.cos(np.arange(len(columns)))
        way -= np.linalg.pinv(J, rcond=1e-9) @ (J @ way)
        beside = q.copy()
        beside[places] += BESIDE * way
        try:
            beside = self.closed(beside)
        except ValueError:
            return 0
        return len(independent_rows(self.rows(self.model.tree_q(beside))[1] @ configuration.D))

    def kept_rates(self, q: np.ndarray, configuration: CouplingConfiguration, u: np.ndarray) -> np.ndarray:
        """The rates nearest to u (nu,), by kinetic energy, that keep the loops closed at q (nq,)."""
        M_u = reduced(configuration, tree_mass_matrix(self.model, q))
        J = self.rows(self.model.tree_q(q))[1] @ configuration.D
        return closed_rates(J[independent_rows(J)], configuration, M_u, u)

    def engage(
        self, q: np.ndarray, u: np.ndarray, old: CouplingConfiguration, new: CouplingConfiguration,
        motor_speeds: Mapping[str, float] | None,
    ) -> Engagement:  # fmt: skip
        """Change the coupling at q (nq,) and rates u of old: clutches and loops pull at once."""
        return engage(
            self.model, q, old, new, u=u, motor_speeds=motor_speeds, keep_closed=lambda u: self.kept_rates(q, new, u)
        )

    def take_steps(
        self, system: System, substeps: np.ndarray, first: int, last: int, targets: np.ndarray, period: int,
        judging: bool,
    ) -> tuple[int, int, int, int]:  # fmt: skip
        """Steps by the plain iteration, as steps_into takes and returns them."""
        return closed_steps_into(system, self.arrays, substeps, first, last, targets, period, judging)  # type: ignore[no-any-return]

    def node_velocity_into(self, system: System, u: np.ndarray, v: np.ndarray) -> bool:
        """Write the velocities at the node; False where momenta give none."""
        state = system.state
        return closed_node_velocity_into(  # type: ignore[no-any-return]
            system.tree, system.coupling, self.arrays, state.q, state.p, state.motor_momentum, system.work.node, u, v
        )


def closed_rates(J: np.ndarray, configuration: CouplingConfiguration, M_u: np.ndarray, u: np.ndarray) -> np.ndarray:
    """u − M⁻¹Jᵀ (J M⁻¹ Jᵀ)⁻¹ J u for independent rows J (m, nu): what impulses of the loops leave of rates u."""
    if len(J) == 0:
        return u
    solved = np.empty(J.shape)
    for k, row in enumerate(J):
        solved[k] = row
        solve_reduced(configuration, M_u, solved[k])
    S = J @ solved.T
    for _ in range(2):  # once more for what rounding left
        u = u - solved.T @ np.linalg.solve(S, J @ u)
    return u
