# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Momentum of the whole robot and its matrix. Needs the rows of world_poses_into.

Both are about the centre of mass C, found first: moments about the world's origin would lose digits far from it.
"""

from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs
from mbsim_ros.dynamics.kernels.jacobian_kernel import world_column
from mbsim_ros.dynamics.kernels.kinematics_kernel import twist_outward
from mbsim_ros.dynamics.layout import (
    CENTROIDAL_CENTRE as C_W,
    CENTROIDAL_END as END_,
    CENTROIDAL_INERTIA as J_,
    CENTROIDAL_MASS as M_,
    CENTROIDAL_MOMENT as D_,
    P_WB,
    R_WB,
    TWIST,
)
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, IV, KIND, MASS, PARENT

# Places in the output of momentum_into.
TOTAL_MASS, COM, LINEAR, ANGULAR, ANGULAR_ABOUT_ORIGIN = 0, 1, 4, 7, 10
MOMENTUM_SIZE = 13


@helper
def rotate(w, x, y, z):
    """R_WB of a vector."""
    return (
        w[R_WB] * x + w[R_WB + 1] * y + w[R_WB + 2] * z,
        w[R_WB + 3] * x + w[R_WB + 4] * y + w[R_WB + 5] * z,
        w[R_WB + 6] * x + w[R_WB + 7] * y + w[R_WB + 8] * z,
    )


@helper
def place_centres(constants, rows, out):
    """Write each body's centre of mass to its row, the total mass and the centre of mass to out[0:4] (0 if no mass)."""
    mass = x = y = z = 0.0
    for i in range(constants.shape[0]):
        m, w = constants[i], rows[i + 1]
        cx, cy, cz = rotate(w, m[CENTRE], m[CENTRE + 1], m[CENTRE + 2])
        cx, cy, cz = cx + w[P_WB], cy + w[P_WB + 1], cz + w[P_WB + 2]
        w[C_W], w[C_W + 1], w[C_W + 2] = cx, cy, cz
        mass += m[MASS]
        x, y, z = x + m[MASS] * cx, y + m[MASS] * cy, z + m[MASS] * cz
    one_over = 1.0 / mass if mass > 0.0 else 0.0
    out[TOTAL_MASS], out[COM], out[COM + 1], out[COM + 2] = mass, x * one_over, y * one_over, z * one_over


@kernel
def momentum_into(topology, constants, v, rows, out):
    """Write to out (13,), in world axes: mass, C, linear momentum, angular momentum about C and about the origin."""
    for k in range(TWIST, TWIST + 6):
        rows[0, k] = 0.0
    place_centres(constants, rows, out)
    comx, comy, comz = out[COM], out[COM + 1], out[COM + 2]
    lx = ly = lz = kx = ky = kz = 0.0
    for i in range(topology.shape[0]):
        m, w, u = constants[i], rows[i + 1], rows[topology[i, PARENT]]
        vx, vy, vz, wx, wy, wz = twist_outward(topology[i, KIND], v, topology[i, IV], w, u)
        cx, cy, cz, mass = m[CENTRE], m[CENTRE + 1], m[CENTRE + 2], m[MASS]
        x, y, z = rotate(
            w, mass * (vx + wy * cz - wz * cy), mass * (vy + wz * cx - wx * cz), mass * (vz + wx * cy - wy * cx)
        )
        ixx, iyy, izz = m[CENTRAL_INERTIA], m[CENTRAL_INERTIA + 1], m[CENTRAL_INERTIA + 2]
        ixy, ixz, iyz = m[CENTRAL_INERTIA + 3], m[CENTRAL_INERTIA + 4], m[CENTRAL_INERTIA + 5]
        ax, ay, az = rotate(
            w, ixx * wx + ixy * wy + ixz * wz, ixy * wx + iyy * wy + iyz * wz, ixz * wx + iyz * wy + izz * wz
        )
        dx, dy, dz = w[C_W] - comx, w[C_W + 1] - comy, w[C_W + 2] - comz
        lx, ly, lz = lx + x, ly + y, lz + z
        kx, ky, kz = kx + ax + dy * z - dz * y, ky + ay + dz * x - dx * z, kz + az + dx * y - dy * x
    out[LINEAR], out[LINEAR + 1], out[LINEAR + 2] = lx, ly, lz
    out[ANGULAR], out[ANGULAR + 1], out[ANGULAR + 2] = kx, ky, kz
    out[ANGULAR_ABOUT_ORIGIN] = kx + comy * lz - comz * ly
    out[ANGULAR_ABOUT_ORIGIN + 1] = ky + comz * lx - comx * lz
    out[ANGULAR_ABOUT_ORIGIN + 2] = kz + comx * ly - comy * lx


