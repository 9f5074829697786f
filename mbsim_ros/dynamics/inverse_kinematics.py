# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Inverse kinematics: joint positions that bring a link to a place, by damped least squares within the limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.jacobian import frame_jacobian
from mbsim_ros.dynamics.kinematics import link_pose
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.lie import so3
from mbsim_ros.model.model import Model

ITERATIONS = 200
DAMPING = 1e-2  # m or rad per unit: keeps steps short near singular poses; it shrinks with the error
LONGEST = 0.3  # rad or m that a joint moves in an iteration
CLOSE = 1e-9  # m and rad


class Unreachable(ValueError):
    """A place that the link does not reach; `q` is the nearest that was found, `error` [m] how far off."""

    q: np.ndarray
    error: float


def inverse_kinematics(
    model: Model, q: ArrayLike, link: str, position: ArrayLike | None = None, rotation: ArrayLike | None = None, *,
    tolerance: float = 1e-6,
    workspace: Workspace | None = None,
) -> np.ndarray:  # fmt: skip
    """q (nq,) near q with the origin of a link at position (3,) and its axes as rotation (3, 3), both in the world.

    Either may be None: then it is free. The base stays where it is; joints of one dof move within their limits.
    Raises Unreachable where the error stays above tolerance [m, rad].
    """
    check.configuration(model, q)
    q = np.array(q, dtype=float)
    if position is None and rotation is None:
        raise ValueError("inverse_kinematics: give a position, a rotation, or both")
    goal = None if position is None else check.finite("position", check.vector("position", position, 3))
    R_goal = None if rotation is None else np.asarray(rotation, dtype=float)
    if R_goal is not None and not (R_goal.shape == (3, 3) and np.abs(R_goal @ R_goal.T - np.eye(3)).max() <= 1e-6):
        raise ValueError("rotation: expected an orthogonal matrix (3, 3)")
    ws = workspace_of(model, workspace)
    joints = [joint for joint in model.joints if joint.nv == 1 and joint.iv >= 0]
    at_q, at_v = np.array([j.iq for j in joints], dtype=int), np.array([j.iv for j in joints], dtype=int)
    lower, upper = model.lower[at_v], model.upper[at_v]
    error = _error(model, q, link, goal, R_goal, ws)
    for _ in range(ITERATIONS):
        size = float(np.linalg.norm(error))
        if size < CLOSE or not len(joints):
            break
        J = frame_jacobian(model, q, link, "local_world_aligned", workspace=ws)[:, at_v]
        rows = ([*range(3)] if goal is not None else []) + ([*range(3, 6)] if R_goal is not None else [])
        J = J[rows]
        blocked = ((q[at_q] <= lower) & (J.T @ error < 0.0)) | ((q[at_q] >= upper) & (J.T @ error > 0.0))
        J[:, blocked] = 0.0
        damping = min(DAMPING, size) ** 2
        step = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(rows)), error)
        step *= min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))
        q[at_q] = np.clip(q[at_q] + step, lower, upper)
        error = _error(model, q, link, goal, R_goal, ws)
    size = float(np.linalg.norm(error))
    if size > tolerance:
        found = Unreachable(f"'{link}' does not get nearer than {size:.3g} m (rad) to where it is to be")
        found.q, found.error = q, size
        raise found
    return q


def _error(
    model: Model, q: np.ndarray, link: str, goal: np.ndarray | None, R_goal: np.ndarray | None, ws: Workspace
) -> np.ndarray:
    """What is left: the way, and the rotation vector to the goal, in world axes."""
    X_WL = link_pose(model, q, link, workspace=ws)
    parts = []
    if goal is not None:
        parts.append(goal - X_WL[:3, 3])
    if R_goal is not None:
        parts.append(so3.log(R_goal @ X_WL[:3, :3].T))
    return np.concatenate(parts)
