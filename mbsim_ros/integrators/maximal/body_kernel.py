# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One rigid body in maximal coordinates: the discrete Lagrangian W (2.51), (5.5), its momenta and their derivative.

The mean body rate over a step is ω = 2/h Vec(q̄_k * q_{k+1}), W (2.50). With L = ½ m|Δx/h|² + ½ ωᵀIω the momenta are
those of the two ends of the step, −h D₁L and h D₂L.
"""

from mbsim_ros.integrators.maximal.quaternion_kernel import product, quaternion_force, times_unit
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.model import CENTRAL_INERTIA, MASS


@helper
def mean_rate(X, X_next, h):
    """ω (3), in body axes."""
    _, x, y, z = product(X[3], -X[4], -X[5], -X[6], X_next[3], X_next[4], X_next[5], X_next[6])
    return 2.0 / h * x, 2.0 / h * y, 2.0 / h * z


@helper
def midpoint_rotation(X, X_next):
    """Quaternion in the middle of the step, not of length one, and 1/|q|²."""
    w, x, y, z = 0.5 * (X[3] + X_next[3]), 0.5 * (X[4] + X_next[4]), 0.5 * (X[5] + X_next[5]), 0.5 * (X[6] + X_next[6])
    return w, x, y, z, 1.0 / (w * w + x * x + y * y + z * z)


@helper
def turning_momentum(body, wx, wy, wz):
    """I ω about the centre of mass, body axes."""
    k = CENTRAL_INERTIA
    xx, yy, zz, xy, xz, yz = body[k], body[k + 1], body[k + 2], body[k + 3], body[k + 4], body[k + 5]
    return xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz


@helper
def momenta_into(body, X, X_next, h, start, end):
    """Write −h D₁L to start (7,) and h D₂L to end (7,)."""
    for k in range(3):
        start[k] = end[k] = body[MASS] / h * (X_next[k] - X[k])
    wx, wy, wz = mean_rate(X, X_next, h)
    lx, ly, lz = turning_momentum(body, wx, wy, wz)
    start[3], start[4], start[5], start[6] = quaternion_force(X_next[3], X_next[4], X_next[5], X_next[6], lx, ly, lz)
    end[3], end[4], end[5], end[6] = quaternion_force(X[3], X[4], X[5], X[6], lx, ly, lz)


@kernel
def body_matrix_into(body, X, X_next, h, M):
    """Write the derivative of −h D₁L by X_next, (7, 7), over what was there: −h D₁₂L of W (2.43)."""
    M[:, :] = 0.0
    for k in range(3):
        M[k, k] = body[MASS] / h
    wx, wy, wz = mean_rate(X, X_next, h)
    lx, ly, lz = turning_momentum(body, wx, wy, wz)
    add_right_product(M, 2.0, lx, ly, lz)
    for column in range(3):
        # the turning momentum changes by I ∂ω = 2/h I e_column for a change of q_next along q * e_column
        sx, sy, sz = turning_momentum(body, 1.0 * (column == 0), 1.0 * (column == 1), 1.0 * (column == 2))
        f0, f1, f2, f3 = quaternion_force(X_next[3], X_next[4], X_next[5], X_next[6], sx, sy, sz)
        d0, d1, d2, d3 = times_unit(X[3], X[4], X[5], X[6], column + 1)
        d0, d1, d2, d3 = 2.0 / h * d0, 2.0 / h * d1, 2.0 / h * d2, 2.0 / h * d3
        for row in range(4):
            f = f0 if row == 0 else f1 if row == 1 else f2 if row == 2 else f3
            M[3 + row, 3] += f * d0
            M[3 + row, 4] += f * d1
            M[3 + row, 5] += f * d2
            M[3 + row, 6] += f * d3


@helper
def add_right_product(M, factor, x, y, z):
    """Add the matrix of q ↦ factor · q * (0, x, y, z) to the quaternion block of M (7, 7)."""
    x, y, z = factor * x, factor * y, factor * z
    M[3, 4] -= x
    M[3, 5] -= y
    M[3, 6] -= z
    M[4, 3] += x
    M[4, 5] += z
    M[4, 6] -= y
    M[5, 3] += y
    M[5, 4] -= z
    M[5, 6] += x
    M[6, 3] += z
    M[6, 4] += y
    M[6, 5] -= x
