# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A step with clutches that slip: which of them hold, and what that does to momenta and energy.

Each step is solved with some clutches held and the others slipping, until Coulomb's law holds for all. The force of one
that slips acts as a motor's does, h/2 of it in this step's equation and h/2 in the next one's, so its work h F s is to
rounding what the kinetic energy loses where inertia is constant. One that begins to hold takes the momentum of its slip
at the node as closing a clutch does (coupling/engagement.py): the kinetic energy beyond that of the held motion is lost
at once. At the end of a step the momentum along a column that is held says what its clutch bore, nothing of its motion,
which is none: it is made anew, π_s = (DᵀMD u)_s − (Dᵀp)_s with u_s = 0.
"""

import math

from mbsim_ros.coupling.clutch_kernel import (
    CLUTCH_COLUMN,
    CLUTCH_FORCE,
    CLUTCH_LOSS,
    CLUTCH_MODE,
    CLUTCH_RESIDUAL,
    CLUTCH_SAVED_MODE,
    HOLDS,
    hold_columns,
    hold_rates,
    switch_clutches,
)
from mbsim_ros.coupling.reduction_kernel import (
    factorise_dense_in_place,
    reduce_matrix_into,
    reduce_vector_into,
    solve_dense_in_place,
)
from mbsim_ros.dynamics.kernels.mass_matrix_kernel import mass_matrix_into
from mbsim_ros.integrators.lie_variational.solve_kernel import FACTORED_STEP, NODE_WORK, NOT_CONVERGED, solve
from mbsim_ros.integrators.lie_variational.vectors import MOTOR, SAVED_P, SAVED_PI, SAVED_Q
from mbsim_ros.jit import helper

ALL_AT_ONCE = 4  # trials in which every clutch that has to is switched; then one after the other


@helper
def solve_with_clutches(system, h, spatial):
    """Find u and which clutches hold; returns what `solve` does."""
    clutches, total = system.coupling.clutches, 0
    trials = 1 if clutches.shape[0] == 0 else 2 * ALL_AT_ONCE + 4 * clutches.shape[0]
    for trial in range(trials):
        hold_rates(clutches, system.state.u)
        result = solve(system, h, spatial)
        if result < 0:
            return result
        total += result
        if not switch_clutches(clutches, h, system.state.u, trial >= ALL_AT_ONCE):
            return total
        system.state.memory[FACTORED_STEP] = 0.0  # the columns that are held are others
    return NOT_CONVERGED


@helper
def show_clutch_forces(clutches, motor_forces):
    """Add the forces of clutches to those of the columns, for the balance of energy from midpoint to midpoint."""
    for k in range(clutches.shape[0]):
        i = int(clutches[k, CLUTCH_COLUMN])
        clutches[k, CLUTCH_RESIDUAL] = motor_forces[i]
        motor_forces[i] += clutches[k, CLUTCH_FORCE]


@helper
def hide_clutch_forces(clutches, motor_forces):
    """Take back what show_clutch_forces did: their work is no motor's."""
    for k in range(clutches.shape[0]):
        motor_forces[int(clutches[k, CLUTCH_COLUMN])] = clutches[k, CLUTCH_RESIDUAL]


@helper
def finish_clutches(system, h):
    """After the step is complete: momenta along the columns of clutches, and what they lost."""
    state, coupling, vectors = system.state, system.coupling, system.work.vectors
    clutches, holding, closing, caught = coupling.clutches, 0, 0, -1
    for k in range(clutches.shape[0]):
        clutch = clutches[k]
        i = int(clutch[CLUTCH_COLUMN])
        if clutch[CLUTCH_MODE] == HOLDS:
            holding += 1
            if clutch[CLUTCH_SAVED_MODE] != HOLDS:
                closing, caught = closing + 1, k
        else:
            state.motor_momentum[i] += 0.5 * h * clutch[CLUTCH_FORCE]
            clutch[CLUTCH_LOSS] -= h * clutch[CLUTCH_FORCE] * state.u[i]
    if closing > 0:
        nq, nv, nu = state.q.shape[0], state.p.shape[0], state.u.shape[0]
        q, p, pi = vectors[SAVED_Q, :nq], vectors[SAVED_P, :nv], vectors[SAVED_PI, :nu]
        loss = max(0.0, held_kinetic(system, q, p, pi, False) - held_kinetic(system, q, p, pi, True))
        clutches[caught, CLUTCH_LOSS] += loss  # of several that catch at one instant all is the last one's
        state.memory[NODE_WORK] -= loss
    if holding > 0:
        held_kinetic(system, state.q, state.p, state.motor_momentum, True)
        node = system.work.node
        # of `reduced` the upper triangle is still the matrix; node.v has Dᵀp
        for k in range(clutches.shape[0]):
            if clutches[k, CLUTCH_MODE] == HOLDS:
                i = int(clutches[k, CLUTCH_COLUMN])
                momentum = 0.0
                for j in range(i):
                    momentum += node.reduced[j, i] * node.u[j]
                for j in range(i + 1, node.u.shape[0]):
                    momentum += node.reduced[i, j] * node.u[j]
                state.motor_momentum[i] = momentum - vectors[MOTOR, i]


@helper
def held_kinetic(system, q, p, motor_momentum, holds):
    """Kinetic energy [J] of a node with the rates that are held, or none of them, at zero; leaves the rates in node.u.

    Dᵀp is left in the vector of the motors' forces, which the step no longer needs.
    """
    tree, coupling, node = system.tree, system.coupling, system.work.node
    nu = node.u.shape[0]
    reduced_p = system.work.vectors[MOTOR, :nu]
    mass_matrix_into(tree.topology, tree.constants, tree.dof_parent, q, node.sincos, node.rows, node.dofs, node.M)
    reduce_vector_into(coupling.start, coupling.column, coupling.ratio, p, reduced_p)
    reduce_matrix_into(tree.dof_parent, coupling.start, coupling.column, coupling.ratio, node.M, node.reduced)
    for i in range(nu):
        node.u[i] = reduced_p[i] + motor_momentum[i]
        node.reduced[i, i] += coupling.rotor[i]
    if holds:
        hold_columns(coupling.clutches, node.reduced)
        hold_rates(coupling.clutches, node.u)
    if factorise_dense_in_place(node.reduced) >= 0:
        return math.nan
    solve_dense_in_place(node.reduced, node.u)
    kinetic = 0.0
    for i in range(nu):
        kinetic += 0.5 * (reduced_p[i] + motor_momentum[i]) * node.u[i]
    return kinetic
