# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact of points with shapes of other bodies: the law of the ground with the shape's surface in its place.

The force acts on both bodies at the same place, with opposite signs, and on their relative velocity there: total
momentum is kept to rounding. Deflections are kept in the frame of the shape's body, with which the contact turns.
"""

import math

from mbsim_ros.contact.contact_kernel import add_wrench, finish, force_into, place, place_result, velocity
from mbsim_ros.contact.layout import CONTACT_RATE, DEPTH, FN, FORCE, SLIPS
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.dynamics.layout import R_WB
from mbsim_ros.jit import helper, kernel

BOX, SPHERE = range(2)
# Columns of the arrays of a pair and of a shape.
POINT, SHAPE = range(2)
SHAPE_KIND, SHAPE_BODY = range(2)
ROTATION, CENTRE, SIZE, REACH = 0, 9, 12, 15  # R_BS, p_BS, half edges (or the radius, 0, 0), radius around it all
SHAPE_COLUMNS = 16


@kernel
def body_pairs_pass_into(
    pairs, shape_ints, shape_floats, bodies, geometry, parameters, modes, deflections, rows, twists, h, full, wrenches,
    results, blocks, active,
):  # fmt: skip
    """Add the wrenches of all pairs to wrenches (bodies, 6), on both bodies, and return the number that push.

    pairs (m, 2): point and shape. shape_ints (s, 2): kind and body (-1: the world). shape_floats (s, 16). bodies,
    geometry: the points, as in `contact_pass_into`, like all that follows; modes, deflections, results, blocks and
    active have a row per pair. A result is that of the point; the velocity in it is relative to the shape.
    """
    count = 0
    for i in range(pairs.shape[0]):
        if meet_into(
            i, pairs, shape_ints, shape_floats, bodies, geometry, parameters, modes, deflections, rows, twists, h, full,
            wrenches, results, blocks,
        ):  # fmt: skip
            active[count] = i
            count += 1
    return count


@kernel
def finish_body_pairs_into(pairs, shape_ints, parameters, rows, h, modes, deflections, results, energies):
    """Carry the state of all pairs to the end of the step, as `finish_step_into` does; rows as in the last pass."""
    for i in range(pairs.shape[0]):
        finish_pair(i, pairs, shape_ints, parameters, rows, h, modes, deflections, results, energies)


@helper
def meet_into(
    i, pairs, shape_ints, shape_floats, bodies, geometry, parameters, modes, deflections, rows, twists, h, full,
    wrenches, results, blocks,
):  # fmt: skip
    """One pair of body_pairs_pass_into; whether it pushes."""
    point, shape, result = pairs[i, POINT], pairs[i, SHAPE], results[i]
    body, other = bodies[point], shape_ints[shape, SHAPE_BODY]
    radius, row, floats = geometry[point, 3], rows[other + 1], shape_floats[shape]
    x, y, z = place(rows[body + 1], geometry[point])
    cx, cy, cz = place(row, floats[CENTRE : CENTRE + 3])
    dx, dy, dz = x - cx, y - cy, z - cz
    reach = radius + floats[REACH]
    if dx * dx + dy * dy + dz * dz > reach * reach:
        result[DEPTH], result[CONTACT_RATE], result[FN], result[SLIPS] = -reach, 0.0, 0.0, 0.0
        result[FORCE], result[FORCE + 1], result[FORCE + 2] = 0.0, 0.0, 0.0
        return False
    if shape_ints[shape, SHAPE_KIND] == SPHERE:
        gap, nx, ny, nz = sphere_gap(floats[SIZE], dx, dy, dz)
    else:
        dx, dy, dz = rotate_inv(row, R_WB, dx, dy, dz)
        dx, dy, dz = rotate_inv(floats, ROTATION, dx, dy, dz)
        gap, nx, ny, nz = box_gap(floats[SIZE], floats[SIZE + 1], floats[SIZE + 2], dx, dy, dz)
        nx, ny, nz = rotate(floats, ROTATION, nx, ny, nz)
        nx, ny, nz = rotate(row, R_WB, nx, ny, nz)
    x, y, z = x - radius * nx, y - radius * ny, z - radius * nz
    vx, vy, vz = velocity(twists[body], x, y, z)
    if other >= 0:
        ux, uy, uz = velocity(twists[other], x, y, z)
        vx, vy, vz = vx - ux, vy - uy, vz - uz
    place_result(result, x, y, z, nx, ny, nz, vx, vy, vz)
    result[DEPTH] = radius - gap
    sx, sy, sz = rotate(row, R_WB, deflections[i, 0], deflections[i, 1], deflections[i, 2])
    if not force_into(parameters[i], modes[i], sx, sy, sz, h, full, result, blocks[i]):
        return False
    fx, fy, fz = result[FORCE], result[FORCE + 1], result[FORCE + 2]
    add_wrench(wrenches[body], x, y, z, fx, fy, fz)
    if other >= 0:
        add_wrench(wrenches[other], x, y, z, -fx, -fy, -fz)
    return True


@helper
def finish_pair(i, pairs, shape_ints, parameters, rows, h, modes, deflections, results, energies):
    """One pair of finish_body_pairs_into."""
    row, s = rows[shape_ints[pairs[i, SHAPE], SHAPE_BODY] + 1], deflections[i]
    x, y, z = rotate(row, R_WB, s[0], s[1], s[2])
    modes[i], x, y, z = finish(parameters[i], h, modes[i], x, y, z, results[i], energies)
    if modes[i] == NO_CONTACT:  # zeros, without the signs that a rotation would give them
        s[0] = s[1] = s[2] = 0.0
    else:
        s[0], s[1], s[2] = rotate_inv(row, R_WB, x, y, z)


@helper
def sphere_gap(radius, x, y, z):
    """Distance of a place, given from the centre of a sphere, to its surface, and the normal there."""
    distance = math.sqrt(x * x + y * y + z * z)
    if not distance > 0.0:
        return -radius, 0.0, 0.0, 1.0
    inverse = 1.0 / distance
    return distance - radius, inverse * x, inverse * y, inverse * z


@kernel
def box_gap(a, b, c, x, y, z):
    """Distance of a place, in the axes of a box with half edges a, b, c, to its surface, and the normal: (gap, n).

    Outside, the normal points away from the nearest place of the box; inside, out of the nearest face.
    """
    u, v, w = abs(x) - a, abs(y) - b, abs(z) - c
    if u > 0.0 or v > 0.0 or w > 0.0:
        u, v, w = max(u, 0.0), max(v, 0.0), max(w, 0.0)
        gap = math.sqrt(u * u + v * v + w * w)
        inverse = 1.0 / gap
        return gap, math.copysign(inverse * u, x), math.copysign(inverse * v, y), math.copysign(inverse * w, z)
    if u >= v and u >= w:
        return u, math.copysign(1.0, x), 0.0, 0.0
    if v >= w:
        return v, 0.0, math.copysign(1.0, y), 0.0
    return w, 0.0, 0.0, math.copysign(1.0, z)


@helper
def rotate(row, at, x, y, z):
    """R times a vector, R row by row in row[at…]."""
    return (
        row[at] * x + row[at + 1] * y + row[at + 2] * z,
        row[at + 3] * x + row[at + 4] * y + row[at + 5] * z,
        row[at + 6] * x + row[at + 7] * y + row[at + 8] * z,
    )


@helper
def rotate_inv(row, at, x, y, z):
    """Rᵀ times a vector, R row by row in row[at…]."""
    return (
        row[at] * x + row[at + 3] * y + row[at + 6] * z,
        row[at + 1] * x + row[at + 4] * y + row[at + 7] * z,
        row[at + 2] * x + row[at + 5] * y + row[at + 8] * z,
    )
