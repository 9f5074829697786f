# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the last update of an iteration does to the forces, to first order: they were evaluated before it.

The step goes on with u + Δu, and so must all that is taken from it. Momenta gain Dᵀ M D Δu, forces lose S Δu with the
slopes S that are in the matrix anyway; p_{k+1} would otherwise have an impulse h S Δu too much. The next step would
find it as a residual, on stiff ground twice as large as this one, so that a robot that stands would never be at rest.

A point on the ground has its velocity, depth and force corrected, so that what is carried on of it, and what its
energies are counted from, is of the same motion. Springs and points between bodies stay as they were evaluated; their
part of the residual is left to the next step in the momentum.
"""

from mbsim_ros.contact.contact_kernel import add_wrench, velocity
from mbsim_ros.contact.layout import (
    CONTACT_RATE,
    DEPTH,
    FN,
    FORCE as POINT_FORCE,
    NORMAL,
    POSITION,
    SLIPS,
    VELOCITY as POINT_VELOCITY,
)
from mbsim_ros.contact.slip_kernel import slip_gain
from mbsim_ros.coupling.reduction_kernel import expand_columns, reduce_to_columns
from mbsim_ros.dynamics.joint_motion import joint_twist
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.integrators.lie_variational.body_forces_kernel import add_projected
from mbsim_ros.integrators.lie_variational.midpoint_kernel import rotate
from mbsim_ros.integrators.lie_variational.spatial_kernel import wrench_to_body
from mbsim_ros.integrators.lie_variational.vectors import (
    FORCE,
    MINUS,
    MOTOR,
    MOTOR_SLOPE,
    RESIDUAL,
    SCRATCH,
    SLOPE,
    UPDATE,
)
from mbsim_ros.jit import cross, helper
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC, REVOLUTE
from mbsim_ros.model.model import IV, KIND, PARENT

# (6), (6) of a row, free once a body is placed: what the update adds to its spatial twist and to what acts on it.
TWIST, WRENCH = 0, 6


@helper
def carry_update(system, h, n_ground, has_forces):
    """Make of Δu, in UPDATE, what it adds to D₂L_d, Dᵀ M D Δu, and bring the forces to u + Δu.

    RESIDUAL is what Δu was solved for: A Δu, A being Dᵀ (M + h/2 S) D and what motors add to it. has_forces: on joints.
    """
    state, coupling, vectors = system.state, system.coupling, system.work.vectors
    nv, nu = state.p.shape[0], state.u.shape[0]
    update, residual = vectors[UPDATE, :nu], vectors[RESIDUAL, :nu]
    if not has_forces and n_ground == 0:
        for i in range(nu):
            update[i] = residual[i] - coupling.rotor[i] * update[i]
        return
    rates, change, reduced = vectors[SCRATCH, :nv], vectors[SCRATCH + 1, :nv], vectors[SCRATCH + 2, :nu]
    expand_columns(coupling, update, rates)
    for i in range(nv):
        change[i] = -vectors[SLOPE, i] * rates[i]
    if n_ground > 0:
        change_points(system.tree, system.contact, system.work, rates, h, n_ground, change)
    for i in range(nv):
        vectors[FORCE, i] += change[i]
        vectors[MINUS, i] += 0.5 * h * change[i]  # the residual of the tree, of which balance_kernel makes D₁L_d again
    reduce_to_columns(coupling, change, reduced)
    for i in range(nu):
        motor = -vectors[MOTOR_SLOPE, i] * update[i]
        vectors[MOTOR, i] += motor
        update[i] = residual[i] - coupling.rotor[i] * update[i] + 0.5 * h * (reduced[i] + motor)


@helper
def change_points(tree, contact, work, rates, h, n_ground, change):
    """Bring the points that push on the ground to the velocities Δv (nv,) more; adds their forces to change (nv,)."""
    change_twists(tree.topology, work.rows, rates)
    for k in range(n_ground):
        n = contact.active[k]
        change_point(contact.results[n], contact.blocks[n], h, work.rows[contact.bodies[n] + 1])
    gather_changes(tree.topology, work, change)


@helper
def change_twists(topology, rows, rates):
    """Write what the bodies' spatial twists gain with Δv, at the midpoint of the step; and no wrench yet."""
    for k in range(6):
        rows[0, TWIST + k] = 0.0
    for i in range(topology.shape[0]):
        kind, iv = topology[i, KIND], topology[i, IV]
        w, u = rows[i + 1], rows[topology[i, PARENT]]
        a, b, c, x, y, z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if kind == REVOLUTE:
            x, y, z = w[R_WB + 2] * rates[iv], w[R_WB + 5] * rates[iv], w[R_WB + 8] * rates[iv]
        elif kind == PRISMATIC:
            a, b, c = w[R_WB + 2] * rates[iv], w[R_WB + 5] * rates[iv], w[R_WB + 8] * rates[iv]
        else:
            a, b, c, x, y, z = joint_twist(kind, rates, iv)
            a, b, c = rotate(w, a, b, c)
            x, y, z = rotate(w, x, y, z)
        mx, my, mz = cross(w[P_WB], w[P_WB + 1], w[P_WB + 2], x, y, z)
        w[TWIST], w[TWIST + 1], w[TWIST + 2] = u[TWIST] + a + mx, u[TWIST + 1] + b + my, u[TWIST + 2] + c + mz
        w[TWIST + 3], w[TWIST + 4], w[TWIST + 5] = u[TWIST + 3] + x, u[TWIST + 4] + y, u[TWIST + 5] + z
        for k in range(6):
            w[WRENCH + k] = 0.0


