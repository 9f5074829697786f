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

from mbsim_ros.collision.detection_kernel import detect
from mbsim_ros.collision.settling_kernel import settle, settle_points
from mbsim_ros.collision.touches_kernel import finish_touches_into, restore_touches, sum_stored
from mbsim_ros.contact.layout import ENERGIES
from mbsim_ros.integrators.lie_variational.scene.island_kernel import solve_island
from mbsim_ros.integrators.lie_variational.scene.islands_kernel import (
    find_islands,
    is_remote,
    mark_tight,
    open_parts,
    tighten,
)
from mbsim_ros.integrators.lie_variational.scene.part_kernel import (
    begin_part,
    complete_part,
    move_part,
    place_part,
    remember_part,
    restore_part,
    velocities_of_part,
)
from mbsim_ros.integrators.lie_variational.solve_kernel import PARTS, UNBALANCED
from mbsim_ros.jit import helper, inlined, kernel
from mbsim_ros.records import record

MOST_ROUNDS = 16  # in which islands grow together in one step
AT_A_TIME = 16  # islands: of free bodies some hundred kilobytes, which a core's own cache holds


@kernel
def scene_steps_into(kind, scene_kind, scene_row, h, first, last, moving, judging):
    """Take the steps first … last − 1 of length h with the parts that moving (P,) says.

    kind: the type of all parts; scene_kind, scene_row: the scene (records.py). Returns how many steps all islands have
    done, the iterations (of each step those of the island that took most), how many parts were judged, and how many
    islands have not taken the next step, which the others have: islands.failure has the reason for their members.
    """
    scene = record(scene_kind, scene_row)
    for t in range(moving.shape[0]):
        spread_inputs(kind, scene_kind, scene_row, t)
        if moving[t]:
            place_part(kind, scene.table[t])
    iterations = judged = 0
    for k in range(first, last):
        detect_touches(scene_kind, scene_row, moving, h)
        open_parts(scene.islands, scene.touches.now, scene.bodies.part_of, moving)
        mark_tight(scene.islands, scene.touches, scene.bodies, h)
        most, of_step, failed = take_islands(kind, scene_kind, scene_row, moving, h, judging)
        iterations, judged = iterations + most, judged + of_step
        if failed > 0:
            sum_stored(scene.touches)
            return k - first, iterations, judged, failed
    sum_stored(scene.touches)
    return last - first, iterations, judged, 0


@inlined
def detect_touches(scene_kind, scene_row, moving, h):
    """Find the points of contact between the shapes of all parts."""
    scene = record(scene_kind, scene_row)
    detect(scene.touches, scene.bodies, moving, h)
    settle_points(scene.touches)
    for k in range(ENERGIES):
        scene.touches.node_energies[k] = scene.touches.energies[k]


@inlined
def spread_inputs(kind, scene_kind, scene_row, t):
    """Give a part its own of what drives and pushes the scene."""
    scene = record(scene_kind, scene_row)
    inputs, part = scene.inputs, record(kind, scene.table[t])
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


@inlined
def take_islands(kind, scene_kind, scene_row, moving, h, judging):
    """Solve and complete every island: the iterations of the longest, how many parts were judged, how many failed.

    Where points between two islands turn out to push they are solved once more as one. Those that have no points with
    others are completed before the next ones are begun, some at a time: a large scene goes through the processor's
    cache once a step and not three times, and the code of each stage stays in it for as many as there are.
    """
    scene = record(scene_kind, scene_row)
    islands, touches = scene.islands, scene.touches
    most = judged = failed = 0
    find_islands(islands, touches, scene.bodies.part_of, moving)
    for begin in range(0, islands.counts[0], AT_A_TIME):
        end = min(begin + AT_A_TIME, islands.counts[0])
        for i in range(begin, end):
            begin_island(kind, scene_kind, scene_row, i, h, judging)
        for i in range(begin, end):
            solve_open(kind, scene_kind, scene_row, i, h)
        for i in range(begin, end):
            if is_remote(islands, i):
                result, of_island = complete_remote(kind, scene_kind, scene_row, i, h, judging)
                most, judged, failed = max(most, result), judged + of_island, failed + (result < 0)
    for _ in range(MOST_ROUNDS - 1):
        if not tighten(islands, touches, scene.bodies, moving):
            break
        find_islands(islands, touches, scene.bodies.part_of, moving)
        for i in range(islands.counts[0]):
            solve_open(kind, scene_kind, scene_row, i, h)
    for i in range(islands.counts[0]):
        if not is_remote(islands, i):
            result, of_island = complete_island(kind, scene_kind, scene_row, i, h, judging)
            most, judged, failed = max(most, result), judged + of_island, failed + (result < 0)
    return most, judged, failed


