# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The two momenta that a step (q_k, v) has at its ends: −D₁L_d and D₂L_d of the discrete Lagrangian, K (56)–(64).

L_d = h Σ w_s T(q_s, v) with stages s. Joints with one coordinate are at r + c_s h v, those that are groups at their
value at the beginning or the end of the step (the momentum of a floating root does not depend on where it is):

    trapezoidal   (c = 0, begin), (c = 1, end)         weights ½: the paper's
    midpoint      (c = ½, begin), (c = ½, end)         weights ½; one stage where no joint but the root is a group

With p and ∂T/∂r of a stage from the momentum pass, −D₁L_d = Σ w (p − (1 − c) h ∂T/∂r) and D₂L_d = Σ w (p + c h ∂T/∂r);
groups carry dτ⁻ᵀ(h ξ) and dτ⁻ᵀ(−h ξ) on p, K (64).
"""

from mbsim_ros.dynamics.joint_motion import joint_dofs
from mbsim_ros.dynamics.kernels.momentum_pass_kernel import momentum_pass_into
from mbsim_ros.integrators.retraction import advance_into, carry_momentum
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import PRISMATIC, REVOLUTE
from mbsim_ros.model.model import IQ, IV, KIND, PARENT

TRAPEZOIDAL, MIDPOINT = range(2)
# Rows of the scratch array (rows of at least nv and 12 numbers).
P_, G_, X_ = range(3)


@kernel
def discrete_momenta_into(
    topology, constants, retraction, quadrature, q, v, h, sincos, rows, stage, scratch, minus, plus
):
    """Write minus = −D₁L_d and plus = D₂L_d of the kinetic part (nv,); stage (nq,) and scratch (3, …) are scratch."""
    p, gradient = scratch[P_], scratch[G_]
    nv = minus.shape[0]
    stages = 2 if quadrature == TRAPEZOIDAL or has_inner_groups(topology) else 1
    weight = 1.0 / stages
    for i in range(nv):
        minus[i] = plus[i] = 0.0
    for s in range(stages):
        c = 0.5 if quadrature == MIDPOINT else 1.0 * s
        place_stage(topology, retraction, q, v, h, c, s == 1, stage)
        momentum_pass_into(topology, constants, stage, v, sincos, rows, p, gradient)
        for i in range(topology.shape[0]):
            kind, iv = topology[i, KIND], topology[i, IV]
            if kind == REVOLUTE or kind == PRISMATIC:  # noqa: SIM109
                minus[iv] += weight * (p[iv] - (1.0 - c) * h * gradient[iv])
                plus[iv] += weight * (p[iv] + c * h * gradient[iv])
            else:
                add_group_stage(
                    kind, retraction, v, iv, h, s == 0, weight, stages, p, gradient, scratch[X_], minus, plus
                )


@helper
def add_group_stage(kind, retraction, v, iv, h, at_begin, weight, stages, p, gradient, work, minus, plus):
    """Add a stage of a joint that is a group: its configuration is that of the beginning or of the end."""
    dofs = joint_dofs(kind)
    for k in range(dofs):
        work[12 + k] = p[iv + k]
    carry_momentum(kind, retraction, v, iv, h, p, work)
    for k in range(dofs):
        minus[iv + k] += weight * p[iv + k]
        p[iv + k] = work[12 + k]
    carry_momentum(kind, retraction, v, iv, -h, p, work)
    for k in range(dofs):
        plus[iv + k] += weight * p[iv + k]
        if stages == 2 and at_begin:
            minus[iv + k] -= weight * h * gradient[iv + k]
        elif stages == 2:
            plus[iv + k] += weight * h * gradient[iv + k]


@helper
def has_inner_groups(topology):
    """Whether a joint beyond the root is spherical, planar or floating."""
    found = False
    for i in range(topology.shape[0]):
        found = found or (topology[i, KIND] > PRISMATIC and topology[i, PARENT] != 0)
    return found


@helper
def place_stage(topology, retraction, q, v, h, c, at_end, stage):
    """Write the configuration of a stage."""
    if at_end:
        advance_into(topology, retraction, q, v, h, stage)
    else:
        for i in range(q.shape[0]):
            stage[i] = q[i]
    for i in range(topology.shape[0]):
        kind = topology[i, KIND]
        if kind == REVOLUTE or kind == PRISMATIC:  # noqa: SIM109
            stage[topology[i, IQ]] = q[topology[i, IQ]] + c * h * v[topology[i, IV]]
