# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is drawn of a robot: its visual shapes, else its collision shapes, else rods between its joints.

Shapes of one kind share a mesh of unit size, so that all of them move by one message to the browser.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mbsim_ros.model.description import Box, Capsule, Collision, Cylinder, Geometry, Mesh, Sphere, Visual
from mbsim_ros.model.model import Model

GREY = (150, 155, 165)
BOX, CYLINDER, SPHERE = "box", "cylinder", "sphere"
ROD = 0.02  # of a stick figure's length, the radius of its rods
HEAD = 0.25  # of an arrow's length
LARGEST_MESH = 64 * 1024 * 1024  # bytes


@dataclass(frozen=True, eq=False)
class Shape:
    """One shape on a link: the unit mesh of its kind, scaled and placed in the link's frame."""

    kind: Hashable  # BOX, CYLINDER, SPHERE, ("capsule", radius, length) or ("mesh", path)
    link: int  # place in model.link_names
    X_LS: np.ndarray = field(repr=False)  # (4, 4)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    colour: tuple[int, int, int] = GREY
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class UnitMesh:
    """Vertices (n, 3) and faces (m, 3) of a kind of shape; smooth: whether normals vary along a face."""

    vertices: np.ndarray
    faces: np.ndarray
    smooth: bool
    colour: tuple[int, int, int] | None = None  # of a file that has one


def shapes_of(model: Model) -> list[Shape]:
    """All shapes of a robot that has any; otherwise a stick figure."""
    found = []
    for row, link in enumerate(model.description.links):
        for entry in link.visuals or link.collisions:
            shape = _shape(row, entry)
            found += [] if shape is None else [shape]
    return found or _sticks(model)


def unit_mesh(kind: Hashable) -> UnitMesh:
    """The mesh that all shapes of a kind share. Raises ValueError with the reason where a file cannot be read."""
    from trimesh import creation

    if kind == BOX:
        return _mesh(creation.box((1.0, 1.0, 1.0)), smooth=False)
    if kind == CYLINDER:
        return _mesh(creation.cylinder(radius=1.0, height=1.0, sections=32), smooth=False)
    if kind == SPHERE:
        return _mesh(creation.icosphere(subdivisions=3, radius=1.0), smooth=True)
    assert isinstance(kind, tuple)
    if kind[0] == "capsule":
        capsule = creation.capsule(radius=kind[1], height=kind[2], count=[24, 24])
        return _mesh(capsule, smooth=True)
    return _read_mesh(kind[1])


def arrow_mesh() -> UnitMesh:
    """An arrow from the origin to (0, 0, 1), with a head of radius 1 for it to be scaled to any length."""
    from trimesh import creation, util

    shaft = creation.cylinder(radius=0.4, height=1.0 - HEAD, sections=12)
    shaft.apply_translation([0.0, 0.0, 0.5 * (1.0 - HEAD)])
    head = creation.cone(radius=1.0, height=HEAD, sections=16)
    head.apply_translation([0.0, 0.0, 1.0 - HEAD])
    return _mesh(util.concatenate([shaft, head]), smooth=False)


def _shape(row: int, entry: Visual | Collision) -> Shape | None:
    form, scale = _form(entry.geometry)
    if form is None:
        return None
    material = entry.material if isinstance(entry, Visual) else None
    rgba = (1.0, 1.0, 1.0, 1.0) if material is None or material.rgba is None else material.rgba
    colour: Any = GREY if material is None or material.rgba is None else tuple(round(255 * c) for c in rgba[:3])
    return Shape(form, row, entry.origin.matrix(), scale, colour, rgba[3])


def _form(shape: Geometry) -> tuple[Hashable, tuple[float, float, float]]:
    """Kind and scale; no kind for a mesh that was not found."""
    if isinstance(shape, Box):
        return BOX, shape.size
    if isinstance(shape, Cylinder):
        return CYLINDER, (shape.radius, shape.radius, shape.length)
    if isinstance(shape, Sphere):
        return SPHERE, (shape.radius,) * 3
    if isinstance(shape, Capsule):
        return ("capsule", shape.radius, shape.length), (1.0, 1.0, 1.0)
    assert isinstance(shape, Mesh)
    return (None if shape.path is None else ("mesh", shape.path)), shape.scale


def _sticks(model: Model) -> list[Shape]:
    """Spheres at the joints of a robot without shapes, and rods from each to those that follow."""
    rows = {link.name: row for row, link in enumerate(model.description.links)}
    lengths = [float(np.linalg.norm(joint.origin.xyz)) for joint in model.description.joints]
    radius = ROD * (max(lengths, default=0.0) or 1.0)
    found = [Shape(SPHERE, row, np.eye(4), (2 * radius,) * 3) for row in rows.values()]
    for joint, length in zip(model.description.joints, lengths, strict=True):
        if length > 0.0:
            found.append(Shape(CYLINDER, rows[joint.parent], _along(joint.origin.xyz), (radius, radius, length)))
    return found


def _along(end: tuple[float, float, float]) -> np.ndarray:
    """Pose (4, 4) of a unit cylinder from the origin to a point: in the middle, z along it."""
    z = np.array(end) / np.linalg.norm(end)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    X = np.eye(4)
    X[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    X[:3, 3] = 0.5 * np.array(end)
    return X


def _mesh(mesh: Any, *, smooth: bool) -> UnitMesh:
    return UnitMesh(np.asarray(mesh.vertices, np.float32), np.asarray(mesh.faces, np.uint32), smooth)


def _read_mesh(path: Path) -> UnitMesh:
    """A mesh file, all its parts in one; a colour where the whole file has one."""
    import trimesh

    try:
        if path.stat().st_size > LARGEST_MESH:
            raise ValueError(f"more than {LARGEST_MESH} bytes")
        loaded: Any = trimesh.load(path, force="mesh", skip_materials=True)
        found = UnitMesh(np.asarray(loaded.vertices, np.float32), np.asarray(loaded.faces, np.uint32), smooth=False)
        if not len(found.faces) or not np.isfinite(found.vertices).all():
            raise ValueError("no faces, or numbers that are not finite")
        return found
    except Exception as error:  # each format has a reader with exceptions of its own
        raise ValueError(f"{path.name}: not drawn: {error}") from None
