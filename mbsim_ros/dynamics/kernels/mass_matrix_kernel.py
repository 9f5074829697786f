# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The joint-space inertia by composite rigid bodies, all in one set of axes.

Everything is expressed in the axes of frame A, the frame of the root body: M does not depend on where the root is, so
neither its pose nor its distance from the world's origin can cost digits. In common axes a composite inertia goes to
the parent by a translation only, and an entry of M is one dot product of six terms. Composites are about the origin of
their own body, because about that of A the inertias of a long chain grow with the square of its length and swallow
those of its last links.
"""

import math

from mbsim_ros.dynamics.arguments import QUATERNION_TOLERANCE
from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs
from mbsim_ros.dynamics.layout import (
    COMPOSITE_INERTIA as I_,
    COMPOSITE_MASS as M_,
    COMPOSITE_MOMENT as H_,
    COMPOSITE_OFFSET as D_,
    P_WB as P_,
    R_WB as R_,
)
from mbsim_ros.dynamics.placement import place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import FLOATING, SPHERICAL
from mbsim_ros.model.model import INERTIA, IQ, IV, KIND, MASS, MOMENT, PARENT, ROTOR

# Columns 0…5 of workspace.dofs: the dof's column of S, a twist (v, ω) at A's origin.


@kernel
def mass_matrix_into(topology, constants, dof_parent, q, sincos, rows, dofs, M):
    """Write M (nv, nv), both triangles. Entries between dofs of different branches are not touched: give zeros."""
    cosines_and_sines(q, sincos[0], sincos[1])
    for i in range(topology.shape[0]):
        place_in_root(i, topology, constants, q, sincos, rows)
    placed_mass_matrix_into(topology, constants, dof_parent, rows, dofs, M)


@helper
def placed_mass_matrix_into(topology, constants, dof_parent, rows, dofs, M):
    """The same where the bodies are placed already: in A, or in the world, whose distance then costs digits.

    Needs R, p and the offset from the parent (columns R_, P_, D_); writes the columns of the dofs to dofs[:, 0:6].
    """
    n = topology.shape[0]
    for i in range(n):
        w = rows[i + 1]
        rotate_inertia(constants[i], w)
        for k in range(joint_dofs(topology[i, KIND])):
            write_axis(joint_axis(topology[i, KIND], k), w, dofs[topology[i, IV] + k])
    for i in range(n - 1, -1, -1):
        w = rows[i + 1]
        for k in range(joint_dofs(topology[i, KIND]) - 1, -1, -1):
            dof = topology[i, IV] + k
            # The momentum of the composite when only this dof moves, at unit rate: F = I S
            fx, fy, fz, tx, ty, tz = momentum(joint_axis(topology[i, KIND], k), w)
            row = M[dof]
            j = dof
            while j >= 0:
                s = dofs[j]
                entry = (s[0] * fx + s[1] * fy + s[2] * fz) + (s[3] * tx + s[4] * ty + s[5] * tz)
                row[j] = entry
                M[j, dof] = entry
                j = dof_parent[j]
            row[dof] += constants[i, ROTOR]
        if topology[i, PARENT] > 0:
            add_to_parent(w, rows[topology[i, PARENT]])


@kernel
def checked_mass_matrix_into(topology, constants, dof_parent, q, sincos, rows, dofs, M):
    """Write all of M (nv, nv), zeros included, if q is a configuration; otherwise return False.

    For calls from Python, where looking at q here takes a tenth of the time that it takes there.
    """
    if not is_configuration(topology, q):
        return False
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            M[i, j] = 0.0
    mass_matrix_into(topology, constants, dof_parent, q, sincos, rows, dofs, M)
    return True


@kernel
def reduce_into(dof_parent, source, ratio, M_tree, M):
    """Add Gᵀ M_tree G to M (nv, nv), where row i of G has only the entry ratio[i], in column source[i]."""
    for i in range(M_tree.shape[0]):
        M[source[i], source[i]] += ratio[i] * ratio[i] * M_tree[i, i]
        j = dof_parent[i]
        while j >= 0:
            entry = ratio[i] * ratio[j] * M_tree[i, j]
            M[source[i], source[j]] += entry
            M[source[j], source[i]] += entry
            j = dof_parent[j]


@helper
def is_configuration(topology, q):
    """Whether q is finite and its quaternions have unit length: the rule of `arguments.configuration`."""
    for i in range(q.shape[0]):
        if not math.isfinite(q[i]):
            return False
    for i in range(topology.shape[0]):
        kind = topology[i, KIND]
        if kind in (SPHERICAL, FLOATING):
            at = topology[i, IQ] + (3 if kind == FLOATING else 0)
            length = q[at] * q[at] + q[at + 1] * q[at + 1] + q[at + 2] * q[at + 2] + q[at + 3] * q[at + 3]
            if abs(length - 1.0) > 2.0 * QUATERNION_TOLERANCE:
                return False
    return True


@helper
def place_in_root(i, topology, constants, q, sincos, rows):
    """Write R_AB, p_AB and the offset from the parent; the root's own joint is left out, for A moves with it."""
    parent = topology[i, PARENT]
    w, u = rows[i + 1], rows[parent]
    if parent == 0:
        for k in range(12):
            w[R_ + k] = 0.0
        w[R_] = w[R_ + 4] = w[R_ + 8] = 1.0
        w[D_] = w[D_ + 1] = w[D_ + 2] = 0.0
        return
    place_body(topology[i, KIND], constants[i], q, topology[i, IQ], sincos[0], sincos[1], w)
    for k in range(3):
        a, b, c = u[R_ + 3 * k], u[R_ + 3 * k + 1], u[R_ + 3 * k + 2]
        w[R_ + 3 * k] = a * w[0] + b * w[3] + c * w[6]
        w[R_ + 3 * k + 1] = a * w[1] + b * w[4] + c * w[7]
        w[R_ + 3 * k + 2] = a * w[2] + b * w[5] + c * w[8]
        offset = a * w[9] + b * w[10] + c * w[11]
        w[D_ + k] = offset
        w[P_ + k] = u[P_ + k] + offset


