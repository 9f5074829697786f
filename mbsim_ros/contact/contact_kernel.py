# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact of points with the ground: forces at the middle of a step, and what changes at its end.

    contact_pass_into   in every iteration of the solve: wrenches on the bodies and their derivatives
    finish_step_into    once, after the solve: deflections, modes and the energy that the step moved

Everything is in the world: positions, forces, deflections; twists are (velocity of the body's point at the world's
origin, ω), wrenches (f, torque about the world's origin). A force and the velocity it works on are those of the same
material point, so that work, momentum and torque agree to rounding.
"""

import math

from mbsim_ros.contact.law_kernel import (
    block_into,
    friction_coefficient,
    next_deflection,
    normal_force,
    spring_energy,
    spring_work,
    tangential_force,
)
from mbsim_ros.contact.layout import (
    BT,
    CONTACT_DAMPING,
    CONTACT_RATE,
    DEPTH,
    FADE_DEPTH,
    FN,
    FORCE,
    FRICTION,
    KT,
    MU_DYNAMIC,
    MU_STATIC,
    NORMAL,
    POSITION,
    SLIPS,
    STICK_SPEED,
    STORED_NORMAL,
    STORED_TANGENTIAL,
    SWITCHING,
    VELOCITY,
    WORK,
)
from mbsim_ros.contact.modes import NEGATIVE_NORMAL_FORCE, NO_CONTACT, STICKING_TO_SLIDING
from mbsim_ros.contact.terrain_kernel import terrain_at
from mbsim_ros.contact.transition_kernel import next_mode
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.jit import helper, kernel


@kernel
def contact_pass_into(
    bodies, geometry, kind, data, grid, parameters, modes, deflections, rows, twists, h, full, wrenches, results,
    blocks, active,
):  # fmt: skip
    """Add the contact wrenches to wrenches (bodies, 6) and return the number of points that push.

    bodies (n,), geometry (n, 4): body of each point, its place in the body's frame and its radius. kind, data, grid:
    the ground. parameters (n, 14): the law of each point. modes (n,), deflections (n, 3): the state at the beginning of
    the step, which is only read. rows: R_WB and p_WB at the middle of the step in columns 52…63, body i in row i + 1.
    twists (bodies, 6): the mean over the step. Written: results (n, 16); active (n,), whose first entries list the
    points that push; and for those blocks (n, 9), C = −∂F/∂v of the point, row by row. full: the whole derivative;
    otherwise its symmetric positive semidefinite part, for a matrix that is factorised as such.
    """
    count = 0
    for i in range(bodies.shape[0]):
        if touch_into(
            i, bodies[i], geometry, kind, data, grid, parameters, modes, deflections, rows, twists, h, full, wrenches,
            results, blocks,
        ):  # fmt: skip
            active[count] = i
            count += 1
    return count


@helper
def touch_into(
    i, body, geometry, kind, data, grid, parameters, modes, deflections, rows, twists, h, full, wrenches, results,
    blocks,
):  # fmt: skip
    """One point of contact_pass_into; whether it pushes."""
    result = results[i]
    x, y, z = place(rows[body + 1], geometry[i])
    gap, nx, ny, nz = terrain_at(kind, data, grid, x, y, z)
    radius = geometry[i, 3]
    depth = radius - gap
    # where a sphere touches; its velocity is that of the sphere's material, not of the moving point of contact
    x, y, z = x - radius * nx, y - radius * ny, z - radius * nz
    vx, vy, vz = velocity(twists[body], x, y, z)
    place_result(result, x, y, z, nx, ny, nz, vx, vy, vz)
    result[DEPTH] = depth
    mode, s = modes[i], deflections[i]
    if force_into(parameters[i], mode, s[0], s[1], s[2], h, full, result, blocks[i]):
        add_wrench(wrenches[body], x, y, z, result[FORCE], result[FORCE + 1], result[FORCE + 2])
        return True
    return False


@kernel
def finish_step_into(parameters, h, modes, deflections, results, energies):
    """Carry modes (n,) and deflections (n, 3) to the end of the step whose last pass left these results.

    Adds to energies (6,): what the springs hold at the end of the step, normal and tangential; what the dampers and
    the friction took; what was lost from the springs without work when a mode changed (negative: created); and the
    work of the contact forces on the bodies. All with the velocities of the step itself, so that for every point
    work + stored + damping + friction + switching = what was stored at its beginning, to rounding.
    """
    for i in range(modes.shape[0]):
        s = deflections[i]
        modes[i], s[0], s[1], s[2] = finish(parameters[i], h, modes[i], s[0], s[1], s[2], results[i], energies)


@helper
def place(row, local):
    """World position of a point fixed to the body with pose R_WB, p_WB in the row."""
    px, py, pz = local[0], local[1], local[2]
    return (
        row[P_WB] + row[R_WB] * px + row[R_WB + 1] * py + row[R_WB + 2] * pz,
        row[P_WB + 1] + row[R_WB + 3] * px + row[R_WB + 4] * py + row[R_WB + 5] * pz,
        row[P_WB + 2] + row[R_WB + 6] * px + row[R_WB + 7] * py + row[R_WB + 8] * pz,
    )


@helper
def velocity(twist, x, y, z):
    """Velocity of a body's material at a world position."""
    wx, wy, wz = twist[3], twist[4], twist[5]
    return twist[0] + wy * z - wz * y, twist[1] + wz * x - wx * z, twist[2] + wx * y - wy * x


@helper
def place_result(result, x, y, z, nx, ny, nz, vx, vy, vz):
    """Write where the contact is and how its material moves, split into the rate of the depth and the rest."""
    rate = -(nx * vx + ny * vy + nz * vz)
    result[CONTACT_RATE] = rate
    result[POSITION], result[POSITION + 1], result[POSITION + 2] = x, y, z
    result[NORMAL], result[NORMAL + 1], result[NORMAL + 2] = nx, ny, nz
    result[VELOCITY], result[VELOCITY + 1], result[VELOCITY + 2] = vx + rate * nx, vy + rate * ny, vz + rate * nz


@helper
def force_into(parameters, mode, sx, sy, sz, h, full, result, block):
    """Write FN, SLIPS, FORCE and, where there is a force, C; returns whether there is one."""
    result[SLIPS] = 0.0
    result[FORCE], result[FORCE + 1], result[FORCE + 2] = 0.0, 0.0, 0.0
    depth, rate = result[DEPTH], result[CONTACT_RATE]
    if not parameters[FADE_DEPTH] > 0.0:
        # No point has gone deeper than from the surface to here in half the step: a damper that acts on that begins
        # with no force, too, and with the force linear in the velocity.
        rate = min(rate, 2.0 * depth / h)
    fn, by_depth, by_rate = normal_force(parameters, depth, rate)
    result[FN] = fn
    if not fn > 0.0:
        return False
    nx, ny, nz = result[NORMAL], result[NORMAL + 1], result[NORMAL + 2]
    vx, vy, vz = result[VELOCITY], result[VELOCITY + 1], result[VELOCITY + 2]
    out = nx * sx + ny * sy + nz * sz
    sx, sy, sz = sx - out * nx, sy - out * ny, sz - out * nz
    mu = friction_coefficient(mode, parameters[MU_STATIC], parameters[MU_DYNAMIC])
    fx, fy, fz, along, across, slips = tangential_force(
        parameters[KT], parameters[BT], mu * fn, h, sx, sy, sz, vx, vy, vz
    )
    result[SLIPS] = 1.0 if slips else 0.0
    if not full:
        by_depth = max(by_depth, 0.0)  # it may fall with the depth where a point leaves against the damper
    c = 0.5 * h * by_depth + by_rate
    block_into(c, mu, nx, ny, nz, fx, fy, fz, along, across, slips, full, block)
    result[FORCE], result[FORCE + 1], result[FORCE + 2] = fx + fn * nx, fy + fn * ny, fz + fn * nz
    return True


@helper
def add_wrench(wrench, x, y, z, fx, fy, fz):
    """Add a force at a world position to a wrench about the world's origin."""
    wrench[0] += fx
    wrench[1] += fy
    wrench[2] += fz
    wrench[3] += y * fz - z * fy
    wrench[4] += z * fx - x * fz
    wrench[5] += x * fy - y * fx


@helper
def finish(parameters, h, mode, sx, sy, sz, result, energies):
    """Mode and deflection at the end of the step of one point, (mode, sx, sy, sz); books its energy."""
    kt = parameters[KT]
    depth, rate, fn = result[DEPTH], result[CONTACT_RATE], result[FN]
    depth_end = depth + 0.5 * h * rate
    if mode == NO_CONTACT and not depth > 0.0 and not depth_end > 0.0:
        # in the air all along: nothing stored, nothing moved
        return mode, 0.0, 0.0, 0.0
    nx, ny, nz = result[NORMAL], result[NORMAL + 1], result[NORMAL + 2]
    vx, vy, vz = result[VELOCITY], result[VELOCITY + 1], result[VELOCITY + 2]
    # Normal. A step that crosses the surface stores another amount than the spring takes where it acts.
    taken = spring_work(parameters, h, depth, rate)
    begun, stored = spring_energy(parameters, depth - 0.5 * h * rate), spring_energy(parameters, depth_end)
    energies[STORED_NORMAL] += stored
    energies[SWITCHING] += taken + begun - stored
    energies[CONTACT_DAMPING] += h * fn * rate - taken
    # Tangential, in the plane that the ground has at the middle of the step.
    before = 0.5 * kt * (sx * sx + sy * sy + sz * sz)
    out = nx * sx + ny * sy + nz * sz
    sx, sy, sz = sx - out * nx, sy - out * ny, sz - out * nz
    turned = 0.5 * kt * (sx * sx + sy * sy + sz * sz)
    energies[SWITCHING] += before - turned
    slips = result[SLIPS] > 0.0
    work = h * (result[FORCE] * vx + result[FORCE + 1] * vy + result[FORCE + 2] * vz)
    energies[WORK] += work - h * fn * rate
    bound = fn * friction_coefficient(mode, parameters[MU_STATIC], parameters[MU_DYNAMIC])
    sx, sy, sz = next_deflection(kt, bound, h, sx, sy, sz, vx, vy, vz)
    after = 0.5 * kt * (sx * sx + sy * sy + sz * sz)
    if fn > 0.0:
        damped = 0.0 if slips else h * parameters[BT] * (vx * vx + vy * vy + vz * vz)
        energies[CONTACT_DAMPING] += damped
        energies[FRICTION] += turned - after - work - damped
    else:
        energies[SWITCHING] += turned  # let go
    mode = next_mode(mode, depth_end, depth, fn, math.sqrt(vx * vx + vy * vy + vz * vz), slips, parameters[STICK_SPEED])
    keep = 1.0
    if mode == NO_CONTACT or mode == NEGATIVE_NORMAL_FORCE:  # noqa: SIM109 (a tuple is slower in a kernel)
        keep = 0.0
    elif mode == STICKING_TO_SLIDING:
        # From the static to the dynamic friction: the spring gives what the latter cannot hold.
        pull = math.sqrt(2.0 * kt * after)
        if pull > parameters[MU_DYNAMIC] * fn:
            keep = parameters[MU_DYNAMIC] * fn / pull
    sx, sy, sz = keep * sx, keep * sy, keep * sz
    energies[SWITCHING] += (1.0 - keep * keep) * after
    energies[STORED_TANGENTIAL] += keep * keep * after
    return mode, sx, sy, sz


@kernel
def add_point_block(block, x, y, z, factor, matrix):
    """Add factor · Jᵀ C J to matrix (6, 6), J = (1, −[x]ₓ): C of a point as the body's spatial twist feels it."""
    for column in range(6):
        if column < 3:
            a, b, c = block[column], block[3 + column], block[6 + column]
        elif column == 3:  # e_x × x = (0, −z, y)
            a, b, c = block[2] * y - block[1] * z, block[5] * y - block[4] * z, block[8] * y - block[7] * z
        elif column == 4:
            a, b, c = block[0] * z - block[2] * x, block[3] * z - block[5] * x, block[6] * z - block[8] * x
        else:
            a, b, c = block[1] * x - block[0] * y, block[4] * x - block[3] * y, block[7] * x - block[6] * y
        a, b, c = factor * a, factor * b, factor * c
        matrix[0, column] += a
        matrix[1, column] += b
        matrix[2, column] += c
        matrix[3, column] += y * c - z * b
        matrix[4, column] += z * a - x * c
        matrix[5, column] += x * b - y * a
