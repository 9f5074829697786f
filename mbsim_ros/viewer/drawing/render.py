# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Pictures of a robot without a browser: shaded shapes, ground with lines and a shadow, contacts with their forces.

A small renderer of our own, so that pictures are the same on every machine and need neither screen nor graphics card.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from mbsim_ros.contact.terrain import Ground
from mbsim_ros.contact.terrain_kernel import FLAT, HEIGHT_FIELD
from mbsim_ros.dynamics.kinematics import link_pose_rows
from mbsim_ros.model.model import Model
from mbsim_ros.viewer.drawing.camera import Camera
from mbsim_ros.viewer.drawing.raster_kernel import fill_triangles
from mbsim_ros.viewer.drawing.shapes import SPHERE, Shape, UnitMesh, arrow_mesh, shapes_of, unit_mesh
from mbsim_ros.viewer.scene.ground_scene import surface, turn_from_z

FINER = 2  # pixels are drawn as this many each way, and then averaged
LIGHT = np.array([0.35, -0.45, 0.82]) / np.linalg.norm([0.35, -0.45, 0.82])
AMBIENT, DIFFUSE = 0.64, 0.52  # brightness without light, and what the light adds
SHADOW = 0.80  # brightness of the ground in the shadow
SKY = np.array([255.0, 255.0, 255.0])
GROUND, LINE, SAND = np.array([236.0, 238.0, 242.0]), np.array([196.0, 200.0, 208.0]), (205, 197, 176)
HAZE = 9.0  # sizes of the robot: in this distance the ground is half as clear


class _Triangles(NamedTuple):
    """Vertices (n, 3) in the world, faces (m, 3), brightness (m, 3) at their corners, colours (m, 3)."""

    vertices: np.ndarray
    faces: np.ndarray
    shades: np.ndarray
    colours: np.ndarray


class _LinkPart(NamedTuple):
    """A shape of a link, in its frame, and the unit normals (m, 3, 3) at the corners of its faces."""

    link: int
    triangles: _Triangles
    normals: np.ndarray


class Renderer:
    """Draws a robot and its ground.

    `cell`: distance of the lines on the ground [m]; `size`: of the robot [m], by which contacts are drawn and the
    ground fades.
    """

    def __init__(self, model: Model, ground: Ground | None, cell: float = 0.5, size: float = 1.0):
        self._model, self.cell, self.size = model, cell, size
        kinds: dict[Hashable, list[Shape]] = defaultdict(list)
        for shape in shapes_of(model):
            kinds[shape.kind].append(shape)
        self._parts: list[_LinkPart] = []
        for kind, shapes in kinds.items():
            try:
                mesh = unit_mesh(kind)
            except ValueError:  # a file that cannot be read; the rest is drawn
                continue
            self._parts += [_part(shape, mesh) for shape in shapes]
        self._robot = _joined([part.triangles for part in self._parts])
        self._hills = surface(ground) if ground is not None and ground.kind == HEIGHT_FIELD else None
        flat = ground is None or ground.kind == FLAT
        self._normal = np.array([0.0, 0.0, 1.0]) if ground is None or flat or self._hills else ground.data[:3]
        self._offset = 0.0 if ground is None or self._hills else float(ground.data[0] if flat else ground.data[3])
        self._hides = ground is not None  # lines at z = 0 hide nothing of a robot that hangs below them
        self._ball, self._arrow = unit_mesh(SPHERE), arrow_mesh()

    def draw(
        self, camera: Camera, q: np.ndarray, points: np.ndarray, colours: np.ndarray, tips: np.ndarray
    ) -> np.ndarray:
        """The robot at q (nq,) with contacts as `ContactScene.show` has them; image (rows, columns, 3) uint8."""
        columns, rows = camera.size
        fine = replace(camera, size=(FINER * columns, FINER * rows))
        robot, contacts = self._robot_triangles(q), self._contact_triangles(points, colours, tips)
        image, nearness = self._ground(fine, robot)
        _draw(fine, robot, image, nearness)
        if self._hills is not None:
            vertices, faces = self._hills
            _draw(fine, _triangles(vertices.astype(float), faces, SAND), image, nearness)
        for triangles in contacts:
            _draw(fine, triangles, image, nearness)
        averaged = image.reshape(rows, FINER, columns, FINER, 3).mean(axis=(1, 3))
        return np.clip(averaged + 0.5, 0, 255).astype(np.uint8)

    def outline(self, q: np.ndarray) -> np.ndarray:
        """Corners (n, 3) of all that is drawn of the robot at q (nq,)."""
        return self._robot_triangles(q).vertices

    def _robot_triangles(self, q: np.ndarray) -> _Triangles:
        """The robot at q (nq,). Only places and brightness depend on it: robots of meshes have 100,000 faces."""
        poses = link_pose_rows(self._model, q)
        vertices, shades = np.empty_like(self._robot.vertices), np.empty_like(self._robot.shades)
        at = face = 0
        for part in self._parts:
            R, p = poses[part.link, :9].reshape(3, 3), poses[part.link, 9:]
            end, last = at + len(part.triangles.vertices), face + len(part.triangles.faces)
            vertices[at:end] = part.triangles.vertices @ R.T + p
            shades[face:last] = _shades(part.normals, LIGHT @ R)
            at, face = end, last
        return self._robot._replace(vertices=vertices, shades=shades)

    def _contact_triangles(self, points: np.ndarray, colours: np.ndarray, tips: np.ndarray) -> list[_Triangles]:
        found, radius = [], 0.012 * self.size
        for point, colour, tip in zip(points, colours.tolist(), tips, strict=True):
            found.append(_placed(self._ball, np.eye(3), point, np.full(3, 1.3 * radius), colour))
            length = float(np.linalg.norm(tip - point))
            if length > 1e-6:
                w, x, y, z = turn_from_z((tip - point) / length)
                R = Rotation.from_quat([x, y, z, w]).as_matrix()
                found.append(_placed(self._arrow, R, point, np.array([radius, radius, length]), colour))
        return found

    def _ground(self, camera: Camera, robot: _Triangles) -> tuple[np.ndarray, np.ndarray]:
        """A picture of the ground alone, with the robot's shadow, and 1/distance."""
        columns, rows = camera.size
        if self._hills is not None:
            return np.tile(SKY, (rows, columns, 1)), np.zeros((rows, columns))
        places, near = camera.on_plane(self._normal, self._offset)
        # A line is as wide as it is, and at least a pixel: what a pixel spans is seen from its neighbours.
        lines = np.zeros(near.shape)
        for axis in (0, 1):
            along = places[:, :, axis] / self.cell
            span = np.abs(np.gradient(along, axis=0)) + np.abs(np.gradient(along, axis=1)) + 1e-9
            away = np.abs(along - np.round(along))
            clear = np.clip(1.5 - 3.0 * span, 0.0, 1.0)  # too fine to be told apart: none
            lines = np.maximum(lines, clear * np.clip(1.0 - (away - 0.008) / span, 0.0, 1.0))
        colour = GROUND + np.nan_to_num(lines)[:, :, None] * (LINE - GROUND)
        shadow = np.zeros((rows, columns, 3))
        heights = robot.vertices @ self._normal - self._offset
        below = robot.vertices - heights[:, None] / (LIGHT @ self._normal) * LIGHT
        _draw(camera, robot._replace(vertices=below), shadow, np.zeros((rows, columns)))
        colour *= np.where(shadow.any(axis=2), SHADOW, 1.0)[:, :, None]
        clearness = np.where(near > 0.0, 0.5 ** (1.0 / np.maximum(near, 1e-9) / (HAZE * self.size)) ** 2, 0.0)
        return SKY + clearness[:, :, None] * (colour - SKY), 0.9995 * near * self._hides


