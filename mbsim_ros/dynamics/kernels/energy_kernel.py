# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Kinetic and potential energy in one outward pass.

Heights are carried without world poses: γ is gravity in the body's axes and η = γ·p_WB its product with the body's
origin, so that a centre of mass c has the potential −m (η + γ·c).
"""

from mbsim_ros.dynamics.kernels.kinematics_kernel import twist_outward
from mbsim_ros.dynamics.layout import ENERGY_GRAVITY as G_, ENERGY_HEIGHT as H_, TWIST
from mbsim_ros.dynamics.placement import place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.jit import kernel
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, IQ, IV, KIND, MASS, PARENT, ROTOR


@kernel
def energy_into(topology, constants, q, v, gravity, sincos, rows, out):
    """Write kinetic and potential energy to out (2,)."""
    cosines_and_sines(q, sincos[0], sincos[1])
    world = rows[0]
    for k in range(TWIST, TWIST + 6):
        world[k] = 0.0
    world[G_], world[G_ + 1], world[G_ + 2], world[H_] = gravity[0], gravity[1], gravity[2], 0.0
    kinetic = potential = 0.0
    for i in range(topology.shape[0]):
        kind, iv = topology[i, KIND], topology[i, IV]
        m, w, u = constants[i], rows[i + 1], rows[topology[i, PARENT]]
        place_body(kind, m, q, topology[i, IQ], sincos[0], sincos[1], w)
        vx, vy, vz, wx, wy, wz = twist_outward(kind, v, iv, w, u)
        x, y, z = u[G_], u[G_ + 1], u[G_ + 2]
        height = u[H_] + x * w[9] + y * w[10] + z * w[11]
        gx, gy, gz = w[0] * x + w[3] * y + w[6] * z, w[1] * x + w[4] * y + w[7] * z, w[2] * x + w[5] * y + w[8] * z
        w[G_], w[G_ + 1], w[G_ + 2], w[H_] = gx, gy, gz, height
        cx, cy, cz, mass = m[CENTRE], m[CENTRE + 1], m[CENTRE + 2], m[MASS]
        potential -= mass * (height + gx * cx + gy * cy + gz * cz)
        # T = ½ m |v_c|² + ½ ωᵀ I_c ω
        x, y, z = vx + wy * cz - wz * cy, vy + wz * cx - wx * cz, vz + wx * cy - wy * cx
        ixx, iyy, izz = m[CENTRAL_INERTIA], m[CENTRAL_INERTIA + 1], m[CENTRAL_INERTIA + 2]
        ixy, ixz, iyz = m[CENTRAL_INERTIA + 3], m[CENTRAL_INERTIA + 4], m[CENTRAL_INERTIA + 5]
        kinetic += mass * (x * x + y * y + z * z)
        kinetic += wx * (ixx * wx + ixy * wy + ixz * wz) + wy * (ixy * wx + iyy * wy + iyz * wz)
        kinetic += wz * (ixz * wx + iyz * wy + izz * wz)
        if m[ROTOR] != 0.0:
            kinetic += m[ROTOR] * v[iv] * v[iv]
    out[0], out[1] = 0.5 * kinetic, potential
