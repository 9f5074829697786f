# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of the controller that follows a trajectory with computed torque (W A.9)."""

from __future__ import annotations

import sys

from trajectory_msgs.msg import JointTrajectory

from mbsim_ros.control.controller import Controller
from mbsim_ros.control.joints.computed_torque import ComputedTorque
from mbsim_ros.nodes.controllers.controller_node import ControllerNode, run_controller
from mbsim_ros.nodes.controllers.extension import Extension
from mbsim_ros.nodes.controllers.trajectory_messages import joint_goal


class TrajectoryTopic(Extension):
    """`joint_trajectory` (trajectory_msgs/JointTrajectory): what some or all joints follow from the next state on."""

    def __init__(self, node: ControllerNode):
        self._node = node
        self._controller: ComputedTorque | None = None
        node.create_subscription(JointTrajectory, "joint_trajectory", self._on_trajectory, 10)

    def on_robot(self, controller: Controller) -> None:
        """Trajectories are for this controller from now on."""
        assert isinstance(controller, ComputedTorque)
        self._controller = controller

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if self._controller is None:
            self._node.complain("trajectory refused", "there is no robot yet")
            return
        try:
            self._controller.follow(joint_goal(message))
        except ValueError as error:
            self._node.complain("trajectory refused", str(error))


def main() -> int:
    """The node's process."""
    return run_controller("computed_torque", ComputedTorque, TrajectoryTopic)


if __name__ == "__main__":
    sys.exit(main())
