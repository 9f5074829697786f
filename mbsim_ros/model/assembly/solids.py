# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Volume and inertia of simple shapes filled evenly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mbsim_ros.model.assembly.spatial_inertia import SpatialInertia
from mbsim_ros.model.description import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Origin,
    Sphere,
    Vector3,
    Visual,
)


def volume(shape: Geometry) -> float | None:
    """Volume [m³]; None for a mesh."""
    if isinstance(shape, Box):
        return math.prod(shape.size)
    if isinstance(shape, Sphere):
        return 4 / 3 * math.pi * shape.radius**3
    if isinstance(shape, Cylinder):
        return math.pi * shape.radius**2 * shape.length
    if isinstance(shape, Capsule):
        return math.pi * shape.radius**2 * (shape.length + 4 / 3 * shape.radius)
    return None


def solid_moments(mass: float, shape: Geometry) -> Vector3 | None:
    """Principal moments [kg m²] about the shape's own axes; None for a mesh."""
    if isinstance(shape, Box):
        a, b, c = (size**2 for size in shape.size)
        return mass * (b + c) / 12, mass * (a + c) / 12, mass * (a + b) / 12
    if isinstance(shape, Sphere):
        return (0.4 * mass * shape.radius**2,) * 3
    if isinstance(shape, Cylinder):
        across = mass * (3 * shape.radius**2 + shape.length**2) / 12
        return across, across, mass * shape.radius**2 / 2
    if isinstance(shape, Capsule):
        return _capsule_moments(mass, shape.radius, shape.length)
    return None


def solid_of_shapes(mass: float, shapes: Sequence[Visual | Collision]) -> Inertial | None:
    """Inertia, in the link's axes, of a link whose shapes share its mass by volume.

    None if there are no shapes, one is a mesh, or none has a volume. Where shapes overlap the space counts twice.
    """
    volumes = [volume(shape.geometry) for shape in shapes]
    known = [value for value in volumes if value is not None]
    if len(known) < len(shapes) or sum(known) <= 0:
        return None
    total = SpatialInertia.zero()
    for shape, share in zip(shapes, known, strict=True):
        part = mass * share / sum(known)
        moments = solid_moments(part, shape.geometry)
        assert moments is not None
        total = total + SpatialInertia(part, np.zeros(3), np.diag(moments)).expressed_in(shape.origin.matrix())
    x, y, z = (float(value) for value in total.centre)
    return Inertial(mass, Origin((x, y, z)), total.central_inertia)


def _capsule_moments(mass: float, radius: float, length: float) -> Vector3:
    """Cylinder and two half spheres, each with its share of the mass."""
    size = length + 4 / 3 * radius
    if size <= 0:
        return 0.0, 0.0, 0.0
    tube = mass * length / size
    ends = mass - tube
    along = tube * radius**2 / 2 + 0.4 * ends * radius**2
    # The centre of a half sphere lies 3/8 of its radius from its flat side.
    across = tube * (3 * radius**2 + length**2) / 12
    across += ends * (0.4 * radius**2 + length**2 / 4 + 3 / 8 * length * radius)
    return across, across, along
