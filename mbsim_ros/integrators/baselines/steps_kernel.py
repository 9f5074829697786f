# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Two schemes to compare with: classical Runge-Kutta on (q, v) and Euler on the group, both on forward dynamics.

Neither knows of symplectic forms or momenta. Runge-Kutta takes quaternions as four numbers that are scaled back to unit
length after each step; Euler is semi-implicit (v first, then q with the new v), K (5), (6) with any retraction.
"""

import math

from mbsim_ros.dynamics.kernels.forward_kernel import OK, forward_dynamics_into
from mbsim_ros.integrators.retraction import advance_into
from mbsim_ros.integrators.state_bounds import is_plausible
from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC, REVOLUTE
from mbsim_ros.model.model import IQ, IV, KIND

# Why steps ended early, in place of OK; what forward dynamics returns (a dof without inertia) is not told apart from
# overflow by it either.
NO_ACCELERATION, IMPLAUSIBLE = range(2)
# Rows of `work` (of at least nq and nv numbers): stage and sum of q̇, of v̇, the slopes at a stage, the state before.
STAGE_Q, STAGE_V, SUM_Q, SUM_V, STAGE_RATE, ACCELERATION, SAVED_Q, SAVED_V = range(8)
ROWS = 8


@kernel
def rk4_steps_into(topology, constants, steps, h, gravity, force, q, v, sincos, rows, dofs, work, none):
    """Take classical Runge-Kutta steps; returns how many were done, and OK or why no more."""
    nq, nv = q.shape[0], v.shape[0]
    stage_q, stage_v, rate, a = work[STAGE_Q, :nq], work[STAGE_V, :nv], work[STAGE_RATE, :nq], work[ACCELERATION, :nv]
    for done in range(steps):
        for i in range(nq):
            stage_q[i] = work[SAVED_Q, i] = q[i]
            work[SUM_Q, i] = 0.0
        for i in range(nv):
            stage_v[i] = work[SAVED_V, i] = v[i]
            work[SUM_V, i] = 0.0
        for s in range(4):
            failed = forward_dynamics_into(
                topology, constants, stage_q, stage_v, force, gravity, none, sincos, rows, dofs, a
            )
            if failed != OK:
                return done, NO_ACCELERATION
            configuration_rate_into(topology, stage_q, stage_v, rate)
            weight = 1.0 / 3.0 if s == 1 or s == 2 else 1.0 / 6.0
            reach = h if s == 2 else 0.5 * h
            for i in range(nq):
                work[SUM_Q, i] += weight * rate[i]
                stage_q[i] = q[i] + reach * rate[i]
            for i in range(nv):
                work[SUM_V, i] += weight * a[i]
                stage_v[i] = v[i] + reach * a[i]
        for i in range(nq):
            q[i] += h * work[SUM_Q, i]
        for i in range(nv):
            v[i] += h * work[SUM_V, i]
        if not (normalise(topology, q) and is_plausible(q, v)):
            restore(q, v, work)
            return done, IMPLAUSIBLE
    return steps, OK


@kernel
def lie_euler_steps_into(
    topology, constants, retraction, steps, h, gravity, force, q, v, sincos, rows, dofs, work, none
):
    """Take steps v += h a, q = q ⊕ h v; returns how many were done, and OK or why no more."""
    nq, nv = q.shape[0], v.shape[0]
    a = work[ACCELERATION, :nv]
    for done in range(steps):
        for i in range(nq):
            work[SAVED_Q, i] = q[i]
        for i in range(nv):
            work[SAVED_V, i] = v[i]
        if forward_dynamics_into(topology, constants, q, v, force, gravity, none, sincos, rows, dofs, a) != OK:
            return done, NO_ACCELERATION
        for i in range(nv):
            v[i] += h * a[i]
        advance_into(topology, retraction, q, v, h, q)
        if not (normalise(topology, q) and is_plausible(q, v)):
            restore(q, v, work)
            return done, IMPLAUSIBLE
    return steps, OK


@helper
def configuration_rate_into(topology, q, v, rate):
    """Write q̇ (nq,): v itself, R v for positions, ½ q ω for quaternions (ω in the body)."""
    for n in range(topology.shape[0]):
        kind, iq, iv = topology[n, KIND], topology[n, IQ], topology[n, IV]
        if kind == REVOLUTE or kind == PRISMATIC:  # noqa: SIM109
            rate[iq] = v[iv]
        elif kind == PLANAR:
            c, s = math.cos(q[iq + 2]), math.sin(q[iq + 2])
            rate[iq], rate[iq + 1] = c * v[iv] - s * v[iv + 1], s * v[iv] + c * v[iv + 1]
            rate[iq + 2] = v[iv + 2]
        else:
            at, aw = iq, iv
            if kind == FLOATING:
                at, aw = iq + 3, iv + 3
            i, j, k, r = q[at], q[at + 1], q[at + 2], q[at + 3]
            if kind == FLOATING:
                # R v = v + 2 u × (u × v + r v), over the squared length, for a stage's quaternion is not a unit one
                scale = 2.0 / (i * i + j * j + k * k + r * r)
                a, b, c = v[iv], v[iv + 1], v[iv + 2]
                tx, ty, tz = cross(i, j, k, a, b, c)
                sx, sy, sz = cross(i, j, k, tx + r * a, ty + r * b, tz + r * c)
                rate[iq], rate[iq + 1], rate[iq + 2] = a + scale * sx, b + scale * sy, c + scale * sz
            x, y, z = v[aw], v[aw + 1], v[aw + 2]
            rate[at] = 0.5 * (r * x + j * z - k * y)
            rate[at + 1] = 0.5 * (r * y + k * x - i * z)
            rate[at + 2] = 0.5 * (r * z + i * y - j * x)
            rate[at + 3] = -0.5 * (i * x + j * y + k * z)


@helper
def normalise(topology, q):
    """Scale quaternions to unit length; False if one has none, or too large a one to be squared."""
    for n in range(topology.shape[0]):
        kind = topology[n, KIND]
        if kind == REVOLUTE or kind == PRISMATIC or kind == PLANAR:  # noqa: SIM109
            continue
        at = topology[n, IQ]
        if kind == FLOATING:
            at += 3
        square = 0.0
        for k in range(4):
            square += q[at + k] * q[at + k]
        if not 1e-280 < square < math.inf:
            return False
        scale = 1.0 / math.sqrt(square)
        for k in range(4):
            q[at + k] *= scale
    return True


@helper
def restore(q, v, work):
    """Take back what a step that failed has done."""
    for i in range(q.shape[0]):
        q[i] = work[SAVED_Q, i]
    for i in range(v.shape[0]):
        v[i] = work[SAVED_V, i]
