# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where a joint puts its body: R_PB and p_PB in the parent body's frame, W (3.1)."""

from mbsim_ros.jit import helper
from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC, REVOLUTE
from mbsim_ros.model.model import ROTATION, TRANSLATION

R0, P0 = ROTATION, TRANSLATION


@helper
def place_body(kind, m, q, iq, cosines, sines, w):
    """Write R_PB (row-major) to w[0:9] and p_PB to w[9:12], from the constants m of the joint and its q."""
    if kind == REVOLUTE:
        c, s = cosines[iq], sines[iq]
        w[0], w[1], w[2] = m[R0] * c + m[R0 + 1] * s, m[R0 + 1] * c - m[R0] * s, m[R0 + 2]
        w[3], w[4], w[5] = m[R0 + 3] * c + m[R0 + 4] * s, m[R0 + 4] * c - m[R0 + 3] * s, m[R0 + 5]
        w[6], w[7], w[8] = m[R0 + 6] * c + m[R0 + 7] * s, m[R0 + 7] * c - m[R0 + 6] * s, m[R0 + 8]
        w[9], w[10], w[11] = m[P0], m[P0 + 1], m[P0 + 2]
    elif kind == PRISMATIC:
        d = q[iq]
        for k in range(9):
            w[k] = m[R0 + k]
        w[9], w[10], w[11] = m[P0] + m[R0 + 2] * d, m[P0 + 1] + m[R0 + 5] * d, m[P0 + 2] + m[R0 + 8] * d
    else:
        x = y = z = 0.0
        if kind == PLANAR:
            x, y = q[iq], q[iq + 1]
            c, s = cosines[iq + 2], sines[iq + 2]
            a00, a01, a02, a10, a11, a12, a20, a21, a22 = c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0
        else:
            at = iq
            if kind == FLOATING:
                x, y, z = q[iq], q[iq + 1], q[iq + 2]
                at = iq + 3
            i, j, k, r = q[at], q[at + 1], q[at + 2], q[at + 3]
            # Scaled by the squared length, so that a quaternion that is a rounding error off unity is still a rotation.
            g = 2.0 / (i * i + j * j + k * k + r * r)
            a00, a01, a02 = 1.0 - g * (j * j + k * k), g * (i * j - k * r), g * (i * k + j * r)
            a10, a11, a12 = g * (i * j + k * r), 1.0 - g * (i * i + k * k), g * (j * k - i * r)
            a20, a21, a22 = g * (i * k - j * r), g * (j * k + i * r), 1.0 - g * (i * i + j * j)
        for row in range(3):
            b0, b1, b2 = m[R0 + 3 * row], m[R0 + 3 * row + 1], m[R0 + 3 * row + 2]
            w[3 * row] = b0 * a00 + b1 * a10 + b2 * a20
            w[3 * row + 1] = b0 * a01 + b1 * a11 + b2 * a21
            w[3 * row + 2] = b0 * a02 + b1 * a12 + b2 * a22
            w[9 + row] = m[P0 + row] + b0 * x + b1 * y + b2 * z


@helper
def pass_wrench(w, u, at, fx, fy, fz, tx, ty, tz):
    """Add Xᵀ F of a wrench (f, τ) on the body to u[at…], that of its parent; w[0:12] is X_PB. W (3.17)"""
    r00, r01, r02, r10, r11, r12 = w[0], w[1], w[2], w[3], w[4], w[5]
    r20, r21, r22, px, py, pz = w[6], w[7], w[8], w[9], w[10], w[11]
    x, y, z = r00 * fx + r01 * fy + r02 * fz, r10 * fx + r11 * fy + r12 * fz, r20 * fx + r21 * fy + r22 * fz
    u[at] += x
    u[at + 1] += y
    u[at + 2] += z
    u[at + 3] += r00 * tx + r01 * ty + r02 * tz + py * z - pz * y
    u[at + 4] += r10 * tx + r11 * ty + r12 * tz + pz * x - px * z
    u[at + 5] += r20 * tx + r21 * ty + r22 * tz + px * y - py * x
