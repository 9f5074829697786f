# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Unit quaternions (w, x, y, z), scalar first, in the algebra of W A.3. ROS messages are (x, y, z, w): see from_ros.

q and -q are the same rotation. Functions that choose a sign choose w >= 0, and at exactly half a turn (w = 0) the one
whose first non-zero component is positive. q_WB turns body vectors into world vectors, as R_WB does.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.jit import helper, kernel
from mbsim_ros.lie import _check as check
from mbsim_ros.lie._check import Array

# ---- kernels: out may be one of the inputs --------------------------------------------------------------------------


@kernel
def multiply_quaternion_into(a, b, out):
    """Write the product out = a * b; matrices multiply in the same order."""
    aw, ax, ay, az = a[0], a[1], a[2], a[3]
    bw, bx, by, bz = b[0], b[1], b[2], b[3]
    out[0] = aw * bw - (ax * bx + ay * by + az * bz)  # W A.3: c_s
    out[1] = aw * bx + bw * ax + (ay * bz - az * by)  # W A.3: c_v
    out[2] = aw * by + bw * ay + (az * bx - ax * bz)
    out[3] = aw * bz + bw * az + (ax * by - ay * bx)


@kernel
def matrix_from_quaternion_into(q, R):
    """Write the rotation matrix of q into R; a q whose length has drifted still gives a rotation."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    k = 2.0 / (w * w + x * x + y * y + z * z)  # 2 for a unit q, as W A.3 has it
    R[0, 0] = 1.0 - k * (y * y + z * z)
    R[0, 1] = k * (x * y - w * z)
    R[0, 2] = k * (x * z + w * y)
    R[1, 0] = k * (x * y + w * z)
    R[1, 1] = 1.0 - k * (x * x + z * z)
    R[1, 2] = k * (y * z - w * x)
    R[2, 0] = k * (x * z - w * y)
    R[2, 1] = k * (y * z + w * x)
    R[2, 2] = 1.0 - k * (x * x + y * y)


@helper
def quaternion_scalars(R):
    """(w, x, y, z) of R with the sign rule of this file; the length is 4 times the largest component of the unit one.

    Going by the largest component (Shepperd 1978) keeps the small ones accurate: near half a turn that is w, which
    the trace would give as a difference of nearly equal numbers.
    """
    xx, xy, xz = R[0, 0], R[0, 1], R[0, 2]
    yx, yy, yz = R[1, 0], R[1, 1], R[1, 2]
    zx, zy, zz = R[2, 0], R[2, 1], R[2, 2]
    trace = xx + yy + zz
    if trace >= xx and trace >= yy and trace >= zz:
        w, x, y, z = 1.0 + trace, zy - yz, xz - zx, yx - xy
    elif xx >= yy and xx >= zz:
        w, x, y, z = zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx
    elif yy >= zz:
        w, x, y, z = xz - zx, xy + yx, 1.0 - xx + yy - zz, yz + zy
    else:
        w, x, y, z = yx - xy, xz + zx, yz + zy, 1.0 - xx - yy + zz
    if w < 0.0 or (w == 0.0 and (x < 0.0 or (x == 0.0 and (y < 0.0 or (y == 0.0 and z < 0.0))))):
        return -w, -x, -y, -z
    return w, x, y, z


@kernel
def quaternion_from_matrix_into(R, q):
    """Write the unit quaternion of the rotation matrix R into q."""
    w, x, y, z = quaternion_scalars(R)
    k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    q[0], q[1], q[2], q[3] = k * w, k * x, k * y, k * z


@kernel
def integrate_quaternion_into(q, w, h, q_next):
    """Write q_next = q * exp(h w), of length one: the exact motion under a constant body rate w."""
    tx, ty, tz = h * w[0], h * w[1], h * w[2]
    theta = math.sqrt(tx * tx + ty * ty + tz * tz)
    k = 0.5
    if theta > 0.0:  # sin(x)/x has no cancellation, so only zero needs care
        k = math.sin(0.5 * theta) / theta
    ew, ex, ey, ez = math.cos(0.5 * theta), k * tx, k * ty, k * tz
    qw, qx, qy, qz = q[0], q[1], q[2], q[3]
    nw = qw * ew - (qx * ex + qy * ey + qz * ez)
    nx = qw * ex + ew * qx + (qy * ez - qz * ey)
    ny = qw * ey + ew * qy + (qz * ex - qx * ez)
    nz = qw * ez + ew * qz + (qx * ey - qy * ex)
    k = 1.0 / math.sqrt(nw * nw + nx * nx + ny * ny + nz * nz)
    q_next[0], q_next[1], q_next[2], q_next[3] = k * nw, k * nx, k * ny, k * nz


# ---- Python functions -----------------------------------------------------------------------------------------------


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Quaternion product a * b (4,), of any lengths."""
    out = np.empty(4)
    multiply_quaternion_into(check.array("a", a, (4,)), check.array("b", b, (4,)), out)
    return out


