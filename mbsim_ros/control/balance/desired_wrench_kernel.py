# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the central body should do, W Algorithm 4.4: its acceleration from errors in the world, and the wrench for it.

Position and orientation errors obey ë + K_v ė + K_p e = 0 and (4.26) if the wrench F₁ = P₁ X + z₁ acts on the central
body. X is the derivative of the body velocity at the centre of mass; P₁ and z₁ stand in the central body's row, at its
origin, so X is moved there and the wrench back. (The thesis prints ω × p in X_c; it is ω × ṗ, as (4.12) has it.)
"""

from mbsim_ros.dynamics.layout import (
    ARTICULATED_A as A_,
    ARTICULATED_B as B_,
    ARTICULATED_C as C_,
    ARTICULATED_Z as Z_,
    P_WB,
    R_WB,
    TWIST,
)
from mbsim_ros.jit import cross, helper
from mbsim_ros.model.model import CENTRE

# Columns of the set point: p, ṗ, p̈, quaternion (w x y z), ω, ω̇, all in the world.
POSITION, VELOCITY, PUSH, QUATERNION, TURN, TURN_RATE = 0, 3, 6, 9, 13, 16
SET_POINT_SIZE = 19
# Columns of the gains: K_c^p, K_c^v, K_R^p, K_R^v, diagonals.
KP_C, KV_C, KP_R, KV_R = 0, 3, 6, 9
# Columns of the report: e_c, ė_c, q_e (w x y z), ω_e, X and F₁ at the centre of mass in body axes, F₁ in world axes.
E_C, E_C_RATE, Q_E, W_E, X_B, F_B, F_W = 0, 3, 6, 10, 13, 19, 25
REPORT_SIZE = 31


@helper
def desired_acceleration_into(w, m, q, iq, set_point, gains, out):
    """Write the errors and X to the report; w is the central body's row, m its constants, q[iq+3…] its quaternion."""
    R, P = R_WB, P_WB
    cx, cy, cz = m[CENTRE], m[CENTRE + 1], m[CENTRE + 2]
    vx, vy, vz, wx, wy, wz = w[TWIST], w[TWIST + 1], w[TWIST + 2], w[TWIST + 3], w[TWIST + 4], w[TWIST + 5]
    dx, dy, dz = cross(wx, wy, wz, cx, cy, cz)
    vx, vy, vz = vx + dx, vy + dy, vz + dz  # of the centre of mass
    ax, ay, az = 0.0, 0.0, 0.0
    for k in range(3):
        r0, r1, r2 = w[R + 3 * k], w[R + 3 * k + 1], w[R + 3 * k + 2]
        place = w[P + k] + r0 * cx + r1 * cy + r2 * cz
        error = place - set_point[POSITION + k]
        rate = r0 * vx + r1 * vy + r2 * vz - set_point[VELOCITY + k]
        out[E_C + k], out[E_C_RATE + k] = error, rate
        push = set_point[PUSH + k] - gains[KV_C + k] * rate - gains[KP_C + k] * error  # W (4.14)
        ax += r0 * push
        ay += r1 * push
        az += r2 * push
    dx, dy, dz = cross(wx, wy, wz, vx, vy, vz)
    out[X_B], out[X_B + 1], out[X_B + 2] = ax - dx, ay - dy, az - dz  # W (4.12), in body axes
    # q_e = q₁ * conj(q_d), with a scalar part ≥ 0. W (4.17)
    i, j, k, s = q[iq + 3], q[iq + 4], q[iq + 5], q[iq + 6]
    unit = 1.0 / (i * i + j * j + k * k + s * s) ** 0.5
    i, j, k, s = i * unit, j * unit, k * unit, s * unit
    t, a, b, c = (
        set_point[QUATERNION],
        -set_point[QUATERNION + 1],
        -set_point[QUATERNION + 2],
        -set_point[QUATERNION + 3],
    )
    e0 = s * t - i * a - j * b - k * c
    e1 = s * a + i * t + j * c - k * b
    e2 = s * b - i * c + j * t + k * a
    e3 = s * c + i * b - j * a + k * t
    if e0 < 0.0:
        e0, e1, e2, e3 = -e0, -e1, -e2, -e3
    out[Q_E], out[Q_E + 1], out[Q_E + 2], out[Q_E + 3] = e0, e1, e2, e3
    sx, sy, sz = world_axes(w, wx, wy, wz)
    tx, ty, tz = rotate(e0, e1, e2, e3, set_point[TURN], set_point[TURN + 1], set_point[TURN + 2])
    bx, by, bz = rotate(e0, e1, e2, e3, set_point[TURN_RATE], set_point[TURN_RATE + 1], set_point[TURN_RATE + 2])
    ox, oy, oz = sx - tx, sy - ty, sz - tz  # W (4.20)
    out[W_E], out[W_E + 1], out[W_E + 2] = ox, oy, oz
    dx, dy, dz = cross(sx, sy, sz, tx, ty, tz)
    x = bx + dx - gains[KV_R] * ox - gains[KP_R] * e1  # W (4.24)
    y = by + dy - gains[KV_R + 1] * oy - gains[KP_R + 1] * e2
    z = bz + dz - gains[KV_R + 2] * oz - gains[KP_R + 2] * e3
    out[X_B + 3], out[X_B + 4], out[X_B + 5] = body_axes(w, x, y, z)


