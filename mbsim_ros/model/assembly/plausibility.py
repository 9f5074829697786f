# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether each link's mass and inertia look like those of a real body, and what would.

The parser says what is impossible. This compares what is possible with the link's shapes: a doubt is no warning,
because a shape may well be a rough stand-in for the body.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mbsim_ros.model.assembly.solids import solid_moments, solid_of_shapes, volume
from mbsim_ros.model.description import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Link,
    Origin,
    RobotDescription,
    Sphere,
    Visual,
)
from mbsim_ros.model.problems import Problem

DENSEST, LIGHTEST = 23_000.0, 5.0  # kg/m³: osmium, and less than any foam
USUAL_DENSITY = 1000.0  # of robots as a whole, for links of which only the mass is known
# How far an inertia may be from that of the link's shapes before it is worth a word.
TOO_BIG, TOO_SMALL = 4.0, 0.02


@dataclass(frozen=True)
class LinkMass:
    """Mass and principal moments (ascending) of a link, what is odd about them, and a plausible inertial."""

    link: Link
    mass: float
    moments: tuple[float, ...]
    doubts: tuple[str, ...] = ()
    suspicious: bool = False  # the parser warned about it, too
    suggestion: Inertial | None = None
    suggested_by: str = ""


def link_masses(robot: RobotDescription) -> tuple[LinkMass, ...]:
    """Judge every link that has an inertial."""
    warned: dict[str, list[str]] = {}
    for problem in robot.warnings:
        if _concerns_inertia(problem):
            warned.setdefault(problem.name, []).append(problem.rule)
    return tuple(_judged(link, warned.get(link.name, [])) for link in robot.links if link.inertial is not None)


def _concerns_inertia(problem: Problem) -> bool:
    return problem.element == "link" and "inertia" in problem.rule and problem.rule != "link without inertial"


def _judged(link: Link, warned: list[str]) -> LinkMass:
    inertial = link.inertial
    assert inertial is not None
    moments = tuple(float(moment) for moment in np.linalg.eigvalsh(inertial.inertia))
    doubts = _doubts(inertial, moments[-1], link.collisions or link.visuals) if not warned else []
    if not (warned or doubts) or inertial.mass == 0:
        return LinkMass(link, inertial.mass, moments, tuple(warned + doubts), bool(warned))
    suggestion, by = suggestion_for(link)
    return LinkMass(link, inertial.mass, moments, tuple(warned + doubts), bool(warned), suggestion, by)


def _doubts(inertial: Inertial, largest: float, shapes: tuple[Visual | Collision, ...]) -> list[str]:
    """Compare with the shapes; nothing is known about meshes."""
    solid = solid_of_shapes(inertial.mass, shapes)
    if solid is None or inertial.mass == 0:
        return []
    doubts = []
    density = inertial.mass / sum(volume(shape.geometry) or 0.0 for shape in shapes)
    if not LIGHTEST <= density <= DENSEST:
        doubts.append(f"density {density:.3g} kg/m³ in its shape")
    reach = max(_reach(shape, solid.origin) for shape in shapes)
    if math.dist(inertial.origin.xyz, solid.origin.xyz) > 1.01 * reach:
        doubts.append("centre of mass outside its shape")
    if largest > TOO_BIG * inertial.mass * reach**2:
        doubts.append("inertia of a much larger body than its shape")
    elif largest < TOO_SMALL * float(np.linalg.eigvalsh(solid.inertia)[-1]):
        doubts.append("inertia of a much smaller body than its shape")
    return doubts


def _reach(shape: Visual | Collision, centre: Origin) -> float:
    """Radius of a ball about `centre` that holds the shape."""
    return math.dist(shape.origin.xyz, centre.xyz) + _radius(shape.geometry)


def _radius(shape: Geometry) -> float:
    if isinstance(shape, Box):
        return math.hypot(*shape.size) / 2
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Cylinder):
        return math.hypot(shape.radius, shape.length / 2)
    return shape.radius + shape.length / 2 if isinstance(shape, Capsule) else 0.0


def suggestion_for(link: Link) -> tuple[Inertial, str]:
    """An inertial that fits the mass of a link, and where it is from."""
    inertial = link.inertial
    assert inertial is not None
    for what, shapes in (("collision", link.collisions), ("visual", link.visuals)):
        solid = solid_of_shapes(inertial.mass, shapes)
        if solid is not None:
            return solid, f"its {what} shape{'s' if len(shapes) > 1 else ''}, filled evenly"
    radius = (inertial.mass / USUAL_DENSITY * 3 / (4 * math.pi)) ** (1 / 3)
    moments = solid_moments(inertial.mass, Sphere(radius))
    assert moments is not None
    ball = Inertial(inertial.mass, Origin(inertial.origin.xyz), np.diag(moments))
    return ball, f"a ball of {USUAL_DENSITY:g} kg/m³, {radius:.2g} m in radius"
