# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading <joint> elements."""

from __future__ import annotations

import math

from lxml import etree

from mbsim_ros.model.description import JOINT_TYPES, SINGLE_AXIS_TYPES, Joint, Limits, Mimic, Vector3
from mbsim_ros.model.problems import did_you_mean, shortened
from mbsim_ros.model.urdf.element_reader import ElementReader

_DEFAULT_AXIS: Vector3 = (1.0, 0.0, 0.0)
_NEEDS_LIMITS = ("revolute", "prismatic")
_HAS_AXIS = (*SINGLE_AXIS_TYPES, "planar")
# Axes are written with few digits (0.7071); only a length further from 1 than that is worth a word.
_AXIS_ROUNDING = 1e-3


def parse_joint(reader: ElementReader, element: etree._Element) -> Joint | None:
    """Return a joint; None if its name, type, parent or child is missing or wrong."""
    here = reader.within("joint", element.get("name", ""))
    name = here.text(element, "name", "joint name")
    kind = _type(here, element)
    parent, parent_line = _end(here, element, "parent")
    child, child_line = _end(here, element, "child")
    origin = here.origin(element)
    axis = _axis(here, element, kind)
    limits = _limits(here, element, kind)
    damping, friction = _dynamics(here, element)
    mimic = _mimic(here, element, kind)
    if name is None or kind is None or parent is None or child is None:
        return None
    return Joint(
        name, kind, parent, child, origin, axis, limits, damping, friction, mimic,
        line=here.line(element), parent_line=parent_line, child_line=child_line,
    )  # fmt: skip


def _type(here: ElementReader, element: etree._Element) -> str | None:
    kind = here.text(element, "type", "joint type")
    if kind is None or kind in JOINT_TYPES:
        return kind
    hint = did_you_mean(kind.lower(), JOINT_TYPES, "one of " + ", ".join(JOINT_TYPES), len(here.problems))
    here.error(element, "unknown joint type", f"'{shortened(kind)}'", hint)
    return None


def _end(here: ElementReader, element: etree._Element, tag: str) -> tuple[str | None, int]:
    """Return the link at one end, and its line."""
    found = here.child(element, tag)
    if found is None:
        here.error(element, f"joint without {tag}", f"<joint> has no <{tag}>", f'add <{tag} link="…"/>')
        return None, here.line(element)
    return here.text(found, "link", f"{tag} link"), here.line(found)


def _axis(here: ElementReader, element: etree._Element, kind: str | None) -> Vector3:
    tag = here.child(element, "axis")
    if tag is None or kind not in _HAS_AXIS:  # fixed joints of real files carry all sorts of axes
        return _DEFAULT_AXIS
    axis = here.vector(tag, "xyz", 3)
    if axis is None:
        return _DEFAULT_AXIS
    length = math.hypot(*axis)
    shown = f'axis xyz="{shortened(tag.get("xyz", ""))}"'
    if length < 1e-9:
        here.error(tag, "zero axis", shown, "give the direction of the joint, such as 0 0 1")
        return _DEFAULT_AXIS
    if not math.isfinite(length):
        here.error(tag, "absurd axis", shown, "give a unit vector")
        return _DEFAULT_AXIS
    if abs(length - 1) > _AXIS_ROUNDING:
        here.warn(tag, "axis not a unit vector", f"{shown} of length {length:.6g}", "it is normalised")
    return (axis[0] / length, axis[1] / length, axis[2] / length)


def _limits(here: ElementReader, element: etree._Element, kind: str | None) -> Limits | None:
    tag = here.child(element, "limit")
    if tag is None:
        if kind in _NEEDS_LIMITS:
            hint = 'add <limit lower="…" upper="…" effort="…" velocity="…"/>'
            hint += " or make it continuous" if kind == "revolute" else ""
            here.error(element, f"{kind} joint without limits", "<joint> has no <limit>", hint)
        return None
    if kind not in SINGLE_AXIS_TYPES:
        return None
    lower, upper = here.number(tag, "lower", 0.0), here.number(tag, "upper", 0.0)
    effort, velocity = here.number(tag, "effort"), here.number(tag, "velocity")
    if lower is None or upper is None or effort is None or velocity is None:
        return None
    limits = Limits(lower, upper, effort, velocity, here.line(tag))
    _check_limits(here, tag, kind, limits)
    return limits


def _check_limits(here: ElementReader, tag: etree._Element, kind: str | None, limits: Limits) -> None:
    for name, value in (("effort", limits.effort), ("velocity", limits.velocity)):
        if value < 0:
            here.error(tag, f"negative {name} limit", f"{value:g}", "a limit is a magnitude")
        elif value == 0:
            here.warn(tag, f"{name} limit of zero", f'limit {name}="0"', "nothing can drive this joint")
    if kind == "continuous":
        return
    if limits.lower > limits.upper:
        here.error(tag, "lower limit above upper limit", f"{limits.lower:g} > {limits.upper:g}", "swap them")
    elif limits.lower == limits.upper:
        hint = "write lower and upper, or make the joint continuous or fixed"
        here.warn(tag, "no travel between the limits", f"lower = upper = {limits.lower:g}", hint)
    elif kind == "revolute" and 30 < max(-limits.lower, limits.upper) <= 720:
        travel = f"{limits.lower:g} … {limits.upper:g}"
        here.warn(tag, "limits look like degrees", travel, "radians are expected")


def _dynamics(here: ElementReader, element: etree._Element) -> tuple[float, float]:
    tag = here.child(element, "dynamics")
    if tag is None:
        return 0.0, 0.0
    values = []
    for name in ("damping", "friction"):
        value = here.number(tag, name, 0.0)
        if value is not None and value < 0:
            here.error(tag, f"negative {name}", f"{value:g}", "it would drive the joint")
        values.append(value or 0.0)
    return values[0], values[1]


def _mimic(here: ElementReader, element: etree._Element, kind: str | None) -> Mimic | None:
    tag = here.child(element, "mimic")
    if tag is None:
        return None
    joint = here.text(tag, "joint", "mimicked joint")
    multiplier, offset = here.number(tag, "multiplier", 1.0), here.number(tag, "offset", 0.0)
    if joint is None or multiplier is None or offset is None:
        return None
    if kind == "fixed":  # left behind in robots whose grippers were frozen (Talos)
        here.warn(tag, "mimic on a fixed joint", f"'{shortened(joint)}'", "it is ignored")
        return None
    return Mimic(joint, multiplier, offset, here.line(tag))
