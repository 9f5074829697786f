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

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbsim_ros.dynamics.arguments import all_finite
from mbsim_ros.integrators.layout import Drives
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.sidecar.settings import Gains
from mbsim_ros.sim.names import as_slice, tree_dofs
from mbsim_ros.sim.simulation import Simulation

LONGEST_NAME = 40  # of which a message speaks
PARTS = ("position", "velocity", "effort")


class Board:
    """The drives of joints, or of columns, that commands write to."""

    def __init__(self, what: str, places: Mapping[str, int], drives: Drives, kp: np.ndarray, kd: np.ndarray):
        """places: of the names in the arrays of the drives; kp, kd: gains there, zero where none are known."""
        self._what, self._places, self._drives, self._kp, self._kd = what, places, drives, kp, kd
        self._known: dict[tuple[str, ...], _Known] = {}
        self.before_write: Callable[[slice | np.ndarray], None] | None = None  # is told the places

    def read(self, names: Sequence[str], position: Any, velocity: Any, effort: Any) -> Command | str:
        """Check a command; returns it as `write` takes it, or why it is refused."""
        key = tuple(names)
        known = self._known.get(key)
        if known is None:
            reason = self._strange(key)
            if reason:
                return reason
            known = self._learn(key)
        parts: list[np.ndarray | None] = [None, None, None]
        for k, values in enumerate((position, velocity, effort)):
            if len(values):
                array = np.array(values, dtype=np.float64)
                if array.shape != (len(key),):
                    return f"{PARTS[k]}: expected {len(key)} numbers or none, got {array.size}"
                if not all_finite(array):
                    return f"{PARTS[k]}: not finite"
                parts[k] = array
        if parts[0] is not None and known.without_kp:
            return f"{self._what} '{known.without_kp}' has no gain kp: list it under gains"
        if parts[1] is not None and parts[0] is None and known.without_kd:
            return f"{self._what} '{known.without_kd}' has no gain kd: list it under gains"
        return Command(self, known, *parts)

    def _learn(self, names: tuple[str, ...]) -> _Known:
        """Look up names that are all known here; the lists that controllers send are few and come again and again."""
        places = np.array([self._places[name] for name in names], dtype=np.int64)
        kp, kd = self._kp[places], self._kd[places]
        without_kp = "" if kp.all() else names[int((kp == 0.0).argmax())]
        without_kd = "" if kd.all() else names[int((kd == 0.0).argmax())]
        if len(self._known) > 1000:  # somebody sends ever new lists
            self._known.clear()
        self._known[names] = _Known(as_slice(places), kp, kd, without_kp, without_kd)
        return self._known[names]

    def _strange(self, names: tuple[str, ...]) -> str:
        if len(set(names)) < len(names):
            return f"{self._what} '{Counter(names).most_common(1)[0][0]}' is named twice"
        for name in names:
            if name not in self._places:
                # looking for a name like it takes its time, which somebody who sends rubbish must not have of us
                hint = did_you_mean(name, self._places, "", 0) if len(name) < LONGEST_NAME else ""
                return f"no {self._what} named '{name[:LONGEST_NAME]}'" + (f": {hint}" if hint else "")
        return ""

    def write(self, command: Command) -> None:
        """Make a command that was read the drives' own."""
        d, (places, kp, kd, _, _) = self._drives, command.known
        if self.before_write is not None and len(kp):
            self.before_write(places)
        holds, follows = command.position is not None, command.velocity is not None
        d.kp[places] = kp if holds else 0.0
        d.kd[places] = kd if holds or follows else 0.0
        d.position[places] = command.position if holds else 0.0
        d.velocity[places] = command.velocity if follows else 0.0
        d.effort[places] = 0.0 if command.effort is None else command.effort


class _Known(NamedTuple):
    """What a board knows of a list of names: where they are, their gains, and the first that has none."""

    places: slice | np.ndarray
    kp: np.ndarray
    kd: np.ndarray
    without_kp: str
    without_kd: str


class Command(NamedTuple):
    """A command that is right: where it goes, and what it says there; None for what it does not speak of."""

    board: Board
    known: _Known
    position: np.ndarray | None
    velocity: np.ndarray | None
    effort: np.ndarray | None

    def apply(self) -> None:
        """Drive with it from now on."""
        self.board.write(self)


