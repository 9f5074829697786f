# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One update of the balance controller: W Algorithms 4.1 to 4.6 one after the other, in one compiled call."""

from mbsim_ros.control.balance.desired_wrench_kernel import (
    F_W,
    Q_E,
    X_B,
    body_axes,
    desired_acceleration_into,
    desired_wrench_into,
)
from mbsim_ros.control.balance.leg_torques_kernel import holding_torques_into, standing_torques_into
from mbsim_ros.control.balance.workspace_dynamics_kernel import CENTRAL, IGNORED, inward_into, outward_into
from mbsim_ros.control.balance.wrench_distribution_kernel import minimum_norm_into, within_cones_into
from mbsim_ros.control.joints.linear_kernel import SIX, solve_six
from mbsim_ros.dynamics.layout import (
    ARTICULATED_A as A_,
    ARTICULATED_B as B_,
    ARTICULATED_C as C_,
    ARTICULATED_Z as Z_,
    P_WB,
    R_WB,
    TWIST,
)
from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.model.model import CENTRE, IQ, IV, PARENT

# Columns of the settings.
BIG_BASE, REACH, SINGULAR_DAMPING, FRICTION, CLEARANCE, GROUND, HOLD_KP, HOLD_KD, GRAVITY = range(9)
WEIGHTS = GRAVITY + 3
NORM_LENGTH, GIVE_UP, STRETCH = 17, 18, 19
SETTINGS_SIZE = 20
# Columns of the facts: least |nᵀS|, Newton steps of the distribution, whether it has fallen (kept till a reset).
LEAST_REACH, NEWTON_STEPS, FALLEN = 0, 1, 2
FACTS_SIZE = 3
STRETCH_RATE = 30.0  # [1/s] ω with which legs approach their whole length: fast against the gains, slow against 500 Hz


@kernel
def balance_into(robot, law, q, v, set_point, memory, work, result):
    """Write tau (nv,) of the actuated joints and the report; see `WorkspaceBalance` and arrays.py."""
    topology, constants, roles, central, feet = robot.topology, robot.constants, robot.roles, robot.central, robot.feet
    settings, facts, foot_stands = law.settings, memory.facts, memory.foot_stands
    rows, more, stands, held = work.rows, work.more, work.stands, work.held
    wrenches, report, tau = result.wrenches, result.report, result.tau
    gravity = settings[GRAVITY : GRAVITY + 3]
    w, m = rows[central + 1], constants[central]
    outward_into(topology, constants, roles, q, v, gravity, work.sincos, rows, more)
    soles_into(feet, constants, law.sole_points, robot.owner, central, rows, work.foot_centres, work.points)
    desired_acceleration_into(w, m, q, topology[central, IQ], set_point, law.gains, report)
    if report[Q_E] < settings[GIVE_UP]:
        facts[FALLEN] = 1.0
    standing_into(
        topology, roles, feet, robot.owner, work.points, w, m, settings, facts[FALLEN] > 0.0, foot_stands, stands
    )
    holding_into(topology, roles, stands, q, v, settings, held, memory.held_at)
    facts[LEAST_REACH] = workspace_into(robot, 0.0, settings, work)
    if settings[BIG_BASE] > 0.0 and not facts[LEAST_REACH] < settings[REACH]:
        workspace_into(robot, settings[BIG_BASE], settings, work)
    keep_legs_bent(topology, roles, feet, robot.leg_lengths, foot_stands, rows, w, settings[STRETCH], report)
    if not anything(foot_stands):
        fall_freely(w, m, work.H, work.best, report)
    desired_wrench_into(w, m, report)
    F = report[F_W : F_W + 6]
    facts[NEWTON_STEPS] = 0.0
    if law.use_cones:
        facts[NEWTON_STEPS] = within_cones_into(
            work.points, robot.owner, work.foot_centres, foot_stands, settings[FRICTION],
            settings[WEIGHTS : WEIGHTS + 6], F, work.H, work.A, memory.y, work.best, wrenches,
        )  # fmt: skip
    else:
        minimum_norm_into(work.foot_centres, foot_stands, settings[NORM_LENGTH], F, work.H, work.best, wrenches)
    standing_torques_into(topology, constants, roles, stands, feet, wrenches, rows, more, tau)
    acceleration_at_origin(m, report, work.best)
    holding_torques_into(topology, constants, roles, stands, held, work.best, rows, more, tau)
    for i in range(topology.shape[0]):
        if roles[i] != IGNORED and roles[i] != CENTRAL:
            iv = topology[i, IV]
            limit = 0.0 if facts[FALLEN] > 0.0 else robot.effort_limits[iv]  # limp: what lies about must not be driven
            tau[iv] = min(max(tau[iv], -limit), limit)


@helper
def workspace_into(robot, big_base, settings, work):
    """Write the dynamics of the central body; the least lever of a leg. W Algorithm 4.2"""
    return inward_into(
        robot.topology, robot.constants, robot.roles, work.stands, robot.central, big_base, robot.heavy,
        settings[REACH : REACH + 2], work.held, work.no_effort, work.rows, work.more, work.dofs, work.constraints,
        work.counts,
    )  # fmt: skip


@helper
def anything(flags):
    """Whether one of them is set."""
    found = False
    for i in range(flags.shape[0]):
        found = found or flags[i]
    return found


