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
from mbsim_ros.control.joints.joint_trajectory import Following, Goal, check_goal
from mbsim_ros.control.joints.set_points import SetPointParameters
from mbsim_ros.control.joints.supported_dynamics import SupportedDynamics
from mbsim_ros.control.joints.trajectories import SetPoint, Trajectory
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
    kp_matrix: tuple[float, ...] = parameter(
        (), "Full K_p, row by row in the order of the model's joints, in place of kp; empty: diagonal.", "1/s²"
    )
    kv_matrix: tuple[float, ...] = parameter((), "Full K_v, likewise, in place of kv.", "1/s")
    feet: str = parameter("", "Of a floating base: links that stand on the ground, where the ground pushes them.")


class ComputedTorque:
    """τ = M(θ)(θ̈_d − K_v ė − K_p e) + C(θ, θ̇)θ̇ + N(θ, θ̇), e = θ − θ_d: W A.9, for joints of one dof.

    With a perfect model and an effort that changes all the time the error obeys ë + K_v ė + K_p e = 0. An effort that
    is held over a period lags half of it behind, an error of first order in the period. With `effort_held_for` the law
    is evaluated at the state half a period ahead, which makes it one of second order.

    A floating base moves as the ground under the feet makes it: joints get what comes nearest to W A.9 while feet stay
    where they stand, see supported_dynamics.py. `follow` takes trajectories while it runs, in place of the parameters'.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = ComputedTorqueParameters
    commands: ClassVar[tuple[str, ...]] = (JOINTS,)

    def __init__(self, model: Model, parameters: ComputedTorqueParameters | None = None):
        joints = driven_joints(model)
        self._base = (7, 6) if model.is_floating else (0, 0)  # coordinates and dofs of the base
        if not joints or len(joints) != model.nv - self._base[1]:
            what = (
                "it has joints of several dofs" if joints or not model.is_floating else "its base floats, without any"
            )
            raise ValueError(f"model: expected joints of one dof, got '{model.name}': {what}")
        self._model = model
        self._names = tuple(joint.name for joint in joints)
        self._workspace = Workspace(model)
        self._supported: SupportedDynamics | None = None
        self._asked: Goal | None = None
        self._following: tuple[Following, np.ndarray] | None = None  # and where all joints were wanted when it began
        self.parameters = ComputedTorqueParameters() if parameters is None else parameters
        self.reset()
        self.configure(self.parameters)

    def configure(self, parameters: ComputedTorqueParameters) -> None:
        """Go on with other parameters; a trajectory that changed begins anew at the next update."""
        n = len(self._names)
        kp, kv = per_joint("kp", parameters.kp, n), per_joint("kv", parameters.kv, n)
        parameters.make(np.zeros(n))  # raises what is wrong with the arrays
        matrices = gain_matrices(parameters, kp, kv)
        supported = self._support(parameters)
        if _other_trajectory(parameters, self.parameters):
            self.reset()
        self._kp, self._kv, self._matrices, self._supported = kp, kv, matrices, supported
        self._ahead = 0.5 * parameters.effort_held_for
        self._gravity = np.array([0.0, 0.0, -parameters.gravity])
        damping = self._model.damping[self._base[1] :]
        self._damping = damping if parameters.compensate_damping else np.zeros(n)
        self.parameters = parameters

    def _support(self, parameters: ComputedTorqueParameters) -> SupportedDynamics | None:
        """What a floating base stands on; ValueError where that does not go with the robot."""
        if not self._model.is_floating:
            if parameters.feet:
                raise ValueError(f"feet: expected none with a fixed base, got {parameters.feet!r}")
            return None
        if parameters.effort_held_for > 0.0:
            raise ValueError(f"effort_held_for: expected 0 with a floating base, got {parameters.effort_held_for:g}")
        return SupportedDynamics(self._model, tuple(parameters.feet.split()))

    def follow(self, goal: Goal) -> None:
        """Follow a trajectory from the next update on, and then stay at its end; joints that it does not name hold.

        ValueError says what is wrong with it. Tolerances play no part.
        """
        check_goal(goal, self._names)
        self._asked = goal

    def reset(self) -> None:
        """The trajectory begins at the next update."""
        self._trajectory: Trajectory | None = None
        self._start = 0.0
        self._asked = None
        self._following = None

    def update(self, t: float, state: RobotState) -> Command:
        """Efforts of all joints for the state at t [s]."""
        position, velocity = state.q[self._base[0] :], state.v[self._base[1] :]
        if self._trajectory is None:
            self._trajectory, self._start = self.parameters.make(position), t
        if self._asked is not None:
            self._begin(self._asked, t)
        wanted = self._wanted(t)
        if self._matrices is None:
            q, v, a = np.empty((3, len(self._names)))
            motion_into(position, velocity, *wanted, self._kp, self._kv, self._ahead, q, v, a)
        else:
            q, v, a = motion(position, velocity, wanted, *self._matrices, self._ahead)
        if self._supported is not None:
            standing = self._supported.standing(state)
            effort = self._supported.efforts(state.q, state.v, a, standing, self._gravity)
        else:
            effort = inverse_dynamics(self._model, q, v, a, gravity=self._gravity, workspace=self._workspace)  # W A.9
        return Command(self._names, effort=effort + self._damping * v)

    def _begin(self, goal: Goal, t: float) -> None:
        """Leave what is followed for a goal, without a jump."""
        now = self._wanted(t)
        places = np.array([self._names.index(name) for name in goal.names])
        following = Following(goal, places, t, now.position[places], now.velocity[places])
        self._following, self._asked = (following, now.position.copy()), None

    def _wanted(self, t: float) -> SetPoint:
        """The set point of all joints, half a period ahead of t [s] where that is asked for."""
        assert self._trajectory is not None
        if self._following is None:
            return self._trajectory.at(t - self._start + self._ahead)
        following, held = self._following
        found = SetPoint(held.copy(), np.zeros(len(held)), np.zeros(len(held)))
        for whole, part in zip(found, following.motion.at(t - following.start + self._ahead), strict=True):
            whole[following.places] = part
        return found


@kernel
def motion_into(q_now, v_now, position, velocity, acceleration, kp, kv, s, q, v, a):
    """The state s seconds ahead, q (n,) and v (n,), and the acceleration a (n,) that W A.9 wants there."""
    for i in range(q_now.shape[0]):
        q[i] = q_now[i] + s * v_now[i]
        # θ̈ = θ̈_d − K_v(v + sθ̈ − θ̇_d) − K_p(q − θ_d), the velocity s ahead being v + sθ̈
        pull = acceleration[i] - kv[i] * (v_now[i] - velocity[i]) - kp[i] * (q[i] - position[i])
        a[i] = pull / (1.0 + s * kv[i])
        v[i] = v_now[i] + s * a[i]


def motion(
    q_now: np.ndarray, v_now: np.ndarray, wanted: SetPoint, kp: np.ndarray, kv: np.ndarray, s: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `motion_into` with full matrices kp, kv (n, n)."""
    q = q_now + s * v_now
    pull = wanted.acceleration - kv @ (v_now - wanted.velocity) - kp @ (q - wanted.position)
    a = np.linalg.solve(np.eye(len(q)) + s * kv, pull)
    return q, v_now + s * a, a


def gain_matrices(
    parameters: ComputedTorqueParameters, kp: np.ndarray, kv: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """K_p and K_v (n, n) where one of them is given in full, else None; ValueError where the error would grow."""
    if not (parameters.kp_matrix or parameters.kv_matrix):
        return None
    n, found = len(kp), []
    for name, diagonal in (("kp_matrix", kp), ("kv_matrix", kv)):
        given = getattr(parameters, name)
        if given and len(given) != n * n:
            raise ValueError(f"{name}: expected {n * n} numbers, {n} rows of {n}, or none, got {len(given)}")
        found.append(np.reshape(given, (n, n)) if given else np.diag(diagonal))
    growth = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-found[0], -found[1]]])).real.max()
    if growth > 1e-6 * max(1.0, float(np.abs(found[1]).max())):
        raise ValueError(f"kp_matrix, kv_matrix: the error would grow, with a rate of {growth:.3g} 1/s")
    return found[0], found[1]


def _other_trajectory(new: SetPointParameters, old: SetPointParameters) -> bool:
    return any(getattr(new, entry.name) != getattr(old, entry.name) for entry in fields(SetPointParameters))
