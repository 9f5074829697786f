# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Closed loops as a sidecar describes them, as arrays: which points of which bodies coincide, which axes are one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import Closure

DEPENDENT = 1e-9  # of the largest: a row of a planar loop that says what others say
CLOSED = 1e-12  # m
MOST_OPEN = 0.05  # m, or sine of an angle: a start that is further open is taken for a mistake


class ClosureGeometry(NamedTuple):
    """n closures with m rows in all: three of each, p_a − p_b, and two more of a hinge."""

    names: tuple[str, ...]
    bodies: np.ndarray  # (n, 2) row of the body that an end is on, 0 for the world
    points: np.ndarray  # (n, 2, 3) from the bodies' origins, in their axes
    axes: np.ndarray  # (n, 3, 3) two directions across the axis on a, the axis on b; zeros where there is no hinge
    owners: np.ndarray  # (m,) closure of every row


def closure_geometry(model: Model, closures: Iterable[Closure]) -> ClosureGeometry:
    """The closures of a model as arrays."""
    chosen = list(closures)
    n = len(chosen)
    bodies, points, axes = np.zeros((n, 2), dtype=np.int64), np.zeros((n, 2, 3)), np.zeros((n, 3, 3))
    owners: list[int] = []
    for c, closure in enumerate(chosen):
        for end, attached in enumerate(closure.ends):
            frame = model.frame(attached.link)
            bodies[c, end] = frame.body + 1
            points[c, end] = frame.X_BF[:3, :3] @ attached.point + frame.X_BF[:3, 3]
        if closure.axes is not None:
            ends = zip(closure.ends, closure.axes, strict=True)
            a, b = (model.frame(end.link).X_BF[:3, :3] @ axis for end, axis in ends)
            axes[c] = *_across(a), b / np.linalg.norm(b)
        owners += [c] * (3 if closure.axes is None else 5)
    names = tuple(closure.name for closure in chosen)
    return ClosureGeometry(names, bodies, points, axes, np.array(owners, dtype=np.int64))


def independent_rows(J: np.ndarray) -> np.ndarray:
    """Which rows of J (m, n) say what no others say, in ascending order."""
    from scipy.linalg import qr  # here, for robots without loops not to wait for it

    if 0 in J.shape:
        return np.zeros(0, dtype=np.int64)
    _, R, order = qr(J.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return np.sort(order[: int((size > DEPENDENT * max(size.max(initial=0.0), 1e-300)).sum())])


def too_far_open(names: Iterable[str], gap: float) -> ValueError:
    """The error for a start at which loops are open."""
    return ValueError(
        f"q: the closures {', '.join(names)} are open by {gap:.3g}, and no q nearby closes them: give a q that does"
    )


def _across(axis: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors across an axis and each other."""
    axis = np.asarray(axis, dtype=float)
    first = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    return first, second / np.linalg.norm(second)
