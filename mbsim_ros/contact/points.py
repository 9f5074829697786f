# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The points of a robot that can touch: from its collision shapes, or from its sidecar."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mbsim_ros.contact.feet import Soles, ball_of
from mbsim_ros.contact.mesh_points import MOST_SUPPORT_POINTS, MeshUnreadable, mesh_points
from mbsim_ros.model.description import Box, Capsule, Collision, Cylinder, Geometry, Mesh, Sphere, Visual
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import warn_user
from mbsim_ros.model.sidecar.settings import upright

RIM_POINTS = 8  # of each end of a cylinder
FEW_POINTS = 8  # of a mesh of a link that is no foot, where the sidecar says which are
WHOLE_MESH = 10_000  # vertices of the hull of a foot, of which the sole is chosen

LocalPoint = tuple[str, tuple[float, float, float], float]  # label, place in the frame of the shape, radius


class ContactWarning(UserWarning):
    """Part of a robot's contact that was left out or may surprise."""


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """Points fixed to bodies; a point with a radius is a sphere around it. Make them with `contact_points`."""

    bodies: np.ndarray = field(repr=False)  # (n,) int64, read-only: body of each point
    geometry: np.ndarray = field(repr=False)  # (n, 4) float64, read-only: place in the body's frame, radius
    links: tuple[str, ...]  # the link each belongs to
    labels: tuple[str, ...] = field(repr=False)  # where on the link, such as `box corner 3`

    def __len__(self) -> int:
        return len(self.bodies)

    def rows(self) -> list[tuple[str, str, float, float, float, float]]:
        """Link, label, place in the body's frame and radius of each: what `points_from` makes the same points of."""
        numbers = self.geometry.tolist()
        return [(link, label, *row) for link, label, row in zip(self.links, self.labels, numbers, strict=True)]

    def of_link(self, link: str) -> list[int]:
        """Numbers of the points of a link."""
        return [i for i, name in enumerate(self.links) if name == link]


