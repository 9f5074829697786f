# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Islands: parts that touch each other, directly or by others. Each is solved by itself.

Most points are near and do not push. Those that seem to, by where they are and how they moved last, make the islands;
when all are solved the others are looked at, and where one turns out to push its two islands are solved once more as
one (step_kernel.py).
What an island does depends on its members alone, on their order among themselves, and on their points: other parts may
come, go or fail without changing a bit of it.
"""

import math

from mbsim_ros.collision.detection_kernel import is_moving
from mbsim_ros.collision.touches_kernel import PLANE_BODY, POINT_BODY, depth_of, velocity_between
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.jit import helper

SLACK = 1.0e-5  # [m] a point that comes so near to its plane is taken to push


@helper
def open_parts(islands, now, part_of, moving):
    """Note which parts are to be solved in this step, and which of them have points with others."""
    for t in range(moving.shape[0]):
        islands.is_open[t], islands.is_near[t] = moving[t], False
        islands.failure[t] = islands.iterations[t] = 0
    for n in range(now.counts[0]):
        a, b = now.between[n, PLANE_BODY], now.between[n, POINT_BODY]
        if a >= 0:
            islands.is_near[part_of[a]] = True
        if b >= 0:
            islands.is_near[part_of[b]] = True


@helper
def is_remote(islands, i):
    """Whether an island has no points with others, pushing or not: it stays what it is throughout the step."""
    first = islands.first_member[i]
    return islands.first_member[i + 1] == first + 1 and not islands.is_near[islands.members[first]]


@helper
def find_islands(islands, touches, part_of, moving):
    """Write the islands of the moving parts, with their members and points in ascending order."""
    root, between, n_points = islands.root, touches.now.between, touches.now.counts[0]
    for t in range(root.shape[0]):
        root[t] = t
    for n in range(n_points):
        a, b = between[n, PLANE_BODY], between[n, POINT_BODY]
        if a >= 0 and b >= 0 and islands.is_tight[n]:
            unite(root, part_of[a], part_of[b])
    count = 0
    for t in range(root.shape[0]):
        islands.number[t] = -1
        if moving[t] and find_root(root, t) == t:
            islands.number[t] = count
            count += 1
    for t in range(root.shape[0]):
        if moving[t]:
            islands.number[t] = islands.number[find_root(root, t)]
    islands.counts[0] = count
    list_members(islands, count)
    list_points(islands, touches, part_of, count)


@helper
def find_root(root, t):
    """The first member of a part's island."""
    while root[t] != t:
        t = root[t]
    return t


@helper
def unite(root, a, b):
    """Join two islands; the root of an island is its first member."""
    a, b = find_root(root, a), find_root(root, b)
    first = min(a, b)
    root[a] = root[b] = first


@helper
def list_members(islands, count):
    """Write the members island by island."""
    first = islands.first_member
    for i in range(count + 1):
        first[i] = 0
    for t in range(islands.number.shape[0]):
        if islands.number[t] >= 0:
            first[islands.number[t] + 1] += 1
    for i in range(count):
        first[i + 1] += first[i]
    for t in range(islands.number.shape[0]):  # first[i] moves on to the end of i, which is the beginning of i + 1 …
        i = islands.number[t]
        if i >= 0:
            islands.members[first[i]] = t
            first[i] += 1
    for i in range(count, 0, -1):  # … and is put back
        first[i] = first[i - 1]
    first[0] = 0


@helper
def list_points(islands, touches, part_of, count):
    """Write the points island by island; those of parts that do not move are left out."""
    first = islands.first_point
    for i in range(count + 1):
        first[i] = 0
    for n in range(touches.now.counts[0]):
        i = island_of_point(islands, touches, part_of, n)
        if i >= 0:
            first[i + 1] += 1
    for i in range(count):
        first[i + 1] += first[i]
    for n in range(touches.now.counts[0]):
        i = island_of_point(islands, touches, part_of, n)
        if i >= 0:
            islands.points[first[i]] = n
            first[i] += 1
    for i in range(count, 0, -1):
        first[i] = first[i - 1]
    first[0] = 0


@helper
def island_of_point(islands, touches, part_of, n):
    """Number of the island that a point pushes in, -1 for those that do not push."""
    if not islands.is_tight[n]:
        return -1
    body = max(touches.now.between[n, PLANE_BODY], touches.now.between[n, POINT_BODY])  # the world is -1
    return islands.number[part_of[body]]


@helper
def mark_tight(islands, touches, bodies, h):
    """Mark the points that push already, or are likely to at the midpoint; bodies are where the step begins."""
    now = touches.now
    for n in range(now.counts[0]):
        depth, x, y, z, nx, ny, nz = depth_of(now.between[n], now.geometry[n], bodies.rows)
        ux, uy, uz = velocity_between(now.between[n], bodies.twists, x, y, z)
        speed = math.sqrt(ux * ux + uy * uy + uz * uz)
        likely = depth - 0.5 * h * (nx * ux + ny * uy + nz * uz) + 0.25 * h * speed + SLACK
        islands.is_tight[n] = now.modes[n] != NO_CONTACT or now.stored[n, 0] > 0.0 or likely > 0.0


@helper
def tighten(islands, touches, bodies, moving):
    """Mark the points that push after all, bodies being at the midpoint, and open their parts; whether any do."""
    now, is_any = touches.now, False
    for n in range(now.counts[0]):
        if islands.is_tight[n] or not is_moving(now.between[n], bodies.part_of, moving):
            continue
        depth, _, _, _, _, _, _ = depth_of(now.between[n], now.geometry[n], bodies.rows)
        if not depth > 0.0:
            continue
        a, b = now.between[n, PLANE_BODY], now.between[n, POINT_BODY]
        if (a >= 0 and islands.failure[bodies.part_of[a]] < 0) or (b >= 0 and islands.failure[bodies.part_of[b]] < 0):
            continue  # where that one will be in this step nobody knows
        islands.is_tight[n] = is_any = True
        if a >= 0:
            islands.is_open[bodies.part_of[a]] = True
        if b >= 0:
            islands.is_open[bodies.part_of[b]] = True
    return is_any
