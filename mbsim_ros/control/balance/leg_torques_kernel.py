# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Joint torques that make the legs exert given wrenches, W Algorithm 4.6, and those that hold what carries no foot.

The thesis goes outward along each leg with equal and opposite wrenches across the joints. Inward is the same static
equilibrium and also serves legs that part from each other below the central body: F_k, the ground's wrenches on all
feet beyond joint k, seen from its body, gives τ_k = −S_kᵀ F_k. (The thesis prints Adᵀ of the transform; a wrench goes
with that of the inverse, as the matrix in its appendix A.7 has it.)
"""

from mbsim_ros.control.balance.desired_wrench_kernel import body_axes
from mbsim_ros.control.balance.workspace_dynamics_kernel import (
    ACCELERATION,
    CENTRAL,
    IGNORED,
    OWN_BIAS,
    WRENCH,
)
from mbsim_ros.dynamics.joint_motion import joint_axis
from mbsim_ros.dynamics.layout import FORWARD_BIAS as K_
from mbsim_ros.dynamics.placement import pass_wrench
from mbsim_ros.jit import cross, helper
from mbsim_ros.model.model import CENTRE, INERTIA, IV, KIND, MASS, MOMENT, PARENT, ROTOR


@helper
def standing_torques_into(topology, constants, roles, stands, feet, wrenches, rows, more, tau):
    """Write tau of the joints that carry; wrenches (feet, 6) are in world axes at the feet's centres of mass."""
    for i in range(topology.shape[0]):
        for k in range(6):
            more[i + 1, WRENCH + k] = 0.0
    for i in range(feet.shape[0]):
        foot = feet[i]
        if not stands[foot]:
            continue
        m, w, out = constants[foot], rows[foot + 1], more[foot + 1]
        fx, fy, fz = body_axes(w, wrenches[i, 0], wrenches[i, 1], wrenches[i, 2])
        tx, ty, tz = body_axes(w, wrenches[i, 3], wrenches[i, 4], wrenches[i, 5])
        dx, dy, dz = cross(m[CENTRE], m[CENTRE + 1], m[CENTRE + 2], fx, fy, fz)
        out[WRENCH], out[WRENCH + 1], out[WRENCH + 2] = fx, fy, fz
        out[WRENCH + 3], out[WRENCH + 4], out[WRENCH + 5] = tx + dx, ty + dy, tz + dz
    for i in range(topology.shape[0] - 1, -1, -1):
        if roles[i] == IGNORED or roles[i] == CENTRAL or not stands[i]:
            continue
        F = more[i + 1]
        tau[topology[i, IV]] = -F[WRENCH + joint_axis(topology[i, KIND], 0)]
        pass_wrench(
            rows[i + 1], more[topology[i, PARENT]], WRENCH, F[WRENCH], F[WRENCH + 1], F[WRENCH + 2], F[WRENCH + 3],
            F[WRENCH + 4], F[WRENCH + 5],
        )  # fmt: skip


@helper
def holding_torques_into(topology, constants, roles, stands, held, acceleration, rows, more, tau):
    """Write tau of the joints that carry no foot: W Algorithm 3.2 with the accelerations `held` of the joints.

    acceleration (6,): X of the central body, at its origin. A standing leg is taken to be at rest as its foot is.
    """
    n = topology.shape[0]
    for i in range(n):
        if roles[i] == IGNORED:
            continue
        out, w = more[i + 1], rows[i + 1]
        if roles[i] == CENTRAL:
            for k in range(6):
                out[ACCELERATION + k] = acceleration[k]
            continue
        if stands[i]:
            for k in range(6):
                out[ACCELERATION + k] = 0.0
            continue
        u = more[topology[i, PARENT]]
        px, py, pz = w[9], w[10], w[11]
        x, y, z = u[ACCELERATION + 3], u[ACCELERATION + 4], u[ACCELERATION + 5]
        ox, oy, oz = w[0] * x + w[3] * y + w[6] * z, w[1] * x + w[4] * y + w[7] * z, w[2] * x + w[5] * y + w[8] * z
        x, y, z = (
            u[ACCELERATION] + y * pz - z * py,
            u[ACCELERATION + 1] + z * px - x * pz,
            u[ACCELERATION + 2] + x * py - y * px,
        )
        ax, ay, az = w[0] * x + w[3] * y + w[6] * z, w[1] * x + w[4] * y + w[7] * z, w[2] * x + w[5] * y + w[8] * z
        ax, ay, az = ax + w[K_], ay + w[K_ + 1], az + w[K_ + 2]
        ox, oy, oz = ox + w[K_ + 3], oy + w[K_ + 4], oz + w[K_ + 5]
        if joint_axis(topology[i, KIND], 0) == 5:
            oz += held[topology[i, IV]]
        else:
            az += held[topology[i, IV]]
        out[ACCELERATION], out[ACCELERATION + 1], out[ACCELERATION + 2] = ax, ay, az
        out[ACCELERATION + 3], out[ACCELERATION + 4], out[ACCELERATION + 5] = ox, oy, oz
        m = constants[i]
        mass, hx, hy, hz = m[MASS], m[MOMENT], m[MOMENT + 1], m[MOMENT + 2]
        dx, dy, dz = cross(ox, oy, oz, hx, hy, hz)
        out[WRENCH] = mass * ax + dx + out[OWN_BIAS]
        out[WRENCH + 1] = mass * ay + dy + out[OWN_BIAS + 1]
        out[WRENCH + 2] = mass * az + dz + out[OWN_BIAS + 2]
        dx, dy, dz = cross(hx, hy, hz, ax, ay, az)
        j = INERTIA
        out[WRENCH + 3] = m[j] * ox + m[j + 3] * oy + m[j + 4] * oz + dx + out[OWN_BIAS + 3]
        out[WRENCH + 4] = m[j + 3] * ox + m[j + 1] * oy + m[j + 5] * oz + dy + out[OWN_BIAS + 4]
        out[WRENCH + 5] = m[j + 4] * ox + m[j + 5] * oy + m[j + 2] * oz + dz + out[OWN_BIAS + 5]
    for i in range(n - 1, -1, -1):
        if roles[i] == IGNORED or roles[i] == CENTRAL or stands[i]:
            continue
        F, parent = more[i + 1], topology[i, PARENT]
        iv = topology[i, IV]
        tau[iv] = F[WRENCH + joint_axis(topology[i, KIND], 0)] + constants[i, ROTOR] * held[iv]
        if not stands[parent - 1] and roles[parent - 1] != CENTRAL:
            pass_wrench(
                rows[i + 1], more[parent], WRENCH, F[WRENCH], F[WRENCH + 1], F[WRENCH + 2], F[WRENCH + 3],
                F[WRENCH + 4], F[WRENCH + 5],
            )  # fmt: skip