def _draw(camera: Camera, triangles: _Triangles, image: np.ndarray, nearness: np.ndarray) -> None:
    fill_triangles(
        camera.project(triangles.vertices), triangles.faces, triangles.shades, triangles.colours, image, nearness
    )


def _part(shape: Shape, mesh: UnitMesh) -> _LinkPart:
    """A shape in the frame of its link."""
    R, p = shape.X_LS[:3, :3], shape.X_LS[:3, 3]
    vertices, faces = _scaled(mesh, np.array(shape.scale))
    triangles = _triangles(vertices @ R.T + p, faces, shape.colour)
    return _LinkPart(shape.link, triangles, _normals(triangles.vertices, triangles.faces))


def _placed(mesh: UnitMesh, R: np.ndarray, p: np.ndarray, scale: np.ndarray, colour: object) -> _Triangles:
    """A unit mesh scaled, turned by R (3, 3) and moved by p (3,)."""
    vertices, faces = _scaled(mesh, scale)
    return _triangles(vertices @ R.T + p, faces, colour)


def _scaled(mesh: UnitMesh, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    faces = mesh.faces[:, ::-1] if np.prod(scale) < 0.0 else mesh.faces  # a mirror turns them over
    return mesh.vertices * scale, faces


def _triangles(vertices: np.ndarray, faces: np.ndarray, colour: object) -> _Triangles:
    """Shaded triangles."""
    shades = _shades(_normals(vertices, faces), LIGHT)
    return _Triangles(vertices, faces.astype(np.int64), shades, np.tile(np.array(colour, float), (len(faces), 1)))


def _normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Unit normals (m, 3, 3) at the corners of the faces, from all faces that share a vertex."""
    corners = vertices[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # as long as twice the area
    sums = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(sums, faces[:, corner], across)
    normals = sums[faces]
    return normals / np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-12)  # type: ignore[no-any-return]


def _shades(normals: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Brightness (m, 3) under a light from this direction (3,)."""
    return AMBIENT + DIFFUSE * np.maximum(normals @ light, 0.0)  # type: ignore[no-any-return]


def _joined(parts: list[_Triangles]) -> _Triangles:
    """All of them as one."""
    if not parts:
        return _Triangles(np.zeros((0, 3)), np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros((0, 3)))
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)])
    vertices, shades, colours = (np.concatenate([part[k] for part in parts]) for k in (0, 2, 3))
    return _Triangles(vertices, faces, shades, colours)
