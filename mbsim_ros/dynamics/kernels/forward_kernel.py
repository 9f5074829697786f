# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Forward dynamics by articulated bodies, W Algorithm 3.3, in linear time.

Outward: angular velocities and the accelerations c that remain when nothing is accelerated. Inward: each joint's
freedom is eliminated from its body's articulated inertia, what is left goes to the parent. Outward again: the
accelerations. As in inverse_kernel, linear accelerations are those of points, so linear velocities are not needed.
A joint of several dofs is eliminated one dof after the other, which is Gaussian elimination and needs no inverse.
"""

from mbsim_ros.dynamics.articulated import (
    add_moved,
    rotate_general,
    rotate_planar_symmetric,
    rotate_symmetric,
    rotate_two_columns,
)
from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs, joint_twist
from mbsim_ros.dynamics.layout import (
    ARTICULATED_A as A_,
    ARTICULATED_B as B_,
    ARTICULATED_C as C_,
    ARTICULATED_Z as Z_,
    DOF_EFFORT as T_,
    DOF_INVERSE as D_,
    DOF_U as U_,
    FORWARD_ACCELERATION as Q_,
    FORWARD_BIAS as K_,
    FORWARD_OMEGA as W_,
)
from mbsim_ros.dynamics.placement import pass_wrench, place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import INERTIA, IQ, IV, KIND, MASS, MOMENT, PARENT, ROTOR

OK = -1
PIVOT = 1e-14  # of the body's articulated inertia: what is left of a dof that carries nothing is rounding


@kernel
def forward_dynamics_into(topology, constants, q, v, tau, gravity, wrenches, sincos, rows, dofs, a):
    """Write the accelerations a (nv,); returns -1, or the dof that carries no inertia and cannot be accelerated.

    wrenches (bodies, 6) act on the bodies in their frames, or have no rows.
    """
    n = topology.shape[0]
    world = rows[0]
    world[W_] = world[W_ + 1] = world[W_ + 2] = 0.0
    cosines_and_sines(q, sincos[0], sincos[1])
    for i in range(n):
        start_body(topology, constants, i, q, v, sincos, rows)
        if wrenches.shape[0] == n:
            for k in range(6):
                rows[i + 1, Z_ + k] -= wrenches[i, k]
    for i in range(n - 1, -1, -1):
        if topology[i, KIND] == REVOLUTE and constants[i, ROTOR] == 0.0:
            singular = eliminate_revolute(topology, i, tau, rows, dofs)
        else:
            singular = eliminate_any(topology, constants, i, tau, rows, dofs)
        if singular:
            return topology[i, IV]
    for k in range(3):
        world[Q_ + k] = -gravity[k]
        world[Q_ + 3 + k] = 0.0
    for i in range(n):
        accelerate(topology, i, rows, dofs, a)
    return OK


@helper
def start_body(topology, constants, i, q, v, sincos, rows):
    """Placement, angular velocity, remaining acceleration c, the body's own inertia and bias wrench."""
    kind, iv = topology[i, KIND], topology[i, IV]
    m, w, u = constants[i], rows[i + 1], rows[topology[i, PARENT]]
    place_body(kind, m, q, topology[i, IQ], sincos[0], sincos[1], w)
    r00, r01, r02, r10, r11, r12 = w[0], w[1], w[2], w[3], w[4], w[5]
    r20, r21, r22, px, py, pz = w[6], w[7], w[8], w[9], w[10], w[11]
    x, y, z = u[W_], u[W_ + 1], u[W_ + 2]
    wx, wy, wz = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z, r02 * x + r12 * y + r22 * z
    # ω × (ω × p) = ω (ω·p) − p (ω·ω), in the parent
    along, square = x * px + y * py + z * pz, x * x + y * y + z * z
    x, y, z = x * along - px * square, y * along - py * square, z * along - pz * square
    cx, cy, cz = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z, r02 * x + r12 * y + r22 * z
    if kind == REVOLUTE:
        rate = v[iv]
        w[K_ + 3], w[K_ + 4], w[K_ + 5] = wy * rate, -wx * rate, 0.0
        wz += rate
    else:
        jx, jy, jz, kx, ky, kz = joint_twist(kind, v, iv)
        ex, ey, ez = 2.0 * wx + kx, 2.0 * wy + ky, 2.0 * wz + kz
        cx += ey * jz - ez * jy
        cy += ez * jx - ex * jz
        cz += ex * jy - ey * jx
        w[K_ + 3], w[K_ + 4], w[K_ + 5] = wy * kz - wz * ky, wz * kx - wx * kz, wx * ky - wy * kx
        wx += kx
        wy += ky
        wz += kz
    w[K_], w[K_ + 1], w[K_ + 2] = cx, cy, cz
    w[W_], w[W_ + 1], w[W_ + 2] = wx, wy, wz
    mass, hx, hy, hz = m[MASS], m[MOMENT], m[MOMENT + 1], m[MOMENT + 2]
    ixx, iyy, izz = m[INERTIA], m[INERTIA + 1], m[INERTIA + 2]
    ixy, ixz, iyz = m[INERTIA + 3], m[INERTIA + 4], m[INERTIA + 5]
    w[A_], w[A_ + 1], w[A_ + 2], w[A_ + 3], w[A_ + 4], w[A_ + 5] = mass, mass, mass, 0.0, 0.0, 0.0
    w[B_], w[B_ + 1], w[B_ + 2] = 0.0, hz, -hy
    w[B_ + 3], w[B_ + 4], w[B_ + 5] = -hz, 0.0, hx
    w[B_ + 6], w[B_ + 7], w[B_ + 8] = hy, -hx, 0.0
    w[C_], w[C_ + 1], w[C_ + 2], w[C_ + 3], w[C_ + 4], w[C_ + 5] = ixx, iyy, izz, ixy, ixz, iyz
    # z = (ω × (ω × h), ω × I ω), W (3.18) with point accelerations
    along, square = wx * hx + wy * hy + wz * hz, wx * wx + wy * wy + wz * wz
    x, y, z = ixx * wx + ixy * wy + ixz * wz, ixy * wx + iyy * wy + iyz * wz, ixz * wx + iyz * wy + izz * wz
    w[Z_], w[Z_ + 1], w[Z_ + 2] = wx * along - hx * square, wy * along - hy * square, wz * along - hz * square
    w[Z_ + 3], w[Z_ + 4], w[Z_ + 5] = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x


