# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Inverse dynamics by the recursive Newton-Euler algorithm, W Algorithm 3.2, in body frames.

The outward pass carries the angular velocity ω, the angular acceleration α and the acceleration a of the body's origin
(as a point, not as a spatial vector: it needs no linear velocities). A point fixed to the body at r accelerates with
a + G r, G = α̂ + ω̂², so one matrix per body serves its centre of mass and all its children. Gravity is an upward
acceleration of the world.
"""

from mbsim_ros.dynamics.joint_motion import joint_twist, project_wrench
from mbsim_ros.dynamics.layout import (
    INVERSE_ACCELERATION as A_,
    INVERSE_ALPHA as L_,
    INVERSE_COLUMNS as COLUMNS,
    INVERSE_G as G_,
    INVERSE_OMEGA as W_,
    INVERSE_WRENCH as F_,
)
from mbsim_ros.dynamics.placement import pass_wrench, place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.jit import kernel
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, IQ, IV, KIND, MASS, PARENT, ROTOR


@kernel
def inverse_dynamics_into(topology, constants, q, v, a, gravity, wrenches, sincos, rows, tau):
    """Write tau (nv,) that gives the accelerations a; wrenches (bodies, 6) act on the bodies, in their frames.

    wrenches may have no rows: then nothing acts but gravity.
    """
    n = topology.shape[0]
    has_wrenches = wrenches.shape[0] == n
    cosines_and_sines(q, sincos[0], sincos[1])
    world = rows[0]
    for k in range(W_, COLUMNS):
        world[k] = 0.0
    world[A_], world[A_ + 1], world[A_ + 2] = -gravity[0], -gravity[1], -gravity[2]
    for i in range(n):
        kind, iv = topology[i, KIND], topology[i, IV]
        m, w, u = constants[i], rows[i + 1], rows[topology[i, PARENT]]
        place_body(kind, m, q, topology[i, IQ], sincos[0], sincos[1], w)
        r00, r01, r02, r10, r11, r12 = w[0], w[1], w[2], w[3], w[4], w[5]
        r20, r21, r22, px, py, pz = w[6], w[7], w[8], w[9], w[10], w[11]
        # What the parent gives, in the body's axes; the joint's own motion is added below. W (3.8), (3.10)
        x, y, z = u[W_], u[W_ + 1], u[W_ + 2]
        wx, wy, wz = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z, r02 * x + r12 * y + r22 * z
        x, y, z = u[L_], u[L_ + 1], u[L_ + 2]
        lx, ly, lz = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z, r02 * x + r12 * y + r22 * z
        x = u[A_] + u[G_] * px + u[G_ + 1] * py + u[G_ + 2] * pz
        y = u[A_ + 1] + u[G_ + 3] * px + u[G_ + 4] * py + u[G_ + 5] * pz
        z = u[A_ + 2] + u[G_ + 6] * px + u[G_ + 7] * py + u[G_ + 8] * pz
        ax, ay, az = r00 * x + r10 * y + r20 * z, r01 * x + r11 * y + r21 * z, r02 * x + r12 * y + r22 * z
        if kind == REVOLUTE:
            rate = v[iv]
            lx += wy * rate
            ly -= wx * rate
            lz += a[iv]
            wz += rate
        else:
            jx, jy, jz, kx, ky, kz = joint_twist(kind, v, iv)
            sx, sy, sz, tx, ty, tz = joint_twist(kind, a, iv)
            # the joint's velocity turns with the parent (twice: Coriolis) and with the joint itself
            ex, ey, ez = 2.0 * wx + kx, 2.0 * wy + ky, 2.0 * wz + kz
            ax += sx + ey * jz - ez * jy
            ay += sy + ez * jx - ex * jz
            az += sz + ex * jy - ey * jx
            lx += tx + wy * kz - wz * ky
            ly += ty + wz * kx - wx * kz
            lz += tz + wx * ky - wy * kx
            wx += kx
            wy += ky
            wz += kz
        xx, yy, zz, xy, xz, yz = wx * wx, wy * wy, wz * wz, wx * wy, wx * wz, wy * wz
        g00, g01, g02 = -yy - zz, xy - lz, xz + ly
        g10, g11, g12 = xy + lz, -xx - zz, yz - lx
        g20, g21, g22 = xz - ly, yz + lx, -xx - yy
        w[W_], w[W_ + 1], w[W_ + 2] = wx, wy, wz
        w[L_], w[L_ + 1], w[L_ + 2] = lx, ly, lz
        w[A_], w[A_ + 1], w[A_ + 2] = ax, ay, az
        w[G_], w[G_ + 1], w[G_ + 2] = g00, g01, g02
        w[G_ + 3], w[G_ + 4], w[G_ + 5] = g10, g11, g12
        w[G_ + 6], w[G_ + 7], w[G_ + 8] = g20, g21, g22
        # Newton and Euler about the centre of mass, W (3.15), then moved to the body's origin
        cx, cy, cz, mass = m[CENTRE], m[CENTRE + 1], m[CENTRE + 2], m[MASS]
        fx = mass * (ax + g00 * cx + g01 * cy + g02 * cz)
        fy = mass * (ay + g10 * cx + g11 * cy + g12 * cz)
        fz = mass * (az + g20 * cx + g21 * cy + g22 * cz)
        ixx, iyy, izz = m[CENTRAL_INERTIA], m[CENTRAL_INERTIA + 1], m[CENTRAL_INERTIA + 2]
        ixy, ixz, iyz = m[CENTRAL_INERTIA + 3], m[CENTRAL_INERTIA + 4], m[CENTRAL_INERTIA + 5]
        ex, ey, ez = ixx * wx + ixy * wy + ixz * wz, ixy * wx + iyy * wy + iyz * wz, ixz * wx + iyz * wy + izz * wz
        w[F_], w[F_ + 1], w[F_ + 2] = fx, fy, fz
        w[F_ + 3] = ixx * lx + ixy * ly + ixz * lz + wy * ez - wz * ey + cy * fz - cz * fy
        w[F_ + 4] = ixy * lx + iyy * ly + iyz * lz + wz * ex - wx * ez + cz * fx - cx * fz
        w[F_ + 5] = ixz * lx + iyz * ly + izz * lz + wx * ey - wy * ex + cx * fy - cy * fx
        if has_wrenches:
            for k in range(6):
                w[F_ + k] -= wrenches[i, k]
    for i in range(n - 1, -1, -1):
        w, u = rows[i + 1], rows[topology[i, PARENT]]
        fx, fy, fz, tx, ty, tz = w[F_], w[F_ + 1], w[F_ + 2], w[F_ + 3], w[F_ + 4], w[F_ + 5]
        iv = topology[i, IV]
        project_wrench(topology[i, KIND], fx, fy, fz, tx, ty, tz, tau, iv)  # W (3.20)
        if constants[i, ROTOR] != 0.0:
            tau[iv] += constants[i, ROTOR] * a[iv]
        pass_wrench(w, u, F_, fx, fy, fz, tx, ty, tz)
