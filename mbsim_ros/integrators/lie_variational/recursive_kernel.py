# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The exact Jacobian of a step's momenta by the mean velocity, factored and solved in linear time: Newton's method.

For trees in which only roots are groups, midpoint quadrature, one stage. J = d(−D₁L_d)/dv of midpoint_momenta, with the
slopes of forces on its diagonal. In a chain of hundreds of links the part of J that a mass matrix leaves out, of the
order of the step, is not small: the links turn each other by it.

Let δ be the change of a body's twist V and of its subtree's momentum H in components that go along with the body, when
v changes by δv and with it the midpoint by h/2 δv. With X V the twist V moved from the parent's to the body's origin,

    δV = X δV_parent + S~ δv                     S~ = S + h/2 ad(V) S
    δH = I δV + Σ_children Xᵀ(δH − y δv)         y = h/2 ad(S)ᵀ H: a child's momentum turns with its joint
    δ(−D₁L_d) = S̄ᵀ δH + yᵀ δV                    S̄ = S − h/2 ad(V) S, for −D₁L_d = Hᵀ (S − h/2 ad(V) S)

(ad(S) S = 0, so that V of the body serves for that of the parent.) As with articulated bodies δH = A δV + b, but A is
not symmetric: with row = S̄ᵀA + yᵀ, column = A S~ − y and pivot = row S~ + rotor + h/2 slope the parent receives

    A_parent += Xᵀ (A − column row / pivot) X,   b_parent += Xᵀ (b + column (x − S̄ᵀb) / pivot)

