# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From bodies back to joints: the tree's coordinates of X, and the momenta of its dofs of P."""

import math

from mbsim_ros.dynamics.joint_motion import project_wrench
from mbsim_ros.integrators.maximal.joint_kernel import TWO_TURNS
from mbsim_ros.integrators.maximal.quaternion_kernel import body_torque, product, rotate
from mbsim_ros.jit import kernel
from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC
from mbsim_ros.model.model import IQ, IV, KIND, PARENT, TRANSLATION


@kernel
def joint_coordinates_into(tree, X, coordinates, q):
    """Write the tree's q of bodies at X (n + 1, 7); coordinates (n,): of joints that have one.

    The angle of a planar joint goes on from what stands in q.
    """
    for i in range(tree.topology.shape[0]):
        kind, at, parent = tree.topology[i, KIND], tree.topology[i, IQ], tree.topology[i, PARENT]
        if kind <= PRISMATIC:
            q[at] = coordinates[i]
            continue
        own, inn, t, body = X[i + 1], X[parent], tree.joint_turns[i], tree.constants[i]
        c, ci = tree.centres[i + 1], tree.centres[parent]
        bw, bx, by, bz = product(inn[3], inn[4], inn[5], inn[6], t[0], t[1], t[2], t[3])
        w, x, y, z = product(bw, -bx, -by, -bz, own[3], own[4], own[5], own[6])
        k = TRANSLATION
        ix, iy, iz = rotate(inn[3], inn[4], inn[5], inn[6], body[k] - ci[0], body[k + 1] - ci[1], body[k + 2] - ci[2])
        ox, oy, oz = rotate(own[3], own[4], own[5], own[6], -c[0], -c[1], -c[2])
        ex, ey, ez = own[0] + ox - inn[0] - ix, own[1] + oy - inn[1] - iy, own[2] + oz - inn[2] - iz
        ex, ey, ez = rotate(bw, -bx, -by, -bz, ex, ey, ez)
        scale = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        if kind == PLANAR:
            angle = 2.0 * math.atan2(z, w)
            q[at], q[at + 1] = ex, ey
            q[at + 2] = angle + TWO_TURNS * math.floor((q[at + 2] - angle) / TWO_TURNS + 0.5)
            continue
        if kind == FLOATING:
            q[at], q[at + 1], q[at + 2] = ex, ey, ez
            at += 3
        q[at], q[at + 1], q[at + 2], q[at + 3] = scale * x, scale * y, scale * z, scale * w


@kernel
def joint_momenta_into(tree, X, P, subtree, p):
    """Write the momenta of the tree's dofs (nv,), Dᵀψ P: forces of constraints have no part in them.

    subtree (n + 1, 6): memory; its row 0 is then the robot's momentum, linear and about the world's origin.
    """
    subtree[:, :] = 0.0
    for i in range(tree.topology.shape[0] - 1, -1, -1):
        own, c, s, out = X[i + 1], tree.centres[i + 1], subtree[i + 1], subtree[tree.topology[i, PARENT]]
        w, x, y, z = own[3], own[4], own[5], own[6]
        px, py, pz = P[i, 0], P[i, 1], P[i, 2]
        lx, ly, lz = body_torque(w, x, y, z, P[i, 3], P[i, 4], P[i, 5], P[i, 6])
        lx, ly, lz = rotate(w, x, y, z, 0.25 * lx, 0.25 * ly, 0.25 * lz)
        s[0], s[1], s[2] = s[0] + px, s[1] + py, s[2] + pz
        s[3] += lx + own[1] * pz - own[2] * py
        s[4] += ly + own[2] * px - own[0] * pz
        s[5] += lz + own[0] * py - own[1] * px
        ox, oy, oz = rotate(w, x, y, z, -c[0], -c[1], -c[2])
        ox, oy, oz = ox + own[0], oy + own[1], oz + own[2]
        fx, fy, fz = rotate(w, -x, -y, -z, s[0], s[1], s[2])
        tx, ty, tz = s[3] - oy * s[2] + oz * s[1], s[4] - oz * s[0] + ox * s[2], s[5] - ox * s[1] + oy * s[0]
        tx, ty, tz = rotate(w, -x, -y, -z, tx, ty, tz)
        project_wrench(tree.topology[i, KIND], fx, fy, fz, tx, ty, tz, p, tree.topology[i, IV])
        for k in range(6):
            out[k] += s[k]
