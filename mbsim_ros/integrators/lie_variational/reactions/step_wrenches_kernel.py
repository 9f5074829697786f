# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""The wrench that every joint carried in a step, by the balance of momentum of the bodies beyond it.

Let a joint i have six dofs more, which do not move: the discrete Lagrangian then has a momentum for each of them, and
what keeps them still is the reaction. With H the momentum of all bodies from i on, (f, τ) in the axes of i, twists V, W
the forces on these bodies, G what holds them against gravity, the step from node k to node k + 1 gives

    h F = H(q_{k+1}, v_{k+1}) − H(q_k, v_k) − h Σ w_s ad(V_s)ᵀ H_s − h W + h/2 (G_k + G_{k+1})

at the stages s of the quadrature. These are the rows of the scheme for joints of one dof, one for every direction:
along the axis F is exactly what drives, damping, stops and couplings give in the step, less what turns the rotor, and
as h → 0 it is W (3.17). Along what a joint that is a group lets free, the scheme has rows of its own, with dτ⁻ᵀ.
"""

from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs
from mbsim_ros.dynamics.kernels.inverse_kernel import inverse_dynamics_into
from mbsim_ros.dynamics.kernels.momentum_pass_kernel import momentum_pass_into
from mbsim_ros.dynamics.layout import INVERSE_WRENCH, MOMENTUM_WRENCH as H_, P_WB, TWIST
from mbsim_ros.integrators.lie_variational.discrete_legendre_kernel import (
    MIDPOINT,
    TRAPEZOIDAL,
    discrete_momenta_into,
    has_inner_groups,
    place_stage,
)
from mbsim_ros.integrators.lie_variational.midpoint_kernel import move_to_midpoint, rotate_inv
from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import IV, KIND

# Rows of the scratch array: momenta, gradients and scratch of discrete_momenta_into, then what is named here.
MINUS, PLUS, ROW_FORCE, STAGE, STILL, HALF = range(3, 9)
SCRATCH_ROWS = 9


@kernel
def momenta_before_into(tree, scheme, q, v, h, nothing, sincos, rows, scratch, p):
    """Write p_k = −D₁L_d + h/2 G(q_k), what the step has of its beginning but the forces; q, v: q_k and the mean.

    nothing (0, 6): wrenches on no bodies.
    """
    nv, nq = p.shape[0], q.shape[0]
    still, weight = scratch[STILL, :nv], scratch[ROW_FORCE, :nv]
    discrete_momenta_into(
        tree.topology, tree.constants, scheme.retraction, scheme.quadrature, q, v, h, sincos, rows,
        scratch[STAGE, :nq], scratch, p, scratch[PLUS, :nv],
    )  # fmt: skip
    still[:] = 0.0
    inverse_dynamics_into(tree.topology, tree.constants, q, still, still, scheme.gravity, nothing, sincos, rows, weight)
    for i in range(nv):
        p[i] += 0.5 * h * weight[i]


@kernel
def step_wrenches_into(tree, scheme, before, now, v, h, acting, nothing, sincos, rows, scratch, out):
    """Write the wrench of every joint (bodies, 6), on the body at its origin in its axes.

    before, now: (q, v) at the nodes, of the tree; v: mean of the step; acting (bodies, 6): of each body the forces on
    it and all beyond it, at the midpoint, about the world's origin in its axes.
    """
    n, nv, nq = tree.topology.shape[0], v.shape[0], before[0].shape[0]
    p, row_force = scratch[0, :nv], scratch[ROW_FORCE, :nv]
    still, minus, plus = scratch[STILL, :nv], scratch[MINUS, :nv], scratch[PLUS, :nv]
    still[:] = 0.0
    row_force[:] = 0.0
    out[:, :] = 0.0
    for end in range(2):
        q, v_node = now if end == 1 else before
        sign = 2.0 * end - 1.0
        momentum_pass_into(tree.topology, tree.constants, q, v_node, sincos, rows, p, scratch[1, :nv])
        add_rows(rows, H_, sign / h, out)
        for i in range(nv):
            row_force[i] += sign / h * p[i]
        inverse_dynamics_into(tree.topology, tree.constants, q, still, still, scheme.gravity, nothing, sincos, rows, p)
        add_rows(rows, INVERSE_WRENCH, 0.5, out)
        for i in range(nv):
            row_force[i] += 0.5 * p[i]
    stages = 2 if scheme.quadrature == TRAPEZOIDAL or has_inner_groups(tree.topology) else 1
    for s in range(stages):
        c = 0.5 if scheme.quadrature == MIDPOINT else 1.0 * s
        stage = scratch[STAGE, :nq]
        place_stage(tree.topology, scheme.retraction, before[0], v, h, c, s == 1, stage)
        momentum_pass_into(tree.topology, tree.constants, stage, v, sincos, rows, p, scratch[1, :nv])
        for i in range(n):
            subtract_turning(rows[i + 1], 1.0 / stages, out[i])
    discrete_momenta_into(
        tree.topology, tree.constants, scheme.retraction, scheme.quadrature, before[0], v, h, sincos, rows,
        scratch[STAGE, :nq], scratch, minus, plus,
    )  # fmt: skip
    for i in range(nv):
        row_force[i] -= (plus[i] - minus[i]) / h
    move_to_midpoint(tree, scheme.retraction, before[0], v, h, sincos, rows, scratch[HALF], scratch[STAGE, :nq])
    for i in range(n):
        subtract_acting(tree.topology[i, KIND], tree.topology[i, IV], rows[i + 1], acting[i], out[i], row_force)


@helper
def add_rows(rows, column, factor, out):
    """Add factor times six columns of the bodies' rows."""
    for i in range(out.shape[0]):
        for k in range(6):
            out[i, k] += factor * rows[i + 1, column + k]


@helper
def subtract_turning(w, weight, out):
    """Subtract ad(V)ᵀ H = (f × ω, f × v + τ × ω)."""
    fx, fy, fz, tx, ty, tz = w[H_], w[H_ + 1], w[H_ + 2], w[H_ + 3], w[H_ + 4], w[H_ + 5]
    vx, vy, vz, wx, wy, wz = w[TWIST], w[TWIST + 1], w[TWIST + 2], w[TWIST + 3], w[TWIST + 4], w[TWIST + 5]
    x, y, z = cross(fx, fy, fz, wx, wy, wz)
    out[0], out[1], out[2] = out[0] - weight * x, out[1] - weight * y, out[2] - weight * z
    x, y, z = cross(fx, fy, fz, vx, vy, vz)
    sx, sy, sz = cross(tx, ty, tz, wx, wy, wz)
    out[3], out[4], out[5] = out[3] - weight * (x + sx), out[4] - weight * (y + sy), out[5] - weight * (z + sz)


@helper
def subtract_acting(kind, iv, w, acting, out, row_force):
    """Subtract the forces on bodies; along what a group lets free the row of the scheme is the answer."""
    own = w[0:6]  # free once a body is placed
    x, y, z = cross(w[P_WB], w[P_WB + 1], w[P_WB + 2], acting[0], acting[1], acting[2])
    own[0], own[1], own[2] = rotate_inv(w, acting[0], acting[1], acting[2])
    own[3], own[4], own[5] = rotate_inv(w, acting[3] - x, acting[4] - y, acting[5] - z)
    if kind > PRISMATIC:
        for k in range(joint_dofs(kind)):
            out[joint_axis(kind, k)] = row_force[iv + k]
    for k in range(6):
        out[k] -= own[k]
