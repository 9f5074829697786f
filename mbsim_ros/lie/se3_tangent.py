# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Tangents of exp and cay on SE(3), right-trivialised as in K (50), twists linear first.

    d/dt tau(x) = hat(dtau(x) dx/dt) tau(x)            dexp, dcay
    d/dt tau(x) = tau(x) hat(dtau_left(x) dx/dt)       dexp_left, dcay_left; dtau_left(x) = dtau(-x)

The kernels ending in _T apply the transpose to a momentum or wrench; K (64) needs dcay_inv_T at h xi and at -h xi.
Unlike on SO(3), the transpose is not the tangent at -x.

Every power series in ad(x) on SE(3) is the same series in hat(w) on SO(3) over dual numbers, w + eps v: the angular row
is the SO(3) formula and the linear row adds its derivative by w in the direction v. Hence the slopes b', c', d'.
"""

from numpy.typing import ArrayLike

from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.lie import _check as check
from mbsim_ros.lie._check import Array
from mbsim_ros.lie._coefficients import dexp_inv_coefficients, exp_coefficients, exp_slopes

# ---- kernels: out may be y or mu ------------------------------------------------------------------------------------


@helper
def dual_series(xi, sign, ax, ay, az, ux, uy, uz, b, c, b_slope, c_slope):
    """Linear and angular part of (1 + b ad + c ad^2)(a, u) with ad = ad(sign xi), b and c being functions of |w|."""
    vx, vy, vz = sign * xi[0], sign * xi[1], sign * xi[2]
    wx, wy, wz = sign * xi[3], sign * xi[4], sign * xi[5]
    wv = wx * vx + wy * vy + wz * vz
    rx, ry, rz = cross(wx, wy, wz, ux, uy, uz)  # w x u
    sx, sy, sz = cross(wx, wy, wz, rx, ry, rz)  # w x (w x u)
    mx, my, mz = cross(vx, vy, vz, ux, uy, uz)  # d(w x u) = v x u + w x a
    nx, ny, nz = cross(wx, wy, wz, ax, ay, az)
    mx, my, mz = mx + nx, my + ny, mz + nz
    gx, gy, gz = cross(vx, vy, vz, rx, ry, rz)  # d(w x (w x u)) = v x (w x u) + w x d(w x u)
    kx, ky, kz = cross(wx, wy, wz, mx, my, mz)
    bs, cs = b_slope * wv, c_slope * wv
    return (
        ax + b * mx + c * (gx + kx) + bs * rx + cs * sx,
        ay + b * my + c * (gy + ky) + bs * ry + cs * sy,
        az + b * mz + c * (gz + kz) + bs * rz + cs * sz,
        ux + b * rx + c * sx,
        uy + b * ry + c * sy,
        uz + b * rz + c * sz,
    )


@kernel
def dexp_se3_into(xi, y, out):
    """Write out = dexp(xi) y, K (52a)."""
    theta2 = xi[3] * xi[3] + xi[4] * xi[4] + xi[5] * xi[5]
    a, b, c = exp_coefficients(theta2)
    b_slope, c_slope = exp_slopes(theta2, a, b, c)
    out[0], out[1], out[2], out[3], out[4], out[5] = dual_series(
        xi, 1.0, y[0], y[1], y[2], y[3], y[4], y[5], b, c, b_slope, c_slope
    )


@kernel
def dexp_T_se3_into(xi, mu, out):
    """Write out = dexp(xi)^T mu; swapping the halves of mu turns ad(xi)^T into ad(-xi)."""
    theta2 = xi[3] * xi[3] + xi[4] * xi[4] + xi[5] * xi[5]
    a, b, c = exp_coefficients(theta2)
    b_slope, c_slope = exp_slopes(theta2, a, b, c)
    out[3], out[4], out[5], out[0], out[1], out[2] = dual_series(
        xi, -1.0, mu[3], mu[4], mu[5], mu[0], mu[1], mu[2], b, c, b_slope, c_slope
    )


@kernel
def dexp_inv_se3_into(xi, y, out):
    """Write out = dexp(xi)^-1 y, K (52b); singular at |w| = 2 pi."""
    d, d_slope = dexp_inv_coefficients(xi[3] * xi[3] + xi[4] * xi[4] + xi[5] * xi[5])
    out[0], out[1], out[2], out[3], out[4], out[5] = dual_series(
        xi, 1.0, y[0], y[1], y[2], y[3], y[4], y[5], -0.5, d, 0.0, d_slope
    )


@kernel
def dexp_inv_T_se3_into(xi, mu, out):
    """Write out = dexp(xi)^-T mu; singular at |w| = 2 pi."""
    d, d_slope = dexp_inv_coefficients(xi[3] * xi[3] + xi[4] * xi[4] + xi[5] * xi[5])
    out[3], out[4], out[5], out[0], out[1], out[2] = dual_series(
        xi, -1.0, mu[3], mu[4], mu[5], mu[0], mu[1], mu[2], -0.5, d, 0.0, d_slope
    )


@kernel
def dcay_se3_into(xi, y, out):
    """Write out = dcay(xi) y, the inverse of K (55)."""
    vx, vy, vz, wx, wy, wz = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    ax, ay, az, ux, uy, uz = y[0], y[1], y[2], y[3], y[4], y[5]
    k = 1.0 / (4.0 + wx * wx + wy * wy + wz * wz)
    wa = wx * ax + wy * ay + wz * az
    rx, ry, rz = cross(wx, wy, wz, ux, uy, uz)
    bx, by, bz = k * (4.0 * ux + 2.0 * rx), k * (4.0 * uy + 2.0 * ry), k * (4.0 * uz + 2.0 * rz)
    nx, ny, nz = cross(wx, wy, wz, ax, ay, az)
    mx, my, mz = cross(vx, vy, vz, bx, by, bz)
    # (I - hat(w)/2)^-1 a + v x b / 2, with the inverse from K (54), corrected
    out[0] = k * (4.0 * ax + 2.0 * nx + wx * wa) + 0.5 * mx
    out[1] = k * (4.0 * ay + 2.0 * ny + wy * wa) + 0.5 * my
    out[2] = k * (4.0 * az + 2.0 * nz + wz * wa) + 0.5 * mz
    out[3], out[4], out[5] = bx, by, bz


@kernel
def dcay_T_se3_into(xi, mu, out):
    """Write out = dcay(xi)^T mu."""
    vx, vy, vz, wx, wy, wz = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    fx, fy, fz = mu[0], mu[1], mu[2]
    k = 1.0 / (4.0 + wx * wx + wy * wy + wz * wz)
    wf = wx * fx + wy * fy + wz * fz
    mx, my, mz = cross(vx, vy, vz, fx, fy, fz)
    tx, ty, tz = mu[3] - 0.5 * mx, mu[4] - 0.5 * my, mu[5] - 0.5 * mz
    nx, ny, nz = cross(wx, wy, wz, fx, fy, fz)
    rx, ry, rz = cross(wx, wy, wz, tx, ty, tz)
    out[0] = k * (4.0 * fx - 2.0 * nx + wx * wf)
    out[1] = k * (4.0 * fy - 2.0 * ny + wy * wf)
    out[2] = k * (4.0 * fz - 2.0 * nz + wz * wf)
    out[3], out[4], out[5] = k * (4.0 * tx - 2.0 * rx), k * (4.0 * ty - 2.0 * ry), k * (4.0 * tz - 2.0 * rz)


@kernel
def dcay_inv_se3_into(xi, y, out):
    """Write out = dcay(xi)^-1 y, K (55)."""
    vx, vy, vz, wx, wy, wz = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    ux, uy, uz = y[3], y[4], y[5]
    k = 0.25 * (wx * ux + wy * uy + wz * uz)
    mx, my, mz = cross(vx, vy, vz, ux, uy, uz)
    ax, ay, az = y[0] - 0.5 * mx, y[1] - 0.5 * my, y[2] - 0.5 * mz
    nx, ny, nz = cross(wx, wy, wz, ax, ay, az)
    rx, ry, rz = cross(wx, wy, wz, ux, uy, uz)
    out[0], out[1], out[2] = ax - 0.5 * nx, ay - 0.5 * ny, az - 0.5 * nz
    out[3], out[4], out[5] = ux - 0.5 * rx + k * wx, uy - 0.5 * ry + k * wy, uz - 0.5 * rz + k * wz


@kernel
def dcay_inv_T_se3_into(xi, mu, out):
    """Write out = dcay(xi)^-T mu, the momentum map of K (64)."""
    vx, vy, vz, wx, wy, wz = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    tx, ty, tz = mu[3], mu[4], mu[5]
    k = 0.25 * (wx * tx + wy * ty + wz * tz)
    nx, ny, nz = cross(wx, wy, wz, mu[0], mu[1], mu[2])
    fx, fy, fz = mu[0] + 0.5 * nx, mu[1] + 0.5 * ny, mu[2] + 0.5 * nz
    mx, my, mz = cross(vx, vy, vz, fx, fy, fz)
    rx, ry, rz = cross(wx, wy, wz, tx, ty, tz)
    out[0], out[1], out[2] = fx, fy, fz
    out[3] = tx + 0.5 * (rx + mx) + k * wx
    out[4] = ty + 0.5 * (ry + my) + k * wy
    out[5] = tz + 0.5 * (rz + mz) + k * wz


# ---- Python functions -----------------------------------------------------------------------------------------------


def dexp(xi: ArrayLike) -> Array:
    """Right-trivialised tangent (6, 6) of exp at xi (6,): d/dt exp(xi) = hat(dexp(xi) dxi/dt) exp(xi)."""
    return check.columns(dexp_se3_into, 6, check.array("xi", xi, (6,)))


def dexp_inv(xi: ArrayLike) -> Array:
    """Inverse (6, 6) of dexp(xi); it has none at |w| = 2 pi."""
    return check.columns(dexp_inv_se3_into, 6, check.array("xi", xi, (6,)))


def dexp_left(xi: ArrayLike) -> Array:
    """Left-trivialised tangent (6, 6) of exp at xi (6,): d/dt exp(xi) = exp(xi) hat(dexp_left(xi) dxi/dt)."""
    return dexp(-check.array("xi", xi, (6,)))


def dexp_left_inv(xi: ArrayLike) -> Array:
    """Inverse (6, 6) of dexp_left(xi); it has none at |w| = 2 pi."""
    return dexp_inv(-check.array("xi", xi, (6,)))


def dcay(xi: ArrayLike) -> Array:
    """Right-trivialised tangent (6, 6) of cay at xi (6,): d/dt cay(xi) = hat(dcay(xi) dxi/dt) cay(xi)."""
    return check.columns(dcay_se3_into, 6, check.array("xi", xi, (6,)))


def dcay_inv(xi: ArrayLike) -> Array:
    """Inverse (6, 6) of dcay(xi), K (55)."""
    return check.columns(dcay_inv_se3_into, 6, check.array("xi", xi, (6,)))


def dcay_left(xi: ArrayLike) -> Array:
    """Left-trivialised tangent (6, 6) of cay at xi (6,): d/dt cay(xi) = cay(xi) hat(dcay_left(xi) dxi/dt)."""
    return dcay(-check.array("xi", xi, (6,)))


def dcay_left_inv(xi: ArrayLike) -> Array:
    """Inverse (6, 6) of dcay_left(xi)."""
    return dcay_inv(-check.array("xi", xi, (6,)))
