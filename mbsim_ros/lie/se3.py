# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Poses: SE(3), with twists (v, w) and wrenches (f, tau) linear first, as W, ROS and Pinocchio have them. K is not.

A pose X_AB is a (4, 4) matrix [[R_AB, p_AB], [0, 1]]; functions also accept the pair (R, p), kernels take R and p.
A body twist moves a pose by dX/dt = X hat(V), K (43). Adjoints stand in se3_adjoint, tangents of exp and cay in
se3_tangent; both are reachable from here, as se3.Ad or se3.dcay_inv.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.jit import cross, kernel
from mbsim_ros.lie import _check as check
from mbsim_ros.lie._check import Array
from mbsim_ros.lie._coefficients import dexp_inv_coefficients, exp_coefficients
from mbsim_ros.lie.se3_adjoint import (
    Ad,
    Ad_inv,
    Ad_inv_se3_into,
    Ad_se3_into,
    ad,
    ad_se3_into,
    ad_T,
    ad_T_se3_into,
    coAd,
    coAd_inv,
    coAd_inv_se3_into,
    coAd_se3_into,
)
from mbsim_ros.lie.se3_tangent import (
    dcay,
    dcay_inv,
    dcay_inv_se3_into,
    dcay_inv_T_se3_into,
    dcay_left,
    dcay_left_inv,
    dcay_se3_into,
    dcay_T_se3_into,
    dexp,
    dexp_inv,
    dexp_inv_se3_into,
    dexp_inv_T_se3_into,
    dexp_left,
    dexp_left_inv,
    dexp_se3_into,
    dexp_T_se3_into,
)
from mbsim_ros.lie.so3 import cay_inv_so3_into, hat as hat_so3, log_so3_into, rodrigues_into, vee as vee_so3

__all__ = [
    "Ad", "Ad_inv", "Ad_inv_se3_into", "Ad_se3_into", "ad", "ad_T", "ad_T_se3_into", "ad_se3_into", "cay", "cay_inv",
    "cay_inv_se3_into", "cay_se3_into", "coAd", "coAd_inv", "coAd_inv_se3_into", "coAd_se3_into", "compose",
    "compose_se3_into", "dcay", "dcay_T_se3_into", "dcay_inv", "dcay_inv_T_se3_into", "dcay_inv_se3_into", "dcay_left",
    "dcay_left_inv", "dcay_se3_into", "dexp", "dexp_T_se3_into", "dexp_inv", "dexp_inv_T_se3_into", "dexp_inv_se3_into",
    "dexp_left", "dexp_left_inv", "dexp_se3_into", "exp", "exp_se3_into", "half_cay", "half_cay_se3_into", "hat",
    "inverse", "inverse_se3_into", "log", "log_se3_into", "pose", "vee",
]  # fmt: skip

# ---- kernels: p, xi and half may be an input; R may not -------------------------------------------------------------


@kernel
def compose_se3_into(R_AB, p_AB, R_BC, p_BC, R_AC, p_AC):
    """Write X_AC = X_AB X_BC; R_AC must be an array of its own."""
    x, y, z = p_BC[0], p_BC[1], p_BC[2]
    for i in range(3):
        p_AC[i] = R_AB[i, 0] * x + R_AB[i, 1] * y + R_AB[i, 2] * z + p_AB[i]
        for j in range(3):
            R_AC[i, j] = R_AB[i, 0] * R_BC[0, j] + R_AB[i, 1] * R_BC[1, j] + R_AB[i, 2] * R_BC[2, j]


@kernel
def inverse_se3_into(R_AB, p_AB, R_BA, p_BA):
    """Write X_BA = X_AB^-1; R_BA must be an array of its own."""
    x, y, z = p_AB[0], p_AB[1], p_AB[2]
    for i in range(3):
        p_BA[i] = -(R_AB[0, i] * x + R_AB[1, i] * y + R_AB[2, i] * z)
        for j in range(3):
            R_BA[i, j] = R_AB[j, i]


@kernel
def exp_se3_into(xi, R, p):
    """Write exp(xi), the pose reached in unit time with the constant body twist xi, into R and p."""
    vx, vy, vz, wx, wy, wz = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    a, b, c = exp_coefficients(wx * wx + wy * wy + wz * wz)
    ux, uy, uz = cross(wx, wy, wz, vx, vy, vz)
    sx, sy, sz = cross(wx, wy, wz, ux, uy, uz)
    rodrigues_into(wx, wy, wz, a, b, R)
    p[0], p[1], p[2] = vx + b * ux + c * sx, vy + b * uy + c * sy, vz + b * uz + c * sz  # p = dexp_so3(w) v


@kernel
def log_se3_into(R, p, xi):
    """Write the twist with exp(xi) = (R, p), |w| <= pi, into xi."""
    px, py, pz = p[0], p[1], p[2]
    log_so3_into(R, xi[3:6])
    wx, wy, wz = xi[3], xi[4], xi[5]
    d, _ = dexp_inv_coefficients(wx * wx + wy * wy + wz * wz)
    ux, uy, uz = cross(wx, wy, wz, px, py, pz)
    sx, sy, sz = cross(wx, wy, wz, ux, uy, uz)
    xi[0], xi[1], xi[2] = px - 0.5 * ux + d * sx, py - 0.5 * uy + d * sy, pz - 0.5 * uz + d * sz


