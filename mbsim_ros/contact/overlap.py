# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether a robot reaches into a sphere: the distance of a point from each of its collision shapes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.mesh_points import MeshUnreadable, mesh_points
from mbsim_ros.dynamics.kinematics import link_poses
from mbsim_ros.model.description import Box, Capsule, Cylinder, Geometry, Sphere
from mbsim_ros.model.model import Model


def overlaps_sphere(model: Model, q: ArrayLike, centre: ArrayLike, radius: float) -> bool:
    """Whether some collision shape of the robot in configuration q has a point within the sphere.

    A mesh counts as the box around it; a link without collision shapes as the point of its origin.
    """
    poses = link_poses(model, q)
    for link in model.description.links:
        X_WL = poses[link.name]
        if not link.collisions and np.linalg.norm(X_WL[:3, 3] - centre) <= radius:
            return True
        for collision in link.collisions:
            X_WS = X_WL @ collision.origin.matrix()
            p_SC = X_WS[:3, :3].T @ (centre - X_WS[:3, 3])
            if _distance(collision.geometry, p_SC) <= radius:
                return True
    return False


def _distance(shape: Geometry, p: np.ndarray) -> float:
    """Distance of a point, given in the frame of the shape, from the shape; 0 inside."""
    if isinstance(shape, Sphere):
        return max(0.0, float(np.linalg.norm(p)) - shape.radius)
    if isinstance(shape, Box):
        return _from_box(p, -0.5 * np.array(shape.size), 0.5 * np.array(shape.size))
    if isinstance(shape, Capsule):
        beyond = max(0.0, abs(p[2]) - 0.5 * shape.length)
        return max(0.0, math.hypot(p[0], p[1], beyond) - shape.radius)
    if isinstance(shape, Cylinder):
        outside = max(0.0, math.hypot(p[0], p[1]) - shape.radius)
        return math.hypot(outside, max(0.0, abs(p[2]) - 0.5 * shape.length))
    try:
        if shape.path is None:
            return math.inf
        vertices = mesh_points(shape.path, shape.scale)
    except MeshUnreadable:
        return math.inf
    return _from_box(p, vertices.min(axis=0), vertices.max(axis=0))


def _from_box(p: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    return float(np.linalg.norm(p - np.clip(p, low, high)))
