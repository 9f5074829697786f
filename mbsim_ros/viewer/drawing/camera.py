# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A camera: where points of the world are on a picture, and where on the ground a pixel looks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics.kinematics import link_pose
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.viewer.scene.stage import FIELD_OF_VIEW

DIRECTION = np.array([0.75, -1.0, 0.42]) / np.linalg.norm([0.75, -1.0, 0.42])  # from a robot to its camera
FULL = 0.92  # of the picture: what is to be seen fills no more of it
UP = (0.0, 0.0, 1.0)
SIZE = (960, 600)
ALONG = 1e-6  # sine of the angle below which a camera looks along its up
SMALLEST, LARGEST = 16, 8000  # pixels of a side
# Where a camera is, seen from the robot, and what is up on its picture; x is ahead of a robot, y to its left.
VIEWS: dict[str, tuple[np.ndarray, tuple[float, float, float]]] = {
    "iso": (DIRECTION, UP),
    "side": (np.array([0.0, -1.0, 0.0]), UP),  # the robot looks to the right
    "front": (np.array([1.0, 0.0, 0.0]), UP),
    "back": (np.array([-1.0, 0.0, 0.0]), UP),
    "top": (np.array([0.0, 0.0, 1.0]), (0.0, 1.0, 0.0)),  # a map: x to the right, y up
}


@dataclass(frozen=True, eq=False)
class Camera:
    """Looks from a position (3,) to a point (3,), in the world or fixed to a link, in that link's axes.

    field_of_view: from bottom to top [rad]. size: pixels (columns, rows). up: the direction (3,) that is up on the
    picture; where the camera looks along it, x is, or z.
    """

    position: Any
    look_at: Any
    field_of_view: float = float(FIELD_OF_VIEW)
    size: tuple[int, int] = SIZE
    up: Any = UP
    link: str | None = None

    def __post_init__(self) -> None:
        """Check it, and make arrays of what may be given as tuples."""
        for name in ("position", "look_at", "up"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != (3,) or not np.isfinite(value).all():
                raise ValueError(f"camera: {name}: expected three finite numbers, got {getattr(self, name)!r}")
            object.__setattr__(self, name, value)
        if not np.linalg.norm(self.look_at - self.position) > 0.0:
            raise ValueError(f"camera: look_at: expected another point than position, got {self.look_at.tolist()}")
        if not np.linalg.norm(self.up) > 0.0:
            raise ValueError("camera: up: expected a direction, got zeros")
        ahead = self.look_at - self.position
        if np.linalg.norm(np.cross(ahead, self.up)) < ALONG * np.linalg.norm(ahead) * np.linalg.norm(self.up):
            object.__setattr__(self, "up", np.array([1.0, 0.0, 0.0] if abs(ahead[0]) < abs(ahead[2]) else UP))
        if not 0.0 < self.field_of_view < np.pi:
            raise ValueError(f"camera: field_of_view: expected 0 … π rad, got {self.field_of_view!r}")

    def in_world(self, model: Model, q: np.ndarray) -> Camera:
        """Where one that is fixed to a link is in the world, with the robot at q (nq,); any other is itself."""
        if self.link is None:
            return self
        X_WL = link_pose(model, q, self.link)
        R, p = X_WL[:3, :3], X_WL[:3, 3]
        return replace(self, position=R @ self.position + p, look_at=R @ self.look_at + p, up=R @ self.up, link=None)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Column and row [pixels] and 1/distance ahead of points (n, 3), (n, 3); 0 where a point is not ahead."""
        seen = (points - self.position) @ self._axes()
        ahead = np.maximum(seen[:, 2], 1e-9)
        middle = 0.5 * np.array(self.size)
        near = np.where(seen[:, 2] > 0.01, 1.0 / ahead, 0.0)
        return np.column_stack([middle + self._scale() * seen[:, :2] / ahead[:, None], near])

    def on_plane(self, normal: np.ndarray, offset: float) -> tuple[np.ndarray, np.ndarray]:
        """Where each pixel looks on the plane normal·p = offset, (rows, columns, 3), and 1/distance ahead there.

        The latter is 0 where a pixel looks past the plane.
        """
        columns, rows = self.size
        x, y = np.meshgrid(np.arange(columns) + 0.5 - 0.5 * columns, np.arange(rows) + 0.5 - 0.5 * rows)
        rays = np.stack([x, y, np.full_like(x, self._scale())], axis=2) / self._scale() @ self._axes().T
        towards = rays @ normal
        height = normal @ self.position - offset
        ahead = height / np.where(towards < -1e-6, -towards, np.inf)  # rays advance by 1 ahead
        near = np.where(ahead > 0.0, 1.0 / np.maximum(ahead, 1e-9), 0.0)
        return self.position + ahead[:, :, None] * rays, near

    def _scale(self) -> float:
        """Pixels per unit of slope."""
        return float(0.5 * self.size[1] / np.tan(0.5 * self.field_of_view))

    def _axes(self) -> np.ndarray:
        """Right, down and ahead in the world, as columns (3, 3)."""
        ahead = (self.look_at - self.position) / np.linalg.norm(self.look_at - self.position)
        right = np.cross(ahead, self.up)
        right /= np.linalg.norm(right)
        return np.column_stack([right, np.cross(ahead, right), ahead])


def camera_around(
    points: np.ndarray, middle: np.ndarray, size: tuple[int, int], direction: np.ndarray = DIRECTION, up: ArrayLike = UP
) -> Camera:
    """A camera that looks at the middle (3,) from so far that all points (n, 3) are on its picture, and fill it.

    direction: the unit vector (3,) from the middle to the camera.
    """
    near = Camera(middle + direction, middle, FIELD_OF_VIEW, size, up)
    seen = (points - middle) @ near._axes()
    room = 0.5 * FULL * np.array(size)  # from the middle of the picture
    distance = (near._scale() * np.abs(seen[:, :2]) / room - seen[:, 2:]).max()  # scale |x| / (distance + z) <= room
    return Camera(middle + max(float(distance), 0.1) * direction, middle, FIELD_OF_VIEW, size, up)


def view(name: object = None) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Direction and up of a view by its name, None for the usual one. Raises ValueError where there is none."""
    if name is None:
        return VIEWS["iso"]
    if not isinstance(name, str) or name not in VIEWS:
        hint = did_you_mean(str(name), VIEWS, f"there are {', '.join(VIEWS)}, or a Camera", 0)
        raise ValueError(f"camera: no view named {name!r}: {hint}")
    return VIEWS[name]


def checked_size(size: object) -> tuple[int, int]:
    """Pixels (columns, rows) of a picture, if they are such."""
    given = tuple(size) if isinstance(size, (tuple, list, np.ndarray)) else ()
    if len(given) != 2 or not all(n == int(n) and SMALLEST <= n <= LARGEST for n in given):
        raise ValueError(f"size: expected (columns, rows), {SMALLEST} to {LARGEST} pixels each, got {size!r}")
    return int(given[0]), int(given[1])
