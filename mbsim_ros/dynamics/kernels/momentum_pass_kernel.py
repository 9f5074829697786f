# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Generalised momenta and the gradient of the kinetic energy, without a mass matrix: what K (62–64) needs of it.

Outward the twists V, then h = I V; inward h becomes the momentum of the whole subtree, about the body's origin. Then
    p = Sᵀ h
    ∂T/∂r = hᵀ ad(U) S,  U = V − S v,
because moving the joint by ε S, at the same v, changes what the parent's motion contributes to V from U to
Ad(exp(−ε S)) U = U + ε ad(U) S, and that of everything beyond moves along rigidly.
"""

from mbsim_ros.dynamics.joint_motion import joint_twist, project_wrench
from mbsim_ros.dynamics.kernels.kinematics_kernel import twist_outward
from mbsim_ros.dynamics.layout import MOMENTUM_COLUMNS as COLUMNS, MOMENTUM_WRENCH as H_, TWIST
from mbsim_ros.dynamics.placement import pass_wrench, place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.jit import kernel
from mbsim_ros.model.joint_kinds import PRISMATIC, REVOLUTE
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, IQ, IV, KIND, MASS, PARENT, ROTOR


@kernel
def momentum_pass_into(topology, constants, q, v, sincos, rows, p, gradient):
    """Write p = M(q) v (nv,) and the gradient ∂T/∂r (nv,), in body-frame directions for joints of several dofs."""
    n = topology.shape[0]
    cosines_and_sines(q, sincos[0], sincos[1])
    for k in range(TWIST, COLUMNS):
        rows[0, k] = 0.0
    for i in range(n):
        kind = topology[i, KIND]
        m, w, u = constants[i], rows[i + 1], rows[topology[i, PARENT]]
        place_body(kind, m, q, topology[i, IQ], sincos[0], sincos[1], w)
        vx, vy, vz, wx, wy, wz = twist_outward(kind, v, topology[i, IV], w, u)
        cx, cy, cz, mass = m[CENTRE], m[CENTRE + 1], m[CENTRE + 2], m[MASS]
        fx = mass * (vx + wy * cz - wz * cy)
        fy = mass * (vy + wz * cx - wx * cz)
        fz = mass * (vz + wx * cy - wy * cx)
        ixx, iyy, izz = m[CENTRAL_INERTIA], m[CENTRAL_INERTIA + 1], m[CENTRAL_INERTIA + 2]
        ixy, ixz, iyz = m[CENTRAL_INERTIA + 3], m[CENTRAL_INERTIA + 4], m[CENTRAL_INERTIA + 5]
        w[H_], w[H_ + 1], w[H_ + 2] = fx, fy, fz
        w[H_ + 3] = ixx * wx + ixy * wy + ixz * wz + cy * fz - cz * fy
        w[H_ + 4] = ixy * wx + iyy * wy + iyz * wz + cz * fx - cx * fz
        w[H_ + 5] = ixz * wx + iyz * wy + izz * wz + cx * fy - cy * fx
    for i in range(n - 1, -1, -1):
        kind, iv = topology[i, KIND], topology[i, IV]
        w, u = rows[i + 1], rows[topology[i, PARENT]]
        fx, fy, fz, tx, ty, tz = w[H_], w[H_ + 1], w[H_ + 2], w[H_ + 3], w[H_ + 4], w[H_ + 5]
        vx, vy, vz, wx, wy, wz = w[TWIST], w[TWIST + 1], w[TWIST + 2], w[TWIST + 3], w[TWIST + 4], w[TWIST + 5]
        # ad(U)ᵀ h = (f × ω, f × v + τ × ω); for one dof ad(S v) S = 0, so V serves as U
        if kind == REVOLUTE:
            p[iv] = tz
            gradient[iv] = fx * vy - fy * vx + tx * wy - ty * wx
        elif kind == PRISMATIC:
            p[iv] = fz
            gradient[iv] = fx * wy - fy * wx
        else:
            project_wrench(kind, fx, fy, fz, tx, ty, tz, p, iv)
            jx, jy, jz, kx, ky, kz = joint_twist(kind, v, iv)
            vx, vy, vz, wx, wy, wz = vx - jx, vy - jy, vz - jz, wx - kx, wy - ky, wz - kz
            gx, gy, gz = fy * wz - fz * wy, fz * wx - fx * wz, fx * wy - fy * wx
            ex = fy * vz - fz * vy + ty * wz - tz * wy
            ey = fz * vx - fx * vz + tz * wx - tx * wz
            ez = fx * vy - fy * vx + tx * wy - ty * wx
            project_wrench(kind, gx, gy, gz, ex, ey, ez, gradient, iv)
        if constants[i, ROTOR] != 0.0:
            p[iv] += constants[i, ROTOR] * v[iv]
        pass_wrench(w, u, H_, fx, fy, fz, tx, ty, tz)