@helper
def soles_into(feet, constants, sole_points, owner, central, rows, places, points):
    """Write the feet's centres of mass and the points of their soles, from the centre of mass of the central body."""
    w, m = rows[central + 1], constants[central]
    for k in range(3):
        at = w[P_WB + k]
        for c in range(3):
            at += w[R_WB + 3 * k + c] * m[CENTRE + c]
        for i in range(feet.shape[0]):
            u, f = rows[feet[i] + 1], constants[feet[i]]
            total = u[P_WB + k] - at
            for c in range(3):
                total += u[R_WB + 3 * k + c] * f[CENTRE + c]
            places[i, k] = total
        for i in range(points.shape[0]):
            u = rows[feet[owner[i]] + 1]
            total = u[P_WB + k] - at
            for c in range(3):
                total += u[R_WB + 3 * k + c] * sole_points[i, c]
            points[i, k] = total


@helper
def standing_into(topology, roles, feet, owner, points, w, m, settings, fallen, foot_stands, stands):
    """Write which feet stand, and over which bodies the way to one leads.

    A foot leaves the ground when its lowest point is higher than the clearance, and is back at half of that. After a
    fall none stands any more.
    """
    height = w[P_WB + 2] - settings[GROUND]
    for c in range(3):
        height += w[R_WB + 6 + c] * m[CENTRE + c]
    for i in range(feet.shape[0]):
        lowest = 1e9
        for j in range(points.shape[0]):
            if owner[j] == i:
                lowest = min(lowest, height + points[j, 2])
        limit = settings[CLEARANCE] if foot_stands[i] else 0.5 * settings[CLEARANCE]
        foot_stands[i] = lowest < limit and not fallen
    for i in range(topology.shape[0]):
        stands[i] = False
    for i in range(feet.shape[0]):
        if foot_stands[i]:
            body = feet[i]
            while roles[body] != CENTRAL:
                stands[body] = True
                body = topology[body, PARENT] - 1


@helper
def keep_legs_bent(topology, roles, feet, leg_lengths, foot_stands, rows, w, margin, report):
    """Limit X so that no leg is stretched to its whole length less the margin: a straight knee could not be bent again.

    Along the line u from the foot to the hip, D is what is left of the way and v the speed: X·u ≤ ω² D − 2 ω v lets
    the leg come to rest there without overshoot, and leaves everything else alone.
    """
    for i in range(feet.shape[0]):
        if not foot_stands[i]:
            continue
        hip = feet[i]
        while roles[topology[hip, PARENT] - 1] != CENTRAL:
            hip = topology[hip, PARENT] - 1
        a, b = rows[feet[i] + 1], rows[hip + 1]
        ux, uy, uz = b[P_WB] - a[P_WB], b[P_WB + 1] - a[P_WB + 1], b[P_WB + 2] - a[P_WB + 2]
        length = (ux * ux + uy * uy + uz * uz) ** 0.5
        if not length > 0.0:
            continue
        left = leg_lengths[i] - margin - length
        ux, uy, uz = body_axes(w, ux / length, uy / length, uz / length)
        speed = w[TWIST] * ux + w[TWIST + 1] * uy + w[TWIST + 2] * uz
        stretch = report[X_B] * ux + report[X_B + 1] * uy + report[X_B + 2] * uz
        change = min(0.0, STRETCH_RATE * (STRETCH_RATE * left - 2.0 * speed) - stretch)
        report[X_B] += change * ux
        report[X_B + 1] += change * uy
        report[X_B + 2] += change * uz


@helper
def holding_into(topology, roles, stands, q, v, settings, held, held_at):
    """Write accelerations that hold the joints that carry no foot where they were when they last did."""
    for i in range(topology.shape[0]):
        if roles[i] == IGNORED or roles[i] == CENTRAL:
            continue
        iq, iv = topology[i, IQ], topology[i, IV]
        if stands[i]:
            held_at[iq] = q[iq]
            held[iv] = 0.0
        else:
            held[iv] = -settings[HOLD_KP] * (q[iq] - held_at[iq]) - settings[HOLD_KD] * v[iv]


@helper
def fall_freely(w, m, H, x, report):
    """With no foot on the ground nothing can act: X is what makes F₁ = 0, P₁ X = −z₁."""
    for k in range(3):
        for c in range(3):
            H[3 + c, k] = w[B_ + 3 * k + c]
        H[k, k], H[3 + k, 3 + k] = w[A_ + k], w[C_ + k]
    H[1, 0], H[2, 0], H[2, 1] = w[A_ + 3], w[A_ + 4], w[A_ + 5]
    H[4, 3], H[5, 3], H[5, 4] = w[C_ + 3], w[C_ + 4], w[C_ + 5]
    for k in range(SIX):
        x[k] = -w[Z_ + k]
    solve_six(H, x)
    dx, dy, dz = cross(x[3], x[4], x[5], m[CENTRE], m[CENTRE + 1], m[CENTRE + 2])
    report[X_B], report[X_B + 1], report[X_B + 2] = x[0] + dx, x[1] + dy, x[2] + dz
    report[X_B + 3], report[X_B + 4], report[X_B + 5] = x[3], x[4], x[5]


@helper
def acceleration_at_origin(m, report, out):
    """Write X of the central body's origin."""
    dx, dy, dz = cross(report[X_B + 3], report[X_B + 4], report[X_B + 5], m[CENTRE], m[CENTRE + 1], m[CENTRE + 2])
    out[0], out[1], out[2] = report[X_B] - dx, report[X_B + 1] - dy, report[X_B + 2] - dz
    out[3], out[4], out[5] = report[X_B + 3], report[X_B + 4], report[X_B + 5]
