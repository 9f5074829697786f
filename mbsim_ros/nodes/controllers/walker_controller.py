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

from geometry_msgs.msg import Twist, TwistStamped

from mbsim_ros.control.command import COUPLING, MOTORS
from mbsim_ros.control.controller import Controller
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.gait import WalkerGait
from mbsim_ros.nodes.controllers.controller_node import ControllerNode, run_controller
from mbsim_ros.nodes.controllers.extension import Extension
from mbsim_ros.nodes.controllers.motor_states import MotorStates
from mbsim_ros.nodes.controllers.velocity_queue import Velocity, VelocityQueue
from mbsim_ros.nodes.controllers.velocity_topics import VELOCITIES, VelocityTopics
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.stamps import stamp_of

PARAMETERS = (
    Parameter("forward", 0.0, "Velocity before the first cmd_vel [m/s].", -1.0, 1.0),
    Parameter("turn", 0.0, "Turn before the first cmd_vel [rad/s].", -1.0, 1.0),
    Parameter("cmd_vel_timeout", 1.0, "Simulated time [s] a velocity of cmd_vel holds; 0: for ever.", 0.0, 1e6),
)


class VelocityCommands(Extension):
    """cmd_vel (TwistStamped, Twist): linear.x, angular.z; linear.z > 0 stands up, < 0 sits down.

    A velocity acts at the first state at or after its stamp, and stays until the next or until it is out of date.
    velocity_taken (TwistStamped) is every change, stops included, with the stamp of the state at which it acted, which
    no stamp of its own tells for one that came late: driven with those again, it walks the same walk.
    """

    def __init__(self, node: ControllerNode):
        self._node = node
        self._gait: WalkerGait | None = None
        values = declare(node, PARAMETERS)
        self._first = (values["forward"], values["turn"], 0.0)
        self._is_first = True
        self._velocities = VelocityQueue(values["cmd_vel_timeout"], node.get_logger().warning)
        self._taken = node.create_publisher(TwistStamped, "velocity_taken", VELOCITIES)
        self._topics = VelocityTopics(node, self._on_twist)
        self.handlers = self._topics.handlers
        # whether it feels for the ground: what it was started with decides, for it takes more topics
        is_rough = node.tuning.current.rough
        self.commands = (MOTORS, COUPLING) if is_rough else (MOTORS,)
        self._motor_states = MotorStates(
            node, node.values["whole_state"], node.on_state, node.complain, oldest_forces=0 if is_rough else None
        )
        self.states = self._motor_states

    def on_robot(self, controller: Controller) -> None:
        """Velocities are for this gait from now on."""
        assert isinstance(controller, WalkerGait)
        self._gait, self._is_first = controller, True
        self._motor_states.watch_feet(controller.feet)

    def close(self) -> None:
        """Leave the topic with its second participant."""
        self._topics.close()

    def before_answer(self, state: RobotState, is_new: bool) -> None:
        """Ask the gait for what is due, unless this state has been answered already and comes again."""
        if not is_new:
            return
        if self._is_first and any(self._first):
            self._ask(state.time, self._first)
        self._is_first = False
        self._topics.take_plain()
        for velocity in self._velocities.due(state.time):
            self._ask(state.time, velocity)

    def _on_twist(self, stamp: int, twist: Twist) -> None:
        asked = (twist.linear.x, twist.angular.z, twist.linear.z)
        if not all(map(math.isfinite, asked)):
            self._node.complain("velocity refused", f"cmd_vel: expected finite numbers, got {asked}")
            return
        self._velocities.add(stamp, asked)

    def _ask(self, stamp: int, velocity: Velocity) -> None:
        """Ask the gait for a velocity, and say at which state it did."""
        assert self._gait is not None
        self._gait.ask(*velocity)
        message = TwistStamped()
        message.header.stamp = stamp_of(stamp)
        message.twist.linear.x, message.twist.angular.z, message.twist.linear.z = velocity
        self._taken.publish(message)


def main() -> int:
    """The node's process."""
    return run_controller("walker_controller", WalkerGait, VelocityCommands)


if __name__ == "__main__":
    sys.exit(main())
