# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How the mean velocity of a step moves a configuration, K (62), (63): r + h v, and g τ(h ξ) where a joint is a group.

τ is the Cayley map or the exponential. Spherical, planar and floating joints are SO(3), SE(2) and SE(3); SE(2) is
treated as the part of SE(3) that it is.
"""

import math

from mbsim_ros.dynamics.joint_motion import joint_dofs, joint_twist
from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.lie._coefficients import exp_coefficients
from mbsim_ros.lie.se3_tangent import dcay_inv_T_se3_into, dexp_inv_T_se3_into
from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from mbsim_ros.model.model import IQ, IV, KIND

CAYLEY, EXPONENTIAL = range(2)


@kernel
def advance_into(topology, retraction, q, v, h, q_next):
    """Write q_next = q ⊕ h v, joint by joint. q_next may be q."""
    for i in range(topology.shape[0]):
        kind, iq, iv = topology[i, KIND], topology[i, IQ], topology[i, IV]
        if kind == REVOLUTE or kind == PRISMATIC:  # noqa: SIM109 (a tuple is slower in a kernel)
            q_next[iq] = q[iq] + h * v[iv]  # K (63)
        else:
            advance_group(kind, retraction, q, iq, v, iv, h, q_next)


@helper
def advance_group(kind, retraction, q, iq, v, iv, h, q_next):
    """K (62) for one joint: g τ(h ξ)."""
    a, b, c, x, y, z = joint_twist(kind, v, iv)
    a, b, c, x, y, z = h * a, h * b, h * c, h * x, h * y, h * z
    # position and quaternion (i, j, k, r) of τ; the quaternion of a Cayley step is (w/2, 1), scaled to unit length
    square = x * x + y * y + z * z
    ux, uy, uz = cross(x, y, z, a, b, c)
    if retraction == CAYLEY:
        scale = 1.0 / (4.0 + square)
        along = x * a + y * b + z * c
        px, py, pz = (
            scale * (4.0 * a + 2.0 * ux + x * along),
            scale * (4.0 * b + 2.0 * uy + y * along),
            scale * (4.0 * c + 2.0 * uz + z * along),
        )
        r = 1.0 / math.sqrt(1.0 + 0.25 * square)
        i, j, k = 0.5 * r * x, 0.5 * r * y, 0.5 * r * z
    else:
        _, second, third = exp_coefficients(square)
        sx, sy, sz = cross(x, y, z, ux, uy, uz)
        px, py, pz = a + second * ux + third * sx, b + second * uy + third * sy, c + second * uz + third * sz
        half, _, _ = exp_coefficients(0.25 * square)
        r = math.cos(0.5 * math.sqrt(square))
        i, j, k = 0.5 * half * x, 0.5 * half * y, 0.5 * half * z
    if kind == PLANAR:
        angle = q[iq + 2]
        cosine, sine = math.cos(angle), math.sin(angle)
        q_next[iq] = q[iq] + cosine * px - sine * py
        q_next[iq + 1] = q[iq + 1] + sine * px + cosine * py
        q_next[iq + 2] = angle + 2.0 * math.atan2(k, r)
        return
    at = iq + 3 if kind == FLOATING else iq
    qi, qj, qk, qr = q[at], q[at + 1], q[at + 2], q[at + 3]
    if kind == FLOATING:
        # p + R p_τ, with R p = p + 2 u × (u × p + r p), u the vector part
        tx, ty, tz = cross(qi, qj, qk, px, py, pz)
        sx, sy, sz = cross(qi, qj, qk, tx + qr * px, ty + qr * py, tz + qr * pz)
        q_next[iq] = q[iq] + px + 2.0 * sx
        q_next[iq + 1] = q[iq + 1] + py + 2.0 * sy
        q_next[iq + 2] = q[iq + 2] + pz + 2.0 * sz
    ni = qr * i + qi * r + qj * k - qk * j
    nj = qr * j + qj * r + qk * i - qi * k
    nk = qr * k + qk * r + qi * j - qj * i
    nr = qr * r - qi * i - qj * j - qk * k
    scale = 1.0 / math.sqrt(ni * ni + nj * nj + nk * nk + nr * nr)
    q_next[at], q_next[at + 1], q_next[at + 2], q_next[at + 3] = scale * ni, scale * nj, scale * nk, scale * nr


@helper
def carry_momentum(kind, retraction, v, iv, h, p, scratch):
    """Replace the entries of a joint in p by dτ⁻ᵀ(h ξ) times them; h < 0 gives the map at the end of the step."""
    a, b, c, x, y, z = joint_twist(kind, v, iv)
    xi, mu = scratch[0:6], scratch[6:12]
    xi[0], xi[1], xi[2], xi[3], xi[4], xi[5] = h * a, h * b, h * c, h * x, h * y, h * z
    mu[0], mu[1], mu[2], mu[3], mu[4], mu[5] = joint_twist(kind, p, iv)
    if retraction == CAYLEY:
        dcay_inv_T_se3_into(xi, mu, mu)
    else:
        dexp_inv_T_se3_into(xi, mu, mu)
    if kind == SPHERICAL:
        p[iv], p[iv + 1], p[iv + 2] = mu[3], mu[4], mu[5]
    elif kind == PLANAR:
        p[iv], p[iv + 1], p[iv + 2] = mu[0], mu[1], mu[5]
    else:
        for axis in range(joint_dofs(kind)):
            p[iv + axis] = mu[axis]
