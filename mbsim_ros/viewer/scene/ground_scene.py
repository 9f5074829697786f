# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The ground in the scene: a grid on a floor or an inclined plane, a surface for a field of heights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.contact.terrain import Ground
from mbsim_ros.contact.terrain_kernel import FLAT, HEIGHT_FIELD, terrain_at
from mbsim_ros.viewer.page.web_server import WORLD

if TYPE_CHECKING:
    from viser import SceneNodeHandle, ViserServer

PER_CELL = 3  # pieces of the drawn surface on each side of a cell of a field
MOST_ROWS = 400  # of the drawn surface, along each side
MARGIN = 1.0  # m drawn beyond the edge of a field, which goes on level
LOWER = 0.01  # of a cell
NAME = f"{WORLD}/ground"


def draw_ground(server: ViserServer, ground: Ground | None, cell: float = 0.5) -> SceneNodeHandle:
    """Draw the ground, lines at z = 0 where there is none; cell: distance of the lines [m]. Returns its handle.

    A plane is drawn a little lower than it is: soles and marks that lie in it, or press into it, are to be seen.
    """
    lines: dict[str, Any] = {
        "width": 200.0, "height": 200.0, "plane": "xy", "infinite_grid": True, "cell_size": cell,
        "section_size": 5 * cell, "cell_color": (205, 208, 212), "section_color": (180, 185, 194),
        "fade_distance": 60 * cell, "shadow_opacity": 0.25,
    }  # fmt: skip
    if ground is None:
        return server.scene.add_grid(NAME, **lines)
    if ground.kind == HEIGHT_FIELD:
        vertices, faces = surface(ground)
        return server.scene.add_mesh_simple(
            NAME, vertices, faces, color=(196, 189, 170), flat_shading=False, side="double"
        )
    normal = np.array([0.0, 0.0, 1.0]) if ground.kind == FLAT else ground.data[:3]
    offset = ground.data[0] if ground.kind == FLAT else ground.data[3]
    return server.scene.add_grid(
        NAME, **lines, plane_color=(238, 240, 243), plane_opacity=1.0, wxyz=turn_from_z(normal),
        position=(offset - LOWER * cell) * normal,
    )  # fmt: skip


def surface(ground: Ground) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces (m, 3) of a field of heights as contact feels it."""
    (x0, y0), (along_x, along_y), (rows, columns) = ground.data[:2], ground.spacings, ground.grid.shape
    xs, ys = (
        np.linspace(start - MARGIN, start + (count - 1) * spacing + MARGIN, min(MOST_ROWS, PER_CELL * count + 2))
        for start, count, spacing in ((x0, columns, along_x), (y0, rows, along_y))
    )
    points = [(x, y, height_at(ground, x, y)) for y in ys.tolist() for x in xs.tolist()]
    corner = (np.arange(len(ys) - 1)[:, None] * len(xs) + np.arange(len(xs) - 1)[None, :]).ravel()
    first = np.column_stack([corner, corner + 1, corner + len(xs) + 1])
    second = np.column_stack([corner, corner + len(xs) + 1, corner + len(xs)])
    return np.array(points, dtype=np.float32), np.concatenate([first, second]).astype(np.uint32)


def height_at(ground: Ground, x: float, y: float) -> float:
    """Height z of the ground at a place [m]."""
    gap, _, _, upward = terrain_at(ground.kind, ground.data, ground.grid, x, y, 0.0)
    return float(-gap / upward)


def turn_from_z(normal: np.ndarray) -> tuple[float, float, float, float]:
    """Quaternion (w, x, y, z) of the shortest turn from z to an upward unit vector (3,)."""
    half = np.array([1.0 + normal[2], -normal[1], normal[0], 0.0])
    w, x, y, z = (half / np.linalg.norm(half)).tolist()
    return w, x, y, z
