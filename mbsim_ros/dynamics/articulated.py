# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Articulated inertias as 21 numbers, and how they move from a body to its parent.

An articulated inertia relates a body's acceleration (a, α) to the wrench on it, f = A a + B α, τ = Bᵀ a + C α, with
A and C symmetric (xx yy zz xy xz yz). Seen from the parent it is turned, A → R A Rᵀ and so on, then moved by p:
B → B − A p̂, C → C − Bᵀ p̂ + p̂ (B − A p̂).
"""

from mbsim_ros.dynamics.layout import ARTICULATED_A as A_, ARTICULATED_B as B_, ARTICULATED_C as C_
from mbsim_ros.jit import helper


@helper
def rotate_symmetric(w, xx, yy, zz, xy, xz, yz):
    """Entries of R S Rᵀ for a symmetric S; w[0:9] is R."""
    a0, a1, a2 = w[0] * xx + w[1] * xy + w[2] * xz, w[0] * xy + w[1] * yy + w[2] * yz, w[0] * xz + w[1] * yz + w[2] * zz
    b0, b1, b2 = w[3] * xx + w[4] * xy + w[5] * xz, w[3] * xy + w[4] * yy + w[5] * yz, w[3] * xz + w[4] * yz + w[5] * zz
    c0, c1, c2 = w[6] * xx + w[7] * xy + w[8] * xz, w[6] * xy + w[7] * yy + w[8] * yz, w[6] * xz + w[7] * yz + w[8] * zz
    return (
        a0 * w[0] + a1 * w[1] + a2 * w[2],
        b0 * w[3] + b1 * w[4] + b2 * w[5],
        c0 * w[6] + c1 * w[7] + c2 * w[8],
        a0 * w[3] + a1 * w[4] + a2 * w[5],
        a0 * w[6] + a1 * w[7] + a2 * w[8],
        b0 * w[6] + b1 * w[7] + b2 * w[8],
    )


@helper
def rotate_planar_symmetric(w, xx, yy, xy):
    """As rotate_symmetric, for an S whose z row and column are zero."""
    a0, a1 = w[0] * xx + w[1] * xy, w[0] * xy + w[1] * yy
    b0, b1 = w[3] * xx + w[4] * xy, w[3] * xy + w[4] * yy
    c0, c1 = w[6] * xx + w[7] * xy, w[6] * xy + w[7] * yy
    return (
        a0 * w[0] + a1 * w[1],
        b0 * w[3] + b1 * w[4],
        c0 * w[6] + c1 * w[7],
        a0 * w[3] + a1 * w[4],
        a0 * w[6] + a1 * w[7],
        b0 * w[6] + b1 * w[7],
    )


@helper
def rotate_general(w, b00, b01, b02, b10, b11, b12, b20, b21, b22):
    """Entries of R B Rᵀ, row by row."""
    p0, p1, p2 = (
        w[0] * b00 + w[1] * b10 + w[2] * b20,
        w[0] * b01 + w[1] * b11 + w[2] * b21,
        w[0] * b02 + w[1] * b12 + w[2] * b22,
    )
    q0, q1, q2 = (
        w[3] * b00 + w[4] * b10 + w[5] * b20,
        w[3] * b01 + w[4] * b11 + w[5] * b21,
        w[3] * b02 + w[4] * b12 + w[5] * b22,
    )
    r0, r1, r2 = (
        w[6] * b00 + w[7] * b10 + w[8] * b20,
        w[6] * b01 + w[7] * b11 + w[8] * b21,
        w[6] * b02 + w[7] * b12 + w[8] * b22,
    )
    return (
        p0 * w[0] + p1 * w[1] + p2 * w[2], p0 * w[3] + p1 * w[4] + p2 * w[5], p0 * w[6] + p1 * w[7] + p2 * w[8],
        q0 * w[0] + q1 * w[1] + q2 * w[2], q0 * w[3] + q1 * w[4] + q2 * w[5], q0 * w[6] + q1 * w[7] + q2 * w[8],
        r0 * w[0] + r1 * w[1] + r2 * w[2], r0 * w[3] + r1 * w[4] + r2 * w[5], r0 * w[6] + r1 * w[7] + r2 * w[8],
    )  # fmt: skip


@helper
def rotate_two_columns(w, b00, b01, b10, b11, b20, b21):
    """As rotate_general, for a B whose last column is zero."""
    p0, p1 = w[0] * b00 + w[1] * b10 + w[2] * b20, w[0] * b01 + w[1] * b11 + w[2] * b21
    q0, q1 = w[3] * b00 + w[4] * b10 + w[5] * b20, w[3] * b01 + w[4] * b11 + w[5] * b21
    r0, r1 = w[6] * b00 + w[7] * b10 + w[8] * b20, w[6] * b01 + w[7] * b11 + w[8] * b21
    return (
        p0 * w[0] + p1 * w[1], p0 * w[3] + p1 * w[4], p0 * w[6] + p1 * w[7],
        q0 * w[0] + q1 * w[1], q0 * w[3] + q1 * w[4], q0 * w[6] + q1 * w[7],
        r0 * w[0] + r1 * w[1], r0 * w[3] + r1 * w[4], r0 * w[6] + r1 * w[7],
    )  # fmt: skip


@helper
def add_moved(u, x, y, z, A, B, C):
    """Add to the parent's row u an inertia in its axes, moved by p = (x, y, z) to its origin."""
    axx, ayy, azz, axy, axz, ayz = A
    b00, b01, b02, b10, b11, b12, b20, b21, b22 = B
    cxx, cyy, czz, cxy, cxz, cyz = C
    # G = B − A p̂
    g00, g01, g02 = b00 - axy * z + axz * y, b01 + axx * z - axz * x, b02 - axx * y + axy * x
    g10, g11, g12 = b10 - ayy * z + ayz * y, b11 + axy * z - ayz * x, b12 - axy * y + ayy * x
    g20, g21, g22 = b20 - ayz * z + azz * y, b21 + axz * z - azz * x, b22 - axz * y + ayz * x
    u[A_] += axx
    u[A_ + 1] += ayy
    u[A_ + 2] += azz
    u[A_ + 3] += axy
    u[A_ + 4] += axz
    u[A_ + 5] += ayz
    u[B_] += g00
    u[B_ + 1] += g01
    u[B_ + 2] += g02
    u[B_ + 3] += g10
    u[B_ + 4] += g11
    u[B_ + 5] += g12
    u[B_ + 6] += g20
    u[B_ + 7] += g21
    u[B_ + 8] += g22
    # C − Bᵀ p̂ + p̂ G
    u[C_] += cxx - b10 * z + b20 * y - z * g10 + y * g20
    u[C_ + 1] += cyy + b01 * z - b21 * x + z * g01 - x * g21
    u[C_ + 2] += czz - b02 * y + b12 * x - y * g02 + x * g12
    u[C_ + 3] += cxy + b00 * z - b20 * x - z * g11 + y * g21
    u[C_ + 4] += cxz - b00 * y + b10 * x - z * g12 + y * g22
    u[C_ + 5] += cyz - b01 * y + b11 * x + z * g02 - x * g22
