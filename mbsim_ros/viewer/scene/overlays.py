# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a view can lay over a robot: axes of its joints, boxes of its inertia, the points that can touch.

Plain data in the frames of the links, by their place in `model.link_names`: whoever draws knows where links are.
"""

from __future__ import annotations

import warnings

import numpy as np

from mbsim_ros.contact.points import ContactPoints, contact_points as points_of
from mbsim_ros.model.description import SINGLE_AXIS_TYPES, Inertial
from mbsim_ros.model.model import Model

OnLink = tuple[int, np.ndarray]  # place in model.link_names, point (3,) in the link's frame


def joint_axes(model: Model) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Link, origin (3,) and unit axis (3,) in its frame, of every joint that turns about or moves along an axis."""
    rows = _rows(model)
    return [
        (rows[joint.child], np.zeros(3), np.array(joint.axis))  # a joint's frame is that of its child
        for joint in model.description.joints
        if joint.type in SINGLE_AXIS_TYPES or joint.type == "planar"
    ]


def inertia_boxes(model: Model) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Link, pose X_LB (4, 4) and edges (3,) [m] of the solid box with each link's mass and inertia.

    Links without mass have none. Where an inertia is none of a body (triangle rule) an edge is 0.
    """
    rows = _rows(model)
    return [
        (rows[link.name], *_box(link.inertial))
        for link in model.description.links
        if link.inertial is not None and link.inertial.mass > 0.0
    ]


def contact_points(model: Model, points: ContactPoints | None = None) -> list[OnLink]:
    """Link and position (3,) in its frame of every point that can touch; points: those of a scene, if it has any."""
    rows = _rows(model)
    if points is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said where the robot was loaded
            points = points_of(model)
    found = []
    for link, place in zip(points.links, points.geometry[:, :3], strict=True):
        X_BF = model.frame(link).X_BF
        found.append((rows[link], X_BF[:3, :3].T @ (place - X_BF[:3, 3])))
    return found


def _rows(model: Model) -> dict[str, int]:
    return {name: row for row, name in enumerate(model.link_names)}


def _box(inertial: Inertial) -> tuple[np.ndarray, np.ndarray]:
    """X_LB and edges: I_x = m (y² + z²) / 12 along the principal axes, solved for x, y, z."""
    moments, axes = np.linalg.eigh(inertial.inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    squares = 6.0 / inertial.mass * (moments.sum() - 2.0 * moments)
    X_LB = inertial.origin.matrix()
    X_LB[:3, :3] = X_LB[:3, :3] @ axes
    return X_LB, np.sqrt(np.maximum(squares, 0.0))
