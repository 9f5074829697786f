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
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mbsim_ros.contact.mesh_faces import MeshPart, decimated, read_parts
from mbsim_ros.contact.mesh_points import MeshUnreadable
from mbsim_ros.model.description import Box, Capsule, Collision, Cylinder, Geometry, Mesh, Sphere, Visual
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import upright
from mbsim_ros.model.urdf.mesh_paths import MESH_ENDINGS
from mbsim_ros.viewer.drawing.creases import creased

GREY = (150, 155, 165)
BOX, CYLINDER, SPHERE, ARROW = "box", "cylinder", "sphere", "arrow"
ROD = 0.02  # of a stick figure's length, the radius of its rods
HEAD = 0.25  # of an arrow's length
LARGEST_MESH = 64 * 1024 * 1024  # bytes
# Faces of a mesh file, and of all files of a robot together: what has more is drawn coarser, for pages to be light. A
# file may always have a few.
MOST_FACES, MOST_OF_ROBOT, FEW_FACES = 20_000, 150_000, 3_000


@dataclass(frozen=True, eq=False)
class Shape:
    """One shape on a link: the unit mesh of its kind, scaled and placed in the link's frame."""

    kind: Hashable  # BOX, CYLINDER, SPHERE, ARROW, ("capsule", radius, length) or ("mesh", path, part, most faces)
    link: int  # place in model.link_names
    X_LS: np.ndarray = field(repr=False)  # (4, 4)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    colour: tuple[int, int, int] = GREY
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class UnitMesh:
    """Vertices (n, 3) and faces (m, 3) of a kind of shape; faces on both sides of a sharp edge share no vertices."""

    vertices: np.ndarray
    faces: np.ndarray


