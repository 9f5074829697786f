"""A controller's node that sees the motors too: waits for motor_states of the stamp of joint_states and odom.

The coupling in force is the frame_id of motor_states, or where that is empty the last word on coupling_state. One that
has no columns but the base's needs no motor_states. A node whose controller decides by the forces under the feet waits
for these of the same stamp, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.control.robot_state import MeasuredState
from mbsim_ros.nodes.controller_node import LATCHED, ControllerNode
from mbsim_ros.nodes.raw_reader import RawReader, Reading

COMMANDS_DEPTH = 10
BASE = 6  # columns of D that are the floating base's


@dataclass(frozen=True)
class MotorState(MeasuredState):
    """A measured state with the columns of D but the base's, and the coupling that they belong to."""

    motor_position: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    motor_velocity: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    coupling: str = ""
    foot_forces: dict[str, float] | None = field(default=None, repr=False)


class MotorStateNode(ControllerNode):
    """Answers when joints, base and motors of one stamp are there. Its controller has `couplings` by name."""

    def __init__(self, name: str, controller_class: type[Any]) -> None:
        self._motors: Reading | None = None
        self._reader = RawReader(JointState)
        self._coupling = ""
        self._incomplete: MeasuredState | None = None
        super().__init__(name, controller_class)

    def _handlers(self) -> list[Any]:
        motors = self.create_subscription(JointState, "motor_states", _unused, LATCHED, raw=True)
        coupling = self.create_subscription(String, "coupling_state", _unused, LATCHED)
        return [(coupling, self._on_coupling_state), (motors, self._on_motor_state), *super()._handlers()]

    def _on_coupling_state(self, message: String) -> None:
        self._coupling = message.data
        self._try_again()

    def _on_motor_state(self, message: bytes) -> None:
        try:
            self._motors = self._reader.read(message)
        except ValueError as error:
            self._complain("bad motor state", str(error))
            return
        self._try_again()

    def _try_again(self) -> None:
        state, self._incomplete = self._incomplete, None
        if state is not None:
            self._answer(state)

    def _answer(self, state: MeasuredState) -> None:
        """As soon as all that belongs to this stamp is there."""
        controller: Any = self._controller
        motors = self._motors
        if motors is not None and motors.stamp != state.time:
            motors = None
        told = "" if motors is None else motors.message.header.frame_id
        coupling = self.coupling_in_force(told or self._coupling)
        configuration = controller.couplings.get(coupling)
        columns = -1 if configuration is None else configuration.nu - BASE
        forces = self.foot_forces(state.time)
        waits_for_forces = forces is None and self.needs_forces
        if waits_for_forces or columns != (0 if motors is None else len(motors.message.name)):
            self._incomplete = state
            return
        position = np.zeros(0) if motors is None else motors.numbers("position")
        velocity = np.zeros(0) if motors is None else motors.numbers("velocity")
        complete = MotorState(state.time, state.q, state.v, position, velocity, coupling, forces)
        self.before_answer(complete)
        super()._answer(complete)

    def coupling_in_force(self, told: str) -> str:
        """The coupling at this instant, where physics has told this one."""
        return told

    @property
    def needs_forces(self) -> bool:
        """Whether a state is answered only with the forces under the feet of its stamp."""
        return False

    def foot_forces(self, now: int) -> dict[str, float] | None:
        """Forces under the feet by leg [N] where they are known at this stamp [ns]."""
        return None

    def before_answer(self, state: MotorState) -> None:
        """What is to be done at this instant before the controller is asked."""


class AnswerTopic:
    """A topic of answers that says when somebody begins to listen, who has missed those before."""

    def __init__(self, node: Node, kind: type[Any], topic: str, on_listener: Callable[[], None]):
        events = PublisherEventCallbacks(matched=self._on_matched)
        self._publisher: Publisher = node.create_publisher(kind, topic, COMMANDS_DEPTH, event_callbacks=events)
        self._on_listener = on_listener
        self._listeners: int | None = None  # to the last answer, None before the first

    def publish(self, message: Any) -> None:
        """Publish an answer."""
        self._listeners = self._publisher.get_subscription_count()
        self._publisher.publish(message)

    def _on_matched(self, _: Any) -> None:
        listeners = self._publisher.get_subscription_count()
        if self._listeners is not None:
            if listeners > self._listeners:
                self._on_listener()
            self._listeners = listeners


def _unused(_: Any) -> None:
    """Callback of a subscription whose messages are taken directly."""
