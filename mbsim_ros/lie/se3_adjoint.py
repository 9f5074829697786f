# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How twists V = (v, w) and wrenches F = (f, tau) change frame, W A.6 and A.7, linear first.

    V_A = Ad(X_AB) V_B         F_A = coAd(X_AB) F_B            coAd(X) = Ad(X)^-T, so F_A . V_A = F_B . V_B
    V_B = Ad_inv(X_AB) V_A     F_B = coAd_inv(X_AB) F_A        coAd_inv(X) = Ad(X)^T
    ad(V) = d/dt Ad(exp(t V)) at t = 0, the bracket; ad_T(V) = ad(V)^T moves momentum: d(mu)/dt = ad_T(V) mu, K (49)

In the notation of Featherstone, V x U = ad(V) U and V x* F = -ad_T(V) F.
"""

from numpy.typing import ArrayLike

from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.lie import _check as check
from mbsim_ros.lie._check import Array

# ---- kernels: out may be the vector that is transformed -------------------------------------------------------------


@helper
def rotate(R, x, y, z):
    """Components of R (x, y, z)."""
    return (
        R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
        R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
        R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
    )


@helper
def rotate_inv(R, x, y, z):
    """Components of R^T (x, y, z)."""
    return (
        R[0, 0] * x + R[1, 0] * y + R[2, 0] * z,
        R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
        R[0, 2] * x + R[1, 2] * y + R[2, 2] * z,
    )


@kernel
def Ad_se3_into(R, p, V, out):
    """Write out = Ad(X) V, a twist from frame B into frame A for X_AB = (R, p)."""
    vx, vy, vz = rotate(R, V[0], V[1], V[2])
    wx, wy, wz = rotate(R, V[3], V[4], V[5])
    ux, uy, uz = cross(p[0], p[1], p[2], wx, wy, wz)
    out[0], out[1], out[2], out[3], out[4], out[5] = vx + ux, vy + uy, vz + uz, wx, wy, wz  # W A.6


@kernel
def Ad_inv_se3_into(R, p, V, out):
    """Write out = Ad(X)^-1 V, a twist from frame A into frame B for X_AB = (R, p)."""
    ux, uy, uz = cross(p[0], p[1], p[2], V[3], V[4], V[5])
    vx, vy, vz = rotate_inv(R, V[0] - ux, V[1] - uy, V[2] - uz)
    wx, wy, wz = rotate_inv(R, V[3], V[4], V[5])
    out[0], out[1], out[2], out[3], out[4], out[5] = vx, vy, vz, wx, wy, wz  # W A.6


@kernel
def coAd_se3_into(R, p, F, out):
    """Write out = Ad(X)^-T F, a wrench from frame B into frame A for X_AB = (R, p)."""
    fx, fy, fz = rotate(R, F[0], F[1], F[2])
    tx, ty, tz = rotate(R, F[3], F[4], F[5])
    ux, uy, uz = cross(p[0], p[1], p[2], fx, fy, fz)
    out[0], out[1], out[2], out[3], out[4], out[5] = fx, fy, fz, tx + ux, ty + uy, tz + uz  # W A.7, its matrix


@kernel
def coAd_inv_se3_into(R, p, F, out):
    """Write out = Ad(X)^T F, a wrench from frame A into frame B for X_AB = (R, p)."""
    ux, uy, uz = cross(p[0], p[1], p[2], F[0], F[1], F[2])
    fx, fy, fz = rotate_inv(R, F[0], F[1], F[2])
    tx, ty, tz = rotate_inv(R, F[3] - ux, F[4] - uy, F[5] - uz)
    out[0], out[1], out[2], out[3], out[4], out[5] = fx, fy, fz, tx, ty, tz


@kernel
def ad_se3_into(V, U, out):
    """Write out = ad(V) U."""
    ax, ay, az = cross(V[3], V[4], V[5], U[0], U[1], U[2])
    bx, by, bz = cross(V[0], V[1], V[2], U[3], U[4], U[5])
    wx, wy, wz = cross(V[3], V[4], V[5], U[3], U[4], U[5])
    out[0], out[1], out[2], out[3], out[4], out[5] = ax + bx, ay + by, az + bz, wx, wy, wz  # K after (47)


@kernel
def ad_T_se3_into(V, F, out):
    """Write out = ad(V)^T F."""
    fx, fy, fz = cross(F[0], F[1], F[2], V[3], V[4], V[5])
    ax, ay, az = cross(F[3], F[4], F[5], V[3], V[4], V[5])
    bx, by, bz = cross(F[0], F[1], F[2], V[0], V[1], V[2])
    out[0], out[1], out[2], out[3], out[4], out[5] = fx, fy, fz, ax + bx, ay + by, az + bz


# ---- Python functions -----------------------------------------------------------------------------------------------


def Ad(X: ArrayLike) -> Array:
    """Adjoint (6, 6) of the pose X_AB: V_A = Ad(X_AB) V_B."""
    return check.columns(Ad_se3_into, 6, *check.pose("X", X))


def Ad_inv(X: ArrayLike) -> Array:
    """Inverse adjoint (6, 6) of the pose X_AB: V_B = Ad_inv(X_AB) V_A."""
    return check.columns(Ad_inv_se3_into, 6, *check.pose("X", X))


def coAd(X: ArrayLike) -> Array:
    """Wrench transform (6, 6) of the pose X_AB: F_A = coAd(X_AB) F_B, the inverse transpose of Ad."""
    return check.columns(coAd_se3_into, 6, *check.pose("X", X))


def coAd_inv(X: ArrayLike) -> Array:
    """Inverse wrench transform (6, 6) of the pose X_AB: F_B = coAd_inv(X_AB) F_A, the transpose of Ad."""
    return check.columns(coAd_inv_se3_into, 6, *check.pose("X", X))


def ad(V: ArrayLike) -> Array:
    """Bracket matrix (6, 6) of the twist V (6,): hat(ad(V) U) = hat(V) hat(U) - hat(U) hat(V)."""
    return check.columns(ad_se3_into, 6, check.array("V", V, (6,)))


def ad_T(V: ArrayLike) -> Array:
    """Transpose (6, 6) of ad(V), for momenta and wrenches."""
    return check.columns(ad_T_se3_into, 6, check.array("V", V, (6,)))
