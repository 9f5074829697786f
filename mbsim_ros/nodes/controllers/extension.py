# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is particular to the node of one controller: topics, services and words of its own, around the common loop."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mbsim_ros.control.command import Command
from mbsim_ros.control.controller import Controller
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.nodes.controllers.state_sources import StateSource
from mbsim_ros.nodes.transport.fast_loop import Handler


class Extension:
    """Made with its node, which calls what it has of these methods. This one adds nothing."""

    states: StateSource | None = None  # None: joint_states and odom, or whole_state
    commands: Collection[str] | None = None  # None: what the class of the controller says that it commands
    handlers: Sequence[Handler] = ()  # for the node's FastLoop
    slack_handlers: Sequence[Handler] = ()

    def on_robot(self, controller: Controller) -> None:
        """There is a robot, and this controller for it."""

    def on_reset(self) -> None:
        """The controller has been reset: another motion begins."""

    def before_answer(self, state: RobotState, is_new: bool) -> None:
        """A state is about to be answered; is_new: whether the last one that was answered is of another time."""

    def after_answer(self, state: RobotState, command: Command) -> None:
        """A state has been answered with this command."""

    def diagnose(self) -> None:
        """A second has passed on the wall's clock."""

    def close(self) -> None:
        """The node ends."""
