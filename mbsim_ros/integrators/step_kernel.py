"""One step of the Lie-group variational integrator with couplings and joint forces, K (62)–(64) projected, N (26)–(29).

The unknown is the mean velocity u of the step in independent coordinates, v = D u. With the discrete momenta of the
tree, −D₁L_d(q, v) and D₂L_d, a step solves

    Dᵀ (p_k − h/2 G(q_k) + h/2 Q(v) + D₁L_d) + π_k + h/2 Q_m(u) − J u = 0

where G is the weight at the node, Q the forces on joints and Q_m those of motors at the middle, J the rotors' inertia
and π_k their momentum. Then q_{k+1} = q_k ⊕ h v, p_{k+1} = D₂L_d + h/2 Q − h/2 G(q_{k+1}), π_{k+1} = J u + h/2 Q_m.
A floating base carries its spatial momentum μ, which only gravity (and contact) changes, so residuals do not add up.

Quasi-Newton: the matrix Dᵀ(M + h/2 (slopes of Q)) D + J + h/2 (slopes of Q_m) at the predicted middle, factored once,
and again every REFRESH iterations.
"""

import math

from mbsim_ros.contact.contact_kernel import (
    POSITION,
    STORED_NORMAL,
    STORED_TANGENTIAL,
    contact_pass_into,
    finish_step_into,
)
from mbsim_ros.coupling.reduction_kernel import (
    expand_vector_into,
    factorise_dense_in_place,
    reduce_matrix_into,
    reduce_vector_into,
    solve_dense_in_place,
)
from mbsim_ros.dynamics.factorisation_kernel import factorise_in_place, solve_in_place
from mbsim_ros.dynamics.inverse_kernel import inverse_dynamics_into
from mbsim_ros.dynamics.mass_matrix_kernel import mass_matrix_into
from mbsim_ros.integrators.discrete_legendre import discrete_momenta_into, place_stage
from mbsim_ros.integrators.joint_forces import damping_force, drive_force, friction_force, stop_force
from mbsim_ros.integrators.middle import add_block, gather_wrenches, move_to_middle
from mbsim_ros.integrators.retraction import advance_into
from mbsim_ros.integrators.spatial import body_into, spatial_into
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import FLOATING
from mbsim_ros.model.model import KIND, PARENT

MAX_ITERATIONS, REFRESH = 80, 12
NOT_CONVERGED, SINGULAR = -1, -2
# What may be left of ΔuᵀAΔu after the last iteration, relative to the same norm of all terms: rounding, squared …
TOLERANCE = (1.0e-14) ** 2
# … and where an iteration that no longer gets better is taken as converged.
STALLED = (1.0e-12) ** 2
RATE, MEMORY = 0, 1  # the solver's memory between steps: the factor by which an iteration shrinks ΔuᵀAΔu
# Rows of work.vectors; the first three are scratch of discrete_momenta_into.
MINUS, PLUS, RIGHT, VELOCITY, FORCE, SLOPE, WEIGHT, IMPULSE, ZERO = range(3, 12)
UPDATE, RESIDUAL, MOTOR, MOTOR_SLOPE, SAVED_Q, SAVED_P, SAVED_MU, SAVED_U, SAVED_X, SAVED_PI = range(12, 22)
SAVED_PREVIOUS, SAVED_LEDGER, HALF, WRENCH, BASE_POSE, DIAGONAL, COLUMNS = range(22, 29)
VECTORS = COLUMNS + 6
# Entries of the ledger: work done on the mechanism by each kind of force.
ACTUATORS, DAMPING, FRICTION, STOPS = range(4)
LEDGER = 4


@kernel
def steps_into(tree, scheme, substeps, steps, state, coupling, joints, drives, motors, contact, work, ledger):
    """Take steps, each a composition of substeps (their lengths); returns how many were done, and the iterations.

    Instead of the iterations it is why a step was not solved; the state is then that before the step.
    """
    iterations = 0
    for done in range(steps):
        copy_state(state, work.vectors, True)
        for i in range(LEDGER):
            work.vectors[SAVED_LEDGER, i] = ledger[i]
        for s in range(substeps.shape[0]):
            if substeps.shape[0] == 1:
                for i in range(state.u.shape[0]):  # a step like the last one: extrapolate
                    guess = 2.0 * state.u[i] - state.previous[i]
                    state.previous[i] = state.u[i]
                    state.u[i] = guess
            result = step_into(
                tree, scheme, substeps[s], state, coupling, joints, drives, motors, contact, work, ledger
            )
            if result > 0 and not is_finite(state):
                result = NOT_CONVERGED
            if result < 0:
                copy_state(state, work.vectors, False)
                for i in range(LEDGER):
                    ledger[i] = work.vectors[SAVED_LEDGER, i]
                state.memory[RATE] = 1.0
                return done, result
            finish_contact(contact, substeps[s])
            iterations += result
    return steps, iterations


