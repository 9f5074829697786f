# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Slipping friction in the solution: it follows the normal force, which a symmetric matrix has no place for.

Of every point that slips on the ground the Jacobian has, beside what matrix_kernel factors as A, a matrix of rank one,
h/2 c (Jᵀf_t / f_n)(Jᵀn)ᵀ = a nᵀ, as slip_kernel says. Sherman and Morrison take it into account one point after the
other, with A⁻¹ that of the matrix so far:

    (A + a nᵀ)⁻¹ r = A⁻¹r − w (n · A⁻¹r),   w = A⁻¹a / (1 + n · A⁻¹a)

So the symmetric factors serve, and an iteration costs two products of vectors more for each point. n and w are kept
with the factors.
"""

from mbsim_ros.contact.layout import FN, FORCE, NORMAL, POSITION, SLIPS
from mbsim_ros.contact.slip_kernel import slip_gain
from mbsim_ros.integrators.lie_variational.matrix_kernel import add_point_columns, solve_assembled
from mbsim_ros.jit import helper

MOST_SLIPS = 8  # points that are taken into account: with more of them the iteration is as slow as without any
LEAST = 0.1  # of 1 + n · A⁻¹a: where friction all but jams what it acts on the symmetric part is the safer guide
NORMALS, WEIGHTED = range(2)


@helper
def factor_slips(system, h, n_ground):
    """Write n and w of the points that slip, after the symmetric part is factored; returns how many they are."""
    contact, work, matrix = system.contact, system.work, system.matrix
    normals, weighted, columns, count = matrix.slips[NORMALS], matrix.slips[WEIGHTED], work.columns, 0
    nu = system.state.u.shape[0]
    for k in range(n_ground):
        at = contact.results[contact.active[k]]
        if at[SLIPS] == 0.0 or count == normals.shape[0]:
            continue
        slip_vectors_into(system, contact.active[k], h, columns, normals[count], weighted[count])
        solve_assembled(
            system.scheme.factorisation, system.tree, matrix.M, matrix.reduced, matrix.recursive, False,
            weighted[count],
        )  # fmt: skip
        correct_for_slips(matrix.slips, count, weighted[count])
        denominator = 1.0
        for i in range(nu):
            denominator += normals[count, i] * weighted[count, i]
        if denominator > LEAST:
            for i in range(nu):
                weighted[count, i] /= denominator
            count += 1
    return count


@helper
def slip_vectors_into(system, n, h, columns, normal, push):
    """Write Jᵀn and h/2 c Jᵀf_t / f_n of a point, both (nu,)."""
    contact, at = system.contact, system.contact.results[n]
    nu = normal.shape[0]
    for k in range(3):
        for i in range(nu):
            columns[k, i] = 0.0
    add_point_columns(
        system.tree, contact.bodies[n], system.coupling, system.work.dofs, at[POSITION], at[POSITION + 1],
        at[POSITION + 2], 1.0, columns,
    )  # fmt: skip
    nx, ny, nz = at[NORMAL], at[NORMAL + 1], at[NORMAL + 2]
    gain = 0.5 * h * slip_gain(at, contact.blocks[n])
    fx, fy, fz = at[FORCE] - at[FN] * nx, at[FORCE + 1] - at[FN] * ny, at[FORCE + 2] - at[FN] * nz
    for i in range(nu):
        x, y, z = columns[0, i], columns[1, i], columns[2, i]
        normal[i] = nx * x + ny * y + nz * z
        push[i] = gain * (fx * x + fy * y + fz * z)


@helper
def correct_for_slips(slips, count, x):
    """Make of x (nu,), A⁻¹ r with the symmetric part, what it is with the first `count` points that slip."""
    for k in range(count):
        normal, weighted = slips[NORMALS, k], slips[WEIGHTED, k]
        along = 0.0
        for i in range(x.shape[0]):
            along += normal[i] * x[i]
        for i in range(x.shape[0]):
            x[i] -= weighted[i] * along
