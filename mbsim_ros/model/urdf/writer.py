# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From a `RobotDescription` to URDF text: the parser turned round.

Numbers are written with all their digits, so that reading the text gives the same description again. URDF has no
place for rotor inertias: they stay in the sidecar or in Python.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from xml.sax.saxutils import quoteattr

from lxml import etree

from mbsim_ros.model.description import (
    SINGLE_AXIS_TYPES,
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Joint,
    Link,
    Material,
    Mesh,
    Origin,
    RobotDescription,
    Sphere,
    Vector3,
    Visual,
)

_Value = str | float | Iterable[float] | None
_HAS_AXIS = (*SINGLE_AXIS_TYPES, "planar")


def to_urdf(robot: RobotDescription, *, for_ros: bool = False) -> str:
    """Write a robot as URDF text.

    for_ros: only what every reader of `robot_description` knows. Spherical joints become floating, capsules become a
    cylinder and two spheres, and meshes that were found become file:// addresses; others stay as they were written.
    Tags ros2_control are kept as the file has them: a controller manager reads from this text what its hardware is.
    """
    shared = _shared_materials(robot)
    lines = ['<?xml version="1.0"?>', _open("robot", name=robot.name)]
    if robot.base is not None:  # a tag of ours, which others pass over
        lines += _indented([_tag("mbsim", base=robot.base)])
    for material in shared.values():
        lines += _indented(_material(material))
    for link in robot.links:
        lines += _indented(_link(_plain_link(link) if for_ros else link, shared))
    for joint in robot.joints:
        kind = "floating" if for_ros and joint.type == "spherical" else joint.type
        lines += _indented(_joint(joint, kind))
    if for_ros:
        lines += _kept(robot.xml, "ros2_control")
    return "\n".join([*lines, "</robot>", ""])


def _kept(xml: str, tag: str) -> list[str]:
    """The elements of this tag below the root of a text, as they are."""
    if f"<{tag}" not in xml:
        return []
    found = etree.fromstring(xml.encode(), etree.XMLParser(resolve_entities=False)).findall(tag)
    return [etree.tostring(element, encoding="unicode").strip() for element in found]


def _shared_materials(robot: RobotDescription) -> dict[str, Material]:
    """Materials that mean the same wherever their name stands; the others are written where they are used."""
    found: dict[str, set[Material]] = {}
    for visual in (visual for link in robot.links for visual in link.visuals):
        if visual.material is not None and visual.material.name:
            found.setdefault(visual.material.name, set()).add(visual.material)
    same = {name: next(iter(members)) for name, members in found.items() if len(members) == 1}
    return {name: material for name, material in same.items() if _has_look(material)}


def _has_look(material: Material) -> bool:
    return material.rgba is not None or material.texture is not None


def _link(link: Link, shared: dict[str, Material]) -> list[str]:
    inner = [] if link.inertial is None else _inertial(link.inertial)
    for visual in link.visuals:
        inner += _visual(visual, shared)
    for collision in link.collisions:
        shape = [*_origin(collision.origin), _geometry(collision.geometry)]
        inner += [_open("collision", name=collision.name or None), *_indented(shape), "</collision>"]
    return _element("link", inner, name=link.name)


def _inertial(inertial: Inertial) -> list[str]:
    I = inertial.inertia  # noqa: E741
    components = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
    inner = [_tag("mass", value=inertial.mass), _tag("inertia", **components)]
    return _element("inertial", [*_origin(inertial.origin), *inner])


def _visual(visual: Visual, shared: dict[str, Material]) -> list[str]:
    inner = [*_origin(visual.origin), _geometry(visual.geometry)]
    material = visual.material
    if material is not None and material.name in shared:
        inner.append(_tag("material", name=material.name))
    elif material is not None and _has_look(material):
        inner += _material(material)
    return _element("visual", inner, name=visual.name or None)


def _material(material: Material) -> list[str]:
    inner = [] if material.rgba is None else [_tag("color", rgba=material.rgba)]
    inner += [] if material.texture is None else [_tag("texture", filename=material.texture)]
    return _element("material", inner, name=material.name)