@helper
def step_into(tree, scheme, h, state, coupling, joints, drives, motors, contact, work, ledger):
    """Advance the state by one step of length h; returns the iterations, or why it was not solved."""
    q, p, vectors, rows = state.q, state.p, work.vectors, work.rows
    nv = p.shape[0]
    right, weight, zero, impulse = vectors[RIGHT], vectors[WEIGHT, :nv], vectors[ZERO, :nv], vectors[IMPULSE]
    # The weight is what inverse dynamics asks for at rest: minus the force of gravity.
    inverse_dynamics_into(tree.ints, tree.floats, q, zero, zero, scheme.gravity, work.none, work.trig, rows, weight)
    for i in range(nv):
        right[i] = p[i] - 0.5 * h * weight[i]
    has_base = tree.ints[0, KIND] == FLOATING and tree.ints[0, PARENT] == 0
    if has_base:
        spatial_into(rows[1], weight, -0.5 * h, impulse)
        for k in range(12):
            vectors[BASE_POSE, k] = rows[1, k]
    iterations = solve(tree, scheme, h, state, coupling, joints, drives, motors, contact, work)
    if iterations < 0:
        return iterations
    book(tree, h, state, joints, drives, motors, work, ledger)
    if contact.bodies.shape[0] > 0 and has_base:
        for k in range(6):
            state.mu[k] += h * vectors[WRENCH, k]
    v, force, plus = vectors[VELOCITY], vectors[FORCE], vectors[PLUS]
    advance_into(tree.ints, scheme.retraction, q, v, h, work.stage)
    for i in range(q.shape[0]):
        q[i] = work.stage[i]
    inverse_dynamics_into(tree.ints, tree.floats, q, zero, zero, scheme.gravity, work.none, work.trig, rows, weight)
    for i in range(nv):
        p[i] = plus[i] + 0.5 * h * (force[i] - weight[i])
    for i in range(state.u.shape[0]):
        rest = 0.5 * h * vectors[MOTOR, i] + vectors[UPDATE, i]
        if coupling.is_identity:  # a column is a joint: its momentum can hold all of it
            p[i] += rest
            rest = 0.0
        state.motor_momentum[i] = coupling.rotor[i] * state.u[i] + rest
        state.motor_position[i] += h * state.u[i]
    if has_base:
        for k in range(6):
            state.mu[k] += impulse[k]
        spatial_into(rows[1], weight, -0.5 * h, impulse)
        for k in range(6):
            state.mu[k] += impulse[k]
            state.motor_momentum[k] = 0.0  # the base's columns come first, and μ has all of their momentum
        body_into(rows[1], state.mu, p)
    return iterations


