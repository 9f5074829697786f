# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Distance between two convex bodies, Gilbert, Johnson and Keerthi's algorithm, from the vertices that span them.

The simplex is kept as its vertices of A − B with those of A that they are made of; the sub-algorithm is that of closest
points of segments, triangles and tetrahedra by their regions (C. Ericson: Real-Time Collision Detection, 2005, ch. 5).
"""

import math

from mbsim_ros.jit import cross, helper, kernel

MAX_ITERATIONS = 64
# A support that brings the origin nearer by less than this part of the distance ends the search.
RELATIVE = 1.0e-12
# A tetrahedron of which the volume is less than the square root of this part of its edges' product has no inside.
FLAT = 1.0e-20
# Rows of the simplex: a vertex of A − B, the vertices of A and of B, and its weight.
W, OF_A, OF_B, WEIGHT = 0, 3, 6, 9
SIMPLEX_COLUMNS = 10


@kernel
def distance_into(a, b, simplex, direction, witness):
    """Distance of the hulls of a (m, 3) and b (n, 3); 0.0 where they overlap.

    direction (3,): a guess of the way from b to a, and then a − b between the nearest points. witness (6,): the nearest
    points of a and of b. simplex (4, 10) is scratch.
    """
    dx, dy, dz = direction[0], direction[1], direction[2]
    if not dx * dx + dy * dy + dz * dz > 0.0:
        dx, dy, dz = 1.0, 0.0, 0.0
    add_support(a, b, -dx, -dy, -dz, simplex[0])
    simplex[0, WEIGHT] = 1.0
    n = 1
    x, y, z = simplex[0, 0], simplex[0, 1], simplex[0, 2]
    squared = x * x + y * y + z * z
    scale = squared
    write_witness(simplex, n, witness)
    for _ in range(MAX_ITERATIONS):
        if not squared > 1.0e-28 * scale:
            squared = 0.0
            break
        add_support(a, b, -x, -y, -z, simplex[n])
        w = simplex[n]
        scale = max(scale, w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        if squared - (x * w[0] + y * w[1] + z * w[2]) <= RELATIVE * squared:
            break
        known = False
        for k in range(n):
            known = known or (simplex[k, 0] == w[0] and simplex[k, 1] == w[1] and simplex[k, 2] == w[2])
        if known:
            break
        n = reduce_simplex(simplex, n + 1)
        px = py = pz = 0.0
        for k in range(n):
            px += simplex[k, WEIGHT] * simplex[k, 0]
            py += simplex[k, WEIGHT] * simplex[k, 1]
            pz += simplex[k, WEIGHT] * simplex[k, 2]
        nearer = px * px + py * py + pz * pz
        if n < 4 and not nearer < squared:
            break  # of a flat simplex rounding decides, and may say anything: the one before is nearest
        x, y, z, squared = px, py, pz, nearer
        write_witness(simplex, n, witness)
        if n == 4:
            squared = 0.0
            break
    direction[0], direction[1], direction[2] = x, y, z
    return math.sqrt(squared)


@helper
def write_witness(simplex, n, witness):
    """Write the points of A and of B that the weights of the first n vertices make."""
    for k in range(6):
        witness[k] = 0.0
    for i in range(n):
        for k in range(3):
            witness[k] += simplex[i, WEIGHT] * simplex[i, OF_A + k]
            witness[3 + k] += simplex[i, WEIGHT] * simplex[i, OF_B + k]


@helper
def add_support(a, b, dx, dy, dz, row):
    """Write the vertex of A − B that is farthest along d."""
    i, j = support(a, dx, dy, dz), support(b, -dx, -dy, -dz)
    for k in range(3):
        row[OF_A + k], row[OF_B + k] = a[i, k], b[j, k]
        row[k] = a[i, k] - b[j, k]


@helper
def support(points, dx, dy, dz):
    """Index of the point that is farthest along d; of equals the first."""
    best, found = -math.inf, 0
    for i in range(points.shape[0]):
        along = points[i, 0] * dx + points[i, 1] * dy + points[i, 2] * dz
        if along > best:
            best, found = along, i
    return found


@helper
def reduce_simplex(s, n):
    """Keep the vertices that carry the point nearest to the origin, and write their weights; returns how many."""
    if n == 2:
        return nearest_of_segment(s)
    if n == 3:
        return nearest_of_triangle(s)
    return nearest_of_tetrahedron(s)


@helper
def dot(a, b):
    """Of the vertices of two rows."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def keep(s, at, source):
    """Copy a vertex to another row."""
    if at != source:
        for k in range(WEIGHT):
            s[at, k] = s[source, k]


@helper
def nearest_of_segment(s):
    """Of rows 0 and 1."""
    t = dot(s[0], s[0]) - dot(s[0], s[1])
    length = t + dot(s[1], s[1]) - dot(s[0], s[1])
    if t <= 0.0:
        s[0, WEIGHT] = 1.0
        return 1
    if t >= length:
        keep(s, 0, 1)
        s[0, WEIGHT] = 1.0
        return 1
    s[1, WEIGHT] = t / length
    s[0, WEIGHT] = 1.0 - s[1, WEIGHT]
    return 2


