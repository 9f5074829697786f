# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Drives that stay: efforts, positions and velocities to hold, with gains, of joints or of columns of D.

The force of a drive is effort + kp (position − r) + kd (velocity − v), cut at the joint's effort limit, evaluated in
the middle of every step and solved with it. A position is held with kp > 0 only, so kp > 0 says that there is one.

There is one table of joints and one of columns, for Python and for topics, and one rule for gains. A drive has those
that are given with it; else those of the sidecar, and of default_gains.py where it has none. What cannot be driven from
Python is refused from topics, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mbsim_ros.control.command import Values
from mbsim_ros.dynamics.arguments import all_finite
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.layout import Drives
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.sidecar.settings import Gains
from mbsim_ros.sim.drives.default_gains import DriveGains
from mbsim_ros.sim.names import Names, as_slice

LONGEST_NAME = 40  # of which a message speaks
MOST_LISTS = 1000  # of names that are kept
PARTS = ("position", "velocity", "effort")
Numbers = np.ndarray | Sequence[float]
NO_GAINS = Gains(0.0, 0.0)
# Why commands are refused, in words that they are counted by.
NOT_FINITE, WRONG_SIZE, NAMED_TWICE = "not finite", "wrong size", "joint named twice"
NO_GAIN, UNKNOWN_NAME = "no gain", "unknown name"
CAUSES = (NOT_FINITE, WRONG_SIZE, NAMED_TWICE, NO_GAIN, UNKNOWN_NAME)


