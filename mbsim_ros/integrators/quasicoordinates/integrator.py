# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""`QuasicoordinateRk4`: N's equations of motion, with what resists the joints, by the classical Runge-Kutta scheme."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics.kernels.forward_kernel import OK
from mbsim_ros.integrators.baselines.integrator import Baseline
from mbsim_ros.integrators.baselines.steps_kernel import IMPLAUSIBLE, NO_ACCELERATION
from mbsim_ros.integrators.joint_arrays import make_joints
from mbsim_ros.integrators.joint_resistance_kernel import add_all_works, resisted_efforts_into
from mbsim_ros.integrators.layout import LEDGER_COLUMNS
from mbsim_ros.integrators.quasicoordinates.equations import equations
from mbsim_ros.integrators.quasicoordinates.limbs import BASE, limbs_of
from mbsim_ros.integrators.state_bounds import FASTEST, FURTHEST
from mbsim_ros.lie import quaternion
from mbsim_ros.model.model import Model

# Of the classical scheme: where a stage is, and its weight in the step.
STAGES = ((0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0))


class QuasicoordinateRk4(Baseline):
    """As `rk4`, step for step, but with accelerations by N instead of W Algorithm 3.3.

    joints (7, nv): damping, friction and stops of joints, JOINT_… rows of layout.py; ledger: their works and those of
    efforts, by the weights of the stages.
    """

    def __init__(self, model: Model, dt: float, *, gravity: ArrayLike | None = None):
        super().__init__(model, dt, gravity=gravity)
        self.limbs = limbs_of(model)
        self.joints, self.ledger = make_joints(model.nv), np.zeros(LEDGER_COLUMNS)
        self._angles = np.zeros(model.nv)  # of joints, 0 for the base

    def _run(self, steps: int) -> tuple[int, int]:
        for done in range(steps):
            q, v, works = self.q.copy(), self.v.copy(), self.ledger.copy()
            rates = list[tuple[np.ndarray, np.ndarray]]()
            for reach, weight in STAGES:
                at_q = q if not rates else q + reach * self.dt * rates[-1][0]
                at_v = v if not rates else v + reach * self.dt * rates[-1][1]
                try:
                    acceleration = self._acceleration(at_q, at_v)
                except np.linalg.LinAlgError:
                    return done, NO_ACCELERATION
                rates.append((_rate(at_q, at_v) if self.model.is_floating else at_v, acceleration))
                add_all_works(self.joints, self._force, self._angles, at_v, weight * self.dt, works)
            for (q_rate, v_rate), (_, weight) in zip(rates, STAGES, strict=True):
                q += self.dt * weight * q_rate
                v += self.dt * weight * v_rate
            self._normalise(q)
            if not ((np.abs(q) <= FURTHEST).all() and (np.abs(v) <= FASTEST).all()):
                return done, IMPLAUSIBLE
            self.q[:], self.v[:], self.ledger[:] = q, v, works
        return steps, OK

    def _acceleration(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        unit = q.copy()
        self._normalise(unit)
        joints = len(v) - (BASE if self.model.is_floating else 0)
        self._angles[len(v) - joints :] = q[len(q) - joints :]
        forces, slopes = np.empty((2, len(v)))
        resisted_efforts_into(self.joints, self._force, self._angles, v, 0.0, forces, slopes)
        M, h = equations(self.limbs, unit, v, self.gravity)
        return np.linalg.solve(M, h + forces)

    def _normalise(self, q: np.ndarray) -> None:
        if self.model.is_floating:
            q[3:7] /= np.linalg.norm(q[3:7])


def _rate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q̇ (nq,): R v of the base, ½ q ω of its quaternion, and the rates of the joints."""
    own = quaternion.from_ros(q[3:7])
    turning = 0.5 * quaternion.multiply(own, np.concatenate([[0.0], v[3:6]]))
    R = quaternion.to_matrix(own / np.linalg.norm(own))
    return np.concatenate([R @ v[:3], quaternion.to_ros(turning), v[6:]])
