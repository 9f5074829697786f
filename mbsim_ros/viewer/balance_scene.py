"""Balance in the scene: the centre of mass, the point below it, the support polygon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from mbsim_ros.viewer.shapes import SPHERE, unit_mesh
from mbsim_ros.viewer.web_server import WORLD

if TYPE_CHECKING:
    from viser import ViserServer

INSIDE, OUTSIDE = (26, 150, 65), (215, 48, 39)  # colour of the polygon: the centre of mass is above it, or not
LIFT = 0.012  # of the robot's size, above the lowest contact: what is nearer to the ground shines through it


class BalanceScene:
    """Shows the centre of mass and what it stands on."""

    def __init__(self, server: ViserServer, size: float = 1.0):
        self._server, self._lift = server, LIFT * size
        ball, radius = unit_mesh(SPHERE), 0.025 * max(size, 0.2)
        self._centre = server.scene.add_batched_meshes_simple(
            f"{WORLD}/balance/centre_of_mass", ball.vertices, ball.faces, np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)),
            np.zeros((2, 3)), batched_scales=np.array([radius, 0.5 * radius], dtype=np.float32),
            batched_colors=np.array([[230, 159, 0], [230, 159, 0]], dtype=np.uint8), lod="off", cast_shadow=False,
        )  # fmt: skip
        self._edges: Any = None
        self._count = 0

    def show(self, centre: np.ndarray, floor: float, contacts: np.ndarray) -> None:
        """Centre of mass (3,), height of the ground below it [m], points (n, 3) that touch."""
        self._centre.batched_positions = np.array([centre, [centre[0], centre[1], floor + self._lift]])
        corners = support_polygon(contacts[:, :2])
        if len(corners) < 2:
            self._remove()
            return
        height = float(contacts[:, 2].min()) + self._lift
        ring = np.column_stack([corners, np.full(len(corners), height)])
        edges = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
        colour = INSIDE if is_inside(corners, centre[:2]) else OUTSIDE
        if self._edges is not None and len(edges) == self._count:
            self._edges.points = edges
            self._edges.colors = np.array(colour, dtype=np.uint8)
            return
        self._remove()
        self._count = len(edges)
        self._edges = self._server.scene.add_line_segments(
            f"{WORLD}/balance/support", edges, np.array(colour, dtype=np.uint8), thickness=3.0, thickness_units="screen"
        )

    def _remove(self) -> None:
        if self._edges is not None:
            self._edges.remove()
        self._edges, self._count = None, 0


def support_polygon(points: np.ndarray) -> np.ndarray:
    """Corners (m, 2) of the convex hull of points (n, 2), counter-clockwise; of points in a line, its two ends."""
    different = np.unique(points, axis=0)
    if len(different) < 3:
        return different
    try:
        return different[ConvexHull(different).vertices]  # type: ignore[no-any-return]
    except QhullError:  # all in a line: np.unique has sorted them along it
        return different[[0, -1]]


def is_inside(corners: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point (2,) lies in a convex polygon whose corners (n, 2) go round counter-clockwise."""
    if len(corners) < 3:
        return False
    edges, to_point = np.roll(corners, -1, axis=0) - corners, point - corners
    return bool((edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0] >= 0.0).all())