@helper
def desired_wrench_into(w, m, out):
    """Write F₁ = P₁ X + z₁ to the report, at the centre of mass, in body axes and in those of the world. W (4.3)"""
    cx, cy, cz = m[CENTRE], m[CENTRE + 1], m[CENTRE + 2]
    ox, oy, oz = out[X_B + 3], out[X_B + 4], out[X_B + 5]
    dx, dy, dz = cross(ox, oy, oz, cx, cy, cz)
    ax, ay, az = out[X_B] - dx, out[X_B + 1] - dy, out[X_B + 2] - dz  # of the body's origin
    fx = w[A_] * ax + w[A_ + 3] * ay + w[A_ + 4] * az + w[B_] * ox + w[B_ + 1] * oy + w[B_ + 2] * oz + w[Z_]
    fy = w[A_ + 3] * ax + w[A_ + 1] * ay + w[A_ + 5] * az + w[B_ + 3] * ox + w[B_ + 4] * oy + w[B_ + 5] * oz + w[Z_ + 1]
    fz = w[A_ + 4] * ax + w[A_ + 5] * ay + w[A_ + 2] * az + w[B_ + 6] * ox + w[B_ + 7] * oy + w[B_ + 8] * oz + w[Z_ + 2]
    tx = w[B_] * ax + w[B_ + 3] * ay + w[B_ + 6] * az + w[C_] * ox + w[C_ + 3] * oy + w[C_ + 4] * oz + w[Z_ + 3]
    ty = w[B_ + 1] * ax + w[B_ + 4] * ay + w[B_ + 7] * az + w[C_ + 3] * ox + w[C_ + 1] * oy + w[C_ + 5] * oz + w[Z_ + 4]
    tz = w[B_ + 2] * ax + w[B_ + 5] * ay + w[B_ + 8] * az + w[C_ + 4] * ox + w[C_ + 5] * oy + w[C_ + 2] * oz + w[Z_ + 5]
    dx, dy, dz = cross(cx, cy, cz, fx, fy, fz)
    tx, ty, tz = tx - dx, ty - dy, tz - dz
    out[F_B], out[F_B + 1], out[F_B + 2], out[F_B + 3], out[F_B + 4], out[F_B + 5] = fx, fy, fz, tx, ty, tz
    out[F_W], out[F_W + 1], out[F_W + 2] = world_axes(w, fx, fy, fz)
    out[F_W + 3], out[F_W + 4], out[F_W + 5] = world_axes(w, tx, ty, tz)


@helper
def rotate(s, i, j, k, x, y, z):
    """Components of the vector (x, y, z) turned by the unit quaternion (s, i, j, k)."""
    ax, ay, az = cross(i, j, k, x, y, z)
    bx, by, bz = cross(i, j, k, ax, ay, az)
    return x + 2.0 * (s * ax + bx), y + 2.0 * (s * ay + by), z + 2.0 * (s * az + bz)


@helper
def world_axes(w, x, y, z):
    """A vector of the body in row w, in the axes of the world."""
    r = R_WB
    return (
        w[r] * x + w[r + 1] * y + w[r + 2] * z,
        w[r + 3] * x + w[r + 4] * y + w[r + 5] * z,
        w[r + 6] * x + w[r + 7] * y + w[r + 8] * z,
    )


@helper
def body_axes(w, x, y, z):
    """A vector of the world in the axes of the body in row w."""
    r = R_WB
    return (
        w[r] * x + w[r + 3] * y + w[r + 6] * z,
        w[r + 1] * x + w[r + 4] * y + w[r + 7] * z,
        w[r + 2] * x + w[r + 5] * y + w[r + 8] * z,
    )
