# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Making what pairs_kernel.py works on: the pairs of each two bodies, and spheres around what they have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbsim_ros.contact.body_pairs_kernel import CENTRE, POINT, REACH, SHAPE, SHAPE_BODY
from mbsim_ros.contact.culling.pairs_kernel import LISTED, POINTS, SHAPES, SPHERE_COLUMNS

FEWEST = 4  # pairs of two bodies: with fewer it is cheaper to compute them than to ask whether they meet


class PairCulling(NamedTuple):
    """Which of `pairs` pairs may meet; nothing of it is state."""

    bodies: np.ndarray  # (groups, 2) of two bodies with many pairs: that of the points, that of the shapes (-1: world)
    start: np.ndarray  # (groups + 1,) those of group g are start[g] … start[g + 1] of
    members: np.ndarray  # ascending numbers of pairs
    spheres: np.ndarray  # (groups, SPHERE_COLUMNS)
    status: np.ndarray  # (groups,) LISTED, LEAVING or LEFT_OUT
    is_near: np.ndarray  # (pairs,) int8: whether it is in the list
    near: np.ndarray  # (pairs,) the list, ascending, as long as counts says
    counts: np.ndarray  # (1,)

    def forget(self) -> None:
        """List all pairs: for when the state of contacts was set from outside."""
        self.status[:] = LISTED
        self.is_near[:] = 1
        self.near[:] = np.arange(len(self.near))
        self.counts[0] = len(self.near)


def make_pair_culling(
    pairs: np.ndarray, shape_ints: np.ndarray, shape_floats: np.ndarray, bodies: np.ndarray, geometry: np.ndarray
) -> PairCulling:
    """Of pairs (m, 2) of points on bodies (n,), with place and radius (n, 4), and shapes, as in BodyPairs."""
    of_two: dict[tuple[int, int], list[int]] = {}
    for i, (point, shape) in enumerate(pairs.tolist()):
        of_two.setdefault((int(bodies[point]), int(shape_ints[shape, SHAPE_BODY])), []).append(i)
    chosen = {two: members for two, members in of_two.items() if len(members) >= FEWEST}
    spheres = np.zeros((len(chosen), SPHERE_COLUMNS))
    for row, members in zip(spheres, chosen.values(), strict=True):
        points, shapes = np.unique(pairs[members, POINT]), np.unique(pairs[members, SHAPE])
        row[POINTS:SHAPES] = _sphere(geometry[points, :3], geometry[points, 3])
        row[SHAPES:] = _sphere(shape_floats[shapes, CENTRE : CENTRE + 3], shape_floats[shapes, REACH])
    m, none = len(pairs), np.zeros(0, dtype=np.int64)
    made = PairCulling(
        np.array(list(chosen), dtype=np.int64).reshape(-1, 2),
        np.cumsum([0, *map(len, chosen.values())], dtype=np.int64),
        np.concatenate([none, *(np.array(members, dtype=np.int64) for members in chosen.values())]), spheres,
        np.zeros(len(chosen), dtype=np.int64), np.ones(m, dtype=np.int8), np.zeros(m, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip
    made.forget()
    return made


def _sphere(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Centre and radius (4,) of a sphere around spheres, a little larger so that rounding is of no concern."""
    middle = 0.5 * (centres.min(axis=0) + centres.max(axis=0))
    radius = (np.linalg.norm(centres - middle, axis=1) + radii).max()
    return np.array([*middle, 1.01 * radius + 1e-6])
