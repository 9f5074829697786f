# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Recording a run into numpy arrays: chosen channels, every n steps, memory made before the run begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.sim.clock import SECOND
from mbsim_ros.sim.ledger import LEDGER_ENTRIES

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation

TIME = "time_ns"


def _energy(sim: Simulation) -> list[float]:
    found = sim.energy()
    return [found.kinetic, found.potential, found.elastic, found.contact, found.total]


# What a channel reads; the shape of a row is that of the first.
CHANNELS: dict[str, Callable[[Simulation], Any]] = {
    "q": lambda sim: sim.q,
    "v": lambda sim: sim.v,
    "energy": _energy,  # kinetic, potential, elastic, contact, total
    "momentum": lambda sim: sim.momentum(),
    "ledger": lambda sim: [getattr(sim.ledger(), name) for name in LEDGER_ENTRIES],
    "contact_modes": lambda sim: np.array([report.mode for report in sim.contacts()], dtype=np.int64),
    "contact_forces": lambda sim: np.array([report.force for report in sim.contacts()]).reshape(-1, 3),
    "penetrations": lambda sim: [report.penetration for report in sim.contacts()],
    "iterations": lambda sim: np.int64(sim.iterations),  # of the last compiled call
}
STANDARD = ("q", "v", "energy")


@dataclass(frozen=True, eq=False)
class Recording:
    """Arrays by channel, each (rows, …); `time_ns` (rows,) is always among them."""

    channels: Mapping[str, np.ndarray] = field(repr=False)
    joint_names: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self.channels[name]
        except KeyError:
            raise KeyError(f"no channel named {name!r}; there are: {', '.join(self.channels)}") from None

    def __getattr__(self, name: str) -> np.ndarray:
        channels = self.__dict__.get("channels", {})
        if name in channels:
            return channels[name]  # type: ignore[no-any-return]
        raise AttributeError(f"no channel named {name!r}; there are: {', '.join(channels)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self.channels[TIME])

    @property
    def seconds(self) -> np.ndarray:
        """Times (rows,) [s]."""
        return self.channels[TIME] / SECOND

    def save(self, path: str | os.PathLike) -> None:
        """Write all channels to one .npz file."""
        with open(path, "wb") as file:
            np.savez(file, **dict(self.channels))  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        return _recording, (dict(self.channels), self.joint_names)


@dataclass(frozen=True)
class Recorder:
    """What to record: names of channels (see CHANNELS), and every how many steps."""

    names: tuple[str, ...] = STANDARD
    every: int = 1

    def __post_init__(self) -> None:
        """Check the choice, before a long run."""
        names = (self.names,) if isinstance(self.names, str) else tuple(self.names)
        for name in names:
            if name not in CHANNELS:
                hint = did_you_mean(str(name), CHANNELS, f"there are {', '.join(CHANNELS)}", 0)
                raise ValueError(f"record: no channel named {name!r}: {hint}")
        if not (isinstance(self.every, int) and self.every >= 1):
            raise ValueError(f"every: expected a number of steps of at least 1, got {self.every!r}")
        object.__setattr__(self, "names", names)


def chosen_recorder(record: Recorder | str | Iterable[str] | bool | None) -> Recorder | None:
    """The recorder of an argument: True for the standard channels, names, or a Recorder."""
    if record is None or record is False:
        return None
    if isinstance(record, Recorder):
        return record
    return Recorder() if record is True else Recorder((record,) if isinstance(record, str) else tuple(record))


class Tape:
    """The arrays of a run while it goes on; the first row is the state before it."""

    def __init__(self, recorder: Recorder, sim: Simulation, steps: int):
        self._sim, self._names, self.every = sim, recorder.names, recorder.every
        rows = 1 + steps // recorder.every
        self._time = np.zeros(rows, dtype=np.int64)
        self._arrays = {}
        for name in recorder.names:
            first = np.asarray(CHANNELS[name](sim))
            self._arrays[name] = np.zeros((rows, *first.shape), dtype=first.dtype)
        self._row = 0
        self.note()

    def note(self) -> None:
        """Write the next row."""
        self._time[self._row] = self._sim.time
        for name, array in self._arrays.items():
            array[self._row] = CHANNELS[name](self._sim)
        self._row += 1

    def recording(self) -> Recording:
        """What has been written so far."""
        arrays = {TIME: self._time[: self._row], **{name: a[: self._row] for name, a in self._arrays.items()}}
        return _recording(arrays, self._sim.model.joint_names)


def _recording(arrays: dict[str, np.ndarray], joint_names: tuple[str, ...]) -> Recording:
    return Recording(MappingProxyType(arrays), joint_names)
