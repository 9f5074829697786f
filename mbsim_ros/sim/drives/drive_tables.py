# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""All that can be driven, by name: the joints, and the columns of the coupling in force."""

from __future__ import annotations

import numpy as np

from mbsim_ros.control.command import Values
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.integrator import Integrator
from mbsim_ros.integrators.layout import Drives
from mbsim_ros.model.model import Model
from mbsim_ros.sim.drives.default_gains import DriveGains
from mbsim_ros.sim.drives.drive_efforts import drive_efforts_into
from mbsim_ros.sim.drives.drive_table import DriveTable
from mbsim_ros.sim.names import Names, as_slice, driven_joints, joints_named, tree_dofs

Added = tuple[np.ndarray, slice | np.ndarray, np.ndarray]  # efforts of the integrator, where, what is added


class DriveTables:
    """The drives of an integrator. A change of coupling makes a new one, for the columns are others."""

    def __init__(
        self, model: Model, integrator: Integrator, gains: DriveGains, only_efforts: str = "", no_damping: str = ""
    ):
        """gains: of joints and columns; the last two say why there are no motors and gains, or no kd; or ""."""
        self._integrator, self._only_efforts = integrator, only_efforts
        configuration = integrator.configuration
        floating = configuration.base_columns
        columns = configuration.column_names[floating:]
        self.joint_names = driven_joints(model)
        dofs = tree_dofs(model, self.joint_names.names)
        on_base = dict.fromkeys(configuration.column_names[:floating], "nothing drives the base: push it")
        self.column_names = Names("column", columns, on_base)
        self.columns = slice(floating, configuration.nu)
        self._places = as_slice(dofs)
        own = joints_named(model, self.joint_names.names)
        in_q = np.array([joint.iq for joint in own], dtype=np.int64)
        self._joints = dofs, in_q, np.array([joint.iv for joint in own], dtype=np.int64)
        self.acted: list[Added] = []  # in the last step, beside the drives
        several = "a joint of several dofs, or the slip of a clutch, has no position to hold: give effort"
        single = {*self.joint_names.names, *configuration.motors}
        self.joints = DriveTable(
            "joint", self.joint_names, integrator.drives, dofs, gains, no_gains=only_efforts, no_damping=no_damping
        )
        self.motors = DriveTable(
            "column", self.column_names, integrator.motors, np.arange(floating, configuration.nu), gains,
            without_position={name: several for name in columns if name not in single}, no_gains=only_efforts,
            no_damping=no_damping,
        )  # fmt: skip

    def added(self, tau: Values | None, motor: Values | None) -> list[Added]:
        """What efforts of joints and of columns add to those of the drives."""
        added: list[Added] = []
        if tau is not None:
            added.append((self._integrator.drives.effort, self._places, self.joint_names.vector("tau", tau)))
        if motor is not None:
            if self._only_efforts:
                raise UnsupportedModel(f"motor: {self._only_efforts}: use tau")
            added.append((self._integrator.motors.effort, self.columns, self.column_names.vector("motor", motor)))
        return added

    def joint_efforts(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Efforts of the joints at q (nq,) and v (nv,), in their order: of the drives and of what was added last."""
        return self._efforts(self._integrator.drives, *self._joints, q, v)

    def motor_efforts(self, rates: np.ndarray) -> np.ndarray:
        """The same of the columns at these rates, in the order of their names."""
        columns = np.arange(self.columns.start, self.columns.stop)
        rows = np.arange(len(columns))
        return self._efforts(self._integrator.motors, columns, columns, rows, self._integrator.motor_position, rates)

    def _efforts(
        self, drives: Drives, dofs: np.ndarray, in_q: np.ndarray, in_v: np.ndarray, *now: np.ndarray
    ) -> np.ndarray:
        own, out = drives.effort, np.empty(len(dofs))
        for efforts, places, values in self.acted:
            if np.may_share_memory(efforts, drives.effort):
                own = own.copy()
                own[places] += values
        drive_efforts_into(own, *drives[1:], dofs, in_q, in_v, *now, out)
        return out
