# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Full gain matrices of the balance controller: what they add to the diagonal ones of the kernel.

W (4.14) and (4.24) subtract K_p e and K_v ė from the acceleration that is wanted. The kernel does so with diagonal
gains; what a full matrix has beside its diagonal is taken off the set point's acceleration before it.
"""

from __future__ import annotations

import numpy as np

from mbsim_ros.control.balance.desired_wrench_kernel import (
    POSITION,
    PUSH,
    QUATERNION,
    TURN,
    TURN_RATE,
    VELOCITY,
)
from mbsim_ros.lie import quaternion

NAMES = ("position_kp", "position_kv", "orientation_kp", "orientation_kv")


class GainMatrices:
    """The four matrices (3, 3) in the order of NAMES; `diagonals` (12,) are for the kernel."""

    def __init__(self, matrices: list[np.ndarray]):
        self.diagonals = np.concatenate([np.diag(matrix) for matrix in matrices])
        self._beside = [matrix - np.diag(np.diag(matrix)) for matrix in matrices]
        self.is_full = any(matrix.any() for matrix in self._beside)

    def apply(self, X_WB: np.ndarray, twist: np.ndarray, centre: np.ndarray, set_point: np.ndarray) -> np.ndarray:
        """The set point (19,) with what the matrices have beside their diagonals in its accelerations.

        X_WB (4, 4), twist (6,): pose of the central body and its velocity in its own axes; centre (3,): of its mass.
        """
        out, R = set_point.copy(), X_WB[:3, :3]
        error = X_WB[:3, 3] + R @ centre - out[POSITION : POSITION + 3]
        rate = R @ (twist[:3] + np.cross(twist[3:], centre)) - out[VELOCITY : VELOCITY + 3]
        kp, kv, turn_kp, turn_kv = self._beside
        out[PUSH : PUSH + 3] -= kp @ error + kv @ rate  # W (4.14)
        wanted = quaternion.to_matrix(out[QUATERNION : QUATERNION + 4])
        E = R @ wanted.T
        q_e = quaternion.from_matrix(E)  # W (4.17), scalar part ≥ 0
        q_e = q_e if q_e[0] >= 0.0 else -q_e
        w_e = R @ twist[3:] - E @ out[TURN : TURN + 3]  # W (4.20)
        out[TURN_RATE : TURN_RATE + 3] -= E.T @ (turn_kp @ q_e[1:] + turn_kv @ w_e)  # W (4.24), where E ω̇_d stands
        return out


def matrix_of(name: str, diagonal: tuple[float, ...], full: tuple[float, ...]) -> np.ndarray:
    """(3, 3): the full one if it is given, row by row, else the diagonal one; ValueError if it pushes away."""
    if not full:
        return np.diag(diagonal)
    if len(full) != 9:
        raise ValueError(f"{name}_matrix: expected nine numbers, row by row, or none, got {len(full)}")
    matrix = np.reshape(full, (3, 3))
    least = float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min())
    if least < -1e-9 * np.abs(matrix).max():
        raise ValueError(f"{name}_matrix: expected no direction that pushes away, its least gain is {least:g}")
    return matrix
