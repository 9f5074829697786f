# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where joints put their child links: translation and quaternion in the parent link, one joint at a time, as TF has it.

The quaternion (x, y, z, w) is made from half angles, not from a matrix: it never jumps to its opposite while the
joint moves on, and it depends on q alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mbsim_ros.jit import helper, kernel
from mbsim_ros.lie import quaternion
from mbsim_ros.model.joint_kinds import FLOATING, KINDS, PLANAR, PRISMATIC, REVOLUTE
from mbsim_ros.model.model import IQ, Model, ModelJoint

# Columns of JointTransforms.constants. L is the parent link, J the joint's frame with its axis as z, C the child link.
R_LJ, P_LJ, Q_LJ, Q_JC = 0, 9, 12, 16
COLUMNS = 20


class JointTransforms(NamedTuple):
    """Joints of a model as `joint_transforms_into` takes them."""

    kinds: np.ndarray  # (joints,) int64
    places: np.ndarray  # (joints,) int64, where the joint's coordinates begin among those of the tree
    constants: np.ndarray  # (joints, COLUMNS)


def joint_transforms(model: Model, joints: Sequence[ModelJoint], with_base: bool) -> JointTransforms:
    """Constants of the given joints; with_base: of a floating base first, whose parent is the world."""
    kinds, places, rows = [], [], []
    if with_base:
        kinds.append(FLOATING)
        places.append(0)
        rows.append(_constants(np.eye(4), np.eye(3)))
    for joint in joints:
        R_JC = model.joint_frames[joint.name].X_BF[:3, :3]
        kinds.append(KINDS[joint.type].number)
        places.append(int(model.topology[joint.body, IQ]))
        rows.append(_constants(model.description.joint(joint.name).origin.matrix(), R_JC))
    table = np.array(rows).reshape(-1, COLUMNS)
    return JointTransforms(np.array(kinds, dtype=np.int64), np.array(places, dtype=np.int64), table)


@kernel
def joint_transforms_into(kinds, places, constants, q, starts, out):
    """Write x, y, z, qx, qy, qz, qw of joint i to out[starts[i]…]; q is that of the tree, mimic joints filled in."""
    for i in range(kinds.shape[0]):
        kind, iq, c, at = kinds[i], places[i], constants[i], starts[i]
        x = y = z = i_ = j_ = k_ = 0.0
        r_ = 1.0
        if kind == REVOLUTE:
            k_, r_ = math.sin(0.5 * q[iq]), math.cos(0.5 * q[iq])
        elif kind == PRISMATIC:
            z = q[iq]
        elif kind == PLANAR:
            x, y = q[iq], q[iq + 1]
            k_, r_ = math.sin(0.5 * q[iq + 2]), math.cos(0.5 * q[iq + 2])
        else:
            if kind == FLOATING:
                x, y, z = q[iq], q[iq + 1], q[iq + 2]
                iq += 3
            i_, j_, k_, r_ = q[iq], q[iq + 1], q[iq + 2], q[iq + 3]
            scale = 1.0 / math.sqrt(i_ * i_ + j_ * j_ + k_ * k_ + r_ * r_)
            i_, j_, k_, r_ = scale * i_, scale * j_, scale * k_, scale * r_
        for row in range(3):
            out[at + row] = c[P_LJ + row] + c[3 * row] * x + c[3 * row + 1] * y + c[3 * row + 2] * z
        r_, i_, j_, k_ = _product(c[Q_LJ], c[Q_LJ + 1], c[Q_LJ + 2], c[Q_LJ + 3], r_, i_, j_, k_)
        r_, i_, j_, k_ = _product(r_, i_, j_, k_, c[Q_JC], c[Q_JC + 1], c[Q_JC + 2], c[Q_JC + 3])
        out[at + 3], out[at + 4], out[at + 5], out[at + 6] = i_, j_, k_, r_


@helper
def _product(aw, ax, ay, az, bw, bx, by, bz):
    """Components of a * b, scalar first. W A.3"""
    return (
        aw * bw - (ax * bx + ay * by + az * bz),
        aw * bx + bw * ax + (ay * bz - az * by),
        aw * by + bw * ay + (az * bx - ax * bz),
        aw * bz + bw * az + (ax * by - ay * bx),
    )


def _constants(X_LO: np.ndarray, R_JC: np.ndarray) -> np.ndarray:
    """A row for a joint whose origin is X_LO in the parent link; the child link has the origin's axes at zero."""
    rotation = X_LO[:3, :3] @ R_JC.T
    row = np.empty(COLUMNS)
    row[R_LJ : R_LJ + 9] = rotation.ravel()
    row[P_LJ : P_LJ + 3] = X_LO[:3, 3]
    q_JC = quaternion.from_matrix(R_JC)
    row[Q_JC : Q_JC + 4] = q_JC
    # q_LO * conj(q_JC), not that of the matrix, so that the signs of the two belong together: w ≥ 0 at zero
    row[Q_LJ : Q_LJ + 4] = quaternion.multiply(quaternion.from_matrix(X_LO[:3, :3]), quaternion.conjugate(q_JC))
    return row
