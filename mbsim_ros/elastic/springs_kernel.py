# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Springs along polylines: the wrenches they put on bodies, what they store and dissipate, and their stiffness.

A spring runs from its first point through the others to its last. Its length is the sum of the segments', L = Σ s_i,
G (2.6); one tension T pulls along all of it, for it slides through the points between, G (2.4):

    T = k ΔL + d L',   ΔL = L − L0,   stored ½ k ΔL²,   dissipated (T − k ΔL) L'.

A cable (tension only) has T = 0 and stores nothing while ΔL ≤ 0. Its damping fades in over the first hundredth of its
length, so that T is continuous where it becomes taut, and it never pushes. A segment of no length has no direction and
puts no force on its ends. Where a robot is, world_poses_into's rows say; row 0 is the world.
"""

import math

from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs
from mbsim_ros.dynamics.kernels.jacobian_kernel import world_column
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.model import IV, KIND, PARENT

# Columns of `constants`, one row per spring.
STIFFNESS, REST_LENGTH, SPRING_DAMPING, TENSION_ONLY = range(4)
CONSTANTS = 4
# Columns of `segments`: one row per point; the row of a spring's last point has its place only.
PLACE, DIRECTION, SEGMENT_LENGTH, TRANSVERSE = 0, 3, 6, 7  # in the world; TRANSVERSE: stiffness across the segment
SEGMENT_COLUMNS = 8
# Columns of `states`, one row per spring; the tangents are those of a taut spring along its path, both ≥ 0.
LENGTH, SPRING_RATE, TENSION, DAMPING_TENSION, STIFFNESS_TANGENT, DAMPING_TANGENT, STORED = range(7)
STATES = 7
FADE = 0.01  # of the rest length
SHORTEST = 1e-3  # of the whole length: the transverse stiffness of shorter segments is no greater than of this


@kernel
def spring_wrenches_into(start, point_row, point, constants, rows, twists, segments, states, wrenches):
    """Add the springs' wrenches to wrenches (bodies, 6), and return what they store [J] and dissipate [W].

    Spring s has the points start[s] … start[s + 1] − 1: point (points, 3) in the frame of the body in point_row
    (points,) of rows. twists (bodies, 6) and wrenches are (v, ω) and (f, τ) in world axes about the world's origin.
    segments (points, SEGMENT_COLUMNS) and states (springs, STATES) are written.
    """
    stored = dissipated = 0.0
    for s in range(start.shape[0] - 1):
        length, rate = measure(start[s], start[s + 1], point_row, point, rows, twists, segments)
        elastic, damping, k, d = tension_of(constants[s], length, rate)
        state, tension = states[s], elastic + damping
        state[LENGTH], state[SPRING_RATE], state[TENSION], state[DAMPING_TENSION] = length, rate, tension, damping
        state[STIFFNESS_TANGENT], state[DAMPING_TANGENT] = k, d
        state[STORED] = 0.5 * elastic * elastic / k if k > 0.0 else 0.0  # G (2.4)
        stored += state[STORED]
        dissipated += damping * rate
        pull(start[s], start[s + 1], point_row, tension, length, segments, wrenches)
    return stored, dissipated


@helper
def measure(first, last, point_row, point, rows, twists, segments):
    """Write places, directions and lengths of a spring's segments; returns its length and how fast that grows."""
    length = rate = 0.0
    for k in range(first, last):
        w, segment = rows[point_row[k]], segments[k]
        for axis in range(3):
            r = R_WB + 3 * axis
            turned = w[r] * point[k, 0] + w[r + 1] * point[k, 1] + w[r + 2] * point[k, 2]
            segment[PLACE + axis] = w[P_WB + axis] + turned
        segment[DIRECTION] = segment[DIRECTION + 1] = segment[DIRECTION + 2] = 0.0
        segment[SEGMENT_LENGTH] = segment[TRANSVERSE] = 0.0
        if k == first:
            continue
        before = segments[k - 1]
        x, y, z = segment[0] - before[0], segment[1] - before[1], segment[2] - before[2]
        own = math.sqrt(x * x + y * y + z * z)  # G (2.7)
        if own > 0.0:
            x, y, z = x / own, y / own, z / own
            before[DIRECTION], before[DIRECTION + 1], before[DIRECTION + 2] = x, y, z
            before[SEGMENT_LENGTH] = own
            length += own
            rate += speed_along(point_row[k], segment, x, y, z, twists)
            rate -= speed_along(point_row[k - 1], before, x, y, z, twists)
    return length, rate


@helper
def speed_along(row, place, x, y, z, twists):
    """Speed of the body's point at a place along the direction (x, y, z); row 0, the world, has none."""
    if row == 0:
        return 0.0
    t = twists[row - 1]
    px, py, pz = place[0], place[1], place[2]
    vx, vy, vz = t[0] + t[4] * pz - t[5] * py, t[1] + t[5] * px - t[3] * pz, t[2] + t[3] * py - t[4] * px
    return vx * x + vy * y + vz * z


