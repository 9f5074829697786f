# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which points of a robot may touch which boxes and spheres of other bodies.

Points against shapes: two boxes meet through the corners of each in the other, so pairs go both ways. Edges that cross
without a corner inside pass through each other, and so does what is faster than its size per step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from mbsim_ros.contact.body_pairs_kernel import (
    BOX,
    CENTRE,
    REACH,
    ROTATION,
    SHAPE_BODY,
    SHAPE_COLUMNS,
    SHAPE_KIND,
    SIZE,
    SPHERE,
)
from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.model.description import Box, Sphere
from mbsim_ros.model.model import PARENT, Model


@dataclass(frozen=True, eq=False)
class BodyPairs:
    """Pairs of a point and a shape, as `body_pairs_pass_into` takes them. Make them with `body_pairs`."""

    pairs: np.ndarray = field(repr=False)  # (m, 2) int64, read-only: number of the point, number of the shape
    shape_ints: np.ndarray = field(repr=False)  # (s, 2) int64, read-only: kind, body (-1: the world)
    shape_floats: np.ndarray = field(repr=False)  # (s, 16) float64, read-only: R_BS, p_BS, size, reach
    shape_links: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.pairs)


def body_pairs(model: Model, points: ContactPoints, between: Iterable[tuple[str, str]] | None = None) -> BodyPairs:
    """Pairs of points and of box and sphere collision shapes.

    between: pairs of links, in any order; both ways are taken. Without it, all links that no joint connects to each
    other other than through the world: bodies that fly freely, and things fixed to the world.
    """
    shapes = _shapes(model)
    tree = tree_roots(model)
    if between is None:
        wanted = None
    else:
        wanted = set()
        for a, b in between:
            if model.frame(a).body == model.frame(b).body:
                raise ValueError(f"between: links '{a}' and '{b}' are on the same body and cannot meet")
            wanted |= {(a, b), (b, a)}
    pairs = []
    for i, (body, link) in enumerate(zip(points.bodies.tolist(), points.links, strict=True)):
        for j, (other_link, ints, _) in enumerate(shapes):
            apart = tree[body] != (tree[ints[SHAPE_BODY]] if ints[SHAPE_BODY] >= 0 else -1)
            if apart if wanted is None else (link, other_link) in wanted:
                pairs.append((i, j))
    return BodyPairs(
        _fixed(np.array(pairs, dtype=np.int64).reshape(-1, 2)),
        _fixed(np.array([ints for _, ints, _ in shapes], dtype=np.int64).reshape(-1, 2)),
        _fixed(np.array([floats for _, _, floats in shapes]).reshape(-1, SHAPE_COLUMNS)),
        tuple(link for link, _, _ in shapes),
    )


def _shapes(model: Model) -> list[tuple[str, list[int], np.ndarray]]:
    """Link, integers and floats of every box and sphere that the model has for collisions."""
    found = []
    for link in model.description.links:
        frame = model.frame(link.name)
        for collision in link.collisions:
            shape = collision.geometry
            if not isinstance(shape, Box | Sphere):
                continue
            X_BS = frame.X_BF @ collision.origin.matrix()
            floats, ints = np.zeros(SHAPE_COLUMNS), [0, 0]
            floats[ROTATION : ROTATION + 9] = X_BS[:3, :3].ravel()
            floats[CENTRE : CENTRE + 3] = X_BS[:3, 3]
            ints[SHAPE_BODY] = frame.body
            if isinstance(shape, Box):
                ints[SHAPE_KIND] = BOX
                floats[SIZE : SIZE + 3] = 0.5 * np.array(shape.size)
                floats[REACH] = 0.5 * math.hypot(*shape.size)
            else:
                ints[SHAPE_KIND] = SPHERE
                floats[SIZE] = floats[REACH] = shape.radius
            found.append((link.name, ints, floats))
    return found


def tree_roots(model: Model) -> list[int]:
    """For each body, the body at which its branch leaves the world."""
    roots: list[int] = []
    for i, parent in enumerate(model.topology[:, PARENT].tolist()):
        roots.append(i if parent == 0 else roots[parent - 1])
    return roots


def _fixed(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
