# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What callers of `ModelBuilder` pass, turned into plain values, or a sentence that names the argument.

Only the form is judged here (a number, three numbers, a shape); whether a value makes sense is for the parser's rules.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbsim_ros.model.description import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Mesh,
    Origin,
    Sphere,
    Vector3,
    Visual,
)

Solid = Box | Sphere | Cylinder


def as_number(who: str, what: str, value: object) -> float:
    """A number as a float."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{who}: {what}: expected a number, got {value!r}")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{who}: {what}: expected a number, got {value!r}") from None


def as_vector(who: str, what: str, values: object) -> Vector3:
    """Three numbers."""
    x, y, z = _numbers(who, what, values, 3)
    return x, y, z


def as_inertia(who: str, value: object) -> np.ndarray:
    """(3, 3) from three principal moments, six components (ixx, ixy, ixz, iyy, iyz, izz) or a symmetric matrix."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{who}: inertia: expected numbers, got {value!r}") from None
    if array.shape == (3,):
        return np.diag(array)
    if array.shape == (6,):
        xx, xy, xz, yy, yz, zz = array
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if array.shape != (3, 3):
        raise ValueError(f"{who}: inertia: expected 3 moments, 6 components or 3x3, got shape {array.shape}")
    if not np.allclose(array, array.T, rtol=1e-9, atol=0, equal_nan=True):
        raise ValueError(f"{who}: inertia: expected a symmetric matrix, got {array.tolist()}")
    return array


def as_solid(who: str, box: object, sphere: object, cylinder: object) -> Solid | None:
    """The one solid that is given, if any."""
    given = [name for name, value in (("box", box), ("sphere", sphere), ("cylinder", cylinder)) if value is not None]
    if len(given) > 1:
        raise ValueError(f"{who}: {' and '.join(given)} are given; a link is filled by one solid")
    if box is not None:
        return Box(as_vector(who, "box", box))
    if sphere is not None:
        return Sphere(as_number(who, "sphere", sphere))
    if cylinder is not None:
        radius, length = _numbers(who, "cylinder (radius, length)", cylinder, 2)
        return Cylinder(radius, length)
    return None


def as_shapes(
    who: str, what: str, given: object, solid: Solid | None, origin: Origin
) -> list[Visual] | list[Collision] | list[Visual | Collision]:
    """Shapes with their places; True stands for the solid at the centre of mass."""
    if given is True and solid is None:
        raise ValueError(f"{who}: {what}=True needs a box, sphere or cylinder")
    if given is True:
        return [Collision(solid, origin)]  # type: ignore[arg-type]
    if given is False or given is None:
        return []
    single = isinstance(given, (Box, Sphere, Cylinder, Capsule, Mesh, Visual, Collision))
    items = [given] if single else given
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise TypeError(f"{who}: {what}: expected a shape, got {given!r}")
    shapes: list[Visual | Collision] = []
    for item in items:
        if isinstance(item, (Visual, Collision)):
            shapes.append(item)
        elif isinstance(item, (Box, Sphere, Cylinder, Capsule, Mesh)):
            shapes.append(Collision(item))
        else:
            raise TypeError(f"{who}: {what}: expected a shape, got {item!r}")
    return shapes


def _numbers(who: str, what: str, values: object, count: int) -> list[float]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{who}: {what}: expected {count} numbers, got {values!r}")
    numbers = [as_number(who, what, value) for value in values]
    if len(numbers) != count:
        raise ValueError(f"{who}: {what}: expected {count} numbers, got {len(numbers)}")
    return numbers