@helper
def eliminate_revolute(topology, i, tau, rows, dofs):
    """W (3.45)–(3.48), a turning joint without rotor: the z columns of B and C become zero. True if singular."""
    w, d, iv = rows[i + 1], dofs[topology[i, IV]], topology[i, IV]
    ux, uy, uz, ox, oy, oz = w[B_ + 2], w[B_ + 5], w[B_ + 8], w[C_ + 4], w[C_ + 5], w[C_ + 2]
    if not oz > PIVOT * (w[C_] + w[C_ + 1] + w[C_ + 2]):
        return True
    inverse = 1.0 / oz
    left = tau[iv] - w[Z_ + 5]
    d[U_], d[U_ + 1], d[U_ + 2], d[U_ + 3], d[U_ + 4], d[U_ + 5] = ux, uy, uz, ox, oy, oz
    d[D_], d[T_] = inverse, left
    if topology[i, PARENT] == 0:
        return False
    gx, gy, gz, hx, hy = ux * inverse, uy * inverse, uz * inverse, ox * inverse, oy * inverse
    axx, ayy, azz = w[A_] - ux * gx, w[A_ + 1] - uy * gy, w[A_ + 2] - uz * gz
    axy, axz, ayz = w[A_ + 3] - ux * gy, w[A_ + 4] - ux * gz, w[A_ + 5] - uy * gz
    b00, b01 = w[B_] - ux * hx, w[B_ + 1] - ux * hy
    b10, b11 = w[B_ + 3] - uy * hx, w[B_ + 4] - uy * hy
    b20, b21 = w[B_ + 6] - uz * hx, w[B_ + 7] - uz * hy
    cxx, cyy, cxy = w[C_] - ox * hx, w[C_ + 1] - oy * hy, w[C_ + 3] - ox * hy
    # z + I c + U u / D
    x, y, z, kx, ky = w[K_], w[K_ + 1], w[K_ + 2], w[K_ + 3], w[K_ + 4]
    fx = w[Z_] + axx * x + axy * y + axz * z + b00 * kx + b01 * ky + gx * left
    fy = w[Z_ + 1] + axy * x + ayy * y + ayz * z + b10 * kx + b11 * ky + gy * left
    fz = w[Z_ + 2] + axz * x + ayz * y + azz * z + b20 * kx + b21 * ky + gz * left
    tx = w[Z_ + 3] + b00 * x + b10 * y + b20 * z + cxx * kx + cxy * ky + hx * left
    ty = w[Z_ + 4] + b01 * x + b11 * y + b21 * z + cxy * kx + cyy * ky + hy * left
    u = rows[topology[i, PARENT]]
    pass_wrench(w, u, Z_, fx, fy, fz, tx, ty, tau[iv])
    A = rotate_symmetric(w, axx, ayy, azz, axy, axz, ayz)
    B = rotate_two_columns(w, b00, b01, b10, b11, b20, b21)
    C = rotate_planar_symmetric(w, cxx, cyy, cxy)
    add_moved(u, w[9], w[10], w[11], A, B, C)
    return False


