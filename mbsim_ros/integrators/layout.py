# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arrays that every integrator shares with the world outside: drives, what resists joints, the ledger, counts.

Kernels take an array of rows and name them by these numbers; Python takes the rows by name.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Rows of the array of drives (6, n), as Drives lists them.
DRIVE_EFFORT, DRIVE_KP, DRIVE_KD, DRIVE_POSITION, DRIVE_VELOCITY, DRIVE_LIMIT = range(6)

# Rows of the array of joints (7, nv), as Joints lists them.
JOINT_DAMPING, JOINT_FRICTION, JOINT_FRICTION_SPEED, JOINT_LOWER, JOINT_UPPER = range(5)
JOINT_STOP_STIFFNESS, JOINT_STOP_DAMPING = 5, 6

# Entries of the ledger: work done on the mechanism by each kind of force [J].
LEDGER_ACTUATORS, LEDGER_DAMPING, LEDGER_FRICTION, LEDGER_STOPS, LEDGER_SPRING_DAMPING, LEDGER_EXTERNAL = range(6)
LEDGER_COLUMNS = 6


class Drives(NamedTuple):
    """Drives of the tree's dofs (nv) or of columns of D (nu): effort + kp (position − r) + kd (velocity − v), cut."""

    effort: np.ndarray
    kp: np.ndarray
    kd: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    limit: np.ndarray


class Joints(NamedTuple):
    """What resists the joints by itself, per dof of the tree (nv)."""

    damping: np.ndarray
    friction: np.ndarray
    friction_speed: np.ndarray  # below it Coulomb friction is viscous
    lower: np.ndarray
    upper: np.ndarray
    stop_stiffness: np.ndarray
    stop_damping: np.ndarray


class ClutchState(NamedTuple):
    """A brake or clutch with a torque limit."""

    slips: bool
    torque: float  # on the joint [N m, N]: at the limit while it slips, else what it bears
    limit: float
    rate: float  # of the slip now [rad/s, m/s]
    loss: float  # energy [J] that it took by slipping, since the coupling was engaged


class Counts(NamedTuple):
    """What solving cost since the reset."""

    iterations: int = 0
    newton_steps: int = 0  # steps that took Newton's method with line search
    halvings: int = 0  # steps that were taken in smaller ones
    judged_steps: int = 0  # steps that were taken as they were, after a look at their energy
