# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""New arrays of drives and of what resists joints, as all schemes begin with them."""

from __future__ import annotations

import numpy as np

from mbsim_ros.integrators.layout import DRIVE_LIMIT, JOINT_FRICTION_SPEED, JOINT_LOWER, JOINT_UPPER, Drives, Joints

SLOWEST_FRICTION = 1e-3  # [rad/s or m/s] below it Coulomb friction is viscous


def make_joints(nv: int) -> np.ndarray:
    """Joints that nothing resists (7, nv), rows as in Joints."""
    joints = np.zeros((len(Joints._fields), nv))
    joints[JOINT_FRICTION_SPEED], joints[JOINT_LOWER], joints[JOINT_UPPER] = SLOWEST_FRICTION, -np.inf, np.inf
    return joints


def make_drives(n: int) -> np.ndarray:
    """Drives that do nothing, without limit (6, n), rows as in Drives."""
    drives = np.zeros((len(Drives._fields), n))
    drives[DRIVE_LIMIT] = np.inf
    return drives
