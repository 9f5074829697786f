# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Computed torque: joints follow a trajectory as if each were a mass on its own spring and damper. W A.9."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from mbsim_ros.control.command import JOINTS, Command
from mbsim_ros.control.controller import driven_joints, per_joint
from mbsim_ros.control.joints.set_points import SetPointParameters
from mbsim_ros.control.joints.trajectories import Trajectory
from mbsim_ros.control.parameters import ValidatedParameters, parameter
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.jit import kernel
from mbsim_ros.model.model import Model


@dataclass(frozen=True)
class ComputedTorqueParameters(SetPointParameters):
    """Gains of the error and what is followed. K_p, K_v of W A.9 are diagonal."""

    kp: tuple[float, ...] = parameter((100.0,), "K_p, of the position error.", "1/s²", lower=0.0, upper=1e6)
    kv: tuple[float, ...] = parameter((20.0,), "K_v, of the velocity error.", "1/s", lower=0.0, upper=1e4)
    effort_held_for: float = parameter(
        0.0, "How long an effort acts until the next; half of it is looked ahead. 0: not at all.", "s",
        lower=0.0, upper=0.1,
    )  # fmt: skip
    gravity: float = parameter(9.81, "Acceleration, downwards.", "m/s²", lower=0.0, upper=100.0)
    compensate_damping: bool = parameter(True, "Whether the joints' own damping is made up for.")


class ComputedTorque:
    """τ = M(θ)(θ̈_d − K_v ė − K_p e) + C(θ, θ̇)θ̇ + N(θ, θ̇), e = θ − θ_d: W A.9, for fixed bases, joints of one dof.

    With a perfect model and an effort that changes all the time the error obeys ë + K_v ė + K_p e = 0. An effort that
    is held over a period lags half of it behind, an error of first order in the period. With `effort_held_for` the law
    is evaluated at the state half a period ahead, which makes it one of second order.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = ComputedTorqueParameters
    commands: ClassVar[tuple[str, ...]] = (JOINTS,)

    def __init__(self, model: Model, parameters: ComputedTorqueParameters | None = None):
        joints = driven_joints(model)
        if model.is_floating or len(joints) != model.nv:
            what = "its base floats" if model.is_floating else "it has joints of several dofs"
            raise ValueError(f"model: expected a fixed base and joints of one dof, got '{model.name}': {what}")
        self._model = model
        self._names = tuple(joint.name for joint in joints)
        self._workspace = Workspace(model)
        self.parameters = ComputedTorqueParameters() if parameters is None else parameters
        self.reset()
        self.configure(self.parameters)

    def configure(self, parameters: ComputedTorqueParameters) -> None:
        """Go on with other parameters; a trajectory that changed begins anew at the next update."""
        n = self._model.nv
        kp, kv = per_joint("kp", parameters.kp, n), per_joint("kv", parameters.kv, n)
        parameters.make(np.zeros(n))  # raises what is wrong with the arrays
        if _other_trajectory(parameters, self.parameters):
            self.reset()
        self._kp, self._kv = kp, kv
        self._ahead = 0.5 * parameters.effort_held_for
        self._gravity = np.array([0.0, 0.0, -parameters.gravity])
        self._damping = self._model.damping if parameters.compensate_damping else np.zeros(n)
        self.parameters = parameters

    def reset(self) -> None:
        """The trajectory begins at the next update."""
        self._trajectory: Trajectory | None = None
        self._start = 0.0

    def update(self, t: float, state: RobotState) -> Command:
        """Efforts of all joints for the state at t [s]."""
        if self._trajectory is None:
            self._trajectory, self._start = self.parameters.make(state.q), t
        wanted = self._trajectory.at(t - self._start + self._ahead)
        q, v, a = np.empty((3, len(self._names)))
        motion_into(state.q, state.v, *wanted, self._kp, self._kv, self._ahead, q, v, a)
        effort = inverse_dynamics(self._model, q, v, a, gravity=self._gravity, workspace=self._workspace)  # W A.9
        return Command(self._names, effort=effort + self._damping * v)


@kernel
def motion_into(q_now, v_now, position, velocity, acceleration, kp, kv, s, q, v, a):
    """The state s seconds ahead, q (n,) and v (n,), and the acceleration a (n,) that W A.9 wants there."""
    for i in range(q_now.shape[0]):
        q[i] = q_now[i] + s * v_now[i]
        # θ̈ = θ̈_d − K_v(v + sθ̈ − θ̇_d) − K_p(q − θ_d), the velocity s ahead being v + sθ̈
        pull = acceleration[i] - kv[i] * (v_now[i] - velocity[i]) - kp[i] * (q[i] - position[i])
        a[i] = pull / (1.0 + s * kv[i])
        v[i] = v_now[i] + s * a[i]


def _other_trajectory(new: SetPointParameters, old: SetPointParameters) -> bool:
    return any(getattr(new, entry.name) != getattr(old, entry.name) for entry in fields(SetPointParameters))
