# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What acts on the bodies besides constraints: gravity, pushes, and the forces of the joints' coordinates.

External forces act in the middle of a step, half on each node, W (5.2). The force of a joint's coordinate θ (drives,
damping, friction, stops) acts on the node through ∂θ/∂X there: its work over a step is then f·(θ_{k+1} − θ_k) and it
gives the robot neither momentum nor angular momentum, to rounding. A rotor is a kinetic energy ½ J (Δθ/h)² that acts
the same way.
"""

from mbsim_ros.integrators.joint_forces import damping_force, drive_force, force_beside, friction_force, stop_force
from mbsim_ros.integrators.layout import (
    DRIVE_EFFORT,
    DRIVE_LIMIT,
    LEDGER_ACTUATORS,
    LEDGER_DAMPING,
    LEDGER_EXTERNAL,
    LEDGER_FRICTION,
    LEDGER_STOPS,
)
from mbsim_ros.integrators.maximal.body_kernel import add_right_product, mean_rate, midpoint_rotation
from mbsim_ros.integrators.maximal.quaternion_kernel import quaternion_force, rotate, times_unit
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC, SPHERICAL
from mbsim_ros.model.model import IV, KIND, MASS, PARENT, ROTOR


@helper
def coordinate_force(joints, drives, motors, dof, r, rate, h):
    """Force on a coordinate in the middle of the step, and its slope by the rate, sign turned."""
    drive, slope = drive_force(drives, dof, r, rate, h)
    motor, motor_slope = drive_force(motors, dof, r, rate, h)
    motor, motor_slope = force_beside(drive, motor, motor_slope, motors[DRIVE_LIMIT, dof])
    damping, damping_slope = damping_force(joints, dof, rate)
    friction, friction_slope = friction_force(joints, dof, rate)
    stop, stop_slope = stop_force(joints, dof, r, rate, h)
    return drive + motor + damping + friction + stop, slope + motor_slope + damping_slope + friction_slope + stop_slope


@helper
def coordinate_impulse(body, joints, drives, motors, dof, now, later, h):
    """What a coordinate gives its joint at the node: h/2 f − J Δθ/h, its slope by θ_next with sign turned, and f."""
    rate = (later - now) / h
    force, slope = coordinate_force(joints, drives, motors, dof, 0.5 * (now + later), rate, h)
    return 0.5 * h * force - body[ROTOR] * rate, 0.5 * slope + body[ROTOR] / h, force


@kernel
def add_body_forces(tree, external, gravity, X, X_next, h, forces, M):
    """Write gravity and pushes to forces (n, 7) and subtract h/2 of their derivative by X_next from M (n, 7, 7)."""
    for i in range(tree.topology.shape[0]):
        f, push, mass = forces[i], external[i], tree.constants[i, MASS]
        f[0], f[1], f[2] = mass * gravity[0], mass * gravity[1], mass * gravity[2]
        f[3] = f[4] = f[5] = f[6] = 0.0
        if push[0] == push[1] == push[2] == push[3] == push[4] == push[5] == 0.0:
            continue
        now, later, c, m = X[i + 1], X_next[i + 1], tree.centres[i + 1], M[i]
        w, x, y, z, scale = midpoint_rotation(now, later)
        fx, fy, fz = rotate(w, x, y, z, scale * push[0], scale * push[1], scale * push[2])
        tx, ty, tz = push_torque(push, c)
        f[0], f[1], f[2] = f[0] + fx, f[1] + fy, f[2] + fz
        f[3], f[4], f[5], f[6] = quaternion_force(w, x, y, z, tx, ty, tz)
        add_right_product(m, -0.5 * h, tx, ty, tz)
        for axis in range(1, 4):
            # a turn of the middle by scale·(q * e_axis)·δq_next about the body's axis
            a = 1.0 * (axis == 1), 1.0 * (axis == 2), 1.0 * (axis == 3)
            ax, ay, az = rotate(w, x, y, z, scale * a[0], scale * a[1], scale * a[2])
            sx, sy, sz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
            d0, d1, d2, d3 = times_unit(w, x, y, z, axis)
            for k in range(4):
                d = scale * (d0 if k == 0 else d1 if k == 1 else d2 if k == 2 else d3)
                m[0, 3 + k] -= 0.5 * h * sx * d
                m[1, 3 + k] -= 0.5 * h * sy * d
                m[2, 3 + k] -= 0.5 * h * sz * d


@helper
def push_torque(push, c):
    """Torque about the centre of mass of a wrench at the body's origin, body axes."""
    return (
        push[3] - c[1] * push[2] + c[2] * push[1],
        push[4] - c[2] * push[0] + c[0] * push[2],
        push[5] - c[0] * push[1] + c[1] * push[0],
    )


