# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The weight at a node of the trajectory: gravity acts there, with half a step's impulse before and after it."""

from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.dynamics.placement import place_body
from mbsim_ros.integrators.lie_variational.midpoint_kernel import D_, H_, place_bodies, project_rotated, rotate
from mbsim_ros.jit import cross, helper
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC, REVOLUTE
from mbsim_ros.model.model import CENTRE, IQ, IV, KIND, MASS, PARENT


@helper
def gravity_into(tree, q, gravity, sincos, rows, weight, root_poses, root_weights):
    """Write what holds the tree at q against gravity (nv,): minus its force; and of floating roots where they are.

    root_weights (nr, 6): the spatial wrench of gravity on all that a root carries; root_poses (nr, 12): X_WB.
    """
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    place_bodies(tree, q, sincos, rows)
    for i in range(tree.topology.shape[0]):  # mass and first moment about the body's origin
        m, w = tree.constants[i], rows[i + 1]
        mass = m[MASS]
        x, y, z = rotate(w, m[CENTRE], m[CENTRE + 1], m[CENTRE + 2])
        w[H_], w[H_ + 1], w[H_ + 2], w[H_ + 3] = mass, mass * x, mass * y, mass * z
    root = root_poses.shape[0]
    for i in range(tree.topology.shape[0] - 1, -1, -1):
        kind, iv, parent, w = tree.topology[i, KIND], tree.topology[i, IV], tree.topology[i, PARENT], rows[i + 1]
        mass, x, y, z = w[H_], w[H_ + 1], w[H_ + 2], w[H_ + 3]
        tx, ty, tz = cross(x, y, z, gx, gy, gz)
        if kind == REVOLUTE:
            weight[iv] = -(w[R_WB + 2] * tx + w[R_WB + 5] * ty + w[R_WB + 8] * tz)
        elif kind == PRISMATIC:
            weight[iv] = -mass * (w[R_WB + 2] * gx + w[R_WB + 5] * gy + w[R_WB + 8] * gz)
        else:
            project_rotated(kind, w, -mass * gx, -mass * gy, -mass * gz, -tx, -ty, -tz, weight, iv)
        if parent > 0:
            u = rows[parent]
            u[H_] += mass
            u[H_ + 1] += x + mass * w[D_]
            u[H_ + 2] += y + mass * w[D_ + 1]
            u[H_ + 3] += z + mass * w[D_ + 2]
        elif kind == FLOATING:
            root -= 1
            pose, wrench = root_poses[root], root_weights[root]
            for k in range(12):
                pose[k] = w[R_WB + k]
            fx, fy, fz = mass * gx, mass * gy, mass * gz
            sx, sy, sz = cross(w[P_WB], w[P_WB + 1], w[P_WB + 2], fx, fy, fz)
            wrench[0], wrench[1], wrench[2] = fx, fy, fz
            wrench[3], wrench[4], wrench[5] = tx + sx, ty + sy, tz + sz


@helper
def place_floating_roots(tree, q, sincos, rows, root_poses):
    """Write X_WB (12,) of the floating roots at q, and nothing else: their poses follow from q alone."""
    root = 0
    for i in range(tree.topology.shape[0]):
        if tree.topology[i, KIND] == FLOATING and tree.topology[i, PARENT] == 0:
            w = rows[i + 1]
            place_body(FLOATING, tree.constants[i], q, tree.topology[i, IQ], sincos[0], sincos[1], w)
            for k in range(12):
                root_poses[root, k] = w[k]
            root += 1
