# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Holding a posture: every joint stays where it is told, or where it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mbsim_ros.control.command import JOINTS, Command
from mbsim_ros.control.controller import driven_joints, per_joint
from mbsim_ros.control.parameters import ValidatedParameters, parameter
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.model import Model


@dataclass(frozen=True)
class JointHoldParameters(ValidatedParameters):
    """Arrays are in the order of the driven joints, or one number for all of them."""

    position: tuple[float, ...] = parameter((), "Where to hold; empty: where the joints are at first.", "rad, m")
    kp: tuple[float, ...] = parameter(
        (), "Stiffness of a PD in the controller; empty: the drives hold with their own gains.", "Nm/rad, N/m",
        lower=0.0,
    )  # fmt: skip
    kd: tuple[float, ...] = parameter((0.0,), "Damping of the PD in the controller.", "Nms/rad, Ns/m", lower=0.0)
    gravity_compensation: bool = parameter(False, "Whether efforts carry the weight; for fixed bases.")
    gravity: float = parameter(9.81, "Acceleration, downwards, that is made up for.", "m/s²", lower=0.0, upper=100.0)


class JointHold:
    """Holds all joints of one dof. Of a robot that is one body it answers every state all the same.

    Without `kp` it commands positions, which the drives of the robot hold with their own gains in every step: that may
    be stiff. With `kp` it commands the effort kp (position − r) − kd v, computed here, once per period. Either with the
    efforts that carry the weight, if wanted.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = JointHoldParameters
    commands: ClassVar[tuple[str, ...]] = (JOINTS,)

    def __init__(self, model: Model, parameters: JointHoldParameters | None = None):
        joints = driven_joints(model)
        if model.joints and not joints:
            raise ValueError(f"model: expected joints of one dof, got '{model.name}' with none")
        self._model = model
        self._names = tuple(joint.name for joint in joints)
        self._at_q = np.array([joint.iq for joint in joints], dtype=np.int64)
        self._at_v = np.array([joint.iv for joint in joints], dtype=np.int64)
        self._workspace = Workspace(model)
        self._still = np.zeros(model.nv)
        self._position: np.ndarray | None = None
        self.configure(JointHoldParameters() if parameters is None else parameters)

    def configure(self, parameters: JointHoldParameters) -> None:
        """Go on with other parameters. A given position is held at once; what was held stays unless one is given."""
        n = len(self._names)
        position = per_joint("position", parameters.position, n) if parameters.position else None
        kp = per_joint("kp", parameters.kp, n) if parameters.kp else None
        kd = per_joint("kd", parameters.kd, n)
        if parameters.gravity_compensation and self._model.is_floating:
            raise ValueError(
                f"gravity_compensation: expected false for a floating base, whose joints' loads depend on what it "
                f"stands on, got true with '{self._model.name}'"
            )
        if position is not None:
            self._position = position
        self._kp, self._kd = kp, kd
        self._gravity = np.array([0.0, 0.0, -parameters.gravity])
        self.parameters = parameters

    @property
    def needed_joints(self) -> frozenset[str]:
        """Those that it holds, and with a fixed base all: the weight that it may be asked to carry depends on them."""
        return frozenset(self._names if self._model.is_floating else self._model.joint_names)

    def reset(self) -> None:
        """Hold the given position, or that of the next update."""
        given = self.parameters.position
        self._position = per_joint("position", given, len(self._names)) if given else None

    def update(self, t: float, state: RobotState) -> Command:
        """The command that holds, for the state at t [s]."""
        r, rate = state.q[self._at_q], state.v[self._at_v]
        if self._position is None:
            self._position = r
        carrying = self._efforts_that_carry(state.q) if self.parameters.gravity_compensation else None
        if self._kp is None:
            return Command(self._names, position=self._position, effort=carrying)
        effort = self._kp * (self._position - r) - self._kd * rate
        return Command(self._names, effort=effort if carrying is None else effort + carrying)

    def _efforts_that_carry(self, q: np.ndarray) -> np.ndarray:
        still = self._still
        forces = inverse_dynamics(self._model, q, still, still, gravity=self._gravity, workspace=self._workspace)
        return np.asarray(forces[self._at_v])
