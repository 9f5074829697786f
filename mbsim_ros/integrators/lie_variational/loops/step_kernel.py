# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Steps with closed loops: those of the folder above, with multipliers. Robots without loops compile nothing of it."""

import math

from mbsim_ros.integrators.lie_variational.acceptance.balance_kernel import HARD, LONG, balance_midpoints
from mbsim_ros.integrators.lie_variational.acceptance.judge_kernel import EASY_JUMP, HARD_JUMP, judge_nodes
from mbsim_ros.integrators.lie_variational.body_forces_kernel import acts_on_bodies
from mbsim_ros.integrators.lie_variational.iteration.prediction_kernel import predict, remember_velocity
from mbsim_ros.integrators.lie_variational.loops.multipliers_kernel import (
    add_root_impulses,
    closed_node_velocity_into,
)
from mbsim_ros.integrators.lie_variational.loops.rows_kernel import kept_rows
from mbsim_ros.integrators.lie_variational.loops.solve_kernel import solve_closed
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    GROSS_WORK,
    IMPLAUSIBLE,
    MIDPOINT_WORK,
    NODE_WORK,
    NOT_CONVERGED,
    START_KINETIC,
    UNBALANCED,
)
from mbsim_ros.integrators.lie_variational.step_kernel import (
    complete,
    form_rhs,
    is_finite,
    node_gravity_into,
    restore,
    restore_state,
    save,
    save_state,
    set_targets,
)
from mbsim_ros.integrators.lie_variational.vectors import SAVED_MEMORY, SAVED_P, SAVED_PI, SAVED_Q
from mbsim_ros.integrators.state_bounds import is_plausible
from mbsim_ros.jit import helper, kernel


@kernel
def closed_steps_into(system, loops, substeps, first, last, targets, period, judging):
    """Take the steps first … last − 1, as steps_into does."""
    iterations = taken = judged = 0
    spatial = acts_on_bodies(system.external, system.contact, system.pairs, system.springs)
    node_gravity_into(system.tree, system.scheme.gravity, system.state.q, system.work)
    for k in range(first, last):
        if targets.shape[0] > 0 and k % period == 0:
            set_targets(system.motors, targets[k // period])
        if judging:
            settle_work(system.state.memory)
        save_state(system.state, system.contact, system.pairs, system.ledger, system.work)
        save(loops.force, loops.saved_force)
        is_doubtful = False
        for s in range(substeps.shape[0]):
            predict(system.state, substeps.shape[0] == 1)
            form_rhs(system.state.p, substeps[s], system.work.vectors)
            result = solve_closed(system, loops, substeps[s], spatial)
            if result > 0:
                is_last = s == substeps.shape[0] - 1
                add_multipliers_work(loops, system.state)
                is_doubtful |= balance_midpoints(system, substeps[s], is_last) or result > LONG
                add_root_impulses(system.tree, loops, system.state.q, system.work.node, system.state.mu)
                complete(system, substeps[s], spatial)
                iterations += result
                if not is_finite(system.state, system.contact, system.pairs, system.ledger, system.work.vectors):
                    result = NOT_CONVERGED
                elif not is_plausible(system.state.q, system.state.u):
                    result = IMPLAUSIBLE
                elif judging and is_last and is_doubtful:
                    if passes_closed_judgement(system, loops, iterations - taken):
                        judged += 1
                    else:
                        result = UNBALANCED
            if result < 0:
                restore_state(system.state, system.contact, system.pairs, system.ledger, system.work)
                restore(loops.force, loops.saved_force)
                return k - first, taken, judged, result
        remember_velocity(system.state)
        taken = iterations
    return last - first, taken, judged, 0


@helper
def settle_work(memory):
    """Count the work so far to the energy of the start, so that small works of a step at rest are not rounded away.

    A jammed linkage creeps for long, at velocities of which a sum of all work since the start knows nothing.
    """
    memory[START_KINETIC] += memory[NODE_WORK]
    memory[NODE_WORK] = 0.0


@helper
def add_multipliers_work(loops, state):
    """Add to both balances (balance_kernel) what the multipliers work, of third order in the step.

    From midpoint to midpoint ½ (u_{k−1} + u_k)·Jᵀ Λ, from node to node ½ u_k·(J + J₊)ᵀ Λ. Near rest it is what the
    rounding of positions makes of a velocity along the rows, and there of the order of all other works.
    """
    u, previous, memory = state.u, state.previous, state.memory
    for k in range(kept_rows(loops)):
        impulse = 0.5 * loops.impulse[k]
        for i in range(u.shape[0]):
            memory[MIDPOINT_WORK] += impulse * loops.J_node[k, i] * (previous[i] + u[i])
            memory[NODE_WORK] += impulse * (loops.J_node[k, i] + loops.J_end[k, i]) * u[i]


@helper
def passes_closed_judgement(system, loops, iterations):
    """As passes_judgement, with velocities that keep the loops closed."""
    state, vectors = system.state, system.work.vectors
    nq, nv, nu = state.q.shape[0], state.p.shape[0], state.u.shape[0]
    before = closed_kinetic(system, loops, vectors[SAVED_Q, :nq], vectors[SAVED_P, :nv], vectors[SAVED_PI, :nu])
    after = closed_kinetic(system, loops, state.q, state.p, state.motor_momentum)
    saved = vectors[SAVED_MEMORY]
    allowed = EASY_JUMP if iterations <= HARD else HARD_JUMP
    return judge_nodes(state.memory, before, saved[NODE_WORK], saved[GROSS_WORK], after, allowed)[1]


@helper
def closed_kinetic(system, loops, q, p, motor_momentum):
    """Kinetic energy [J] at a node, rotors included; not a number where it cannot be had."""
    node = system.work.node
    if not closed_node_velocity_into(system.tree, system.coupling, loops, q, p, motor_momentum, node, node.u, node.v):
        return math.nan
    kinetic = 0.0
    for i in range(p.shape[0]):
        kinetic += 0.5 * p[i] * node.v[i]
    for i in range(motor_momentum.shape[0]):
        kinetic += 0.5 * motor_momentum[i] * node.u[i]
    return kinetic
