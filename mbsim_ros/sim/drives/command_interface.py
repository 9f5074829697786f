# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Commands by name, as they arrive from controllers: checked whole, then written to the drives of a simulation.

A command names joints (or columns of D) and has any of position, velocity and effort, each for all of the names. What
it says of a joint replaces what was said of it before: with a position the drive is a PD with the joint's gains, with a
velocity alone it damps towards that, an effort adds to either; an effort alone is just that. Joints that a command does
not name keep theirs. A command that is not right is refused with the reason, and nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mbsim_ros.model.sidecar.settings import Gains
from mbsim_ros.sim.drives.drive_table import DriveTable
from mbsim_ros.sim.names import as_slice, tree_dofs
from mbsim_ros.sim.simulation import Simulation


class CommandInterface:
    """Everything that controllers may ask of a simulation, and what it does while nobody asks."""

    def __init__(self, sim: Simulation):
        self.sim = sim
        self._dofs = as_slice(np.asarray(tree_dofs(sim.model, sim.tau_names), dtype=np.int64))
        self._in_q = as_slice(np.array([sim.model.joint(name).iq for name in sim.tau_names], dtype=np.int64))
        self._held = np.zeros(len(sim.model.dof_parent), dtype=bool)  # dofs that hold: nobody has commanded them yet
        self.read_coupling()

    @property
    def joints(self) -> DriveTable:
        """Where commands of joints go."""
        return self.sim.drive_tables.joints

    @property
    def motors(self) -> DriveTable:
        """Where commands of columns go: those of the coupling that is in force now."""
        return self.sim.drive_tables.motors

    def read_coupling(self) -> None:
        """Hear of commands to the drives of the coupling that is in force now."""
        self.joints.before_write, self.motors.before_write = self._commanded, self._taken_over

    def change_gains(self, gains: Mapping[str, Gains]) -> None:
        """Other gains of joints and columns, also for drives that act now; ValueError, and nothing changes, if bad."""
        self.sim.gains.change(gains)
        for table in (self.joints, self.motors):
            table.take_gains(gains)

    def couple(self, name: str) -> str:
        """Change the coupling by name; returns why not, or ""."""
        if name == self.sim.coupling.name:
            return ""
        try:
            self.sim.couple(name)
        except ValueError as error:
            return str(error)
        self.read_coupling()
        return ""

    def hold(self) -> None:
        """PD at the positions of this instant for every joint; motors let go."""
        self._let_go()
        self.joints.hold(self.sim.q[self._in_q])
        self._held[self._dofs] = True

    def damp(self) -> None:
        """Damping alone."""
        self._let_go()
        self.joints.damp()

    def zero(self) -> None:
        """No drive at all."""
        self._let_go()

    @property
    def held(self) -> list[bool]:
        """Which dofs hold because nobody has commanded them yet: what a snapshot of the simulation does not know."""
        return [bool(held) for held in self._held]

    def take_over(self, held: Sequence[bool]) -> None:
        """The simulation was restored from a snapshot, at which these dofs held."""
        if len(held) != len(self._held):
            raise ValueError(f"held: expected {len(self._held)} words, got {len(held)}")
        self._held[:] = held
        for table in (self.joints, self.motors):
            table.take_gains({})
        self.read_coupling()

    def _let_go(self) -> None:
        self.sim.release_drives()
        self._held[:] = False

    def _commanded(self, dofs: slice | np.ndarray) -> None:
        self._held[dofs] = False

    def _taken_over(self, _: slice | np.ndarray) -> None:
        """Motors move the joints that hold: they let go, or both would work against each other."""
        if self._held.any():
            drives = self.sim.integrator.drives
            drives.kp[self._held] = drives.kd[self._held] = 0.0
            self._held[:] = False
