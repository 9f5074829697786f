# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Projection with D, given by compressed rows: Dᵀ M D, Dᵀ x and D u, and solving with the small matrix that results.

D has about one entry per row, so nothing here multiplies with its zeros. The reduced matrix is full wherever motors tie
branches together, so it is factored as a full one.
"""

from mbsim_ros.dynamics.kernels.factorisation_kernel import factorise_chain
from mbsim_ros.jit import helper, kernel


@kernel
def reduce_matrix_into(dof_parent, start, column, ratio, M_tree, M_u):
    """Write Dᵀ M_tree D to M_u (nu, nu), both triangles, N (27).

    Of M_tree (tree nv, tree nv) only the entries [i, j] with j an ancestor of i in dof_parent, or i itself, are read.
    """
    nu = M_u.shape[0]
    for a in range(nu):
        for b in range(a + 1):
            M_u[a, b] = 0.0
    for i in range(dof_parent.shape[0]):
        first, last = start[i], start[i + 1]
        if first == last:
            continue  # locked: neither its row nor its column of M_tree is in the sum
        row = M_tree[i]
        for x in range(first, last):
            a, scaled = column[x], ratio[x] * row[i]
            for y in range(first, x + 1):  # columns ascend within a row of D
                M_u[a, column[y]] += scaled * ratio[y]
        j = dof_parent[i]
        while j >= 0:
            entry = row[j]
            for y in range(start[j], start[j + 1]):
                b, scaled = column[y], ratio[y] * entry
                for x in range(first, last):
                    a, product = column[x], scaled * ratio[x]
                    # M_tree[i, j] and M_tree[j, i] both: they meet on the diagonal of M_u
                    if a > b:
                        M_u[a, b] += product
                    elif b > a:
                        M_u[b, a] += product
                    else:
                        M_u[a, a] += 2.0 * product
            j = dof_parent[j]
    for a in range(nu):
        for b in range(a):
            M_u[b, a] = M_u[a, b]


@kernel
def add_rotors(rotor_inertia, M_u):
    """Add the inertias of the motors' rotors (nu,) to the diagonal of M_u."""
    for a in range(M_u.shape[0]):
        M_u[a, a] += rotor_inertia[a]


@kernel
def reduce_vector_into(start, column, ratio, x, x_u):
    """Write Dᵀ x to x_u (nu,): forces and momenta."""
    for a in range(x_u.shape[0]):
        x_u[a] = 0.0
    for i in range(x.shape[0]):
        value = x[i]
        for k in range(start[i], start[i + 1]):
            x_u[column[k]] += ratio[k] * value


@kernel
def expand_vector_into(start, column, ratio, u, v_tree):
    """Write D u to v_tree (tree nv,): velocities, and accelerations, for D does not change within a configuration."""
    for i in range(v_tree.shape[0]):
        value = 0.0
        for k in range(start[i], start[i + 1]):
            value += ratio[k] * u[column[k]]
        v_tree[i] = value


@helper
def expand_columns(coupling, u, v_tree):
    """The same, where D may be the identity."""
    if coupling.is_identity:
        for i in range(v_tree.shape[0]):
            v_tree[i] = u[i]
    else:
        expand_vector_into(coupling.start, coupling.column, coupling.ratio, u, v_tree)


@helper
def reduce_to_columns(coupling, x, x_u):
    """Dᵀ x, where D may be the identity."""
    if coupling.is_identity:
        for i in range(x_u.shape[0]):
            x_u[i] = x[i]
    else:
        reduce_vector_into(coupling.start, coupling.column, coupling.ratio, x, x_u)


@kernel
def factorise_dense_in_place(M):
    """Put the factors of M = LᵀDL on and below the diagonal of M. Returns -1, or the column with no positive pivot.

    Reads and writes the lower triangle only.
    """
    return factorise_chain(M)


@kernel
def solve_dense_in_place(factors, x):
    """Replace x by M⁻¹ x, with the factors that factorise_dense_in_place left."""
    n = x.shape[0]
    for i in range(n - 1, -1, -1):  # Lᵀ y = x
        row, value = factors[i], x[i]
        for j in range(i):
            x[j] -= row[j] * value
    for i in range(n):  # D L x = y
        row = factors[i]
        value = x[i] / row[i]
        for j in range(i):
            value -= row[j] * x[j]
        x[i] = value