@inlined
def begin_island(kind, scene_kind, scene_row, i, h, judging):
    """Save the members and guess their velocities; what is to begin with part of a step has failed."""
    scene = record(scene_kind, scene_row)
    islands = scene.islands
    for m in range(islands.first_member[i], islands.first_member[i + 1]):
        t = islands.members[m]
        part = record(kind, scene.table[t])
        if judging and part.state.memory[PARTS] > 0.0:
            islands.failure[t] = UNBALANCED
        islands.is_pushed[t] = begin_part(kind, scene.table[t], h)
        settle_ground(scene.ground, t, part.contact)


@helper
def settle_ground(ground, t, contact):
    """Write the dampings of a part's points on the ground for a step."""
    first = ground.first[t]
    for i in range(contact.modes.shape[0]):
        row, law = ground.parameters[first + i], ground.dampings[first + i]
        settle(contact.modes[i], contact.results[i], law[0], law[1], row)


@kernel
def solve_open(kind, scene_kind, scene_row, i, h):
    """Solve an island of which something is still to be solved; notes its iterations, or why not, with the members."""
    scene = record(scene_kind, scene_row)
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
        result = solve_island(
            kind, scene_kind, scene_row, members, islands.points[begin:end], touches.active[begin:end], h
        )
    for m in range(members.shape[0]):
        t = members[m]
        islands.is_open[t] = False
        islands.failure[t] = min(result, 0)
        islands.iterations[t] = before + max(result, 0)


@inlined
def complete_island(kind, scene_kind, scene_row, i, h, judging):
    """Move an island that was solved to the end of the step: its iterations, or why not, and how many were judged."""
    scene = record(scene_kind, scene_row)
    islands, touches = scene.islands, scene.touches
    members = islands.members[islands.first_member[i] : islands.first_member[i + 1]]
    points = islands.points[islands.first_point[i] : islands.first_point[i + 1]]
    if islands.failure[members[0]] < 0:
        mark_failure(kind, scene, members, islands.failure[members[0]])
        return islands.failure[members[0]], 0
    energies, booked = touches.energies, (
        touches.energies[0], touches.energies[1], touches.energies[2], touches.energies[3], touches.energies[4],
        touches.energies[5],
    )  # fmt: skip
    finish_touches_into(touches, points, scene.bodies.rows, h)
    result, judged = complete_members(kind, scene, members, points.shape[0] > 0, h, judging)
    if result < 0:
        mark_failure(kind, scene, members, result)
        restore_touches(touches, points)
        for k in range(ENERGIES):
            energies[k] = booked[k]
        return result, judged
    for m in range(members.shape[0]):
        remember_part(kind, scene.table[members[m]])
    return islands.iterations[members[0]], judged


@kernel
def complete_remote(kind, scene_kind, scene_row, i, h, judging):
    """complete_island of a part without points."""
    scene = record(scene_kind, scene_row)
    islands = scene.islands
    t = islands.members[islands.first_member[i]]
    row, iterations = scene.table[t], islands.iterations[t]
    result, judged = islands.failure[t], 0
    if result == 0:
        result, judged = complete_part(kind, row, h, islands.is_pushed[t], False, iterations, judging)
    if result < 0:
        islands.failure[t] = result
        restore_part(kind, row)
        return result, judged
    remember_part(kind, row)
    return iterations, judged


@inlined
def complete_members(kind, scene, members, is_touching, h, judging):
    """Move all members to the end of the step, and look whether they may stay there; the reason why not, and judged."""
    result, judged, iterations = 0, 0, scene.islands.iterations[members[0]]
    for m in range(members.shape[0]):
        t = members[m]
        found, of_part = complete_part(
            kind, scene.table[t], h, scene.islands.is_pushed[t], is_touching, iterations, judging
        )
        judged += of_part
        if found == UNBALANCED:
            result = found
        elif found < 0:
            return found, judged
    return result, judged


@inlined
def mark_failure(kind, scene, members, reason):
    """Take back what a step has done to the members, and note why."""
    for m in range(members.shape[0]):
        scene.islands.failure[members[m]] = reason
        restore_part(kind, scene.table[members[m]])


@kernel
def take_back_step(kind, table, moved):
    """Take back the last step of the parts that moved (P,) says."""
    for t in range(table.shape[0]):
        if moved[t]:
            restore_part(kind, table[t])


@kernel
def begin_twists(kind, table, h):
    """Write the twists of all bodies at the beginning, by which the first step knows what may come near."""
    for t in range(table.shape[0]):
        move_part(kind, table[t], h)


@kernel
def scene_velocities_into(kind, table, u, v, first_column, columns, first_dof, dofs):
    """Write the velocities at the node of all parts, u of columns and v of dofs, in the order of the model of all.

    Returns the first part whose mass matrix is singular, or -1.
    """
    for t in range(table.shape[0]):
        if not velocities_of_part(kind, table[t]):
            return t
        node = record(kind, table[t]).work.node
        for i in range(node.u.shape[0]):
            u[columns[first_column[t] + i]] = node.u[i]
        for i in range(node.v.shape[0]):
            v[dofs[first_dof[t] + i]] = node.v[i]
    return -1
