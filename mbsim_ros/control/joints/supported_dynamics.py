# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Inverse dynamics of a robot whose base floats and whose feet stand: what efforts make its joints accelerate so.

Nothing drives the base, so not every acceleration of the joints can be had. Wanted is the motion a and the forces f of
the ground at the points of the soles with

    min ½ |a_joints − a_wanted|² + ½ ρ |f|²   subject to   base rows of M a + h = Jᵀ f,   J a + J̇ v = 0

so that feet stay where they stand, the base moves as ground and legs make it, and joints as near to what is wanted as
both allow. The efforts are then the other rows, τ = M a + h − Jᵀ f. Without a foot that stands it is that of a flight.
Forces are shared by least squares: whether the ground can pull or has the friction is not asked.
"""

from __future__ import annotations

import numpy as np

from mbsim_ros.control.balance.legs import soles
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.jacobian import frame_jacobian
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.lie import so3
from mbsim_ros.model.model import Model

BASE = 6  # dofs
FORCE_WEIGHT = 1e-8  # ρ [(1/s²)²/N² and so on]: small against any error of the joints that matters
STANDS = 1.0  # N: a foot with less force from the ground does not stand


class SupportedDynamics:
    """Of a model whose feet are these links; the points of their soles are the lowest of their contact points."""

    def __init__(self, model: Model, feet: tuple[str, ...]):
        for foot in feet:
            if foot not in model.frames:
                raise ValueError(f"feet: no link named {foot!r}; there are: {', '.join(model.frames)}")
        self._model, self._feet, self._workspace = model, feet, Workspace(model)
        points, owner = soles(model, feet)
        self._points = [points[owner == number] for number in range(len(feet))]

    def standing(self, state: RobotState) -> list[int]:
        """Numbers of the feet that stand: those the ground pushes, or all where nobody tells of contacts."""
        if state.contact_values is None:
            return list(range(len(self._feet)))
        pushed = dict(zip(state.contact_links, np.linalg.norm(state.contact_values[:, :3], axis=1), strict=False))
        return [number for number, foot in enumerate(self._feet) if pushed.get(foot, 0.0) > STANDS]

    def efforts(
        self, q: np.ndarray, v: np.ndarray, wanted: np.ndarray, standing: list[int], gravity: np.ndarray
    ) -> np.ndarray:
        """Efforts (joints,) for accelerations `wanted` (joints,) of them."""
        model, nv = self._model, self._model.nv
        M = mass_matrix(model, q, workspace=self._workspace)
        h = inverse_dynamics(model, q, v, np.zeros(nv), gravity=gravity, workspace=self._workspace)
        J, bias = self._contacts(q, v, standing)
        rows, n = len(J), nv + len(J)
        H = np.zeros((n, n))
        H[np.arange(BASE, nv), np.arange(BASE, nv)] = 1.0
        H[np.arange(nv, n), np.arange(nv, n)] = FORCE_WEIGHT
        C = np.zeros((BASE + rows, n))
        C[:BASE, :nv], C[:BASE, nv:], C[BASE:, :nv] = M[:BASE], -J[:, :BASE].T, J
        left = np.block([[H, C.T], [C, np.zeros((len(C), len(C)))]])
        right = np.concatenate([np.zeros(BASE), wanted, np.zeros(rows), -h[:BASE], -bias])
        found = np.linalg.lstsq(left, right, rcond=1e-12)[0]  # soles of several points say the same more than once
        a, f = found[:nv], found[nv:n]
        return np.asarray((M @ a + h - J.T @ f)[BASE:])

    def _contacts(self, q: np.ndarray, v: np.ndarray, standing: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """J (3 points, nv) of all points of standing soles in the world's axes, and J̇ v."""
        model = self._model
        J, bias = [np.zeros((0, model.nv))], [np.zeros(0)]
        now = forward_kinematics(model, q, v, np.zeros(model.nv))
        for number in standing:
            foot = self._feet[number]
            frame = model.frame(foot)
            R = now.X_WB[frame.body, :3, :3]
            own = frame_jacobian(model, q, foot, "local_world_aligned")
            link, turn = now.link_acceleration(foot, classical=True), R @ now.V_WB[frame.body, 3:]
            R_WL = R @ frame.X_BF[:3, :3]
            for point in self._points[number]:
                r = R @ (point - frame.X_BF[:3, 3])
                J.append(own[:3] - so3.hat(r) @ own[3:])
                bias.append(R_WL @ link[:3] + np.cross(R_WL @ link[3:], r) + np.cross(turn, np.cross(turn, r)))
        return np.vstack(J), np.concatenate(bias)
