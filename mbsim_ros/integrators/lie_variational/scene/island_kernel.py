# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The equations of an island and their solution: solve_kernel's iteration, for all parts that touch each other at once.

Each member has its own residual, matrix and factors, which are kept while they serve; what ties them together is added
by conjugate gradients (ties_kernel). Convergence is that of the island, so no other one's iterations are in it.
"""

import math

from mbsim_ros.collision.touches_kernel import PLANE_BODY, POINT_BODY, touches_pass_into
from mbsim_ros.contact.layout import POSITION, SLIPS
from mbsim_ros.coupling.reduction_kernel import expand_columns
from mbsim_ros.integrators.lie_variational.matrix_kernel import add_block, solve_assembled
from mbsim_ros.integrators.lie_variational.rounding_kernel import ROUNDING, pressed, rounding_energy
from mbsim_ros.integrators.lie_variational.scene.joint_matrix_kernel import (
    CROWDED,
    FACTORED,
    INDEFINITE,
    factor_jointly,
    signature,
    solve_jointly,
)
from mbsim_ros.integrators.lie_variational.scene.part_kernel import (
    begin_part_matrix,
    complete_part_matrix,
    evaluate_part,
    factor_part,
    move_part,
)
from mbsim_ros.integrators.lie_variational.scene.ties_kernel import tie_parts
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    EXACT,
    FACTORED_POINTS,
    FACTORED_STEP,
    FEW,
    LEARNT,
    MANY,
    MAX_ITERATIONS,
    NOT_CONVERGED,
    REFRESH,
    RUNAWAY,
    SINGULAR,
    SOLVER_LEFT,
    SOLVER_RATE,
    STALLED,
    SUREST,
    TERMS,
    TOO_MANY,
    absolute_terms,
)
from mbsim_ros.integrators.lie_variational.vectors import (
    LAST_RESIDUAL,
    LAST_STEP_MADE,
    LAST_UPDATE,
    RESIDUAL,
    UPDATE,
    VELOCITY,
)
from mbsim_ros.jit import helper, inlined, kernel
from mbsim_ros.records import record

# Where the first update is no more than this part of the velocities all is nearly at rest: there what is left would be
# all that moves, so no more of it may be than in free motion, for the price of one more iteration with old factors.
ISLAND_QUIET = (1.0e-4) ** 2
# As SLOW: the matrix of an island costs less than its residuals, so it is factored anew sooner.
ISLAND_SLOW = 1.0e-3
# An iteration that shrinks ΔuᵀAΔu less than this is mixed with the one before, by this factor at most.
MIXED, MOST_MIXED = 1.0e-2, 4.0


@kernel
def solve_island(kind, scene_kind, scene_row, members, points, active, h):
    """Find u of all members, as solve does for one robot; returns the iterations, or why it was not found.

    active: memory for the numbers of the points that push.
    """
    scene = record(scene_kind, scene_row)
    n_members, is_alone = members.shape[0], members.shape[0] == 1 and points.shape[0] == 0
    is_sparse = is_full = True
    last, old, slow, sane = 0.0, True, False, 0.0
    scale, is_quiet = 0.0, False
    for iteration in range(1, MAX_ITERATIONS + 1):
        n_active, n_ties = evaluate_island(kind, scene_kind, scene_row, members, points, active, h)
        if iteration == TOO_MANY and is_alone:
            slow = go_exact(kind, scene, members[0]) or slow
        is_joint = n_ties > 0 and is_sparse
        is_forced = slow or iteration % REFRESH == 0
        if is_joint:
            is_any_new, outcome = factor_joint(
                kind, scene_kind, scene_row, members, active[:n_active], h, is_forced, is_full
            )
            if outcome != FACTORED:
                if outcome == INDEFINITE and not is_full:
                    return SINGULAR
                is_sparse, is_full = outcome != CROWDED, False
                continue
        else:
            is_any_new, is_regular = factor_stale(
                kind, scene_kind, scene_row, members, active[:n_active], h, is_forced, is_alone
            )
            if not is_regular:
                return SINGULAR
        old = old and not is_any_new
        scale, touching = 0.0, n_active > 0
        for m in range(n_members):
            part = record(kind, scene.table[members[m]])
            scale += scale_of_part(part, h)
            if not is_joint:
                solve_part(part)
        if is_joint:
            solve_jointly(kind, scene_kind, scene_row, members)
        elif n_ties > 0:
            tie_parts(kind, scene_kind, scene_row, members, active[:n_active], h)
        left = 0.0
        rate = SUREST
        for m in range(n_members):
            part = record(kind, scene.table[members[m]])
            left += size_of_update(part) if is_joint else energy_of_update(part)
            rate = max(rate, part.state.memory[SOLVER_RATE])
            touching = touching or scene.islands.active_set[members[m]] > 0.0
        left = abs(left)
        mix = mixing(kind, scene, members) if last > 0.0 and left > MIXED * last else 0.0
        for m in range(n_members):
            part = record(kind, scene.table[members[m]])
            add_update(part, mix)
        if iteration == 2:
            sane = RUNAWAY * scale
        if not (left < math.inf and scale < math.inf) or scale > sane > 0.0:
            return NOT_CONVERGED
        if last > 0.0:
            rate = max(left / last, LEARNT)
            set_memory(kind, scene, members, SOLVER_RATE, left / last)
            slow = old and left > ISLAND_SLOW * last
        elif touching:
            rate = 1.0  # what a smooth step has taught about the rate says nothing where points touch
            is_quiet = left <= ISLAND_QUIET * scale
        tolerances = record(kind, scene.table[members[0]]).scheme.tolerances
        tolerance = tolerances[1 if touching and not is_quiet else 0]
        done = left * rate <= tolerance * tolerance * scale or (0.0 < last <= left <= STALLED * scale)
        if not done and left > 0.5 * last > 0.0:
            done = left <= rounding_of_island(kind, scene_kind, scene_row, members, active[:n_active], h)
        if done:
            for m in range(n_members):
                part = record(kind, scene.table[members[m]])
                finish_part(part, iteration, old, left, scale)
            return iteration
        last = left
    set_memory(kind, scene, members, SOLVER_LEFT, math.sqrt(last / scale) if scale > 0.0 else 0.0)
    return NOT_CONVERGED


@inlined
def evaluate_island(kind, scene_kind, scene_row, members, points, active, h):
    """Write the residuals of all members; returns how many points between bodies push, and how many tie two parts."""
    scene = record(scene_kind, scene_row)
    islands, touches = scene.islands, scene.touches
    for m in range(members.shape[0]):
        t = members[m]
        move_part(kind, scene.table[t], h)  # its twists tell the next step what may come near
    n_active = touches_pass_into(
        touches, points, scene.bodies.rows, scene.bodies.twists, h, False, scene.wrenches, active
    )
    for m in range(members.shape[0]):
        t = members[m]
        islands.n_ground[t], islands.n_pairs[t], islands.active_set[t] = evaluate_part(
            kind, scene.table[t], h, islands.is_pushed[t]
        )
    n_ties = 0
    for a in range(n_active):
        n = active[a]
        p, q = touches.now.between[n, POINT_BODY], touches.now.between[n, PLANE_BODY]
        mark = (a + 1.3) * (a + 1.7) * (1.0 + 0.123 * touches.now.results[n, SLIPS])
        if p >= 0:
            islands.active_set[scene.bodies.part_of[p]] += mark
        if q >= 0:
            islands.active_set[scene.bodies.part_of[q]] += mark
        if p >= 0 and q >= 0:
            n_ties += 1
    return n_active, n_ties


@helper
def go_exact(kind, scene, t):
    """Let a part that is alone and hard to solve go on with the exact Jacobian; whether it can and did not before."""
    part = record(kind, scene.table[t])
    if part.matrix.recursive.shape[0] == 0 or part.state.memory[EXACT] != 0.0:
        return False
    part.state.memory[EXACT] = 1.0
    return True


@inlined
def factor_joint(kind, scene_kind, scene_row, members, active, h, is_forced, is_full):
    """Factor an island as one matrix, if it has to be; returns whether it was, and FACTORED, or why it cannot be."""
    scene = record(scene_kind, scene_row)
    mark, is_stale = signature(scene, members), is_forced
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        memory = part.state.memory
        memory[EXACT] = 0.0
        is_stale = (
            is_stale
            or scene.joint.mark[t] != mark
            or memory[FACTORED_STEP] != h
            or memory[FACTORED_POINTS] != scene.islands.active_set[t]
        )
    if not is_stale:
        return False, FACTORED
    outcome = factor_jointly(kind, scene_kind, scene_row, members, active, h, is_full)
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        memory = part.state.memory
        memory[FACTORED_STEP] = h if outcome == FACTORED else 0.0
        memory[FACTORED_POINTS], scene.joint.mark[t] = scene.islands.active_set[t], mark
    return True, outcome


@inlined
def factor_stale(kind, scene_kind, scene_row, members, active, h, is_forced, is_alone):
    """Factor the members whose factors no longer serve; returns whether there were any, and whether all are regular."""
    scene = record(scene_kind, scene_row)
    islands, touches, is_any = scene.islands, scene.touches, False
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        memory = part.state.memory
        if memory[EXACT] != 0.0 and not is_alone:
            memory[EXACT] = memory[FACTORED_STEP] = 0.0
        islands.is_stale[t] = (
            is_forced
            or memory[FACTORED_STEP] != h
            or memory[FACTORED_POINTS] != islands.active_set[t]
            or scene.joint.mark[t] != 0.0
        )
        scene.joint.mark[t] = 0.0
        if islands.is_stale[t]:
            is_any = True
            memory[FACTORED_STEP] = 0.0
            if memory[EXACT] == 0.0:
                begin_part_matrix(kind, scene.table[t], h, islands.n_ground[t])
    if not is_any:
        return False, True
    for a in range(active.shape[0]):  # on each body what the points do to it while the other one keeps still
        n = active[a]
        add_own_block(kind, scene, touches.now.between[n, POINT_BODY], n, h)
        add_own_block(kind, scene, touches.now.between[n, PLANE_BODY], n, h)
    for m in range(members.shape[0]):
        t = members[m]
        if not islands.is_stale[t]:
            continue
        part = record(kind, scene.table[t])
        memory = part.state.memory
        if memory[EXACT] == 0.0:
            complete_part_matrix(kind, scene.table[t], h, islands.n_pairs[t])
        if not factor_part(kind, scene.table[t], h, islands.n_ground[t]):
            return True, False
        memory[FACTORED_STEP], memory[FACTORED_POINTS] = h, islands.active_set[t]
    return True, True


@helper
def add_own_block(kind, scene, body, n, h):
    """Add what a point between bodies does to one of them to the matrix of its part, if that is to be factored."""
    if body < 0:
        return
    t = scene.bodies.part_of[body]
    if not scene.islands.is_stale[t]:
        return
    part = record(kind, scene.table[t])
    at = scene.touches.now.results[n]
    add_block(
        part.tree, body - scene.first_row[t], scene.touches.blocks[n], at[POSITION], at[POSITION + 1], at[POSITION + 2],
        0.5 * h, part.work.dofs, part.matrix.M,
    )  # fmt: skip


@helper
def scale_of_part(part, h):
    """The size of the terms of a part, as an energy."""
    state, coupling, vectors = part.state, part.coupling, part.work.vectors
    scale = 0.0
    for i in range(state.u.shape[0]):
        scale += coupling.rotor[i] * state.u[i] * state.u[i]
    for i in range(state.p.shape[0]):
        terms = absolute_terms(vectors, h, i)
        scale += terms * terms / part.matrix.diagonal[i]
    return scale


@helper
def solve_part(part):
    """Write the update of a part by itself."""
    state, matrix, vectors, nu = part.state, part.matrix, part.work.vectors, part.state.u.shape[0]
    for i in range(nu):
        vectors[UPDATE, i] = vectors[RESIDUAL, i]
    solve_assembled(
        part.scheme.factorisation, part.tree, matrix.M, matrix.reduced, matrix.recursive, state.memory[EXACT] != 0.0,
        vectors[UPDATE, :nu],
    )  # fmt: skip


@helper
def energy_of_update(part):
    """The part of a member in ΔuᵀAΔu."""
    vectors, left = part.work.vectors, 0.0
    for i in range(part.state.u.shape[0]):
        left += vectors[RESIDUAL, i] * vectors[UPDATE, i]
    return left


@helper
def size_of_update(part):
    """The same where A is not symmetric: ΔuᵀAΔu may be nothing though Δu is not, these terms may not."""
    vectors, left = part.work.vectors, 0.0
    for i in range(part.state.u.shape[0]):
        left += abs(vectors[RESIDUAL, i] * vectors[UPDATE, i])
    return left


@helper
def mixing(kind, scene, members):
    """How much of the iteration before is to be taken back: Anderson's mixing of the last two, in the norm of A.

    The matrix is symmetric and friction that slips is not: it may send the iteration to and fro between two points.
    """
    along = squared = 0.0
    for m in range(members.shape[0]):
        part = record(kind, scene.table[members[m]])
        vectors = part.work.vectors
        for i in range(part.state.u.shape[0]):
            change = vectors[RESIDUAL, i] - vectors[LAST_RESIDUAL, i]
            along += vectors[UPDATE, i] * change
            squared += (vectors[UPDATE, i] - vectors[LAST_UPDATE, i]) * change
    return min(max(along / squared, -MOST_MIXED), MOST_MIXED) if squared > 0.0 else 0.0


@helper
def add_update(part, mix):
    """Add the update to u, mixed with that of the iteration before."""
    u, vectors = part.state.u, part.work.vectors
    for i in range(u.shape[0]):
        update = vectors[UPDATE, i]
        step = update
        if mix != 0.0:
            step -= mix * (vectors[LAST_STEP_MADE, i] + update - vectors[LAST_UPDATE, i])
        u[i] += step
        vectors[LAST_STEP_MADE, i], vectors[LAST_UPDATE, i] = step, update
        vectors[LAST_RESIDUAL, i] = vectors[RESIDUAL, i]


@helper
def finish_part(part, iteration, old, left, scale):
    """Leave a part as `complete` takes it, and what its solver remembers."""
    state, coupling, vectors, memory = part.state, part.coupling, part.work.vectors, part.state.memory
    nv, nu = state.p.shape[0], state.u.shape[0]
    expand_columns(coupling, state.u, vectors[VELOCITY, :nv])
    for i in range(nu):  # what the last update adds to D₂L_d, which was taken before it: Dᵀ M D Δu
        vectors[UPDATE, i] = vectors[RESIDUAL, i] - coupling.rotor[i] * vectors[UPDATE, i]
    if not old:
        memory[SOLVER_RATE] = 1.0  # how well new factors did says nothing about how they will do from now on
    elif iteration > MANY:
        memory[FACTORED_STEP] = 0.0
    if memory[EXACT] != 0.0 and iteration <= FEW:
        memory[EXACT] = memory[FACTORED_STEP] = 0.0
    memory[SOLVER_LEFT] = math.sqrt(left / scale) if scale > 0.0 else 0.0
    memory[TERMS] = scale


@helper
def set_memory(kind, scene, members, entry, value):
    """Write an entry of the memory of all members."""
    for m in range(members.shape[0]):
        part = record(kind, scene.table[members[m]])
        part.state.memory[entry] = value


@inlined
def rounding_of_island(kind, scene_kind, scene_row, members, active, h):
    """The energy below which the iteration cannot get, as rounding_energy."""
    scene = record(scene_kind, scene_row)
    total = 0.0
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        total += rounding_energy(part, h, scene.islands.n_ground[t], scene.islands.n_pairs[t])
    for a in range(active.shape[0]):
        n = active[a]
        total += ROUNDING * pressed(scene.touches.now.parameters[n], scene.touches.now.results[n])
    return total
