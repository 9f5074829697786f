# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Rotations: SO(3) as (3, 3) matrices, its algebra as rotation vectors w (3,).

Tangents are right-trivialised, as in K (50): for x(t) in R^3 and tau = exp or cay,

    d/dt tau(x) = hat(dtau(x) dx/dt) tau(x)            dexp, dcay: the spatial velocity
    d/dt tau(x) = tau(x) hat(dtau_left(x) dx/dt)       dexp_left, dcay_left: the body velocity

and dtau_left(x) = dtau(-x), which on SO(3) is also the transpose of dtau(x). A kernel that needs the left tangent or
a transpose calls the right one with -w.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.lie import _check as check
from mbsim_ros.lie._check import Array
from mbsim_ros.lie._coefficients import dexp_inv_coefficients, exp_coefficients
from mbsim_ros.lie.quaternion import quaternion_scalars

# ---- kernels: out may be one of the inputs --------------------------------------------------------------------------


@helper
def rodrigues_into(x, y, z, a, b, R):
    """Write R = I + a hat(w) + b hat(w)^2 with w = (x, y, z)."""
    R[0, 0] = 1.0 - b * (y * y + z * z)
    R[0, 1] = b * x * y - a * z
    R[0, 2] = b * x * z + a * y
    R[1, 0] = b * x * y + a * z
    R[1, 1] = 1.0 - b * (x * x + z * z)
    R[1, 2] = b * y * z - a * x
    R[2, 0] = b * x * z - a * y
    R[2, 1] = b * y * z + a * x
    R[2, 2] = 1.0 - b * (x * x + y * y)


@kernel
def exp_so3_into(w, R):
    """Write the rotation by the rotation vector w into R."""
    x, y, z = w[0], w[1], w[2]
    a, b, _ = exp_coefficients(x * x + y * y + z * z)
    rodrigues_into(x, y, z, a, b, R)


@kernel
def log_so3_into(R, w):
    """Write the rotation vector of R, |w| <= pi, into w."""
    s, x, y, z = quaternion_scalars(R)
    n = math.sqrt(x * x + y * y + z * z)
    # atan2 is accurate at both ends, where acos of the trace is not
    k = 2.0 * math.atan2(n, s) / n if n > 0.0 else 2.0 / s
    w[0], w[1], w[2] = k * x, k * y, k * z


@kernel
def cay_so3_into(w, R):
    """Write cay(w) = (I - hat(w)/2)^-1 (I + hat(w)/2), a turn by 2 atan(|w|/2) about w, into R."""
    x, y, z = w[0], w[1], w[2]
    a = 4.0 / (4.0 + x * x + y * y + z * z)
    rodrigues_into(x, y, z, a, 0.5 * a, R)  # K (54)


@kernel
def cay_inv_so3_into(R, w):
    """Write the w with cay(w) = R into w; infinite or nan for half a turn."""
    s, x, y, z = quaternion_scalars(R)
    k = 2.0 / s
    w[0], w[1], w[2] = k * x, k * y, k * z


@kernel
def half_cay_so3_into(w, half):
    """Write the half with cay(half)^2 = cay(w); note that it is not w/2."""
    x, y, z = w[0], w[1], w[2]
    k = 1.0 / (1.0 + math.sqrt(1.0 + 0.25 * (x * x + y * y + z * z)))
    half[0], half[1], half[2] = k * x, k * y, k * z


@kernel
def dexp_so3_into(w, y, out):
    """Write out = dexp(w) y."""
    wx, wy, wz = w[0], w[1], w[2]
    _, b, c = exp_coefficients(wx * wx + wy * wy + wz * wz)
    ux, uy, uz = cross(wx, wy, wz, y[0], y[1], y[2])
    sx, sy, sz = cross(wx, wy, wz, ux, uy, uz)
    # K (52a) summed with hat(w)^3 = -|w|^2 hat(w)
    out[0], out[1], out[2] = y[0] + b * ux + c * sx, y[1] + b * uy + c * sy, y[2] + b * uz + c * sz


@kernel
def dexp_inv_so3_into(w, y, out):
    """Write out = dexp(w)^-1 y; singular at |w| = 2 pi."""
    wx, wy, wz = w[0], w[1], w[2]
    d, _ = dexp_inv_coefficients(wx * wx + wy * wy + wz * wz)
    ux, uy, uz = cross(wx, wy, wz, y[0], y[1], y[2])
    sx, sy, sz = cross(wx, wy, wz, ux, uy, uz)
    # K (52b) summed likewise
    out[0], out[1], out[2] = y[0] - 0.5 * ux + d * sx, y[1] - 0.5 * uy + d * sy, y[2] - 0.5 * uz + d * sz


