# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Loops over states in compiled code: what a kernel costs when another kernel calls it."""

from mbsim_ros.dynamics.kernels.forward_kernel import forward_dynamics_into
from mbsim_ros.dynamics.kernels.inverse_kernel import inverse_dynamics_into
from mbsim_ros.dynamics.kernels.kinematics_kernel import world_poses_into
from mbsim_ros.dynamics.kernels.mass_matrix_kernel import mass_matrix_into
from mbsim_ros.dynamics.kernels.momentum_pass_kernel import momentum_pass_into
from mbsim_ros.jit import kernel


@kernel
def repeat_inverse_dynamics(rounds, topology, constants, q, v, a, gravity, wrenches, sincos, rows, tau):
    """Inverse dynamics of every state (row of q, v, a), `rounds` times."""
    for _ in range(rounds):
        for k in range(q.shape[0]):
            inverse_dynamics_into(topology, constants, q[k], v[k], a[k], gravity, wrenches, sincos, rows, tau)


@kernel
def repeat_forward_dynamics(rounds, topology, constants, q, v, tau, gravity, wrenches, sincos, rows, dofs, a):
    """Forward dynamics of every state, `rounds` times."""
    for _ in range(rounds):
        for k in range(q.shape[0]):
            forward_dynamics_into(topology, constants, q[k], v[k], tau[k], gravity, wrenches, sincos, rows, dofs, a)


@kernel
def repeat_mass_matrix(rounds, topology, constants, dof_parent, q, sincos, rows, dofs, M):
    """Mass matrix of every state, `rounds` times."""
    for _ in range(rounds):
        for k in range(q.shape[0]):
            mass_matrix_into(topology, constants, dof_parent, q[k], sincos, rows, dofs, M)


@kernel
def repeat_momentum_pass(rounds, topology, constants, q, v, sincos, rows, p, gradient):
    """Generalised momenta and gradient of the kinetic energy of every state, `rounds` times."""
    for _ in range(rounds):
        for k in range(q.shape[0]):
            momentum_pass_into(topology, constants, q[k], v[k], sincos, rows, p, gradient)


@kernel
def repeat_forward_kinematics(rounds, topology, constants, q, sincos, rows):
    """World poses of all bodies for every state, `rounds` times."""
    for _ in range(rounds):
        for k in range(q.shape[0]):
            world_poses_into(topology, constants, q[k], sincos, rows)
