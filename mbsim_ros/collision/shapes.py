# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Convex shapes of a model for contact between its bodies: cores of vertices with a radius around them.

    sphere     a vertex, its radius
    capsule    two vertices, its radius
    box        eight vertices, drawn in by a small radius, so that edges are a little round
    cylinder   sixteen vertices on two rims, drawn in as a box is
    mesh       up to 32 vertices of its convex hull, drawn in towards its middle

A small radius lets bodies press a little into each other while their cores stay apart, where the direction of contact
is exact and changes smoothly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mbsim_ros.collision.arrays import ShapeArrays
from mbsim_ros.collision.touching_points_kernel import MOST_POINTS
from mbsim_ros.contact.body_pairs import tree_roots
from mbsim_ros.contact.layout import KN, PARAMETER_COLUMNS, REST_DEPTH
from mbsim_ros.contact.mesh_points import MeshUnreadable, mesh_points
from mbsim_ros.contact.parameters import ContactParameters
from mbsim_ros.model.description import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import upright

ROUNDING = 0.1  # of the smallest half width of a box or a cylinder: how far it is drawn in at most …
WIDEST_ROUNDING = 0.004  # … and in metres
RIM = 8
FAR = 1e-6  # what is small beside everything
NEIGHBOURS = 12  # pairs of shapes that are near each other, for each shape, that there is room for


