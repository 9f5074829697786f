# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact between shapes as the integrator's Python side sees it: who touches whom, a new start."""

from __future__ import annotations

import numpy as np

from mbsim_ros.collision.arrays import Touches
from mbsim_ros.collision.touches_kernel import FIRST_SHAPE, IS_PLANE_SECOND, PLANE_BODY, POINT_BODY, SECOND_SHAPE
from mbsim_ros.model.problems import warn_user


class CrowdedContact(UserWarning):
    """There are more points of contact than there is room for; some do not push."""


def shape_pairs(touches: Touches) -> np.ndarray:
    """Shapes (n, 2) that the points of contact of now are between: whose point, whose plane."""
    between = touches.now.between[: touches.now.counts[0]]
    pairs = between[:, [SECOND_SHAPE, FIRST_SHAPE]].copy()
    is_second = between[:, IS_PLANE_SECOND] == 1
    pairs[is_second] = pairs[is_second, ::-1]
    return pairs


def refuse_impossible(touches: Touches, counts: np.ndarray, between: np.ndarray) -> None:
    """ValueError where points that were kept in a file are of shapes or bodies that there are not."""
    shapes, n = touches.shapes.bodies, int(counts[0])
    if not 0 <= n <= len(touches.now.modes) or len(between) < n:
        raise ValueError(f"points of contact: expected up to {len(touches.now.modes)}, got {n}")
    rows = between[:n]
    first, second = rows[:, FIRST_SHAPE], rows[:, SECOND_SHAPE]
    if not ((rows[:, [FIRST_SHAPE, SECOND_SHAPE]] >= 0) & (rows[:, [FIRST_SHAPE, SECOND_SHAPE]] < len(shapes))).all():
        raise ValueError(f"points of contact: expected shapes 0 to {len(shapes) - 1}, got others")
    expected = np.stack([shapes[first], shapes[second]], axis=1)
    is_second = rows[:, IS_PLANE_SECOND] == 1
    expected[is_second] = expected[is_second, ::-1]
    if not (rows[:, [PLANE_BODY, POINT_BODY]] == expected).all():
        raise ValueError("points of contact: expected the bodies of their shapes, got others")


def at_node(touches: Touches) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """The points, and what was booked, as they were at the beginning of the last step."""
    count = int(touches.before.counts[0])
    return (
        touches.before.counts.copy(),
        [array[:count].copy() for array in touches.before[1:]],
        touches.node_energies.copy(),
    )


def put_back(touches: Touches, kept: tuple[np.ndarray, list[np.ndarray], np.ndarray]) -> None:
    """Go back to what `at_node` gave."""
    counts, arrays, energies = kept
    touches.now.counts[:], touches.energies[:] = counts, energies
    for array, own in zip(touches.now[1:], arrays, strict=True):
        array[: len(own)] = own


def forget(touches: Touches) -> None:
    """Start without points of before, as a new simulation does."""
    touches.now.counts[:] = touches.before.counts[:] = 0


def warn_if_crowded(touches: Touches) -> None:
    """A CrowdedContact where points of contact had to be left out."""
    if touches.now.counts[1] > 0:
        warn_user(
            f"{touches.now.counts[1]} points of contact are left out: there is room for {len(touches.now.modes)}; "
            "bodies may sink into each other: use fewer collision shapes that are near each other",
            CrowdedContact,
        )
