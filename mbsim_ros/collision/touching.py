# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact between shapes as the integrator's Python side sees it: who touches whom, friction, a new start."""

from __future__ import annotations

import numpy as np

from mbsim_ros.collision.arrays import Touches
from mbsim_ros.collision.touches_kernel import FIRST_SHAPE, IS_PLANE_SECOND, SECOND_SHAPE
from mbsim_ros.contact.layout import MU_DYNAMIC, MU_STATIC
from mbsim_ros.model.problems import warn_user


class CrowdedContact(UserWarning):
    """There are more points of contact than there is room for; some do not push."""


def shape_pairs(touches: Touches | None) -> np.ndarray:
    """Shapes (n, 2) that the points of contact of now are between: whose point, whose plane."""
    if touches is None:
        return np.zeros((0, 2), dtype=np.int64)
    between = touches.now.between[: touches.now.counts[0]]
    pairs = between[:, [SECOND_SHAPE, FIRST_SHAPE]].copy()
    is_second = between[:, IS_PLANE_SECOND] == 1
    pairs[is_second] = pairs[is_second, ::-1]
    return pairs


def set_friction(parameters: list[np.ndarray], touches: Touches | None, static: float, dynamic: float) -> None:
    """Coefficients in rows of parameters, and between shapes, from the next step on."""
    if touches is not None:
        parameters = [*parameters, touches.shapes.parameters, touches.now.parameters]
    for rows in parameters:
        is_written = rows.flags.writeable
        rows.setflags(write=True)  # kernels know some as read-only, and they stay the same arrays
        rows[:, [MU_STATIC, MU_DYNAMIC]] = static, dynamic
        rows.setflags(write=is_written)


def forget(touches: Touches | None) -> None:
    """Start without points of before, as a new simulation does."""
    if touches is not None:
        touches.now.counts[:] = touches.before.counts[:] = 0


def warn_if_crowded(touches: Touches | None) -> None:
    """A CrowdedContact where points of contact had to be left out."""
    if touches is not None and touches.now.counts[1] > 0:
        warn_user(
            f"{touches.now.counts[1]} points of contact are left out: there is room for {len(touches.now.modes)}; "
            "bodies may sink into each other: use fewer collision shapes that are near each other",
            CrowdedContact,
        )