@helper
def nearest_of_triangle(s):
    """Of rows 0, 1 and 2, by the regions of the triangle."""
    ax, ay, az = s[0, 0], s[0, 1], s[0, 2]
    ux, uy, uz = s[1, 0] - ax, s[1, 1] - ay, s[1, 2] - az
    vx, vy, vz = s[2, 0] - ax, s[2, 1] - ay, s[2, 2] - az
    d1, d2 = -(ux * ax + uy * ay + uz * az), -(vx * ax + vy * ay + vz * az)
    if d1 <= 0.0 and d2 <= 0.0:
        s[0, WEIGHT] = 1.0
        return 1
    d3, d4 = -(ux * s[1, 0] + uy * s[1, 1] + uz * s[1, 2]), -(vx * s[1, 0] + vy * s[1, 1] + vz * s[1, 2])
    if d3 >= 0.0 and d4 <= d3:
        keep(s, 0, 1)
        s[0, WEIGHT] = 1.0
        return 1
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        s[1, WEIGHT] = d1 / (d1 - d3)
        s[0, WEIGHT] = 1.0 - s[1, WEIGHT]
        return 2
    d5, d6 = -(ux * s[2, 0] + uy * s[2, 1] + uz * s[2, 2]), -(vx * s[2, 0] + vy * s[2, 1] + vz * s[2, 2])
    if d6 >= 0.0 and d5 <= d6:
        keep(s, 0, 2)
        s[0, WEIGHT] = 1.0
        return 1
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        keep(s, 1, 2)
        s[1, WEIGHT] = d2 / (d2 - d6)
        s[0, WEIGHT] = 1.0 - s[1, WEIGHT]
        return 2
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        keep(s, 0, 2)
        s[0, WEIGHT] = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        s[1, WEIGHT] = 1.0 - s[0, WEIGHT]
        return 2
    total = va + vb + vc
    s[1, WEIGHT], s[2, WEIGHT] = vb / total, vc / total
    s[0, WEIGHT] = 1.0 - s[1, WEIGHT] - s[2, WEIGHT]
    return 3


@helper
def is_outside(s, i, j, k, other):
    """Whether the origin is on the other side of the plane through i, j, k than the fourth vertex, or on it.

    Of a flat tetrahedron rounding would say: it has no inside.
    """
    ux, uy, uz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
    vx, vy, vz = s[k, 0] - s[i, 0], s[k, 1] - s[i, 1], s[k, 2] - s[i, 2]
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    of_origin = -(nx * s[i, 0] + ny * s[i, 1] + nz * s[i, 2])
    dx, dy, dz = s[other, 0] - s[i, 0], s[other, 1] - s[i, 1], s[other, 2] - s[i, 2]
    of_other = nx * dx + ny * dy + nz * dz
    uu, vv, dd = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, dx * dx + dy * dy + dz * dz
    return of_origin * of_other <= 0.0 or of_other * of_other <= FLAT * uu * vv * dd


@helper
def nearest_of_tetrahedron(s):
    """Of all four rows: the nearest of those faces that the origin is outside of; 4 where it is inside."""
    best, best_n, best_face = math.inf, 4, -1
    for face in range(4):
        i, j, k = (1 if face == 0 else 0), (2 if face <= 1 else 1), (3 if face <= 2 else 2)
        if not is_outside(s, i, j, k, face):
            continue
        squared = face_distance(s, i, j, k)
        if squared < best:
            best, best_face = squared, face
    if best_face < 0:
        for k in range(4):
            s[k, WEIGHT] = 0.25
        return best_n
    # the face's vertices to the first three rows
    for k in range(best_face, 3):
        keep(s, k, k + 1)
    return nearest_of_triangle(s)


@helper
def face_distance(s, i, j, k):
    """Squared distance of the origin to a triangle."""
    ax, ay, az = s[i, 0], s[i, 1], s[i, 2]
    ux, uy, uz = s[j, 0] - ax, s[j, 1] - ay, s[j, 2] - az
    vx, vy, vz = s[k, 0] - ax, s[k, 1] - ay, s[k, 2] - az
    d1, d2 = -(ux * ax + uy * ay + uz * az), -(vx * ax + vy * ay + vz * az)
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    determinant = uu * vv - uv * uv
    best = math.inf
    if determinant > 0.0:
        p, q = (vv * d1 - uv * d2) / determinant, (uu * d2 - uv * d1) / determinant
        if p >= 0.0 and q >= 0.0 and p + q <= 1.0:
            x, y, z = ax + p * ux + q * vx, ay + p * uy + q * vy, az + p * uz + q * vz
            return x * x + y * y + z * z
    best = min(best, segment_distance(s, i, j))
    best = min(best, segment_distance(s, i, k))
    return min(best, segment_distance(s, j, k))


@helper
def segment_distance(s, i, j):
    """Squared distance of the origin to a segment."""
    ux, uy, uz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
    length = ux * ux + uy * uy + uz * uz
    t = -(ux * s[i, 0] + uy * s[i, 1] + uz * s[i, 2]) / length if length > 0.0 else 0.0
    t = min(max(t, 0.0), 1.0)
    x, y, z = s[i, 0] + t * ux, s[i, 1] + t * uy, s[i, 2] + t * uz
    return x * x + y * y + z * z
