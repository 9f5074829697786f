# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a momentum would need as velocity and what changes it, for all stages of a step at once.

Outward the twists V and h = I V, inward h of the subtree (dynamics/kernels/momentum_pass_kernel.py); then
    p = Sᵀ h,  f = ∂L/∂r = hᵀ ad(V) S + Sᵀ (m γ, m c × γ),
where m and c are of all that the joint carries and γ is gravity in the axes of its body.

Of a floating robot the centre of mass rests, so it has no weight; row 1 has its whole momentum then.
"""

from mbsim_ros.dynamics.kernels.kinematics_kernel import carry
from mbsim_ros.dynamics.layout import MOMENTUM_WRENCH as H_, TWIST as T_
from mbsim_ros.dynamics.placement import pass_wrench
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.integrators.gauss.arrays import (
    ROW_GRAVITY as G_,
    ROW_INERTIA as I_,
    ROW_MOMENT as M_,
    STAGE_COS,
    STAGE_F,
    STAGE_Q,
    STAGE_R,
    STAGE_SIN,
    STAGE_V,
)
from mbsim_ros.integrators.gauss.chord_kernel import couple_base, couple_joint, factor_chord, gather_inertia
from mbsim_ros.integrators.gauss.lanes import lane_row
from mbsim_ros.jit import helper
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import (
    CENTRAL_INERTIA,
    CENTRE,
    INERTIA,
    IV,
    KIND,
    MASS,
    MOMENT,
    PARENT,
    ROTATION as R0,
    ROTOR,
    TRANSLATION as P0,
)


@helper
def momenta_into(tree, work, gravity, weighs, factor):
    """Write p to the residuals and f to the forces of all stages; with `factor` the matrix of their chord, too."""
    cosines_and_sines(work.positions, work.cosines, work.sines)
    n = tree.topology.shape[0]
    for i in range(n):
        move_body(tree, work, i, gravity, weighs, factor)
    for i in range(n - 1, tree.floats - 1, -1):
        gather_momentum(tree, work, i, weighs)
        if weighs or factor:
            gather_moment(tree, work, i)
        if factor:
            couple_joint(tree, work, i)
            gather_inertia(tree, work, i)
    if tree.floats:
        w, p = lane_row(work.rows, 1), lane_row(work.stages, STAGE_R)
        for k in range(6):
            p[k] = w[H_ + k]
        if factor:
            couple_base(tree, work)
    if factor:
        factor_chord(tree, work.chord)


@helper
def move_body(tree, work, i, gravity, weighs, factor):
    """Placement, twist, momentum, and gravity in the axes of a body."""
    kind, iv, parent = tree.topology[i, KIND], tree.topology[i, IV], tree.topology[i, PARENT]
    m, w, u, v = (
        tree.constants[i],
        lane_row(work.rows, i + 1),
        lane_row(work.rows, parent),
        lane_row(work.stages, STAGE_V),
    )
    if tree.floats and i == 0:
        for k in range(6):
            w[T_ + k] = v[k]
    else:
        place(tree, work, i)
        if parent == 0:
            for k in range(6):
                w[T_ + k] = 0.0
        else:
            vx, vy, vz, wx, wy, wz = carry(w, u, T_)
            w[T_], w[T_ + 1], w[T_ + 2], w[T_ + 3], w[T_ + 4], w[T_ + 5] = vx, vy, vz, wx, wy, wz
        along = T_ + 5 if kind == REVOLUTE else T_ + 2
        w[along] += v[iv]
    vx, vy, vz, wx, wy, wz = w[T_], w[T_ + 1], w[T_ + 2], w[T_ + 3], w[T_ + 4], w[T_ + 5]
    cx, cy, cz, mass = m[CENTRE], m[CENTRE + 1], m[CENTRE + 2], m[MASS]
    fx, fy, fz = mass * (vx + wy * cz - wz * cy), mass * (vy + wz * cx - wx * cz), mass * (vz + wx * cy - wy * cx)
    ixx, iyy, izz = m[CENTRAL_INERTIA], m[CENTRAL_INERTIA + 1], m[CENTRAL_INERTIA + 2]
    ixy, ixz, iyz = m[CENTRAL_INERTIA + 3], m[CENTRAL_INERTIA + 4], m[CENTRAL_INERTIA + 5]
    w[H_], w[H_ + 1], w[H_ + 2] = fx, fy, fz
    w[H_ + 3] = ixx * wx + ixy * wy + ixz * wz + cy * fz - cz * fy
    w[H_ + 4] = ixy * wx + iyy * wy + iyz * wz + cz * fx - cx * fz
    w[H_ + 5] = ixz * wx + iyz * wy + izz * wz + cx * fy - cy * fx
    if weighs or factor:
        w[M_], w[M_ + 1], w[M_ + 2] = m[MOMENT], m[MOMENT + 1], m[MOMENT + 2]
    if factor:
        for k in range(6):
            w[I_ + k] = m[INERTIA + k]
    if weighs:
        if tree.floats and i == 0:
            w[G_] = w[G_ + 1] = w[G_ + 2] = 0.0
        elif parent == 0:
            x, y, z = gravity[0], gravity[1], gravity[2]
            w[G_] = w[0] * x + w[3] * y + w[6] * z
            w[G_ + 1] = w[1] * x + w[4] * y + w[7] * z
            w[G_ + 2] = w[2] * x + w[5] * y + w[8] * z
        else:
            x, y, z = u[G_], u[G_ + 1], u[G_ + 2]
            w[G_] = w[0] * x + w[3] * y + w[6] * z
            w[G_ + 1] = w[1] * x + w[4] * y + w[7] * z
            w[G_ + 2] = w[2] * x + w[5] * y + w[8] * z


@helper
def place(tree, work, i):
    """Write X_PB of a joint that turns or slides, as dynamics/placement.py does."""
    m, iv, w = tree.constants[i], tree.topology[i, IV], lane_row(work.rows, i + 1)
    if tree.topology[i, KIND] == REVOLUTE:
        c, s = lane_row(work.stages, STAGE_COS)[iv], lane_row(work.stages, STAGE_SIN)[iv]
        w[0], w[1], w[2] = m[R0] * c + m[R0 + 1] * s, m[R0 + 1] * c - m[R0] * s, m[R0 + 2]
        w[3], w[4], w[5] = m[R0 + 3] * c + m[R0 + 4] * s, m[R0 + 4] * c - m[R0 + 3] * s, m[R0 + 5]
        w[6], w[7], w[8] = m[R0 + 6] * c + m[R0 + 7] * s, m[R0 + 7] * c - m[R0 + 6] * s, m[R0 + 8]
        w[9], w[10], w[11] = m[P0], m[P0 + 1], m[P0 + 2]
    else:
        d = lane_row(work.stages, STAGE_Q)[iv]
        for k in range(9):
            w[k] = m[R0 + k]
        w[9], w[10], w[11] = m[P0] + m[R0 + 2] * d, m[P0 + 1] + m[R0 + 5] * d, m[P0 + 2] + m[R0 + 8] * d


@helper
def gather_momentum(tree, work, i, weighs):
    """p and f of a joint; the momentum of its subtree goes to the parent."""
    kind, iv, parent = tree.topology[i, KIND], tree.topology[i, IV], tree.topology[i, PARENT]
    w, u, v = lane_row(work.rows, i + 1), lane_row(work.rows, parent), lane_row(work.stages, STAGE_V)
    p, force = lane_row(work.stages, STAGE_R), lane_row(work.stages, STAGE_F)
    fx, fy, fz, tx, ty, tz = w[H_], w[H_ + 1], w[H_ + 2], w[H_ + 3], w[H_ + 4], w[H_ + 5]
    if kind == REVOLUTE:
        p[iv] = tz + tree.constants[i, ROTOR] * v[iv]
        force[iv] = fx * w[T_ + 1] - fy * w[T_] + tx * w[T_ + 4] - ty * w[T_ + 3]
    else:
        p[iv] = fz + tree.constants[i, ROTOR] * v[iv]
        force[iv] = fx * w[T_ + 4] - fy * w[T_ + 3]
    if weighs:
        if kind == REVOLUTE:
            force[iv] += w[M_] * w[G_ + 1] - w[M_ + 1] * w[G_]
        else:
            force[iv] += tree.carried[i] * w[G_ + 2]
    if parent != 0:
        pass_wrench(w, u, H_, fx, fy, fz, tx, ty, tz)


@helper
def gather_moment(tree, work, i):
    """Σ m c of the subtree goes to the parent."""
    parent, mass, w = tree.topology[i, PARENT], tree.carried[i], lane_row(work.rows, i + 1)
    if parent != 0:
        u, x, y, z = lane_row(work.rows, parent), w[M_], w[M_ + 1], w[M_ + 2]
        u[M_] += w[0] * x + w[1] * y + w[2] * z + mass * w[9]
        u[M_ + 1] += w[3] * x + w[4] * y + w[5] * z + mass * w[10]
        u[M_ + 2] += w[6] * x + w[7] * y + w[8] * z + mass * w[11]
