# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""States with the motors: those of joint_states and odom with motor_states of their stamp, or whole_state.

The coupling in force is the frame_id of motor_states, or where that is empty the last word on coupling_state. One that
has no columns but the base's needs no motor_states. Where the forces under the feet are to be of the same stamp, a
state waits for these, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.coupling.configuration import CouplingConfiguration, named
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.controllers.foot_forces import FootForces, in_world
from mbsim_ros.nodes.controllers.state_sources import (
    LATCHED,
    Complain,
    JointStates,
    OnState,
    StateSource,
    WholeStates,
    unused,
)
from mbsim_ros.nodes.transport.fast_loop import Handler
from mbsim_ros.nodes.transport.raw_reader import RawReader


class _MotorSample(NamedTuple):
    """The columns of D but the base's, at a time [ns]; the coupling is "" where nobody has told it."""

    stamp: int
    coupling: str
    position: np.ndarray
    velocity: np.ndarray


NO_MOTORS = _MotorSample(-1, "", np.zeros(0), np.zeros(0))


class MotorStates:
    """Gives a state when joints, base and motors of one stamp are there."""

    def __init__(
        self, node: Node, is_whole: bool, on_state: OnState, complain: Complain, *, oldest_forces: int | None = None,
        in_force: Callable[[str], str] = lambda told: told,
    ):  # fmt: skip
        """is_whole: whether to read whole_state. oldest_forces: age [ns] up to which forces under the feet are known.

        0 waits for those of the stamp, None asks for none. in_force: the coupling, where physics has told this one.
        """
        self._on_state, self._complain, self._in_force = on_state, complain, in_force
        self._couplings: Mapping[str, CouplingConfiguration] = {}
        self._motors = NO_MOTORS
        self._coupling = ""
        self._incomplete: RobotState | None = None
        self._reader = RawReader(JointState)
        self._oldest = oldest_forces
        self._feet = None if oldest_forces is None else FootForces(node, complain, self._on_forces)
        take = self._on_whole if is_whole else self._on_joints
        self._inner: StateSource = (WholeStates if is_whole else JointStates)(node, take, complain)
        self.topic = self._inner.topic
        self._own: list[Handler] = []
        if not is_whole:
            motors = node.create_subscription(JointState, "motor_states", unused, LATCHED, raw=True)
            coupling = node.create_subscription(String, "coupling_state", unused, LATCHED)
            self._own = [(coupling, self._on_coupling_state), (motors, self._on_motor_state)]

    @property
    def handlers(self) -> list[Handler]:
        """Of topics that a state waits for; with those of the feet once it is known which these are."""
        feet = self._feet.handlers if self._feet is not None and self._oldest == 0 else []
        return [*feet, *self._own, *self._inner.handlers]

    @property
    def slack_handlers(self) -> list[Handler]:
        """Of topics that may wait."""
        return [] if self._feet is None or self._oldest == 0 else list(self._feet.handlers)

    def watch_feet(self, feet: tuple[str, ...]) -> None:
        """These are the robot's feet."""
        if self._feet is not None:
            self._feet.watch(feet)

    def prepared(self, model: Model, needed: Collection[str] | None) -> Callable[[], None]:
        """See StateSource."""
        couplings, begin_states = named(model), self._inner.prepared(model, needed)

        def begin() -> None:
            self._couplings = couplings
            begin_states()

        return begin

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
        self._motors = _MotorSample(given.stamp, told, given.numbers("position"), given.numbers("velocity"))
        self._try_again()

    def _on_whole(self, state: RobotState) -> None:
        self._motors = _MotorSample(state.time, state.coupling, state.motor_position, state.motor_velocity)
        self._on_joints(state)

    def _on_forces(self) -> None:
        if self._oldest == 0:
            self._try_again()

    def _try_again(self) -> None:
        state, self._incomplete = self._incomplete, None
        if state is not None:
            self._on_joints(state)

    def _on_joints(self, state: RobotState) -> None:
        """Hand it on as soon as all that belongs to its stamp is there."""
        motors = self._motors if self._motors.stamp == state.time else NO_MOTORS
        coupling = self._in_force(motors.coupling or self._coupling)
        configuration = self._couplings.get(coupling)
        forces = None
        if self._feet is not None and self._oldest is not None:
            forces = self._feet.between(max(0, state.time - self._oldest), state.time)
        is_there = configuration is not None and configuration.nu - configuration.base_columns == len(motors.position)
        if configuration is None or not is_there or (forces is None and self._oldest == 0):
            self._incomplete = state
            return
        feet = () if self._feet is None else self._feet.feet
        contacts = None if forces is None else in_world(configuration.model, state.q, feet, forces)
        self._on_state(
            replace(
                state, motor_position=motors.position, motor_velocity=motors.velocity, coupling=coupling,
                contact_links=feet, contact_values=contacts,
            )
        )  # fmt: skip
