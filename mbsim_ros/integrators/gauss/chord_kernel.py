# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The matrix of the chord iteration, M + h d G, for all stages at once; its factors, and how they are solved with.

How the residuals p − h Σ a_ij f change with the velocities of the stages is, to first order in h,
    M + h A ⊗ G,  G = P − Pᵀ,  P = ∂p/∂r,
for ∂f/∂v = Pᵀ. A diagonal d in place of A leaves a matrix for each stage. To move joint l by its S turns its subtree,
which changes the velocities there by a = ad(V) S, so that with the composite inertia I and the momentum h of the
subtree
    P_kl = S_kᵀ (I_l a_l + S_l ×* h_l) for k that carry l,  P_kl = S_kᵀ I_k a_l for k that l carries.
A floating base has no position here, but its angular momentum Π in its axes follows its turn: − h d [Π]×.

M and G are zero between branches, so that elimination from the leaves on leaves those zeros.
"""

from mbsim_ros.dynamics.articulated import rotate_symmetric
from mbsim_ros.dynamics.layout import MOMENTUM_WRENCH as H_, TWIST as T_
from mbsim_ros.integrators.gauss.arrays import (
    ROW_INERTIA as I_,
    ROW_MOMENT as M_,
    STAGE_R,
    TURN_GYRE,
    TURN_REACH,
)
from mbsim_ros.integrators.gauss.lanes import lane_row
from mbsim_ros.jit import helper
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import IV, KIND, PARENT, ROTOR


@helper
def couple_joint(tree, work, i):
    """Rows and columns of a joint with all that carry it, by its I S and its I a + S ×* h, passed on inward."""
    kind, iv = tree.topology[i, KIND], tree.topology[i, IV]
    w, own, hd = lane_row(work.rows, i + 1), lane_row(work.chord, iv), lane_row(work.turning, 0)[TURN_REACH]
    mass, mx, my, mz = tree.carried[i], w[M_], w[M_ + 1], w[M_ + 2]
    fx, fy, tx, ty = w[H_], w[H_ + 1], w[H_ + 3], w[H_ + 4]
    wx, wy = w[T_ + 3], w[T_ + 4]
    if kind == REVOLUTE:
        vx, vy = w[T_], w[T_ + 1]
        sx, sy, sz, rx, ry, rz = -my, mx, 0.0 * mx, w[I_ + 4], w[I_ + 5], w[I_ + 2]
        # a = (v × z, ω × z)
        ax, ay, az = mass * vy - wx * mz, -mass * vx - wy * mz, wy * my + wx * mx
        bx = w[I_] * wy - w[I_ + 3] * wx + mz * vx
        by = w[I_ + 3] * wy - w[I_ + 1] * wx + mz * vy
        bz = w[I_ + 4] * wy - w[I_ + 5] * wx - mx * vx - my * vy
        ax, ay, bx, by = ax - fy, ay + fx, bx - ty, by + tx
        own[iv] = rz + tree.constants[i, ROTOR]
    else:
        sx, sy, sz, rx, ry, rz = 0.0 * mx, 0.0 * mx, mass + 0.0 * mx, my, -mx, 0.0 * mx
        # a = (ω × z, 0)
        ax, ay, az = mass * wy, -mass * wx, 0.0 * mx
        bx, by, bz = mz * wx - fy, mz * wy + fx, -mx * wx - my * wy
        own[iv] = sz + tree.constants[i, ROTOR]
    parent = tree.topology[i, PARENT]
    while parent != 0:
        sx, sy, sz, rx, ry, rz = inward(w, sx, sy, sz, rx, ry, rz)
        ax, ay, az, bx, by, bz = inward(w, ax, ay, az, bx, by, bz)
        w, k = lane_row(work.rows, parent), parent - 1
        if tree.floats and k == 0:
            own[0], own[1], own[2], own[3], own[4], own[5] = (
                sx - hd * ax, sy - hd * ay, sz - hd * az, rx - hd * bx, ry - hd * by, rz - hd * bz,
            )  # fmt: skip
            set_column(work, iv, sx + hd * ax, sy + hd * ay, sz + hd * az, rx + hd * bx, ry + hd * by, rz + hd * bz)
        else:
            at = tree.topology[k, IV]
            other = lane_row(work.chord, at)
            vx, vy, wx, wy = w[T_], w[T_ + 1], w[T_ + 3], w[T_ + 4]
            if tree.topology[k, KIND] == REVOLUTE:
                m, g = rz, bz - (sx * vy - sy * vx + rx * wy - ry * wx)
            else:
                m, g = sz, az - (sx * wy - sy * wx)
            other[iv], own[at] = m + hd * g, m - hd * g
        parent = tree.topology[k, PARENT]


@helper
def set_column(work, iv, sx, sy, sz, rx, ry, rz):
    """What a joint has in the six rows of a floating base."""
    rows = work.chord
    lane_row(rows, 0)[iv] = sx
    lane_row(rows, 1)[iv] = sy
    lane_row(rows, 2)[iv] = sz
    lane_row(rows, 3)[iv] = rx
    lane_row(rows, 4)[iv] = ry
    lane_row(rows, 5)[iv] = rz


@helper
def inward(w, fx, fy, fz, tx, ty, tz):
    """A wrench on a body as one on its parent; w[0:12] is X_PB."""
    x = w[0] * fx + w[1] * fy + w[2] * fz
    y = w[3] * fx + w[4] * fy + w[5] * fz
    z = w[6] * fx + w[7] * fy + w[8] * fz
    px, py, pz = w[9], w[10], w[11]
    return (
        x,
        y,
        z,
        w[0] * tx + w[1] * ty + w[2] * tz + py * z - pz * y,
        w[3] * tx + w[4] * ty + w[5] * tz + pz * x - px * z,
        w[6] * tx + w[7] * ty + w[8] * tz + px * y - py * x,
    )


@helper
def gather_inertia(tree, work, i):
    """The inertia of the subtree about the body's origin goes to the parent, about its origin."""
    parent, mass, w = tree.topology[i, PARENT], tree.carried[i], lane_row(work.rows, i + 1)
    if parent == 0:
        return
    u, x, y, z = lane_row(work.rows, parent), w[9], w[10], w[11]
    xx, yy, zz, xy, xz, yz = rotate_symmetric(w, w[I_], w[I_ + 1], w[I_ + 2], w[I_ + 3], w[I_ + 4], w[I_ + 5])
    cx = w[0] * w[M_] + w[1] * w[M_ + 1] + w[2] * w[M_ + 2]
    cy = w[3] * w[M_] + w[4] * w[M_ + 1] + w[5] * w[M_ + 2]
    cz = w[6] * w[M_] + w[7] * w[M_ + 1] + w[8] * w[M_ + 2]
    # with e = m p + 2 m c: I + (p·e) 1 − sym(p eᵀ)
    ex, ey, ez = mass * x + 2.0 * cx, mass * y + 2.0 * cy, mass * z + 2.0 * cz
    u[I_] += xx + y * ey + z * ez
    u[I_ + 1] += yy + x * ex + z * ez
    u[I_ + 2] += zz + x * ex + y * ey
    u[I_ + 3] += xy - 0.5 * (x * ey + y * ex)
    u[I_ + 4] += xz - 0.5 * (x * ez + z * ex)
    u[I_ + 5] += yz - 0.5 * (y * ez + z * ey)


