# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Trajectories of messages (trajectory_msgs) as controllers take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory

from mbsim_ros.control.balance.pose_trajectory import PosePoints
from mbsim_ros.control.joints.joint_trajectory import Goal
from mbsim_ros.nodes.stamps import SECOND


def joint_goal(trajectory: JointTrajectory) -> Goal:
    """The goal of a trajectory of joints; a stamp of 0 begins with the next state. ValueError says what is wrong."""
    points, names = trajectory.points, list(trajectory.joint_names)
    return Goal(
        names, times_of(points), rows_of("positions", points, len(names), True),
        rows_of("velocities", points, len(names), False), rows_of("accelerations", points, len(names), False),
        start_of(trajectory),
    )  # fmt: skip


def pose_points(trajectory: MultiDOFJointTrajectory) -> PosePoints:
    """The poses of one body, with velocities and accelerations where points have any; ValueError says what is wrong."""
    if len(trajectory.joint_names) > 1:
        raise ValueError(f"joint_names: expected one body, or none named, got {list(trajectory.joint_names)}")
    points = trajectory.points
    places, turns = [], []
    for k, point in enumerate(points):
        if len(point.transforms) != 1:
            raise ValueError(f"points[{k}].transforms: expected one, of the body, got {len(point.transforms)}")
        p, q = point.transforms[0].translation, point.transforms[0].rotation
        places.append([p.x, p.y, p.z])
        turns.append([q.w, q.x, q.y, q.z])
    return PosePoints(
        times_of(points), np.reshape(places, (-1, 3)), np.reshape(turns, (-1, 4)), _twists("velocities", points),
        _twists("accelerations", points), start_of(trajectory),
    )  # fmt: skip


def times_of(points: Sequence[Any]) -> np.ndarray:
    """time_from_start [s] of each."""
    return np.array([seconds(point.time_from_start) for point in points], dtype=float)


def start_of(trajectory: Any) -> float | None:
    """When it begins [s]; None: with the next state."""
    stamp = trajectory.header.stamp
    return (stamp.sec + stamp.nanosec / SECOND) or None


def rows_of(what: str, points: Sequence[JointTrajectoryPoint], n: int, is_needed: bool) -> Any:
    """The positions (k, n), velocities or accelerations of the points; None where no point has any."""
    rows = [list(getattr(point, what)) for point in points]
    if not is_needed and not any(rows):
        return None
    for k, row in enumerate(rows):
        if len(row) != n:
            raise ValueError(f"points[{k}].{what}: expected {n} numbers, one for each joint, got {len(row)}")
    return np.array(rows, dtype=float).reshape(len(rows), n)


def seconds(duration: Duration) -> float:
    """A duration [s]."""
    return float(duration.sec + duration.nanosec / SECOND)


def _twists(what: str, points: Sequence[Any]) -> np.ndarray:
    """(k, 6), linear first; zeros where points have none."""
    found = np.zeros((len(points), 6))
    for k, (row, point) in enumerate(zip(found, points, strict=True)):
        given = getattr(point, what)
        if len(given) > 1:
            raise ValueError(f"points[{k}].{what}: expected one, of the body, got {len(given)}")
        for twist in given:
            row[:] = [getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"]
    return found
