# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W Algorithm 5.1: the linear system of a Newton step, W (5.13), in a time that grows with the number of joints.

Every body k has the matrix of W (5.15),

    [ M̂  −Bᵀ  −Gᵀ ]            B, G in the first row at the node, below at the end of the step;
    [ B   0    0  ]            C is zero for constraints and one for the row of a coordinate, whose multiplier is an
    [ G   0    C  ]            impulse that answers to the way: W's matrix with a diagonal.

Inboard, each is solved for its right side and for the seven columns of ΔX of the inner body, which gives the inner
body its M̂ and f̂, W (5.22) and (5.23); outboard, ΔX of the inner body gives that of the outer one, W (5.17). W inverts
the matrix; here it is eliminated with pivoting, which is the same for less.
"""

from mbsim_ros.integrators.maximal.arrays import ROWS
from mbsim_ros.integrators.maximal.joint_kernel import rows_of
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import KIND, PARENT


@kernel
def solve_tree(system, share):
    """Add this share of the Newton step to X_next and the multipliers; False if a matrix is singular. Uses up M."""
    topology, work, X, X_next = system.tree.topology, system.work, system.state.X, system.work.X_next
    for i in range(topology.shape[0] - 1, -1, -1):
        if not eliminate_body(i, topology, X, X_next, work):
            return False
    work.step[0, :] = 0.0
    for i in range(topology.shape[0]):
        rows, inner, solved = rows_of(topology[i, KIND]), work.step[topology[i, PARENT]], work.solved[i]
        for k in range(8 + rows):
            value = solved[k, 7]
            for column in range(7):
                value -= solved[k, column] * inner[column]
            if k < 7:
                work.step[i + 1, k] = value
                X_next[i + 1, k] += share * value
            else:
                system.state.multipliers[i, k - 7] += share * value
    return True


@helper
def eliminate_body(i, topology, X, X_next, work):
    """Solve the matrix of one body and hand what is left to the inner one."""
    kind, parent = topology[i, KIND], topology[i, PARENT]
    rows = rows_of(kind)
    size, A = 8 + rows, work.augmented
    fill_local(i, kind, rows, X, X_next, work, A)
    columns = size + 8
    if not gauss_jordan(A, size, columns):
        return False
    for k in range(size):
        for column in range(8):
            work.solved[i, k, column] = A[k, size + column]
    if parent > 0:
        M, f, inn = work.M[parent - 1], work.unbalanced[parent - 1], work.now_in[i]
        for row in range(rows):
            for k in range(7):
                weight = inn[row, k]
                if weight != 0.0:
                    f[k] -= weight * A[8 + row, size + 7]  # W (5.23)
                    for column in range(7):
                        M[k, column] += weight * A[8 + row, size + column]  # W (5.22)
    return True


@helper
def fill_local(i, kind, rows, X, X_next, work, A):
    """Write W (5.15) with eight right sides: G of the inner body, and −(f̂, b, g)."""
    size = 8 + rows
    for k in range(size):
        for column in range(size + 8):
            A[k, column] = 0.0
    for k in range(7):
        for column in range(7):
            A[k, column] = work.M[i, k, column]
        A[k, size + 7] = -work.unbalanced[i, k]
    for k in range(4):
        A[3 + k, 7] = -2.0 * X[i + 1, 3 + k]
        A[7, 3 + k] = 2.0 * X_next[i + 1, 3 + k]
    A[7, size + 7] = -work.gaps[i, 0]
    for row in range(rows):
        for k in range(7):
            A[k, 8 + row] = -work.now_out[i, row, k]
            A[8 + row, k] = work.next_out[i, row, k]
            A[8 + row, size + k] = work.next_in[i, row, k]
        A[8 + row, size + 7] = -work.gaps[i, 1 + row]
    if kind <= PRISMATIC:
        A[7 + ROWS, 7 + ROWS] = 1.0


@helper
def gauss_jordan(A, size, columns):
    """Solve in place with row pivoting: afterwards the right sides are the solutions. False if singular."""
    for k in range(size):
        best, at = abs(A[k, k]), k
        for row in range(k + 1, size):
            if abs(A[row, k]) > best:
                best, at = abs(A[row, k]), row
        if not best > 0.0:
            return False
        if at != k:
            for column in range(k, columns):
                A[k, column], A[at, column] = A[at, column], A[k, column]
        inverse = 1.0 / A[k, k]
        for row in range(k + 1, size):
            factor = A[row, k] * inverse
            if factor != 0.0:
                for column in range(k + 1, columns):
                    A[row, column] -= factor * A[k, column]
    for k in range(size - 1, -1, -1):
        inverse = 1.0 / A[k, k]
        for column in range(size, columns):
            value = A[k, column]
            for row in range(k + 1, size):
                value -= A[k, row] * A[row, column]
            A[k, column] = value * inverse
    return True
