# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of the controller that balances a legged robot."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped
from trajectory_msgs.msg import MultiDOFJointTrajectory

from mbsim_ros.control.balance.workspace_balance import WorkspaceBalance
from mbsim_ros.control.controller import Controller
from mbsim_ros.nodes.controllers.controller_node import ControllerNode, run_controller
from mbsim_ros.nodes.controllers.extension import Extension
from mbsim_ros.nodes.controllers.trajectory_messages import pose_points
from mbsim_ros.nodes.parameters import Parameter, declare

PARAMETERS = (Parameter("world_frame", "world", "The world's frame, which a set point is in."),)


class SetPointTopic(Extension):
    """`set_point` (geometry_msgs/PoseStamped, in the world) moves the central body, in `move_time`; tells how it is.

    `set_point_trajectory` (trajectory_msgs/MultiDOFJointTrajectory) has poses of its centre of mass in the world with
    velocities and accelerations.
    """

    def __init__(self, node: ControllerNode):
        self._node = node
        self._controller: WorkspaceBalance | None = None
        self._world = declare(node, PARAMETERS)["world_frame"]
        node.create_subscription(PoseStamped, "set_point", self._on_set_point, 10)
        node.create_subscription(MultiDOFJointTrajectory, "set_point_trajectory", self._on_trajectory, 10)

    def on_robot(self, controller: Controller) -> None:
        """Set points are for this controller from now on."""
        assert isinstance(controller, WorkspaceBalance)
        self._controller = controller

    def _on_set_point(self, message: PoseStamped) -> None:
        p, q = message.pose.position, message.pose.orientation
        self._take(message, lambda controller: controller.go_to((p.x, p.y, p.z), (q.w, q.x, q.y, q.z)))

    def _on_trajectory(self, message: MultiDOFJointTrajectory) -> None:
        self._take(message, lambda controller: controller.follow(pose_points(message)))

    def _take(self, message: PoseStamped | MultiDOFJointTrajectory, act: Callable[[WorkspaceBalance], None]) -> None:
        """Let a message act that is in the world, or say why not."""
        if self._controller is None:
            self._node.complain("set point refused", "there is no robot yet")
            return
        frame = message.header.frame_id
        if frame not in ("", self._world):
            why = f"header.frame_id: expected {self._world!r} or nothing, got {frame!r}"
            self._node.complain("set point refused", why)
            return
        try:
            act(self._controller)
        except ValueError as error:
            self._node.complain("set point refused", str(error))

    def diagnose(self) -> None:
        """Tell of errors, of the wrench that is wanted, and of the feet that stand."""
        controller = self._controller
        if controller is None or controller.set_point is None:
            return
        error = controller.orientation_error
        turn = 2.0 * math.atan2(float(np.linalg.norm(error[1:])), error[0])
        standing = zip(controller.legs.foot_links, controller.standing, strict=True)
        entries = {
            "position error [mm]": _numbers(1e3 * controller.position_error),
            "orientation error [deg]": f"{math.degrees(turn):.3f}",
            "desired force [N]": _numbers(controller.desired_wrench[:3]),
            "desired moment [N m]": _numbers(controller.desired_wrench[3:]),
            "standing feet": " ".join(link for link, stands in standing if stands),
        }
        status = DiagnosticStatus(
            level=DiagnosticStatus.ERROR if controller.has_fallen else DiagnosticStatus.OK,
            name=f"{self._node.get_fully_qualified_name()}: balance",
            message="has fallen" if controller.has_fallen else "balances",
            values=[KeyValue(key=key, value=value) for key, value in entries.items()],
        )
        self._node.tell(status)


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def main() -> int:
    """The node's process."""
    return run_controller("balance_controller", WorkspaceBalance, SetPointTopic)


if __name__ == "__main__":
    sys.exit(main())
