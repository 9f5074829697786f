# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Balance in the scene: the centre of mass, the point below it, the support polygon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.viewer.drawing.shapes import SPHERE, unit_mesh
from mbsim_ros.viewer.page.web_server import MARKS
from mbsim_ros.viewer.scene.scene_update import instance_colours, update_node

if TYPE_CHECKING:
    from viser import ViserServer

INSIDE, OUTSIDE = (26, 150, 65), (215, 48, 39)  # colour of the polygon: the centre of mass is above it, or not
CENTRE = (230, 159, 0)
LEAST_ROOM = 16  # corners
LIFT = 0.012  # of the robot's size, above the lowest contact: what is nearer to the ground shines through it


class BalanceScene:
    """Shows the centre of mass and what it stands on."""

    def __init__(self, server: ViserServer, size: float = 1.0):
        self._server, self._lift = server, LIFT * size
        ball, radius = unit_mesh(SPHERE), 0.025 * max(size, 0.2)
        self._centre = server.scene.add_batched_meshes_simple(
            f"{MARKS}/balance/centre_of_mass", ball.vertices, ball.faces, np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)),
            np.zeros((2, 3)), batched_scales=np.array([radius, 0.5 * radius], dtype=np.float32),
            batched_colors=instance_colours([CENTRE, CENTRE]), lod="off", cast_shadow=False,
            side="double",  # as all others: one shader for them
        )  # fmt: skip
        self._edges: Any = None
        self._room = 0  # a node of the scene has as many lines as it was made with
        self._visible, self._stands = True, False
        self._origin = np.zeros(3)  # the point of the world that is drawn at the scene's origin
        self._points = np.zeros((2, 3))  # the centre and what is below it, in the world
        self._lines = np.zeros((0, 2, 3))  # of the polygon

    @property
    def visible(self) -> bool:
        """Whether it is drawn."""
        return self._visible

    @visible.setter
    def visible(self, value: bool) -> None:
        self._visible = self._centre.visible = value
        self._show_edges()

    def show(self, centre: np.ndarray, floor: float, contacts: np.ndarray) -> None:
        """Centre of mass (3,), height of the ground below it [m], points (n, 3) that touch."""
        below = [centre[0], centre[1], floor + self._lift]
        self._points = np.array([centre, below])
        self._place_points()
        corners = support_polygon(contacts[:, :2])
        if len(corners) < 2:
            self._stands = False
            self._show_edges()
            return
        if len(corners) > self._room:
            self._make_room(len(corners))
        edges = np.empty((self._room, 2, 3))
        edges[:, :, 2] = float(contacts[:, 2].min()) + self._lift
        edges[:, :, :2] = corners[0]  # the lines not used have no length
        edges[: len(corners), 0, :2], edges[: len(corners), 1, :2] = corners, np.roll(corners, -1, axis=0)
        colour = INSIDE if is_inside(corners, centre[:2]) else OUTSIDE
        self._lines = edges
        update_node(self._edges, points=self._seen(edges), colors=np.array(colour, np.uint8))
        self._stands = True
        self._show_edges()

    def move(self, origin: np.ndarray) -> None:
        """Show it where it is in the world while another point (3,) of it is drawn at the scene's origin."""
        if (origin == self._origin).all():
            return
        self._origin[:] = origin
        self._place_points()
        if self._stands:
            update_node(self._edges, points=self._seen(self._lines))

    def _place_points(self) -> None:
        update_node(self._centre, batched_positions=self._seen(self._points))

    def _seen(self, places: np.ndarray) -> np.ndarray:
        return (places - self._origin).astype(np.float32)

    def _show_edges(self) -> None:
        if self._edges is not None:
            self._edges.visible = self._stands and self._visible

    def _make_room(self, count: int) -> None:
        if self._edges is not None:
            self._edges.remove()
        self._room = max(count, LEAST_ROOM)
        self._edges = self._server.scene.add_line_segments(
            f"{MARKS}/balance/support", np.zeros((self._room, 2, 3)), np.array(INSIDE, dtype=np.uint8), thickness=3.0,
            thickness_units="screen",
        )  # fmt: skip


def support_polygon(points: np.ndarray) -> np.ndarray:
    """Corners (m, 2) of the convex hull of points (n, 2), counter-clockwise; of points in a line, its two ends."""
    places = sorted({(x, y) for x, y in points.tolist()})
    if len(places) < 3:
        return np.array(places).reshape(-1, 2)
    return np.array(_half_hull(places) + _half_hull(places[::-1]))


def _half_hull(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners on the right of the way from the first to the last of sorted places, without the last."""
    corners: list[tuple[float, float]] = []
    for x, y in places:
        while len(corners) > 1:
            (x0, y0), (x1, y1) = corners[-2:]
            if (x1 - x0) * (y - y0) > (y1 - y0) * (x - x0):  # a turn to the left
                break
            corners.pop()
        corners.append((x, y))
    return corners[:-1]


def is_inside(corners: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point (2,) lies in a convex polygon whose corners (n, 2) go round counter-clockwise."""
    if len(corners) < 3:
        return False
    edges, to_point = np.roll(corners, -1, axis=0) - corners, point - corners
    return bool((edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0] >= 0.0).all())
