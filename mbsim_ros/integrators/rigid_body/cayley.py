# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`CayleyRigidBody`: the symplectic scheme of K (11)–(14) for one rigid body, free or on a ball joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.integrators.baselines.integrator import Baseline
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.rigid_body.cayley_kernel import CAYLEY, NO_SOLUTION, rotation_steps_into
from mbsim_ros.integrators.rigid_body.coverage import rotational_inertia, why_not_one_body
from mbsim_ros.integrators.state_bounds import BOUNDS
from mbsim_ros.integrators.step_bound import cayley_bound
from mbsim_ros.model.joint_kinds import FLOATING
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, INERTIA, KIND, MASS, ROTATION, Model


class CayleyRigidBody(Baseline):
    """K (11), (12) for a body that turns about its ball joint, or freely about its centre of mass, which Verlet moves.

    It keeps the spatial momentum exactly and is symplectic. The state is that of the nodes: v is J⁻¹ times the momentum
    there, not K's ω_k, which is the mean over a step. Newton's method is pure, so that steps beyond K's bound may fail:
    `SimulationDiverged` then.
    """

    SCHEME = CAYLEY

    def __init__(self, model: Model, dt: float, *, gravity: ArrayLike | None = None):
        why = why_not_one_body(model)
        if why:
            raise UnsupportedModel(
                f"'{model.name}': this integrator covers one rigid body, free or on a spherical joint; "
                f"{why}: use 'lie_variational'"
            )
        super().__init__(model, dt, gravity=gravity)
        self._is_floating = model.topology[0, KIND] == FLOATING
        constants = model.constants[0]
        at = CENTRAL_INERTIA if self._is_floating else INERTIA
        self._mass, self._centre = float(constants[MASS]), constants[CENTRE : CENTRE + 3].copy()
        self._inertia = constants[at : at + 6].copy()
        self._world_to_joint = constants[ROTATION : ROTATION + 9].reshape(3, 3).T.ravel().copy()
        self._saved = np.zeros(13)
        self.iterations = 0  # of Newton's method in the last call, all its steps together
        moments = np.linalg.eigvalsh(self.inertia)
        self._condition = float(moments[2] / moments[0])

    @property
    def inertia(self) -> np.ndarray:
        """Inertia (3, 3) about the centre of rotation, in the axes of the body."""
        return rotational_inertia(self.model)

    def step_bound(self) -> float:
        """The step [s] below which the Jacobian of a step is invertible at this velocity, K (20) with the errata."""
        return cayley_bound(max(self._condition, 1.0), float(np.linalg.norm(self.v[-3:])))

    def _run(self, steps: int) -> tuple[int, int]:
        done, result, self.iterations = rotation_steps_into(
            self.SCHEME, self._is_floating, steps, self.dt, self._mass, self._centre, self._inertia,
            self._world_to_joint, self.gravity, self._force, self.q, self.v, self._saved,
        )  # fmt: skip
        return done, result

    def _why(self, result: int) -> str:
        what = f"the state left the bounds of states ({BOUNDS})"
        if result == NO_SOLUTION:
            what = "Newton's method found no mean velocity of the step"
        return (
            f"t = {self.time:.6g} s: {what} with dt = {self.dt:g} s at {np.linalg.norm(self.v[-3:]):.3g} rad/s; "
            f"it is sure to be solvable below {self.step_bound():.3g} s"
        )
