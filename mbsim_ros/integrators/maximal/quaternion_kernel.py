# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Quaternions (w, x, y, z) of any length as W uses them in maximal coordinates: products, rotation, derivatives.

Scalars in, scalars out. `rotate` is q v q̄, which scales with |q|²: on the constraint |q| = 1 it is the rotation, and
beside it a polynomial, so that constraints and their derivatives are polynomials, too (W 2.4.1: the extension beyond
the constraint is free).
"""

from mbsim_ros.jit import helper


@helper
def product(aw, ax, ay, az, bw, bx, by, bz):
    """a * b, W A.3."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + bw * ax + ay * bz - az * by,
        aw * by + bw * ay + az * bx - ax * bz,
        aw * bz + bw * az + ax * by - ay * bx,
    )


@helper
def times_unit(w, x, y, z, axis):
    """q * e with e = 1, i, j or k for axis = 0, 1, 2, 3: the gradient by r of component `axis` of q̄ * r."""
    if axis == 0:
        return w, x, y, z
    if axis == 1:
        return -x, w, z, -y
    if axis == 2:
        return -y, -z, w, x
    return -z, y, -x, w


@helper
def rotate(w, x, y, z, vx, vy, vz):
    """q v q̄."""
    straight, along = w * w - x * x - y * y - z * z, 2.0 * (x * vx + y * vy + z * vz)
    return (
        straight * vx + along * x + 2.0 * w * (y * vz - z * vy),
        straight * vy + along * y + 2.0 * w * (z * vx - x * vz),
        straight * vz + along * z + 2.0 * w * (x * vy - y * vx),
    )


@helper
def rotate_gradient(w, x, y, z, vx, vy, vz, nx, ny, nz):
    """Gradient by q of n · (q v q̄), four numbers."""
    cx, cy, cz = ny * vz - nz * vy, nz * vx - nx * vz, nx * vy - ny * vx  # n × v
    nv, nu, uv = nx * vx + ny * vy + nz * vz, nx * x + ny * y + nz * z, x * vx + y * vy + z * vz
    return (
        2.0 * (w * nv - x * cx - y * cy - z * cz),  # (u × v) · n = −u · (n × v)
        2.0 * (nu * vx + uv * nx - nv * x - w * cx),
        2.0 * (nu * vy + uv * ny - nv * y - w * cy),
        2.0 * (nu * vz + uv * nz - nv * z - w * cz),
    )


@helper
def quaternion_force(w, x, y, z, tx, ty, tz):
    """W^b(q)ᵀ τ = 2 q * (0, τ): what a torque τ in body axes is in the space of quaternions. W (5.8), (A.1)"""
    return (
        -2.0 * (x * tx + y * ty + z * tz),
        2.0 * (w * tx + y * tz - z * ty),
        2.0 * (w * ty + z * tx - x * tz),
        2.0 * (w * tz + x * ty - y * tx),
    )


@helper
def body_torque(w, x, y, z, fw, fx, fy, fz):
    """W^b(q) f: 4 |q|² times the torque that `quaternion_force` gave; a part along q drops out."""
    return (
        2.0 * (w * fx - x * fw - y * fz + z * fy),
        2.0 * (w * fy - y * fw - z * fx + x * fz),
        2.0 * (w * fz - z * fw - x * fy + y * fx),
    )
