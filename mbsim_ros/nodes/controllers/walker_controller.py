# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of the walker's gait: cmd_vel in, targets of the motors out.

On rough ground (`rough`) it decides about the couplings as well: it waits for the forces under the feet of every stamp,
which physics has to publish at every state, and answers with motor_commands and coupling_command.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.control.command import Command, Targets
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.gait import WalkerGait
from mbsim_ros.nodes.controllers.foot_forces import FootForces
from mbsim_ros.nodes.controllers.motor_state_node import MotorStateNode
from mbsim_ros.nodes.controllers.velocity_queue import Velocity, VelocityQueue
from mbsim_ros.nodes.controllers.velocity_topics import VELOCITIES, VelocityTopics
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.stamps import stamp_of
from mbsim_ros.nodes.transport.answer_topic import AnswerTopic, string_bytes
from mbsim_ros.nodes.transport.patched_message import PatchedMessage

PARAMETERS = (
    Parameter("forward", 0.0, "Velocity before the first cmd_vel [m/s].", -1.0, 1.0),
    Parameter("turn", 0.0, "Turn before the first cmd_vel [rad/s].", -1.0, 1.0),
    Parameter("cmd_vel_timeout", 1.0, "Simulated time [s] a velocity of cmd_vel holds; 0: for ever.", 0.0, 1e6),
)


class WalkerController(MotorStateNode):
    """Publishes motor_commands. cmd_vel (TwistStamped, Twist): linear.x, angular.z; linear.z > 0 stands up, < 0 sits.

    A velocity acts at the first state at or after its stamp, and stays until the next or until it is out of date.
    velocity_taken (TwistStamped) is every change, stops included, with the stamp of the state at which it acted, which
    no stamp of its own tells for one that came late: driven with those again, it walks the same walk.
    """

    def __init__(self) -> None:
        self._feet: FootForces | None = None
        self.coupling = ""  # in force
        super().__init__("walker_controller", WalkerGait)
        values = declare(self, PARAMETERS)
        self._first = (values["forward"], values["turn"], 0.0)
        self._velocities = VelocityQueue(values["cmd_vel_timeout"], self.get_logger().warning)
        self._taken = self.create_publisher(TwistStamped, "velocity_taken", VELOCITIES)
        self._commands: Any = MotorCommandPublisher(self)

    @property
    def needs_forces(self) -> bool:
        """Whether it feels for the ground; what it was started with decides, for it takes more subscriptions."""
        return self._feet is not None

    def _handlers(self) -> list[Any]:
        self._topics = VelocityTopics(self, self._on_twist)
        handlers = list(self._topics.handlers)
        if self._tuning.current.rough:
            self._feet = FootForces(self, self._complain, self._try_again)
            handlers += self._feet.handlers
        return [*handlers, *super()._handlers()]

    def foot_forces(self, now: int) -> np.ndarray | None:
        """The forces of this stamp, if all are there."""
        return None if self._feet is None else self._feet.between(now, now)

    def destroy_node(self) -> None:
        """End it with its second participant."""
        self._topics.close()
        super().destroy_node()

    def _on_twist(self, stamp: int, twist: Twist) -> None:
        asked = (twist.linear.x, twist.angular.z, twist.linear.z)
        if not all(map(math.isfinite, asked)):
            self._complain("velocity refused", f"cmd_vel: expected finite numbers, got {asked}")
            return
        self._velocities.add(stamp, asked)

    def before_answer(self, state: RobotState) -> None:
        """Ask the gait for what is due, unless this state has been answered already and comes again."""
        self.coupling = state.coupling
        if self._last is None and any(self._first):
            self._ask(state.time, self._first)
        elif self._last is not None and self._last.time == state.time:
            return
        self._topics.take_plain()
        for velocity in self._velocities.due(state.time):
            self._ask(state.time, velocity)

    def _ask(self, stamp: int, velocity: Velocity) -> None:
        """Ask the gait for a velocity, and say at which state it did."""
        gait: Any = self._controller
        gait.ask(*velocity)
        message = TwistStamped()
        message.header.stamp = stamp_of(stamp)
        message.twist.linear.x, message.twist.angular.z, message.twist.linear.z = velocity
        self._taken.publish(message)


class MotorCommandPublisher:
    """Publishes on motor_commands, signed with the node's name, and on rough ground on coupling_command."""

    def __init__(self, node: WalkerController):
        self._node = node
        self._topic = AnswerTopic(node, JointState, "motor_commands", node._on_listener)
        self._couplings = None
        if node.needs_forces:
            self._couplings = AnswerTopic(node, String, "coupling_command", node._on_listener)
        self._messages: dict[tuple[str, ...], tuple[PatchedMessage, np.ndarray, np.ndarray]] = {}

    def publish(self, stamp: int, command: Command) -> None:
        """Answer the state of this stamp [ns]."""
        motors = command.motor
        assert isinstance(motors, Targets)
        message, position, velocity = self._messages.get(motors.names) or self._new_message(motors.names)
        if motors.names:
            position[:], velocity[:] = motors.position, motors.velocity
        message.set_stamp(stamp)
        self._topic.publish(message.tobytes())
        if self._couplings is not None:
            self._couplings.publish(string_bytes(f"{command.coupling or self._node.coupling}@{stamp}"))

    def _new_message(self, names: tuple[str, ...]) -> tuple[PatchedMessage, np.ndarray, np.ndarray]:
        typed = JointState(name=list(names), position=[0.0] * len(names), velocity=[0.0] * len(names))
        typed.header.frame_id = self._node.get_fully_qualified_name()
        message = PatchedMessage(typed)
        self._messages[names] = message, message.numbers("position"), message.numbers("velocity")
        return self._messages[names]


def main() -> int:
    """The node's process."""
    return run_node(WalkerController, WalkerController.run)


if __name__ == "__main__":
    sys.exit(main())
