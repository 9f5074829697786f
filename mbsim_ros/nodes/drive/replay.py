# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node that drives a robot with the velocities of a bag, each at the state at which it acted when it was recorded.

It takes part in lockstep: before it answers a state, every velocity that is due within `AHEAD` of it has reached all
who listen. So no velocity is late, and the walk is the recorded one, byte for byte.
"""

from __future__ import annotations

import sys

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TwistStamped
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile
from sensor_msgs.msg import JointState

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats.definitions import AT_ONCE
from mbsim_ros.bags.sim_time import stamp_at
from mbsim_ros.nodes.controllers.state_sources import LATCHED
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.stamps import SECOND, nanoseconds
from mbsim_ros.nodes.transport.fast_loop import FastLoop

AHEAD = SECOND // 10  # ns of simulated time by which velocities are sent before they act
EVERYTHING = QoSProfile(history=HistoryPolicy.KEEP_ALL, depth=100)  # reliable
LOOK = 0.05  # s of wall time between looks for who listens
TAKEN, ASKED = "velocity_taken", "cmd_vel"

PARAMETERS = (
    Parameter("bag", "", "Folder of a recording, or an .mcap file."),
    Parameter("recorded_namespace", "", "Namespace of the robot in the bag; empty: this node's own."),
    Parameter("listener", "controller", "Node that is to have the velocities: without it nothing begins."),
)


class DriveReplay(Node):
    """Publishes cmd_vel (TwistStamped) from a bag and answers joint_states with empty joint_commands."""

    def __init__(self) -> None:
        super().__init__("drive_replay")
        values = declare(self, PARAMETERS)
        space = (values["recorded_namespace"] or self.get_namespace()).strip("/")
        self._left = read_velocities(values["bag"], f"/{space}/" if space else "/")
        self._listener: str = values["listener"]
        self._velocities = self.create_publisher(TwistStamped, ASKED, EVERYTHING)
        self._answers = self.create_publisher(JointState, "joint_commands", EVERYTHING)
        states = self.create_subscription(JointState, "joint_states", _unused, LATCHED)
        self._loop = FastLoop(self, [(states, self._on_state)])
        self._is_heard = False
        self._unanswered: Time | None = None
        self.get_logger().info(f"{len(self._left)} velocities to drive")

    def run(self) -> None:
        """Until the node is shut down."""
        while True:
            self._loop.wait(LOOK if self._unanswered is not None else None)
            if self._unanswered is not None:
                self._answer(self._unanswered)

    def _on_state(self, message: JointState) -> None:
        self._answer(message.header.stamp)

    def _answer(self, stamp: Time) -> None:
        """Send what is due soon, then answer: once it has arrived at everybody."""
        self._unanswered = None if self._can_be_heard() and self._send(nanoseconds(stamp) + AHEAD) else stamp
        if self._unanswered is None:
            answer = JointState()
            answer.header.stamp, answer.header.frame_id = stamp, self.get_fully_qualified_name()
            self._answers.publish(answer)

    def _can_be_heard(self) -> bool:
        """Whether the listener is among those who listen, and all of them are connected."""
        if not self._is_heard:
            known = self.get_subscriptions_info_by_topic(self._velocities.topic_name)
            is_there = any(entry.node_name == self._listener for entry in known)
            self._is_heard = is_there and self._velocities.get_subscription_count() >= len(known)
        return self._is_heard

    def _send(self, until: int) -> bool:
        """Publish velocities up to a stamp [ns]; whether all have arrived."""
        if not self._left or self._left[0][0] > until:
            return True
        while self._left and self._left[0][0] <= until:
            self._velocities.publish(self._left.pop(0)[1])
        return bool(self._velocities.wait_for_all_acked(Duration(seconds=10)))


def read_velocities(bag: str, space: str) -> list[tuple[int, bytes]]:
    """Stamps [ns] and serialized velocities of a robot in a bag, as they acted; space: its namespace, with slashes.

    Without a record of when they acted, the stamps that they were sent with. ValueError if there are none.
    """
    reader = BagReader(bag)
    for topic in (space + TAKEN, space + ASKED):
        found = [(stamp_at(message.data, AT_ONCE), message.data) for message in reader.messages([topic])]
        if found:
            return sorted(found, key=lambda entry: entry[0])
    raise ValueError(f"bag: expected velocities on {space}{TAKEN} or {space}{ASKED}, got none in {bag}")


def _unused(_: object) -> None:
    """Callback of a subscription whose messages are taken directly."""


def main() -> int:
    """The node's process."""
    return run_node(DriveReplay, DriveReplay.run)


if __name__ == "__main__":
    sys.exit(main())