@helper
def eliminate_any(topology, constants, i, tau, rows, dofs):
    """W (3.45)–(3.48) for any joint, dof by dof, in a square copy of the inertia. True if singular."""
    w, s, kind = rows[i + 1], rows[0], topology[i, KIND]
    spread(w, s)
    mass, moments = w[A_] + w[A_ + 1] + w[A_ + 2], w[C_] + w[C_ + 1] + w[C_ + 2]
    for k in range(joint_dofs(kind)):
        d, axis = dofs[topology[i, IV] + k], joint_axis(kind, k)
        total = s[6 * axis + axis] + constants[i, ROTOR]
        if not total > PIVOT * (mass if axis < 3 else moments):
            return True
        inverse = 1.0 / total
        left = tau[topology[i, IV] + k] - w[Z_ + axis]
        for r in range(6):
            d[U_ + r] = s[6 * r + axis]
        d[D_], d[T_] = inverse, left
        for r in range(6):
            scaled = d[U_ + r] * inverse
            w[Z_ + r] += scaled * left
            for c in range(6):
                s[6 * r + c] -= scaled * d[U_ + c]
    if topology[i, PARENT] == 0:
        return False
    for r in range(6):
        for c in range(6):
            w[Z_ + r] += s[6 * r + c] * w[K_ + c]
    u = rows[topology[i, PARENT]]
    pass_wrench(w, u, Z_, w[Z_], w[Z_ + 1], w[Z_ + 2], w[Z_ + 3], w[Z_ + 4], w[Z_ + 5])
    A = rotate_symmetric(w, s[0], s[7], s[14], s[1], s[2], s[8])
    B = rotate_general(w, s[3], s[4], s[5], s[9], s[10], s[11], s[15], s[16], s[17])
    C = rotate_symmetric(w, s[21], s[28], s[35], s[22], s[23], s[29])
    add_moved(u, w[9], w[10], w[11], A, B, C)
    return False


@helper
def spread(w, s):
    """Write the articulated inertia of row w to s[0:36], row by row."""
    s[0], s[7], s[14] = w[A_], w[A_ + 1], w[A_ + 2]
    s[1] = s[6] = w[A_ + 3]
    s[2] = s[12] = w[A_ + 4]
    s[8] = s[13] = w[A_ + 5]
    for r in range(3):
        for c in range(3):
            s[6 * r + 3 + c] = s[6 * (3 + c) + r] = w[B_ + 3 * r + c]
    s[21], s[28], s[35] = w[C_], w[C_ + 1], w[C_ + 2]
    s[22] = s[27] = w[C_ + 3]
    s[23] = s[33] = w[C_ + 4]
    s[29] = s[34] = w[C_ + 5]


@helper
def accelerate(topology, i, rows, dofs, a):
    """W (3.59), (3.60): the joint's accelerations, then the body's."""
    kind, iv = topology[i, KIND], topology[i, IV]
    w, u = rows[i + 1], rows[topology[i, PARENT]]
    r00, r01, r02, r10, r11, r12 = w[0], w[1], w[2], w[3], w[4], w[5]
    r20, r21, r22, px, py, pz = w[6], w[7], w[8], w[9], w[10], w[11]
    ox, oy, oz = u[Q_ + 3], u[Q_ + 4], u[Q_ + 5]
    x, y, z = u[Q_] + oy * pz - oz * py, u[Q_ + 1] + oz * px - ox * pz, u[Q_ + 2] + ox * py - oy * px
    ax = r00 * x + r10 * y + r20 * z + w[K_]
    ay = r01 * x + r11 * y + r21 * z + w[K_ + 1]
    az = r02 * x + r12 * y + r22 * z + w[K_ + 2]
    bx = r00 * ox + r10 * oy + r20 * oz + w[K_ + 3]
    by = r01 * ox + r11 * oy + r21 * oz + w[K_ + 4]
    bz = r02 * ox + r12 * oy + r22 * oz + w[K_ + 5]
    if kind == REVOLUTE:
        d = dofs[iv]
        along = d[U_] * ax + d[U_ + 1] * ay + d[U_ + 2] * az + d[U_ + 3] * bx + d[U_ + 4] * by + d[U_ + 5] * bz
        acceleration = (d[T_] - along) * d[D_]
        a[iv] = acceleration
        bz += acceleration
        w[Q_], w[Q_ + 1], w[Q_ + 2], w[Q_ + 3], w[Q_ + 4], w[Q_ + 5] = ax, ay, az, bx, by, bz
        return
    w[Q_], w[Q_ + 1], w[Q_ + 2], w[Q_ + 3], w[Q_ + 4], w[Q_ + 5] = ax, ay, az, bx, by, bz
    for k in range(joint_dofs(kind) - 1, -1, -1):  # the dof eliminated last is known first
        d = dofs[iv + k]
        along = 0.0
        for r in range(6):
            along += d[U_ + r] * w[Q_ + r]
        acceleration = (d[T_] - along) * d[D_]
        a[iv + k] = acceleration
        w[Q_ + joint_axis(kind, k)] += acceleration
