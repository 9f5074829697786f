# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Joint states and odometry of one stamp, joined to a state of the model."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from mbsim_ros.control.robot_state import NOTHING, RobotState
from mbsim_ros.dynamics.arguments import all_finite
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.transport.raw_reader import RawReader, Reading, reading_of
from mbsim_ros.sim.names import as_slice

BASE_Q, BASE_V = 7, 6  # entries of a floating base


class BadState(ValueError):
    """A message that is no state of the robot; the text says why."""


class StateSynchronizer:
    """Takes messages in any order and says when a JointState and the Odometry of its stamp are both there.

    A fixed base needs no odometry. Joints that mimic others are not read, more joints than the model's are ignored.
    Joints of several dofs, which joint_states does not have, stay neutral and at rest.
    """

    def __init__(self, model: Model, needed: Collection[str] | None = None):
        """needed: names of the joints whose state matters, None for all; ValueError if one has several dofs."""
        several = [joint.name for joint in model.joints if joint.nv > 1 and (needed is None or joint.name in needed)]
        if several:
            raise ValueError(
                f"model: expected joints of one dof, which joint_states has, got '{model.name}' with "
                f"{', '.join(several)}, whose state the controller needs: whole_state:=true reads it"
            )
        self._model = model
        self._joints = [joint for joint in model.joints if joint.iv >= 0 and joint.nv == 1]
        self._at_q = as_slice(np.array([joint.iq for joint in self._joints], dtype=np.int64))
        self._at_v = as_slice(np.array([joint.iv for joint in self._joints], dtype=np.int64))
        self._names: object = None  # of the last message: a list that is kept as long as the names stay the same
        self._places: slice | np.ndarray = slice(0, 0)  # of the model's joints in the message
        self._readers = RawReader(JointState), RawReader(Odometry)
        self._joint_state: Reading | None = None
        self._odometry: Reading | None = None

    def add_joint_state(self, message: JointState | bytes) -> RobotState | None:
        """The state, if this message completes one."""
        self._joint_state = _read(self._readers[0], message)
        return self._joined()

    def add_odometry(self, message: Odometry | bytes) -> RobotState | None:
        """The state, if this message completes one."""
        self._odometry = _read(self._readers[1], message)
        return self._joined()

    def _joined(self) -> RobotState | None:
        joints, odometry = self._joint_state, self._odometry
        if joints is None:
            return None
        if self._model.is_floating and (odometry is None or odometry.stamp != joints.stamp):
            return None
        self._joint_state = None  # a state is given once, also if its odometry comes again
        q, v = self._model.neutral.copy(), np.zeros(self._model.nv)
        if self._model.is_floating:
            assert odometry is not None
            # the twist is in the child's frame, as the model's velocities are
            q[:BASE_Q], v[:BASE_V] = odometry.numbers("pose.pose"), odometry.numbers("twist.twist")
        effort = self._read_joints(joints, q, v)
        if not (all_finite(q) and all_finite(v)):
            raise BadState("expected finite numbers, got a state with some that are not")
        return RobotState(joints.stamp, q, v, effort=effort, is_floating=self._model.is_floating)

    def _read_joints(self, given: Reading, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Write positions and velocities to their places; returns the efforts, which not everybody tells."""
        names = given.message.name
        if names is not self._names:
            missing = [joint.name for joint in self._joints if joint.name not in names]
            if missing:
                raise BadState(f"joint_states: expected all joints of '{self._model.name}', got none for {missing[0]}")
            self._places = as_slice(np.array([names.index(joint.name) for joint in self._joints], dtype=np.int64))
            self._names = names
        position, velocity = given.numbers("position"), given.numbers("velocity")
        if len(position) != len(names) or len(velocity) != len(names):
            raise BadState(
                f"joint_states: expected {len(names)} positions and velocities, got {len(position)} and {len(velocity)}"
            )
        q[self._at_q] = position[self._places]
        v[self._at_v] = velocity[self._places]
        effort = given.numbers("effort")
        return effort[self._places].copy() if len(effort) == len(names) else NOTHING


def _read(reader: RawReader, message: object) -> Reading:
    """A message that came as bytes, or as a typed one."""
    if not isinstance(message, bytes):
        return reading_of(message)
    try:
        return reader.read(message)
    except ValueError as error:
        raise BadState(str(error)) from None
