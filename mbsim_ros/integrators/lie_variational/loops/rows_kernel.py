# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The rows of closed loops and their derivatives by the dofs: p_a − p_b = 0, and e·d = 0 for a hinge.

A hinge's axis on b, d, has no part along two directions e across the axis on a. A dof moves the points by its screw;
(e·d)˙ = (ω_a − ω_b)·(e × d). Loops within a tree that floats are the same wherever its root is: their rows are in the
root's axes, about its origin, so that its distance from the world's costs no digits and it gets no force at all.
"""

from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.dynamics.placement import place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.integrators.lie_variational.midpoint_kernel import rotate
from mbsim_ros.integrators.retraction import carry_momentum
from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC
from mbsim_ros.model.model import IQ, IV, KIND, PARENT

# What rounding leaves of a row: of the lengths that it is the difference of, and as much for every radian of a joint.
EPSILON, ROUNDINGS = 2.2e-16, 16.0


@kernel
def closure_rows_into(tree, loops, q, sincos, rows, G):
    """Write all rows to loops.g (m,) and their derivatives to G (m, nv), at q (tree nq,); sincos, rows are scratch."""
    place_closed_bodies(tree, loops.is_internal, q, sincos, rows)
    for row in range(G.shape[0]):
        for i in range(G.shape[1]):
            G[row, i] = 0.0
    row = 0
    for c in range(loops.bodies.shape[0]):
        a, b = loops.bodies[c, 0], loops.bodies[c, 1]
        p = loops.points[c]
        ax, ay, az = placed(rows[a], p[0])
        bx, by, bz = placed(rows[b], p[1])
        size = loops.reach[c] + abs(ax) + abs(ay) + abs(az) + abs(bx) + abs(by) + abs(bz)
        loops.g[row], loops.g[row + 1], loops.g[row + 2] = ax - bx, ay - by, az - bz
        add_point_rows(tree, loops.is_internal, rows, a, ax, ay, az, 1.0, G, row)
        add_point_rows(tree, loops.is_internal, rows, b, bx, by, bz, -1.0, G, row)
        for k in range(3):
            loops.size[row + k] = size
        row += 3
        d = loops.axes[c, 2]
        if d[0] == d[1] == d[2] == 0.0:
            continue
        dx, dy, dz = rotate(rows[b], d[0], d[1], d[2])
        for k in range(2):
            e = loops.axes[c, k]
            ex, ey, ez = rotate(rows[a], e[0], e[1], e[2])
            loops.g[row] = ex * dx + ey * dy + ez * dz
            loops.size[row] = 1.0
            x, y, z = cross(ex, ey, ez, dx, dy, dz)
            add_turn_row(tree, loops.is_internal, rows, a, x, y, z, G[row])
            add_turn_row(tree, loops.is_internal, rows, b, -x, -y, -z, G[row])
            row += 1


@helper
def place_closed_bodies(tree, is_internal, q, sincos, rows):
    """Write R and p of every body, in the world, or in the axes of the root that floats."""
    cosines_and_sines(q, sincos[0], sincos[1])
    world = rows[0]
    for k in range(12):
        world[R_WB + k] = 0.0
    world[R_WB] = world[R_WB + 4] = world[R_WB + 8] = 1.0
    for i in range(tree.topology.shape[0]):
        w, u = rows[i + 1], rows[tree.topology[i, PARENT]]
        if is_internal and tree.topology[i, KIND] == FLOATING and tree.topology[i, PARENT] == 0:
            for k in range(12):
                w[R_WB + k] = world[R_WB + k]
            continue
        place_body(tree.topology[i, KIND], tree.constants[i], q, tree.topology[i, IQ], sincos[0], sincos[1], w)
        for k in range(3):
            a, b, c = u[R_WB + 3 * k], u[R_WB + 3 * k + 1], u[R_WB + 3 * k + 2]
            w[R_WB + 3 * k] = a * w[0] + b * w[3] + c * w[6]
            w[R_WB + 3 * k + 1] = a * w[1] + b * w[4] + c * w[7]
            w[R_WB + 3 * k + 2] = a * w[2] + b * w[5] + c * w[8]
            w[P_WB + k] = u[P_WB + k] + a * w[9] + b * w[10] + c * w[11]


@helper
def placed(w, point):
    """Where a point of a body is."""
    x, y, z = rotate(w, point[0], point[1], point[2])
    return w[P_WB] + x, w[P_WB + 1] + y, w[P_WB + 2] + z


@helper
def add_point_rows(tree, is_internal, rows, body, x, y, z, sign, G, row):
    """Add sign times the velocity of the point (x, y, z) of a body, per unit of each dof, to three rows of G."""
    while body > 0:
        i = body - 1
        kind, parent, w = tree.topology[i, KIND], tree.topology[i, PARENT], rows[body]
        if not (is_internal and kind == FLOATING and parent == 0):
            dx, dy, dz = x - w[P_WB], y - w[P_WB + 1], z - w[P_WB + 2]
            for k in range(joint_dofs(kind)):
                axis, dof = joint_axis(kind, k), tree.topology[i, IV] + k
                at = R_WB + axis % 3
                vx, vy, vz = w[at], w[at + 3], w[at + 6]
                if axis >= 3:
                    vx, vy, vz = cross(vx, vy, vz, dx, dy, dz)
                G[row, dof] += sign * vx
                G[row + 1, dof] += sign * vy
                G[row + 2, dof] += sign * vz
        body = parent


@helper
def add_turn_row(tree, is_internal, rows, body, x, y, z, out):
    """Add (x, y, z) · ω of a body, per unit of each dof, to a row of G."""
    while body > 0:
        i = body - 1
        kind, parent, w = tree.topology[i, KIND], tree.topology[i, PARENT], rows[body]
        if not (is_internal and kind == FLOATING and parent == 0):
            for k in range(joint_dofs(kind)):
                axis = joint_axis(kind, k)
                if axis >= 3:
                    at = R_WB + axis - 3
                    out[tree.topology[i, IV] + k] += x * w[at] + y * w[at + 3] + z * w[at + 6]
        body = parent


@helper
def end_rows_to_velocities(tree, retraction, v, h, G, scratch):
    """From derivatives by motions at the end of a step to those by h v: G dτ(−h ξ), for joints that are groups.

    dτ is taken as 2 − dτ⁻¹, of which the scheme has the transpose: what that leaves is of the order of (h ξ)².
    """
    for i in range(tree.topology.shape[0]):
        kind, iv = tree.topology[i, KIND], tree.topology[i, IV]
        if kind <= PRISMATIC:
            continue
        for row in range(G.shape[0]):
            g = G[row]
            for k in range(joint_dofs(kind)):
                scratch[12 + k] = g[iv + k]
            carry_momentum(kind, retraction, v, iv, -h, g, scratch)
            for k in range(joint_dofs(kind)):
                g[iv + k] = 2.0 * scratch[12 + k] - g[iv + k]


@helper
def kept_rows(loops):
    """How many rows the solver uses."""
    count = 0
    while count < loops.kept.shape[0] and loops.kept[count] >= 0:
        count += 1
    return count


@helper
def gaps(tree, loops, q):
    """How far the rows in loops.g are open, in units of what rounding leaves of them: the largest kept, the largest."""
    turned = 0.0
    for i in range(tree.dof_q.shape[0]):
        if tree.dof_q[i] >= 0:
            turned = max(turned, abs(q[tree.dof_q[i]]))
    unit = EPSILON * (ROUNDINGS + turned)
    kept = largest = 0.0
    for row in range(loops.g.shape[0]):
        open_by = abs(loops.g[row]) / (unit * loops.size[row])
        if not open_by <= largest:
            largest = open_by
    for k in range(kept_rows(loops)):
        row = loops.kept[k]
        open_by = abs(loops.g[row]) / (unit * loops.size[row])
        if not open_by <= kept:
            kept = open_by
    return kept, largest