@helper
def change_point(result, block, h, w):
    """Bring one point to its new velocity; w: the row of its body."""
    x, y, z = result[POSITION], result[POSITION + 1], result[POSITION + 2]
    nx, ny, nz = result[NORMAL], result[NORMAL + 1], result[NORMAL + 2]
    vx, vy, vz = velocity(w[TWIST : TWIST + 6], x, y, z)
    rate = -(nx * vx + ny * vy + nz * vz)
    fx = -(block[0] * vx + block[1] * vy + block[2] * vz)
    fy = -(block[3] * vx + block[4] * vy + block[5] * vz)
    fz = -(block[6] * vx + block[7] * vy + block[8] * vz)
    if result[SLIPS] > 0.0:
        follows = slip_gain(result, block) * rate
        fn = result[FN]
        fx += follows * (result[POINT_FORCE] - fn * nx)
        fy += follows * (result[POINT_FORCE + 1] - fn * ny)
        fz += follows * (result[POINT_FORCE + 2] - fn * nz)
    result[CONTACT_RATE] += rate
    result[DEPTH] += 0.5 * h * rate
    result[POINT_VELOCITY] += vx + rate * nx
    result[POINT_VELOCITY + 1] += vy + rate * ny
    result[POINT_VELOCITY + 2] += vz + rate * nz
    result[FN] += nx * fx + ny * fy + nz * fz
    result[POINT_FORCE] += fx
    result[POINT_FORCE + 1] += fy
    result[POINT_FORCE + 2] += fz
    add_wrench(w[WRENCH : WRENCH + 6], x, y, z, fx, fy, fz)


@helper
def gather_changes(topology, work, change):
    """Add Sᵀ ΔW to the changes (nv,) of the dofs' forces, as gather_wrenches, and ΔW to all wrenches that are kept."""
    root = work.root_poses.shape[0]
    for i in range(topology.shape[0] - 1, -1, -1):
        kind, iv, parent = topology[i, KIND], topology[i, IV], topology[i, PARENT]
        w = work.rows[i + 1]
        wrench, kept = w[WRENCH : WRENCH + 6], work.wrenches[i]
        fx, fy, fz = wrench[0], wrench[1], wrench[2]
        x, y, z = cross(w[P_WB], w[P_WB + 1], w[P_WB + 2], fx, fy, fz)
        tx, ty, tz = wrench[3] - x, wrench[4] - y, wrench[5] - z
        if kind == REVOLUTE:
            change[iv] += w[R_WB + 2] * tx + w[R_WB + 5] * ty + w[R_WB + 8] * tz
        elif kind == PRISMATIC:
            change[iv] += w[R_WB + 2] * fx + w[R_WB + 5] * fy + w[R_WB + 8] * fz
        elif kind == FLOATING and parent == 0:
            root -= 1
            for k in range(6):
                work.root_wrenches[root, k] += wrench[k]
            wrench_to_body(work.root_poses[root], wrench, change[iv : iv + 6])
        else:
            add_projected(kind, w, fx, fy, fz, tx, ty, tz, change, iv)
        for k in range(6):
            kept[k] += wrench[k]
        if parent > 0:
            above = work.rows[parent]
            for k in range(6):
                above[WRENCH + k] += wrench[k]
