# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which pairs of points and shapes may meet: spheres around all points of a body and all shapes of another.

While these are apart all pairs of the two bodies are out of reach, and a pass writes for them what the one before did.
So a group of pairs leaves the list once a pass has written that and none of them is in contact, and is back in it in
the pass that finds the spheres near. The list is in the order of the pairs, and nothing comes out differently.
"""

from mbsim_ros.contact.body_pairs_kernel import finish_pair, meet_into
from mbsim_ros.contact.contact_kernel import place
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.jit import helper, kernel

LISTED, LEAVING, LEFT_OUT = range(3)  # what a group is; LEAVING: out of reach since the pass before
POINTS, SHAPES = 0, 4  # columns of the two spheres: centre in the frame of the body, radius
SPHERE_COLUMNS = 8


@kernel
def culled_pairs_pass_into(
    culling, pairs, shape_ints, shape_floats, bodies, geometry, parameters, modes, deflections, rows, twists, h,
    wrenches, results, blocks, active,
):  # fmt: skip
    """body_pairs_pass_into without the pairs that cannot meet."""
    find_near_pairs(culling, modes, rows)
    count = 0
    for k in range(culling.counts[0]):
        i = culling.near[k]
        if meet_into(
            i, pairs, shape_ints, shape_floats, bodies, geometry, parameters, modes, deflections, rows, twists, h,
            False, wrenches, results, blocks,
        ):  # fmt: skip
            active[count] = i
            count += 1
    return count


@kernel
def finish_near_pairs_into(culling, pairs, shape_ints, parameters, rows, h, modes, deflections, results, energies):
    """finish_body_pairs_into of the pairs that may meet."""
    for k in range(culling.counts[0]):
        finish_pair(culling.near[k], pairs, shape_ints, parameters, rows, h, modes, deflections, results, energies)


@helper
def find_near_pairs(culling, modes, rows):
    """List the pairs of groups whose spheres are near, and of those that have just come apart."""
    changed = False
    for g in range(culling.bodies.shape[0]):
        begin, end = culling.start[g], culling.start[g + 1]
        was = culling.status[g]
        if not are_apart(culling.spheres[g], rows[culling.bodies[g, 0] + 1], rows[culling.bodies[g, 1] + 1]):
            culling.status[g] = LISTED
            if was == LEFT_OUT:
                mark(culling, begin, end, 1)
                changed = True
        elif was == LISTED:
            culling.status[g] = LEAVING
        elif was == LEAVING and are_free(culling.members, begin, end, modes):
            culling.status[g] = LEFT_OUT
            mark(culling, begin, end, 0)
            changed = True
    if changed:
        list_near(culling)


@helper
def are_apart(spheres, row, other):
    """Whether the two spheres of a group do not meet; not where something is not a number."""
    x, y, z = place(row, spheres[POINTS:SHAPES])
    cx, cy, cz = place(other, spheres[SHAPES:SPHERE_COLUMNS])
    dx, dy, dz = x - cx, y - cy, z - cz
    reach = spheres[POINTS + 3] + spheres[SHAPES + 3]
    return dx * dx + dy * dy + dz * dz > reach * reach


@helper
def are_free(members, begin, end, modes):
    """Whether no pair of a group is in contact."""
    for k in range(begin, end):  # noqa: SIM110 (no kernel takes a generator)
        if modes[members[k]] != NO_CONTACT:
            return False
    return True


@helper
def mark(culling, begin, end, is_near):
    """Mark the pairs of a group."""
    for k in range(begin, end):
        culling.is_near[culling.members[k]] = is_near


@helper
def list_near(culling):
    """List what is marked, in order."""
    count = 0
    for i in range(culling.is_near.shape[0]):
        if culling.is_near[i]:
            culling.near[count] = i
            count += 1
    culling.counts[0] = count


@helper
def list_all_pairs(culling):
    """List all pairs: after a step that was taken back, whose passes have written over what they had."""
    for g in range(culling.status.shape[0]):
        culling.status[g] = LISTED
    for i in range(culling.is_near.shape[0]):
        culling.is_near[i], culling.near[i] = 1, i
    culling.counts[0] = culling.is_near.shape[0]