and outward δv = (x − S̄ᵀb − row X δV_parent) / pivot. All is in the world's axes, so that X is a translation. What the
solution needs then replaces A in its row: it does not depend on the rows of the midpoint, which may be overwritten.
"""

import math

from mbsim_ros.contact.contact_kernel import add_point_block
from mbsim_ros.dynamics.articulated import rotate_symmetric
from mbsim_ros.dynamics.layout import R_WB
from mbsim_ros.integrators.lie_variational.midpoint_kernel import D_, H_, V_, rotate
from mbsim_ros.integrators.lie_variational.recursive_block_kernel import GROUP_ROWS, factor_root, solve_root
from mbsim_ros.jit import cross, helper
from mbsim_ros.model.joint_kinds import PRISMATIC, REVOLUTE
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, END, IV, KIND, MASS, PARENT, ROTOR

# A row of factors is A (6 x 6, row by row) until its body is eliminated, and then:
RECURSION_LEFT, COLUMN, OFFSET, INVERSE, ROW, RECURSION_RIGHT, KEPT = 0, 6, 12, 15, 16, 22, 28
# S̄; Xᵀ column / pivot; the offset from the parent; 1 / pivot; row X / pivot; S~; b, then δV, where several need it.
RECURSION_COLUMNS = 36


def recursion_rows(topology):
    """Number of rows of the factors: one per body, and GROUP_ROWS for each root that is a group."""
    return len(topology) + GROUP_ROWS * int((topology[:, KIND] > PRISMATIC).sum())


@helper
def begin_recursion(tree, rows, factors):
    """Write each body's own spatial inertia to factors[i] (36,), about its origin in the world's axes: the first A."""
    for i in range(tree.topology.shape[0]):
        m, w, A = tree.constants[i], rows[i + 1], factors[i]
        mass = m[MASS]
        x, y, z = rotate(w, m[CENTRE], m[CENTRE + 1], m[CENTRE + 2])
        mx, my, mz = mass * x, mass * y, mass * z
        k = CENTRAL_INERTIA
        xx, yy, zz, xy, xz, yz = rotate_symmetric(
            w[R_WB : R_WB + 9], m[k], m[k + 1], m[k + 2], m[k + 3], m[k + 4], m[k + 5]
        )
        write_row(A, 0, mass, 0.0, 0.0, 0.0, mz, -my)
        write_row(A, 6, 0.0, mass, 0.0, -mz, 0.0, mx)
        write_row(A, 12, 0.0, 0.0, mass, my, -mx, 0.0)
        write_row(A, 18, 0.0, -mz, my, xx + my * y + mz * z, xy - mx * y, xz - mx * z)
        write_row(A, 24, mz, 0.0, -mx, xy - mx * y, yy + mx * x + mz * z, yz - my * z)
        write_row(A, 30, -my, mx, 0.0, xz - mx * z, yz - my * z, zz + mx * x + my * y)


@helper
def add_contact_block(block, x, y, z, factor, A):
    """Add factor · Jᵀ C J to A (36,), J = (1, −[x]ₓ): C (9,) of a point at (x, y, z) from the body's origin.

    To be called between begin_recursion and eliminate. As part of A the block meets S~ and S̄ instead of S: it is exact
    up to terms of the order h V beside one.
    """
    add_point_block(block, x, y, z, factor, A[:36].reshape((6, 6)))


@helper
def eliminate(tree, retraction, v, h, slopes, rows, factors):
    """Factor J, from the tips to the roots, in place of the A in factors (recursion_rows(topology), RECURSION_COLUMNS).

    rows as midpoint_momenta left them for v (nv,); slopes (nv,) add h/2 times themselves to the diagonal. False if a
    pivot is zero or not finite.
    """
    n = tree.topology.shape[0]
    group = n
    for i in range(n - 1, -1, -1):
        kind, iv, parent = tree.topology[i, KIND], tree.topology[i, IV], tree.topology[i, PARENT]
        w, A = rows[i + 1], factors[i]
        if kind <= PRISMATIC:
            diagonal = tree.constants[i, ROTOR] + 0.5 * h * slopes[iv]
            pivot = eliminate_body(kind, 0.5 * h, diagonal, parent > 0, w, A, factors[max(parent, 1) - 1])
            if not (0.0 < abs(pivot) < math.inf):
                return False
        else:
            if not factor_root(kind, retraction, v, iv, h, slopes, w, A, factors[group : group + GROUP_ROWS]):
                return False
            group += GROUP_ROWS
    return True


@helper
def eliminate_body(kind, half, diagonal, has_parent, w, A, parent):
    """Add to A of the parent what a body with one dof passes on, leave in A what the solution needs; returns the pivot.

    half is h/2, diagonal what the pivot has beside the body's motion.
    """
    # s is S̄, t is S~
    ex, ey, ez = half * w[R_WB + 2], half * w[R_WB + 5], half * w[R_WB + 8]
    fx, fy, fz = cross(w[H_], w[H_ + 1], w[H_ + 2], ex, ey, ez)
    px, py, pz = cross(w[V_ + 3], w[V_ + 4], w[V_ + 5], ex, ey, ez)
    if kind == REVOLUTE:
        t0, t1, t2 = cross(w[V_], w[V_ + 1], w[V_ + 2], ex, ey, ez)
        s0, s1, s2 = -t0, -t1, -t2
        t3, t4, t5 = w[R_WB + 2] + px, w[R_WB + 5] + py, w[R_WB + 8] + pz
        s3, s4, s5 = w[R_WB + 2] - px, w[R_WB + 5] - py, w[R_WB + 8] - pz
        y0, y1, y2 = fx, fy, fz
        y3, y4, y5 = cross(w[H_ + 3], w[H_ + 4], w[H_ + 5], ex, ey, ez)
    else:
        t0, t1, t2, t3, t4, t5 = w[R_WB + 2] + px, w[R_WB + 5] + py, w[R_WB + 8] + pz, 0.0, 0.0, 0.0
        s0, s1, s2, s3, s4, s5 = w[R_WB + 2] - px, w[R_WB + 5] - py, w[R_WB + 8] - pz, 0.0, 0.0, 0.0
        y0, y1, y2, y3, y4, y5 = 0.0, 0.0, 0.0, fx, fy, fz
    x, y, z = w[D_], w[D_ + 1], w[D_ + 2]
    a0, a1, a2, a3, a4, a5 = read_row(A, 0)
    b0, b1, b2, b3, b4, b5 = read_row(A, 6)
    c0, c1, c2, c3, c4, c5 = read_row(A, 12)
    d0, d1, d2, d3, d4, d5 = read_row(A, 18)
    e0, e1, e2, e3, e4, e5 = read_row(A, 24)
    f0, f1, f2, f3, f4, f5 = read_row(A, 30)
    # S̄ᵀA + yᵀ and A S~ − y
    r0 = y0 + s0 * a0 + s1 * b0 + s2 * c0 + s3 * d0 + s4 * e0 + s5 * f0
    r1 = y1 + s0 * a1 + s1 * b1 + s2 * c1 + s3 * d1 + s4 * e1 + s5 * f1
    r2 = y2 + s0 * a2 + s1 * b2 + s2 * c2 + s3 * d2 + s4 * e2 + s5 * f2
    r3 = y3 + s0 * a3 + s1 * b3 + s2 * c3 + s3 * d3 + s4 * e3 + s5 * f3
    r4 = y4 + s0 * a4 + s1 * b4 + s2 * c4 + s3 * d4 + s4 * e4 + s5 * f4
    r5 = y5 + s0 * a5 + s1 * b5 + s2 * c5 + s3 * d5 + s4 * e5 + s5 * f5
    k0 = a0 * t0 + a1 * t1 + a2 * t2 + a3 * t3 + a4 * t4 + a5 * t5 - y0
    k1 = b0 * t0 + b1 * t1 + b2 * t2 + b3 * t3 + b4 * t4 + b5 * t5 - y1
    k2 = c0 * t0 + c1 * t1 + c2 * t2 + c3 * t3 + c4 * t4 + c5 * t5 - y2
    k3 = d0 * t0 + d1 * t1 + d2 * t2 + d3 * t3 + d4 * t4 + d5 * t5 - y3
    k4 = e0 * t0 + e1 * t1 + e2 * t2 + e3 * t3 + e4 * t4 + e5 * t5 - y4
    k5 = f0 * t0 + f1 * t1 + f2 * t2 + f3 * t3 + f4 * t4 + f5 * t5 - y5
    pivot = (r0 * t0 + r1 * t1 + r2 * t2) + (r3 * t3 + r4 * t4 + r5 * t5) + diagonal
    inverse = 1.0 / pivot
    # row X and Xᵀ column: seen from the parent
    r3, r4, r5 = r3 + y * r2 - z * r1, r4 + z * r0 - x * r2, r5 + x * r1 - y * r0
    k3, k4, k5 = k3 + y * k2 - z * k1, k4 + z * k0 - x * k2, k5 + x * k1 - y * k0
    q0, q1, q2, q3, q4, q5 = inverse * r0, inverse * r1, inverse * r2, inverse * r3, inverse * r4, inverse * r5
    if has_parent:
        # A X, then Xᵀ (A X)
        a3, a4, a5 = a3 + y * a2 - z * a1, a4 + z * a0 - x * a2, a5 + x * a1 - y * a0
        b3, b4, b5 = b3 + y * b2 - z * b1, b4 + z * b0 - x * b2, b5 + x * b1 - y * b0
        c3, c4, c5 = c3 + y * c2 - z * c1, c4 + z * c0 - x * c2, c5 + x * c1 - y * c0
        d3, d4, d5 = d3 + y * d2 - z * d1, d4 + z * d0 - x * d2, d5 + x * d1 - y * d0
        e3, e4, e5 = e3 + y * e2 - z * e1, e4 + z * e0 - x * e2, e5 + x * e1 - y * e0
        f3, f4, f5 = f3 + y * f2 - z * f1, f4 + z * f0 - x * f2, f5 + x * f1 - y * f0
        add_row(parent, 0, a0 - k0 * q0, a1 - k0 * q1, a2 - k0 * q2, a3 - k0 * q3, a4 - k0 * q4, a5 - k0 * q5)
        add_row(parent, 6, b0 - k1 * q0, b1 - k1 * q1, b2 - k1 * q2, b3 - k1 * q3, b4 - k1 * q4, b5 - k1 * q5)
        add_row(parent, 12, c0 - k2 * q0, c1 - k2 * q1, c2 - k2 * q2, c3 - k2 * q3, c4 - k2 * q4, c5 - k2 * q5)
        add_row(
            parent, 18,
            d0 + y * c0 - z * b0 - k3 * q0, d1 + y * c1 - z * b1 - k3 * q1, d2 + y * c2 - z * b2 - k3 * q2,
            d3 + y * c3 - z * b3 - k3 * q3, d4 + y * c4 - z * b4 - k3 * q4, d5 + y * c5 - z * b5 - k3 * q5,
        )  # fmt: skip
        add_row(
            parent, 24,
            e0 + z * a0 - x * c0 - k4 * q0, e1 + z * a1 - x * c1 - k4 * q1, e2 + z * a2 - x * c2 - k4 * q2,
            e3 + z * a3 - x * c3 - k4 * q3, e4 + z * a4 - x * c4 - k4 * q4, e5 + z * a5 - x * c5 - k4 * q5,
        )  # fmt: skip
        add_row(
            parent, 30,
            f0 + x * b0 - y * a0 - k5 * q0, f1 + x * b1 - y * a1 - k5 * q1, f2 + x * b2 - y * a2 - k5 * q2,
            f3 + x * b3 - y * a3 - k5 * q3, f4 + x * b4 - y * a4 - k5 * q4, f5 + x * b5 - y * a5 - k5 * q5,
        )  # fmt: skip
    write_row(A, RECURSION_LEFT, s0, s1, s2, s3, s4, s5)
    write_row(A, COLUMN, inverse * k0, inverse * k1, inverse * k2, inverse * k3, inverse * k4, inverse * k5)
    A[OFFSET], A[OFFSET + 1], A[OFFSET + 2], A[INVERSE] = x, y, z, inverse
    write_row(A, ROW, q0, q1, q2, q3, q4, q5)
    write_row(A, RECURSION_RIGHT, t0, t1, t2, t3, t4, t5)
    return pivot


@helper
def substitute(tree, factors, x):
    """Replace x (nv,) by J⁻¹ x, with what eliminate left in factors.

    Bodies stand in depth-first order: the one before is the parent, or the body is not the first child. What goes
    between a body and its first child stays in registers; a row keeps only what goes to or from the other children.
    """
    substitute_inward(tree, factors, x)
    substitute_outward(tree, factors, x)


@helper
def substitute_inward(tree, factors, x):
    """Replace x by x − S̄ᵀb, or by the solution where a root is a group, gathering the biases b."""
    n = tree.topology.shape[0]
    group = n
    b0 = b1 = b2 = b3 = b4 = b5 = 0.0
    for i in range(n - 1, -1, -1):
        kind, iv, parent, end = (
            tree.topology[i, KIND],
            tree.topology[i, IV],
            tree.topology[i, PARENT],
            tree.topology[i, END],
        )
        m = factors[i]
        if end == i + 1:
            b0 = b1 = b2 = b3 = b4 = b5 = 0.0
        elif tree.topology[i + 1, END] != end:
            k0, k1, k2, k3, k4, k5 = read_row(m, KEPT)
            b0, b1, b2, b3, b4, b5 = b0 + k0, b1 + k1, b2 + k2, b3 + k3, b4 + k4, b5 + k5
        if kind > PRISMATIC:
            solve_root(kind, iv, b0, b1, b2, b3, b4, b5, factors[group : group + GROUP_ROWS], x, m[KEPT : KEPT + 6])
            group += GROUP_ROWS
            continue
        s0, s1, s2, s3, s4, s5 = read_row(m, RECURSION_LEFT)
        rest = (x[iv] - s0 * b0 - s1 * b1 - s2 * b2) - (s3 * b3 + s4 * b4 + s5 * b5)
        x[iv] = rest
        dx, dy, dz = m[OFFSET], m[OFFSET + 1], m[OFFSET + 2]
        b3, b4, b5 = b3 + dy * b2 - dz * b1, b4 + dz * b0 - dx * b2, b5 + dx * b1 - dy * b0
        k0, k1, k2, k3, k4, k5 = read_row(m, COLUMN)
        b0, b1, b2 = b0 + k0 * rest, b1 + k1 * rest, b2 + k2 * rest
        b3, b4, b5 = b3 + k3 * rest, b4 + k4 * rest, b5 + k5 * rest
        if 0 < parent != i:
            if tree.topology[parent - 1, END] == end:  # going inward the last child is the first to come
                write_row(factors[parent - 1], KEPT, b0, b1, b2, b3, b4, b5)
            else:
                add_row(factors[parent - 1], KEPT, b0, b1, b2, b3, b4, b5)


@helper
def substitute_outward(tree, factors, x):
    """Replace x − S̄ᵀb by the solution, from the roots on with the twists δV."""
    v0 = v1 = v2 = v3 = v4 = v5 = 0.0
    for i in range(tree.topology.shape[0]):
        kind, iv, parent, end = (
            tree.topology[i, KIND],
            tree.topology[i, IV],
            tree.topology[i, PARENT],
            tree.topology[i, END],
        )
        m = factors[i]
        if kind > PRISMATIC:
            v0, v1, v2, v3, v4, v5 = read_row(m, KEPT)
            continue
        if parent == 0:
            v0 = v1 = v2 = v3 = v4 = v5 = 0.0
        elif parent != i:
            v0, v1, v2, v3, v4, v5 = read_row(factors[parent - 1], KEPT)
        r0, r1, r2, r3, r4, r5 = read_row(m, ROW)
        rate = (m[INVERSE] * x[iv] - r0 * v0 - r1 * v1 - r2 * v2) - (r3 * v3 + r4 * v4 + r5 * v5)
        x[iv] = rate
        dx, dy, dz = m[OFFSET], m[OFFSET + 1], m[OFFSET + 2]
        v0, v1, v2 = v0 + v4 * dz - v5 * dy, v1 + v5 * dx - v3 * dz, v2 + v3 * dy - v4 * dx
        t0, t1, t2, t3, t4, t5 = read_row(m, RECURSION_RIGHT)
        v0, v1, v2 = v0 + t0 * rate, v1 + t1 * rate, v2 + t2 * rate
        v3, v4, v5 = v3 + t3 * rate, v4 + t4 * rate, v5 + t5 * rate
        if end > i + 1 and tree.topology[i + 1, END] != end:
            write_row(m, KEPT, v0, v1, v2, v3, v4, v5)


@helper
def read_row(u, at):
    """Six numbers."""
    return u[at], u[at + 1], u[at + 2], u[at + 3], u[at + 4], u[at + 5]


@helper
def write_row(u, at, a, b, c, x, y, z):
    """Write six numbers."""
    u[at], u[at + 1], u[at + 2], u[at + 3], u[at + 4], u[at + 5] = a, b, c, x, y, z


@helper
def add_row(u, at, a, b, c, x, y, z):
    """Add six numbers."""
    u[at] += a
    u[at + 1] += b
    u[at + 2] += c
    u[at + 3] += x
    u[at + 4] += y
    u[at + 5] += z
