# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact between shapes in a step: forces of its points in it, and their state at its end.

    detect (detection_kernel) once, where the bodies are at the beginning: the points
    touches_pass_into         in every iteration of the solve, as contact_kernel's contact_pass_into
    finish_touches_into       once, after the solve

A point is fixed to one body, the plane that it touches to the other. The force acts on both at the same place with
opposite signs, and on their relative velocity there: momentum is kept to rounding.
"""

from mbsim_ros.contact.body_pairs_kernel import rotate, rotate_inv
from mbsim_ros.contact.contact_kernel import add_wrench, finish, force_into, place_result, velocity
from mbsim_ros.contact.law_kernel import spring_energy
from mbsim_ros.contact.layout import (
    CONTACT_DAMPING,
    CONTACT_RATE,
    DEPTH,
    ENERGIES,
    FORCE,
    FRICTION,
    KT,
    PARAMETER_COLUMNS,
    RESULT_COLUMNS,
    STORED_NORMAL,
    STORED_TANGENTIAL,
    SWITCHING,
    WORK,
)
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.jit import helper

# Columns of a point of contact: numbers of the two shapes, the body that carries the plane, that of the point, and
# whether it is the second shape that carries the plane.
FIRST_SHAPE, SECOND_SHAPE, PLANE_BODY, POINT_BODY, IS_PLANE_SECOND = range(5)
BETWEEN_COLUMNS, GEOMETRY_COLUMNS = 5, 7
# The point in its body's frame; the plane's normal in its own, and how far its surface is from the origin along it.
LOCAL_POINT, LOCAL_NORMAL, OFFSET = 0, 3, 6


@helper
def touches_pass_into(touches, points, rows, twists, h, full, wrenches, active):
    """Add the wrenches of these points to wrenches (bodies, 6), on both bodies; returns the number that push.

    Writes results and, for the points that active lists, blocks, as contact_pass_into does.
    """
    now, results = touches.now, touches.now.results
    count = 0
    for i in range(points.shape[0]):
        n = points[i]
        between, result = now.between[n], results[n]
        depth, x, y, z, nx, ny, nz = depth_of(between, now.geometry[n], rows)
        half = 0.5 * depth
        x, y, z = x + half * nx, y + half * ny, z + half * nz  # between the two surfaces
        vx, vy, vz = velocity_between(between, twists, x, y, z)
        place_result(result, x, y, z, nx, ny, nz, vx, vy, vz)
        result[DEPTH] = depth
        s = now.deflections[n]
        sx, sy, sz = rotate(rows[between[PLANE_BODY] + 1], R_WB, s[0], s[1], s[2])
        if force_into(now.parameters[n], now.modes[n], sx, sy, sz, h, full, result, touches.blocks[n]):
            fx, fy, fz = result[FORCE], result[FORCE + 1], result[FORCE + 2]
            if between[POINT_BODY] >= 0:
                add_wrench(wrenches[between[POINT_BODY]], x, y, z, fx, fy, fz)
            if between[PLANE_BODY] >= 0:
                add_wrench(wrenches[between[PLANE_BODY]], x, y, z, -fx, -fy, -fz)
            active[count] = n
            count += 1
    return count


@helper
def finish_touches_into(touches, points, rows, h):
    """Carry modes and deflections of these points to the end of a step whose last pass left the results."""
    now, total, own = touches.now, touches.energies, touches.point_energies
    for i in range(points.shape[0]):
        n = points[i]
        for k in range(ENERGIES):
            own[k] = 0.0
        depth, rate = now.results[n, DEPTH], now.results[n, CONTACT_RATE]
        if now.modes[n] != NO_CONTACT or depth > 0.0 or depth + 0.5 * h * rate > 0.0:
            # `finish` takes what the spring held at the beginning from the middle of the step; here it is known
            own[SWITCHING] = now.stored[n, 0] - spring_energy(now.parameters[n], depth - 0.5 * h * rate)
        else:
            own[SWITCHING] = now.stored[n, 0]
        row, s = rows[now.between[n, PLANE_BODY] + 1], now.deflections[n]
        x, y, z = rotate(row, R_WB, s[0], s[1], s[2])
        now.modes[n], x, y, z = finish(now.parameters[n], h, now.modes[n], x, y, z, now.results[n], own)
        s[0], s[1], s[2] = rotate_inv(row, R_WB, x, y, z)
        now.stored[n, 0], now.stored[n, 1] = own[STORED_NORMAL], own[STORED_TANGENTIAL]
        total[CONTACT_DAMPING] += own[CONTACT_DAMPING]
        total[FRICTION] += own[FRICTION]
        total[SWITCHING] += own[SWITCHING]
        total[WORK] += own[WORK]


@helper
def restore_touches(touches, points):
    """Take back what finish_touches_into did to these points; not what it booked."""
    for i in range(points.shape[0]):
        copy_point(touches.before, points[i], touches.now, points[i])


@helper
def sum_stored(touches):
    """Write what all springs hold."""
    normal = tangential = 0.0
    for n in range(touches.now.counts[0]):
        normal += touches.now.stored[n, 0]
        tangential += touches.now.stored[n, 1]
    touches.energies[STORED_NORMAL], touches.energies[STORED_TANGENTIAL] = normal, tangential


@helper
def store(now, n, rows):
    """Write what the springs of a point hold where the bodies are."""
    parameters, s = now.parameters[n], now.deflections[n]
    depth, _, _, _, _, _, _ = depth_of(now.between[n], now.geometry[n], rows)
    now.stored[n, 0] = spring_energy(parameters, depth)
    now.stored[n, 1] = 0.5 * parameters[KT] * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2])


@helper
def depth_of(between, geometry, rows):
    """Depth of a point, where it is, and the normal there: (depth, x, y, z, nx, ny, nz)."""
    plane = rows[between[PLANE_BODY] + 1]
    x, y, z = to_world(rows[between[POINT_BODY] + 1], geometry[0], geometry[1], geometry[2])
    nx, ny, nz = rotate(plane, R_WB, geometry[LOCAL_NORMAL], geometry[LOCAL_NORMAL + 1], geometry[LOCAL_NORMAL + 2])
    along = nx * (x - plane[P_WB]) + ny * (y - plane[P_WB + 1]) + nz * (z - plane[P_WB + 2])
    return geometry[OFFSET] - along, x, y, z, nx, ny, nz


@helper
def velocity_between(between, twists, x, y, z):
    """Velocity of a point past the plane that it touches."""
    vx = vy = vz = 0.0
    if between[POINT_BODY] >= 0:
        vx, vy, vz = velocity(twists[between[POINT_BODY]], x, y, z)
    if between[PLANE_BODY] >= 0:
        ux, uy, uz = velocity(twists[between[PLANE_BODY]], x, y, z)
        vx, vy, vz = vx - ux, vy - uy, vz - uz
    return vx, vy, vz


@helper
def to_world(row, x, y, z):
    """World position of a place in a body's frame."""
    return (
        row[P_WB] + row[R_WB] * x + row[R_WB + 1] * y + row[R_WB + 2] * z,
        row[P_WB + 1] + row[R_WB + 3] * x + row[R_WB + 4] * y + row[R_WB + 5] * z,
        row[P_WB + 2] + row[R_WB + 6] * x + row[R_WB + 7] * y + row[R_WB + 8] * z,
    )


@helper
def copy_found(source, target):
    """Copy the points of contact."""
    target.counts[0], target.counts[1] = source.counts[0], source.counts[1]
    for i in range(source.counts[0]):
        copy_point(source, i, target, i)


@helper
def copy_point(source, i, target, j):
    """Copy a point of contact."""
    for k in range(BETWEEN_COLUMNS):
        target.between[j, k] = source.between[i, k]
    for k in range(GEOMETRY_COLUMNS):
        target.geometry[j, k] = source.geometry[i, k]
    for k in range(RESULT_COLUMNS):
        target.results[j, k] = source.results[i, k]
    for k in range(PARAMETER_COLUMNS):
        target.parameters[j, k] = source.parameters[i, k]
    for k in range(3):
        target.deflections[j, k] = source.deflections[i, k]
    target.dampings[j, 0], target.dampings[j, 1] = source.dampings[i, 0], source.dampings[i, 1]
    target.stored[j, 0], target.stored[j, 1] = source.stored[i, 0], source.stored[i, 1]
    target.modes[j] = source.modes[i]
