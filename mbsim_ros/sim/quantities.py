# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What somebody who writes a controller asks about the robot as it is now: poses, Jacobians, momenta, efforts.

Each is the function of the same name in `mbsim_ros.dynamics` at the simulation's own q, v and gravity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.dynamics.inverse import inverse_dynamics, wrenches_at_joints
from mbsim_ros.dynamics.jacobian import frame_jacobian
from mbsim_ros.dynamics.kinematics import link_pose, link_twist
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.momentum import centre_of_mass, centroidal_momentum, momentum
from mbsim_ros.integrators.integrator import Integrator

if TYPE_CHECKING:
    from mbsim_ros.model.model import Model


class Quantities:
    """The part of `Simulation` that computes from its model, q and v and changes nothing."""

    if TYPE_CHECKING:
        model: Model
        integrator: Integrator

        @property
        def q(self) -> np.ndarray:
            """Configuration (nq,)."""

        @property
        def v(self) -> np.ndarray:
            """Velocities (nv,)."""

    def link_pose(self, link: str) -> np.ndarray:
        """Pose X_WL (4, 4) of a link in the world."""
        return link_pose(self.model, self.q, link)

    def link_twist(self, link: str) -> np.ndarray:
        """Velocity of a link's origin and its angular velocity (6,), in the link's axes."""
        return link_twist(self.model, self.q, self.v, link)

    def jacobian(self, link: str, reference: str = "local_world_aligned") -> np.ndarray:
        """J (6, nv) with J v the velocity of a link's origin and its angular velocity, by default in world axes."""
        return frame_jacobian(self.model, self.q, link, reference)

    def mass_matrix(self) -> np.ndarray:
        """M (nv, nv) of the joints as they are, without couplings and the rotors of motors."""
        return mass_matrix(self.model, self.q)

    def centre_of_mass(self) -> np.ndarray:
        """Place (3,) of the robot's centre of mass in the world [m]."""
        return centre_of_mass(self.model, self.q)

    def momentum(self) -> np.ndarray:
        """Linear momentum and angular momentum about the world's origin (6,), in world axes."""
        return momentum(self.model, self.q, self.v)

    def centroidal_momentum(self) -> np.ndarray:
        """Linear momentum and angular momentum about the centre of mass (6,), in world axes."""
        return centroidal_momentum(self.model, self.q, self.v)

    def gravity_effort(self) -> np.ndarray:
        """Generalised forces (nv,) that hold the robot still against its weight."""
        still = np.zeros(self.model.nv)
        return inverse_dynamics(self.model, self.q, still, still, gravity=self.integrator.gravity)

    def nonlinear_effort(self) -> np.ndarray:
        """Generalised forces (nv,) without acceleration: weight, Coriolis and centrifugal forces at this v."""
        return inverse_dynamics(self.model, self.q, self.v, np.zeros(self.model.nv), gravity=self.integrator.gravity)

    def joint_wrenches(self) -> dict[str, np.ndarray]:
        """By joint the wrench (f, τ) (6,) that the parent exerted on the child in the last step.

        About the origin of the child link, which is the joint's, in the child's axes, linear first; what a drive gives
        along the axis is in it. Zeros before the first step (docs/simulation.md). UnsupportedModel from a scheme that
        cannot tell.
        """
        return dict(zip(self.model.joint_names, self.joint_wrench_rows(), strict=True))

    def joint_wrench_rows(self) -> np.ndarray:
        """The same as an array (joints, 6), in the order of `model.joint_names`."""
        return wrenches_at_joints(self.model, self.integrator.joint_wrenches())
