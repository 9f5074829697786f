# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Equations of motion of limbs in quasicoordinates, N (1)–(20), and of the robot that they make, N (36)–(40).

Each limb is written in the absolute angular velocities ω of its bodies in their own axes and the velocity of its base.
ω = C^R Ω gives them from the relative ones, N (10), Ω = D α' those from the rates of angles, N (13); for the base α' is
its angular velocity itself, so that no Euler angles are needed and the misprint in ξ (ERRATA C2) has no place. Joined,

    [ω_G] = C₀ᴿ D₀ D₁ D₂ D₃ α'                                                                           N (40)

All limbs are computed at once, filled up to equal length. It is not of linear time, as N says; it is here to be
compared with, and to see what C^R and D do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.integrators.quasicoordinates.limbs import Limbs, tilde
from mbsim_ros.lie import quaternion

I3 = np.eye(3)


def quasicoordinate_dynamics(
    limbs: Limbs,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    D3: np.ndarray | None = None,
    gravity: ArrayLike | None = None,
) -> np.ndarray:
    """Accelerations a (nv,) of the model under forces tau at q (nq,), v (nv,), as `dynamics.forward_dynamics` has them.

    D3 (nv, k): v = D3 u, a coupling of N (48); v has to obey it, tau (k,) acts on its columns, and the accelerations of
    the model's dofs are D3 u'.
    """
    model = limbs.model
    q, v = check.configuration(model, q), check.velocity(model, v)
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    D = np.eye(model.nv) if D3 is None else np.asarray(D3, dtype=float)
    load = check.finite("tau", check.vector("tau", tau, D.shape[1]))
    M, h = equations(limbs, q, v, g)
    try:
        a = D @ np.linalg.solve(D.T @ M @ D, D.T @ h + load)
    except np.linalg.LinAlgError:
        raise ValueError("quasicoordinate_dynamics: the mass matrix is singular here") from None
    return check.finite_result("quasicoordinate_dynamics", a, q=q, v=v, tau=load)


def equations(limbs: Limbs, q: np.ndarray, v: np.ndarray, gravity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M (nv, nv) and h (nv,) with M a = h + tau, in the model's velocities."""
    floats = limbs.model.is_floating
    R = quaternion.to_matrix(quaternion.from_ros(q[3:7])) if floats else I3
    M_limbs, h_limbs = limb_equations(limbs, q, v, R, gravity)
    D12 = limbs.places
    M = (D12.transpose(0, 2, 1) @ M_limbs @ D12).sum(axis=0)  # of all limbs as one, N (36)
    h = (D12.transpose(0, 2, 1) @ h_limbs[..., None])[..., 0].sum(axis=0)
    back = limbs.angle_rates.copy()  # from N's angles to the joints
    if floats:
        back[:3, :3] = R  # R₁' is in the world's axes, v in the base's: R₁'' = R (v' + ω × v)
    M, h = back.T @ M @ back, back.T @ h
    if floats:
        h -= M[:, :3] @ (tilde(v[3:6]) @ v[:3])
    M[np.diag_indices(len(M))] += limbs.rotors
    return M, h


def limb_equations(
    limbs: Limbs, q: np.ndarray, v: np.ndarray, R: np.ndarray, gravity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """M (L, 6 + n − 1, …) and h of every limb by itself, for (R₁'', ω₁', α''), N (18)–(20)."""
    L, n = limbs.bodies.shape
    rates = limbs.places @ (limbs.angle_rates @ v)  # of N's angles
    C_N = _orientations(limbs, q, R)
    C_R = _relative_to_absolute(limbs, C_N)
    to_omega = C_R @ limbs.relative  # N (17)
    Omega = rates[:, 3:] @ limbs.relative.T  # N (13)
    omega = C_R @ Omega[..., None]  # N (10), columns
    w = omega.reshape(L, n, 3, 1)
    w_tilde = tilde(w[..., 0])
    Phi, Phi_rate = _global_velocity(limbs, C_N, w_tilde)
    xi = (w_tilde @ Omega.reshape(L, n, 3, 1)).reshape(L, 3 * n, 1)  # N (20); D does not change here
    absolute = C_R @ xi
    Gamma = Phi_rate @ omega + Phi @ absolute - np.tile(gravity, n)[:, None]  # N (20), Φ̇ and Φ (ERRATA C1)
    mass = np.repeat(limbs.masses, 3, axis=1)[..., None]  # N (3)
    A = np.concatenate([np.broadcast_to(np.tile(I3, (n, 1)), (L, 3 * n, 3)), Phi @ to_omega], axis=2)
    W = np.concatenate([np.zeros((L, 3 * n, 3)), to_omega], axis=2)
    inertia_W = (limbs.inertias @ W.reshape(L, n, 3, -1)).reshape(W.shape)  # I*, N (9)
    A_T, W_T = A.transpose(0, 2, 1), W.transpose(0, 2, 1)
    moments = w_tilde @ (limbs.inertias @ w) + limbs.inertias @ absolute.reshape(L, n, 3, 1)  # N (19), ERRATA C3
    M = A_T @ (mass * A) + W_T @ inertia_W
    h = -(A_T @ (mass * Gamma) + W_T @ moments.reshape(L, 3 * n, 1))
    return M, h[..., 0]


def _orientations(limbs: Limbs, q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """C_Ni (L, n, 3, 3) of each body."""
    base = 1 if limbs.model.is_floating else 0  # coordinates that the base has more than dofs
    angles = np.where(limbs.dofs >= 0, q[limbs.dofs + base], 0.0)
    turned = np.zeros((*angles.shape, 3, 3))
    turned[..., 0, 0] = turned[..., 1, 1] = np.cos(angles)
    turned[..., 1, 0] = np.sin(angles)
    turned[..., 0, 1] = -turned[..., 1, 0]
    turned[..., 2, 2] = 1.0
    steps = limbs.turns @ turned
    C_N = np.empty_like(steps)
    C_N[:, 0] = R
    for k in range(1, limbs.longest):
        C_N[:, k] = C_N[:, k - 1] @ steps[:, k]
    return C_N


def _relative_to_absolute(limbs: Limbs, C_N: np.ndarray) -> np.ndarray:
    """C^R (L, 3n, 3n), N (11), with columns emptied where cables pass, N (29)."""
    L, n = limbs.bodies.shape
    blocks = limbs.filled * (C_N.swapaxes(-1, -2)[:, :, None] @ C_N[:, None])  # C_ij = C_Niᵀ C_Nj
    return blocks.transpose(0, 1, 3, 2, 4).reshape(L, 3 * n, 3 * n)


def _global_velocity(limbs: Limbs, C_N: np.ndarray, w_tilde: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Φ (L, 3n, 3n) of N (7), and its time derivative by N (8)."""
    L, n = limbs.bodies.shape
    shape = (L, 3 * n, 3 * n)
    Phi = (C_N[:, None] @ limbs.arms).transpose(0, 1, 3, 2, 4).reshape(shape)
    return Phi, ((C_N @ w_tilde)[:, None] @ limbs.arms).transpose(0, 1, 3, 2, 4).reshape(shape)
