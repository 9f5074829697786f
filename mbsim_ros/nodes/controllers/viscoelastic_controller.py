# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of the controller that holds bodies as if springs and dampers did (H).

It answers each state with wrenches on the bodies, on the topic `wrench_commands`, or with efforts of the joints where
`acts_by` says so. Beside each answer it publishes v, its Lyapunov function, on `lyapunov`, which the viewer draws.
"""

from __future__ import annotations

import sys
from collections.abc import Collection

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from mbsim_ros.control.command import JOINTS as OF_JOINTS, Command
from mbsim_ros.control.controller import Controller
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.viscoelastic.controller import ViscoelasticController
from mbsim_ros.control.viscoelastic.parameters import JOINTS
from mbsim_ros.nodes.controllers.controller_node import ControllerNode, run_controller
from mbsim_ros.nodes.controllers.extension import Extension

ROUNDING = 1e-9  # of v at its largest: a rise that is less than this is none


class LyapunovTopics(Extension):
    """`lyapunov` (std_msgs/Float64) after every answer; `activations` (sensor_msgs/JointState) drives muscles."""

    def __init__(self, node: ControllerNode):
        self._node = node
        self._controller: ViscoelasticController | None = None
        self._largest = 0.0
        acts_by_joints = node.tuning.current.acts_by == JOINTS
        self.commands: Collection[str] | None = (OF_JOINTS,) if acts_by_joints else None
        self._publisher = node.create_publisher(Float64, "lyapunov", 10)
        node.create_subscription(JointState, "activations", self._on_activations, 10)

    def on_robot(self, controller: Controller) -> None:
        """v is that of this controller from now on."""
        assert isinstance(controller, ViscoelasticController)
        self._controller = controller

    def on_reset(self) -> None:
        """v begins anew."""
        self._largest = 0.0

    def after_answer(self, state: RobotState, command: Command) -> None:
        """Tell v of the state that was answered."""
        if self._controller is not None and self._controller.lyapunov is not None:
            self._largest = max(self._largest, self._controller.lyapunov)
            self._publisher.publish(Float64(data=float(self._controller.lyapunov)))

    def _on_activations(self, message: JointState) -> None:
        if self._controller is None or len(message.name) != len(message.effort):
            why = f"expected an effort for each name, got {len(message.effort)} for {len(message.name)}"
            self._node.complain("activation refused", "there is no robot yet" if self._controller is None else why)
            return
        try:
            for name, force in zip(message.name, message.effort, strict=True):
                self._controller.activate(name, force)
        except ValueError as error:
            self._node.complain("activation refused", str(error))

    def diagnose(self) -> None:
        """Tell v, and whether it has risen."""
        controller = self._controller
        if controller is None or controller.lyapunov is None:
            return
        has_risen = controller.rise > ROUNDING * max(self._largest, 1.0)
        entries = {"v [J]": controller.lyapunov, "largest rise of v from one state to the next [J]": controller.rise}
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if has_risen else DiagnosticStatus.OK,
            name=f"{self._node.get_fully_qualified_name()}: viscoelastic",
            message="v has risen: something else moves the bodies, or the period is too long"
            if has_risen
            else "v falls",
            values=[KeyValue(key=key, value=f"{value:.9g}") for key, value in entries.items()],
        )
        self._node.tell(status)


def main() -> int:
    """The node's process."""
    return run_controller("viscoelastic_controller", ViscoelasticController, LyapunovTopics)


if __name__ == "__main__":
    sys.exit(main())
