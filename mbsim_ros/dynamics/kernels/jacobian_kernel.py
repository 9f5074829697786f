# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Jacobians: the columns of the joints' motion subspaces, seen from the world. Needs world_poses_into's rows."""

from mbsim_ros.dynamics.joint_motion import joint_axis, joint_dofs
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.model import IV, KIND, PARENT

LOCAL, WORLD, LOCAL_WORLD_ALIGNED = range(3)


@helper
def world_column(w, axis, x, y, z):
    """Twist (v, ω), in world axes and of the point (x, y, z), of a unit velocity along an axis of the body in row w."""
    k = R_WB + axis % 3
    ex, ey, ez = w[k], w[k + 3], w[k + 6]
    if axis < 3:
        return ex, ey, ez, 0.0, 0.0, 0.0
    # about p_WB: relative to the point at once, so that a robot far from the origin loses no digits
    px, py, pz = w[P_WB] - x, w[P_WB + 1] - y, w[P_WB + 2] - z
    return py * ez - pz * ey, pz * ex - px * ez, px * ey - py * ex, ex, ey, ez


@kernel
def motion_columns_into(topology, rows, columns):
    """Write to columns[dof, 0:6] the motion subspace of every dof, in world axes about the world's origin."""
    for i in range(topology.shape[0]):
        kind, iv, w = topology[i, KIND], topology[i, IV], rows[i + 1]
        for k in range(joint_dofs(kind)):
            c = columns[iv + k]
            c[0], c[1], c[2], c[3], c[4], c[5] = world_column(w, joint_axis(kind, k), 0.0, 0.0, 0.0)


@kernel
def frame_jacobian_into(topology, row, X_BF, reference, rows, J):
    """Write J (6, nv) of the frame X_BF (4, 4) on the body of a row; row 0, the world, has none.

    reference: LOCAL, WORLD or LOCAL_WORLD_ALIGNED, in Pinocchio's meaning.
    """
    for k in range(6):
        for dof in range(J.shape[1]):
            J[k, dof] = 0.0
    b = rows[row]
    x = y = z = 0.0
    if reference != WORLD:
        px, py, pz = X_BF[0, 3], X_BF[1, 3], X_BF[2, 3]
        x = b[P_WB] + b[R_WB] * px + b[R_WB + 1] * py + b[R_WB + 2] * pz
        y = b[P_WB + 1] + b[R_WB + 3] * px + b[R_WB + 4] * py + b[R_WB + 5] * pz
        z = b[P_WB + 2] + b[R_WB + 6] * px + b[R_WB + 7] * py + b[R_WB + 8] * pz
    ancestor = row
    while ancestor > 0:
        i = ancestor - 1
        kind = topology[i, KIND]
        for k in range(joint_dofs(kind)):
            dof = topology[i, IV] + k
            vx, vy, vz, wx, wy, wz = world_column(rows[ancestor], joint_axis(kind, k), x, y, z)
            if reference == LOCAL:
                vx, vy, vz = _into_frame(b, X_BF, vx, vy, vz)
                wx, wy, wz = _into_frame(b, X_BF, wx, wy, wz)
            J[0, dof], J[1, dof], J[2, dof], J[3, dof], J[4, dof], J[5, dof] = vx, vy, vz, wx, wy, wz
        ancestor = topology[i, PARENT]


@helper
def _into_frame(b, X_BF, x, y, z):
    """R_FB R_BW of a vector: from world axes to the frame's."""
    bx = b[R_WB] * x + b[R_WB + 3] * y + b[R_WB + 6] * z
    by = b[R_WB + 1] * x + b[R_WB + 4] * y + b[R_WB + 7] * z
    bz = b[R_WB + 2] * x + b[R_WB + 5] * y + b[R_WB + 8] * z
    return (
        X_BF[0, 0] * bx + X_BF[1, 0] * by + X_BF[2, 0] * bz,
        X_BF[0, 1] * bx + X_BF[1, 1] * by + X_BF[2, 1] * bz,
        X_BF[0, 2] * bx + X_BF[1, 2] * by + X_BF[2, 2] * bz,
    )