@kernel
def cay_se3_into(xi, R, p):
    """Write cay(xi) = (I - hat(xi)/2)^-1 (I + hat(xi)/2) into R and p."""
    vx, vy, vz, wx, wy, wz = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    k = 1.0 / (4.0 + wx * wx + wy * wy + wz * wz)
    wv = wx * vx + wy * vy + wz * vz
    ux, uy, uz = cross(wx, wy, wz, vx, vy, vz)
    rodrigues_into(wx, wy, wz, 4.0 * k, 2.0 * k, R)  # K (54)
    p[0] = k * (4.0 * vx + 2.0 * ux + wx * wv)  # K (54), corrected: (4 I + 2 hat(w) + w w^T) v / (4 + |w|^2)
    p[1] = k * (4.0 * vy + 2.0 * uy + wy * wv)
    p[2] = k * (4.0 * vz + 2.0 * uz + wz * wv)


@kernel
def cay_inv_se3_into(R, p, xi):
    """Write the twist with cay(xi) = (R, p) into xi; infinite or nan for half a turn."""
    px, py, pz = p[0], p[1], p[2]
    cay_inv_so3_into(R, xi[3:6])
    ux, uy, uz = cross(xi[3], xi[4], xi[5], px, py, pz)
    xi[0], xi[1], xi[2] = px - 0.5 * ux, py - 0.5 * uy, pz - 0.5 * uz  # from (I - hat(xi)/2) X = I + hat(xi)/2


@kernel
def half_cay_se3_into(xi, half):
    """Write the twist with cay(half)^2 = cay(xi), the pose at the middle of a Cayley step; note that it is not xi/2.

    With x = 2 y / (1 + y^2) for x = hat(xi)/2, y = hat(half)/2: v along w is halved, the rest scales by k as w does.
    """
    vx, vy, vz, wx, wy, wz = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    k = 1.0 / (1.0 + math.sqrt(1.0 + 0.25 * (wx * wx + wy * wy + wz * wz)))
    m = 0.125 * k * k * (wx * vx + wy * vy + wz * vz)  # 1/2 - k = k^2 |w|^2 / 8, so no division by |w|
    half[0], half[1], half[2] = k * vx + m * wx, k * vy + m * wy, k * vz + m * wz
    half[3], half[4], half[5] = k * wx, k * wy, k * wz


# ---- Python functions -----------------------------------------------------------------------------------------------


def pose(R: ArrayLike, p: ArrayLike) -> Array:
    """Pose (4, 4) from the rotation R (3, 3) and the position p (3,)."""
    X = np.eye(4)
    X[:3, :3] = check.rotation("R", R)
    X[:3, 3] = check.array("p", p, (3,))
    return X


def hat(xi: ArrayLike) -> Array:
    """Matrix (4, 4) [[hat(w), v], [0, 0]] of the twist xi = (v, w) (6,)."""
    xi = check.array("xi", xi, (6,))
    M = np.zeros((4, 4))
    M[:3, :3] = hat_so3(xi[3:])
    M[:3, 3] = xi[:3]
    return M


def vee(M: ArrayLike) -> Array:
    """Twist (v, w) (6,) of a matrix M (4, 4): the inverse of hat."""
    M = check.array("M", M, (4, 4))
    if M[3].any():
        raise ValueError(f"M: expected the last row of a twist matrix to be zero, got {M[3].tolist()}")
    return np.concatenate([M[:3, 3], vee_so3(check.skew("M", M[:3, :3]))])


def compose(X_AB: ArrayLike, X_BC: ArrayLike) -> Array:
    """Pose X_AC (4, 4) = X_AB X_BC."""
    compose_se3_into(*check.pose("X_AB", X_AB), *check.pose("X_BC", X_BC), *(parts := _empty_parts()))
    return _joined(*parts)


def inverse(X_AB: ArrayLike) -> Array:
    """Pose X_BA (4, 4) = X_AB^-1."""
    inverse_se3_into(*check.pose("X_AB", X_AB), *(parts := _empty_parts()))
    return _joined(*parts)


def exp(xi: ArrayLike) -> Array:
    """Pose (4, 4) reached in unit time from the identity with the constant body twist xi (6,)."""
    exp_se3_into(check.array("xi", xi, (6,)), *(parts := _empty_parts()))
    return _joined(*parts)


def log(X: ArrayLike) -> Array:
    """Twist xi (6,) with exp(xi) = X and an angle of at most pi; at exactly pi the sign is that of so3.log."""
    xi = np.empty(6)
    log_se3_into(*check.pose("X", X), xi)
    return xi


def cay(xi: ArrayLike) -> Array:
    """Cayley map: pose (4, 4) from the twist xi (6,), equal to exp(xi) up to third order, K (54) corrected."""
    cay_se3_into(check.array("xi", xi, (6,)), *(parts := _empty_parts()))
    return _joined(*parts)


def cay_inv(X: ArrayLike) -> Array:
    """Twist xi (6,) with cay(xi) = X; an exact half turn has none and is refused."""
    xi = np.empty(6)
    cay_inv_se3_into(*check.pose("X", X), xi)
    return check.regular("X", xi, "expected a turn of less than pi, got exactly pi, which no Cayley twist reaches")


def half_cay(xi: ArrayLike) -> Array:
    """Twist (6,) of the half step: cay(half_cay(xi))^2 = cay(xi)."""
    half = np.empty(6)
    half_cay_se3_into(check.array("xi", xi, (6,)), half)
    return half


def _empty_parts() -> tuple[Array, Array]:
    return np.empty((3, 3)), np.empty(3)


def _joined(R: Array, p: Array) -> Array:
    X = np.eye(4)
    X[:3, :3] = R
    X[:3, 3] = p
    return X
