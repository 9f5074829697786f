# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Steps of the Lie-group variational integrator with couplings and forces, K (62)–(64) projected, N (26)–(29).

The unknown is the mean velocity u of the step in independent coordinates, v = D u. With the discrete momenta of the
tree, −D₁L_d(q, v) and D₂L_d, a step solves

    Dᵀ (p_k − h/2 G(q_k) + h/2 Q(v) + D₁L_d) + π_k + h/2 Q_m(u) − J u = 0

where G is the weight at the node, Q the forces on joints and bodies and Q_m those of motors at the midpoint, J the
rotors' inertia and π_k their momentum. Then q_{k+1} = q_k ⊕ h v, p_{k+1} = D₂L_d + h/2 Q − h/2 G(q_{k+1}),
π_{k+1} = J u + h/2 Q_m. A root that floats carries its tree's spatial momentum μ, which only gravity and forces from
outside change, so residuals do not add up.
"""

import math

from mbsim_ros.contact.culling.pairs_kernel import list_all_pairs
from mbsim_ros.contact.culling.points_kernel import restore_near, save_near
from mbsim_ros.contact.layout import RESULT_COLUMNS
from mbsim_ros.coupling.clutch_kernel import restore_clutches, save_clutches
from mbsim_ros.integrators.layout import DRIVE_POSITION, DRIVE_VELOCITY
from mbsim_ros.integrators.lie_variational.acceptance.balance_kernel import LONG, balance_midpoints, finish_node_work
from mbsim_ros.integrators.lie_variational.acceptance.judge_kernel import passes_judgement
from mbsim_ros.integrators.lie_variational.body_forces_kernel import acts_on_bodies, finish_spatial_forces
from mbsim_ros.integrators.lie_variational.clutches.slip_kernel import (
    finish_clutches,
    hide_clutch_forces,
    show_clutch_forces,
    solve_with_clutches,
)
from mbsim_ros.integrators.lie_variational.gravity_kernel import gravity_into, place_floating_roots
from mbsim_ros.integrators.lie_variational.iteration.prediction_kernel import predict, remember_velocity
from mbsim_ros.integrators.lie_variational.joint_work_kernel import (
    add_work,
    add_work_on_bodies,
    any_drives,
    any_joint_forces,
)
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    FACTORED_STEP,
    IMPLAUSIBLE,
    NOT_CONVERGED,
    UNBALANCED,
    WEIGHTLESS,
    WITHOUT_FORCES,
)
from mbsim_ros.integrators.lie_variational.spatial_kernel import wrench_to_body, wrench_to_world
from mbsim_ros.integrators.lie_variational.vectors import (
    FORCE,
    MOTOR,
    PLUS,
    RIGHT,
    SAVED_ENERGIES,
    SAVED_FORCE,
    SAVED_LEDGER,
    SAVED_MEMORY,
    SAVED_MU,
    SAVED_P,
    SAVED_PAIR_ENERGIES,
    SAVED_PI,
    SAVED_PREVIOUS,
    SAVED_Q,
    SAVED_U,
    SAVED_X,
    UPDATE,
    VELOCITY,
    WEIGHT,
)
from mbsim_ros.integrators.retraction import advance_into
from mbsim_ros.integrators.state_bounds import is_plausible
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import FLOATING
from mbsim_ros.model.model import IV, KIND, PARENT

SAVED_RESULTS = 4  # where in a row of saved_contacts, after the mode and the deflection
LARGEST = 1.0e288  # J: beyond it, far from the largest number there is, energies are not trusted to be numbers
SAVED_CONTACT_COLUMNS = SAVED_RESULTS + RESULT_COLUMNS


@kernel
def steps_into(system, substeps, first, last, targets, period, judging):
    """Take the steps first … last − 1, each a composition of substeps (their lengths).

    Returns how many steps were done, their iterations, how many of them were judged (judge_kernel), and 0, or why the
    next step was not taken; the state is then that before this step. targets (rows, 2, nu): positions and velocities
    that the motors are to have, in step k those of row k // period; without rows they are left as they are. judging: a
    step that was hard to solve, or whose midpoints are out of balance (balance_kernel), is taken only if its nodes are
    in balance.
    """
    clutches = system.coupling.clutches
    iterations = taken = judged = 0  # iterations: with those of a step that is not finished; taken: without
    spatial = acts_on_bodies(system.external, system.contact, system.pairs, system.springs)
    if not spatial:
        forget_wrenches(system.work.wrenches)
    note_forces(system, spatial)
    node_gravity_into(system.tree, system.scheme.gravity, system.state.q, system.work)
    for k in range(first, last):
        if targets.shape[0] > 0 and k % period == 0:
            set_targets(system.motors, targets[k // period])
        save_state(system.state, system.contact, system.pairs, system.ledger, system.work)
        save_clutches(clutches)
        is_doubtful = False
        for s in range(substeps.shape[0]):
            predict(system.state, substeps.shape[0] == 1)
            form_rhs(system.state.p, substeps[s], system.work.vectors)
            result = solve_with_clutches(system, substeps[s], spatial)
            if result > 0:
                is_last = s == substeps.shape[0] - 1
                show_clutch_forces(clutches, system.work.vectors[MOTOR])
                is_doubtful |= balance_midpoints(system, substeps[s], is_last) or result > LONG
                hide_clutch_forces(clutches, system.work.vectors[MOTOR])
                complete(system, substeps[s], spatial)
                finish_clutches(system, substeps[s])
                iterations += result
                if not is_finite(system.state, system.contact, system.pairs, system.ledger, system.work.vectors):
                    result = NOT_CONVERGED
                elif not is_plausible(system.state.q, system.state.u):
                    result = IMPLAUSIBLE
                elif judging and is_last and is_doubtful:
                    if passes_judgement(system, iterations - taken):
                        judged += 1
                    else:
                        result = UNBALANCED
            if result < 0:
                restore_state(system.state, system.contact, system.pairs, system.ledger, system.work)
                restore_clutches(clutches)
                return k - first, taken, judged, result
        remember_velocity(system.state)
        taken = iterations
    return last - first, taken, judged, 0


@helper
def forget_wrenches(wrenches):
    """Clear what acted on bodies in a step before: joint_wrenches reads it after the step."""
    for i in range(wrenches.shape[0]):
        for k in range(6):
            wrenches[i, k] = 0.0


@helper
def set_targets(motors, target):
    """Set the motors' targets."""
    for i in range(motors.shape[1]):
        motors[DRIVE_POSITION, i], motors[DRIVE_VELOCITY, i] = target[0, i], target[1, i]


