# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What integrators with drives share: arrays to write to, ledger, time, and how a saved state is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.layout import Drives, Joints

NO_JOINT_WRENCHES = "joint_wrenches: only 'lie_variational' of order 2 and 'quaternion_variational' keep what they need"


class DrivenArrays(Protocol):
    """What the arrays of every scheme with drives have, as kernels take them."""

    @property
    def joints(self) -> np.ndarray:
        """JOINT_… rows by dof."""

    @property
    def drives(self) -> np.ndarray:
        """DRIVE_… rows by dof."""

    @property
    def motors(self) -> np.ndarray:
        """DRIVE_… rows by column of D."""

    @property
    def external(self) -> np.ndarray:
        """Wrenches (bodies, 6)."""

    @property
    def ledger(self) -> np.ndarray:
        """Work by kind of force."""


class Driven:
    """Base of an integrator; `_arrays` has joints, drives, motors, external and ledger, as kernels take them."""

    dt: float
    step_count: int

    @property
    def _arrays(self) -> DrivenArrays:
        raise NotImplementedError

    @property
    def joints(self) -> Joints:
        """What resists the joints, per dof of the tree: arrays to write to."""
        return Joints(*self._arrays.joints)

    @property
    def drives(self) -> Drives:
        """Drives of the tree's dofs: arrays to write to."""
        return Drives(*self._arrays.drives)

    @property
    def motors(self) -> Drives:
        """Drives of the columns of D: arrays to write to; a change of coupling makes new ones."""
        return Drives(*self._arrays.motors)

    @property
    def external(self) -> np.ndarray:
        """Wrenches on the bodies (bodies, 6), in their axes at their origins: an array to write to."""
        return self._arrays.external

    @property
    def work_done(self) -> np.ndarray:
        """Work [J] done on the mechanism since the reset by each kind of force, LEDGER_… of integrators.layout."""
        return self._arrays.ledger

    def add_work(self, entry: int, energy: float) -> None:
        """Book work [J] that was done from outside, LEDGER_… of integrators.layout."""
        self._arrays.ledger[entry] += energy

    @property
    def rough_steps(self) -> int:
        """Steps in which dt did not resolve the motion: a scheme that does not look has none."""
        return 0

    def describe_rough_steps(self) -> str:
        """Which joint moves too far in a step, and which dt would do."""
        return ""

    def acceleration(self) -> np.ndarray:
        """Accelerations (nv,) one step ago."""
        raise UnsupportedModel("acceleration: only 'lie_variational' of order 2 keeps the velocities of two steps")

    def joint_wrenches(self) -> np.ndarray:
        """What the joints carried in the last step."""
        raise UnsupportedModel(NO_JOINT_WRENCHES)

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.step_count * self.dt


def take_back(own: Mapping[str, np.ndarray], saved: Mapping[str, np.ndarray]) -> None:
    """Write saved arrays into those of the same names; ValueError, and nothing is written, where one does not fit."""
    for name, array in own.items():
        if name not in saved or saved[name].shape != array.shape:
            found = "nothing" if name not in saved else f"shape {saved[name].shape}"
            raise ValueError(f"saved state: expected '{name}' of shape {array.shape}, got {found}")
    for name, array in own.items():
        array[...] = saved[name]
