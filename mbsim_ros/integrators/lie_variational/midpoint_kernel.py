# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The midpoint of a step: where the bodies are, how they move, which momenta that gives. One pass for all that need it.

A group is at the midpoint where two equal steps make the whole one: for the Cayley map that is half_cay, not half the
velocity. Everything is in the world's axes, twists and momenta of a body about its own origin: they go along the tree
without being turned, and a robot far from the world's origin loses no digits. Where a robot's root is matters to
nothing but forces; its own momenta are turned to its axes in the end.
"""

import math

from mbsim_ros.dynamics.joint_motion import joint_twist, project_wrench
from mbsim_ros.dynamics.layout import MIDPOINT_MOMENTUM as H_, MIDPOINT_OFFSET as D_, MIDPOINT_TWIST as V_, P_WB, R_WB
from mbsim_ros.dynamics.placement import place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.integrators.lie_variational.discrete_legendre_kernel import add_group_stage
from mbsim_ros.integrators.retraction import CAYLEY, advance_group
from mbsim_ros.jit import cross, helper
from mbsim_ros.model.joint_kinds import PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, IQ, IV, KIND, MASS, PARENT, ROTOR

# Columns of the rows, in the world's axes; R_WB and p_WB are in their usual place.


@helper
def place_bodies(tree, q, sincos, rows):
    """Write R_WB, p_WB and the offset from the parent of every body at q (tree nq,)."""
    cosines_and_sines(q, sincos[0], sincos[1])
    world = rows[0]
    for k in range(12):
        world[R_WB + k] = 0.0
    world[R_WB] = world[R_WB + 4] = world[R_WB + 8] = 1.0
    for i in range(tree.topology.shape[0]):
        w, u = rows[i + 1], rows[tree.topology[i, PARENT]]
        place_body(tree.topology[i, KIND], tree.constants[i], q, tree.topology[i, IQ], sincos[0], sincos[1], w)
        for k in range(3):
            a, b, c = u[R_WB + 3 * k], u[R_WB + 3 * k + 1], u[R_WB + 3 * k + 2]
            w[R_WB + 3 * k] = a * w[0] + b * w[3] + c * w[6]
            w[R_WB + 3 * k + 1] = a * w[1] + b * w[4] + c * w[7]
            w[R_WB + 3 * k + 2] = a * w[2] + b * w[5] + c * w[8]
            offset = a * w[9] + b * w[10] + c * w[11]
            w[D_ + k] = offset
            w[P_WB + k] = u[P_WB + k] + offset


@helper
def move_to_midpoint(tree, retraction, q, v, h, sincos, rows, half, midpoint):
    """Write the configuration at the midpoint, where the bodies are there and their twists."""
    for i in range(tree.topology.shape[0]):
        kind, iq, iv = tree.topology[i, KIND], tree.topology[i, IQ], tree.topology[i, IV]
        if kind <= PRISMATIC:
            midpoint[iq] = q[iq] + 0.5 * h * v[iv]
        else:
            halve(kind, retraction, v, iv, h, half)
            advance_group(kind, retraction, q, iq, half, 0, 1.0, midpoint)
    place_bodies(tree, midpoint, sincos, rows)
    for k in range(V_, V_ + 6):
        rows[0, k] = 0.0
    for i in range(tree.topology.shape[0]):
        kind, iv = tree.topology[i, KIND], tree.topology[i, IV]
        w, u = rows[i + 1], rows[tree.topology[i, PARENT]]
        wx, wy, wz = u[V_ + 3], u[V_ + 4], u[V_ + 5]
        dx, dy, dz = w[D_], w[D_ + 1], w[D_ + 2]
        vx, vy, vz = u[V_] + wy * dz - wz * dy, u[V_ + 1] + wz * dx - wx * dz, u[V_ + 2] + wx * dy - wy * dx
        if kind == REVOLUTE:
            rate = v[iv]
            wx, wy, wz = wx + w[R_WB + 2] * rate, wy + w[R_WB + 5] * rate, wz + w[R_WB + 8] * rate
        elif kind == PRISMATIC:
            rate = v[iv]
            vx, vy, vz = vx + w[R_WB + 2] * rate, vy + w[R_WB + 5] * rate, vz + w[R_WB + 8] * rate
        else:
            a, b, c, x, y, z = joint_twist(kind, v, iv)
            a, b, c = rotate(w, a, b, c)
            x, y, z = rotate(w, x, y, z)
            vx, vy, vz, wx, wy, wz = vx + a, vy + b, vz + c, wx + x, wy + y, wz + z
        w[V_], w[V_ + 1], w[V_ + 2], w[V_ + 3], w[V_ + 4], w[V_ + 5] = vx, vy, vz, wx, wy, wz


@helper
def halve(kind, retraction, v, iv, h, half):
    """Write the step of a group to the midpoint, in the layout of its velocities, to half[0…]."""
    a, b, c, x, y, z = joint_twist(kind, v, iv)
    a, b, c, x, y, z = h * a, h * b, h * c, h * x, h * y, h * z
    k, m = 0.5, 0.0
    if retraction == CAYLEY:
        k = 1.0 / (1.0 + math.sqrt(1.0 + 0.25 * (x * x + y * y + z * z)))
        m = 0.125 * k * k * (x * a + y * b + z * c)
    if kind == SPHERICAL:
        half[0], half[1], half[2] = k * x, k * y, k * z
    elif kind == PLANAR:
        half[0], half[1], half[2] = k * a, k * b, k * z
    else:
        half[0], half[1], half[2] = k * a + m * x, k * b + m * y, k * c + m * z
        half[3], half[4], half[5] = k * x, k * y, k * z


@helper
def midpoint_momenta(tree, retraction, v, h, rows, scratch, minus, plus):
    """Write −D₁L_d and D₂L_d of midpoint quadrature, K (56)–(64), for trees in which only roots are groups.

    As discrete_momenta_into with one stage; p = Sᵀh and ∂T/∂r = hᵀ ad(V) S as in momentum_pass_into.
    """
    for i in range(tree.topology.shape[0]):
        own_momentum(tree.constants[i], rows[i + 1])
    for i in range(tree.topology.shape[0] - 1, -1, -1):
        kind, iv, parent = tree.topology[i, KIND], tree.topology[i, IV], tree.topology[i, PARENT]
        w = rows[i + 1]
        fx, fy, fz, tx, ty, tz = w[H_], w[H_ + 1], w[H_ + 2], w[H_ + 3], w[H_ + 4], w[H_ + 5]
        vx, vy, vz, wx, wy, wz = w[V_], w[V_ + 1], w[V_ + 2], w[V_ + 3], w[V_ + 4], w[V_ + 5]
        ex, ey, ez = w[R_WB + 2], w[R_WB + 5], w[R_WB + 8]
        if kind == REVOLUTE:
            p = ex * tx + ey * ty + ez * tz + tree.constants[i, ROTOR] * v[iv]
            ax, ay, az = fy * vz - fz * vy, fz * vx - fx * vz, fx * vy - fy * vx
            bx, by, bz = ty * wz - tz * wy, tz * wx - tx * wz, tx * wy - ty * wx
            gradient = ex * (ax + bx) + ey * (ay + by) + ez * (az + bz)
            minus[iv], plus[iv] = p - 0.5 * h * gradient, p + 0.5 * h * gradient
        elif kind == PRISMATIC:
            p = ex * fx + ey * fy + ez * fz + tree.constants[i, ROTOR] * v[iv]
            gradient = ex * (fy * wz - fz * wy) + ey * (fz * wx - fx * wz) + ez * (fx * wy - fy * wx)
            minus[iv], plus[iv] = p - 0.5 * h * gradient, p + 0.5 * h * gradient
        else:
            root_momenta(kind, retraction, v, iv, h, w, scratch, minus, plus)
        if parent > 0:
            u = rows[parent]
            sx, sy, sz = cross(w[D_], w[D_ + 1], w[D_ + 2], fx, fy, fz)
            u[H_] += fx
            u[H_ + 1] += fy
            u[H_ + 2] += fz
            u[H_ + 3] += tx + sx
            u[H_ + 4] += ty + sy
            u[H_ + 5] += tz + sz


@helper
def own_momentum(m, w):
    """Begin the momentum of a subtree with that of the body, from its twist."""
    vx, vy, vz, wx, wy, wz = w[V_], w[V_ + 1], w[V_ + 2], w[V_ + 3], w[V_ + 4], w[V_ + 5]
    cx, cy, cz = rotate(w, m[CENTRE], m[CENTRE + 1], m[CENTRE + 2])
    mass = m[MASS]
    fx = mass * (vx + wy * cz - wz * cy)
    fy = mass * (vy + wz * cx - wx * cz)
    fz = mass * (vz + wx * cy - wy * cx)
    x, y, z = rotate_inv(w, wx, wy, wz)
    ixx, iyy, izz = m[CENTRAL_INERTIA], m[CENTRAL_INERTIA + 1], m[CENTRAL_INERTIA + 2]
    ixy, ixz, iyz = m[CENTRAL_INERTIA + 3], m[CENTRAL_INERTIA + 4], m[CENTRAL_INERTIA + 5]
    x, y, z = rotate(w, ixx * x + ixy * y + ixz * z, ixy * x + iyy * y + iyz * z, ixz * x + iyz * y + izz * z)
    w[H_], w[H_ + 1], w[H_ + 2] = fx, fy, fz
    w[H_ + 3] = x + cy * fz - cz * fy
    w[H_ + 4] = y + cz * fx - cx * fz
    w[H_ + 5] = z + cx * fy - cy * fx


@helper
def root_momenta(kind, retraction, v, iv, h, w, scratch, minus, plus):
    """Write the momenta of a root that is a group: its own momentum, in its axes, carried to both ends of the step."""
    project_rotated(kind, w, w[H_], w[H_ + 1], w[H_ + 2], w[H_ + 3], w[H_ + 4], w[H_ + 5], scratch[0], iv)
    dofs = 6 if kind > PLANAR else 3
    for k in range(dofs):
        minus[iv + k] = plus[iv + k] = 0.0
    add_group_stage(kind, retraction, v, iv, h, True, 1.0, 1, scratch[0], scratch[1], scratch[2], minus, plus)


@helper
def project_rotated(kind, w, fx, fy, fz, tx, ty, tz, out, iv):
    """Write Sᵀ F to out[iv…] for a wrench about the body's origin in the world's axes."""
    fx, fy, fz = rotate_inv(w, fx, fy, fz)
    tx, ty, tz = rotate_inv(w, tx, ty, tz)
    project_wrench(kind, fx, fy, fz, tx, ty, tz, out, iv)


@helper
def rotate(w, x, y, z):
    """R_WB times a vector."""
    return (
        w[R_WB] * x + w[R_WB + 1] * y + w[R_WB + 2] * z,
        w[R_WB + 3] * x + w[R_WB + 4] * y + w[R_WB + 5] * z,
        w[R_WB + 6] * x + w[R_WB + 7] * y + w[R_WB + 8] * z,
    )


@helper
def rotate_inv(w, x, y, z):
    """R_WBᵀ times a vector."""
    return (
        w[R_WB] * x + w[R_WB + 3] * y + w[R_WB + 6] * z,
        w[R_WB + 1] * x + w[R_WB + 4] * y + w[R_WB + 7] * z,
        w[R_WB + 2] * x + w[R_WB + 5] * y + w[R_WB + 8] * z,
    )
