# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The equations of a step and their solution, quasi-Newton: one residual evaluation and one substitution an iteration.

The factored matrix is kept from step to step while it serves: where a robot stands or moves slowly the same factors do
for hundreds of steps. It is factored anew when the points that push or slip are others, when an iteration no longer
shrinks the residual well, when the last step took too many, or when what they leave over spoils the guesses.
"""

import math

from mbsim_ros.coupling.clutch_kernel import add_clutch_forces
from mbsim_ros.coupling.reduction_kernel import expand_columns, reduce_to_columns
from mbsim_ros.integrators.lie_variational.body_forces_kernel import apply_spatial_forces
from mbsim_ros.integrators.lie_variational.discrete_legendre_kernel import discrete_momenta_into
from mbsim_ros.integrators.lie_variational.iteration.last_update_kernel import carry_update
from mbsim_ros.integrators.lie_variational.iteration.slip_correction_kernel import correct_for_slips, factor_slips
from mbsim_ros.integrators.lie_variational.joint_work_kernel import apply_joint_forces, clear_joint_forces
from mbsim_ros.integrators.lie_variational.matrix_kernel import assemble, solve_assembled
from mbsim_ros.integrators.lie_variational.midpoint_kernel import midpoint_momenta, move_to_midpoint
from mbsim_ros.integrators.lie_variational.rounding_kernel import rounding_energy
from mbsim_ros.integrators.lie_variational.vectors import (
    FORCE,
    HALF,
    MINUS,
    MOTOR,
    PLUS,
    RESIDUAL,
    RIGHT,
    UPDATE,
    VELOCITY,
)
from mbsim_ros.jit import helper

MAX_ITERATIONS, REFRESH = 80, 12
NOT_CONVERGED, SINGULAR, UNBALANCED, IMPLAUSIBLE = -1, -2, -3, -4
# Where an iteration that no longer gets better is taken as converged: ΔuᵀAΔu relative to the same norm of all terms.
STALLED = (1.0e-12) ** 2
# Where the first update is no more than this part of the velocities a robot that touches is as good as at rest: what is
# left there would be all that moves, so no more of it may be than in free motion. The next guess is so much the better.
QUIET = (1.0e-6) ** 2
# An iteration with old factors that shrinks ΔuᵀAΔu less than this is followed by new ones.
SLOW = 0.04
# No better rate than this is counted on: a linear motion teaches a rate of 0, and then meets a stop. What is left of an
# update that is taken for the last one is at most ten times the tolerance.
SUREST = 1.0e-2
# The same of a rate that this very step has taught.
LEARNT = 1.0e-6
# A step with old factors that took more iterations makes the next one begin with new ones.
MANY = 2
# What an update leaves over is in the velocities that the next guesses are made of, and one of m terms makes up to 2ᵐ
# of it. Old factors that let more than a quarter of a miss come back that way, here squared, are followed by new ones
# in the next step: guesses would not get better with them, and every step would take one more iteration.
ECHO = 0.25**2
# An iteration with a mass matrix that takes more goes on with the exact Jacobian, and the next steps begin with it …
TOO_MANY = 8
# … until one takes no more than these.
FEW = 2
# An iteration whose terms grow by this, from what the first update made of them, runs away. Far out there matrices are
# so large that any residual would look small.
RUNAWAY = 1.0e8
# The solver's memory between steps: the factor by which an iteration shrinks ΔuᵀAΔu; the length of the step and the
# points that the factors are for (0, none: there are no factors); what was left; the terms that it is a part of.
SOLVER_RATE, FACTORED_STEP, FACTORED_POINTS, SOLVER_LEFT, TERMS = range(5)
# Of the balance of energy (balance_kernel): kinetic energy at the last midpoint, work since; length of the last step;
# error gathered, of the midpoints since the last judgement; work from node to node and all work, since the start;
# largest kinetic energy; steps with a jump of energy; parts that the last step was taken in, 0 where in one; step count
# at which the hard ones began.
MIDPOINT_KINETIC, MIDPOINT_WORK, LAST_STEP, RESIDUE, NODE_WORK, GROSS_WORK, PEAK_KINETIC = range(5, 12)
ROUGH_STEPS, START_KINETIC, PARTS, HARD_SINCE = range(12, 16)
# Whether the factors are those of the exact Jacobian, where there is a choice.
EXACT = 16
# How many of the last velocities the guess of the next is made of (prediction_kernel).
PREDICTION_ORDER = 17
# Points that slip whose part of the Jacobian is kept with the factors (slip_correction_kernel).
SLIPPING = 18
# Whether no force acts on joints or along them, and no weight on bodies, in the steps of this call (step_kernel).
WITHOUT_FORCES, WEIGHTLESS = 19, 20
MEMORY = 21


@helper
def solve(system, h, spatial):
    """Find u; leaves v = D u, D₂L_d and the forces in work.vectors. Returns the iterations, or why it was not found."""
    state, coupling, matrix = system.state, system.coupling, system.matrix
    vectors, memory = system.work.vectors, state.memory
    nv, nu = state.p.shape[0], state.u.shape[0]
    u, update, residual = state.u, vectors[UPDATE, :nu], vectors[RESIDUAL, :nu]
    last, old, slow, sane, is_quiet = 0.0, True, False, 0.0, False
    has_exact, has_mass_matrix = matrix.recursive is not None, matrix.M is not None
    exact = has_exact and (memory[EXACT] != 0.0 or not has_mass_matrix)
    for iteration in range(1, MAX_ITERATIONS + 1):
        n_ground, n_pairs, active_set = evaluate(system, h, spatial)
        if iteration == TOO_MANY and has_exact and not exact:
            exact, slow = True, True
        if slow or memory[FACTORED_STEP] != h or memory[FACTORED_POINTS] != active_set or iteration % REFRESH == 0:
            memory[FACTORED_STEP] = 0.0
            if not assemble(system, h, n_ground, n_pairs, exact):
                return SINGULAR
            memory[FACTORED_STEP], memory[FACTORED_POINTS] = h, active_set
            memory[SLIPPING] = 0.0 if exact else factor_slips(system, h, n_ground)
            old = False
        scale = 0.0
        for i in range(nu):
            update[i] = residual[i]
            scale += coupling.rotor[i] * u[i] * u[i]
        for i in range(nv):  # of each row the absolute terms that its residual is the difference of, as an energy
            terms = absolute_terms(vectors, h, i)
            scale += terms * terms / matrix.diagonal[i]
        solve_assembled(
            system.scheme.factorisation, system.tree, matrix.M, matrix.reduced, matrix.recursive, exact, update
        )
        slipping = int(memory[SLIPPING])
        correct_for_slips(matrix.slips, slipping, update)
        left = 0.0
        for i in range(nu):
            power = residual[i] * update[i]
            left += abs(power) if slipping > 0 else power  # ΔuᵀAΔu; unless A is symmetric that may vanish without Δu
            u[i] += update[i]
        left = abs(left)
        if iteration == 2:
            sane = RUNAWAY * scale
        if not (left < math.inf and scale < math.inf) or scale > sane > 0.0:
            return NOT_CONVERGED
        if last > 0.0:
            memory[SOLVER_RATE] = left / last
            slow = old and left > SLOW * last
        # Judged by what the next update would be: this one is already made. What a smooth step has taught about the
        # rate says nothing where points touch.
        rate = max(memory[SOLVER_RATE], SUREST if iteration == 1 else LEARNT)
        if active_set > 0.0 and iteration == 1:
            rate = 1.0
        if iteration == 1:
            is_quiet = left <= QUIET * scale
        tolerance = system.scheme.tolerances[0 if active_set == 0.0 or is_quiet else 1]
        done = left * rate <= tolerance * tolerance * scale or (0.0 < last <= left <= STALLED * scale)
        if not done and left > 0.5 * last > 0.0:
            done = left <= rounding_energy(system, h, n_ground, n_pairs)
        if done:
            expand_columns(coupling, u, vectors[VELOCITY, :nv])
            carry_update(system, h, n_ground, memory[WITHOUT_FORCES] == 0.0)
            if not old:
                memory[SOLVER_RATE] = 1.0  # how well new factors did says nothing about how they will do from now on
            elif iteration > MANY or (last > 0.0 and memory[SOLVER_RATE] * 4.0 ** memory[PREDICTION_ORDER] > ECHO):
                memory[FACTORED_STEP] = 0.0
            if exact and has_mass_matrix and iteration <= FEW:
                exact, memory[FACTORED_STEP] = False, 0.0
            memory[EXACT] = 1.0 if exact else 0.0
            memory[SOLVER_LEFT] = math.sqrt(left / scale) if scale > 0.0 else 0.0
            memory[TERMS] = scale
            return iteration
        last = left
    memory[SOLVER_LEFT] = math.sqrt(last / scale) if scale > 0.0 else 0.0
    return NOT_CONVERGED


@helper
def absolute_terms(vectors, h, i):
    """|p − h/2 G| + |h/2 Q| + |D₁L_d| of a row of the tree, after `evaluate` has left their sum where D₁L_d was."""
    right, half_force = vectors[RIGHT, i], 0.5 * h * vectors[FORCE, i]
    return abs(right) + abs(half_force) + abs(right + half_force - vectors[MINUS, i])


@helper
def evaluate(system, h, spatial):
    """Write the residual at u to work.vectors; returns what apply_spatial_forces does.

    Dᵀ (p_k − h/2 G(q_k) + h/2 Q(v) + D₁L_d) + π_k + h/2 Q_m(u) − J u, which is K (64), right side minus left, with
    all that belongs to the step before gathered in p_k; `right` has what u does not change.
    """
    evaluate_motion(system, h)
    n_ground, n_pairs, active_set = 0, 0, 0.0
    if spatial:
        n_ground, n_pairs, active_set = apply_spatial_forces(
            system.tree, system.external, system.contact, system.pairs, system.springs, system.work, h,
            system.work.vectors[FORCE],
        )  # fmt: skip
    evaluate_residual(system, h)
    return n_ground, n_pairs, active_set


@helper
def evaluate_motion(system, h):
    """Write v = D u, the forces of joints and motors, and where the bodies are at the midpoint, to work."""
    tree, state, coupling, work = system.tree, system.state, system.coupling, system.work
    vectors, u = work.vectors, state.u
    v = vectors[VELOCITY, : state.p.shape[0]]
    expand_columns(coupling, u, v)  # v = D u, D as in N (26)–(28)
    # h/2 S(hξ)ᵀ f of K (64), whose discrete force is K (58): of joints and motors, then of what acts on bodies
    if state.memory[WITHOUT_FORCES] == 0.0:
        apply_joint_forces(tree.dof_q, state, coupling, system.joints, system.drives, system.motors, vectors, h)
    else:
        clear_joint_forces(vectors)
    move_to_midpoint(tree, system.scheme.retraction, state.q, v, h, work.sincos, work.rows, vectors[HALF], work.stage)


@helper
def evaluate_residual(system, h):
    """Write the residual with the forces that work.vectors has."""
    tree, scheme, state, coupling, work = system.tree, system.scheme, system.state, system.coupling, system.work
    vectors, u = work.vectors, state.u
    nv, nu = state.p.shape[0], u.shape[0]
    v, minus, plus, residual = vectors[VELOCITY, :nv], vectors[MINUS, :nv], vectors[PLUS, :nv], vectors[RESIDUAL, :nu]
    # −D₁L_d: ½ S(hξ)ᵀ[M(r_k) + M(r_k + hΔr)] v_{k+1} − h/4 (I⊗vᵀ)∇M(r_k) v_{k+1} of K (64), from L_d, K (57)
    if tree.has_one_stage:
        midpoint_momenta(tree, scheme.retraction, v, h, work.rows, vectors, minus, plus)
    else:
        discrete_momenta_into(
            tree.topology, tree.constants, scheme.retraction, scheme.quadrature, state.q, v, h, work.sincos, work.rows,
            work.stage, vectors, minus, plus,
        )  # fmt: skip
    # K (64) of the tree, where −D₁L_d was: right has ½ S(−hξ_k)ᵀ[M + M] v_k and h/4 (I⊗vᵀ)∇M v_k, as p_k, and −h∇V(q_k)
    for i in range(nv):
        minus[i] = vectors[RIGHT, i] + 0.5 * h * vectors[FORCE, i] - minus[i]
    reduce_to_columns(coupling, minus, residual)  # Dᵀ times K (64)
    for i in range(nu):  # what the rotors of motors add
        residual[i] += state.motor_momentum[i] + 0.5 * h * vectors[MOTOR, i] - coupling.rotor[i] * u[i]
    add_clutch_forces(coupling.clutches, h, residual)
