# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""MuJoCo's own mass matrix and bias forces of an MJCF, in our coordinates."""

from __future__ import annotations

import numpy as np

FREE, BALL = 0, 1


def random_states(model, rng, count):
    """q and v of our model: everything turned and moving, positions away from zero."""
    for _ in range(count):
        q = model.neutral + rng.uniform(-0.8, 0.8, model.nq)
        for at in model.quaternions:
            q[at : at + 4] = rng.normal(size=4)
            q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
        yield q, rng.uniform(-2.0, 2.0, model.nv)


class Oracle:
    """MuJoCo's model beside ours."""

    def __init__(self, mujoco, m, model):
        self.mujoco, self.m, self.model, self.data = mujoco, m, model, mujoco.MjData(m)
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)

    def mass_and_bias(self, q, v):
        """M (nv, nv) and h (nv,) with M v̇ + h = 0, of our v."""
        mujoco, m, data = self.mujoco, self.m, self.data
        T, rate, qpos = np.zeros((m.nv, self.model.nv)), np.zeros(m.nv), m.qpos0.copy()
        for j in range(m.njnt):
            at, dof, kind = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), int(m.jnt_type[j])
            iq, iv = self._ours(j)
            if kind == FREE:
                qpos[at : at + 7] = [*q[iq : iq + 3], q[iq + 6], *q[iq + 3 : iq + 6]]
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, qpos[at + 3 : at + 7])
                R = R.reshape(3, 3)
                T[dof : dof + 3, iv : iv + 3] = R  # its linear velocity is in the world's axes, ours in the body's
                T[dof + 3 : dof + 6, iv + 3 : iv + 6] = np.eye(3)
                rate[dof : dof + 3] = R @ np.cross(v[iv + 3 : iv + 6], v[iv : iv + 3])
            elif kind == BALL:
                qpos[at : at + 4] = [q[iq + 3], *q[iq : iq + 3]]
                T[dof : dof + 3, iv : iv + 3] = np.eye(3)
            else:
                qpos[at] = m.qpos0[at] + q[iq]
                T[dof, iv] = 1.0
        data.qpos[:], data.qvel[:] = qpos, T @ v
        mujoco.mj_forward(m, data)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, data, M)
        return T.T @ M @ T, T.T @ (data.qfrc_bias + M @ rate)

    def _ours(self, j):
        name = self.m.joint(j).name or f"joint_{j}"
        if name not in self.model.joint_names:
            return 0, 0  # the floating base
        joint = self.model.joint(name)
        return joint.iq, joint.iv
