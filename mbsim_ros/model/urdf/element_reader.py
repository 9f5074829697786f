# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Strict reading of names, numbers and poses from URDF elements, collecting what is wrong."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from lxml import etree
from transforms3d.euler import quat2euler

from mbsim_ros.model.description import Origin
from mbsim_ros.model.problems import Problem, shortened
from mbsim_ros.model.urdf.xml_source import XmlSource

# Python's float() also takes 'nan', 'inf', '1_0' and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Lengths, masses and inertias beyond this overflow when they are multiplied with each other.
TOO_LARGE = 1e12


@dataclass(frozen=True)
class ElementReader:
    """Reads the elements of one link or joint (its owner) and adds what is wrong to `problems`."""

    source: XmlSource
    problems: list[Problem]
    kind: str = "robot"
    name: str = ""

    def within(self, kind: str, name: str) -> ElementReader:
        """Return a reader whose problems belong to this link or joint."""
        return ElementReader(self.source, self.problems, kind, name)

    def line(self, element: etree._Element) -> int:
        """Line of an element."""
        return self.source.line(element)

    def error(self, element: etree._Element, rule: str, value: str = "", hint: str = "") -> None:
        """Note something that makes the file unusable."""
        self._note(element, rule, value, hint, "error")

    def warn(self, element: etree._Element, rule: str, value: str = "", hint: str = "") -> None:
        """Note an imperfection."""
        self._note(element, rule, value, hint, "warning")

    def _note(self, element: etree._Element, rule: str, value: str, hint: str, severity: str) -> None:
        line = self.line(element)
        self.problems.append(Problem(self.source.file, line, self.kind, self.name, rule, value, hint, severity))

    def children(self, element: etree._Element, tag: str) -> list[etree._Element]:
        """Children with this tag, in file order."""
        return [child for child in element.iterchildren(tag=etree.Element) if self.source.tag(child) == tag]

    def child(self, element: etree._Element, tag: str) -> etree._Element | None:
        """First child with this tag, as urdfdom takes it; a second one is an imperfection."""
        found = self.children(element, tag)
        if len(found) > 1:
            self.warn(found[1], "tag given twice", f"<{tag}>", f"the one in line {self.line(found[0])} is used")
        return found[0] if found else None

    def number(self, element: etree._Element, attribute: str, default: float | None = None) -> float | None:
        """Finite number of an attribute; None, noted, if it is missing without a default or malformed."""
        if element.get(attribute) is None:
            if default is None:
                self.error(element, "missing number", f"<{self._tag(element)}> has no {attribute}", f"add {attribute}")
            return default
        values = self.vector(element, attribute, 1)
        return values[0] if values else None

    def vector(self, element: etree._Element, attribute: str, count: int) -> tuple[float, ...] | None:
        """`count` finite numbers of an attribute; None if it is missing (not noted) or malformed (noted)."""
        text = element.get(attribute)
        if text is None:
            return None
        shown = f'{self._tag(element)} {attribute}="{shortened(text)}"'
        words = text.split(None, count) if len(text) > 1000 else text.split()
        if len(words) != count:
            wanted = "one number is expected" if count == 1 else f"{count} numbers separated by spaces are expected"
            self.error(element, "wrong count of numbers", shown, wanted)
            return None
        values = []
        for word in words:
            value = float(word) if len(word) < 400 and _NUMBER.fullmatch(word) else math.nan
            if not math.isfinite(value):
                self.error(element, "not a finite number", shown, _number_hint(word))
                return None
            values.append(value)
        return tuple(values)

    def text(self, element: etree._Element, attribute: str, what: str) -> str | None:
        """Non-empty attribute; None, noted, if there is none."""
        value = element.get(attribute)
        if value is None or not value.strip():
            rule = f"missing {what}" if value is None else f"empty {what}"
            self.error(element, rule, f"<{self._tag(element)}>", f'write {attribute}="…"')
            return None
        return value

    def origin(self, element: etree._Element) -> Origin:
        """Pose of the <origin> below an element; zero where it says nothing."""
        tag = self.child(element, "origin")
        if tag is None:
            return Origin()
        xyz = self.vector(tag, "xyz", 3) or (0.0, 0.0, 0.0)
        rpy = self._rotation(tag)
        if any(abs(value) > TOO_LARGE for value in xyz):
            self.error(tag, "absurd length", f'origin xyz="{tag.get("xyz")}"', "metres are expected")
        elif any(abs(value) > 1e4 for value in xyz):
            self.warn(tag, "implausible length", f'origin xyz="{tag.get("xyz")}"', "metres are expected")
        if any(abs(value) > TOO_LARGE for value in rpy):
            self.error(tag, "absurd angle", f'origin rpy="{tag.get("rpy")}"', "radians are expected")
        elif any(abs(value) > 6.3 for value in rpy):
            self.warn(tag, "angle beyond a full turn", f'origin rpy="{tag.get("rpy")}"', "radians are expected")
        return Origin(_three(xyz), _three(rpy), self.line(tag))

    def _rotation(self, tag: etree._Element) -> tuple[float, ...]:
        """Roll, pitch, yaw; since version 1.2 a URDF may give a quaternion instead."""
        quaternion = tag.get("quat_xyzw")
        if quaternion is None or not self._has_quaternions():
            if quaternion is not None:
                shown = f'quat_xyzw="{shortened(quaternion)}"'
                self.warn(tag, "quat_xyzw ignored", shown, 'it needs <robot version="1.2">')
            return self.vector(tag, "rpy", 3) or (0.0, 0.0, 0.0)
        if tag.get("rpy") is not None:
            self.error(tag, "two rotations", "origin has rpy and quat_xyzw", "keep one")
        values = self.vector(tag, "quat_xyzw", 4)
        if values is None:
            return (0.0, 0.0, 0.0)
        length = math.hypot(*values)
        if not 1e-6 < length < TOO_LARGE:
            self.error(tag, "quaternion has no direction", f'quat_xyzw="{quaternion}"', "give a unit quaternion")
            return (0.0, 0.0, 0.0)
        if abs(length - 1) > 1e-3:
            self.warn(tag, "quaternion not unit", f"length {length:.6g}", "it is normalised")
        x, y, z, w = (value / length for value in values)
        return tuple(float(angle) for angle in quat2euler((w, x, y, z), axes="sxyz"))

    def _has_quaternions(self) -> bool:
        version = re.fullmatch(r"1\.([0-9]{1,3})(\.[0-9]+)*", self.source.root.get("version", "1.0").strip())
        return version is not None and int(version.group(1)) >= 2

    def _tag(self, element: etree._Element) -> str:
        return self.source.tag(element)


def _three(values: tuple[float, ...]) -> tuple[float, float, float]:
    x, y, z = values
    return (x, y, z)


def _number_hint(word: str) -> str:
    if "${" in word or "$(" in word:
        return "xacro was not run on this file"
    if re.fullmatch(r"[+-]?[0-9]+,[0-9]+", word):
        return "write a decimal point, not a comma"
    if "," in word or ";" in word:
        return "separate numbers by spaces"
    return f"replace '{shortened(word, 20)}'"
