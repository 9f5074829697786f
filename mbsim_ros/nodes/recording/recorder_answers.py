# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How a recorder takes part in lockstep: empty answers to every state, the first when all others have been heard.

Who has been heard is connected, and reliable: from then on nothing of it is lost. Before that a command could reach
physics and not the recorder, and the bag would not tell how the robot was driven. The same holds for the journal of
physics, which begins for everybody who listens with the state from which it can be followed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState

from mbsim_ros.bags.topics import JOURNAL_TOPIC
from mbsim_ros.nodes.physics.lockstep import ANYBODY, qualified
from mbsim_ros.nodes.stamps import stamp_of

PATIENCE = 20.0  # s of wall time after which a state is answered whoever has not been heard


class RecorderAnswers:
    """Publishes on joint_commands. Tell it of the participants, of who is heard, and of the states."""

    def __init__(self, node: Node):
        self._node = node
        self._publisher = node.create_publisher(JointState, "joint_commands", 10)
        self._message = JointState()
        self._message.header.frame_id = node.get_fully_qualified_name()
        self._heard: set[str] = set()
        self._unheard: set[str] | None = None  # None: nobody has said who takes part
        self._waiting: Time | None = None  # stamp of a state that is not answered yet
        self._since = 0.0
        self.has_journal = False  # whether a message of it has come, or none is wanted

    def expect(self, participants: Iterable[str]) -> None:
        """These take part; the first word on that counts."""
        if self._unheard is None:
            names = {qualified(name, self._node.get_namespace()) for name in participants}
            self._unheard = names - self._heard - {ANYBODY, self._message.header.frame_id}
            self.look()

    def hear(self, sender: str) -> None:
        """A participant has answered a state, or is about to."""
        if sender not in self._heard and len(self._heard) < 1000:  # somebody may send ever new names
            self._heard.add(sender)
            if self._unheard is not None:
                self._unheard.discard(sender)
                self.look()

    def on_state(self, stamp: int) -> None:
        """Answer a state [ns], at once or later."""
        if self._waiting is None:
            self._since = time.monotonic()
        self._waiting = stamp_of(stamp)
        self.look()

    def look(self) -> None:
        """Answer what waits, if it need not wait any longer."""
        if self._waiting is None:
            return
        if self._unheard is None or self._unheard or self._waits_for_journal():
            if time.monotonic() - self._since < PATIENCE:
                return
            missing = "physics' setup" if self._unheard is None else ", ".join(sorted(self._unheard)) or JOURNAL_TOPIC
            self._node.get_logger().warning(f"{missing} has not been heard yet: its first answers may not be recorded")
            self._unheard, self.has_journal = set(), True
        self._message.header.stamp = self._waiting
        self._waiting = None
        self._publisher.publish(self._message)

    def _waits_for_journal(self) -> bool:
        """Whether there is a journal of which nothing has come yet."""
        return not self.has_journal and self._node.count_publishers(JOURNAL_TOPIC) > 0
