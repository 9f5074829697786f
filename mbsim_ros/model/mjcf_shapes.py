# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Inertias and shapes of MuJoCo's bodies as a description has them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from transforms3d.euler import euler2mat, mat2euler
from transforms3d.quaternions import quat2mat

from mbsim_ros.model.description import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Material,
    Mesh,
    Origin,
    Sphere,
    Visual,
)

if TYPE_CHECKING:
    from mujoco import MjModel, MjSpec

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom
READABLE = (".stl", ".obj", ".dae")


def origin_of(position: np.ndarray, quat: np.ndarray) -> Origin:
    """A pose from a position and a quaternion (w, x, y, z)."""
    return pose(quat2mat(quat), position)


def pose(R: np.ndarray, position: np.ndarray) -> Origin:
    """A pose from a rotation (3, 3) and a position (3,), exact also where pitch is nearly a right angle.

    There roll and yaw are lost one by one but not together: yaw is what is left when the others are taken off.
    """
    roll, pitch, _ = mat2euler(R, axes="sxyz")
    turn = R @ euler2mat(roll, pitch, 0.0, axes="sxyz").T
    yaw = np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    return Origin(tuple(np.asarray(position, dtype=float).tolist()), (float(roll), float(pitch), float(yaw)))


def inertial_of(m: MjModel, body: int) -> Inertial | None:
    """Mass, centre and inertia in the body's own axes; None without mass."""
    if m.body_mass[body] <= 0.0:
        return None
    R = quat2mat(m.body_iquat[body])
    return Inertial(
        float(m.body_mass[body]), Origin(tuple(m.body_ipos[body].tolist())), R @ np.diag(m.body_inertia[body]) @ R.T
    )


def mesh_names(spec: MjSpec, folder: Path | None) -> list[tuple[Path | None, tuple[float, float, float]]]:
    """File and scale of each mesh, in MuJoCo's order; None where it is not a file that is read here."""
    found = []
    for mesh in spec.meshes:
        path = None if folder is None or not mesh.file else folder / spec.modelfiledir / spec.meshdir / mesh.file
        readable = path is not None and path.suffix.lower() in READABLE and path.is_file()
        found.append((path if readable else None, tuple(float(s) for s in mesh.scale)))
    return found  # type: ignore[return-value]


class Shapes:
    """The geoms of bodies; `left_out` counts those that have no meaning here, by kind."""

    def __init__(self, m: MjModel, meshes: list[tuple[Path | None, tuple[float, float, float]]]):
        self.m, self.meshes = m, meshes
        self.left_out: Counter[str] = Counter()

    def of_body(self, body: int) -> tuple[tuple[Visual, ...], tuple[Collision, ...]]:
        """What is seen and what touches. Where some geoms are only to look at, those that touch are not drawn."""
        m = self.m
        geoms = range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body])
        shapes = [(g, *found) for g in geoms if (found := self._shape(g)) is not None]
        touching = [g for g, _, _ in shapes if m.geom_contype[g] or m.geom_conaffinity[g]]
        only_seen = len(touching) < len(shapes)
        collisions = tuple(Collision(shape, X, self._name(g)) for g, shape, X in shapes if g in touching)
        visuals = tuple(
            Visual(shape, X, self._material(g), self._name(g))
            for g, shape, X in shapes
            if g not in touching or not only_seen
        )
        return visuals, collisions

    def _shape(self, g: int) -> tuple[Geometry, Origin] | None:
        m, kind = self.m, int(self.m.geom_type[g])
        a, b, c = (float(size) for size in m.geom_size[g])
        X = origin_of(m.geom_pos[g], m.geom_quat[g])
        if kind == MESH:
            return self._mesh(g)
        shapes: dict[int, Geometry] = {
            SPHERE: Sphere(a), CAPSULE: Capsule(a, 2.0 * b), CYLINDER: Cylinder(a, 2.0 * b),
            BOX: Box((2.0 * a, 2.0 * b, 2.0 * c)),
        }  # fmt: skip
        if kind not in shapes:
            self.left_out["ellipsoids, planes and height fields of bodies"] += 1
            return None
        return shapes[kind], X

    def _mesh(self, g: int) -> tuple[Geometry, Origin] | None:
        m, number = self.m, int(self.m.geom_dataid[g])
        path, scale = self.meshes[number] if number < len(self.meshes) else (None, (1.0, 1.0, 1.0))
        if path is None:
            self.left_out["meshes without a file that is read here"] += 1
            return None
        # MuJoCo moves a mesh to its centre and turns it to its axes; the file is as it was before.
        R_BG, R_FG = quat2mat(m.geom_quat[g]), quat2mat(m.mesh_quat[number])
        R_BF = R_BG @ R_FG.T
        place = m.geom_pos[g] - R_BF @ m.mesh_pos[number]
        return Mesh(f"file://{path.resolve()}", scale, path.resolve()), pose(R_BF, place)

    def _material(self, g: int) -> Material:
        m = self.m
        rgba = m.mat_rgba[m.geom_matid[g]] if m.geom_matid[g] >= 0 else m.geom_rgba[g]
        return Material("", tuple(float(x) for x in np.clip(rgba, 0.0, 1.0)))  # type: ignore[arg-type]

    def _name(self, g: int) -> str:
        return str(self.m.geom(g).name)
