# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's contact in maximal coordinates, W 5.2 and 5.3: forces in the middle of a step, the state machine at its end.

The law is the printed one: a spring and a damper along the normal, friction -μ_d F_n v/‖v‖ (or v/zvt below the
threshold zvt) while a point slides, a spring to an anchor and a damper while it sticks. Which branch acts is decided by
the steady mode in which the step began and by the forces of the iteration at hand. Norms, and the force in world axes
beside a torque in body axes, W (5.9) and (5.10), are as the errata have them. With another law than W's, force and
derivative of a point are those of law_kernel.py; how it moves with X_next is the same.
"""

import math

from mbsim_ros.contact.layout import (
    BN,
    BT,
    CONTACT_DAMPING,
    CONTACT_RATE,
    DEPTH,
    FN,
    FORCE,
    FRICTION,
    KN,
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
from mbsim_ros.contact.modes import NO_CONTACT, SLIDING, SLIDING_TO_STICKING, STICKING
from mbsim_ros.contact.terrain_kernel import terrain_at
from mbsim_ros.contact.transition_kernel import next_mode, steady_mode
from mbsim_ros.integrators.maximal.body_kernel import mean_rate, midpoint_rotation
from mbsim_ros.integrators.maximal.contact.law_kernel import finish_laws, law_force_into
from mbsim_ros.integrators.maximal.quaternion_kernel import quaternion_force, rotate, times_unit
from mbsim_ros.jit import helper, kernel

OPEN, FREE, TOUCHES = range(3)  # what is decided about a point


@kernel
def add_contact_forces(contact, X, X_next, h, forces, M):
    """Add the contact forces in the middle of the step to forces (n, 7) and −h/2 of their derivative to M (n, 7, 7).

    X, X_next (n + 1, 7). Writes the results of every point; modes and anchors are only read.
    """
    for i in range(contact.bodies.shape[0]):
        body, result, arm = contact.bodies[i], contact.results[i], contact.arms[i]
        now, later = X[body + 1], X_next[body + 1]
        qw, qx, qy, qz, scale = midpoint_rotation(now, later)
        ax, ay, az = rotate(qw, qx, qy, qz, scale * arm[0], scale * arm[1], scale * arm[2])
        px, py, pz = 0.5 * (now[0] + later[0]) + ax, 0.5 * (now[1] + later[1]) + ay, 0.5 * (now[2] + later[2]) + az
        gap, nx, ny, nz = terrain_at(contact.kind, contact.data, contact.grid, px, py, pz)
        # the contact is where the sphere meets the ground; a point has no radius
        cx, cy, cz = ax - arm[3] * nx, ay - arm[3] * ny, az - arm[3] * nz
        bx, by, bz = mean_rate(now, later, h)
        wx, wy, wz = rotate(qw, qx, qy, qz, scale * bx, scale * by, scale * bz)
        vx = (later[0] - now[0]) / h + wy * cz - wz * cy
        vy = (later[1] - now[1]) / h + wz * cx - wx * cz
        vz = (later[2] - now[2]) / h + wx * cy - wy * cx
        rate = -(nx * vx + ny * vy + nz * vz)
        result[DEPTH], result[CONTACT_RATE] = arm[3] - gap, rate
        px, py, pz = px - arm[3] * nx, py - arm[3] * ny, pz - arm[3] * nz
        result[POSITION], result[POSITION + 1], result[POSITION + 2] = px, py, pz
        result[NORMAL], result[NORMAL + 1], result[NORMAL + 2] = nx, ny, nz
        result[VELOCITY], result[VELOCITY + 1], result[VELOCITY + 2] = vx + rate * nx, vy + rate * ny, vz + rate * nz
        if contact.inside:
            pushes = law_force_into(
                contact.parameters[i], contact.modes[i], contact.deflections[i], h, result, contact.slopes
            )
        else:
            mode = mode_in_step(contact.modes[i], is_touching(contact.decided[i], result[DEPTH]))
            pushes = force_into(contact.parameters[i], mode, contact.anchors[i], result, contact.slopes)
        if not pushes:
            continue
        fx, fy, fz = result[FORCE], result[FORCE + 1], result[FORCE + 2]
        tx, ty, tz = cy * fz - cz * fy, cz * fx - cx * fz, cx * fy - cy * fx
        ux, uy, uz = rotate(qw, -qx, -qy, -qz, scale * tx, scale * ty, scale * tz)  # the torque in body axes
        f = forces[body]
        f[0], f[1], f[2] = f[0] + fx, f[1] + fy, f[2] + fz
        g0, g1, g2, g3 = quaternion_force(qw, qx, qy, qz, ux, uy, uz)
        f[3], f[4], f[5], f[6] = f[3] + g0, f[4] + g1, f[5] + g2, f[6] + g3
        for column in range(7):
            # how arm, point and velocity change with a change of X_next in this column
            rx = ry = rz = ox = oy = oz = 0.0  # turn of the body in the middle, change of its rate, in the world
            dx = dy = dz = ex = ey = ez = 0.0
            if column < 3:
                dx, dy, dz = 0.5 * (column == 0), 0.5 * (column == 1), 0.5 * (column == 2)
                ex, ey, ez = 2.0 / h * dx, 2.0 / h * dy, 2.0 / h * dz
            else:
                k = column - 3
                rx = scale * entry(qw, qx, qy, qz, 1, k)
                ry = scale * entry(qw, qx, qy, qz, 2, k)
                rz = scale * entry(qw, qx, qy, qz, 3, k)
                rx, ry, rz = rotate(qw, qx, qy, qz, scale * rx, scale * ry, scale * rz)
                ox = 2.0 / h * entry(now[3], now[4], now[5], now[6], 1, k)
                oy = 2.0 / h * entry(now[3], now[4], now[5], now[6], 2, k)
                oz = 2.0 / h * entry(now[3], now[4], now[5], now[6], 3, k)
                ox, oy, oz = rotate(qw, qx, qy, qz, scale * ox, scale * oy, scale * oz)
                ox, oy, oz = ox + ry * wz - rz * wy, oy + rz * wx - rx * wz, oz + rx * wy - ry * wx
                dx, dy, dz = ry * az - rz * ay, rz * ax - rx * az, rx * ay - ry * ax
                ex = oy * cz - oz * cy + wy * dz - wz * dy
                ey = oz * cx - ox * cz + wz * dx - wx * dz
                ez = ox * cy - oy * cx + wx * dy - wy * dx
            hx, hy, hz = change(contact.slopes, dx, dy, dz, ex, ey, ez)
            sx, sy, sz = cy * hz - cz * hy, cz * hx - cx * hz, cx * hy - cy * hx
            m = M[body]
            m[0, column] -= 0.5 * h * hx
            m[1, column] -= 0.5 * h * hy
            m[2, column] -= 0.5 * h * hz
            g0 = g1 = g2 = g3 = 0.0
            if column >= 3:
                sx, sy, sz = sx + dy * fz - dz * fy, sy + dz * fx - dx * fz, sz + dx * fy - dy * fx
                sx, sy, sz = sx - ry * tz + rz * ty, sy - rz * tx + rx * tz, sz - rx * ty + ry * tx
                k = column - 3
                g0, g1, g2, g3 = quaternion_force(
                    0.5 * (k == 0), 0.5 * (k == 1), 0.5 * (k == 2), 0.5 * (k == 3), ux, uy, uz
                )
            sx, sy, sz = rotate(qw, -qx, -qy, -qz, scale * sx, scale * sy, scale * sz)
            k0, k1, k2, k3 = quaternion_force(qw, qx, qy, qz, sx, sy, sz)
            m[3, column] -= 0.5 * h * (g0 + k0)
            m[4, column] -= 0.5 * h * (g1 + k1)
            m[5, column] -= 0.5 * h * (g2 + k2)
            m[6, column] -= 0.5 * h * (g3 + k3)


@helper
def entry(w, x, y, z, axis, k):
    """Component k of q * e_axis."""
    a, b, c, d = times_unit(w, x, y, z, axis)
    return a if k == 0 else b if k == 1 else c if k == 2 else d


@helper
def change(slopes, dx, dy, dz, ex, ey, ez):
    """Change of the force with those of the point, d, and of its velocity, e."""
    p, v = slopes[0], slopes[1]
    return (
        p[0, 0] * dx + p[0, 1] * dy + p[0, 2] * dz + v[0, 0] * ex + v[0, 1] * ey + v[0, 2] * ez,
        p[1, 0] * dx + p[1, 1] * dy + p[1, 2] * dz + v[1, 0] * ex + v[1, 1] * ey + v[1, 2] * ez,
        p[2, 0] * dx + p[2, 1] * dy + p[2, 2] * dz + v[2, 0] * ex + v[2, 1] * ey + v[2, 2] * ez,
    )


@kernel
def force_into(parameters, mode, anchor, result, slopes):
    """Write FN, SLIPS, FORCE and the slopes ∂f/∂p, ∂f/∂v; returns whether there is a force. W 5.2, states 1, 2, 4"""
    result[FN] = result[SLIPS] = result[FORCE] = result[FORCE + 1] = result[FORCE + 2] = 0.0
    kn, bn = parameters[KN], parameters[BN]
    fn = kn * result[DEPTH] + bn * result[CONTACT_RATE]
    if mode == NO_CONTACT or not fn > 0.0:
        return False
    result[FN] = fn
    nx, ny, nz = result[NORMAL], result[NORMAL + 1], result[NORMAL + 2]
    vx, vy, vz = result[VELOCITY], result[VELOCITY + 1], result[VELOCITY + 2]
    # f_t = −weight·(stretch s + drag v) with slopes −stiff P and −drag P; along: how f_t grows with f_n
    if mode == STICKING:
        sx, sy, sz = result[POSITION] - anchor[0], result[POSITION + 1] - anchor[1], result[POSITION + 2] - anchor[2]
        out = nx * sx + ny * sy + nz * sz
        sx, sy, sz = sx - out * nx, sy - out * ny, sz - out * nz
        stiff, drag = parameters[KT], parameters[BT]
        tx, ty, tz = -stiff * sx - drag * vx, -stiff * sy - drag * vy, -stiff * sz - drag * vz
        size, bound, mu = math.sqrt(tx * tx + ty * ty + tz * tz), parameters[MU_STATIC] * fn, parameters[MU_STATIC]
        is_clipped = size > bound
        result[SLIPS] = 1.0 if is_clipped else 0.0
    else:
        mu = parameters[MU_DYNAMIC]
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        is_clipped = speed > parameters[STICK_SPEED]
        stiff, drag = 0.0, mu * fn / parameters[STICK_SPEED]
        tx, ty, tz = -drag * vx, -drag * vy, -drag * vz
        size, bound = drag * speed, mu * fn
    ratio = bound / size if is_clipped else 1.0
    lx = ly = lz = ux = uy = uz = 0.0  # ∂f_t/∂f_n, and the direction in which a clipped force does not grow
    if is_clipped:
        ux, uy, uz = tx / size, ty / size, tz / size
        lx, ly, lz = mu * ux, mu * uy, mu * uz
    elif mode != STICKING:
        lx, ly, lz = tx / fn, ty / fn, tz / fn
    tx, ty, tz = ratio * tx, ratio * ty, ratio * tz
    result[FORCE], result[FORCE + 1], result[FORCE + 2] = fn * nx + tx, fn * ny + ty, fn * nz + tz
    lx, ly, lz = lx + nx, ly + ny, lz + nz
    for row in range(3):
        l_row = lx if row == 0 else ly if row == 1 else lz
        n_row = nx if row == 0 else ny if row == 1 else nz
        u_row = ux if row == 0 else uy if row == 1 else uz
        for column in range(3):
            n_column = nx if column == 0 else ny if column == 1 else nz
            u_column = ux if column == 0 else uy if column == 1 else uz
            across = (1.0 if row == column else 0.0) - n_row * n_column - u_row * u_column
            slopes[0, row, column] = -kn * l_row * n_column - ratio * stiff * across
            slopes[1, row, column] = -bn * l_row * n_column - ratio * drag * across
    return True


@helper
def is_touching(decided, depth):
    """Whether a point is in the ground in the middle of the step, W 5.2: p_n < 0, or was so when that was decided."""
    return depth > 0.0 if decided == OPEN else decided == TOUCHES


@kernel
def decide_contacts(contact):
    """Hold for the rest of a search which points touch.

    W's damper begins with a jump when a point touches, so there may be no solution between touching and not touching,
    and the search would go to and fro for ever.
    """
    for i in range(contact.bodies.shape[0]):
        contact.decided[i] = TOUCHES if contact.results[i, DEPTH] > 0.0 else FREE


@helper
def mode_in_step(mode, touches):
    """The steady mode whose law holds in a step that began in `mode`."""
    if not touches:
        return NO_CONTACT
    mode = steady_mode(mode)
    return SLIDING if mode == NO_CONTACT else mode


@kernel
def finish_contacts(contact, X_next, h):
    """Change modes and anchors at the end of the step whose last pass left the results, and book its energies."""
    if contact.inside:
        finish_laws(contact, h)
        return
    energies = contact.energies
    stored_before = energies[STORED_NORMAL] + energies[STORED_TANGENTIAL]
    energies[STORED_NORMAL] = energies[STORED_TANGENTIAL] = 0.0
    moved = 0.0
    for i in range(contact.bodies.shape[0]):
        later, result, parameters = X_next[contact.bodies[i] + 1], contact.results[i], contact.parameters[i]
        arm, s = contact.arms[i], contact.deflections[i]
        x, y, z = rotate(later[3], later[4], later[5], later[6], arm[0], arm[1], arm[2])
        x, y, z = x + later[0], y + later[1], z + later[2]
        gap, nx, ny, nz = terrain_at(contact.kind, contact.data, contact.grid, x, y, z)
        depth_end = arm[3] - gap
        vx, vy, vz = result[VELOCITY], result[VELOCITY + 1], result[VELOCITY + 2]
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        depth = result[DEPTH]
        touches = is_touching(contact.decided[i], depth)
        began = mode_in_step(contact.modes[i], touches)
        depth = abs(depth) if touches else -abs(depth)
        mode = next_mode(began, depth, depth, result[FN], speed, result[SLIPS] > 0.0, parameters[STICK_SPEED])
        contact.modes[i] = mode
        x, y, z = x - arm[3] * nx, y - arm[3] * ny, z - arm[3] * nz
        if mode == SLIDING_TO_STICKING:
            contact.anchors[i, 0], contact.anchors[i, 1], contact.anchors[i, 2] = x, y, z
        s[0] = s[1] = s[2] = 0.0
        if mode == STICKING:
            s[0], s[1], s[2] = x - contact.anchors[i, 0], y - contact.anchors[i, 1], z - contact.anchors[i, 2]
            out = nx * s[0] + ny * s[1] + nz * s[2]
            s[0], s[1], s[2] = s[0] - out * nx, s[1] - out * ny, s[2] - out * nz
        if mode != NO_CONTACT and depth_end > 0.0:
            energies[STORED_NORMAL] += 0.5 * parameters[KN] * depth_end * depth_end
        energies[STORED_TANGENTIAL] += 0.5 * parameters[KT] * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
        moved += add_work_of_point(parameters, h, began, result, energies)
    # what is left is what changes of mode, and the springs' values between middle and ends, made or took
    stored = energies[STORED_NORMAL] + energies[STORED_TANGENTIAL]
    energies[SWITCHING] += stored_before - stored - moved


@helper
def add_work_of_point(parameters, h, began, result, energies):
    """Book work, damping and friction of one point over the step; returns their sum."""
    if not result[FN] > 0.0:
        return 0.0
    fx, fy, fz = result[FORCE], result[FORCE + 1], result[FORCE + 2]
    vx, vy, vz = result[VELOCITY], result[VELOCITY + 1], result[VELOCITY + 2]
    along = h * (fx * vx + fy * vy + fz * vz)
    work = along - h * result[FN] * result[CONTACT_RATE]
    damping, friction = h * parameters[BN] * result[CONTACT_RATE] * result[CONTACT_RATE], 0.0
    if began == STICKING and result[SLIPS] == 0.0:
        damping += h * parameters[BT] * (vx * vx + vy * vy + vz * vz)
    else:
        friction = -along
    energies[WORK] += work
    energies[CONTACT_DAMPING] += damping
    energies[FRICTION] += friction
    return work + damping + friction
