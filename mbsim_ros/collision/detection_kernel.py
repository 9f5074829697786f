# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which points touch at the beginning of a step: points of all shapes that are near each other.

A sweep along x finds shapes that are near, touching_points_kernel the points of each pair. A point that was there
before goes on with its mode and its deflection.
"""

import math

from mbsim_ros.collision.settling_kernel import SETTLES
from mbsim_ros.collision.touches_kernel import (
    FIRST_SHAPE,
    IS_PLANE_SECOND,
    LOCAL_NORMAL,
    LOCAL_POINT,
    OFFSET,
    PLANE_BODY,
    POINT_BODY,
    SECOND_SHAPE,
    copy_found,
    copy_point,
    store,
    to_world,
)
from mbsim_ros.collision.touching_points_kernel import NORMAL, ON_SECOND, PLANE, POINT, touching_points_into
from mbsim_ros.contact.body_pairs_kernel import rotate, rotate_inv
from mbsim_ros.contact.contact_kernel import velocity
from mbsim_ros.contact.layout import (
    BN,
    BT,
    FADE_DEPTH,
    KN,
    KT,
    MU_DYNAMIC,
    MU_STATIC,
    PARAMETER_COLUMNS,
    REST_DEPTH,
    RESULT_COLUMNS,
    SWITCHING,
)
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.jit import helper, inlined

NEAR = 0.002  # [m] shapes nearer than this, and what they may move in two steps, have points
STILL = 1.0e-5  # how far, in m and in entries of the rotation, a body may move before its shapes are looked at again
# Points of two shapes are the same if they are nearer than this part of the smaller one's size.
SAME_PART = 0.15


@inlined
def detect(touches, bodies, moving, h):
    """Find the points of contact where the bodies are, for a step of length h; books what springs lose by it.

    moving, by tree: those that are about to take a step; points of the others stay as they are. Of shapes that have
    both kept still since they were looked at the points stay, too.
    """
    shapes, places, now, before = touches.shapes, touches.places, touches.now, touches.before
    copy_found(now, before)
    link_by_shape(before, places)
    mark_still(bodies, moving)
    place_shapes(shapes, bodies, places, h)
    sort_along_x(places)
    now.counts[0] = now.counts[1] = 0
    for n in range(before.counts[0]):
        if is_moving(before.between[n], bodies.part_of, moving):
            touches.energies[SWITCHING] += before.stored[n, 0] + before.stored[n, 1]
        else:
            copy_point(before, n, now, now.counts[0])
            now.counts[0] += 1
    kept = now.counts[0]
    for at in range(places.order.shape[0]):
        i = places.order[at]
        if not takes_part(shapes, i, bodies.part_of, moving):
            continue
        end = places.centres[i, 0] + places.reaches[i]
        for later in range(at + 1, places.order.shape[0]):
            j = places.order[later]
            if places.centres[j, 0] - places.reaches[j] > end:
                break
            if shapes.groups[i] != shapes.groups[j] and takes_part(shapes, j, bodies.part_of, moving):
                look_at_pair(touches, min(i, j), max(i, j), bodies, h)
    release_claims(before)
    for n in range(now.counts[0], before.counts[0]):  # rows that are not used look like points in the air
        now.modes[n] = NO_CONTACT
        for k in range(RESULT_COLUMNS):
            now.results[n, k] = 0.0
    for n in range(kept, now.counts[0]):
        store(now, n, bodies.rows)
        touches.energies[SWITCHING] -= now.stored[n, 0] + now.stored[n, 1]
    copy_found(now, before)


@helper
def mark_still(bodies, moving):
    """Find out which bodies are still where they were looked at, and take the present place of the others for that."""
    for b in range(bodies.is_still.shape[0] - 1):
        if not moving[bodies.part_of[b]]:
            continue
        row, reference = bodies.rows[b + 1], bodies.reference[b]
        farthest = 0.0
        for k in range(3):
            farthest = max(farthest, abs(row[P_WB + k] - reference[k]))
        for k in range(9):
            farthest = max(farthest, abs(row[R_WB + k] - reference[3 + k]))
        bodies.is_still[b] = farthest <= STILL  # no number is not
        if not bodies.is_still[b]:
            for k in range(3):
                reference[k] = row[P_WB + k]
            for k in range(9):
                reference[3 + k] = row[R_WB + k]


@helper
def is_at_rest(shapes, bodies, s):
    """Whether a shape is where it was looked at last."""
    return shapes.bodies[s] < 0 or bodies.is_still[shapes.bodies[s]]


@inlined
def look_at_pair(touches, i, j, bodies, h):
    """Find the points of two shapes, or keep those that they have."""
    shapes, places, now, before = touches.shapes, touches.places, touches.now, touches.before
    if is_at_rest(shapes, bodies, i) and is_at_rest(shapes, bodies, j):
        n = places.head[i]
        while n >= 0:
            if before.between[n, SECOND_SHAPE] == j:
                copy_point(before, n, now, now.counts[0])
                now.counts[0] += 1
            n = places.following[n]
        return
    margin = NEAR + 2.0 * h * relative_speed(places, i, j)
    squared = 0.0
    for k in range(3):
        squared += (places.centres[i, k] - places.centres[j, k]) ** 2
    if squared <= (shapes.bounds[i] + shapes.bounds[j] + margin) ** 2:
        add_pair(touches, i, j, bodies.rows, margin)


@helper
def relative_speed(places, i, j):
    """How fast two shapes may come nearer to each other, about."""
    a, b = places.motions[i], places.motions[j]
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return math.sqrt(x * x + y * y + z * z) + a[3] + b[3]


@helper
def is_moving(between, part_of, moving):
    """Whether one of the two bodies of a point is about to take a step."""
    a, b = between[PLANE_BODY], between[POINT_BODY]
    return (a >= 0 and moving[part_of[a]]) or (b >= 0 and moving[part_of[b]])


@helper
def takes_part(shapes, s, part_of, moving):
    """Whether a shape is on a body that is about to take a step, or fixed to the world."""
    return shapes.bodies[s] < 0 or moving[part_of[shapes.bodies[s]]]


@helper
def link_by_shape(before, places):
    """Link the points of contact of each first shape, so that a pair's are found without looking at all."""
    for s in range(places.head.shape[0]):
        places.head[s] = -1
    for n in range(before.counts[0] - 1, -1, -1):
        s = before.between[n, FIRST_SHAPE]
        places.following[n] = places.head[s]
        places.head[s] = n


