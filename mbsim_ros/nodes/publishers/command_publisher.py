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

from collections.abc import Callable, Collection
from typing import Protocol

import numpy as np
from geometry_msgs.msg import Wrench
from rclpy.node import Node
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import String

from mbsim_ros.control.command import COUPLING, JOINTS, MOTORS, WRENCH, Command, Targets
from mbsim_ros.nodes.stamps import stamp_of
from mbsim_ros.nodes.transport.answer_topic import ANSWERS_DEPTH, AnswerTopic, string_bytes
from mbsim_ros.nodes.transport.patched_message import PatchedMessage

MOST_SHAPES = 100  # of commands whose messages are kept
Shape = tuple[tuple[str, ...], bool, bool, bool]  # names, and which parts there are
PARTS = ("position", "velocity", "effort")
OnListener = Callable[[], None]


class CommandPublisher:
    """Publishes on the topics of what a controller commands, and has no others; messages are made once and reused.

    Commands are taken with names and arrays throughout, see `control.command.listed`.
    """

    def __init__(self, node: Node, on_listener: OnListener, commands: Collection[str] | None = None):
        """commands: any of those of control/command.py; None for a controller that does not say.

        on_listener: called when somebody begins to listen to commands, who has missed those before.
        """
        self._commands = commands
        kinds: dict[str, Callable[[Node, OnListener], _Answers]] = {
            JOINTS: _Joints, MOTORS: _MotorTopic, COUPLING: _Coupling, WRENCH: _Wrenches,
        }  # fmt: skip
        self._answers = [kinds[each](node, on_listener) for each in commands or ()]
        if commands is None:
            self._answers = [_NewCoupling(node), _JointsOrMotors(node, on_listener)]

    def check(self, command: Command) -> None:
        """Raise ValueError for a command that no message of these says whole."""
        said, known = command.spoken_of(), (JOINTS, MOTORS, COUPLING) if self._commands is None else self._commands
        strange = sorted(said - set(known))
        if strange:
            raise ValueError(f"command: expected one of {' and '.join(known)}, got one of {strange[0]}, too")
        if self._commands is None and {JOINTS, MOTORS} <= said:
            raise ValueError("command: expected commands of motors or of joints, one answer per state, got both")
        if command.kp is not None or command.kd is not None:
            raise ValueError("command: messages of joints have no gains kp and kd: name them in the sidecar")

    def publish(self, stamp: int, command: Command, in_force: str = "") -> None:
        """Answer the state of this stamp [ns]; in_force: the coupling at that state."""
        for each in self._answers:
            each.publish(stamp, command, in_force)


class _Answers(Protocol):
    """Some of the topics that commands go to."""

    def publish(self, stamp: int, command: Command, in_force: str) -> None:
        """Answer the state of this stamp [ns] with what belongs there."""


class _Joints:
    """joint_commands, to every state."""

    def __init__(self, node: Node, on_listener: OnListener):
        self._topic = _CommandTopic(node, "joint_commands", on_listener)

    def publish(self, stamp: int, command: Command, in_force: str) -> None:
        self._topic.publish(stamp, command)


class _MotorTopic:
    """motor_commands, to every state."""

    def __init__(self, node: Node, on_listener: OnListener):
        self._topic = _CommandTopic(node, "motor_commands", on_listener)

    def publish(self, stamp: int, command: Command, in_force: str) -> None:
        self._topic.publish(stamp, command.motor if isinstance(command.motor, Targets) else Targets())


class _JointsOrMotors:
    """To every state one message, on joint_commands or on motor_commands."""

    def __init__(self, node: Node, on_listener: OnListener):
        self._joints, self._motors = _Joints(node, on_listener), _MotorTopic(node, on_listener)

    def publish(self, stamp: int, command: Command, in_force: str) -> None:
        (self._joints if command.motor is None else self._motors).publish(stamp, command, in_force)


class _Coupling:
    """coupling_command, to every state: the coupling that is to be in force."""

    def __init__(self, node: Node, on_listener: OnListener):
        self._topic = AnswerTopic(node, String, "coupling_command", on_listener)

    def publish(self, stamp: int, command: Command, in_force: str) -> None:
        self._topic.publish(string_bytes(f"{command.coupling or in_force}@{stamp}"))


class _NewCoupling:
    """coupling_command, where a controller that commands something else asks for another coupling than before."""

    def __init__(self, node: Node):
        self._publisher = node.create_publisher(String, "coupling_command", ANSWERS_DEPTH)
        self._last: str | None = None

    def publish(self, stamp: int, command: Command, in_force: str) -> None:
        if command.coupling is not None and command.coupling != self._last:
            self._publisher.publish(String(data=f"{command.coupling}@{stamp}"))
        self._last = command.coupling


class _Wrenches:
    """wrench_commands, to every state: wrenches on links, all in one message."""

    def __init__(self, node: Node, on_listener: OnListener):
        self._topic = AnswerTopic(node, MultiDOFJointState, "wrench_commands", on_listener)
        self._sender = node.get_fully_qualified_name()

    def publish(self, stamp: int, command: Command, in_force: str) -> None:
        message = MultiDOFJointState()
        message.header.stamp, message.header.frame_id = stamp_of(stamp), self._sender
        for link, numbers in (command.wrench or {}).items():
            wrench = Wrench()
            force, torque = wrench.force, wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = map(float, numbers)
            message.joint_names.append(link)
            message.wrench.append(wrench)
        self._topic.publish(message)


class _CommandTopic:
    """One topic, and its messages as bytes: for each list of names and parts one, of which only numbers are written."""

    def __init__(self, node: Node, topic: str, on_listener: Callable[[], None]):
        self._topic = AnswerTopic(node, JointState, topic, on_listener)
        self._sender = node.get_fully_qualified_name()
        self._messages: dict[Shape, tuple[PatchedMessage, list[np.ndarray]]] = {}

    def publish(self, stamp: int, targets: Targets) -> None:
        """Publish position, velocity and effort of targets, which are arrays; None for what is not commanded."""
        parts = targets.position, targets.velocity, targets.effort
        shape = (targets.names, parts[0] is not None, parts[1] is not None, parts[2] is not None)
        message, views = self._messages.get(shape) or self._new_message(shape)
        for view, part in zip(views, parts, strict=True):
            if part is not None:
                view[:] = part
        message.set_stamp(stamp)
        self._topic.publish(message.tobytes())

    def _new_message(self, shape: Shape) -> tuple[PatchedMessage, list[np.ndarray]]:
        names, *given = shape
        typed = JointState(name=list(names))
        typed.header.frame_id = self._sender
        for name, is_there in zip(PARTS, given, strict=True):
            setattr(typed, name, [0.0] * len(names) if is_there else [])
        message = PatchedMessage(typed)
        if len(self._messages) > MOST_SHAPES:
            self._messages.clear()
        self._messages[shape] = message, [message.numbers(part) for part in PARTS]
        return self._messages[shape]
