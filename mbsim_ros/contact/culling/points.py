# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Making what points_kernel.py works on: the points of each body, and bounds on the ground."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mbsim_ros.contact.culling.points_kernel import (
    BOUND_COLUMNS,
    CLEARANCE,
    COMPLETE,
    COUNTS,
    HIGHEST,
    NEAR,
    REACH,
    STEEPEST,
)
from mbsim_ros.contact.terrain_kernel import HEIGHT_FIELD
from mbsim_ros.dynamics.layout import ROW_COLUMNS

FEWEST = 4  # points of a body: with fewer it is cheaper to compute them than to ask whether they touch
# Catmull-Rom splines: the sums of the absolute weights of the heights, and of the differences of neighbours in a slope.
_OF_HEIGHTS, _OF_DIFFERENCES = 1.25, 5.0 / 3.0


class Culling(NamedTuple):
    """Which points may touch the ground, of `points` points on some of nb bodies; nothing of it is state."""

    bodies: np.ndarray  # (groups,) bodies with many points …
    start: np.ndarray  # (groups + 1,) … those of group g are start[g] … start[g + 1] of
    members: np.ndarray  # ascending numbers of points
    bounds: np.ndarray  # (groups, BOUND_COLUMNS)
    ground: np.ndarray  # (2,) HIGHEST, STEEPEST
    is_near: np.ndarray  # (points,) int8: whether it is in the list
    near: np.ndarray  # (points,) the list, ascending, as long as counts says
    saved: np.ndarray  # (points,) the list when the state was saved
    counts: np.ndarray  # (COUNTS,)
    rows: np.ndarray  # (nb + 1, ROW_COLUMNS) R_WB and p_WB in the middle of the last step that was finished
    twists: np.ndarray  # (nb, 6)
    saved_rows: np.ndarray
    saved_twists: np.ndarray

    def forget(self) -> None:
        """List all points: for when the state of contacts, or of the robot, was set from outside."""
        n = len(self.near)
        self.is_near[:] = 1
        self.near[:] = np.arange(n)
        self.counts[NEAR], self.counts[COMPLETE] = n, 1
        self.bounds[:, CLEARANCE] = -1.0


def make_culling(bodies: np.ndarray, geometry: np.ndarray, kind: int, data: np.ndarray, grid: np.ndarray) -> Culling:
    """Of points on bodies (n,), with place and radius (n, 4), above a ground as `terrain_at` takes it."""
    n, nb = len(bodies), int(bodies.max(initial=-1)) + 1
    found, counts = np.unique(bodies, return_counts=True)
    chosen = found[counts >= FEWEST]
    members = [np.flatnonzero(bodies == body) for body in chosen]
    bounds = np.zeros((len(chosen), BOUND_COLUMNS))
    for bound, points in zip(bounds, members, strict=True):
        # a hundredth more, so that rounding is of no concern
        bound[REACH] = 1.01 * (np.linalg.norm(geometry[points, :3], axis=1) + geometry[points, 3]).max()
    made = Culling(
        chosen.astype(np.int64), np.cumsum([0, *map(len, members)], dtype=np.int64),
        np.concatenate([np.zeros(0, dtype=np.int64), *members]), bounds, _bounds_of_ground(kind, data, grid),
        np.ones(n, dtype=np.int8), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64),
        np.zeros(COUNTS, dtype=np.int64), *(np.zeros(shape) for shape in 2 * ((nb + 1, ROW_COLUMNS), (nb, 6))),
    )  # fmt: skip
    made.forget()
    return made


def _bounds_of_ground(kind: int, data: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """The largest height that a field of heights can have anywhere, and √(1 + slope²) where it can be steepest."""
    bounds = np.zeros(2)
    bounds[STEEPEST] = 1.0
    if kind != HEIGHT_FIELD:
        return bounds
    middle, half = 0.5 * (grid.max() + grid.min()), 0.5 * (grid.max() - grid.min())
    bounds[HIGHEST] = middle + _OF_HEIGHTS**2 * half
    spacing_x, spacing_y = float(data[2]), float(data[3]) or float(data[2])
    factor = _OF_HEIGHTS * _OF_DIFFERENCES
    slopes = (
        factor * np.abs(np.diff(grid, axis=axis)).max() / spacing for axis, spacing in ((1, spacing_x), (0, spacing_y))
    )
    bounds[STEEPEST] = math.sqrt(1.0 + sum(slope**2 for slope in slopes))
    return bounds
