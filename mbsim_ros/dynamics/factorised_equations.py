# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's factorised equations of motion, (3.21) to (3.33), with matrices as on paper: a check, not for use.

Every formula is written as printed, in plain numpy and full matrices, independently of the recursive kernels. As in W
a body's frame has its origin at the centre of mass, so that (3.15) and (3.16) hold; its axes are the model's, not the
principal ones, which changes nothing but that the rotational inertia is full. What W has not: the rotor inertias,
added to the diagonal of M, and mimic joints, which reduce M and C at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.model import model as layout
from mbsim_ros.model.joint_kinds import FLOATING, KINDS, PLANAR, PRISMATIC, REVOLUTE, JointKind
from mbsim_ros.model.model import Model


def factorised_mass_matrix(model: Model, q: ArrayLike) -> np.ndarray:
    """M (nv, nv) = Hᵀ φᵀ M^b φ H, W (3.32)."""
    s = _stack(model, check.configuration(model, q))
    M = s.H.T @ s.phi.T @ s.M_b @ s.phi @ s.H + s.rotors
    G = np.eye(len(M)) if model.mimic is None else model.mimic.matrix(model.nv)
    return G.T @ M @ G


def factorised_bias(model: Model, q: ArrayLike, v: ArrayLike, gravity: ArrayLike | None = None) -> np.ndarray:
    """C (nv,) = Hᵀ φᵀ (M^b φ a + b), W (3.33): what inverse dynamics gives for no acceleration."""
    s = _stack(model, check.configuration(model, q))
    beta = check.velocity(model, v)
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    V = s.phi @ s.H @ beta  # W (3.25)
    a = _velocity_products(s, V, beta)
    b = _bias_wrenches(s, V, g)
    return model.reduce_forces(s.H.T @ s.phi.T @ (s.M_b @ s.phi @ a + b))


@dataclass(frozen=True)
class Stacked:
    """W's stacked matrices for n bodies: A, φ, M^b (6n, 6n), H (6n, nv); the rotors (nv, nv); R_WB per body."""

    A: np.ndarray
    H: np.ndarray
    phi: np.ndarray
    M_b: np.ndarray
    rotors: np.ndarray
    R_WB: list[np.ndarray]


def _stack(model: Model, q: np.ndarray) -> Stacked:
    n, nv = model.n_bodies, len(model.dof_parent)
    A, M_b = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    H, rotors = np.zeros((6 * n, nv)), np.zeros((nv, nv))
    g_0 = [np.eye(4)]  # poses of the centre-of-mass frames, the world first
    centres = [np.eye(4)]  # of these frames in the bodies' own
    for k in range(n):
        parent, kind, _, iv, _ = model.topology[k]
        centres.append(_translation(model.constants[k, layout.CENTRE : layout.CENTRE + 3]))
        g = np.linalg.inv(centres[parent]) @ _relative_pose(model, k, q) @ centres[-1]
        g_0.append(g_0[parent] @ g)  # W (3.1)
        rows = slice(6 * k, 6 * k + 6)
        if parent > 0:
            A[rows, 6 * (parent - 1) : 6 * parent] = _Ad(np.linalg.inv(g))
        axes = list(_kind(kind).axes)
        H[rows, iv : iv + len(axes)] = _Ad(np.linalg.inv(centres[-1]))[:, axes]  # W (3.8)
        M_b[rows, rows] = _body_inertia(model.constants[k])
        rotors[iv, iv] = model.constants[k, layout.ROTOR]
    phi = np.linalg.inv(np.eye(6 * n) - A)
    return Stacked(A, H, phi, M_b, rotors, [g[:3, :3] for g in g_0[1:]])


def _velocity_products(s: Stacked, V: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Stacked a_k = Ȧ V_{k.i} + Ḣ_k β_k, W (3.11). H_k is constant in its body, and Ȧ = −ad(H_k β_k) A."""
    relative = s.H @ beta
    inboard = s.A @ V
    return np.concatenate([-_ad(relative[k : k + 6]) @ inboard[k : k + 6] for k in range(0, len(V), 6)])


def _bias_wrenches(s: Stacked, V: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """Stacked b_k = −F_k^{be} + Ω_k M_k^b V_k, W (3.18), the external wrench being the weight."""
    b = np.zeros(len(V))
    for k, R in enumerate(s.R_WB):
        rows = slice(6 * k, 6 * k + 6)
        weight = s.M_b[6 * k, 6 * k] * R.T @ gravity
        Omega = np.kron(np.eye(2), _hat(V[6 * k + 3 : 6 * k + 6]))  # W (3.16)
        b[rows] = Omega @ s.M_b[rows, rows] @ V[rows]
        b[6 * k : 6 * k + 3] -= weight
    return b


def _body_inertia(constants: np.ndarray) -> np.ndarray:
    """M_k^b about the centre of mass, W (3.16)."""
    xx, yy, zz, xy, xz, yz = constants[layout.CENTRAL_INERTIA : layout.CENTRAL_INERTIA + 6]
    M = np.zeros((6, 6))
    M[:3, :3] = constants[layout.MASS] * np.eye(3)
    M[3:, 3:] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return M


def _relative_pose(model: Model, k: int, q: np.ndarray) -> np.ndarray:
    """Pose of body k in its parent's frame, W (3.7)."""
    _, kind, iq, _, _ = model.topology[k]
    X_PJ, X_JB = np.eye(4), np.eye(4)
    X_PJ[:3, :3] = model.constants[k, layout.ROTATION : layout.ROTATION + 9].reshape(3, 3)
    X_PJ[:3, 3] = model.constants[k, layout.TRANSLATION : layout.TRANSLATION + 3]
    own = q[iq : iq + _kind(kind).nq]
    if kind == PRISMATIC:
        X_JB[2, 3] = own[0]
    elif kind in (REVOLUTE, PLANAR):
        c, s = np.cos(own[-1]), np.sin(own[-1])
        X_JB[:2, :2] = [[c, -s], [s, c]]
        X_JB[:2, 3] = own[:-1] if kind == PLANAR else 0.0
    else:
        X_JB[:3, :3] = _rotation(own[-4:])
        X_JB[:3, 3] = own[:3] if kind == FLOATING else 0.0
    return X_PJ @ X_JB


def _kind(number: int) -> JointKind:
    return next(kind for kind in KINDS.values() if kind.number == number)


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    """Rotation of a quaternion (x, y, z, w): 1 + 2 (w û + û²) on unit length."""
    u = _hat(quaternion[:3] / np.linalg.norm(quaternion))
    return np.eye(3) + 2.0 * (quaternion[3] / np.linalg.norm(quaternion) * u + u @ u)


def _translation(p: np.ndarray) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = p
    return X


def _hat(w: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _Ad(g: np.ndarray) -> np.ndarray:
    """Adjoint of a pose on twists (v, ω), W A.6."""
    R, p = g[:3, :3], g[:3, 3]
    return np.block([[R, _hat(p) @ R], [np.zeros((3, 3)), R]])


def _ad(V: np.ndarray) -> np.ndarray:
    """Bracket with a twist (v, ω)."""
    v, w = _hat(V[:3]), _hat(V[3:])
    return np.block([[w, v], [np.zeros((3, 3)), w]])