@helper
def place_shapes(shapes, bodies, places, h):
    """Write vertices and centres in the world, how they move, and how far they reach in a step of length h."""
    for s in range(shapes.bodies.shape[0]):
        body = shapes.bodies[s]
        row, c = bodies.rows[body + 1], shapes.centres[s]
        x, y, z = to_world(row, c[0], c[1], c[2])
        places.centres[s, 0], places.centres[s, 1], places.centres[s, 2] = x, y, z
        motion, speed = places.motions[s], 0.0
        motion[0] = motion[1] = motion[2] = motion[3] = 0.0
        if body >= 0:
            twist = bodies.twists[body]
            motion[0], motion[1], motion[2] = velocity(twist, x, y, z)
            motion[3] = shapes.bounds[s] * math.sqrt(twist[3] ** 2 + twist[4] ** 2 + twist[5] ** 2)
            speed = math.sqrt(motion[0] ** 2 + motion[1] ** 2 + motion[2] ** 2) + motion[3]
        places.reaches[s] = shapes.bounds[s] + 0.5 * NEAR + 2.0 * h * speed
        for i in range(shapes.first[s], shapes.first[s + 1]):
            v = shapes.vertices[i]
            places.vertices[i, 0], places.vertices[i, 1], places.vertices[i, 2] = to_world(row, v[0], v[1], v[2])


