# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where the robot is that a viewer shows: q and its stamp, from the messages that have come."""

from __future__ import annotations

import time

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from mbsim_ros.model.model import Model
from mbsim_ros.nodes.publishers.view_state import TOPIC as VIEW_STATE
from mbsim_ros.nodes.transport.raw_reader import RawReader, Reading
from mbsim_ros.nodes.viewer.topics import ViewerTopics
from mbsim_ros.viewer.scene.robot_states import RobotStates

NAP = 2e-3  # s of wall time between two looks for a state


class ViewerStates:
    """Keeps q (nq,) and the stamp [ns] up to date. What is no state of this robot is passed over."""

    def __init__(self, model: Model, q: np.ndarray, topics: ViewerTopics):
        self._model, self._topics = model, topics
        self._states = RobotStates(model, q)
        self._joints, self._odometry = RawReader(JointState), RawReader(Odometry)
        self.stamp = 0

    @property
    def q(self) -> np.ndarray:
        """Where it is, (nq,)."""
        return self._states.q

    def wait(self, seconds: float) -> bool:
        """Take the next state; whether one came in this wall time."""
        end = time.monotonic() + seconds
        while not self.take():
            if time.monotonic() >= end:
                return False
            time.sleep(NAP)
        return True

    def take(self) -> bool:
        """Take what has come; whether there was anything."""
        whole = self._read(self._joints, VIEW_STATE)
        if whole is not None:
            self._states.whole(whole.numbers("position"))
        joints = self._read(self._joints, "joint_states")
        if joints is not None:
            self._states.joints(joints.message.name, joints.numbers("position"))
        odometry = self._read(self._odometry, "odom")
        if odometry is not None:
            self._states.base(odometry.numbers("pose.pose"))
        newest = whole or joints
        if newest is not None:
            self.stamp = newest.stamp
        return newest is not None or odometry is not None

    def _read(self, reader: RawReader, name: str) -> Reading | None:
        data = self._topics.take(name)
        try:
            return None if data is None else reader.read(data)
        except ValueError:
            return None
