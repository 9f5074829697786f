# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The topics by which a robot is commanded: those of the physics node, or those of one entity of its scene.

An entity is commanded with its own names, as if it were alone; what acts, and what the journal has, are the scene's:
`elbow` on arm/joint_commands is `arm/elbow` on joint_commands.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from geometry_msgs.msg import Wrench, WrenchStamped
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import String

from mbsim_ros.bags.journal import JOINTS, MOTORS
from mbsim_ros.model.sidecar.coupling_text import split_command
from mbsim_ros.nodes.physics.lockstep import COUPLING, WRENCH
from mbsim_ros.nodes.stamps import nanoseconds
from mbsim_ros.nodes.transport.fast_loop import Handler
from mbsim_ros.nodes.transport.patched_message import PatchedMessage
from mbsim_ros.nodes.transport.raw_reader import KNOWN_LAYOUTS, Layout, RawReader, Reading
from mbsim_ros.nodes.transport.topic_scope import TopicScope
from mbsim_ros.sim.drives.drive_table import PARTS

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.inputs import Inputs

# Reliable, and none is dropped for those that come after it: an answer that is lost would be waited for.
COMMANDS = QoSProfile(history=HistoryPolicy.KEEP_ALL, depth=100)
SHOWN = 200  # characters of a command that is refused


class CommandTopics:
    """joint_commands, motor_commands, wrench_commands, coupling_command and wrench, told in the scene's names."""

    def __init__(self, inputs: Inputs, node: Node | TopicScope, frame_prefix: str, entity: str = "", space: str = ""):
        """entity: whose topics these are, "" for those of the node; space: its namespace, fully qualified."""
        self._inputs, self._frame_prefix, self.entity = inputs, frame_prefix, entity
        self.prefix = f"{entity}/" if entity else ""
        # The answers on topics that name no sender: of an entity they are told apart by its namespace.
        self.coupling_participant = f"{space}/{COUPLING}" if entity else COUPLING
        self.wrench_participant = f"{space}/{WRENCH}" if entity else WRENCH
        self.has_command = False
        self.last_command = 0  # stamp of the state at which the last one came [ns]
        self._reader = RawReader(JointState)
        self._names: dict[Layout, list[str]] = {}
        self._scene_messages: dict[Layout, PatchedMessage] = {}
        self.handlers: list[Handler] = [
            (
                node.create_subscription(JointState, "joint_commands", _unused, COMMANDS, raw=True),
                partial(self._on_command, JOINTS),
            ),
            (
                node.create_subscription(JointState, "motor_commands", _unused, COMMANDS, raw=True),
                partial(self._on_command, MOTORS),
            ),
            (node.create_subscription(String, "coupling_command", _unused, COMMANDS), self._on_coupling),
            (node.create_subscription(WrenchStamped, "wrench", _unused, COMMANDS), self._on_wrench),
            (
                node.create_subscription(MultiDOFJointState, "wrench_commands", _unused, COMMANDS),
                self._on_wrench_command,
            ),
        ]

    def _on_command(self, kind: str, data: bytes) -> None:
        try:
            given = self._reader.read(data)
        except ValueError as error:
            self._inputs.refuse("unreadable", str(error))
            return
        if self.entity:
            self._inputs.command(self, kind, given, self._scene_names(given), partial(self._scene_bytes, given))
        else:
            self._inputs.command(self, kind, given, given.message.name, lambda: data)

    def _on_coupling(self, message: String) -> None:
        name, stamp = split_command(message.data)
        if stamp and not stamp.isdecimal():
            expected = "expected name or name@nanoseconds, or {…} in place of the name"
            self._inputs.refuse("bad coupling command", f"{expected}, got {message.data[:SHOWN]!r}")
            return
        self._inputs.coupling(self, name, int(stamp) if stamp else None)

    def _on_wrench(self, message: WrenchStamped) -> None:
        force, torque = _numbers(message.wrench)
        link = self._scene_link(message.header.frame_id)
        self._inputs.wrench(self, link, force, torque, nanoseconds(message.header.stamp))

    def _on_wrench_command(self, message: MultiDOFJointState) -> None:
        links, wrenches = [self._scene_link(name) for name in message.joint_names], message.wrench
        sender = message.header.frame_id
        if len(links) != len(wrenches) or len(set(links)) < len(links):
            what = f"expected a wrench for each link, got {len(wrenches)} for {', '.join(links) or 'none'}"
            self._inputs.refuse("wrong size", f"{what} (from {sender or 'somebody'})")
            return
        pushes = {link: _numbers(wrench) for link, wrench in zip(links, wrenches, strict=True)}
        self._inputs.wrench_command(self, pushes, sender, nanoseconds(message.header.stamp))

    def _scene_link(self, name: str) -> str:
        """A link as the scene has it, by its own name or by that of its frame; an entity's has its name, too."""
        return f"{self.prefix}{name.removeprefix(self._frame_prefix).removeprefix(self.prefix)}"

    def _scene_names(self, given: Reading) -> list[str]:
        """The names of a command of an entity as the scene has them."""
        known = self._names.get(given.layout)
        if known is None:
            if len(self._names) >= KNOWN_LAYOUTS:
                self._names.clear()
            known = self._names[given.layout] = [f"{self.prefix}{name}" for name in given.message.name]
        return known

    def _scene_bytes(self, given: Reading) -> bytes:
        """A command of an entity as one of the scene, for the journal."""
        patched = self._scene_messages.get(given.layout)
        if patched is None:
            if len(self._scene_messages) >= KNOWN_LAYOUTS:
                self._scene_messages.clear()
            sizes = {part: [0.0] * len(given.numbers(part)) for part in PARTS}
            message = JointState(name=self._scene_names(given), **sizes)
            message.header.frame_id = given.message.header.frame_id
            patched = self._scene_messages[given.layout] = PatchedMessage(message)
        for part in PARTS:
            patched.numbers(part)[:] = given.numbers(part)
        patched.set_stamp(given.stamp)
        return patched.tobytes()


def _numbers(wrench: Wrench) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Force and torque."""
    f, t = wrench.force, wrench.torque
    return (f.x, f.y, f.z), (t.x, t.y, t.z)


def _unused(_: object) -> None:
    """Callback of a subscription whose messages are taken directly."""
