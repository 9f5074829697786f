# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The rows of a joint: the constraints g(X_out, X_in) between its two bodies, its coordinate, and their derivatives.

With r = conj(q_in * q_J) * q_out, the turn of the joint, and e, the way from the joint's frame on the inner body to the
frame of the outer body, whose z axis is the joint's axis (axes a of the joint's frame are α_a = R_in R_PJ e_a):

    revolute    r_x = r_y = 0, e = 0                    coordinate 2 atan2(r_z, r_w)
    prismatic   r_x = r_y = r_z = 0, α_x·e = α_y·e = 0  coordinate α_z·e
    spherical   e = 0
    planar      r_x = r_y = 0, α_z·e = 0
    floating    nothing

r is bilinear in the quaternions, which makes these rows as simple as rows can be, and they are independent at every
position of the joint: r_x and r_y change with (r_w, r_z) under a small turn, and r_w² + r_z² = 1.
"""

import math

from mbsim_ros.integrators.maximal.quaternion_kernel import product, rotate, rotate_gradient, times_unit
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from mbsim_ros.model.model import ROTATION, TRANSLATION

TWO_TURNS = 4.0 * math.pi


@helper
def constraints_of(kind):
    """Number of constraints of a kind of joint."""
    if kind == FLOATING:
        return 0
    return 5 if kind <= PRISMATIC else 3


@helper
def rows_of(kind):
    """Number of rows: the constraints, and the coordinate where there is one."""
    if kind == FLOATING:
        return 0
    return 6 if kind <= PRISMATIC else 3


@kernel
def joint_rows_into(kind, body, centre, centre_in, turn, X, X_in, near, g, G_out, G_in):
    """Write the constraints to g (6,) and all rows of derivatives to G_out and G_in (6, 7); return the coordinate.

    body (FLOAT_COLUMNS,): of the outer body; centre, centre_in (3,): centres of mass in the body frames; turn (4,):
    q_J; X, X_in (7,): states of the outer and the inner body; near: an angle from which the coordinate is less than a
    turn away. A joint without a single coordinate returns 0.
    """
    if kind == FLOATING:
        return 0.0
    G_out[:, :] = 0.0
    G_in[:, :] = 0.0
    sw, sx, sy, sz = product(X_in[3], X_in[4], X_in[5], X_in[6], turn[0], turn[1], turn[2], turn[3])
    row = 0
    if kind != SPHERICAL:
        for axis in range(1, 4 if kind == PRISMATIC else 3):
            g[row] = turn_row(sw, sx, sy, sz, turn, X, axis, G_out[row], G_in[row])
            row += 1
    # e, the way between the frames
    ax, ay, az = -centre[0], -centre[1], -centre[2]
    p = TRANSLATION
    bx, by, bz = body[p] - centre_in[0], body[p + 1] - centre_in[1], body[p + 2] - centre_in[2]
    ox, oy, oz = rotate(X[3], X[4], X[5], X[6], ax, ay, az)
    ix, iy, iz = rotate(X_in[3], X_in[4], X_in[5], X_in[6], bx, by, bz)
    ex, ey, ez = X[0] + ox - X_in[0] - ix, X[1] + oy - X_in[1] - iy, X[2] + oz - X_in[2] - iz
    if kind in (REVOLUTE, SPHERICAL):
        g[row], g[row + 1], g[row + 2] = ex, ey, ez
        way_row(X, X_in, ax, ay, az, bx, by, bz, 1.0, 0.0, 0.0, G_out[row], G_in[row])
        way_row(X, X_in, ax, ay, az, bx, by, bz, 0.0, 1.0, 0.0, G_out[row + 1], G_in[row + 1])
        way_row(X, X_in, ax, ay, az, bx, by, bz, 0.0, 0.0, 1.0, G_out[row + 2], G_in[row + 2])
        if kind == SPHERICAL:
            return 0.0
        return angle_row(sw, sx, sy, sz, turn, X, near, G_out[5], G_in[5])
    if kind == PLANAR:
        g[row] = component_row(body, 2, X, X_in, ax, ay, az, bx, by, bz, ex, ey, ez, G_out[row], G_in[row])
        return 0.0
    g[row] = component_row(body, 0, X, X_in, ax, ay, az, bx, by, bz, ex, ey, ez, G_out[row], G_in[row])
    row += 1
    g[row] = component_row(body, 1, X, X_in, ax, ay, az, bx, by, bz, ex, ey, ez, G_out[row], G_in[row])
    return component_row(body, 2, X, X_in, ax, ay, az, bx, by, bz, ex, ey, ez, G_out[5], G_in[5])


@helper
def turn_row(sw, sx, sy, sz, turn, X, axis, out, inn):
    """Component `axis` of r and its derivatives: r_a = ⟨s * e_a, q_out⟩ = ⟨q_in, q_out * conj(q_J * e_a)⟩."""
    out[3], out[4], out[5], out[6] = times_unit(sw, sx, sy, sz, axis)
    tw, tx, ty, tz = times_unit(turn[0], turn[1], turn[2], turn[3], axis)
    inn[3], inn[4], inn[5], inn[6] = product(X[3], X[4], X[5], X[6], tw, -tx, -ty, -tz)
    return out[3] * X[3] + out[4] * X[4] + out[5] * X[5] + out[6] * X[6]


@helper
def angle_row(sw, sx, sy, sz, turn, X, near, out, inn):
    """The angle 2 atan2(r_z, r_w), of its values, two turns apart, that nearest to `near`, and its derivatives."""
    w = turn_row(sw, sx, sy, sz, turn, X, 0, out, inn)
    o0, o1, o2, o3, i0, i1, i2, i3 = out[3], out[4], out[5], out[6], inn[3], inn[4], inn[5], inn[6]
    z = turn_row(sw, sx, sy, sz, turn, X, 3, out, inn)
    scale = 2.0 / (w * w + z * z)
    a, b = scale * w, -scale * z
    out[3], out[4], out[5], out[6] = a * out[3] + b * o0, a * out[4] + b * o1, a * out[5] + b * o2, a * out[6] + b * o3
    inn[3], inn[4], inn[5], inn[6] = a * inn[3] + b * i0, a * inn[4] + b * i1, a * inn[5] + b * i2, a * inn[6] + b * i3
    angle = 2.0 * math.atan2(z, w)
    return angle + TWO_TURNS * math.floor((near - angle) / TWO_TURNS + 0.5)


@helper
def way_row(X, X_in, ax, ay, az, bx, by, bz, nx, ny, nz, out, inn):
    """Write the derivatives of n · e for a fixed n."""
    out[0], out[1], out[2] = nx, ny, nz
    out[3], out[4], out[5], out[6] = rotate_gradient(X[3], X[4], X[5], X[6], ax, ay, az, nx, ny, nz)
    inn[0], inn[1], inn[2] = -nx, -ny, -nz
    w, x, y, z = rotate_gradient(X_in[3], X_in[4], X_in[5], X_in[6], bx, by, bz, nx, ny, nz)
    inn[3], inn[4], inn[5], inn[6] = -w, -x, -y, -z


@helper
def component_row(body, axis, X, X_in, ax, ay, az, bx, by, bz, ex, ey, ez, out, inn):
    """α_axis · e and its derivatives; α turns with the inner body."""
    k = ROTATION + axis
    vx, vy, vz = body[k], body[k + 3], body[k + 6]
    nx, ny, nz = rotate(X_in[3], X_in[4], X_in[5], X_in[6], vx, vy, vz)
    way_row(X, X_in, ax, ay, az, bx, by, bz, nx, ny, nz, out, inn)
    w, x, y, z = rotate_gradient(X_in[3], X_in[4], X_in[5], X_in[6], vx, vy, vz, ex, ey, ez)
    inn[3], inn[4], inn[5], inn[6] = inn[3] + w, inn[4] + x, inn[5] + y, inn[6] + z
    return nx * ex + ny * ey + nz * ez