@helper
def rotate_inertia(m, w):
    """Begin the composite with the body itself: its inertia in A's axes, R I Rᵀ."""
    r00, r01, r02, r10, r11, r12 = w[R_], w[R_ + 1], w[R_ + 2], w[R_ + 3], w[R_ + 4], w[R_ + 5]
    r20, r21, r22 = w[R_ + 6], w[R_ + 7], w[R_ + 8]
    x, y, z = m[MOMENT], m[MOMENT + 1], m[MOMENT + 2]
    w[M_] = m[MASS]
    w[H_] = r00 * x + r01 * y + r02 * z
    w[H_ + 1] = r10 * x + r11 * y + r12 * z
    w[H_ + 2] = r20 * x + r21 * y + r22 * z
    xx, yy, zz = m[INERTIA], m[INERTIA + 1], m[INERTIA + 2]
    xy, xz, yz = m[INERTIA + 3], m[INERTIA + 4], m[INERTIA + 5]
    a0, a1, a2 = r00 * xx + r01 * xy + r02 * xz, r00 * xy + r01 * yy + r02 * yz, r00 * xz + r01 * yz + r02 * zz
    b0, b1, b2 = r10 * xx + r11 * xy + r12 * xz, r10 * xy + r11 * yy + r12 * yz, r10 * xz + r11 * yz + r12 * zz
    c0, c1, c2 = r20 * xx + r21 * xy + r22 * xz, r20 * xy + r21 * yy + r22 * yz, r20 * xz + r21 * yz + r22 * zz
    w[I_] = a0 * r00 + a1 * r01 + a2 * r02
    w[I_ + 1] = b0 * r10 + b1 * r11 + b2 * r12
    w[I_ + 2] = c0 * r20 + c1 * r21 + c2 * r22
    w[I_ + 3] = a0 * r10 + a1 * r11 + a2 * r12
    w[I_ + 4] = a0 * r20 + a1 * r21 + a2 * r22
    w[I_ + 5] = b0 * r20 + b1 * r21 + b2 * r22


@helper
def write_axis(axis, w, s):
    """Write the twist of a dof at unit rate: along a body axis, or about it, (p × e, e)."""
    column = axis % 3
    x, y, z = w[R_ + column], w[R_ + 3 + column], w[R_ + 6 + column]
    if axis < 3:
        s[0], s[1], s[2], s[3], s[4], s[5] = x, y, z, 0.0, 0.0, 0.0
    else:
        px, py, pz = w[P_], w[P_ + 1], w[P_ + 2]
        s[0], s[1], s[2] = py * z - pz * y, pz * x - px * z, px * y - py * x
        s[3], s[4], s[5] = x, y, z


@helper
def momentum(axis, w):
    """Momentum (f, τ at A's origin) of the composite when it moves along or about a body axis at unit rate."""
    column = axis % 3
    x, y, z = w[R_ + column], w[R_ + 3 + column], w[R_ + 6 + column]
    mass, hx, hy, hz = w[M_], w[H_], w[H_ + 1], w[H_ + 2]
    px, py, pz = w[P_], w[P_ + 1], w[P_ + 2]
    if axis < 3:
        fx, fy, fz = mass * x, mass * y, mass * z
        tx, ty, tz = hy * z - hz * y, hz * x - hx * z, hx * y - hy * x
    else:
        xx, yy, zz, xy, xz, yz = w[I_], w[I_ + 1], w[I_ + 2], w[I_ + 3], w[I_ + 4], w[I_ + 5]
        fx, fy, fz = y * hz - z * hy, z * hx - x * hz, x * hy - y * hx
        tx, ty, tz = xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z
    return fx, fy, fz, tx + py * fz - pz * fy, ty + pz * fx - px * fz, tz + px * fy - py * fx


@helper
def add_to_parent(w, u):
    """Add composite w to its parent's, u, by Steiner: I + (2 h·d + m d·d) 1 − h dᵀ − d hᵀ − m d dᵀ with h = m c."""
    mass, hx, hy, hz, dx, dy, dz = w[M_], w[H_], w[H_ + 1], w[H_ + 2], w[D_], w[D_ + 1], w[D_ + 2]
    kx, ky, kz = hx + mass * dx, hy + mass * dy, hz + mass * dz
    u[M_] += mass
    u[H_] += kx
    u[H_ + 1] += ky
    u[H_ + 2] += kz
    ax, ay, az = (hx + kx) * dx, (hy + ky) * dy, (hz + kz) * dz
    u[I_] += w[I_] + (ay + az)
    u[I_ + 1] += w[I_ + 1] + (ax + az)
    u[I_ + 2] += w[I_ + 2] + (ax + ay)
    u[I_ + 3] += w[I_ + 3] - (kx * dy + dx * hy)
    u[I_ + 4] += w[I_ + 4] - (kx * dz + dx * hz)
    u[I_ + 5] += w[I_ + 5] - (ky * dz + dy * hz)