def contact_points(
    model: Model, links: Collection[str] | None = None, *, rim_points: int = RIM_POINTS, mesh_limit: int | None = None
) -> ContactPoints:
    """Points of a model that can touch, link by link in the order of its file.

    A link named under `contact.points` in the sidecar has those points (none, if the list is empty); any other has
    those of its collision shapes: corners of a box, the centre of a sphere with its radius, `rim_points` on each rim of
    a cylinder, the two end spheres of a capsule, up to `mesh_limit` vertices of the convex hull of a mesh, default
    `contact.mesh_points` of the sidecar or 64. Where the sidecar has `feet` a foot has its ball or its sole (feet.py),
    and other links have few points. Links fixed to the world have none. A robot that floats would fall through any
    floor without a collision shape: then it has the points of its visual shapes, and without those the origins of its
    links. links: only these, feet or not.
    """
    settings = None if model.sidecar is None else model.sidecar.contact
    if mesh_limit is None:
        mesh_limit = (None if settings is None else settings.mesh_points) or MOST_SUPPORT_POINTS
    if rim_points < 3 or mesh_limit < 4:
        raise ValueError(f"expected rim_points ≥ 3 and mesh_limit ≥ 4, got {rim_points} and {mesh_limit}")
    for name in links or ():
        model.frame(name)
    given = {} if settings is None else settings.points
    shapes = _touching_shapes(model, bool(given))
    feet = model.sidecar.feet if model.sidecar is not None else ()
    soles = Soles(model)
    has_feet = links is None and bool(feet)
    bodies, geometry, names, labels = [], [], [], []
    unread: list[tuple[str, str]] = []  # link, and why a mesh of it gives no points
    for link in upright(model.description, model.sidecar).links:
        frame = model.frame(link.name)
        if frame.body < 0 or (links is not None and link.name not in links):
            continue
        if link.name in given:
            found = [(f"point {i}", np.array(place), 0.0) for i, place in enumerate(given[link.name])]
        elif link.name in feet:
            whole = list(_of_shapes(link.name, link.collisions, rim_points, WHOLE_MESH, unread, round_meshes=True))
            places, radii = (np.array([p[1] for p in whole]).reshape(-1, 3), np.array([p[2] for p in whole]))
            found = [whole[i] for i in soles.lowest(link.name, places, radii)] if whole else []
        elif shapes is None:
            found = [("origin", np.zeros(3), 0.0)]
        elif has_feet:
            whole = list(_of_shapes(link.name, shapes[link.name], FEW_POINTS // 2, FEW_POINTS, unread, few=True))
            places = np.array([p[1] for p in whole]).reshape(-1, 3)
            found = [whole[i] for i in soles.clear_of_feet(link.name, places)] if whole else []
        else:
            found = list(_of_shapes(link.name, shapes[link.name], rim_points, mesh_limit, unread))
        for label, place, radius in found:
            bodies.append(frame.body)
            geometry.append([*(frame.X_BF[:3, :3] @ place + frame.X_BF[:3, 3]), radius])
            names.append(link.name)
            labels.append(label)
    _warn_of_meshes(unread)
    return _points(np.array(bodies, dtype=np.int64), np.array(geometry).reshape(-1, 4), names, labels)


def _touching_shapes(model: Model, has_given: bool) -> Mapping[str, Sequence[Collision | Visual]] | None:
    """By link, the shapes that touch; None for the origins of links. has_given: the sidecar lists points."""
    links = upright(model.description, model.sidecar).links
    moving = [link for link in links if model.frame(link.name).body >= 0]
    collisions: dict[str, Sequence[Collision | Visual]] = {link.name: link.collisions for link in moving}
    if _has_form(collisions) or has_given or not model.is_floating:
        return collisions
    visuals: dict[str, Sequence[Collision | Visual]] = {link.name: link.visuals for link in moving}
    stand_in = "its visual shapes" if _has_form(visuals) else "the origins of its links"
    meshes = [shape.geometry for members in collisions.values() for shape in members]
    lost = [mesh.filename for mesh in meshes if isinstance(mesh, Mesh)]
    why = f" (mesh '{lost[0]}' was not found)" if lost else ""
    warn_user(
        f"'{model.name}' has no collision shapes{why}: it touches with {stand_in}; list points in the sidecar under "
        "contact.points",
        ContactWarning,
    )
    return visuals if _has_form(visuals) else None


def _has_form(shapes: Mapping[str, Sequence[Collision | Visual]]) -> bool:
    """Whether any of them is more than the name of a mesh that was not found."""
    geometries = [shape.geometry for members in shapes.values() for shape in members]
    return any(not isinstance(geometry, Mesh) or geometry.path is not None for geometry in geometries)


def points_from(model: Model, rows: Sequence[Sequence]) -> ContactPoints:
    """Points from what `ContactPoints.rows` said of them, bit for bit. Raises ValueError."""
    try:
        links, labels = [str(row[0]) for row in rows], [str(row[1]) for row in rows]
        bodies = np.array([model.frame(link).body for link in links], dtype=np.int64)
        geometry = np.array([row[2:6] for row in rows], dtype=float).reshape(len(rows), 4)
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ValueError(f"contact_points: not the points of '{model.name}': {error}"[:300]) from None
    if (bodies < 0).any():
        raise ValueError(f"contact_points: '{links[int(bodies.argmin())]}' stands still, and can touch nothing")
    return _points(bodies, geometry, links, labels)


def _warn_of_meshes(unread: list[tuple[str, str]]) -> None:
    """One warning for all meshes that could not be used, with the reasons that there are."""
    if not unread:
        return
    first, why = unread[0]
    more = f" and {len(unread) - 1} more meshes" if len(unread) > 1 else ""
    warn_user(
        f"link '{first}': no contact points from {why}{more}; list points in the sidecar under contact.points",
        ContactWarning,
    )


def _points(bodies: np.ndarray, geometry: np.ndarray, names: list[str], labels: list[str]) -> ContactPoints:
    if not np.isfinite(geometry).all():
        bad = names[int(np.flatnonzero(~np.isfinite(geometry).all(axis=1))[0])]
        raise ValueError(f"contact points of link '{bad}' are not finite")
    geometry = np.ascontiguousarray(geometry)
    bodies.setflags(write=False)
    geometry.setflags(write=False)
    return ContactPoints(bodies, geometry, tuple(names), tuple(labels))


def _of_shapes(
    link: str, shapes: Sequence[Collision | Visual], rim_points: int, mesh_limit: int, unread: list[tuple[str, str]],
    round_meshes: bool = False, few: bool = False,
) -> Iterator[tuple[str, np.ndarray, float]]:  # fmt: skip
    """Points of shapes in the frame of the link; `round_meshes`: a mesh that is nearly a ball is one.

    few: points of a mesh that are far apart, where too few are wanted for its form.
    """
    for number, shape in enumerate(shapes):
        X_LS = shape.origin.matrix()
        prefix = f"{shape.name or number} " if len(shapes) > 1 or shape.name else ""
        points = shape_points(link, shape.geometry, rim_points, mesh_limit, unread, few)
        if round_meshes and isinstance(shape.geometry, Mesh):
            ball = ball_of(np.array([place for _, place, _ in points]).reshape(-1, 3))
            points = points if ball is None else [("mesh ball", tuple(ball[0].tolist()), ball[1])]
        for label, place, radius in points:
            yield prefix + label, X_LS[:3, :3] @ np.asarray(place) + X_LS[:3, 3], radius


def shape_points(
    link: str, shape: Geometry, rim_points: int, mesh_limit: int, unread: list[tuple[str, str]], few: bool = False
) -> list[LocalPoint]:
    """Points of one shape in its own frame; a mesh that cannot be used gives none, and a line to `unread`."""
    if isinstance(shape, Box):
        a, b, c = (0.5 * edge for edge in shape.size)
        corners = itertools.product((-c, c), (-b, b), (-a, a))
        return [(f"box corner {i}", (x, y, z), 0.0) for i, (z, y, x) in enumerate(corners)]
    if isinstance(shape, Sphere):
        return [("sphere", (0.0, 0.0, 0.0), shape.radius)]
    if isinstance(shape, Capsule):
        half = 0.5 * shape.length
        return [
            ("capsule low end", (0.0, 0.0, -half), shape.radius),
            ("capsule high end", (0.0, 0.0, half), shape.radius),
        ]
    if isinstance(shape, Cylinder):
        turns = [(math.cos(angle), math.sin(angle)) for angle in np.arange(rim_points) * (2.0 * math.pi / rim_points)]
        ends = (("low", -0.5 * shape.length), ("high", 0.5 * shape.length))
        return [
            (f"cylinder {end} rim {i}", (shape.radius * x, shape.radius * y, z), 0.0)
            for end, z in ends
            for i, (x, y) in enumerate(turns)
        ]
    try:
        if shape.path is None:
            raise MeshUnreadable("file not found")
        vertices = mesh_points(shape.path, shape.scale, mesh_limit, by_support=not few and mesh_limit < WHOLE_MESH)
    except MeshUnreadable as reason:
        unread.append((link, f"mesh '{shape.filename}': {reason}"))
        return []
    return [(f"mesh vertex {i}", (x, y, z), 0.0) for i, (x, y, z) in enumerate(vertices.tolist())]
