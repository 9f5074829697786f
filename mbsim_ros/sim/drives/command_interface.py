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

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from mbsim_ros.model.sidecar.settings import Gains
from mbsim_ros.sim.drives.drive_table import DriveTable
from mbsim_ros.sim.names import as_slice, tree_dofs
from mbsim_ros.sim.simulation import Simulation


class CommandInterface:
    """Everything that controllers may ask of a simulation, and what it does while nobody asks."""

    def __init__(self, sim: Simulation):
        self.sim = sim
        self._held = np.zeros(0, dtype=bool)  # dofs that hold: nobody has commanded them yet
        self.read_model()

    def read_model(self, held: Collection[str] = ()) -> None:
        """Take the joints from the simulation as they are now: at the start, or when its entities are others.

        held: names of the joints that hold, of which those that are there go on to.
        """
        sim, names = self.sim, self.sim.tau_names
        dofs = np.asarray(tree_dofs(sim.model, names), dtype=np.int64)
        self._dofs = as_slice(dofs)
        self._in_q = as_slice(np.array([sim.model.joint(name).iq for name in names], dtype=np.int64))
        self._held = np.zeros(len(sim.model.dof_parent), dtype=bool)
        self._held[[dof for name, dof in zip(names, dofs.tolist(), strict=True) if name in held]] = True
        self._joints = dict(zip(names, dofs.tolist(), strict=True))
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
        """Change the coupling by name, or by those of several entities; returns why not, or ""."""
        if name == self.sim.coupling.name:
            return ""
        try:
            self.sim.couple(name)
        except ValueError as error:
            return str(error)
        self.read_coupling()
        return ""

    def hold(self, entity: str = "") -> None:
        """PD at the positions of this instant for every joint, of all or of one entity; motors let go."""
        self._let_go(entity)
        self.joints.hold(self.sim.q[self._in_q], self._names_of(entity))
        self._held[self._dofs_of(entity)] = True

    def damp(self, entity: str = "") -> None:
        """Damping alone."""
        self._let_go(entity)
        self.joints.damp(self._names_of(entity))

    def zero(self, entity: str = "") -> None:
        """No drive at all."""
        self._let_go(entity)

    @property
    def held(self) -> list[bool]:
        """Which dofs hold because nobody has commanded them yet: what a snapshot of the simulation does not know."""
        return [bool(held) for held in self._held]

    @property
    def held_names(self) -> frozenset[str]:
        """The same by the names of the joints, which stay when entities come and go."""
        return frozenset(name for name, dof in self._joints.items() if self._held[dof])

    def take_over(self, held: Sequence[bool]) -> None:
        """The simulation was restored from a snapshot, at which these dofs held."""
        if len(held) != len(self._held):
            raise ValueError(f"held: expected {len(self._held)} words, got {len(held)}")
        self._held[:] = held
        for table in (self.joints, self.motors):
            table.take_gains({})
        self.read_coupling()

    def _let_go(self, entity: str) -> None:
        if not entity:
            self.sim.release_drives()
        else:
            self.joints.release(self._names_of(entity))
            self.motors.release([name for name in self.motors.names.names if name.startswith(f"{entity}/")])
        self._held[self._dofs_of(entity)] = False

    def _names_of(self, entity: str) -> list[str] | None:
        """The joints of an entity; None for all that there are."""
        return [name for name in self._joints if name.startswith(f"{entity}/")] if entity else None

    def _dofs_of(self, entity: str) -> list[int] | slice | np.ndarray:
        if not entity:
            return self._dofs
        return [dof for name, dof in self._joints.items() if name.startswith(f"{entity}/")]

    def _commanded(self, dofs: slice | np.ndarray) -> None:
        self._held[dofs] = False

    def _taken_over(self, columns: slice | np.ndarray) -> None:
        """Motors move the joints that hold: they let go, or both would work against each other.

        In a scene those of the entities that are commanded, and nobody else's.
        """
        if not self._held.any():
            return
        held = self._held
        if self.sim.entities is not None:
            names = np.asarray(self.sim.coupling.column_names, dtype=object)[columns].tolist()
            entities = {name.partition("/")[0] for name in names}
            dofs = [dof for name, dof in self._joints.items() if name.partition("/")[0] in entities]
            held = np.zeros_like(self._held)
            held[dofs] = self._held[dofs]
        drives = self.sim.integrator.drives
        drives.kp[held] = drives.kd[held] = 0.0
        self._held[held] = False
