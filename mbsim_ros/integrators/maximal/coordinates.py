# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From the coordinates of a robot's joints to those of its bodies: W's chart ψ, and momenta."""

from __future__ import annotations

import numpy as np

from mbsim_ros.dynamics.kernels.kinematics_kernel import body_motions_into, world_poses_into
from mbsim_ros.dynamics.layout import P_WB, R_WB, TWIST
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.maximal.arrays import MaximalTree
from mbsim_ros.lie import quaternion
from mbsim_ros.model.joint_kinds import PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, IQ, KIND, MASS, PARENT, ROTATION, Model


def maximal_tree(model: Model) -> MaximalTree:
    """The robot's arrays, with what follows from them."""
    n = model.n_bodies
    centres, turns = np.zeros((n + 1, 3)), np.zeros((n, 4))
    centres[1:] = model.constants[:, CENTRE : CENTRE + 3]
    for i in range(n):
        turns[i] = quaternion.from_matrix(model.constants[i, ROTATION : ROTATION + 9].reshape(3, 3))
    return MaximalTree(model.topology, model.constants, centres, turns)


def bodies_at(model: Model, tree: MaximalTree, q_tree: np.ndarray, workspace: Workspace) -> np.ndarray:
    """X (n + 1, 7) of all bodies at the tree's coordinates q: W's ψ.

    The sign of a quaternion goes from body to body as the joint turns, so that angles of more than a turn come back.
    """
    topology, rows = model.topology, workspace.rows
    world_poses_into(topology, model.constants, q_tree, workspace.sincos, rows)
    X = np.zeros((model.n_bodies + 1, 7))
    X[0, 3] = 1.0
    for i in range(model.n_bodies):
        R = rows[i + 1, R_WB : R_WB + 9].reshape(3, 3)
        X[i + 1, :3] = rows[i + 1, P_WB : P_WB + 3] + R @ tree.centres[i + 1]
        base = quaternion.multiply(X[topology[i, PARENT], 3:], tree.joint_turns[i])
        turned = quaternion.multiply(base, joint_turn(int(topology[i, KIND]), q_tree[topology[i, IQ] :]))
        X[i + 1, 3:] = turned / np.linalg.norm(turned)
    return X


def joint_turn(kind: int, q: np.ndarray) -> np.ndarray:
    """Quaternion (w, x, y, z) by which a joint turns at its coordinates q."""
    if kind == PRISMATIC:
        return np.array([1.0, 0.0, 0.0, 0.0])
    if kind in (REVOLUTE, PLANAR):
        angle = 0.5 * q[0 if kind == REVOLUTE else 2]
        return np.array([np.cos(angle), 0.0, 0.0, np.sin(angle)])
    first = 0 if kind == SPHERICAL else 3
    return quaternion.from_ros(q[first : first + 4])


def body_velocities(model: Model, tree: MaximalTree, v_tree: np.ndarray, workspace: Workspace) -> np.ndarray:
    """Velocity of every centre of mass in world axes and body rate in body axes, (n, 6); after `bodies_at`."""
    body_motions_into(model.topology, v_tree, np.zeros(len(v_tree)), workspace.rows)
    found = np.zeros((model.n_bodies, 6))
    for i in range(model.n_bodies):
        row = workspace.rows[i + 1]
        R, v, w = row[R_WB : R_WB + 9].reshape(3, 3), row[TWIST : TWIST + 3], row[TWIST + 3 : TWIST + 6]
        found[i, :3] = R @ (v + np.cross(w, tree.centres[i + 1]))
        found[i, 3:] = w
    return found


def momenta_at(model: Model, X: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """P (n, 7) of bodies that move with these velocities (n, 6): ∂L/∂Ẋ of W (5.5)."""
    P = np.zeros((model.n_bodies, 7))
    for i in range(model.n_bodies):
        P[i, :3] = model.constants[i, MASS] * velocities[i, :3]
        P[i, 3:] = quaternion.body_velocity_map(X[i + 1, 3:]).T @ (central_inertia(model, i) @ velocities[i, 3:])
    return P


def central_inertia(model: Model, i: int) -> np.ndarray:
    """Inertia (3, 3) of a body about its centre of mass."""
    xx, yy, zz, xy, xz, yz = model.constants[i, CENTRAL_INERTIA : CENTRAL_INERTIA + 6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
