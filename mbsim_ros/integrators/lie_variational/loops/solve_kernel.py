# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The equations of a step with closed loops, and their solution: velocity and multipliers at once.

    Dᵀ (p_k − h/2 G(q_k) + h/2 Q(v) + D₁L_d + h ∇g(q_k)ᵀ λ) + π_k + h/2 Q_m(u) − J u = 0
    g(q_k ⊕ h D u) = 0

which is K (64) of K section 5, with Σ h λ_k·g(q_k) in the discrete action: the multipliers of a loop act at the node,
and the next node is on the loop. The matrix A of the iteration is that of the tree (solve_kernel of the folder above);
an iteration solves [A, −Jᵀ; J₊, 0] with its factors, J = ∇g(q_k) D and J₊ the same where the step ends:

    S ΔΛ = −g / h − J₊ A⁻¹ r,   Δu = A⁻¹ (r + Jᵀ ΔΛ),   S = J₊ A⁻¹ Jᵀ,   Λ = h λ

Of a few rows S is small. A gap that is only rounding is not worked on: a velocity cannot be known better than h lets
positions tell.
"""

import math

from mbsim_ros.coupling.reduction_kernel import expand_columns
from mbsim_ros.integrators.lie_variational.loops.multipliers_kernel import (
    add_impulses,
    reduce_rows,
    schur,
    solve_multipliers,
)
from mbsim_ros.integrators.lie_variational.loops.rows_kernel import closure_rows_into, end_rows_to_velocities, gaps
from mbsim_ros.integrators.lie_variational.matrix_kernel import assemble, solve_assembled
from mbsim_ros.integrators.lie_variational.rounding_kernel import rounding_energy
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    EXACT,
    FACTORED_POINTS,
    FACTORED_STEP,
    FEW,
    LEARNT,
    MANY,
    MAX_ITERATIONS,
    NOT_CONVERGED,
    QUIET,
    REFRESH,
    RUNAWAY,
    SINGULAR,
    SLOW,
    SOLVER_LEFT,
    SOLVER_RATE,
    STALLED,
    SUREST,
    TERMS,
    TOO_MANY,
    absolute_terms,
    evaluate,
)
from mbsim_ros.integrators.lie_variational.vectors import RESIDUAL, RIGHT, UPDATE, VELOCITY
from mbsim_ros.integrators.retraction import advance_into
from mbsim_ros.jit import helper

# In units of what rounding leaves of a gap: one that no longer shrinks is taken as closed, and what a row that says
# what others say may be open by, for it says something else by now.
NEARLY, SAYS_ELSE = 32.0, 1.0e6


@helper
def begin_loops(system, loops, h):
    """Write the rows at the node, and the impulses that the last multipliers would have; returns how many are kept."""
    work, vectors = system.work, system.work.vectors
    nv = system.state.p.shape[0]
    closure_rows_into(system.tree, loops, system.state.q, work.node.sincos, work.node.rows, loops.G_node)
    n = reduce_rows(system.coupling, loops, loops.G_node, loops.J_node)
    for i in range(nv):
        loops.right[i] = vectors[RIGHT, i]
    for k in range(n):
        loops.impulse[k] = h * loops.force[loops.kept[k]]
    return n


@helper
def solve_closed(system, loops, h, spatial):
    """Find u and the impulses; as solve of the folder above."""
    state, coupling, matrix = system.state, system.coupling, system.matrix
    vectors, memory = system.work.vectors, state.memory
    nv, nu = state.p.shape[0], state.u.shape[0]
    u, update, residual = state.u, vectors[UPDATE, :nu], vectors[RESIDUAL, :nu]
    last, old, slow, sane, is_quiet = 0.0, True, False, 0.0, False
    last_gap = math.inf
    has_exact = matrix.recursive.shape[0] > 0
    exact = has_exact and memory[EXACT] != 0.0
    n = begin_loops(system, loops, h)
    for iteration in range(1, MAX_ITERATIONS + 1):
        for i in range(nv):
            vectors[RIGHT, i] = loops.right[i]
        add_impulses(loops, n, loops.G_node, vectors[RIGHT, :nv])
        n_ground, n_pairs, active_set = evaluate(system, h, spatial)
        renew = iteration == 1
        if iteration == TOO_MANY and has_exact and not exact:
            exact, slow = True, True
        if slow or memory[FACTORED_STEP] != h or memory[FACTORED_POINTS] != active_set or iteration % REFRESH == 0:
            memory[FACTORED_STEP] = 0.0
            if not assemble(system, h, n_ground, n_pairs, exact):
                return SINGULAR
            memory[FACTORED_STEP], memory[FACTORED_POINTS] = h, active_set
            old, renew = False, True
        if renew:
            for k in range(n):
                for i in range(nu):
                    loops.solved[k, i] = loops.J_node[k, i]
                solve_assembled(
                    system.scheme.factorisation, system.tree, matrix.M, matrix.reduced, matrix.recursive, exact,
                    loops.solved[k],
                )  # fmt: skip
        scale = 0.0
        for i in range(nu):
            update[i] = residual[i]
            scale += coupling.rotor[i] * u[i] * u[i]
        for i in range(nv):
            terms = absolute_terms(vectors, h, i)
            scale += terms * terms / matrix.diagonal[i]
        solve_assembled(
            system.scheme.factorisation, system.tree, matrix.M, matrix.reduced, matrix.recursive, exact, update
        )
        gap, widest = end_gaps(system, loops, h)
        if not correct_closed(loops, n, gap > 1.0, h, residual, update):
            return SINGULAR
        left = 0.0
        for i in range(nu):
            left += residual[i] * update[i]  # ΔuᵀAΔu; the residual has the change of the impulses by now
            u[i] += update[i]
        left = abs(left)
        if iteration == 2:
            sane = RUNAWAY * scale
        if not (left < math.inf and scale < math.inf and gap < math.inf) or scale > sane > 0.0:
            return NOT_CONVERGED
        if last > 0.0:
            memory[SOLVER_RATE] = left / last
            slow = old and left > SLOW * last
        rate = max(memory[SOLVER_RATE], SUREST if iteration == 1 else LEARNT)
        if active_set > 0.0 and iteration == 1:
            rate = 1.0
        if iteration == 1:
            is_quiet = left <= QUIET * scale
        tolerance = system.scheme.tolerances[0 if active_set == 0.0 or is_quiet else 1]
        done = left * rate <= tolerance * tolerance * scale or (0.0 < last <= left <= STALLED * scale)
        if not done and left > 0.5 * last > 0.0:
            done = left <= rounding_energy(system, h, n_ground, n_pairs)
        is_closed = gap <= 1.0 or (gap <= NEARLY and gap > 0.5 * last_gap)
        if is_closed and widest > SAYS_ELSE:
            return SINGULAR
        if done and is_closed:
            expand_columns(coupling, u, vectors[VELOCITY, :nv])
            for i in range(nu):
                update[i] = residual[i] - coupling.rotor[i] * update[i]
            for k in range(n):
                loops.force[loops.kept[k]] = loops.impulse[k] / h
            if not old:
                memory[SOLVER_RATE] = 1.0
            elif iteration > MANY:
                memory[FACTORED_STEP] = 0.0
            if exact and iteration <= FEW:
                exact, memory[FACTORED_STEP] = False, 0.0
            memory[EXACT] = 1.0 if exact else 0.0
            memory[SOLVER_LEFT] = math.sqrt(left / scale) if scale > 0.0 else 0.0
            memory[TERMS] = scale
            return iteration
        last, last_gap = left, gap
    memory[SOLVER_LEFT] = math.sqrt(last / scale) if scale > 0.0 else 0.0
    return NOT_CONVERGED


@helper
def end_gaps(system, loops, h):
    """Write the rows where the step would end, and their derivatives by u; returns how far they are open."""
    tree, work, retraction = system.tree, system.work, system.scheme.retraction
    v = work.vectors[VELOCITY]
    advance_into(tree.topology, retraction, system.state.q, v, h, loops.q_end)
    closure_rows_into(tree, loops, loops.q_end, work.node.sincos, work.node.rows, loops.G_end)
    end_rows_to_velocities(tree, retraction, v, h, loops.G_end, loops.scratch)
    reduce_rows(system.coupling, loops, loops.G_end, loops.J_end)
    return gaps(tree, loops, loops.q_end)


@helper
def correct_closed(loops, n, has_gap, h, residual, update):
    """Add to the update, A⁻¹ r so far, and to the residual what the multipliers make of them. False if S is singular.

    has_gap: whether to close what is open.
    """
    nu = update.shape[0]
    schur(n, loops.J_end, loops.solved, loops.S)
    for k in range(n):
        loops.change[k] = -loops.g[loops.kept[k]] / h if has_gap else 0.0
        for i in range(nu):
            loops.change[k] -= loops.J_end[k, i] * update[i]
    if not solve_multipliers(n, loops.S, loops.change):
        return False
    for k in range(n):
        loops.impulse[k] += loops.change[k]
        for i in range(nu):
            update[i] += loops.solved[k, i] * loops.change[k]
            residual[i] += loops.J_node[k, i] * loops.change[k]
    return True