@helper
def note_forces(system, spatial):
    """Write whether steps may leave out the forces of joints and the weight, because there are none.

    Without weight a step still begins with the bodies placed at its node where others look at them.
    """
    memory, gravity = system.state.memory, system.scheme.gravity
    has_forces = any_joint_forces(system.joints) or any_drives(system.drives) or any_drives(system.motors)
    memory[WITHOUT_FORCES] = 0.0 if has_forces else 1.0
    is_weightless = gravity[0] == 0.0 and gravity[1] == 0.0 and gravity[2] == 0.0
    memory[WEIGHTLESS] = 1.0 if is_weightless and not spatial else 0.0


@helper
def node_gravity_into(tree, gravity, q, work):
    """Write the weight at the node and where the roots are there."""
    gravity_into(tree, q, gravity, work.sincos, work.rows, work.vectors[WEIGHT], work.root_poses, work.root_weights)


@helper
def form_rhs(p, h, vectors):
    """Write what the unknown of the step does not change: p_k − h/2 G(q_k)."""
    for i in range(p.shape[0]):
        vectors[RIGHT, i] = p[i] - 0.5 * h * vectors[WEIGHT, i]


@helper
def complete(system, h, spatial):
    """Move the state to the end of the step that was solved."""
    tree, state, coupling, work = system.tree, system.state, system.coupling, system.work
    vectors = work.vectors
    if state.memory[WITHOUT_FORCES] == 0.0:
        add_work(tree.dof_q, state, system.joints, system.drives, vectors, h, system.ledger)
    if spatial:
        add_work_on_bodies(system.external, work.rows, work.twists, system.springs, h, system.ledger)
        finish_spatial_forces(system.contact, system.pairs, work.rows, work.twists, h)
    for root in range(state.mu.shape[0]):
        for k in range(6):
            state.mu[root, k] += 0.5 * h * work.root_weights[root, k]
            if spatial:
                state.mu[root, k] += h * work.root_wrenches[root, k]
    # g_{k+1} = g_k τ(hξ), K (62), and r_{k+1} = r_k + hΔr, K (63)
    advance_into(tree.topology, system.scheme.retraction, state.q, vectors[VELOCITY], h, state.q)
    if state.memory[WEIGHTLESS] == 0.0:
        node_gravity_into(tree, system.scheme.gravity, state.q, work)
    else:
        place_floating_roots(tree, state.q, work.sincos, work.rows, work.root_poses)
    # p_{k+1}: what the next K (64) has of this step, ½ S(−hξ)ᵀ[M + M] v + h/4 (I⊗vᵀ)∇M v, h/2 S(−hξ)ᵀ f by K (59)
    for i in range(state.p.shape[0]):
        state.p[i] = vectors[PLUS, i] + 0.5 * h * (vectors[FORCE, i] - vectors[WEIGHT, i])
    finish_node_work(system, h)
    for i in range(state.u.shape[0]):
        rest = 0.5 * h * vectors[MOTOR, i] + vectors[UPDATE, i]
        if coupling.is_identity:  # a column is a joint: its momentum can hold all of it
            state.p[i] += rest
            rest = 0.0
        state.motor_momentum[i] = coupling.rotor[i] * state.u[i] + rest
        state.motor_position[i] += h * state.u[i]
    root = 0
    for i in range(tree.topology.shape[0]):
        if tree.topology[i, KIND] == FLOATING and tree.topology[i, PARENT] == 0:
            mu, iv = state.mu[root], tree.topology[i, IV]
            for k in range(6):
                mu[k] += 0.5 * h * work.root_weights[root, k]
                # D has one entry in the row of a root, or none if it is locked; μ has all of its momentum
                if coupling.start[iv + k] < coupling.start[iv + k + 1]:
                    state.motor_momentum[coupling.column[coupling.start[iv + k]]] = 0.0
            if coupling.start[iv] < coupling.start[iv + 1]:
                wrench_to_body(work.root_poses[root], mu, state.p[iv : iv + 6])
            else:  # what holds it changes its momentum, too
                wrench_to_world(work.root_poses[root], state.p[iv : iv + 6], 1.0, mu)
            root += 1


