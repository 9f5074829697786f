# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What can be laid over a robot in the scene: collision shapes, frames, axes of joints, inertia, points that can touch.

Each is a set of shapes on links, made when it is asked for first, and moved only while it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.model.model import Model
from mbsim_ros.viewer.drawing.shapes import ARROW, BOX, SPHERE, Shape, collision_shapes
from mbsim_ros.viewer.scene.overlays import contact_points, inertia_boxes, joint_axes
from mbsim_ros.viewer.scene.robot_scene import RobotScene

if TYPE_CHECKING:
    from viser import ViserServer

AXES = {"x": (0, (215, 60, 50)), "y": (1, (60, 160, 70)), "z": (2, (50, 100, 215))}  # column, colour
AXIS_COLOUR, INERTIA_COLOUR, POINT_COLOUR = (204, 121, 167), (230, 159, 0), (213, 94, 0)
COLLISION_COLOUR = (86, 180, 233)
SEEN_THROUGH = 0.45  # opacity


class Overlays:
    """Overlays of one robot, by the names in `OVERLAYS`; size: of the robot [m]."""

    def __init__(self, server: ViserServer, model: Model, size: float):
        self._server, self._model, self._size = server, model, size
        self._made: dict[str, RobotScene] = {}
        self._shown: set[str] = set()

    def show(self, name: str, visible: bool) -> None:
        """Show one of them, or no longer; the next `place` moves it."""
        if name not in self._made:
            if not visible:
                return
            shapes = OVERLAYS[name](self._model, self._size)
            self._made[name] = RobotScene(self._server, self._model, f"/world/{name.replace(' ', '_')}", shapes)
        self._made[name].show(visible)
        (self._shown.add if visible else self._shown.discard)(name)

    def place(self, rows: np.ndarray, origin: np.ndarray) -> None:
        """Move what is shown to where the links are, (links, 12); origin: as `RobotScene.place` has it."""
        for name in self._shown:
            self._made[name].place_links(rows, origin)


def _collisions(model: Model, _: float) -> list[Shape]:
    return collision_shapes(model, COLLISION_COLOUR, SEEN_THROUGH)


def _frames(model: Model, size: float) -> list[Shape]:
    length = 0.12 * size
    return [
        Shape(ARROW, row, _pointing(np.eye(3)[:, column]), (0.05 * length, 0.05 * length, length), colour)
        for row in range(len(model.link_names))
        for column, colour in AXES.values()
    ]


def _axes(model: Model, size: float) -> list[Shape]:
    length = 0.2 * size
    scale = (0.04 * length, 0.04 * length, length)
    return [Shape(ARROW, row, _pointing(axis, origin), scale, AXIS_COLOUR) for row, origin, axis in joint_axes(model)]


def _inertia(model: Model, size: float) -> list[Shape]:
    found = []
    for row, X_LB, edges in inertia_boxes(model):
        x, y, z = np.maximum(edges, 1e-3 * size).tolist()
        found.append(Shape(BOX, row, X_LB, (x, y, z), INERTIA_COLOUR, SEEN_THROUGH))
    return found


def _points(model: Model, size: float) -> list[Shape]:
    radius = 0.012 * size
    return [Shape(SPHERE, row, _at(place), (radius,) * 3, POINT_COLOUR) for row, place in contact_points(model)]


OVERLAYS: dict[str, Callable[[Model, float], list[Shape]]] = {
    "collision shapes": _collisions,
    "link frames": _frames,
    "joint axes": _axes,
    "inertia": _inertia,
    "points that can touch": _points,
}


def _at(place: np.ndarray) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = place
    return X


def _pointing(axis: np.ndarray, origin: np.ndarray | None = None) -> np.ndarray:
    """Pose (4, 4) whose z is along an axis (3,)."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    X = _at(np.zeros(3) if origin is None else origin)
    X[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    return X
