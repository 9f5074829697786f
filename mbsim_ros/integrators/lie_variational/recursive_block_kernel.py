# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where the recursion of recursive_newton ends in a root that is a group: a dense block of three or six dofs.

With δV = R S δξ, R turning the joint's axes to the world's, and T = dτ⁻ᵀ(hξ) Sᵀ Rᵀ,

    δ(−D₁L_d) = T (A δV + b) + K δξ,   K = ∂(dτ⁻ᵀ(hξ) p)/∂ξ at p = Sᵀ Rᵀ H,

so that (T A R S + K + h/2 slopes) δξ = x − T b.
"""

import math

from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs
from mbsim_ros.dynamics.layout import R_WB
from mbsim_ros.integrators.lie_variational.midpoint_kernel import H_, project_rotated
from mbsim_ros.integrators.retraction import CAYLEY, carry_momentum
from mbsim_ros.jit import helper

# Rows of a group (GROUP_ROWS, 36): LU factors, T and R S as matrices of 6 x 6 of which the dofs use a part, and a row
# with the exchanges of the LU factorisation, and scratch for carry_momentum.
LU, TRANSFER, MOTION, MORE = range(4)
GROUP_ROWS = 4
EXCHANGES, STEP, MOMENTUM, CARRY = 0, 6, 12, 18
# For the Cayley map K comes from a quadratic polynomial, of which central differences are exact; for the exponential
# the error is of the order of the step's square times |hξ|/360.
CAYLEY_STEP, EXPONENTIAL_STEP = 1.0, 1.0e-4


@helper
def factor_root(kind, retraction, v, iv, h, slopes, w, A, group):
    """Factor the block of a root, from its A (36,) and its row w of the midpoint. False if it is singular."""
    dofs = joint_dofs(kind)
    block, transfer, motion, more = group[LU], group[TRANSFER], group[MOTION], group[MORE]
    for k in range(dofs):
        more[STEP + k] = h * v[iv + k]
        axis = joint_axis(kind, k)
        for r in range(3):  # R S: a dof is an axis of the body, along or about it
            along = w[R_WB + 3 * r + axis % 3]
            motion[6 * r + k] = along if axis < 3 else 0.0
            motion[6 * (r + 3) + k] = 0.0 if axis < 3 else along
    for r in range(6):
        for k in range(dofs):
            more[MOMENTUM + k] = motion[6 * r + k]
        carry(kind, retraction, more)
        for k in range(dofs):
            transfer[6 * k + r] = more[MOMENTUM + k]
    carried_slopes(kind, retraction, dofs, h, w, more, block)
    for j in range(dofs):
        block[7 * j] += 0.5 * h * slopes[iv + j]
        for r in range(6):
            value = 0.0
            for c in range(6):
                value += A[6 * r + c] * motion[6 * c + j]
            for k in range(dofs):
                block[6 * k + j] += transfer[6 * k + r] * value
    return factor_block(dofs, block, more)


@helper
def carried_slopes(kind, retraction, dofs, h, w, more, block):
    """Write K: how the carried momentum changes with the velocity that carries it."""
    step = CAYLEY_STEP if retraction == CAYLEY else EXPONENTIAL_STEP
    for j in range(dofs):
        at = more[STEP + j]
        for k in range(dofs):
            block[6 * k + j] = 0.0
        for side in range(2):
            sign = 1.0 - 2.0 * side
            project_rotated(kind, w, w[H_], w[H_ + 1], w[H_ + 2], w[H_ + 3], w[H_ + 4], w[H_ + 5], more, MOMENTUM)
            more[STEP + j] = at + sign * step
            carry(kind, retraction, more)
            for k in range(dofs):
                block[6 * k + j] += sign * 0.5 * h / step * more[MOMENTUM + k]
        more[STEP + j] = at


@helper
def carry(kind, retraction, more):
    """Replace the momentum in the row by dτ⁻ᵀ of the step in the row times it."""
    carry_momentum(kind, retraction, more[STEP : STEP + 6], 0, 1.0, more[MOMENTUM : MOMENTUM + 6], more[CARRY:])


@helper
def factor_block(dofs, block, more):
    """Factor a block in place, L below the diagonal, with exchange of rows. False if a pivot is zero or not finite."""
    for j in range(dofs):
        best = j
        for k in range(j + 1, dofs):
            if abs(block[6 * k + j]) > abs(block[6 * best + j]):
                best = k
        more[EXCHANGES + j] = best
        for c in range(dofs):
            block[6 * j + c], block[6 * best + c] = block[6 * best + c], block[6 * j + c]
        pivot = block[7 * j]
        if not (0.0 < abs(pivot) < math.inf):
            return False
        for k in range(j + 1, dofs):
            factor = block[6 * k + j] / pivot
            block[6 * k + j] = factor
            for c in range(j + 1, dofs):
                block[6 * k + c] -= factor * block[6 * j + c]
    return True


@helper
def solve_root(kind, iv, b0, b1, b2, b3, b4, b5, group, x, twist):
    """Replace the root's entries of x by δξ, given the bias b of its tree, and write δV = R S δξ to twist (6,)."""
    dofs = joint_dofs(kind)
    block, transfer, motion, more = group[LU], group[TRANSFER], group[MOTION], group[MORE]
    for k in range(dofs):
        t = transfer[6 * k : 6 * k + 6]
        x[iv + k] -= t[0] * b0 + t[1] * b1 + t[2] * b2 + t[3] * b3 + t[4] * b4 + t[5] * b5
    for j in range(dofs):
        other = iv + int(more[EXCHANGES + j])
        x[iv + j], x[other] = x[other], x[iv + j]
    for k in range(dofs):
        for c in range(k):
            x[iv + k] -= block[6 * k + c] * x[iv + c]
    for k in range(dofs - 1, -1, -1):
        for c in range(k + 1, dofs):
            x[iv + k] -= block[6 * k + c] * x[iv + c]
        x[iv + k] /= block[7 * k]
    for r in range(6):
        twist[r] = 0.0
        for k in range(dofs):
            twist[r] += motion[6 * r + k] * x[iv + k]