@kernel
def dcay_so3_into(w, y, out):
    """Write out = dcay(w) y."""
    wx, wy, wz = w[0], w[1], w[2]
    k = 4.0 / (4.0 + wx * wx + wy * wy + wz * wz)
    ux, uy, uz = cross(wx, wy, wz, y[0], y[1], y[2])
    # inverse of the angular block of K (55)
    out[0], out[1], out[2] = k * (y[0] + 0.5 * ux), k * (y[1] + 0.5 * uy), k * (y[2] + 0.5 * uz)


@kernel
def dcay_inv_so3_into(w, y, out):
    """Write out = dcay(w)^-1 y."""
    wx, wy, wz = w[0], w[1], w[2]
    k = 0.25 * (wx * y[0] + wy * y[1] + wz * y[2])
    ux, uy, uz = cross(wx, wy, wz, y[0], y[1], y[2])
    # K (55), angular block
    out[0], out[1], out[2] = y[0] - 0.5 * ux + k * wx, y[1] - 0.5 * uy + k * wy, y[2] - 0.5 * uz + k * wz


# ---- Python functions -----------------------------------------------------------------------------------------------


def hat(w: ArrayLike) -> Array:
    """Skew matrix (3, 3) of w (3,), with hat(w) b = w x b."""
    x, y, z = check.array("w", w, (3,))
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def vee(W: ArrayLike) -> Array:
    """Vector w (3,) of the skew matrix W (3, 3): the inverse of hat."""
    W = check.skew("W", W)
    return np.array([W[2, 1], W[0, 2], W[1, 0]])


def exp(w: ArrayLike) -> Array:
    """Rotation matrix (3, 3) that turns by |w| about w (3,)."""
    R = np.empty((3, 3))
    exp_so3_into(check.array("w", w, (3,)), R)
    return R


def log(R: ArrayLike) -> Array:
    """Rotation vector w (3,) of R (3, 3), |w| <= pi; at exactly pi its first non-zero component is positive."""
    w = np.empty(3)
    log_so3_into(check.rotation("R", R), w)
    return w


def cay(w: ArrayLike) -> Array:
    """Cayley map: rotation matrix (3, 3) that turns by 2 atan(|w|/2) about w (3,); exp up to third order."""
    R = np.empty((3, 3))
    cay_so3_into(check.array("w", w, (3,)), R)
    return R


def cay_inv(R: ArrayLike) -> Array:
    """Vector w (3,) with cay(w) = R (3, 3); an exact half turn has none and is refused."""
    w = np.empty(3)
    cay_inv_so3_into(check.rotation("R", R), w)
    return check.regular("R", w, "expected a turn of less than pi, got exactly pi, which no Cayley vector reaches")


def half_cay(w: ArrayLike) -> Array:
    """Vector (3,) of the half step: cay(half_cay(w))^2 = cay(w)."""
    half = np.empty(3)
    half_cay_so3_into(check.array("w", w, (3,)), half)
    return half


def dexp(w: ArrayLike) -> Array:
    """Right-trivialised tangent (3, 3) of exp at w (3,): d/dt exp(w) = hat(dexp(w) dw/dt) exp(w)."""
    return check.columns(dexp_so3_into, 3, check.array("w", w, (3,)))


def dexp_inv(w: ArrayLike) -> Array:
    """Inverse (3, 3) of dexp(w); it has none at |w| = 2 pi."""
    return check.columns(dexp_inv_so3_into, 3, check.array("w", w, (3,)))


def dexp_left(w: ArrayLike) -> Array:
    """Left-trivialised tangent (3, 3) of exp at w (3,): d/dt exp(w) = exp(w) hat(dexp_left(w) dw/dt)."""
    return dexp(-check.array("w", w, (3,)))


def dexp_left_inv(w: ArrayLike) -> Array:
    """Inverse (3, 3) of dexp_left(w); it has none at |w| = 2 pi."""
    return dexp_inv(-check.array("w", w, (3,)))


def dcay(w: ArrayLike) -> Array:
    """Right-trivialised tangent (3, 3) of cay at w (3,): d/dt cay(w) = hat(dcay(w) dw/dt) cay(w)."""
    return check.columns(dcay_so3_into, 3, check.array("w", w, (3,)))


def dcay_inv(w: ArrayLike) -> Array:
    """Inverse (3, 3) of dcay(w)."""
    return check.columns(dcay_inv_so3_into, 3, check.array("w", w, (3,)))


def dcay_left(w: ArrayLike) -> Array:
    """Left-trivialised tangent (3, 3) of cay at w (3,): d/dt cay(w) = cay(w) hat(dcay_left(w) dw/dt)."""
    return dcay(-check.array("w", w, (3,)))


def dcay_left_inv(w: ArrayLike) -> Array:
    """Inverse (3, 3) of dcay_left(w)."""
    return dcay_inv(-check.array("w", w, (3,)))
