# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W (5.11) for every body: what is unbalanced, by how much the constraints are missed, and all blocks of W (5.13)."""

from mbsim_ros.integrators.maximal.arrays import ROWS
from mbsim_ros.integrators.maximal.body_kernel import body_matrix_into, momenta_into
from mbsim_ros.integrators.maximal.contact.contact_kernel import add_contact_forces
from mbsim_ros.integrators.maximal.forces_kernel import add_body_forces, add_group_efforts, coordinate_impulse
from mbsim_ros.integrators.maximal.joint_kernel import constraints_of, joint_rows_into, rows_of
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import IV, KIND, MASS, PARENT

ROUNDED = 4.0e-3  # ε over the tolerance, twice: relative to a scale of this times m x/h rounding is as the tolerance


@kernel
def begin_step(system, h):
    """Write what a step knows before it is solved: the rows of the joints at the node, and the momenta with efforts."""
    tree, state, work = system.tree, system.state, system.work
    for i in range(tree.topology.shape[0]):
        parent = tree.topology[i, PARENT]
        joint_rows_into(
            tree.topology[i, KIND], tree.constants[i], tree.centres[i + 1], tree.centres[parent], tree.joint_turns[i],
            state.X[i + 1], state.X[parent], state.coordinates[i], work.gaps[i], work.now_out[i], work.now_in[i],
        )  # fmt: skip
        for k in range(7):
            work.known[i, k] = state.P[i, k]
    add_group_efforts(tree, system.drives, system.motors, state.X, 0.5 * h, work.known)


@kernel
def equations_into(system, h):
    """Write f, b, g and the blocks for X_next and the multipliers at hand; returns (largest |f|, |b| or |g|, scale).

    The scale is the largest term of the momenta, against which f is to be seen.
    """
    tree, state, work = system.tree, system.state, system.work
    topology, n = tree.topology, tree.topology.shape[0]
    X, X_next, multipliers = state.X, work.X_next, state.multipliers
    for i in range(n):
        body_matrix_into(tree.constants[i], X[i + 1], X_next[i + 1], h, work.M[i])
    add_body_forces(tree, system.external, system.gravity, X, X_next, h, work.forces, work.M)
    if system.contact.bodies.shape[0] > 0:
        add_contact_forces(system.contact, X, X_next, h, work.forces, work.M)
    for i in range(n):
        f, now = work.unbalanced[i], X[i + 1]
        momenta_into(tree.constants[i], now, X_next[i + 1], h, f, work.step[i + 1])
        for k in range(7):
            f[k] -= work.known[i, k] + 0.5 * h * work.forces[i, k]
        for k in range(4):  # B = 2 qᵀ
            f[3 + k] -= 2.0 * now[3 + k] * multipliers[i, 0]
    scale = smallest_scale(system, h)
    for i in range(n):
        kind, parent = topology[i, KIND], topology[i, PARENT]
        later, gaps, out, inn = X_next[i + 1], work.gaps[i], work.next_out[i], work.next_in[i]
        gaps[0] = later[3] * later[3] + later[4] * later[4] + later[5] * later[5] + later[6] * later[6] - 1.0
        work.coordinates_next[i] = joint_rows_into(
            kind, tree.constants[i], tree.centres[i + 1], tree.centres[parent], tree.joint_turns[i], later,
            X_next[parent], state.coordinates[i], gaps[1:], out, inn,
        )  # fmt: skip
        if kind <= PRISMATIC:
            impulse, slope, work.ways[i] = coordinate_impulse(
                tree.constants[i], system.joints, system.drives, system.motors, topology[i, IV], state.coordinates[i],
                work.coordinates_next[i], h,
            )  # fmt: skip
            gaps[ROWS] = multipliers[i, ROWS] - impulse
            for k in range(7):
                out[ROWS - 1, k] *= slope
                inn[ROWS - 1, k] *= slope
        for row in range(rows_of(kind)):
            value = multipliers[i, 1 + row]
            for k in range(7):
                work.unbalanced[i, k] -= work.now_out[i, row, k] * value
                if parent > 0:
                    work.unbalanced[parent - 1, k] -= work.now_in[i, row, k] * value
    return measure(system, scale)


@helper
def smallest_scale(system, h):
    """Momentum to measure by when nothing moves: what gravity gives in a step, and where rounding of places begins."""
    g, scale = system.gravity, 0.0
    for i in range(system.tree.topology.shape[0]):
        own, mass = system.state.X[i + 1], system.tree.constants[i, MASS]
        far = max(abs(own[0]), abs(own[1]), abs(own[2]))
        scale = max(scale, mass * (h * (abs(g[0]) + abs(g[1]) + abs(g[2])) + ROUNDED * far / h))
    return scale


@helper
def measure(system, scale):
    """Largest unbalanced momentum, largest gap, and the largest term of the momenta."""
    work, topology = system.work, system.tree.topology
    left, gap = 0.0, 0.0
    for i in range(topology.shape[0]):
        for k in range(7):
            left = max(left, abs(work.unbalanced[i, k]))
            scale = max(scale, abs(work.known[i, k]))
            if not abs(work.unbalanced[i, k]) < 1.0e300:  # a maximum would let NaN pass
                left = 1.0e300
        for row in range(1 + constraints_of(topology[i, KIND])):
            gap = max(gap, abs(work.gaps[i, row]))
            scale = max(scale, abs(system.state.multipliers[i, row]))
        if topology[i, KIND] <= PRISMATIC:
            left = max(left, abs(work.gaps[i, ROWS]))
    return left, gap, scale
