# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Commands of a controller as messages: stamped with the state they answer, signed with the name of the node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.control.command import Command, Targets
from mbsim_ros.nodes.transport.answer_topic import ANSWERS_DEPTH, AnswerTopic
from mbsim_ros.nodes.transport.patched_message import PatchedMessage

MOST_SHAPES = 100  # of commands whose messages are kept
PARTS = ("position", "velocity", "effort")


class CommandPublisher:
    """Publishes on joint_commands, motor_commands and coupling_command; the messages are made once and reused.

    on_listener: called when somebody begins to listen to commands, who has missed those before.
    """

    def __init__(self, node: Node, on_listener: Callable[[], None]):
        self._joints = _CommandTopic(node, "joint_commands", on_listener)
        self._motors = _CommandTopic(node, "motor_commands", on_listener)
        self._couplings = node.create_publisher(String, "coupling_command", ANSWERS_DEPTH)
        self._coupling: str | None = None

    def publish(self, stamp: int, command: Command) -> None:
        """Answer the state of this stamp [ns]: one message, of joints or of motors, and before it a new coupling.

        command: with names and arrays throughout, see `control.command.listed`.
        """
        if command.motor is not None and command.names:
            raise ValueError("command: expected commands of motors or of joints, one answer per state, got both")
        if command.coupling is not None and command.coupling != self._coupling:
            self._couplings.publish(String(data=f"{command.coupling}@{stamp}"))
        self._coupling = command.coupling
        if isinstance(command.motor, Targets):
            self._motors.publish(stamp, command.motor)
        else:
            self._joints.publish(stamp, command)


class _CommandTopic:
    """One topic, and its messages as bytes: for each list of names and parts one, of which only numbers are written."""

    def __init__(self, node: Node, topic: str, on_listener: Callable[[], None]):
        self._topic = AnswerTopic(node, JointState, topic, on_listener)
        self._sender = node.get_fully_qualified_name()
        self._messages: dict[tuple[Any, ...], tuple[PatchedMessage, list[np.ndarray]]] = {}

    def publish(self, stamp: int, targets: Targets) -> None:
        """Publish position, velocity and effort of targets, which are arrays; None for what is not commanded."""
        parts = targets.position, targets.velocity, targets.effort
        shape = (targets.names, *(part is not None for part in parts))
        message, views = self._messages.get(shape) or self._new_message(shape)
        for view, part in zip(views, parts, strict=True):
            if part is not None:
                view[:] = part
        message.set_stamp(stamp)
        self._topic.publish(message.tobytes())

    def _new_message(self, shape: tuple[Any, ...]) -> tuple[PatchedMessage, list[np.ndarray]]:
        names = shape[0]
        typed = JointState(name=list(names))
        typed.header.frame_id = self._sender
        for name, is_there in zip(PARTS, shape[1:], strict=True):
            setattr(typed, name, [0.0] * len(names) if is_there else [])
        message = PatchedMessage(typed)
        if len(self._messages) > MOST_SHAPES:
            self._messages.clear()
        self._messages[shape] = message, [message.numbers(part) for part in PARTS]
        return self._messages[shape]