@helper
def solve(tree, scheme, h, state, coupling, joints, drives, motors, contact, work):
    """Find u; leaves v = D u, D₂L_d and the forces in work.vectors."""
    vectors, u = work.vectors, state.u
    nv, nu = state.p.shape[0], u.shape[0]
    v, minus, plus = vectors[VELOCITY, :nv], vectors[MINUS, :nv], vectors[PLUS, :nv]
    update, residual = vectors[UPDATE, :nu], vectors[RESIDUAL, :nu]
    expand_vector_into(coupling.start, coupling.column, coupling.ratio, u, v)
    last, touching = 0.0, 0
    for iteration in range(1, MAX_ITERATIONS + 1):
        fresh = iteration % REFRESH == 1
        apply_forces(tree, h, state, joints, drives, motors, vectors)
        if contact.bodies.shape[0] > 0:
            count = apply_contact(tree, scheme, h, state, contact, work)
            fresh = fresh or count != touching
            touching = count
        if fresh and not assemble(tree, scheme, h, state, coupling, contact, touching, work):
            return SINGULAR
        discrete_momenta_into(
            tree.ints, tree.floats, scheme.retraction, scheme.quadrature, state.q, v, h, work.trig, work.rows,
            work.stage, vectors, minus, plus,
        )  # fmt: skip
        for i in range(nv):  # the residual of the tree, where −D₁L_d was
            minus[i] = vectors[RIGHT, i] + 0.5 * h * vectors[FORCE, i] - minus[i]
        reduce_vector_into(coupling.start, coupling.column, coupling.ratio, minus, residual)
        scale = 0.0
        for i in range(nu):
            rotor = coupling.rotor[i] * u[i]
            residual[i] += state.motor_momentum[i] + 0.5 * h * vectors[MOTOR, i] - rotor
            update[i] = residual[i]
            scale += abs(rotor * u[i])
        for i in range(nv):  # of each row the absolute terms that its residual is the difference of, as an energy
            terms = abs(vectors[RIGHT, i]) + 0.5 * abs(h * vectors[FORCE, i]) + abs(plus[i])
            scale += terms * terms / vectors[DIAGONAL, i]
        solve_assembled(tree, coupling, work, update)
        left = 0.0
        for i in range(nu):
            left += residual[i] * update[i]  # ΔuᵀAΔu
            u[i] += update[i]
        if not (abs(left) < math.inf and scale < math.inf):
            return NOT_CONVERGED
        left = abs(left)
        expand_vector_into(coupling.start, coupling.column, coupling.ratio, u, v)
        if last > 0.0:
            state.memory[RATE] = left / last
        # Judged by what the next update would be: this one is already made. What a smooth step has taught about the
        # rate says nothing where points touch.
        rate = 1.0 if touching > 0 and iteration == 1 else state.memory[RATE]
        if left * rate <= TOLERANCE * scale or (0.0 < last <= left <= STALLED * scale):
            for i in range(nu):  # what the last update adds to D₂L_d, which was taken before it: Dᵀ M D Δu
                update[i] = residual[i] - coupling.rotor[i] * update[i]
            return iteration
        last = left
    return NOT_CONVERGED


@helper
def apply_forces(tree, h, state, joints, drives, motors, vectors):
    """Write forces on joints and motors at the middle of the step, and their slopes."""
    for i in range(state.p.shape[0]):
        at = tree.dof_q[i]
        if at < 0:
            vectors[FORCE, i], vectors[SLOPE, i] = drives.effort[i], 0.0
            continue
        v = vectors[VELOCITY, i]
        r = state.q[at] + 0.5 * h * v
        drive, drive_slope = drive_force(drives, i, r, v, h)
        damping, damping_slope = damping_force(joints, i, v)
        friction, friction_slope = friction_force(joints, i, v)
        stop, stop_slope = stop_force(joints, i, r, v, h)
        vectors[FORCE, i] = drive + damping + friction + stop
        vectors[SLOPE, i] = drive_slope + damping_slope + friction_slope + stop_slope
    for i in range(state.u.shape[0]):
        x = state.motor_position[i] + 0.5 * h * state.u[i]
        vectors[MOTOR, i], vectors[MOTOR_SLOPE, i] = drive_force(motors, i, x, state.u[i], h)


@helper
def apply_contact(tree, scheme, h, state, contact, work):
    """Add the contact forces in the middle of the step to the forces of the tree; returns how many points push."""
    vectors = work.vectors
    move_to_middle(
        tree, scheme.retraction, state.q, vectors[VELOCITY], h, work.trig, work.rows, work.dofs, vectors[HALF],
        work.stage, work.twists, work.wrenches,
    )  # fmt: skip
    count = contact_pass_into(
        contact.bodies, contact.geometry, contact.kind, contact.data, contact.grid, contact.parameters, contact.modes,
        contact.deflections, work.rows, work.twists, h, False, work.wrenches, contact.results, contact.blocks,
        contact.active,
    )  # fmt: skip
    gather_wrenches(tree, work.wrenches, work.dofs, vectors[FORCE], vectors[WRENCH])
    if tree.ints[0, KIND] == FLOATING and tree.ints[0, PARENT] == 0:
        body_into(vectors[BASE_POSE], vectors[WRENCH], vectors[FORCE])  # half of it acts at the first node, as Adᵀ W
    return count


@helper
def finish_contact(contact, h):
    """Carry the modes and deflections of the points to the end of a step that was taken."""
    contact.energies[STORED_NORMAL] = contact.energies[STORED_TANGENTIAL] = 0.0
    finish_step_into(contact.parameters, h, contact.modes, contact.deflections, contact.results, contact.energies)