@helper
def sort_along_x(places):
    """Order shapes by where they begin along x, by insertion: they are nearly in order already."""
    order, centres, reaches = places.order, places.centres, places.reaches
    for at in range(1, order.shape[0]):
        s = order[at]
        begin = centres[s, 0] - reaches[s]
        k = at - 1
        while k >= 0:
            other = centres[order[k], 0] - reaches[order[k]]
            if not (other > begin or (other == begin and order[k] > s)):
                break
            order[k + 1] = order[k]
            k -= 1
        order[k + 1] = s


@inlined
def add_pair(touches, i, j, rows, margin):
    """Add the points of contact of two shapes, if they are no farther apart than the margin."""
    shapes, places, now, before = touches.shapes, touches.places, touches.now, touches.before
    guess_direction(before, places, i, j, rows, places.direction)
    distance, count = touching_points_into(
        places.vertices[shapes.first[i] : shapes.first[i + 1]], places.vertices[shapes.first[j] : shapes.first[j + 1]],
        shapes.bounds[i], shapes.bounds[j], places.direction, places.simplex, places.witness, places.faces,
        places.points,
    )  # fmt: skip
    radii = shapes.radii[i] + shapes.radii[j]
    size = min(shapes.bounds[i], shapes.bounds[j])
    if distance - radii > margin:
        return
    for k in range(count):
        n = now.counts[0]
        if n == now.modes.shape[0]:
            now.counts[1] += 1
            continue
        write_point(now, n, i, j, shapes.bodies[i], shapes.bodies[j], places.points[k], radii, rows)
        law_into(shapes, i, j, now.parameters[n])
        now.dampings[n, 0], now.dampings[n, 1] = now.parameters[n, BN], now.parameters[n, BT]
        carry_over(now, n, before, places, SAME_PART * size, rows)
        now.counts[0] = n + 1


@helper
def guess_direction(before, places, i, j, rows, direction):
    """Write the way from the second shape to the first that the step before had, zeros where there was none."""
    direction[0] = direction[1] = direction[2] = 0.0
    n = places.head[i]
    while n >= 0:
        between = before.between[n]
        if between[SECOND_SHAPE] == j:
            f = before.geometry[n]
            row = rows[between[PLANE_BODY] + 1]
            x, y, z = rotate(row, R_WB, f[LOCAL_NORMAL], f[LOCAL_NORMAL + 1], f[LOCAL_NORMAL + 2])
            sign = 1.0 if between[IS_PLANE_SECOND] == 1 else -1.0  # the normal leads away from who carries the plane
            direction[0], direction[1], direction[2] = sign * x, sign * y, sign * z
            return
        n = places.following[n]


@helper
def write_point(now, n, i, j, body_i, body_j, point, radii, rows):
    """Write a point of contact as its two bodies have it."""
    between, geometry = now.between[n], now.geometry[n]
    on_second = point[ON_SECOND] > 0.5
    between[FIRST_SHAPE], between[SECOND_SHAPE] = i, j
    between[PLANE_BODY], between[POINT_BODY] = (body_i, body_j) if on_second else (body_j, body_i)
    between[IS_PLANE_SECOND] = 0 if on_second else 1
    plane, mover = rows[between[PLANE_BODY] + 1], rows[between[POINT_BODY] + 1]
    x, y, z = point[POINT] - mover[P_WB], point[POINT + 1] - mover[P_WB + 1], point[POINT + 2] - mover[P_WB + 2]
    geometry[LOCAL_POINT], geometry[LOCAL_POINT + 1], geometry[LOCAL_POINT + 2] = rotate_inv(mover, R_WB, x, y, z)
    nx, ny, nz = point[NORMAL], point[NORMAL + 1], point[NORMAL + 2]
    geometry[LOCAL_NORMAL], geometry[LOCAL_NORMAL + 1], geometry[LOCAL_NORMAL + 2] = rotate_inv(plane, R_WB, nx, ny, nz)
    x, y, z = point[PLANE] - plane[P_WB], point[PLANE + 1] - plane[P_WB + 1], point[PLANE + 2] - plane[P_WB + 2]
    geometry[OFFSET] = nx * x + ny * y + nz * z + radii


