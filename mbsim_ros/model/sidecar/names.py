# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The names a sidecar may use, checked against a robot where one is given, and the names that a pattern means."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import yaml

from mbsim_ros.model.description import SINGLE_AXIS_TYPES, Joint, RobotDescription
from mbsim_ros.model.problems import did_you_mean, shortened
from mbsim_ros.model.sidecar.name_patterns import MOST_TRIES, BadPattern, is_pattern, matching, plain_part
from mbsim_ros.model.sidecar.nodes import NodeReader

Value = TypeVar("Value")
# How many numbers a state has for joints of several axes: rpy, or x y and the turn, or xyz and rpy; velocities as many.
SEVERAL = {"spherical": 3, "planar": 3, "floating": 6}


class Meant(NamedTuple):
    """The names that a key of a sidecar means."""

    names: list[str]
    by_pattern: bool = False


def settled(entries: Iterable[tuple[Meant, Value]]) -> dict[str, Value]:
    """The value of each name: what stands by the name itself, else by the last pattern that means it."""
    given = list(entries)
    of_patterns = {name: value for meant, value in given if meant.by_pattern for name in meant.names}
    own = {name: value for meant, value in given if not meant.by_pattern for name in meant.names}
    return {**of_patterns, **own}


@dataclass
class SidecarNames:
    """Joints and links of the robot (anything goes without one), and the motors named in couplings."""

    robot: RobotDescription | None = None
    motors: set[str] = field(default_factory=set)
    idle: list[tuple[NodeReader, yaml.Node]] = field(default_factory=list)  # motors without joints, where they stand
    tries: int = 0  # of patterns with names

    def __post_init__(self) -> None:
        """Index the robot once."""
        self.joints = {joint.name: joint for joint in self.robot.joints} if self.robot else {}
        self.links = [link.name for link in self.robot.links] if self.robot else []
        self._known_links = set(self.links)

    def meant_joints(
        self, reader: NodeReader, key: yaml.Node, *, with_motors: bool = False, moves_itself: bool = True
    ) -> Meant:
        """The joints (and motors) that a key means: one by its name, or those of a pattern that is no name."""
        if not self._is_pattern(key, {*self.joints, *(self.motors if with_motors else ())}):
            one = self.joint_or_motor(reader, key) if with_motors else self.joint(reader, key, moves_itself)
            return Meant([] if one is None else [one])
        usable = [
            joint.name for joint in self.joints.values()
            if joint.type in SINGLE_AXIS_TYPES and not (moves_itself and joint.mimic is not None)
        ]  # fmt: skip
        usable += sorted(self.motors.difference(usable)) if with_motors else []
        return Meant(self._matching(reader, key, usable, "joint"), by_pattern=True)

    def meant_links(self, reader: NodeReader, node: yaml.Node) -> list[str]:
        """The links that a text means: one by its name, or those of a pattern that is no name."""
        if self._is_pattern(node, self.links):
            return self._matching(reader, node, self.links, "link")
        one = self.link(reader, node)
        return [] if one is None else [one]

    def link(self, reader: NodeReader, node: yaml.Node) -> str | None:
        """Name of a link of the robot."""
        name = reader.text(node)
        if name is not None and self.robot is not None and name not in self._known_links:
            hint = did_you_mean(name, self.links, "see the URDF", len(reader.problems))
            reader.error(node, "unknown link", f"'{shortened(name)}'", hint)
            return None
        return name

    def joint(
        self, reader: NodeReader, node: yaml.Node, moves_itself: bool = True, has_one_axis: bool = True
    ) -> str | None:
        """Name of a joint, with one axis if `has_one_axis`, that, if `moves_itself`, mimics no other."""
        name = reader.text(node)
        if name is None or self.robot is None:
            return name
        joint = self.joints.get(name)
        if joint is None:
            hint = did_you_mean(name, self.joints, "see the URDF", len(reader.problems))
            reader.error(node, "unknown joint", f"'{shortened(name)}'", hint)
            return None
        return name if self._usable(reader, node, joint, moves_itself, has_one_axis) else None

    def count_of_joint(self, node: yaml.Node) -> int | None:
        """How many numbers place a joint of several axes that is named; None for any other name."""
        joint = self.joints.get(node.value) if isinstance(node, yaml.ScalarNode) else None
        return None if joint is None else SEVERAL.get(joint.type)

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

    def count_tries(self, reader: NodeReader, node: yaml.Node, count: int) -> bool:
        """Count names that a pattern is tried with; whether that is few enough."""
        self.tries += count
        if self.tries > MOST_TRIES:
            reader.error(node, "too many patterns", f"more than {MOST_TRIES} tries", "name the joints instead")
        return self.tries <= MOST_TRIES

    def _is_pattern(self, node: yaml.Node, known: Collection[str]) -> bool:
        if self.robot is None or not isinstance(node, yaml.ScalarNode) or not is_pattern(node.value):
            return False
        return node.value not in known

    def _matching(self, reader: NodeReader, node: yaml.Node, names: Collection[str], kind: str) -> list[str]:
        pattern = reader.text(node) or ""
        if not self.count_tries(reader, node, len(names)):
            return []
        try:
            found = matching(pattern, names)
        except BadPattern as reason:
            reader.error(node, "not a usable pattern", f"'{shortened(pattern)}'", str(reason))
            return []
        if not found:
            near = did_you_mean(plain_part(pattern), names, "see the URDF", len(reader.problems))
            reader.error(node, f"pattern without a {kind}", f"'{shortened(pattern)}'", near)
        return found

    def _usable(
        self, reader: NodeReader, node: yaml.Node, joint: Joint, moves_itself: bool, has_one_axis: bool
    ) -> bool:
        if joint.type not in SINGLE_AXIS_TYPES and (has_one_axis or joint.type not in SEVERAL):
            hint = "name a revolute, continuous or prismatic joint"
            reader.error(node, "joint without one axis", f"'{joint.name}' is {joint.type}", hint)
            return False
        if moves_itself and joint.mimic is not None:
            hint = f"name '{joint.mimic.joint}', which it follows"
            reader.error(node, "joint mimics another", f"'{joint.name}'", hint)
            return False
        return True
