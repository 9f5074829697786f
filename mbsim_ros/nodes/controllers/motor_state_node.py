# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A controller's node that sees the motors too: waits for motor_states of the stamp of joint_states and odom.

The coupling in force is the frame_id of motor_states, or where that is empty the last word on coupling_state. One that
has no columns but the base's needs no motor_states. A node whose controller decides by the forces under the feet waits
for these of the same stamp, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.nodes.controllers.controller_node import LATCHED, ControllerNode
from mbsim_ros.nodes.controllers.foot_forces import FEET, in_world
from mbsim_ros.nodes.transport.raw_reader import RawReader

BASE = 6  # columns of D that are the floating base's


class _Motors(NamedTuple):
    """The columns of D but the base's, at a time [ns]; the coupling is "" where nobody has told it."""

    stamp: int
    coupling: str
    position: np.ndarray
    velocity: np.ndarray


NO_MOTORS = _Motors(-1, "", np.zeros(0), np.zeros(0))


class MotorStateNode(ControllerNode):
    """Answers when joints, base and motors of one stamp are there. Its controller has `couplings` by name."""

    def __init__(self, name: str, controller_class: type[Any]) -> None:
        self._motors = NO_MOTORS
        self._reader = RawReader(JointState)
        self._coupling = ""
        self._incomplete: RobotState | None = None
        super().__init__(name, controller_class)

    def _handlers(self) -> list[Any]:
        if self._values["whole_state"]:
            return super()._handlers()
        motors = self.create_subscription(JointState, "motor_states", _unused, LATCHED, raw=True)
        coupling = self.create_subscription(String, "coupling_state", _unused, LATCHED)
        return [(coupling, self._on_coupling_state), (motors, self._on_motor_state), *super()._handlers()]

    def _on_coupling_state(self, message: String) -> None:
        self._coupling = message.data
        self._try_again()

    def _on_motor_state(self, message: bytes) -> None:
        try:
            given = self._reader.read(message)
        except ValueError as error:
            self._complain("bad motor state", str(error))
            return
        told = given.message.header.frame_id
        self._motors = _Motors(given.stamp, told, given.numbers("position"), given.numbers("velocity"))
        self._try_again()

    def _take_whole_state(self, state: RobotState) -> None:
        self._motors = _Motors(state.time, state.coupling, state.motor_position, state.motor_velocity)
        super()._take_whole_state(state)

    def _try_again(self) -> None:
        state, self._incomplete = self._incomplete, None
        if state is not None:
            self._answer(state)

    def _answer(self, state: RobotState) -> None:
        """As soon as all that belongs to this stamp is there."""
        controller: Any = self._controller
        motors = self._motors if self._motors.stamp == state.time else NO_MOTORS
        coupling = self.coupling_in_force(motors.coupling or self._coupling)
        configuration = controller.couplings.get(coupling)
        columns = -1 if configuration is None else configuration.nu - BASE
        forces = self.foot_forces(state.time)
        if (forces is None and self.needs_forces) or columns != len(motors.position):
            self._incomplete = state
            return
        contacts = None if forces is None else in_world(configuration.model, state.q, forces)
        complete = replace(
            state, motor_position=motors.position, motor_velocity=motors.velocity, coupling=coupling,
            contact_links=FEET, contact_values=contacts,
        )  # fmt: skip
        self.before_answer(complete)
        super()._answer(complete)

    def coupling_in_force(self, told: str) -> str:
        """The coupling at this instant, where physics has told this one."""
        return told

    @property
    def needs_forces(self) -> bool:
        """Whether a state is answered only with the forces under the feet of its stamp."""
        return False

    def foot_forces(self, now: int) -> np.ndarray | None:
        """Forces under the feet (8, 3) in the axes of their links, where they are known at this stamp [ns]."""
        return None

    def before_answer(self, state: RobotState) -> None:
        """What is to be done at this instant before the controller is asked."""


def _unused(_: Any) -> None:
    """Callback of a subscription whose messages are taken directly."""