def _geometry(shape: Geometry) -> str:
    if isinstance(shape, Box):
        inner = _tag("box", size=shape.size)
    elif isinstance(shape, Sphere):
        inner = _tag("sphere", radius=shape.radius)
    elif isinstance(shape, Mesh):
        scale = None if shape.scale == (1.0, 1.0, 1.0) else shape.scale
        inner = _tag("mesh", filename=shape.filename, scale=scale)
    else:
        inner = _tag(type(shape).__name__.lower(), radius=shape.radius, length=shape.length)
    return f"<geometry>{inner}</geometry>"


def _joint(joint: Joint, kind: str) -> list[str]:
    inner = [_tag("parent", link=joint.parent), _tag("child", link=joint.child), *_origin(joint.origin)]
    if joint.type in _HAS_AXIS:
        inner.append(_tag("axis", xyz=_axis(joint.axis)))
    if joint.limits is not None:
        travel = joint.limits
        inner.append(
            _tag("limit", lower=travel.lower, upper=travel.upper, effort=travel.effort, velocity=travel.velocity)
        )
    if joint.damping != 0 or joint.friction != 0:
        inner.append(_tag("dynamics", damping=joint.damping, friction=joint.friction))
    if joint.mimic is not None:
        follow = joint.mimic
        inner.append(_tag("mimic", joint=follow.joint, multiplier=follow.multiplier, offset=follow.offset))
    return _element("joint", inner, name=joint.name, type=kind)


def _axis(axis: Vector3) -> Vector3:
    """Numbers that the parser normalises to just this axis: dividing by a length of 1 + 1e-16 may move the last bit."""
    if abs(math.hypot(*axis) - 1) > 1e-12:
        return axis
    for step in range(1000):  # nearly always the first
        x, y, z = (value * (1 + step * 2.0**-50) for value in axis)
        length = math.hypot(x, y, z)
        if (x / length, y / length, z / length) == axis:
            return x, y, z
    return axis


def _origin(origin: Origin) -> list[str]:
    zero = (0.0, 0.0, 0.0)
    xyz, rpy = (None if value == zero else value for value in (origin.xyz, origin.rpy))
    return [] if xyz is None and rpy is None else [_tag("origin", xyz=xyz, rpy=rpy)]


def _plain_link(link: Link) -> Link:
    """Return the link with shapes that every reader of URDF knows."""
    visuals = tuple(replace(visual, origin=X, geometry=s) for visual in link.visuals for X, s in _plain_shapes(visual))
    collisions = tuple(
        replace(collision, origin=X, geometry=s) for collision in link.collisions for X, s in _plain_shapes(collision)
    )
    return replace(link, visuals=visuals, collisions=collisions)


def _plain_shapes(shape: Visual | Collision) -> list[tuple[Origin, Geometry]]:
    geometry = shape.geometry
    if isinstance(geometry, Capsule):
        X = shape.origin.matrix()
        ends = [X[:3, 3] + side * geometry.length / 2 * X[:3, 2] for side in (-1, 1)]
        balls = [Origin((float(x), float(y), float(z))) for x, y, z in ends]
        tube = Cylinder(geometry.radius, geometry.length)
        return [(shape.origin, tube), *((ball, Sphere(geometry.radius)) for ball in balls)]
    if isinstance(geometry, Mesh) and geometry.path is not None:
        return [(shape.origin, replace(geometry, filename=geometry.path.as_uri()))]
    return [(shape.origin, geometry)]


def _element(tag: str, inner: list[str], **attributes: _Value) -> list[str]:
    if not inner:
        return [_tag(tag, **attributes)]
    return [_open(tag, **attributes), *_indented(inner), f"</{tag}>"]


def _tag(tag: str, **attributes: _Value) -> str:
    return _open(tag, **attributes)[:-1] + "/>"


def _open(tag: str, **attributes: _Value) -> str:
    written = [f" {name}={quoteattr(_text(value))}" for name, value in attributes.items() if value is not None]
    return f"<{tag}{''.join(written)}>"


def _text(value: _Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return " ".join(map(_text, value))
    return repr(float(value)).removesuffix(".0")  # type: ignore[arg-type]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