@helper
def assemble(tree, scheme, h, state, coupling, contact, touching, work):
    """Factor the matrix of the iteration at the middle that the present u predicts. False if it is singular."""
    M, vectors = work.M, work.vectors
    nv, nu = state.p.shape[0], state.u.shape[0]
    if touching > 0:  # the columns of the dofs are needed after the mass matrix has used their place
        for i in range(nv):
            for k in range(6):
                vectors[COLUMNS + k, i] = work.dofs[i, k]
    place_stage(tree.ints, scheme.retraction, state.q, vectors[VELOCITY], h, 0.5, False, work.stage)
    mass_matrix_into(tree.ints, tree.floats, tree.dof_parent, work.stage, work.trig, work.rows, work.dofs, M)
    if touching > 0:
        for i in range(nv):
            for k in range(6):
                work.dofs[i, k] = vectors[COLUMNS + k, i]
    for i in range(nv):
        vectors[DIAGONAL, i] = M[i, i]
        M[i, i] += 0.5 * h * vectors[SLOPE, i]
    for k in range(touching):
        n = contact.active[k]
        at = contact.results[n]
        add_block(
            tree, contact.bodies[n], contact.blocks[n], at[POSITION], at[POSITION + 1], at[POSITION + 2], 0.5 * h,
            work.dofs, M,
        )  # fmt: skip
    if coupling.is_identity:
        for i in range(nu):
            M[i, i] += coupling.rotor[i] + 0.5 * h * vectors[MOTOR_SLOPE, i]
        return factorise_in_place(tree.dof_parent, M) < 0
    reduced = work.reduced
    reduce_matrix_into(tree.dof_parent, coupling.start, coupling.column, coupling.ratio, M, reduced)
    for i in range(nu):
        reduced[i, i] += coupling.rotor[i] + 0.5 * h * vectors[MOTOR_SLOPE, i]
    return factorise_dense_in_place(reduced) < 0


@helper
def solve_assembled(tree, coupling, work, x):
    """Replace x (nu,) by the solution with the factored matrix."""
    if coupling.is_identity:
        solve_in_place(tree.dof_parent, work.M, x)
        return
    solve_dense_in_place(work.reduced, x)


@helper
def book(tree, h, state, joints, drives, motors, work, ledger):
    """Add the work of each kind of force over the step, with the step's own velocities, to the ledger."""
    vectors = work.vectors
    for i in range(state.p.shape[0]):
        at, v = tree.dof_q[i], vectors[VELOCITY, i]
        if at < 0:
            ledger[ACTUATORS] += h * drives.effort[i] * v
            continue
        r = state.q[at] + 0.5 * h * v
        drive, _ = drive_force(drives, i, r, v, h)
        damping, _ = damping_force(joints, i, v)
        friction, _ = friction_force(joints, i, v)
        stop, _ = stop_force(joints, i, r, v, h)
        ledger[ACTUATORS] += h * drive * v
        ledger[DAMPING] += h * damping * v
        ledger[FRICTION] += h * friction * v
        ledger[STOPS] += h * stop * v
    for i in range(state.u.shape[0]):
        ledger[ACTUATORS] += h * vectors[MOTOR, i] * state.u[i]


@helper
def is_finite(state):
    """Whether the state after a step is made of finite numbers."""
    total = 0.0
    for i in range(state.q.shape[0]):
        total += state.q[i] * 0.0
    for i in range(state.p.shape[0]):
        total += state.p[i] * 0.0
    for i in range(state.u.shape[0]):
        total += (state.u[i] + state.motor_position[i] + state.motor_momentum[i]) * 0.0
    for i in range(6):
        total += state.mu[i] * 0.0
    return total == 0.0


@helper
def copy_state(state, vectors, saving):
    """Keep the state before a step, or take back what a step that failed has done."""
    copy(state.q, vectors[SAVED_Q], saving)
    copy(state.p, vectors[SAVED_P], saving)
    copy(state.mu, vectors[SAVED_MU], saving)
    copy(state.u, vectors[SAVED_U], saving)
    copy(state.previous, vectors[SAVED_PREVIOUS], saving)
    copy(state.motor_position, vectors[SAVED_X], saving)
    copy(state.motor_momentum, vectors[SAVED_PI], saving)


@helper
def copy(x, saved, saving):
    """Copy x to saved, or back."""
    for i in range(x.shape[0]):
        if saving:
            saved[i] = x[i]
        else:
            x[i] = saved[i]
