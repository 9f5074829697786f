# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of the controller that holds a floating base as if springs and dampers did (H)."""

from __future__ import annotations

import sys
from typing import Any

from geometry_msgs.msg import WrenchStamped

from mbsim_ros.control.command import JointCommand
from mbsim_ros.control.viscoelastic.controller import ViscoelasticController
from mbsim_ros.nodes.controllers.controller_node import ControllerNode
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.stamps import stamp_of
from mbsim_ros.nodes.transport.answer_topic import AnswerTopic


class ViscoelasticNode(ControllerNode):
    """Answers each state with a wrench on the base, on the topic `wrench`, and commands no joints.

    In lockstep it is the participant `wrench`: physics needs `lockstep_participants: [wrench]`, with others or alone.
    """

    def __init__(self, name: str = "viscoelastic_controller") -> None:
        super().__init__(name, ViscoelasticController)  # type: ignore[arg-type]
        self._commands: Any = WrenchPublisher(self)


class WrenchPublisher:
    """Publishes the wrench of a command, stamped with the state that it answers."""

    def __init__(self, node: ViscoelasticNode):
        self._topic = AnswerTopic(node, WrenchStamped, "wrench", node._on_listener)

    def publish(self, stamp: int, command: JointCommand) -> None:
        """Answer the state of this stamp [ns]."""
        for link, wrench in ({} if command.wrench is None else command.wrench).items():
            message = WrenchStamped()
            message.header.stamp, message.header.frame_id = stamp_of(stamp), link
            force, torque = message.wrench.force, message.wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = map(float, wrench)
            self._topic.publish(message)


def main() -> int:
    """The node's process."""
    return run_node(ViscoelasticNode, ControllerNode.run)


if __name__ == "__main__":
    sys.exit(main())
