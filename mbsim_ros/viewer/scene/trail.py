# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A trail in the scene: where a point has been, as a line of bounded length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.viewer.page.web_server import WORLD
from mbsim_ros.viewer.scene.scene_update import update_node

if TYPE_CHECKING:
    from viser import ViserServer

LENGTH = 240  # pieces
STRIDE = 0.01  # m: a shorter way is not worth another piece


class Trail:
    """The way of a point; begin anew with `clear`, for example after a reset."""

    def __init__(self, server: ViserServer, name: str, colour: tuple[int, int, int], stride: float = STRIDE):
        self._points = np.zeros((0, 3))
        self._stride = stride
        self._line = server.scene.add_line_segments(
            f"{WORLD}/trails/{name}",
            np.zeros((LENGTH, 2, 3)),
            np.array(colour, dtype=np.uint8),
            thickness=2.0,
            thickness_units="screen",
        )

    def add(self, point: np.ndarray) -> bool:
        """Go on to a point (3,); returns whether the line became longer."""
        if len(self._points) and np.linalg.norm(point - self._points[-1]) < self._stride:
            return False
        self._points = np.concatenate([self._points[-LENGTH:], [point]])
        self._draw()
        return True

    def show(self, points: np.ndarray) -> None:
        """Show the last of these points (n, 3) as the trail."""
        self._points = points[-(LENGTH + 1) :]
        self._draw()

    def clear(self) -> None:
        """Forget the way so far."""
        self._points = self._points[:0]
        self._draw()

    @property
    def visible(self) -> bool:
        """Whether it is drawn."""
        return bool(self._line.visible)

    @visible.setter
    def visible(self, value: bool) -> None:
        self._line.visible = value

    def _draw(self) -> None:
        pieces = np.zeros((LENGTH, 2, 3), np.float32)
        if len(self._points):
            pieces[:] = self._points[-1]  # the pieces not yet used have no length
        count = max(len(self._points) - 1, 0)
        pieces[:count, 0], pieces[:count, 1] = self._points[:-1], self._points[1:]
        update_node(self._line, points=pieces)
