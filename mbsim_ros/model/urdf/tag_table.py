# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which tags and attributes of a URDF are used, which are ignored, and which are unknown."""

from __future__ import annotations

from collections import Counter

from lxml import etree

from mbsim_ros.model.problems import Problem, did_you_mean, shortened
from mbsim_ros.model.urdf.xml_source import XmlSource

_SHAPE = ("origin", "geometry")
_POSE = ("xyz", "rpy", "quat_xyzw")

# lxml looks attributes up one by one: listing them takes the square of their number.
MAX_ATTRIBUTES = 1000

# Path of a tag -> (tags read below it, attributes read on it).
USED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "robot": (("link", "joint", "material", "mbsim"), ("name", "version")),
    "mbsim": ((), ("base",)),
    "material": (("color", "texture"), ("name",)),
    "material/color": ((), ("rgba",)),
    "material/texture": ((), ("filename",)),
    "link": (("inertial", "visual", "collision"), ("name",)),
    "link/inertial": (("origin", "mass", "inertia"), ()),
    "link/inertial/origin": ((), _POSE),
    "link/inertial/mass": ((), ("value",)),
    "link/inertial/inertia": ((), ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "link/visual": ((*_SHAPE, "material"), ("name",)),
    "link/visual/material": (("color", "texture"), ("name",)),
    "link/visual/material/color": ((), ("rgba",)),
    "link/visual/material/texture": ((), ("filename",)),
    "link/collision": (_SHAPE, ("name",)),
    "joint": (("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"), ("name", "type")),
    "joint/origin": ((), _POSE),
    "joint/parent": ((), ("link",)),
    "joint/child": ((), ("link",)),
    "joint/axis": ((), ("xyz",)),
    "joint/limit": ((), ("lower", "upper", "effort", "velocity")),
    "joint/dynamics": ((), ("damping", "friction")),
    "joint/mimic": ((), ("joint", "multiplier", "offset")),
}
for _kind in ("visual", "collision"):
    _geometry = f"link/{_kind}/geometry"
    USED[f"link/{_kind}/origin"] = ((), _POSE)
    USED[_geometry] = (("box", "sphere", "cylinder", "capsule", "mesh"), ())
    USED[f"{_geometry}/box"] = ((), ("size",))
    USED[f"{_geometry}/sphere"] = ((), ("radius",))
    USED[f"{_geometry}/cylinder"] = ((), ("radius", "length"))
    USED[f"{_geometry}/capsule"] = ((), ("radius", "length"))
    USED[f"{_geometry}/mesh"] = ((), ("filename", "scale"))

# Meant for other programs, or without a meaning for the simulation: passed over without a warning.
IGNORED: dict[str, tuple[str, ...]] = {
    "robot": ("gazebo", "transmission", "ros2_control", "sensor"),
    "link": ("gazebo", "sensor", "@type"),
    "link/collision": ("verbose", "contact_coefficients", "material"),
    "joint": ("safety_controller", "calibration", "gazebo", "sensor"),
    "joint/limit": ("@acceleration", "@deceleration", "@jerk"),
}


def count_tags(source: XmlSource) -> tuple[dict[str, int], dict[str, int], list[Problem]]:
    """Return how often each tag was used and ignored (unknown attributes as `tag@attribute`), and what is wrong."""
    used: Counter[str] = Counter()
    ignored: Counter[str] = Counter()
    problems: list[Problem] = []
    pending = [(source.root, "robot", ("robot", source.root.get("name", "")))]
    while pending:
        element, path, owner = pending.pop()
        used[path] += 1
        known_tags, known_attributes = USED[path]
        passed_over = IGNORED.get(path, ())
        if len(element.attrib) > MAX_ATTRIBUTES:
            rule, value = "too many attributes", f"{len(element.attrib)} on <{source.tag(element)}>"
            problems.append(Problem(source.file, source.line(element), *owner, rule, value))
            continue
        for attribute, text in element.items():
            if attribute not in known_attributes:
                ignored[f"{path}@{attribute}"] += 1
                if f"@{attribute}" not in passed_over and not str(attribute).startswith("{"):
                    hint = did_you_mean(str(attribute), known_attributes, "it is ignored", len(problems))
                    value = f'{path} {attribute}="{shortened(str(text), 40)}"'
                    problems.append(_unknown(source, element, owner, "attribute", value, hint))
        for child in element.iterchildren(tag=etree.Element):
            tag = source.tag(child)
            below = tag if path == "robot" else f"{path}/{tag}"
            if tag in known_tags:
                named = (tag, child.get("name", "")) if path == "robot" else owner
                pending.append((child, below, named))
                continue
            ignored[below] += 1
            if tag not in passed_over:
                hint = did_you_mean(tag, known_tags, "it is ignored", len(problems))
                hint = "xacro was not run on this file" if tag.startswith("xacro:") else hint
                problems.append(_unknown(source, child, owner, "tag", below, hint))
    return dict(sorted(used.items())), dict(sorted(ignored.items())), problems


def _unknown(
    source: XmlSource, element: etree._Element, owner: tuple[str, str], kind: str, value: str, hint: str
) -> Problem:
    return Problem(source.file, source.line(element), owner[0], owner[1], f"unknown {kind}", value, hint, "warning")
