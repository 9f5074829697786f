# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One rigid body that turns, K section 3: the trapezoidal Lie-Newmark scheme and the symplectic Cayley scheme.

Both are solved for the mean angular velocity w of a step, in the body. With J the inertia about the centre of rotation,

    m = J w + ½ h w × J w + ¼ h² (wᵀJw) w          K (15), (16), the last term of the Cayley scheme only

is the momentum that the step begins with, and with −h in place of h the one that it ends with. A node has the momentum
m_k = J ω_k, so the discrete Legendre transform is part of every step: K's w_k is no velocity at an instant.
"""

import math

from mbsim_ros.integrators.state_bounds import is_plausible
from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.lie._coefficients import exp_coefficients

NEWMARK, CAYLEY = range(2)
# Why steps ended early
OK, NO_SOLUTION, IMPLAUSIBLE = range(3)
ITERATIONS = 100
ENOUGH = 1e-10  # of |w|: Newton's corrections square, so nothing is left to correct after one as small as this


@helper
def inertia_times(J, x, y, z):
    """J (6,), as xx yy zz xy xz yz, times a vector."""
    return J[0] * x + J[3] * y + J[4] * z, J[3] * x + J[1] * y + J[5] * z, J[4] * x + J[5] * y + J[2] * z


@helper
def step_momentum(scheme, J, h, x, y, z):
    """The momentum at the beginning of a step with mean velocity (x, y, z); with −h the one at its end."""
    jx, jy, jz = inertia_times(J, x, y, z)
    cx, cy, cz = cross(x, y, z, jx, jy, jz)
    half = 0.5 * h
    along = 0.25 * h * h * (x * jx + y * jy + z * jz) if scheme == CAYLEY else 0.0
    return jx + half * cx + along * x, jy + half * cy + along * y, jz + half * cz + along * z


@helper
def jacobian(scheme, J, h, x, y, z):
    """Rows of K (17), or of (18) with h²/4 and h²/2: the derivative of `step_momentum` by the velocity."""
    jx, jy, jz = inertia_times(J, x, y, z)
    half = 0.5 * h
    # hat(w) J: every column of J crossed by w
    ax, ay, az = cross(x, y, z, J[0], J[3], J[4])
    bx, by, bz = cross(x, y, z, J[3], J[1], J[5])
    cx, cy, cz = cross(x, y, z, J[4], J[5], J[2])
    diagonal, outer = 0.0, 0.0
    if scheme == CAYLEY:
        diagonal, outer = 0.25 * h * h * (x * jx + y * jy + z * jz), 0.5 * h * h
    return (
        J[0] + half * ax + diagonal + outer * x * jx,
        J[3] + half * (bx + jz) + outer * x * jy,
        J[4] + half * (cx - jy) + outer * x * jz,
        J[3] + half * (ay - jz) + outer * y * jx,
        J[1] + half * by + diagonal + outer * y * jy,
        J[5] + half * (cy + jx) + outer * y * jz,
        J[4] + half * (az + jy) + outer * z * jx,
        J[5] + half * (bz - jx) + outer * z * jy,
        J[2] + half * cz + diagonal + outer * z * jz,
    )


@helper
def solve_three(a, b, c, d, e, f, g, h, i, x, y, z):
    """The solution of [[a, b, c], [d, e, f], [g, h, i]] s = (x, y, z), by cofactors."""
    ux, uy, uz = cross(d, e, f, g, h, i)
    scale = 1.0 / (a * ux + b * uy + c * uz)
    vx, vy, vz = cross(g, h, i, a, b, c)
    wx, wy, wz = cross(a, b, c, d, e, f)
    return (
        scale * (ux * x + vx * y + wx * z),
        scale * (uy * x + vy * y + wy * z),
        scale * (uz * x + vz * y + wz * z),
    )


@helper
def mean_velocity(scheme, J, h, mx, my, mz, x, y, z):
    """Newton's method from (x, y, z): the mean velocity of a step with the momentum m, and the iterations, −1 for none.

    Pure, as in K 3.2: no line search, so that it fails where K says that it does.
    """
    for count in range(ITERATIONS):
        px, py, pz = step_momentum(scheme, J, h, x, y, z)
        a, b, c, d, e, f, g, k, i = jacobian(scheme, J, h, x, y, z)
        dx, dy, dz = solve_three(a, b, c, d, e, f, g, k, i, mx - px, my - py, mz - pz)
        x, y, z = x + dx, y + dy, z + dz
        change, size = dx * dx + dy * dy + dz * dz, x * x + y * y + z * z
        if not change < math.inf:
            return x, y, z, -1
        if change <= ENOUGH * ENOUGH * size:
            return x, y, z, count + 1
    return x, y, z, -1


@kernel
def rotation_steps_into(scheme, is_floating, steps, h, mass, centre, J, world_to_joint, gravity, force, q, v, saved):
    """Advance q (4 or 7,), v (3 or 6,) by steps; returns how many were done, OK or why no more, and the iterations.

    J (6,) is the inertia about the centre of rotation: the centre of mass of a free body, the joint of one that hangs.
    world_to_joint (9,): rotation of the world in the joint's axes. force (3 or 6,): generalised forces, in the body.
    """
    nq, nv = q.shape[0], v.shape[0]
    at, aw = (3, 3) if is_floating else (0, 0)
    determinant = (
        J[0] * (J[1] * J[2] - J[5] * J[5]) - J[3] * (J[3] * J[2] - J[5] * J[4]) + J[4] * (J[3] * J[5] - J[1] * J[4])
    )
    total = 0
    for done in range(steps):
        for n in range(nq):
            saved[n] = q[n]
        for n in range(nv):
            saved[7 + n] = v[n]
        wx, wy, wz = v[aw], v[aw + 1], v[aw + 2]
        mx, my, mz = inertia_times(J, wx, wy, wz)
        ux, uy, uz = torque(is_floating, mass, centre, world_to_joint, gravity, force, q)
        half = 0.5 * h
        x, y, z, count = mean_velocity(
            scheme, J, h, mx + half * ux, my + half * uy, mz + half * uz, wx, wy, wz
        )  # K (10), (12)
        if count < 0 or not determinant > 0.0:
            return done, NO_SOLUTION, total
        total += count
        if is_floating:
            start_moving(h, mass, centre, gravity, force, q, v)
        advance_rotation(scheme, q, at, h * x, h * y, h * z)  # K (9), (11)
        mx, my, mz = step_momentum(scheme, J, -h, x, y, z)
        ux, uy, uz = torque(is_floating, mass, centre, world_to_joint, gravity, force, q)
        v[aw], v[aw + 1], v[aw + 2] = solve_three(
            J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2], mx + half * ux, my + half * uy, mz + half * uz
        )
        if is_floating:
            end_moving(h, mass, centre, gravity, force, q, v)
        if not is_plausible(q, v):
            for n in range(nq):
                q[n] = saved[n]
            for n in range(nv):
                v[n] = saved[7 + n]
            return done, IMPLAUSIBLE, total
    return steps, OK, total


@helper
def torque(is_floating, mass, centre, world_to_joint, gravity, force, q):
    """Torque about the centre of rotation, in the body, at q."""
    if is_floating:  # the force acts at the origin of the body, the weight at the centre of mass
        cx, cy, cz = cross(centre[0], centre[1], centre[2], force[0], force[1], force[2])
        return force[3] - cx, force[4] - cy, force[5] - cz
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    r = world_to_joint
    jx = r[0] * gx + r[1] * gy + r[2] * gz
    jy = r[3] * gx + r[4] * gy + r[5] * gz
    jz = r[6] * gx + r[7] * gy + r[8] * gz
    bx, by, bz = rotate(-q[0], -q[1], -q[2], q[3], mass * jx, mass * jy, mass * jz)
    cx, cy, cz = cross(centre[0], centre[1], centre[2], bx, by, bz)
    return force[0] + cx, force[1] + cy, force[2] + cz


@helper
def rotate(i, j, k, r, x, y, z):
    """A vector turned by a unit quaternion: v + 2 u × (u × v + r v)."""
    tx, ty, tz = cross(i, j, k, x, y, z)
    sx, sy, sz = cross(i, j, k, tx + r * x, ty + r * y, tz + r * z)
    return x + 2.0 * sx, y + 2.0 * sy, z + 2.0 * sz


@helper
def advance_rotation(scheme, q, at, x, y, z):
    """Multiply the quaternion (x, y, z, w) at q[at:] by that of exp or cay of (x, y, z)."""
    square = x * x + y * y + z * z
    if scheme == CAYLEY:
        scalar = 1.0 / math.sqrt(1.0 + 0.25 * square)
        vector = 0.5 * scalar
    else:
        sinc, _, _ = exp_coefficients(0.25 * square)
        scalar, vector = math.cos(0.5 * math.sqrt(square)), 0.5 * sinc
    i, j, k = vector * x, vector * y, vector * z
    a, b, c, d = q[at], q[at + 1], q[at + 2], q[at + 3]
    ni, nj, nk = (
        d * i + a * scalar + b * k - c * j,
        d * j + b * scalar + c * i - a * k,
        d * k + c * scalar + a * j - b * i,
    )
    nr = d * scalar - a * i - b * j - c * k
    scale = 1.0 / math.sqrt(ni * ni + nj * nj + nk * nk + nr * nr)
    q[at], q[at + 1], q[at + 2], q[at + 3] = scale * ni, scale * nj, scale * nk, scale * nr


@helper
def start_moving(h, mass, centre, gravity, force, q, v):
    """The first half of a Verlet step, before the turn: q[:3], v[:3] become the centre of mass' own, in the world."""
    i, j, k, r = q[3], q[4], q[5], q[6]
    cx, cy, cz = rotate(i, j, k, r, centre[0], centre[1], centre[2])
    ox, oy, oz = cross(v[3], v[4], v[5], centre[0], centre[1], centre[2])
    vx, vy, vz = rotate(i, j, k, r, v[0] + ox, v[1] + oy, v[2] + oz)
    fx, fy, fz = rotate(i, j, k, r, force[0], force[1], force[2])
    half = 0.5 * h
    v[0] = vx + half * (gravity[0] + fx / mass)
    v[1] = vy + half * (gravity[1] + fy / mass)
    v[2] = vz + half * (gravity[2] + fz / mass)
    q[0], q[1], q[2] = q[0] + cx + h * v[0], q[1] + cy + h * v[1], q[2] + cz + h * v[2]


@helper
def end_moving(h, mass, centre, gravity, force, q, v):
    """The second half, after the turn and with its velocity in v[3:]: back to the origin of the body and its axes."""
    i, j, k, r = q[3], q[4], q[5], q[6]
    fx, fy, fz = rotate(i, j, k, r, force[0], force[1], force[2])
    half = 0.5 * h
    vx = v[0] + half * (gravity[0] + fx / mass)
    vy = v[1] + half * (gravity[1] + fy / mass)
    vz = v[2] + half * (gravity[2] + fz / mass)
    cx, cy, cz = rotate(i, j, k, r, centre[0], centre[1], centre[2])
    q[0], q[1], q[2] = q[0] - cx, q[1] - cy, q[2] - cz
    bx, by, bz = rotate(-i, -j, -k, r, vx, vy, vz)
    ox, oy, oz = cross(v[3], v[4], v[5], centre[0], centre[1], centre[2])
    v[0], v[1], v[2] = bx - ox, by - oy, bz - oz
