# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which points may touch the ground in this iteration: the others are left out, and nothing comes out differently.

A body's points were looked at where it stood then, its reference, and those within a margin of the ground kept in a
list, together with all that are in contact. The others are at least c above the ground. No point of the body has come
closer by more than ‖Δp‖ + ‖ΔR‖ reach, reach being the distance of its farthest point, and until the end of the step it
comes closer by no more than h/2 times its speed: while these sum up to no more than c, no point outside the list has a
force or a depth, at the middle of the step or at its end. That is checked in every pass, with a few sums a body, and
where it fails the body's points are looked at again. So no prediction is needed and no step is judged afterwards.

The list is in the order of the points: forces, matrices and energies add up in the order that they have without it.
What is remembered here only says what need not be computed; it is no part of the state.

    culled_pass_into     as contact_pass_into
    finish_near_into     as finish_step_into; keeps where the bodies were
    save_near, restore_near     the state of the points before a step
    complete_results_into       what the last step would have written for the points that were left out
"""

import math

from mbsim_ros.contact.contact_kernel import finish, place, touch_into, velocity
from mbsim_ros.contact.layout import RESULT_COLUMNS
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.contact.terrain_kernel import FLAT, HEIGHT_FIELD, terrain_at
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.jit import helper, kernel

MARGIN = 2.0e-3  # m: points that are so near are in the list
AHEAD = 4.0  # steps that a body goes on as fast as it is before it is looked at again
ROUNDING = 1.0e-9  # of the coordinates of a point
NEAR, SAVED, COMPLETE = range(3)  # counts: how many are listed, how many were saved, whether all results are there
COUNTS = 3
REACH, CLEARANCE, REFERENCE = 0, 1, 2  # of a body: farthest point, what may still be travelled, R_WB and p_WB then
BOUND_COLUMNS = 14
HIGHEST, STEEPEST = range(2)  # of the ground: no place of it is higher; √(1 + slope²) where it is steepest
SAVED_DEFLECTION, SAVED_RESULT = 1, 4  # in a row of what is saved of a point, after the mode
SAVED_COLUMNS = SAVED_RESULT + RESULT_COLUMNS


@kernel
def culled_pass_into(
    culling, bodies, geometry, kind, data, grid, parameters, modes, deflections, rows, twists, h, wrenches, results,
    blocks, active,
):  # fmt: skip
    """contact_pass_into without the points that cannot touch; the rows of results of those stay as they are."""
    find_near(culling, geometry, kind, data, grid, modes, deflections, rows, twists, h)
    count = 0
    for k in range(culling.counts[NEAR]):
        i = culling.near[k]
        if touch_into(
            i, bodies[i], geometry, kind, data, grid, parameters, modes, deflections, rows, twists, h, False, wrenches,
            results, blocks,
        ):  # fmt: skip
            active[count] = i
            count += 1
    return count


@helper
def find_near(culling, geometry, kind, data, grid, modes, deflections, rows, twists, h):
    """Look again at the points of bodies that have moved too far, and list those that may touch."""
    changed = False
    for g in range(culling.bodies.shape[0]):
        body, bound = culling.bodies[g], culling.bounds[g]
        row, twist = rows[body + 1], twists[body]
        ahead = 0.5 * h * culling.ground[STEEPEST] * speed(kind, row, twist, bound[REACH])
        if not travelled(kind, row, bound) + ahead <= bound[CLEARANCE]:  # also where something is not a number
            look(culling, g, geometry, kind, data, grid, modes, deflections, row, ahead)
            changed = True
    if changed:
        count = 0
        for i in range(culling.is_near.shape[0]):
            if culling.is_near[i]:
                culling.near[count] = i
                count += 1
        culling.counts[NEAR] = count


@helper
def travelled(kind, row, bound):
    """How much closer to the ground a point of a body may have come since it was looked at."""
    if kind == FLAT:  # along the vertical only
        at = REFERENCE
        turned = (
            abs(row[R_WB + 6] - bound[at + 6]) + abs(row[R_WB + 7] - bound[at + 7]) + abs(row[R_WB + 8] - bound[at + 8])
        )
        return abs(row[P_WB + 2] - bound[at + 11]) + turned * bound[REACH]
    moved, turned = 0.0, 0.0
    for k in range(9):
        turned += (row[R_WB + k] - bound[REFERENCE + k]) ** 2
    for k in range(3):
        moved += (row[P_WB + k] - bound[REFERENCE + 9 + k]) ** 2
    return math.sqrt(moved) + math.sqrt(turned) * bound[REACH]


@helper
def speed(kind, row, twist, reach):
    """A speed that no point of a body exceeds; on level ground the vertical one."""
    wx, wy, wz = twist[3], twist[4], twist[5]
    vx, vy, vz = velocity(twist, row[P_WB], row[P_WB + 1], row[P_WB + 2])
    if kind == FLAT:
        return abs(vz) + (abs(wx) + abs(wy)) * reach
    return math.sqrt(vx * vx + vy * vy + vz * vz) + math.sqrt(wx * wx + wy * wy + wz * wz) * reach


@helper
def look(culling, g, geometry, kind, data, grid, modes, deflections, row, ahead):
    """Mark which points of a body may touch before it has moved by a margin, and keep how far it is to the others."""
    margin = MARGIN + 2.0 * AHEAD * ahead
    least, any_near = math.inf, False
    for k in range(culling.start[g], culling.start[g + 1]):
        i = culling.members[k]
        room = clearance(culling.ground, kind, data, grid, row, geometry[i], margin)
        if modes[i] == NO_CONTACT and room > margin:
            least = min(least, room)
            if culling.is_near[i]:
                culling.is_near[i] = 0
                # as `finish` leaves what is in the air all along
                deflections[i, 0] = deflections[i, 1] = deflections[i, 2] = 0.0
        else:
            culling.is_near[i] = 1
            any_near = True
    bound = culling.bounds[g]
    # what has points in the list is looked at again before long, lest they stay there
    bound[CLEARANCE] = min(least, 2.0 * margin) if any_near else least
    for k in range(9):
        bound[REFERENCE + k] = row[R_WB + k]
    for k in range(3):
        bound[REFERENCE + 9 + k] = row[P_WB + k]


@helper
def clearance(ground, kind, data, grid, row, local, enough):
    """How far a point can go in any direction without touching; less where that is not known.

    On a field of heights H with ‖∇H‖ ≤ L the depth is r − (z − H)/√(1 + ‖∇H‖²), and z − H falls by no more than
    √(1 + L²) per distance: so (z − H)/√(1 + L²) − r can be gone. Above the highest place it is z − max H − r √(1 + L²).
    """
    x, y, z = place(row, local)
    radius, slack = local[3], ROUNDING * (1.0 + abs(x) + abs(y) + abs(z))
    if kind != HEIGHT_FIELD:
        gap, _, _, _ = terrain_at(kind, data, grid, x, y, z)
        return gap - radius - slack
    above = z - ground[HIGHEST] - radius * ground[STEEPEST]
    if not above > 2.0 * enough:
        gap, _, _, nz = terrain_at(kind, data, grid, x, y, z)
        above = max(above, gap / (nz * ground[STEEPEST]) - radius)
    return above - slack


@kernel
def finish_near_into(culling, parameters, h, modes, deflections, results, energies, rows, twists):
    """finish_step_into of the points that may touch; keeps where the bodies were for complete_results_into."""
    for k in range(culling.counts[NEAR]):
        i = culling.near[k]
        s = deflections[i]
        modes[i], s[0], s[1], s[2] = finish(parameters[i], h, modes[i], s[0], s[1], s[2], results[i], energies)
    if culling.counts[NEAR] == modes.shape[0]:
        return
    culling.counts[COMPLETE] = 0
    keep_poses(culling.bodies, rows, twists, culling.rows, culling.twists)


@kernel
def complete_results_into(
    culling, bodies, geometry, kind, data, grid, parameters, modes, deflections, wrenches, results, blocks
):  # fmt: skip
    """Write the results of the points that the last step left out. wrenches, blocks: of points without force, unread"""
    for i in range(modes.shape[0]):
        if not culling.is_near[i]:
            touch_into(
                i, bodies[i], geometry, kind, data, grid, parameters, modes, deflections, culling.rows, culling.twists,
                1.0, False, wrenches, results, blocks,
            )  # fmt: skip
    culling.counts[COMPLETE] = 1


@helper
def save_near(culling, modes, deflections, results, saved):
    """Keep the state of the points that may touch, and where the bodies were; of the others there is none."""
    count = culling.counts[NEAR]
    culling.counts[SAVED] = count
    for n in range(count):
        i = culling.near[n]
        culling.saved[n] = i
        row = saved[n]
        row[0] = modes[i]
        for k in range(3):
            row[SAVED_DEFLECTION + k] = deflections[i, k]
        for k in range(RESULT_COLUMNS):
            row[SAVED_RESULT + k] = results[i, k]
    if count < modes.shape[0]:
        keep_poses(culling.bodies, culling.rows, culling.twists, culling.saved_rows, culling.saved_twists)


@helper
def restore_near(culling, modes, deflections, results, saved):
    """Take back what save_near has kept, with the list as it was then; all bodies are to be looked at again."""
    for i in range(modes.shape[0]):
        modes[i], culling.is_near[i] = NO_CONTACT, 0
        deflections[i, 0] = deflections[i, 1] = deflections[i, 2] = 0.0
    count = culling.counts[SAVED]
    culling.counts[NEAR] = count
    for n in range(count):
        i, row = culling.saved[n], saved[n]
        culling.near[n], culling.is_near[i] = i, 1
        modes[i] = int(row[0])
        for k in range(3):
            deflections[i, k] = row[SAVED_DEFLECTION + k]
        for k in range(RESULT_COLUMNS):
            results[i, k] = row[SAVED_RESULT + k]
    if count < modes.shape[0]:
        keep_poses(culling.bodies, culling.saved_rows, culling.saved_twists, culling.rows, culling.twists)
        culling.counts[COMPLETE] = 0
    for g in range(culling.bodies.shape[0]):
        culling.bounds[g, CLEARANCE] = -1.0


@helper
def keep_poses(bodies, rows, twists, kept_rows, kept_twists):
    """Copy poses and twists of bodies."""
    for g in range(bodies.shape[0]):
        body = bodies[g]
        for k in range(6):
            kept_twists[body, k] = twists[body, k]
        row, kept = rows[body + 1], kept_rows[body + 1]
        for k in range(9):
            kept[R_WB + k] = row[R_WB + k]
        for k in range(3):
            kept[P_WB + k] = row[P_WB + k]