class DriveTable:
    """The drives of all joints, or of all columns, by name; writes to the arrays that the integrator reads.

    `set` changes what is given and leaves the rest, gains too. `read` and `write` take commands as they arrive by
    messages: what one says of a joint replaces what was said of it before.
    """

    def __init__(
        self, what: str, names: Names, arrays: Drives, places: np.ndarray, gains: DriveGains, *,
        without_position: Mapping[str, str] | None = None, no_gains: str = "", no_damping: str = "",
    ):  # fmt: skip
        """what: a word for one of them. places: of the names in the arrays.

        The last three say why positions of some, drives, or their kd are refused; "" if not.
        """
        self.names, self.gains = names, gains
        self._what, self._arrays, self._places = what, arrays, places
        self._without_position = {} if without_position is None else without_position
        self._no_gains, self._no_damping = no_gains, no_damping
        self._at = dict(zip(names.names, places.tolist(), strict=True))
        self._known: dict[tuple[str, ...], _Known] = {}
        self._generation = 0  # of the gains
        self.before_write: Callable[[slice | np.ndarray], None] | None = None  # is told the places of a command

    def set(
        self, position: Values | None = None, velocity: Values | None = None, effort: Values | None = None,
        kp: Values | None = None, kd: Values | None = None,
    ) -> None:  # fmt: skip
        """Change the drives that are named; nothing changes if any value is refused."""
        read = self.names.entries
        positions, velocities, efforts = read("position", position), read("velocity", velocity), read("effort", effort)
        kps, kds = read("kp", kp), read("kd", kd)
        writes: list[tuple[np.ndarray, int, float]] = []
        for i in {**positions, **velocities, **kps, **kds}:
            at, name = int(self._places[i]), self.names.names[i]
            new_kp, new_kd = self._chosen_gains(name, at, i in positions, i in velocities, kps.get(i), kds.get(i))
            writes += [(self._arrays.kp, at, new_kp), (self._arrays.kd, at, new_kd)]
            writes += [(self._arrays.position, at, positions[i])] if i in positions else []
            writes += [(self._arrays.velocity, at, velocities[i])] if i in velocities else []
        writes += [(self._arrays.effort, int(self._places[i]), value) for i, value in efforts.items()]
        for array, at, value in writes:
            array[at] = value

    def read(
        self, names: Sequence[str], position: Numbers, velocity: Numbers, effort: Numbers
    ) -> DriveCommand | Refusal:
        """Check a command of names, with a number for each or none at all in each part, before `write`."""
        key = tuple(names)
        known = self._known.get(key)
        if known is None:
            refusal = self._strange(key)
            if refusal is not None:
                return refusal
            known = self._learn(key)
        parts: list[np.ndarray | None] = [None, None, None]
        for k, values in enumerate((position, velocity, effort)):
            if len(values):
                array = np.array(values, dtype=np.float64)
                if array.shape != (len(key),):
                    return Refusal(WRONG_SIZE, f"{PARTS[k]}: expected {len(key)} numbers or none, got {array.size}")
                if not all_finite(array):
                    return Refusal(NOT_FINITE, f"{PARTS[k]}: not finite")
                parts[k] = array
        reason = known.reason_against(parts[0] is not None, parts[1] is not None)
        return Refusal(NO_GAIN, f"{self._what} {reason}") if reason else DriveCommand(self, known, *parts)

    def write(self, command: DriveCommand) -> None:
        """Make a command that was read the drives' own."""
        d, (places, kp, kd, *_) = self._arrays, command.known
        if self.before_write is not None and len(kp):
            self.before_write(places)
        holds, follows = command.position is not None, command.velocity is not None
        d.kp[places] = kp if holds else 0.0
        d.kd[places] = kd if holds or follows else 0.0
        d.position[places] = command.position if holds else 0.0
        d.velocity[places] = command.velocity if follows else 0.0
        d.effort[places] = 0.0 if command.effort is None else command.effort

    def is_current(self, command: DriveCommand) -> bool:
        """Whether a command that was read is one of this table still, with the gains of now."""
        return command.table is self and command.known.generation == self._generation

    def take_gains(self, changed: Mapping[str, Gains]) -> None:
        """`gains` are others by now: commands have those, and so have the drives of these names that act already.

        A drive without kp holds no position: one whose kp becomes 0 does not come back before it is commanded anew.
        """
        self._known.clear()
        self._generation += 1
        for name in changed.keys() & self._at.keys():
            at, kp, kd = self._at[name], self._arrays.kp, self._arrays.kd
            if kp[at] != 0.0:
                kp[at], kd[at] = changed[name].kp, changed[name].kd
            elif kd[at] != 0.0:
                kd[at] = changed[name].kd

    def hold(self, positions: np.ndarray, names: Collection[str] | None = None) -> None:
        """PD at these positions, of all names in their order, with their own gains; nothing where there are none.

        names: if not all of them hold.
        """
        if self._no_gains:
            return
        chosen = self._chosen(names)
        kp, kd = self._own_gains([self.names.names[k] for k in chosen])
        at = self._places[chosen]
        self._arrays.kp[at], self._arrays.kd[at], self._arrays.position[at] = kp, kd, positions[chosen]

    def damp(self, names: Collection[str] | None = None) -> None:
        """Damping alone, of all names or of these; nothing where drives have no gains."""
        if self._no_gains or self._no_damping:
            return
        chosen = self._chosen(names)
        self._arrays.kd[self._places[chosen]] = self._own_gains([self.names.names[k] for k in chosen])[1]

    def release(self, names: Iterable[str] | None = None) -> None:
        """End the drives of these names, or all."""
        if names is not None and not isinstance(names, Iterable):
            raise ValueError(f"release: expected names, got {names!r:.80}")
        wanted = range(len(self.names)) if names is None else [self.names.place("release", name) for name in names]
        at = self._places[list(wanted)]
        d = self._arrays
        for array in (d.effort, d.kp, d.kd, d.position, d.velocity):
            array[at] = 0.0

    def _chosen_gains(
        self, name: str, at: int, holds: bool, follows: bool, kp: float | None, kd: float | None
    ) -> tuple[float, float]:
        """The gains of one drive: given, else those it has, else the sidecar's, else those of default_gains.py.

        The kd of the last belongs to its kp: with a kp that was given there is no damping that nobody asked for.
        """
        for gain, value in (("kp", kp), ("kd", kd)):
            if value is not None and value < 0.0:
                raise ValueError(f"{gain}[{name!r}]: expected a gain of 0 or more, got {value}")
        if self._no_gains:
            raise UnsupportedModel(f"drive of '{name}': {self._no_gains}")
        if name in self._without_position:
            raise ValueError(f"drive of '{name}': {self._without_position[name]}")
        has_kp, has_kd = float(self._arrays.kp[at]), float(self._arrays.kd[at])
        default = self.gains.given.get(name) if kp is not None else self.gains.get(name)
        if kp is None:
            kp = default.kp if holds and has_kp == 0.0 and default is not None else has_kp
        elif kp > 0.0 and not holds and has_kp == 0.0:
            raise ValueError(f"kp[{name!r}]: there is no position to hold: give position, too")
        if kd is None:
            idle = has_kp == 0.0 and has_kd == 0.0
            kd = default.kd if (idle or follows) and has_kd == 0.0 and default is not None else has_kd
        if holds and kp == 0.0:
            raise ValueError(f"position[{name!r}]: no gain: give kp, or list '{name}' under gains in the sidecar")
        if follows and kd == 0.0 and not (holds or has_kp > 0.0):
            raise ValueError(f"velocity[{name!r}]: no gain: give kd, or list '{name}' under gains in the sidecar")
        if kd > 0.0 and self._no_damping:
            raise UnsupportedModel(f"kd[{name!r}]: {self._no_damping}")
        return kp, kd

    def _chosen(self, names: Collection[str] | None) -> list[int]:
        """Indices of these names, or of all."""
        return [k for k, name in enumerate(self.names.names) if names is None or name in names]

    def _own_gains(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """kp and kd of these names, zero where none are known."""
        found = [self.gains.get(name, NO_GAINS) for name in names]
        return np.array([each.kp for each in found]), np.array([each.kd for each in found])

    def _learn(self, names: tuple[str, ...]) -> _Known:
        """Look up names that are all known here; the lists that controllers send are few and come again and again."""
        places = np.array([self._at[name] for name in names], dtype=np.int64)
        kp, kd = self._own_gains(names)
        without_kp, without_kd = (
            "" if gains.all() else f"'{names[int((gains == 0.0).argmax())]}' has no gain {gain}: list it under gains"
            for gain, gains in (("kp", kp), ("kd", kd))
        )
        undriven = next(filter(None, map(self._undriven, names, kd.tolist())), "")
        if len(self._known) > MOST_LISTS:  # somebody sends ever new lists
            self._known.clear()
        self._known[names] = _Known(as_slice(places), kp, kd, without_kp, without_kd, undriven, self._generation)
        return self._known[names]

    def _undriven(self, name: str, kd: float) -> str:
        """Why this one holds no position or velocity, or ""."""
        why = self._no_gains or self._without_position.get(name) or (self._no_damping if kd > 0.0 else "")
        return f"'{name}': {why}" if why else ""

    def _strange(self, names: tuple[str, ...]) -> Refusal | None:
        if len(set(names)) < len(names):
            return Refusal(NAMED_TWICE, f"{self._what} '{Counter(names).most_common(1)[0][0]}' is named twice")
        for name in names:
            if name not in self._at:
                # looking for a name like it takes its time, which somebody who sends rubbish must not have of us
                hint = did_you_mean(name, self._at, "", 0) if len(name) < LONGEST_NAME else ""
                return Refusal(
                    UNKNOWN_NAME, f"no {self._what} named '{name[:LONGEST_NAME]}'" + (f": {hint}" if hint else "")
                )
        return None


class Refusal(NamedTuple):
    """Why a command is refused: one of the words at the head of this file, and a sentence."""

    cause: str
    reason: str


class _Known(NamedTuple):
    """What a table knows of a list of names: where they are, their gains, and why they hold nothing, or ""."""

    places: slice | np.ndarray
    kp: np.ndarray
    kd: np.ndarray
    without_kp: str
    without_kd: str
    undriven: str
    generation: int

    def reason_against(self, holds: bool, follows: bool) -> str:
        """Why positions or velocities cannot be held, or ""."""
        if holds:
            return self.undriven or self.without_kp
        return (self.undriven or self.without_kd) if follows else ""


class DriveCommand(NamedTuple):
    """A command that is right: where it goes, and what it says there; None for what it does not speak of."""

    table: DriveTable
    known: _Known
    position: np.ndarray | None
    velocity: np.ndarray | None
    effort: np.ndarray | None

    @property
    def is_empty(self) -> bool:
        """Whether it names nothing, such as a recorder's."""
        return len(self.known.kp) == 0

    def apply(self) -> None:
        """Drive with it from now on."""
        self.table.write(self)