@helper
def tension_of(constants, length, rate):
    """Elastic and damping part of the tension, and how they grow with length and rate (never below zero)."""
    k, d = constants[STIFFNESS], constants[SPRING_DAMPING]
    stretch = length - constants[REST_LENGTH]
    if constants[TENSION_ONLY] == 0.0:
        return k * stretch, d * rate, k, d
    if stretch <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    fade = FADE * constants[REST_LENGTH]
    if stretch < fade:
        d *= stretch / fade
    if k * stretch + d * rate < 0.0:
        return k * stretch, -k * stretch, k, 0.0  # it would push: slack, while what it stored is dissipated
    return k * stretch, d * rate, k, d


@helper
def pull(first, last, point_row, tension, length, segments, wrenches):
    """Add the wrenches of a tension: each segment pulls its ends together, G (2.8), (2.9)."""
    for k in range(first, last - 1):
        segment = segments[k]
        fx = tension * segment[DIRECTION]
        fy = tension * segment[DIRECTION + 1]
        fz = tension * segment[DIRECTION + 2]
        add_force(point_row[k], segment, fx, fy, fz, wrenches)
        # with the same lever as at the other end, along its line: the two wrenches cancel to the last bit
        add_force(point_row[k + 1], segment, -fx, -fy, -fz, wrenches)
        if tension > 0.0 and segment[SEGMENT_LENGTH] > 0.0:
            segment[TRANSVERSE] = tension / max(segment[SEGMENT_LENGTH], SHORTEST * length)


@helper
def add_force(row, place, fx, fy, fz, wrenches):
    """Add a force at a place to the wrench of a body; the world's is nobody's concern."""
    if row > 0:
        w = wrenches[row - 1]
        px, py, pz = place[0], place[1], place[2]
        w[0] += fx
        w[1] += fy
        w[2] += fz
        w[3] += py * fz - pz * fy
        w[4] += pz * fx - px * fz
        w[5] += px * fy - py * fx


@kernel
def length_gradients_into(topology, start, point_row, rows, segments, gradients):
    """Write how each spring's length changes with each dof of the tree, (springs, tree nv); needs measured segments.

    With g a row of it the forces of the spring are −T g. The positive semidefinite part of its stiffness is
    STIFFNESS_TANGENT · g gᵀ, that of its damping DAMPING_TANGENT · g gᵀ; what TRANSVERSE adds is left to who wants it.
    """
    for s in range(start.shape[0] - 1):
        g = gradients[s]
        for dof in range(g.shape[0]):
            g[dof] = 0.0
        for k in range(start[s], start[s + 1] - 1):
            segment = segments[k]
            if segment[SEGMENT_LENGTH] > 0.0 and point_row[k] != point_row[k + 1]:
                # both ends at one place of the line: a dof that carries both adds and takes the same
                add_gradient(topology, point_row[k], rows, segment, -1.0, g)
                add_gradient(topology, point_row[k + 1], rows, segment, 1.0, g)


@helper
def add_gradient(topology, row, rows, segment, sign, g):
    """Add sign times the speed along the segment, of the body's point at its beginning, per unit rate of each dof."""
    x, y, z = segment[PLACE], segment[PLACE + 1], segment[PLACE + 2]
    nx, ny, nz = segment[DIRECTION], segment[DIRECTION + 1], segment[DIRECTION + 2]
    while row > 0:
        i = row - 1
        kind, iv, w = topology[i, KIND], topology[i, IV], rows[row]
        for k in range(joint_dofs(kind)):
            vx, vy, vz, _, _, _ = world_column(w, joint_axis(kind, k), x, y, z)
            g[iv + k] += sign * (vx * nx + vy * ny + vz * nz)
        row = topology[i, PARENT]


@kernel
def generalised_forces_into(topology, rows, wrenches, tau):
    """Write tau (tree nv,) of world wrenches (bodies, 6) about the world's origin.

    About one point and in one set of axes a subtree's wrench is a plain sum: wrenches has these sums afterwards.
    """
    for i in range(topology.shape[0] - 1, -1, -1):
        f, parent = wrenches[i], topology[i, PARENT]
        kind, iv = topology[i, KIND], topology[i, IV]
        for k in range(joint_dofs(kind)):
            vx, vy, vz, wx, wy, wz = world_column(rows[i + 1], joint_axis(kind, k), 0.0, 0.0, 0.0)
            tau[iv + k] = vx * f[0] + vy * f[1] + vz * f[2] + wx * f[3] + wy * f[4] + wz * f[5]
        if parent > 0:
            for k in range(6):
                wrenches[parent - 1, k] += f[k]