@helper
def is_finite(state, contact, pairs, ledger, vectors):
    """Whether the state, its kinetic energy and what was booked are finite numbers."""
    wrong = count_infinite(state.q) + count_infinite(ledger) + count_infinite(contact.energies)
    for i in range(state.p.shape[0]):
        # twice the energy with the mean velocities; with those of the node it may be many times as much
        wrong += not abs(state.p[i] * vectors[VELOCITY, i]) < LARGEST
    if pairs is not None:
        wrong += count_infinite(pairs.energies)
    return (
        wrong + count_infinite(state.u) + count_infinite(state.motor_position) + count_infinite(state.motor_momentum)
        == 0
    )


@helper
def count_infinite(x):
    """How many entries are no finite numbers; counted, for a processor does several at a time."""
    wrong = 0
    for i in range(x.shape[0]):
        wrong += not abs(x[i]) < math.inf
    return wrong


@helper
def save_state(state, contact, pairs, ledger, work):
    """Keep the state before a step."""
    vectors = work.vectors
    save(state.q, vectors[SAVED_Q])
    save(state.p, vectors[SAVED_P])
    save(state.u, vectors[SAVED_U])
    save(state.previous, vectors[SAVED_PREVIOUS])
    save(state.motor_position, vectors[SAVED_X])
    save(state.motor_momentum, vectors[SAVED_PI])
    save(state.force, vectors[SAVED_FORCE])
    save(ledger, vectors[SAVED_LEDGER])
    save(state.memory, vectors[SAVED_MEMORY])
    for root in range(state.mu.shape[0]):
        save(state.mu[root], vectors[SAVED_MU, 6 * root :])
    save(contact.energies, vectors[SAVED_ENERGIES])
    points = contact.modes.shape[0]
    save_near(contact.culling, contact.modes, contact.deflections, contact.results, work.saved_contacts[:points])
    if pairs is not None:
        save(pairs.energies, vectors[SAVED_PAIR_ENERGIES])
        save_contacts(pairs.modes, pairs.deflections, pairs.results, work.saved_contacts[points:])


@helper
def restore_state(state, contact, pairs, ledger, work):
    """Take back what a step that failed has done: all that save_state has kept, in the same order."""
    vectors = work.vectors
    restore(state.q, vectors[SAVED_Q])
    restore(state.p, vectors[SAVED_P])
    restore(state.u, vectors[SAVED_U])
    restore(state.previous, vectors[SAVED_PREVIOUS])
    restore(state.motor_position, vectors[SAVED_X])
    restore(state.motor_momentum, vectors[SAVED_PI])
    restore(state.force, vectors[SAVED_FORCE])
    restore(ledger, vectors[SAVED_LEDGER])
    restore(state.memory, vectors[SAVED_MEMORY])
    for root in range(state.mu.shape[0]):
        restore(state.mu[root], vectors[SAVED_MU, 6 * root :])
    restore(contact.energies, vectors[SAVED_ENERGIES])
    points = contact.modes.shape[0]
    restore_near(contact.culling, contact.modes, contact.deflections, contact.results, work.saved_contacts[:points])
    if pairs is not None:
        restore(pairs.energies, vectors[SAVED_PAIR_ENERGIES])
        restore_contacts(pairs.modes, pairs.deflections, pairs.results, work.saved_contacts[points:])
        list_all_pairs(pairs.culling)
    state.memory[FACTORED_STEP] = 0.0  # the factors are others by now


@helper
def save_contacts(modes, deflections, results, saved):
    """Keep the state of contacts, and what they report."""
    for i in range(modes.shape[0]):
        save(deflections[i], saved[i, 1:])
        save(results[i], saved[i, SAVED_RESULTS:])
        saved[i, 0] = modes[i]


@helper
def restore_contacts(modes, deflections, results, saved):
    """Take back the state of contacts, and what they report."""
    for i in range(modes.shape[0]):
        restore(deflections[i], saved[i, 1:])
        restore(results[i], saved[i, SAVED_RESULTS:])
        modes[i] = int(saved[i, 0])


@helper
def save(x, saved):
    """Copy x to the beginning of saved."""
    for i in range(x.shape[0]):
        saved[i] = x[i]


@helper
def restore(x, saved):
    """Copy the beginning of saved to x."""
    for i in range(x.shape[0]):
        x[i] = saved[i]
