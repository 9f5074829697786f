# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where a controller's node has its states from: topics whose messages of one stamp make a state of the model."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.controllers.state_synchronizer import BadState, StateSynchronizer
from mbsim_ros.nodes.transport.fast_loop import Handler
from mbsim_ros.nodes.transport.whole_state import TOPIC as WHOLE_STATE, WholeStateReader

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # reliable

OnState = Callable[[RobotState], None]
Complain = Callable[[str, str], None]  # cause and detail


class StateSource(Protocol):
    """Subscriptions, and what becomes of their messages. What comes before there is a robot is kept for it."""

    topic: str  # that is waited for

    @property
    def handlers(self) -> list[Handler]:
        """For the node's FastLoop; those that complete a state come last."""

    @property
    def slack_handlers(self) -> list[Handler]:
        """Of topics that may wait."""

    def prepared(self, model: Model, needed: Collection[str] | None) -> Callable[[], None]:
        """Get ready to read states of a robot, and return what begins with it; ValueError if they cannot be read.

        needed: names of the joints whose state matters, None for all.
        """


class JointStates:
    """joint_states, and odom for a base that floats: what any robot has."""

    topic = "joint_states"

    def __init__(self, node: Node, on_state: OnState, complain: Complain):
        self._on_state, self._complain = on_state, complain
        self._synchronizer: StateSynchronizer | None = None
        self._early: dict[str, bytes] = {}
        odometry = node.create_subscription(Odometry, "odom", unused, LATCHED, raw=True)
        joints = node.create_subscription(JointState, self.topic, unused, LATCHED, raw=True)
        self.handlers: list[Handler] = [(odometry, self._on_odometry), (joints, self._on_joint_state)]
        self.slack_handlers: list[Handler] = []

    def prepared(self, model: Model, needed: Collection[str] | None) -> Callable[[], None]:
        """See StateSource."""
        synchronizer = StateSynchronizer(model, needed)

        def begin() -> None:
            self._synchronizer = synchronizer
            early, self._early = self._early, {}
            for topic, receive in (("odom", self._on_odometry), (self.topic, self._on_joint_state)):
                if topic in early:
                    receive(early[topic])

        return begin

    def _on_odometry(self, message: bytes) -> None:
        if self._synchronizer is None:
            self._early["odom"] = message
        else:
            self._receive(self._synchronizer.add_odometry, message)

    def _on_joint_state(self, message: bytes) -> None:
        if self._synchronizer is None:
            self._early[self.topic] = message
        else:
            self._receive(self._synchronizer.add_joint_state, message)

    def _receive(self, add: Callable[[bytes], RobotState | None], message: bytes) -> None:
        try:
            state = add(message)
        except BadState as error:
            self._complain("bad state", str(error))
            return
        if state is not None:
            self._on_state(state)


class WholeStates:
    """whole_state, which the physics node of this package offers: all of an instant in one message."""

    topic = WHOLE_STATE

    def __init__(self, node: Node, on_state: OnState, complain: Complain):
        self._on_state, self._complain = on_state, complain
        self._reader: WholeStateReader | None = None
        self._early: bytes | None = None
        whole = node.create_subscription(JointState, self.topic, unused, LATCHED, raw=True)
        self.handlers: list[Handler] = [(whole, self._on_message)]
        self.slack_handlers: list[Handler] = []

    def prepared(self, model: Model, needed: Collection[str] | None) -> Callable[[], None]:
        """See StateSource."""
        reader = WholeStateReader(model)

        def begin() -> None:
            self._reader = reader
            early, self._early = self._early, None
            if early is not None:
                self._on_message(early)

        return begin

    def _on_message(self, message: bytes) -> None:
        if self._reader is None:
            self._early = message
            return
        try:
            state = self._reader.read(message)
        except ValueError as error:
            self._complain("bad state", str(error))
            return
        self._on_state(state)


def unused(_: object) -> None:
    """Callback of a subscription whose messages are taken directly."""
