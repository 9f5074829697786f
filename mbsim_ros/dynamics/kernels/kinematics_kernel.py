# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where bodies are and how they move: world poses, twists and accelerations, W Algorithm 3.1.

`world_poses_into` comes first; what follows reads the poses it leaves in the rows. Poses are carried outward in the
world, twists and accelerations in body frames, where each joint's motion is a plain sum.
"""

from mbsim_ros.dynamics.joint_motion import joint_twist
from mbsim_ros.dynamics.layout import ACCELERATION, R_WB, TWIST
from mbsim_ros.dynamics.placement import place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import IQ, IV, KIND, PARENT


@kernel
def world_poses_into(topology, constants, q, sincos, rows):
    """Write R_PB, p_PB (columns 0…11) and R_WB, p_WB (columns 52…63) of every body; row 0 gets the identity."""
    cosines_and_sines(q, sincos[0], sincos[1])
    world = rows[0]
    for k in range(R_WB, R_WB + 12):
        world[k] = 0.0
    world[R_WB] = world[R_WB + 4] = world[R_WB + 8] = 1.0
    for i in range(topology.shape[0]):
        w, u = rows[i + 1], rows[topology[i, PARENT]]
        place_body(topology[i, KIND], constants[i], q, topology[i, IQ], sincos[0], sincos[1], w)
        compose(u, R_WB, w, 0, w, R_WB)  # W (3.1)


@helper
def compose(x, i, y, j, out, k):
    """Write the pose x[i…]·y[j…] to out[k…]; a pose is R row by row, then p, twelve numbers in a row."""
    for row in range(3):
        r0, r1, r2 = x[i + 3 * row], x[i + 3 * row + 1], x[i + 3 * row + 2]
        out[k + 3 * row] = r0 * y[j] + r1 * y[j + 3] + r2 * y[j + 6]
        out[k + 3 * row + 1] = r0 * y[j + 1] + r1 * y[j + 4] + r2 * y[j + 7]
        out[k + 3 * row + 2] = r0 * y[j + 2] + r1 * y[j + 5] + r2 * y[j + 8]
        out[k + 9 + row] = x[i + 9 + row] + r0 * y[j + 9] + r1 * y[j + 10] + r2 * y[j + 11]


@helper
def carry(w, u, at):
    """The twist u[at…] of the parent as the body has it, in the body frame: Ad⁻¹ of (R_PB, p_PB) in w. W (3.8)"""
    px, py, pz = w[9], w[10], w[11]
    x, y, z = u[at + 3], u[at + 4], u[at + 5]
    wx, wy, wz = w[0] * x + w[3] * y + w[6] * z, w[1] * x + w[4] * y + w[7] * z, w[2] * x + w[5] * y + w[8] * z
    x, y, z = u[at] + y * pz - z * py, u[at + 1] + z * px - x * pz, u[at + 2] + x * py - y * px
    vx, vy, vz = w[0] * x + w[3] * y + w[6] * z, w[1] * x + w[4] * y + w[7] * z, w[2] * x + w[5] * y + w[8] * z
    return vx, vy, vz, wx, wy, wz


@helper
def twist_outward(kind, v, iv, w, u):
    """Write the body's twist to w[TWIST…], the parent's being in u[TWIST…], and return it."""
    vx, vy, vz, wx, wy, wz = carry(w, u, TWIST)
    if kind == REVOLUTE:
        wz += v[iv]
    else:
        jx, jy, jz, kx, ky, kz = joint_twist(kind, v, iv)
        vx, vy, vz, wx, wy, wz = vx + jx, vy + jy, vz + jz, wx + kx, wy + ky, wz + kz
    w[TWIST], w[TWIST + 1], w[TWIST + 2] = vx, vy, vz
    w[TWIST + 3], w[TWIST + 4], w[TWIST + 5] = wx, wy, wz
    return vx, vy, vz, wx, wy, wz


@kernel
def body_motions_into(topology, v, a, rows):
    """Write twists (columns 12…17) and spatial accelerations (18…23) of all bodies; needs R_PB, p_PB in the rows."""
    for k in range(TWIST, TWIST + 12):
        rows[0, k] = 0.0
    for i in range(topology.shape[0]):
        kind, iv = topology[i, KIND], topology[i, IV]
        w, u = rows[i + 1], rows[topology[i, PARENT]]
        vx, vy, vz, wx, wy, wz = twist_outward(kind, v, iv, w, u)
        ax, ay, az, bx, by, bz = carry(w, u, ACCELERATION)
        jx, jy, jz, kx, ky, kz = joint_twist(kind, v, iv)
        sx, sy, sz, tx, ty, tz = joint_twist(kind, a, iv)
        # A = Ad⁻¹ A_parent + S a + ad(V) S v, W (3.10)
        w[ACCELERATION] = ax + sx + wy * jz - wz * jy + vy * kz - vz * ky
        w[ACCELERATION + 1] = ay + sy + wz * jx - wx * jz + vz * kx - vx * kz
        w[ACCELERATION + 2] = az + sz + wx * jy - wy * jx + vx * ky - vy * kx
        w[ACCELERATION + 3] = bx + tx + wy * kz - wz * ky
        w[ACCELERATION + 4] = by + ty + wz * kx - wx * kz
        w[ACCELERATION + 5] = bz + tz + wx * ky - wy * kx


@kernel
def link_poses_into(link_rows, placements, rows, poses):
    """Write the world pose of every link, (links, 12): R row by row, then p; needs R_WB, p_WB in the rows.

    link_rows (links,): row of the body a link is fixed to, 0 for the world. placements (links, 12): X_BF.
    """
    for i in range(link_rows.shape[0]):
        compose(rows[link_rows[i]], R_WB, placements[i], 0, poses[i], 0)