def conjugate(q: ArrayLike) -> Array:
    """Quaternion (w, -x, -y, -z), shape (4,): the inverse of a unit quaternion."""
    return check.array("q", q, (4,)) * (1.0, -1.0, -1.0, -1.0)


def normalise(q: ArrayLike) -> Array:
    """Quaternion q / |q|, shape (4,); a zero q is refused."""
    q = check.array("q", q, (4,))
    length = float(np.linalg.norm(q))
    if length == 0.0:
        raise ValueError("q: expected a quaternion that is not zero, got [0, 0, 0, 0]")
    return q / length


def to_matrix(q: ArrayLike) -> Array:
    """Rotation matrix (3, 3) of the unit quaternion q (4,)."""
    R = np.empty((3, 3))
    matrix_from_quaternion_into(check.unit_quaternion("q", q), R)
    return R


def from_matrix(R: ArrayLike) -> Array:
    """Unit quaternion (4,) with w >= 0 of the rotation matrix R (3, 3)."""
    q = np.empty(4)
    quaternion_from_matrix_into(check.rotation("R", R), q)
    return q


def exp(w: ArrayLike) -> Array:
    """Unit quaternion (4,) of the rotation vector w (3,): (cos(|w|/2), sin(|w|/2) w/|w|)."""
    return integrate((1.0, 0.0, 0.0, 0.0), w, 1.0)


def log(q: ArrayLike) -> Array:
    """Rotation vector w (3,) of the unit quaternion q (4,), with |w| <= pi; q and -q give the same w."""
    q = check.unit_quaternion("q", q)
    if tuple(q) < (0.0, 0.0, 0.0, 0.0):  # the first non-zero component is negative
        q = -q
    n = float(np.linalg.norm(q[1:]))
    return q[1:] * (2.0 * math.atan2(n, q[0]) / n if n > 0.0 else 2.0)


def integrate(q: ArrayLike, w: ArrayLike, h: float) -> Array:
    """Unit quaternion (4,) after turning q for the time h at the constant body rate w (3,)."""
    q_next = np.empty(4)
    integrate_quaternion_into(check.unit_quaternion("q", q), check.array("w", w, (3,)), check.number("h", h), q_next)
    return q_next


def left_multiplication(q: ArrayLike) -> Array:
    """Matrix W_L(q) (4, 4) with q * r = W_L(q) r, W A.3."""
    w, x, y, z = check.array("q", q, (4,))
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def right_multiplication(q: ArrayLike) -> Array:
    """Matrix W_R(q) (4, 4) with r * q = W_R(q) r, W A.3."""
    w, x, y, z = check.array("q", q, (4,))
    return np.array([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])


def body_velocity_map(q: ArrayLike) -> Array:
    """Matrix W^b(q) (3, 4) with w_body = W^b(q) dq/dt, W (A.1)."""
    return 2.0 * left_multiplication(conjugate(q))[1:]


def spatial_velocity_map(q: ArrayLike) -> Array:
    """Matrix W^s(q) (3, 4) with w_world = W^s(q) dq/dt, W (A.2)."""
    return 2.0 * right_multiplication(conjugate(q))[1:]


def body_rate_map(q: ArrayLike) -> Array:
    """Matrix B^b(q) (4, 3) with dq/dt = B^b(q) w_body, W (A.4)."""
    return 0.5 * left_multiplication(q)[:, 1:]


def spatial_rate_map(q: ArrayLike) -> Array:
    """Matrix B^s(q) (4, 3) with dq/dt = B^s(q) w_world, W (A.5)."""
    return 0.5 * right_multiplication(q)[:, 1:]


def from_ros(q_xyzw: ArrayLike) -> Array:
    """Quaternion (w, x, y, z) from the (x, y, z, w) of ROS messages and of q vectors."""
    return np.roll(check.array("q_xyzw", q_xyzw, (4,)), 1)


def to_ros(q: ArrayLike) -> Array:
    """Quaternion (x, y, z, w) for ROS messages and q vectors from (w, x, y, z)."""
    return np.roll(check.array("q", q, (4,)), -1)
