# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where two convex bodies touch: up to eight points for each pair of shapes, made once at the beginning of a step.

A shape is a core, the hull of its vertices, with a radius around it. The direction of a contact is that between the
nearest points of the cores (gjk_kernel). The vertices of each core that are farthest along it are the face, edge or
vertex that touches; what of one face lies over the other is cut out, and its corners are the points.

Each point is fixed to one of the two bodies, and touches a plane that is fixed to the other, so that within the step
its depth is a smooth function of where both are. Which of both carries the plane is the one whose face is nearer to
being square to the direction.
"""

import math

from mbsim_ros.collision.gjk_kernel import distance_into, support
from mbsim_ros.jit import cross, helper, kernel

MOST_POINTS = 8  # of a pair of shapes
LEAST_TURN = 1.0e-3  # [rad] of a direction by which overlapping cores are parted
MOST_CORNERS = 32  # of a face, and of what is cut out of it
FACE_TOLERANCE = 0.02  # of a shape's size: how much nearer than the farthest a vertex of the same face may be
# How much squarer the second face has to be to carry the plane. Where both lie flat on each other rounding would let
# them take turns, and each turn would be a small push.
TIE = 1.0e-4
# Columns of a point: 1 if it is fixed to the second body, else 0; the point, in the axes of the world; a place on the
# plane that it touches, and its normal, away from the body that carries the plane.
ON_SECOND, POINT, PLANE, NORMAL = 0, 1, 4, 7
POINT_COLUMNS = 10
# Rows of the scratch: corners of a face on either side, what is cut out, and its copy.
FACE_A, FACE_B, CUT, CUT_NEXT = range(4)


@kernel
def touching_points_into(a, b, size_a, size_b, direction, simplex, witness, scratch, points):
    """Write where the cores a (m, 3) and b (n, 3) are next to each other; returns the distance and how many points.

    size_a, size_b: radii of spheres about them. direction (3,): a guess of the way from b to a, from which the way out
    is sought where the cores overlap; then the way. simplex (4, 10), witness (6,) and scratch (4, 32, 3) are scratch.
    points (8, 10).
    """
    gx, gy, gz = direction[0], direction[1], direction[2]
    distance = distance_into(a, b, simplex, direction, witness)
    if distance > 0.0:
        # Where cores nearly touch the way is a difference of nearly equal places. It is one only if it parts them.
        dx, dy, dz = -direction[0] / distance, -direction[1] / distance, -direction[2] / distance
        if not overlap_along(a, b, dx, dy, dz) > 0.5 * distance:
            distance = 0.0
    if not distance > 0.0:
        direction[0], direction[1], direction[2] = gx, gy, gz
        if not gx * gx + gy * gy + gz * gz > 0.0:
            away_from_centres(a, b, direction)
        way_out(a, b, direction)
    length = math.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    # n leads from a to b
    nx, ny, nz = -direction[0] / length, -direction[1] / length, -direction[2] / length
    if not distance > 0.0:
        distance = deepest_into(a, b, nx, ny, nz, witness)
    count_a = face_into(a, nx, ny, nz, FACE_TOLERANCE * size_a, scratch[FACE_A])
    count_b = face_into(b, -nx, -ny, -nz, FACE_TOLERANCE * size_b, scratch[FACE_B])
    ax, ay, az = face_normal(scratch[FACE_A], count_a, nx, ny, nz)
    bx, by, bz = face_normal(scratch[FACE_B], count_b, -nx, -ny, -nz)
    square_a = ax * nx + ay * ny + az * nz if count_a >= 3 else -1.0
    square_b = -(bx * nx + by * ny + bz * nz) if count_b >= 3 else -1.0
    if count_a < 3 and count_b < 3:
        count = one_point(witness, nx, ny, nz, points)
        if count_a == 2 and count_b == 2:
            count = lying_edges(scratch, nx, ny, nz, count, points)
        return distance, count
    if square_a >= square_b - TIE:
        count = cut_into(scratch, FACE_A, count_a, FACE_B, count_b, ax, ay, az)
        count = write_points(scratch, count, scratch[FACE_A, 0], ax, ay, az, 1.0, points)
    else:
        count = cut_into(scratch, FACE_B, count_b, FACE_A, count_a, bx, by, bz)
        count = write_points(scratch, count, scratch[FACE_B, 0], bx, by, bz, 0.0, points)
    if count == 0:  # a face over which nothing lies: they meet at its rim
        count = one_point(witness, nx, ny, nz, points)
    return distance, count


@helper
def away_from_centres(a, b, direction):
    """Write the way from the middle of b to that of a."""
    for k in range(3):
        direction[k] = 0.0
    for i in range(a.shape[0]):
        for k in range(3):
            direction[k] += a[i, k] / a.shape[0]
    for i in range(b.shape[0]):
        for k in range(3):
            direction[k] -= b[i, k] / b.shape[0]
    if not direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2 > 0.0:
        direction[2] = 1.0


@helper
def way_out(a, b, direction):
    """Turn a direction from b to a, of cores that overlap, to where they overlap less, downhill from where it is."""
    length = math.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    nx, ny, nz = -direction[0] / length, -direction[1] / length, -direction[2] / length
    apart, turn = overlap_along(a, b, nx, ny, nz), 0.5
    while turn > LEAST_TURN:
        i, j = support(a, nx, ny, nz), support(b, -nx, -ny, -nz)
        x, y, z = b[j, 0] - a[i, 0], b[j, 1] - a[i, 1], b[j, 2] - a[i, 2]
        x, y, z = x - apart * nx, y - apart * ny, z - apart * nz  # by which way along n grows as n turns
        slope = math.sqrt(x * x + y * y + z * z)
        if not slope > 0.0:
            break
        x, y, z = nx + turn * x / slope, ny + turn * y / slope, nz + turn * z / slope
        inverse = 1.0 / math.sqrt(x * x + y * y + z * z)
        x, y, z = inverse * x, inverse * y, inverse * z
        trial = overlap_along(a, b, x, y, z)
        if trial > apart:
            nx, ny, nz, apart = x, y, z, trial
        else:
            turn *= 0.5
    direction[0], direction[1], direction[2] = -nx, -ny, -nz


@helper
def deepest_into(a, b, nx, ny, nz, witness):
    """Write as nearest points the vertices by which cores overlap most along n; returns their distance along n."""
    i, j = support(a, nx, ny, nz), support(b, -nx, -ny, -nz)
    for k in range(3):
        witness[k], witness[3 + k] = a[i, k], b[j, k]
    return (b[j, 0] - a[i, 0]) * nx + (b[j, 1] - a[i, 1]) * ny + (b[j, 2] - a[i, 2]) * nz


@helper
def overlap_along(a, b, nx, ny, nz):
    """Distance along n, which leads from a to b: negative where they overlap."""
    farthest, nearest = -math.inf, math.inf
    for i in range(a.shape[0]):
        farthest = max(farthest, a[i, 0] * nx + a[i, 1] * ny + a[i, 2] * nz)
    for i in range(b.shape[0]):
        nearest = min(nearest, b[i, 0] * nx + b[i, 1] * ny + b[i, 2] * nz)
    return nearest - farthest


@helper
def face_into(vertices, nx, ny, nz, tolerance, face):
    """Write the vertices farthest along n, in order around it where there are three or more; returns how many."""
    farthest = -math.inf
    for i in range(vertices.shape[0]):
        farthest = max(farthest, vertices[i, 0] * nx + vertices[i, 1] * ny + vertices[i, 2] * nz)
    count = 0
    for i in range(vertices.shape[0]):
        x, y, z = vertices[i, 0], vertices[i, 1], vertices[i, 2]
        if x * nx + y * ny + z * nz >= farthest - tolerance and count < MOST_CORNERS:
            face[count, 0], face[count, 1], face[count, 2] = x, y, z
            count += 1
    if count > 2:
        count = order_around(face, count, nx, ny, nz)
    return count


@helper
def order_around(face, count, nx, ny, nz):
    """Order corners by their hull as seen along n (gift wrapping), counterclockwise; returns how many are on it."""
    start = 0
    ux, uy, uz, vx, vy, vz = plane_axes(nx, ny, nz)
    for i in range(1, count):  # the lowest along v
        if beyond(face[i], face[start], vx, vy, vz) < 0.0:
            start = i
    swap(face, 0, start)
    on_hull = 1
    while on_hull < count:
        last, best = on_hull - 1, on_hull
        for i in range(on_hull + 1, count):
            if is_right_of(face, last, best, i, ux, uy, uz, vx, vy, vz):
                best = i
        if on_hull > 1 and is_right_of(face, last, best, 0, ux, uy, uz, vx, vy, vz):
            break
        swap(face, on_hull, best)
        on_hull += 1
    return on_hull


@helper
def beyond(point, place, nx, ny, nz):
    """How far along n a point is beyond a place."""
    return (point[0] - place[0]) * nx + (point[1] - place[1]) * ny + (point[2] - place[2]) * nz


@helper
def is_right_of(face, origin, end, other, ux, uy, uz, vx, vy, vz):
    """Whether a corner lies to the right of the way from one to another, as seen along the normal."""
    ax, ay, az = face[end, 0] - face[origin, 0], face[end, 1] - face[origin, 1], face[end, 2] - face[origin, 2]
    bx, by, bz = face[other, 0] - face[origin, 0], face[other, 1] - face[origin, 1], face[other, 2] - face[origin, 2]
    p, q = ax * ux + ay * uy + az * uz, ax * vx + ay * vy + az * vz
    r, s = bx * ux + by * uy + bz * uz, bx * vx + by * vy + bz * vz
    return p * s - q * r < 0.0


@helper
def swap(face, i, j):
    """Exchange two corners."""
    for k in range(3):
        face[i, k], face[j, k] = face[j, k], face[i, k]


@helper
def plane_axes(nx, ny, nz):
    """Two unit vectors that make a right-handed frame with n."""
    if abs(nz) < 0.9:
        length = math.sqrt(nx * nx + ny * ny)
        ux, uy, uz = -ny / length, nx / length, 0.0
    else:
        length = math.sqrt(ny * ny + nz * nz)
        ux, uy, uz = 0.0, -nz / length, ny / length
    vx, vy, vz = cross(nx, ny, nz, ux, uy, uz)
    return ux, uy, uz, vx, vy, vz


@helper
def face_normal(face, count, nx, ny, nz):
    """Normal of an ordered face (Newell), n where it has none."""
    x = y = z = 0.0
    for i in range(count if count > 2 else 0):
        j = i + 1 if i + 1 < count else 0
        cx, cy, cz = cross(face[i, 0], face[i, 1], face[i, 2], face[j, 0], face[j, 1], face[j, 2])
        x, y, z = x + cx, y + cy, z + cz
    length = math.sqrt(x * x + y * y + z * z)
    if not length > 1.0e-30:
        return nx, ny, nz
    return x / length, y / length, z / length


@helper
def cut_into(scratch, plane_face, corners, other, count, nx, ny, nz):
    """Cut away what of the other face is not over this one (Sutherland and Hodgman); how many corners are left."""
    face, cut, spare = scratch[plane_face], scratch[CUT], scratch[CUT_NEXT]
    for i in range(count):
        for k in range(3):
            cut[i, k] = scratch[other, i, k]
    is_line = count == 2
    for edge in range(corners):
        end = edge + 1 if edge + 1 < corners else 0
        ex, ey, ez = face[end, 0] - face[edge, 0], face[end, 1] - face[edge, 1], face[end, 2] - face[edge, 2]
        ix, iy, iz = cross(nx, ny, nz, ex, ey, ez)  # inwards
        left = 0
        for i in range(count):
            j = i + 1 if i + 1 < count else 0
            here, there = beyond(cut[i], face[edge], ix, iy, iz), beyond(cut[j], face[edge], ix, iy, iz)
            if here >= 0.0 and left < MOST_CORNERS:
                for k in range(3):
                    spare[left, k] = cut[i, k]
                left += 1
            crosses = (here >= 0.0) != (there >= 0.0) and count > 1 and not (is_line and i == 1)
            if crosses and left < MOST_CORNERS:
                t = here / (here - there)
                for k in range(3):
                    spare[left, k] = cut[i, k] + t * (cut[j, k] - cut[i, k])
                left += 1
        count = left
        for i in range(count):
            for k in range(3):
                cut[i, k] = spare[i, k]
        is_line = is_line and count == 2
    return count


@helper
def write_points(scratch, count, place, nx, ny, nz, on_second, points):
    """Write the corners that were cut out as points that touch a plane; of too many those that are spread out."""
    cut = scratch[CUT]
    stride = 1.0 if count <= MOST_POINTS else count / MOST_POINTS
    written = 0
    for k in range(min(count, MOST_POINTS)):
        i = int(k * stride)
        write_point(on_second, cut[i, 0], cut[i, 1], cut[i, 2], place, nx, ny, nz, points[written])
        written += 1
    return written


@helper
def write_point(on_second, x, y, z, place, nx, ny, nz, row):
    """Write one point."""
    row[ON_SECOND] = on_second
    row[POINT], row[POINT + 1], row[POINT + 2] = x, y, z
    row[PLANE], row[PLANE + 1], row[PLANE + 2] = place[0], place[1], place[2]
    row[NORMAL], row[NORMAL + 1], row[NORMAL + 2] = nx, ny, nz


@helper
def one_point(witness, nx, ny, nz, points):
    """The nearest points: that of the second body touches the plane through that of the first."""
    write_point(1.0, witness[3], witness[4], witness[5], witness[0:3], nx, ny, nz, points[0])
    return 1


@helper
def lying_edges(scratch, nx, ny, nz, count, points):
    """Two edges that lie along each other touch where both are, which has two ends; crossing ones at one point."""
    a, b = scratch[FACE_A], scratch[FACE_B]
    ex, ey, ez = a[1, 0] - a[0, 0], a[1, 1] - a[0, 1], a[1, 2] - a[0, 2]
    fx, fy, fz = b[1, 0] - b[0, 0], b[1, 1] - b[0, 1], b[1, 2] - b[0, 2]
    cx, cy, cz = cross(ex, ey, ez, fx, fy, fz)
    squared_e, squared_f = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz
    if cx * cx + cy * cy + cz * cz > FACE_TOLERANCE**2 * squared_e * squared_f:
        return count
    # the part of b beside a, from t = low to t = high along b
    along = ex * fx + ey * fy + ez * fz
    start = (b[0, 0] - a[0, 0]) * ex + (b[0, 1] - a[0, 1]) * ey + (b[0, 2] - a[0, 2]) * ez
    t0, t1 = -start / along, (squared_e - start) / along
    low, high = max(min(t0, t1), 0.0), min(max(t0, t1), 1.0)
    if not high > low:
        return count
    for k in range(2):
        t = low if k == 0 else high
        x, y, z = b[0, 0] + t * fx, b[0, 1] + t * fy, b[0, 2] + t * fz
        write_point(1.0, x, y, z, a[0], nx, ny, nz, points[k])
    return 2
