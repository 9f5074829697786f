# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Velocities at a node of the trajectory: what the momenta there mean, (DᵀMD + J) u = Dᵀp + π."""

from mbsim_ros.coupling.reduction_kernel import (
    expand_vector_into,
    factorise_dense_in_place,
    reduce_matrix_into,
    reduce_vector_into,
    solve_dense_in_place,
)
from mbsim_ros.dynamics.kernels.factorisation_kernel import factorise_in_place, solve_in_place
from mbsim_ros.dynamics.kernels.mass_matrix_kernel import mass_matrix_into
from mbsim_ros.jit import kernel


@kernel
def node_velocity_into(tree, coupling, q, p, motor_momentum, sincos, rows, dofs, M, reduced, u, v):
    """Write u (nu,) and v = D u (tree nv,); M (nv, nv) with zeros outside its pattern and reduced are scratch.

    Returns False if the mass matrix is singular.
    """
    mass_matrix_into(tree.topology, tree.constants, tree.dof_parent, q, sincos, rows, dofs, M)
    nu = u.shape[0]
    if coupling.is_identity:
        for i in range(nu):
            u[i] = p[i] + motor_momentum[i]
            M[i, i] += coupling.rotor[i]
        if factorise_in_place(tree.dof_parent, M) >= 0:
            return False
        solve_in_place(tree.dof_parent, M, u)
    else:
        reduce_vector_into(coupling.start, coupling.column, coupling.ratio, p, u)
        reduce_matrix_into(tree.dof_parent, coupling.start, coupling.column, coupling.ratio, M, reduced)
        for i in range(nu):
            u[i] += motor_momentum[i]
            reduced[i, i] += coupling.rotor[i]
        if factorise_dense_in_place(reduced) >= 0:
            return False
        solve_dense_in_place(reduced, u)
    expand_vector_into(coupling.start, coupling.column, coupling.ratio, u, v)
    return True
