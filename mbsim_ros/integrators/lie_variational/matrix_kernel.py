# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The matrix of the iteration, Dᵀ(M + h/2 (slopes of the forces)) D + J + h/2 (slopes of the motors), and its factors.

    TREE        sparse LTL along the branches: legged robots without couplings
    DENSE       a full matrix of the independent velocities: couplings, springs and contacts that tie branches together
    RECURSIVE   articulated bodies with the exact Jacobian: long chains, in linear time; and any tree without couplings,
                while it moves so fast that what a mass matrix leaves out, of the order of the step, is not small

A force that depends on one body's state only (contact with the ground) adds to dofs of one branch and fits each of
them; springs and contacts between bodies add rank by rank to the full matrix.
"""

from mbsim_ros.contact.body_pairs_kernel import POINT, SHAPE, SHAPE_BODY
from mbsim_ros.contact.layout import POSITION
from mbsim_ros.coupling.clutch_kernel import hold_columns
from mbsim_ros.coupling.reduction_kernel import (
    factorise_dense_in_place,
    reduce_matrix_into,
    reduce_vector_into,
    solve_dense_in_place,
)
from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs
from mbsim_ros.dynamics.kernels.factorisation_kernel import factorise_in_place, solve_in_place
from mbsim_ros.dynamics.kernels.mass_matrix_kernel import placed_mass_matrix_into
from mbsim_ros.dynamics.layout import P_WB
from mbsim_ros.elastic.springs_kernel import DAMPING_TANGENT, STIFFNESS_TANGENT, length_gradients_into
from mbsim_ros.integrators.lie_variational.recursive_kernel import (
    INVERSE,
    add_contact_block,
    begin_recursion,
    eliminate,
    substitute,
)
from mbsim_ros.integrators.lie_variational.vectors import MOTOR_SLOPE, SCRATCH, SLOPE, VELOCITY
from mbsim_ros.jit import helper
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import INERTIA, IV, KIND, MASS

TREE, DENSE, RECURSIVE = range(3)
SMALLEST = 1.0e-6  # [m²] radius of inertia, squared, that a root is taken to have at least


@helper
def assemble(system, h, n_ground, n_pairs, exact):
    """Factor the matrix at the midpoint of the step, where the bodies are placed. False if it is singular.

    exact: as articulated bodies, where there is memory for both.
    """
    matrix, work = system.matrix, system.work
    if exact:
        return assemble_recursively(
            system.tree, system.scheme.retraction, system.contact, matrix.recursive, matrix.diagonal, work, h, n_ground
        )
    return assemble_matrix(
        system.tree, system.scheme, system.coupling, system.contact, system.pairs, system.springs, matrix.M,
        matrix.reduced, matrix.diagonal, work, h, n_ground, n_pairs,
    )  # fmt: skip


@helper
def assemble_matrix(
    tree, scheme, coupling, contact, pairs, springs, M, reduced, diagonal, work, h, n_ground, n_pairs
):  # fmt: skip
    """As a matrix, of the tree's dofs or of the independent velocities.

    What may be None is an argument of its own: numba then compiles nothing for it.
    """
    if M is None:
        return False
    begin_matrix(tree, contact, M, diagonal, work, h, n_ground)
    return finish_matrix(tree, scheme, coupling, pairs, springs, M, reduced, work, h, n_pairs)


@helper
def begin_matrix(tree, contact, M, diagonal, work, h, n_ground):
    """Write the mass matrix with what forces on single bodies and joints add."""
    vectors = work.vectors
    placed_mass_matrix_into(tree.topology, tree.constants, tree.dof_parent, work.rows, work.dofs, M)
    for i in range(M.shape[0]):
        M[i, i] += 0.5 * h * vectors[SLOPE, i]
        diagonal[i] = M[i, i]
    for k in range(n_ground):
        n = contact.active[k]
        at = contact.results[n]
        add_block(
            tree, contact.bodies[n], contact.blocks[n], at[POSITION], at[POSITION + 1], at[POSITION + 2], 0.5 * h,
            work.dofs, M,
        )  # fmt: skip


@helper
def finish_matrix(tree, scheme, coupling, pairs, springs, M, reduced, work, h, n_pairs):
    """Add what ties branches together, and factor. False if it is singular."""
    complete_matrix(tree, scheme, coupling, pairs, springs, M, reduced, work, h, n_pairs)
    return factor_matrix(tree, scheme, M, reduced)


@helper
def factor_matrix(tree, scheme, M, reduced):
    """Factor what complete_matrix has left. False if it is singular."""
    if scheme.factorisation == TREE:
        return factorise_in_place(tree.dof_parent, M) < 0
    return factorise_dense_in_place(reduced) < 0


@helper
def complete_matrix(tree, scheme, coupling, pairs, springs, M, reduced, work, h, n_pairs):
    """Add what ties branches together and what motors add; the matrix is then in M, or in reduced."""
    vectors = work.vectors
    if scheme.factorisation == TREE:
        for i in range(M.shape[0]):
            M[i, i] += coupling.rotor[i] + 0.5 * h * vectors[MOTOR_SLOPE, i]
        return
    reduce_matrix_into(tree.dof_parent, coupling.start, coupling.column, coupling.ratio, M, reduced)
    if springs is not None:
        add_springs(tree.topology, springs, coupling, work.rows, work.columns[0], h, reduced)
    if pairs is not None:
        for k in range(n_pairs):
            add_meeting(tree, pairs, pairs.active[k], coupling, work.dofs, 0.5 * h, work.columns, reduced)
    for i in range(reduced.shape[0]):
        reduced[i, i] += coupling.rotor[i] + 0.5 * h * vectors[MOTOR_SLOPE, i]
    hold_columns(coupling.clutches, reduced)


@helper
def assemble_recursively(tree, retraction, contact, factors, diagonal, work, h, n_ground):
    """As articulated bodies; needs the momenta at the midpoint, too."""
    if factors is None:
        return False
    vectors = work.vectors
    begin_recursion(tree, work.rows, factors)
    for k in range(n_ground):
        n = contact.active[k]
        at, body = contact.results[n], contact.bodies[n]
        w = work.rows[body + 1]
        x, y, z = at[POSITION] - w[P_WB], at[POSITION + 1] - w[P_WB + 1], at[POSITION + 2] - w[P_WB + 2]
        add_contact_block(contact.blocks[n], x, y, z, 0.5 * h, factors[body])
    slopes = vectors[SCRATCH]
    for i in range(tree.dof_parent.shape[0]):
        slopes[i] = vectors[SLOPE, i] + vectors[MOTOR_SLOPE, i]
    if not eliminate(tree, retraction, vectors[VELOCITY], h, slopes, work.rows, factors):
        return False
    write_pivots(tree, factors, diagonal)
    return True


@helper
def write_pivots(tree, factors, diagonal):
    """Write what each dof has of inertia while all beyond it is free to move: with long chains far less than M_ii."""
    for i in range(tree.topology.shape[0]):
        kind, iv, m = tree.topology[i, KIND], tree.topology[i, IV], tree.constants[i]
        if kind <= PRISMATIC:
            diagonal[iv] = 1.0 / abs(factors[i, INVERSE])
        else:  # a root: that of its own body
            for k in range(joint_dofs(kind)):
                axis = joint_axis(kind, k)
                own = m[MASS] if axis < 3 else m[INERTIA + axis - 3]
                diagonal[iv + k] = max(own, SMALLEST * m[MASS])


@helper
def solve_assembled(factorisation, tree, M, reduced, recursive, exact, x):
    """Replace x (nu,) by the solution with the factored matrix."""
    if recursive is not None and exact:
        substitute(tree, recursive, x)
    if M is not None and not exact:
        if factorisation == TREE:
            solve_in_place(tree.dof_parent, M, x)
        else:
            solve_dense_in_place(reduced, x)


@helper
def add_block(tree, body, block, x, y, z, factor, dofs, M):
    """Add factor · JᵀCJ to the pattern of M: J is the velocity of the point (x, y, z) of a body, C (9,) its block."""
    i = tree.topology[body, IV] + joint_dofs(tree.topology[body, KIND]) - 1
    while i >= 0:
        ax, ay, az = point_velocity(dofs[i], x, y, z)
        cx = factor * (block[0] * ax + block[3] * ay + block[6] * az)
        cy = factor * (block[1] * ax + block[4] * ay + block[7] * az)
        cz = factor * (block[2] * ax + block[5] * ay + block[8] * az)
        j = i
        while j >= 0:
            bx, by, bz = point_velocity(dofs[j], x, y, z)
            M[i, j] += cx * bx + cy * by + cz * bz
            j = tree.dof_parent[j]
        i = tree.dof_parent[i]


@helper
def point_velocity(column, x, y, z):
    """Velocity of the point (x, y, z) for a spatial twist (v, ω)."""
    return (
        column[0] + column[4] * z - column[5] * y,
        column[1] + column[5] * x - column[3] * z,
        column[2] + column[3] * y - column[4] * x,
    )


@helper
def add_springs(topology, springs, coupling, rows, g, h, reduced):
    """Add h/2 (d + k h/2) g gᵀ of every spring, g the gradient of its length by u; that part is never negative."""
    length_gradients_into(topology, springs.start, springs.point_row, rows, springs.segments, springs.gradients)
    for s in range(springs.start.shape[0] - 1):
        slope = 0.5 * h * (springs.states[s, DAMPING_TANGENT] + 0.5 * h * springs.states[s, STIFFNESS_TANGENT])
        if slope == 0.0:
            continue
        reduce_vector_into(coupling.start, coupling.column, coupling.ratio, springs.gradients[s], g)
        for i in range(reduced.shape[0]):
            for j in range(i + 1):
                reduced[i, j] += slope * g[i] * g[j]


@helper
def add_meeting(tree, pairs, pair, coupling, dofs, factor, columns, reduced):
    """Add factor · BᵀCB of a point that pushes on another body; B is how the one moves past the other with u."""
    for k in range(3):
        for i in range(reduced.shape[0]):
            columns[k, i] = 0.0
    at, block = pairs.results[pair], pairs.blocks[pair]
    x, y, z = at[POSITION], at[POSITION + 1], at[POSITION + 2]
    add_point_columns(tree, pairs.bodies[pairs.pairs[pair, POINT]], coupling, dofs, x, y, z, 1.0, columns)
    other = pairs.shape_ints[pairs.pairs[pair, SHAPE], SHAPE_BODY]
    if other >= 0:
        add_point_columns(tree, other, coupling, dofs, x, y, z, -1.0, columns)
    add_product(block, factor, columns, reduced)


@helper
def add_product(block, factor, columns, reduced):
    """Add factor · BᵀCB with the columns of B to the lower triangle."""
    for i in range(reduced.shape[0]):
        ax, ay, az = columns[0, i], columns[1, i], columns[2, i]
        cx = factor * (block[0] * ax + block[3] * ay + block[6] * az)
        cy = factor * (block[1] * ax + block[4] * ay + block[7] * az)
        cz = factor * (block[2] * ax + block[5] * ay + block[8] * az)
        for j in range(i + 1):
            reduced[i, j] += cx * columns[0, j] + cy * columns[1, j] + cz * columns[2, j]


@helper
def add_point_columns(tree, body, coupling, dofs, x, y, z, sign, columns):
    """Add sign times the velocity of a body's point per unit of each entry of u to columns (3, nu)."""
    i = tree.topology[body, IV] + joint_dofs(tree.topology[body, KIND]) - 1
    while i >= 0:
        vx, vy, vz = point_velocity(dofs[i], x, y, z)
        for k in range(coupling.start[i], coupling.start[i + 1]):
            ratio, column = sign * coupling.ratio[k], coupling.column[k]
            columns[0, column] += ratio * vx
            columns[1, column] += ratio * vy
            columns[2, column] += ratio * vz
        i = tree.dof_parent[i]
