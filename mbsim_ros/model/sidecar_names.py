# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The names a sidecar may use, checked against a robot where one is given."""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml

from mbsim_ros.model.description import SINGLE_AXIS_TYPES, Joint, RobotDescription
from mbsim_ros.model.problems import did_you_mean, shortened
from mbsim_ros.model.sidecar_nodes import NodeReader


@dataclass
class Names:
    """Joints and links of the robot (anything goes without one), and the motors named in couplings."""

    robot: RobotDescription | None = None
    motors: set[str] = field(default_factory=set)
    idle: list[tuple[NodeReader, yaml.Node]] = field(default_factory=list)  # motors without joints, where they stand

    def __post_init__(self) -> None:
        """Index the robot once."""
        self.joints = {joint.name: joint for joint in self.robot.joints} if self.robot else {}
        self.links = {link.name for link in self.robot.links} if self.robot else set()

    def link(self, reader: NodeReader, node: yaml.Node) -> str | None:
        """Name of a link of the robot."""
        name = reader.text(node)
        if name is not None and self.robot is not None and name not in self.links:
            hint = did_you_mean(name, self.links, "see the URDF", len(reader.problems))
            reader.error(node, "unknown link", f"'{shortened(name)}'", hint)
            return None
        return name

    def joint(self, reader: NodeReader, node: yaml.Node, moves_itself: bool = True) -> str | None:
        """Name of a joint with one axis that, if `moves_itself`, mimics no other."""
        name = reader.text(node)
        if name is None or self.robot is None:
            return name
        joint = self.joints.get(name)
        if joint is None:
            hint = did_you_mean(name, self.joints, "see the URDF", len(reader.problems))
            reader.error(node, "unknown joint", f"'{shortened(name)}'", hint)
            return None
        return name if self._usable(reader, node, joint, moves_itself) else None

    def joint_or_motor(self, reader: NodeReader, node: yaml.Node) -> str | None:
        """Name of a motor of some coupling, or of a joint."""
        if isinstance(node, yaml.ScalarNode) and node.value in self.motors:
            return reader.text(node)
        if self.robot is None or not isinstance(node, yaml.ScalarNode) or node.value in self.joints:
            return self.joint(reader, node)
        known = {*self.motors, *self.joints}
        hint = did_you_mean(node.value, known, "see the URDF and couplings", len(reader.problems))
        reader.error(node, "unknown joint or motor", f"'{shortened(node.value)}'", hint)
        return None

    def position(self, reader: NodeReader, node: yaml.Node, name: str, value: float) -> None:
        """Note a position outside the travel of a joint."""
        joint = self.joints.get(name)
        limits = joint.limits if joint is not None and joint.type != "continuous" else None
        # A thousandth of the travel covers values that were rounded when they were written down.
        slack = 1e-3 * (limits.upper - limits.lower) if limits else 0.0
        if limits and not limits.lower - slack <= value <= limits.upper + slack:
            hint = f"the joint goes from {limits.lower:g} to {limits.upper:g}"
            reader.error(node, "position outside the limits", f"{name}: {value:g}", hint)

    def refuse_idle_motors(self, rotors: dict[str, float]) -> None:
        """Note motors without joints and without a rotor of their own: nothing would resist them."""
        for reader, key in self.idle:
            if not rotors.get(key.value):
                hint = "give it joints, or an entry in rotor_inertia"
                reader.error(key, "motor drives nothing", f"'{shortened(key.value)}'", hint)

    def _usable(self, reader: NodeReader, node: yaml.Node, joint: Joint, moves_itself: bool) -> bool:
        if joint.type not in SINGLE_AXIS_TYPES:
            hint = "name a revolute, continuous or prismatic joint"
            reader.error(node, "joint without one axis", f"'{joint.name}' is {joint.type}", hint)
            return False
        if moves_itself and joint.mimic is not None:
            hint = f"name '{joint.mimic.joint}', which it follows"
            reader.error(node, "joint mimics another", f"'{joint.name}'", hint)
            return False
        return True