@kernel
def add_group_efforts(tree, drives, motors, X, factor, impulses):
    """Add factor times the efforts on joints of several dofs, as they act at the node X, to impulses (n, 7)."""
    topology = tree.topology
    for i in range(topology.shape[0]):
        kind, iv = topology[i, KIND], topology[i, IV]
        if kind <= PRISMATIC:
            continue
        fx = fy = fz = tx = ty = tz = 0.0
        if kind == SPHERICAL:
            tx, ty, tz = effort(drives, motors, iv), effort(drives, motors, iv + 1), effort(drives, motors, iv + 2)
        elif kind == PLANAR:
            fx, fy, tz = effort(drives, motors, iv), effort(drives, motors, iv + 1), effort(drives, motors, iv + 2)
        elif kind == FLOATING:
            fx, fy, fz = effort(drives, motors, iv), effort(drives, motors, iv + 1), effort(drives, motors, iv + 2)
            tx, ty, tz = effort(drives, motors, iv + 3), effort(drives, motors, iv + 4), effort(drives, motors, iv + 5)
        if fx == fy == fz == tx == ty == tz == 0.0:
            continue
        own, c, at = X[i + 1], tree.centres[i + 1], impulses[i]
        w, x, y, z = own[3], own[4], own[5], own[6]
        ox, oy, oz = rotate(w, x, y, z, -c[0], -c[1], -c[2])  # from the centre of mass to the joint
        gx, gy, gz = rotate(w, x, y, z, fx, fy, fz)
        ux, uy, uz = rotate(w, x, y, z, tx, ty, tz)
        add_wrench(at, own, factor, gx, gy, gz, ux + oy * gz - oz * gy, uy + oz * gx - ox * gz, uz + ox * gy - oy * gx)
        parent = topology[i, PARENT]
        if parent > 0:
            inn = X[parent]
            ox, oy, oz = own[0] + ox - inn[0], own[1] + oy - inn[1], own[2] + oz - inn[2]
            add_wrench(
                impulses[parent - 1], inn, -factor, gx, gy, gz, ux + oy * gz - oz * gy, uy + oz * gx - ox * gz,
                uz + ox * gy - oy * gx,
            )  # fmt: skip


@helper
def effort(drives, motors, dof):
    """Effort on a dof by both kinds of drives."""
    return drives[DRIVE_EFFORT, dof] + motors[DRIVE_EFFORT, dof]


@helper
def add_wrench(out, X, factor, fx, fy, fz, tx, ty, tz):
    """Add factor times a force and a torque about the centre of mass, both in world axes, to a row (7,)."""
    bx, by, bz = rotate(X[3], -X[4], -X[5], -X[6], tx, ty, tz)
    g0, g1, g2, g3 = quaternion_force(X[3], X[4], X[5], X[6], bx, by, bz)
    out[0], out[1], out[2] = out[0] + factor * fx, out[1] + factor * fy, out[2] + factor * fz
    out[3], out[4] = out[3] + factor * g0, out[4] + factor * g1
    out[5], out[6] = out[5] + factor * g2, out[6] + factor * g3


@kernel
def add_work_of_forces(tree, joints, drives, motors, external, X, X_next, now, later, h, ledger):
    """Add the work of each kind of force over the step to the ledger; now, later (n,): the coordinates."""
    for i in range(tree.topology.shape[0]):
        kind, dof, push = tree.topology[i, KIND], tree.topology[i, IV], external[i]
        wx, wy, wz = mean_rate(X[i + 1], X_next[i + 1], h)
        if kind <= PRISMATIC:
            rate, r = (later[i] - now[i]) / h, 0.5 * (now[i] + later[i])
            drive, _ = drive_force(drives, dof, r, rate, h)
            motor, _ = drive_force(motors, dof, r, rate, h)
            motor, _ = force_beside(drive, motor, 0.0, motors[DRIVE_LIMIT, dof])
            damping, _ = damping_force(joints, dof, rate)
            friction, _ = friction_force(joints, dof, rate)
            stop, _ = stop_force(joints, dof, r, rate, h)
            ledger[LEDGER_ACTUATORS] += h * (drive + motor) * rate
            ledger[LEDGER_DAMPING] += h * damping * rate
            ledger[LEDGER_FRICTION] += h * friction * rate
            ledger[LEDGER_STOPS] += h * stop * rate
        if push[0] == push[1] == push[2] == push[3] == push[4] == push[5] == 0.0:
            continue
        p, s = X[i + 1], X_next[i + 1]
        w, x, y, z, scale = midpoint_rotation(p, s)
        fx, fy, fz = rotate(w, x, y, z, scale * push[0], scale * push[1], scale * push[2])
        tx, ty, tz = push_torque(push, tree.centres[i + 1])
        ledger[LEDGER_EXTERNAL] += fx * (s[0] - p[0]) + fy * (s[1] - p[1]) + fz * (s[2] - p[2])
        ledger[LEDGER_EXTERNAL] += h * (tx * wx + ty * wy + tz * wz)
