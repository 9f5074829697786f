# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Gains with which a robot holds still when nobody commands it: stiff enough to carry it, whatever its joints."""

from __future__ import annotations

import numpy as np

from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.model.model import Model

SAG = 0.05  # [rad] how far a joint gives way at most under the whole weight at the robot's own reach
RATE = 50.0  # [rad/s] of a light joint's own inertia on its spring
LAG = 0.02  # [s] kd / kp at least: motion dies away within a few of these


def hold_gains(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """kp and kd (nv,) for the dofs of a model: those of the sidecar, and where it has none what carries the robot.

    They act implicitly in every step, so stiff ones are stable; effort limits cut what is too much.
    """
    inertia = np.diag(mass_matrix(model, model.neutral))
    weight = model.mass * 9.81
    places = forward_kinematics(model, model.neutral).X_WB[:, :3, 3]
    reach = max(float(np.linalg.norm(places - places[0], axis=1).max()), 0.1)
    kp = np.maximum(inertia * RATE**2, weight * reach / SAG)
    for joint in model.joints:
        if joint.type == "prismatic" and joint.iv >= 0:
            kp[joint.iv] = max(inertia[joint.iv] * RATE**2, weight / (SAG * reach))
    kd = np.maximum(2.0 * np.sqrt(kp * inertia), LAG * kp)
    for name, gains in ({} if model.sidecar is None else model.sidecar.gains).items():
        if name in model.joint_names and model.joint(name).iv >= 0:
            kp[model.joint(name).iv], kd[model.joint(name).iv] = gains.kp, gains.kd
    return kp, kd