def shapes_of(model: Model) -> list[Shape]:
    """All shapes of a robot that has any; otherwise a stick figure."""
    found = []
    links = upright(model.description, model.sidecar).links
    drawn = [(row, entry) for row, link in enumerate(links) for entry in link.visuals or link.collisions]
    files = {entry.geometry.path for _, entry in drawn if isinstance(entry.geometry, Mesh)}
    most = min(MOST_FACES, max(FEW_FACES, MOST_OF_ROBOT // max(1, len(files))))
    for row, entry in drawn:
        found += _shapes(row, entry, most)
    return found or _sticks(model)


def collision_shapes(model: Model, colour: tuple[int, int, int], opacity: float) -> list[Shape]:
    """The shapes that touch, all in one colour."""
    links = upright(model.description, model.sidecar).links
    entries = [(row, entry) for row, link in enumerate(links) for entry in link.collisions]
    return [replace(shape, colour=colour, opacity=opacity) for each in entries for shape in _shapes(*each)]


def missing_meshes(model: Model) -> str:
    """How many mesh files were not found, and what to do about it, or ""."""
    drawn = [entry.geometry for link in model.description.links for entry in link.visuals]
    touching = [entry.geometry for link in model.description.links for entry in link.collisions]
    meshes = [shape for shape in (*drawn, *touching) if isinstance(shape, Mesh)]
    missing = [mesh for mesh in meshes if mesh.path is None]
    if not missing:
        return ""
    return f"{len(missing)} of {len(meshes)} meshes were not found: package_dirs says where their packages are"


def unit_mesh(kind: Hashable) -> UnitMesh:
    """The mesh that all shapes of a kind share. Raises ValueError with the reason where a file cannot be read."""
    from trimesh import creation

    if kind == BOX:
        return _mesh(creation.box((1.0, 1.0, 1.0)))
    if kind == CYLINDER:
        return _mesh(creation.cylinder(radius=1.0, height=1.0, sections=32))
    if kind == SPHERE:
        return _mesh(creation.icosphere(subdivisions=3, radius=1.0))
    if kind == ARROW:
        return arrow_mesh()
    assert isinstance(kind, tuple)
    if kind[0] == "capsule":
        return _mesh(creation.capsule(radius=kind[1], height=kind[2], count=[24, 24]))
    if kind[1].suffix.lower() not in MESH_ENDINGS:
        return _read_mesh(kind[1])
    return _mesh(_parts(kind[1], kind[3])[kind[2]])


def arrow_mesh() -> UnitMesh:
    """An arrow from the origin to (0, 0, 1), with a head of radius 1 for it to be scaled to any length."""
    from trimesh import creation, util

    shaft = creation.cylinder(radius=0.4, height=1.0 - HEAD, sections=12)
    shaft.apply_translation([0.0, 0.0, 0.5 * (1.0 - HEAD)])
    head = creation.cone(radius=1.0, height=HEAD, sections=16)
    head.apply_translation([0.0, 0.0, 1.0 - HEAD])
    return _mesh(util.concatenate([shaft, head]))


def _shapes(row: int, entry: Visual | Collision, most: int = MOST_FACES) -> list[Shape]:
    """A shape; several for a mesh of several colours, which like in RViz come before that of the URDF."""
    material = entry.material if isinstance(entry, Visual) else None
    given = None if material is None else material.rgba
    X_LS, geometry = entry.origin.matrix(), entry.geometry
    if not isinstance(geometry, Mesh):
        form, scale = _form(geometry)
        return [Shape(form, row, X_LS, scale, *_look(given))]
    if geometry.path is None:
        return []
    try:
        colours = [part.colour for part in _parts(geometry.path, most)]
    except ValueError:  # whoever draws it says why it is not
        colours = [None]
    return [
        Shape(("mesh", geometry.path, number, most), row, X_LS, geometry.scale, *_look(colour or given))
        for number, colour in enumerate(colours)
    ]


def _look(rgba: tuple[float, float, float, float] | None) -> tuple[tuple[int, int, int], float]:
    """Colour and opacity."""
    if rgba is None:
        return GREY, 1.0
    red, green, blue = (round(255 * value) for value in rgba[:3])
    return (red, green, blue), rgba[3]


def _form(shape: Geometry) -> tuple[Hashable, tuple[float, float, float]]:
    """Kind and scale."""
    if isinstance(shape, Box):
        return BOX, shape.size
    if isinstance(shape, Cylinder):
        return CYLINDER, (shape.radius, shape.radius, shape.length)
    if isinstance(shape, Sphere):
        return SPHERE, (shape.radius,) * 3
    assert isinstance(shape, Capsule)
    return ("capsule", shape.radius, shape.length), (1.0, 1.0, 1.0)


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


def _mesh(mesh: Any) -> UnitMesh:
    vertices, faces = creased(np.asarray(mesh.vertices), np.asarray(mesh.faces, np.int64))
    return UnitMesh(vertices.astype(np.float32), faces.astype(np.uint32))


def _parts(path: Path, most: int) -> list[MeshPart]:
    """Parts of a mesh file, with about `most` faces in all at most. Raises ValueError."""
    if path.suffix.lower() not in MESH_ENDINGS:
        raise ValueError(f"{path.name}: not drawn by parts")
    try:
        return _read_parts(path, most, path.stat().st_mtime_ns)
    except (MeshUnreadable, OSError) as error:
        raise ValueError(f"{path.name}: not drawn: {error}") from None


@lru_cache(maxsize=256)
def _read_parts(path: Path, most: int, _: int) -> list[MeshPart]:
    parts = read_parts(path)
    every = sum(len(part.faces) for part in parts)
    return [decimated(part, max(100, most * len(part.faces) // every)) for part in parts]


def _read_mesh(path: Path) -> UnitMesh:
    """A mesh file of another format, all its parts in one."""
    import trimesh

    try:
        if path.stat().st_size > LARGEST_MESH:
            raise ValueError(f"more than {LARGEST_MESH} bytes")
        loaded: Any = trimesh.load(path, force="mesh", skip_materials=True)
        found = _mesh(loaded)
        if not len(found.faces) or not np.isfinite(found.vertices).all():
            raise ValueError("no faces, or numbers that are not finite")
        return found
    except Exception as error:  # each format has a reader with exceptions of its own
        raise ValueError(f"{path.name}: not drawn: {error}") from None
