# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Velocities of the joints at a node, from the momenta of the bodies: M(q) v = Dᵀψ P."""

from __future__ import annotations

import numpy as np

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.forward_kernel import forward_dynamics_into
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.maximal.arrays import MaximalTree
from mbsim_ros.integrators.maximal.coordinates_kernel import joint_momenta_into
from mbsim_ros.model.model import Model

NO_GRAVITY = np.zeros(3)


class NodeVelocity:
    """Memory for it, and the robot's momentum as a by-product: `total` (6,)."""

    def __init__(self, model: Model, workspace: Workspace):
        self.model, self._workspace = model, workspace
        nv = len(model.dof_parent)
        self._p, self._still = np.zeros(nv), np.zeros(nv)
        self._subtree = np.zeros((model.n_bodies + 1, 6))

    @property
    def total(self) -> np.ndarray:
        """Linear and angular momentum about the world's origin, of the last momenta."""
        return self._subtree[0]  # type: ignore[no-any-return]

    def momenta(self, tree: MaximalTree, X: np.ndarray, P: np.ndarray) -> np.ndarray:
        """Momenta of the dofs (nv,)."""
        joint_momenta_into(tree, X, P, self._subtree, self._p)
        return self._p

    def of(self, tree: MaximalTree, X: np.ndarray, P: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Velocities (nv,) at q. Without gravity and speed, acceleration under the forces p is M⁻¹p."""
        p, model, ws = self.momenta(tree, X, P), self.model, self._workspace
        v = np.zeros(len(p))
        singular = forward_dynamics_into(
            model.topology,
            model.constants,
            q,
            self._still,
            p,
            NO_GRAVITY,
            check.NO_WRENCHES,
            ws.sincos,
            ws.rows,
            ws.dofs,
            v,
        )
        if singular >= 0:
            raise ValueError(f"'{model.name}': the mass matrix is singular here, so momenta give no velocities")
        return v
