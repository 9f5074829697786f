# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Steps of a scene: find what touches, solve each island by itself, advance those that are solved.

An island whose step is not taken is as it was before it, and reported; the others have gone on. So a scene never waits
for the hardest of its parts, and what happens to one island changes no bit of another.
"""

from mbsim_ros.collision.touches_kernel import detect, finish_touches_into, restore_touches, sum_stored
from mbsim_ros.contact.layout import ENERGIES
from mbsim_ros.integrators.lie_variational.acceptance.balance_kernel import HARD, LONG, balance_midpoints
from mbsim_ros.integrators.lie_variational.acceptance.judge_kernel import passes_judgement
from mbsim_ros.integrators.lie_variational.body_forces_kernel import acts_on_bodies, begin_wrenches
from mbsim_ros.integrators.lie_variational.node_velocity_kernel import node_velocity_into
from mbsim_ros.integrators.lie_variational.scene.island_kernel import solve_island
from mbsim_ros.integrators.lie_variational.scene.islands_kernel import find_islands, mark_tight, tighten
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    FACTORED_POINTS,
    IMPLAUSIBLE,
    NOT_CONVERGED,
    PARTS,
    UNBALANCED,
    evaluate_motion,
)
from mbsim_ros.integrators.lie_variational.step_kernel import (
    complete,
    form_rhs,
    is_finite,
    node_gravity_into,
    predict,
    restore_state,
    save_state,
)
from mbsim_ros.integrators.state_bounds import is_plausible
from mbsim_ros.jit import helper, kernel
from mbsim_ros.records import record

MOST_ROUNDS = 16  # in which islands grow together in one step


@kernel
def scene_steps_into(like, scene, h, first, last, moving, judging):
    """Take the steps first … last − 1 of length h with the parts that moving (P,) says.

    like: a part, of whose type all are. Returns how many steps all islands have done, the iterations (of each step
    those of the island that took most), how many parts were judged, and how many islands have not taken the next step,
    which the others have: islands.failure has the reason for each of their members.
    """
    spread_inputs(like, scene)
    for t in range(moving.shape[0]):
        part = record(like, scene.table[t])
        if moving[t]:
            node_gravity_into(part.tree, part.scheme.gravity, part.state.q, part.work)
    iterations = judged = 0
    for k in range(first, last):
        detect(scene.touches, scene.bodies, moving, h)
        begin_steps(like, scene, moving, h, judging)
        solve_islands(like, scene, moving, h)
        most = failed = 0
        for i in range(scene.islands.counts[0]):
            result, of_island = complete_island(like, scene, i, h, judging)
            most, judged = max(most, result), judged + of_island
            if result < 0:
                failed += 1
        iterations += most
        if failed > 0:
            sum_stored(scene.touches)
            return k - first, iterations, judged, failed
    sum_stored(scene.touches)
    return last - first, iterations, judged, 0


@helper
def spread_inputs(like, scene):
    """Give each part its own of what drives and pushes the scene."""
    inputs = scene.inputs
    for t in range(scene.table.shape[0]):
        part = record(like, scene.table[t])
        begin = inputs.first_dof[t]
        for i in range(inputs.first_dof[t + 1] - begin):
            at = inputs.dofs[begin + i]
            for k in range(inputs.joints.shape[0]):
                part.joints[k, i] = inputs.joints[k, at]
            for k in range(inputs.drives.shape[0]):
                part.drives[k, i] = inputs.drives[k, at]
        begin = inputs.first_column[t]
        for i in range(inputs.first_column[t + 1] - begin):
            for k in range(inputs.motors.shape[0]):
                part.motors[k, i] = inputs.motors[k, inputs.columns[begin + i]]
        begin = inputs.first_body[t]
        for i in range(inputs.first_body[t + 1] - begin):
            for k in range(6):
                part.external[i, k] = inputs.external[inputs.bodies[begin + i], k]


@helper
def begin_steps(like, scene, moving, h, judging):
    """Save all parts that move and guess their velocities; what is to begin with part of a step has failed."""
    islands = scene.islands
    for t in range(moving.shape[0]):
        islands.is_open[t], islands.failure[t], islands.iterations[t] = moving[t], 0, 0
        if not moving[t]:
            continue
        part = record(like, scene.table[t])
        save_state(part.state, part.contact, part.pairs, part.ledger, part.work)
        if judging and part.state.memory[PARTS] > 0.0:
            islands.failure[t] = UNBALANCED
        islands.is_pushed[t] = (
            part.springs.start.shape[0] > 1
            or part.pairs.pairs.shape[0] > 0
            or acts_on_bodies(part.external, part.contact, None, None)
        )
        predict(part.state, True, part.state.memory[FACTORED_POINTS] == 0.0)
        form_rhs(part.state.p, h, part.work.vectors)


@helper
def solve_islands(like, scene, moving, h):
    """Solve every island, and once more as one where points between two of them turn out to push."""
    islands, touches = scene.islands, scene.touches
    mark_tight(islands, touches, scene.bodies, h)
    for _ in range(MOST_ROUNDS):
        find_islands(islands, touches, scene.bodies.part_of, moving)
        for i in range(islands.counts[0]):
            solve_open(like, scene, i, h)
        if not tighten(islands, touches, scene.bodies, moving):
            return


@helper
def solve_open(like, scene, i, h):
    """Solve an island of which something is still to be solved; notes its iterations, or why not, with the members."""
    islands, touches = scene.islands, scene.touches
    begin, end = islands.first_point[i], islands.first_point[i + 1]
    members = islands.members[islands.first_member[i] : islands.first_member[i + 1]]
    is_open, before, failure = False, 0, 0
    for m in range(members.shape[0]):
        t = members[m]
        is_open = is_open or islands.is_open[t]
        before, failure = max(before, islands.iterations[t]), min(failure, islands.failure[t])
        islands.is_pushed[t] = islands.is_pushed[t] or end > begin
    if not is_open:
        return
    result = failure
    if failure == 0:
        result = solve_island(like, scene, members, islands.points[begin:end], touches.active[begin:end], h)
    for m in range(members.shape[0]):
        t = members[m]
        islands.is_open[t] = False
        islands.failure[t] = min(result, 0)
        islands.iterations[t] = before + max(result, 0)


@helper
def complete_island(like, scene, i, h, judging):
    """Move an island that was solved to the end of the step: its iterations, or why not, and how many were judged."""
    islands, touches = scene.islands, scene.touches
    members = islands.members[islands.first_member[i] : islands.first_member[i + 1]]
    points = islands.points[islands.first_point[i] : islands.first_point[i + 1]]
    if islands.failure[members[0]] < 0:
        mark_failure(like, scene, members, islands.failure[members[0]])
        return islands.failure[members[0]], 0
    energies, booked = touches.energies, (
        touches.energies[0], touches.energies[1], touches.energies[2], touches.energies[3], touches.energies[4],
        touches.energies[5],
    )  # fmt: skip
    finish_touches_into(touches, points, scene.bodies.rows, h)
    result, judged = complete_members(like, scene, members, points.shape[0] > 0, h, judging)
    if result < 0:
        mark_failure(like, scene, members, result)
        restore_touches(touches, points)
        for k in range(ENERGIES):
            energies[k] = booked[k]
        return result, judged
    return islands.iterations[members[0]], judged


@helper
def complete_members(like, scene, members, is_touching, h, judging):
    """Move all members to the end of the step, and look whether they may stay there; the reason why not, and judged.

    Where bodies touch it says nothing about one of them how many iterations all of them took.
    """
    result, judged, iterations = 0, 0, scene.islands.iterations[members[0]]
    for m in range(members.shape[0]):
        t = members[m]
        part = record(like, scene.table[t])
        is_doubtful = balance_midpoints(part, h, True) or (not is_touching and iterations > LONG)
        complete(part, h, scene.islands.is_pushed[t])
        if not is_finite(part.state, part.contact, part.pairs, part.ledger, part.work.vectors):
            return NOT_CONVERGED, judged
        if not is_plausible(part.state.q, part.state.u):
            return IMPLAUSIBLE, judged
        if judging and is_doubtful:
            judged += 1
            if not passes_judgement(part, min(iterations, HARD) if is_touching else iterations):
                result = UNBALANCED
    return result, judged


@helper
def mark_failure(like, scene, members, reason):
    """Take back what a step has done to the members, and note why."""
    for m in range(members.shape[0]):
        t = members[m]
        scene.islands.failure[t] = reason
        part = record(like, scene.table[t])
        restore_state(part.state, part.contact, part.pairs, part.ledger, part.work)


@kernel
def begin_twists(like, table, h):
    """Write the twists of all bodies at the beginning, by which the first step knows what may come near."""
    for t in range(table.shape[0]):
        part = record(like, table[t])
        evaluate_motion(part, h)
        begin_wrenches(part.tree, part.external, part.work)


@kernel
def scene_velocities_into(like, table, u, v, first_column, columns, first_dof, dofs):
    """Write the velocities at the node of all parts, u of columns and v of dofs, in the order of the model of all.

    Returns the first part whose mass matrix is singular, or -1.
    """
    for t in range(table.shape[0]):
        part = record(like, table[t])
        node, state = part.work.node, part.state
        if not node_velocity_into(
            part.tree, part.coupling, state.q, state.p, state.motor_momentum, node.sincos, node.rows, node.dofs, node.M,
            node.reduced, node.u, node.v,
        ):  # fmt: skip
            return t
        for i in range(node.u.shape[0]):
            u[columns[first_column[t] + i]] = node.u[i]
        for i in range(node.v.shape[0]):
            v[dofs[first_dof[t] + i]] = node.v[i]
    return -1
