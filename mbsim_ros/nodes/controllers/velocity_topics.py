# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""cmd_vel in either of its types: TwistStamped, and Twist as many teleoperation nodes send it.

A DDS participant has one type for each topic. Twist therefore comes through a participant of its own, which is made
when somebody publishes it: before that, tools that want one type for a topic find one.
"""

from __future__ import annotations

from collections.abc import Callable

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import QoSProfile

from mbsim_ros.nodes.stamps import nanoseconds
from mbsim_ros.nodes.transport.fast_loop import Handler

TOPIC = "cmd_vel"
VELOCITIES = QoSProfile(depth=100)  # reliable
LOOK = 0.25  # s of wall time between two looks for who publishes Twist
PLAIN = "geometry_msgs/msg/Twist"


class VelocityTopics:
    """Hands every twist on, with its stamp [ns], 0 where it has none. `handlers` are for the node's FastLoop."""

    def __init__(self, node: Node, on_twist: Callable[[int, Twist], None]):
        self._node, self._on_twist = node, on_twist
        stamped = node.create_subscription(TwistStamped, TOPIC, lambda _: None, VELOCITIES)
        self.handlers: list[Handler] = [(stamped, self._on_stamped)]
        self._topic = stamped.topic_name
        self._plain: _PlainTwists | None = None
        self._look = node.create_timer(LOOK, self._look_for_plain, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def take_plain(self) -> None:
        """Hand on the Twists that have come."""
        if self._plain is not None:
            for twist in self._plain.take():
                self._on_twist(0, twist)

    def close(self) -> None:
        """Leave the topic."""
        if self._plain is not None:
            self._plain.close()

    def _on_stamped(self, message: TwistStamped) -> None:
        self._on_twist(nanoseconds(message.header.stamp), message.twist)

    def _look_for_plain(self) -> None:
        if any(entry.topic_type == PLAIN for entry in self._node.get_publishers_info_by_topic(self._topic)):
            self._plain = _PlainTwists(self._node, self._topic)
            self._look.cancel()


class _PlainTwists:
    """A subscription of Twist in a context of its own, which nobody waits for: it is looked at with every state."""

    def __init__(self, node: Node, topic: str):
        self._context = Context()
        self._context.init(args=[], domain_id=node.context.get_domain_id())
        self._node = Node(
            f"_{node.get_name()}_twist", namespace=node.get_namespace(), context=self._context, cli_args=[],
            use_global_arguments=False, enable_rosout=False, start_parameter_services=False,
        )  # fmt: skip
        self._subscription = self._node.create_subscription(Twist, topic, lambda _: None, VELOCITIES)

    def take(self) -> list[Twist]:
        """What has come since the last look."""
        found = []
        for _ in range(VELOCITIES.depth):
            taken = self._subscription.handle.take_message(Twist, False)
            if taken is None:
                break
            found.append(taken[0])
        return found

    def close(self) -> None:
        """End the node and its context."""
        self._node.destroy_node()
        self._context.try_shutdown()