@kernel
def centroidal_matrix_into(topology, constants, rows, out, A):
    """Write A (6, nv) with A v = (linear, angular) momentum about the centre of mass; that goes to out[0:4].

    A column is the inertia of all that the dof carries, as one body, times the dof's axis.
    """
    place_centres(constants, rows, out)
    comx, comy, comz = out[COM], out[COM + 1], out[COM + 2]
    for i in range(-1, topology.shape[0]):
        for k in range(M_, END_):
            rows[i + 1, k] = 0.0
    for i in range(topology.shape[0] - 1, -1, -1):
        w, u = rows[i + 1], rows[topology[i, PARENT]]
        _add_body(constants[i], w, comx, comy, comz)
        kind = topology[i, KIND]
        for k in range(joint_dofs(kind)):
            vx, vy, vz, wx, wy, wz = world_column(w, joint_axis(kind, k), comx, comy, comz)
            mass, dx, dy, dz, dof = w[M_], w[D_], w[D_ + 1], w[D_ + 2], topology[i, IV] + k
            A[0, dof] = mass * vx + wy * dz - wz * dy
            A[1, dof] = mass * vy + wz * dx - wx * dz
            A[2, dof] = mass * vz + wx * dy - wy * dx
            A[3, dof] = w[J_] * wx + w[J_ + 3] * wy + w[J_ + 4] * wz + dy * vz - dz * vy
            A[4, dof] = w[J_ + 3] * wx + w[J_ + 1] * wy + w[J_ + 5] * wz + dz * vx - dx * vz
            A[5, dof] = w[J_ + 4] * wx + w[J_ + 5] * wy + w[J_ + 2] * wz + dx * vy - dy * vx
        for k in range(M_, END_):
            u[k] += w[k]


@helper
def _add_body(m, w, comx, comy, comz):
    """Add the body itself to what its children have put in its row."""
    ixx, iyy, izz = m[CENTRAL_INERTIA], m[CENTRAL_INERTIA + 1], m[CENTRAL_INERTIA + 2]
    ixy, ixz, iyz = m[CENTRAL_INERTIA + 3], m[CENTRAL_INERTIA + 4], m[CENTRAL_INERTIA + 5]
    # columns of R I, so that a row of R I Rᵀ is one of I Rᵀ turned
    ax, ay, az = rotate(w, ixx, ixy, ixz)
    bx, by, bz = rotate(w, ixy, iyy, iyz)
    cx, cy, cz = rotate(w, ixz, iyz, izz)
    jxx, jxy, jxz = rotate(w, ax, bx, cx)
    _, jyy, jyz = rotate(w, ay, by, cy)
    _, _, jzz = rotate(w, az, bz, cz)
    mass = m[MASS]
    x, y, z = w[C_W] - comx, w[C_W + 1] - comy, w[C_W + 2] - comz
    w[M_] += mass
    w[D_] += mass * x
    w[D_ + 1] += mass * y
    w[D_ + 2] += mass * z
    w[J_] += jxx + mass * (y * y + z * z)
    w[J_ + 1] += jyy + mass * (x * x + z * z)
    w[J_ + 2] += jzz + mass * (x * x + y * y)
    w[J_ + 3] += jxy - mass * x * y
    w[J_ + 4] += jxz - mass * x * z
    w[J_ + 5] += jyz - mass * y * z
