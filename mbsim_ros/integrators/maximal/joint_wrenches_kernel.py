# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What joints carry in maximal coordinates: their multipliers, as wrenches on the outer bodies.

The balance of a body at the node X_k, W (5.11), has G(X_k)ᵀ λ of each of its joints: the impulse that its constraints
give it there. λ/h is the force; G's columns of the quaternion are W^b(q)ᵀ times a torque about the centre of mass. Of a
coordinate the force of the step that begins at the node counts: drives, damping, friction and stops.
"""

from mbsim_ros.integrators.maximal.arrays import ROWS
from mbsim_ros.integrators.maximal.joint_kernel import constraints_of, joint_rows_into
from mbsim_ros.integrators.maximal.quaternion_kernel import body_torque, rotate
from mbsim_ros.jit import cross, kernel
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import KIND, PARENT, ROTOR


@kernel
def multiplier_wrenches_into(tree, X, multipliers, coordinates, h, g, G_out, G_in, out):
    """Write the wrench of every joint (bodies, 6), on its outer body at its origin in its axes, at the nodes X.

    coordinates (n,): at the end of the step of h that began there; g (6,), G_out, G_in (6, 7): scratch.
    """
    for i in range(tree.topology.shape[0]):
        kind, parent = tree.topology[i, KIND], tree.topology[i, PARENT]
        G_out[:, :] = 0.0
        own = X[i + 1]
        before = joint_rows_into(
            kind, tree.constants[i], tree.centres[i + 1], tree.centres[parent], tree.joint_turns[i], own, X[parent],
            coordinates[i], g, G_out, G_in,
        )  # fmt: skip
        constraints = constraints_of(kind)
        fx = fy = fz = f0 = f1 = f2 = f3 = 0.0
        for row in range(ROWS):
            force = multipliers[i, 1 + row] / h if row < constraints else 0.0
            if row == ROWS - 1 and kind <= PRISMATIC:
                # the multiplier is h/2 f − J Δθ/h
                force = 2.0 / h * (multipliers[i, ROWS] + tree.constants[i, ROTOR] * (coordinates[i] - before) / h)
            fx, fy, fz = fx + force * G_out[row, 0], fy + force * G_out[row, 1], fz + force * G_out[row, 2]
            f0, f1 = f0 + force * G_out[row, 3], f1 + force * G_out[row, 4]
            f2, f3 = f2 + force * G_out[row, 5], f3 + force * G_out[row, 6]
        tx, ty, tz = body_torque(own[3], own[4], own[5], own[6], f0, f1, f2, f3)
        fx, fy, fz = rotate(own[3], -own[4], -own[5], -own[6], fx, fy, fz)
        c = tree.centres[i + 1]
        x, y, z = cross(c[0], c[1], c[2], fx, fy, fz)
        out[i, 0], out[i, 1], out[i, 2] = fx, fy, fz
        out[i, 3], out[i, 4], out[i, 5] = 0.25 * tx + x, 0.25 * ty + y, 0.25 * tz + z
