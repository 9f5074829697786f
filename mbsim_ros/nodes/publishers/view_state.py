# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The state as often as one can see it, for those who look: the topic view_state (JointState).

To receive 500 states a second costs a listener 4 % of a core, and at full speed ten times as much; a viewer shows 30.
Names are those of whole_state, the entries of q; there are no velocities and no efforts. Which instants these are is up
to the wall clock: nothing that is to be repeatable listens here.
"""

from __future__ import annotations

import time

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from mbsim_ros.model.model import Model
from mbsim_ros.nodes.physics.robot_source import LATCHED
from mbsim_ros.nodes.transport.patched_message import PatchedMessage
from mbsim_ros.nodes.transport.patched_topic import PatchedTopic
from mbsim_ros.nodes.transport.whole_state import entry_names

TOPIC = "view_state"
PERIOD = 1.0 / 30.0  # s of wall time, at least, between two messages


class ViewStatePublisher:
    """Publishes view_state; `has_news` is to be set when there is a state that was not published yet."""

    def __init__(self, node: Node, model: Model):
        self._topic = PatchedTopic(node, JointState(), TOPIC, LATCHED)
        self._due = 0.0
        self.has_news = False
        self.read_model(model)

    def read_model(self, model: Model) -> None:
        """From now on this is the robot."""
        names = entry_names(model)
        self._topic.message = PatchedMessage(JointState(name=names, position=[0.0] * len(names)))
        self._q = self._topic.message.numbers("position")

    def publish(self, stamp_ns: int, q: np.ndarray) -> None:
        """Publish q (nq,) if it is new and time for it; to be called often, also while nothing moves."""
        if self.has_news and (now := time.monotonic()) >= self._due:
            # In step with the clock and not with the states: their period would make it 25 a second instead of 30.
            self._due = max(self._due + PERIOD, now)
            self.has_news = False
            self._q[:] = q
            self._topic.publish(stamp_ns)