class CommandIntake:
    """Everything that controllers may ask of a simulation, and what it does while nobody asks."""

    def __init__(self, sim: Simulation):
        self.sim = sim
        dofs = np.asarray(tree_dofs(sim.model, sim.tau_names), dtype=np.int64)
        own = [sim.model.joint(name) for name in sim.tau_names]
        self._joints = dict(zip(sim.tau_names, dofs.tolist(), strict=True))
        self._own_dofs = dofs
        self._own_q = np.array([joint.iq for joint in own], dtype=np.int64)
        self._own_v = np.array([joint.iv for joint in own], dtype=np.int64)
        self._dofs, self._in_q, self._in_v = map(as_slice, (dofs, self._own_q, self._own_v))
        self._drives = sim.engine.drives
        self._held = np.zeros(len(sim.model.dof_parent), dtype=bool)  # dofs that hold: nobody has commanded them yet
        self.read_gains()

    def read_gains(self) -> None:
        """Take the gains that hold now, of joints and of columns. Commands that were read before are none any more."""
        sim = self.sim
        n = len(sim.model.dof_parent)
        self._kp, self._kd = np.zeros(n), np.zeros(n)
        self._kp[self._dofs] = [sim.gains[name].kp for name in sim.tau_names]
        self._kd[self._dofs] = [sim.gains[name].kd for name in sim.tau_names]
        self.joints = Board("joint", self._joints, sim.engine.drives, self._kp, self._kd)
        self.joints.before_write = self._commanded
        self.read_coupling()

    def change_gains(self, gains: Mapping[str, Gains]) -> None:
        """Other gains of joints and columns, for drives that act now as well; ValueError, and nothing changes, if bad.

        A drive without kp holds no position: one whose kp becomes 0 does not come back before it is commanded anew.
        """
        self.sim.gains.change(gains)
        self.read_gains()
        columns = dict(zip(self.sim.motor_names, self._columns.tolist(), strict=True))
        for drives, places in ((self._drives, self._joints), (self.sim.engine.motors, columns)):
            for name in gains.keys() & places.keys():
                at = places[name]
                if drives.kp[at] != 0.0:
                    drives.kp[at], drives.kd[at] = gains[name].kp, gains[name].kd
                elif drives.kd[at] != 0.0:
                    drives.kd[at] = gains[name].kd

    def read_coupling(self) -> None:
        """Take the columns of the coupling that is in force now."""
        sim = self.sim
        first = sim.coupling.nu - len(sim.motor_names)
        self._columns, self._column_rows = np.arange(first, sim.coupling.nu), np.arange(len(sim.motor_names))
        kp, kd = np.zeros(sim.coupling.nu), np.zeros(sim.coupling.nu)
        places = {name: first + k for k, name in enumerate(sim.motor_names)}
        for name, at in places.items():
            if name in sim.gains:
                kp[at], kd[at] = sim.gains[name].kp, sim.gains[name].kd
        self.motors = Board("column", places, sim.engine.motors, kp, kd)
        self.motors.before_write = self._taken_over

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
        drives, q = self.sim.engine.drives, self.sim.q
        drives.kp[self._dofs], drives.kd[self._dofs] = self._kp[self._dofs], self._kd[self._dofs]
        drives.position[self._dofs] = q[self._in_q]
        self._held[self._dofs] = True

    def damp(self) -> None:
        """Damping alone."""
        self._let_go()
        self.sim.engine.drives.kd[self._dofs] = self._kd[self._dofs]

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
        self.read_gains()

    def _let_go(self) -> None:
        self.sim.release_drives()
        self._held[:] = False

    def _commanded(self, dofs: slice | np.ndarray) -> None:
        self._held[dofs] = False

    def _taken_over(self, _: slice | np.ndarray) -> None:
        """Motors move the joints that hold: they let go, or both would work against each other."""
        if self._held.any():
            drives = self.sim.engine.drives
            drives.kp[self._held] = drives.kd[self._held] = 0.0
            self._held[:] = False