@dataclass(frozen=True, eq=False)
class ConvexShapes:
    """Shapes of the bodies of a model. Make them with `convex_shapes`."""

    links: tuple[str, ...]  # of each shape
    bodies: np.ndarray = field(repr=False)  # (s,)
    groups: np.ndarray = field(repr=False)  # (s,) the tree that its body is of, -1 for what is fixed to the world
    vertices: tuple[np.ndarray, ...] = field(repr=False)  # (n, 3) each, in the body's frame
    radii: np.ndarray = field(repr=False)  # (s,)
    parameters: np.ndarray = field(repr=False)  # (s, 14)
    by_ratio: np.ndarray = field(repr=False)  # (s,) bool, whether its damping is by a ratio: as that of the two masses
    own_pairs: np.ndarray = field(repr=False)  # (p, 2) the lower number first, sorted: pairs with a law of their own …
    own_parameters: np.ndarray = field(repr=False)  # (p, 14) … and that

    def __len__(self) -> int:
        return len(self.links)

    @property
    def most_points(self) -> int:
        """How many points of contact there is room for."""
        n = len(self)
        return MOST_POINTS * min(n * (n - 1) // 2, NEIGHBOURS * n)

    def arrays(self) -> ShapeArrays:
        """As the kernels take them."""
        lengths = [len(each) for each in self.vertices]
        first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        centres = np.array([0.5 * (each.min(axis=0) + each.max(axis=0)) for each in self.vertices]).reshape(-1, 3)
        around = zip(self.vertices, centres, self.radii, strict=True)
        bounds = np.array([np.linalg.norm(each - centre, axis=1).max() + radius for each, centre, radius in around])
        vertices = np.concatenate(self.vertices) if self.vertices else np.zeros((0, 3))
        first_own = np.searchsorted(self.own_pairs[:, 0], np.arange(len(self) + 1)).astype(np.int64)
        made = ShapeArrays(
            self.bodies, self.groups, first, vertices, self.radii, centres, bounds, self.parameters, self.by_ratio,
            first_own, np.ascontiguousarray(self.own_pairs[:, 1]), self.own_parameters,
        )  # fmt: skip
        for array in made:
            array.setflags(write=False)
        return made


def convex_shapes(
    model: Model, law_of: Callable[[str], ContactParameters], group_of: Mapping[str, int] | None = None,
    pair_laws: Mapping[tuple[str, str], ContactParameters] | None = None,
) -> ConvexShapes:  # fmt: skip
    """The collision shapes of all links, by the law that each link has.

    group_of: by link; shapes of one group do not touch each other. Without it a tree is a group, and the world.
    pair_laws: of two links, where it is not what follows from those of both.
    """
    roots = tree_roots(model)
    links, bodies, groups, vertices, radii, parameters = [], [], [], [], [], []
    for link in upright(model.description, model.sidecar).links:
        frame = model.frame(link.name)
        for collision in link.collisions:
            core = core_of(collision.geometry)
            if core is None:
                continue
            X_BS = frame.X_BF @ collision.origin.matrix()
            links.append(link.name)
            bodies.append(frame.body)
            groups.append(-1 if frame.body < 0 else roots[frame.body])
            if group_of is not None and frame.body >= 0:
                groups[-1] = group_of[link.name]
            vertices.append(core[0] @ X_BS[:3, :3].T + X_BS[:3, 3])
            radii.append(core[1])
            parameters.append(_unyielding(law_of(link.name).array()) if frame.body < 0 else law_of(link.name).array())
    own_pairs, own_parameters = _laws_of_pairs(links, pair_laws or {})
    return ConvexShapes(
        tuple(links), np.array(bodies, dtype=np.int64), np.array(groups, dtype=np.int64), tuple(vertices),
        np.array(radii), np.array(parameters) if parameters else np.zeros((0, 0)),
        np.array([law_of(link).damping_ratio is not None for link in links], dtype=bool), own_pairs, own_parameters,
    )  # fmt: skip


def _laws_of_pairs(
    links: Sequence[str], laws: Mapping[tuple[str, str], ContactParameters]
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of shapes (p, 2), sorted, on links that have a law for each other, and its numbers (p, 14)."""
    shapes_of: dict[str, list[int]] = {}
    for s, link in enumerate(links):
        shapes_of.setdefault(link, []).append(s)
    found: dict[tuple[int, int], np.ndarray] = {}
    for (a, b), law in laws.items():
        row = law.array()
        for i, j in itertools.product(shapes_of.get(a, ()), shapes_of.get(b, ())):
            found[min(i, j), max(i, j)] = row
    pairs = sorted(found)
    return (
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        np.array([found[pair] for pair in pairs]).reshape(-1, PARAMETER_COLUMNS),
    )


def no_shapes() -> ConvexShapes:
    """Those of a scene in which nothing can touch anything."""
    none = np.zeros(0, dtype=np.int64)
    return ConvexShapes(
        (), none, none.copy(), (), np.zeros(0), np.zeros((0, PARAMETER_COLUMNS)), np.zeros(0, dtype=bool),
        *_laws_of_pairs((), {}),
    )  # fmt: skip


def core_of(shape: Geometry) -> tuple[np.ndarray, float] | None:
    """Vertices (n, 3) of a shape's core in its own frame, and its radius; None for a mesh that cannot be used."""
    if isinstance(shape, Sphere):
        return np.zeros((1, 3)), shape.radius
    if isinstance(shape, Capsule):
        return np.array([[0.0, 0.0, -0.5 * shape.length], [0.0, 0.0, 0.5 * shape.length]]), shape.radius
    if isinstance(shape, Box):
        half = 0.5 * np.array(shape.size)
        radius = _rounding(float(half.min()))
        return np.array(list(itertools.product(*((-a, a) for a in half - radius)))), radius
    if isinstance(shape, Cylinder):
        radius = _rounding(min(shape.radius, 0.5 * shape.length))
        turns = np.arange(RIM) * (2.0 * math.pi / RIM)
        rim = (shape.radius - radius) * np.column_stack([np.cos(turns), np.sin(turns)])
        ends = (-0.5 * shape.length + radius, 0.5 * shape.length - radius)
        return np.concatenate([np.column_stack([rim, np.full(RIM, z)]) for z in ends]), radius
    return _core_of_mesh(shape)


def _core_of_mesh(mesh: Mesh) -> tuple[np.ndarray, float] | None:
    try:
        hull = mesh_points(mesh.path, mesh.scale) if mesh.path is not None else np.zeros((0, 3))
    except MeshUnreadable:
        return None
    if len(hull) < 4:
        return None
    middle = 0.5 * (hull.min(axis=0) + hull.max(axis=0))
    width = float(0.5 * np.ptp(hull, axis=0).min())
    if not width > 0.0:
        return hull, 0.0
    radius = _rounding(width)
    return middle + (1.0 - radius / width) * (hull - middle), radius


def _unyielding(parameters: np.ndarray) -> np.ndarray:
    """The law of what is fixed to the world: who touches it brings the stiffness, and moves all by itself."""
    row = parameters.copy()
    row[KN], row[REST_DEPTH] = FAR * row[KN], row[REST_DEPTH] / FAR**2  # k·depth stands for the weight
    return row


def _rounding(width: float) -> float:
    return min(ROUNDING * width, WIDEST_ROUNDING)