@helper
def couple_base(tree, work):
    """The six rows of a floating base among themselves: the inertia of all less h d [Π]×."""
    w, t, rows, mass = lane_row(work.rows, 1), lane_row(work.turning, 0), work.chord, tree.carried[0]
    mx, my, mz = w[M_], w[M_ + 1], w[M_ + 2]
    for k in range(3):
        row = lane_row(rows, k)
        row[0] = row[1] = row[2] = 0.0
        row[k] = mass
    x, y, z = lane_row(rows, 0), lane_row(rows, 1), lane_row(rows, 2)
    a, b, c = lane_row(rows, 3), lane_row(rows, 4), lane_row(rows, 5)
    x[3], y[4], z[5] = 0.0, 0.0, 0.0
    x[4], x[5], y[3], y[5], z[3], z[4] = mz, -my, -mz, mx, my, -mx
    a[0], b[1], c[2] = 0.0, 0.0, 0.0
    b[0], c[0], a[1], c[1], a[2], b[2] = mz, -my, -mz, mx, my, -mx
    gx, gy, gz = t[TURN_GYRE], t[TURN_GYRE + 1], t[TURN_GYRE + 2]
    a[3], b[4], c[5] = w[I_], w[I_ + 1], w[I_ + 2]
    a[4], b[3] = w[I_ + 3] + gz, w[I_ + 3] - gz
    a[5], c[3] = w[I_ + 4] - gy, w[I_ + 4] + gy
    b[5], c[4] = w[I_ + 5] + gx, w[I_ + 5] - gx


@helper
def factor_chord(tree, rows):
    """Eliminate the dofs from the leaves on; the inverse pivots on the diagonal."""
    parents, first = tree.dof_parent, 6 * tree.floats
    for i in range(rows.shape[0] - 1, first - 1, -1):
        own = lane_row(rows, i)
        inverse = 1.0 / own[i]
        own[i] = inverse
        a = parents[i]
        while a >= first:
            row = lane_row(rows, a)
            scaled = row[i] * inverse
            row[i] = scaled
            b = parents[i]
            while b >= first:
                row[b] -= scaled * own[b]
                b = parents[b]
            if tree.floats:
                for k in range(6):
                    row[k] -= scaled * own[k]
            a = parents[a]
        if tree.floats:
            for k in range(6):
                row = lane_row(rows, k)
                scaled = row[i] * inverse
                row[i] = scaled
                b = parents[i]
                while b >= first:
                    row[b] -= scaled * own[b]
                    b = parents[b]
                for j in range(6):
                    row[j] -= scaled * own[j]
    if tree.floats:
        for i in range(5, -1, -1):
            own = lane_row(rows, i)
            inverse = 1.0 / own[i]
            own[i] = inverse
            for k in range(i):
                row = lane_row(rows, k)
                scaled = row[i] * inverse
                row[i] = scaled
                for j in range(i):
                    row[j] -= scaled * own[j]


@helper
def solve_in_place(tree, work):
    """Write the solution over the residuals."""
    parents, rows, x, first = tree.dof_parent, work.chord, lane_row(work.stages, STAGE_R), 6 * tree.floats
    for i in range(rows.shape[0] - 1, first - 1, -1):
        own, a = x[i], parents[i]
        while a >= first:
            x[a] -= lane_row(rows, a)[i] * own
            a = parents[a]
        if tree.floats:
            for k in range(6):
                x[k] -= lane_row(rows, k)[i] * own
    if tree.floats:
        for i in range(5, 0, -1):
            for k in range(i):
                x[k] -= lane_row(rows, k)[i] * x[i]
        for i in range(6):
            own, left = lane_row(rows, i), x[i]
            for k in range(i):
                left -= own[k] * x[k]
            x[i] = left * own[i]
    for i in range(first, rows.shape[0]):
        own, left, b = lane_row(rows, i), x[i], parents[i]
        while b >= first:
            left -= own[b] * x[b]
            b = parents[b]
        if tree.floats:
            for k in range(6):
                left -= own[k] * x[k]
        x[i] = left * own[i]