@helper
def law_into(shapes, i, j, out):
    """Write the law between two shapes, i < j: that of their links' own entry, or what follows from those of both."""
    for p in range(shapes.first_own[i], shapes.first_own[i + 1]):
        if shapes.own_other[p] == j:
            for k in range(PARAMETER_COLUMNS):
                out[k] = shapes.own_parameters[p, k]
            return
    is_first = shapes.parameters[i, KN] >= shapes.parameters[j, KN]
    combine_into(shapes.parameters[i], shapes.parameters[j], shapes.by_ratio[i if is_first else j], out)


@helper
def combine_into(a, b, by_ratio, out):
    """Write the law between two shapes: the stiffer one's, with the lower friction; ContactParameters.against.

    by_ratio: whether the damping is one for both masses; a damping that was given stays.
    """
    stiff = a if a[KN] >= b[KN] else b
    for k in range(PARAMETER_COLUMNS):
        out[k] = stiff[k]
    if by_ratio:
        mass_a, mass_b = a[KN] * a[REST_DEPTH], b[KN] * b[REST_DEPTH]  # times g, which both have
        reduced = mass_a * mass_b / (mass_a + mass_b)
        lighter = math.sqrt(reduced / (stiff[KN] * stiff[REST_DEPTH]))
        out[BN], out[BT] = lighter * stiff[BN], lighter * stiff[BT]
    out[KT] = stiff[KT]
    out[FADE_DEPTH] = min(max(a[FADE_DEPTH], 0.0), max(b[FADE_DEPTH], 0.0))
    if a[FADE_DEPTH] < 0.0 and b[FADE_DEPTH] < 0.0:
        out[FADE_DEPTH] = SETTLES
    slippery = a if a[MU_STATIC] <= b[MU_STATIC] else b
    out[MU_STATIC], out[MU_DYNAMIC] = slippery[MU_STATIC], slippery[MU_DYNAMIC]


@helper
def carry_over(now, n, before, places, tolerance, rows):
    """Begin a point with mode and deflection of the one that was there before, or in the air; each goes on once."""
    between, geometry = now.between[n], now.geometry[n]
    x, y, z = to_world(rows[between[POINT_BODY] + 1], geometry[0], geometry[1], geometry[2])
    nearest, found = tolerance * tolerance, -1
    k = places.head[between[FIRST_SHAPE]]
    while k >= 0:
        # of the same pair, and it has not gone on as another one already
        if before.between[k, SECOND_SHAPE] == between[SECOND_SHAPE] and before.modes[k] > 0:
            f = before.geometry[k]
            ox, oy, oz = to_world(rows[before.between[k, POINT_BODY] + 1], f[0], f[1], f[2])
            squared = (x - ox) ** 2 + (y - oy) ** 2 + (z - oz) ** 2
            if squared < nearest:
                nearest, found = squared, k
        k = places.following[k]
    now.modes[n] = NO_CONTACT
    now.deflections[n, 0] = now.deflections[n, 1] = now.deflections[n, 2] = 0.0
    for column in range(RESULT_COLUMNS):
        now.results[n, column] = before.results[found, column] if found >= 0 else 0.0
    if found >= 0:
        s = before.deflections[found]
        sx, sy, sz = rotate(rows[before.between[found, PLANE_BODY] + 1], R_WB, s[0], s[1], s[2])
        s = now.deflections[n]
        s[0], s[1], s[2] = rotate_inv(rows[between[PLANE_BODY] + 1], R_WB, sx, sy, sz)
        now.modes[n] = before.modes[found]
        before.modes[found] = -before.modes[found]


@helper
def release_claims(before):
    """Undo the marks that carry_over has left."""
    for k in range(before.counts[0]):
        before.modes[k] = abs(before.modes[k])
