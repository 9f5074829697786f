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
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.layout import DEPTH
from mbsim_ros.contact.terrain import Ground
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.sim.above import above
from mbsim_ros.sim.clock import SECOND
from mbsim_ros.sim.ledger import LEDGER_ENTRIES
from mbsim_ros.sim.recording.recorded_scene import RecordedScene
from mbsim_ros.sim.recording.run_log import RunLog
from mbsim_ros.sim.snapshots.file import read_arrays
from mbsim_ros.sim.surroundings.contacts import contact_arrays

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation

TIME = "time_ns"
ABOUT, GRID, JOINTS = "about", "ground_grid", "joint_names"  # in a file, beside the channels


def _energy(sim: Simulation) -> list[float]:
    found = sim.energy()
    return [found.kinetic, found.potential, found.elastic, found.contact, found.total]


# What a channel reads; the shape of a row is that of the first.
CHANNELS: dict[str, Callable[[Simulation], ArrayLike]] = {
    "q": lambda sim: sim.q,
    "v": lambda sim: sim.v,
    "energy": _energy,  # kinetic, potential, elastic, contact, total
    "momentum": lambda sim: sim.momentum(),
    "ledger": lambda sim: [getattr(sim.ledger(), name) for name in LEDGER_ENTRIES],
    "link_forces": lambda sim: sim.link_forces.now()[:, :3],  # of contact, in the order of `sim.link_forces.links`
    # of all points of `Simulation.contacts`, in its order
    "contact_modes": lambda sim: contact_arrays(sim.integrator)[0],
    "contact_positions": lambda sim: contact_arrays(sim.integrator)[1],
    "contact_forces": lambda sim: contact_arrays(sim.integrator)[2],
    "penetrations": lambda sim: np.concatenate(
        [state.results[:, DEPTH] for state in (sim.integrator.contacts, sim.integrator.pair_contacts)]
    ),
    "joint_wrenches": lambda sim: sim.joint_wrench_rows(),  # (joints, 6), in the order of `joint_names`
    "iterations": lambda sim: np.int64(sim.iterations),  # of the last compiled call
}
STANDARD = ("q", "v", "energy")


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """Arrays by channel, each (rows, …); `time_ns` (rows,) is always among them.

    It can be looked at (`view`), drawn (`plot`, `film`) and written (`save`, `save_bag`). What was not recorded and is
    to be seen, such as contacts and efforts, is computed again where the simulation still exists and its controller did
    nothing but answer; what a figure lacks, it says.
    """

    channels: Mapping[str, np.ndarray]
    joint_names: tuple[str, ...] = ()
    scene: RecordedScene | None = None
    log: RunLog | None = None

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

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {array.shape[1:]}" for name, array in self.channels.items() if name != TIME)
        times = f"{self.seconds[0]:g} … {self.seconds[-1]:g} s" if len(self) else "empty"
        return f"Recording({len(self)} rows, {times}: {parts})"

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self.channels[TIME])

    @property
    def seconds(self) -> np.ndarray:
        """Times (rows,) [s]."""
        return self.channels[TIME] / SECOND

    @property
    def model(self) -> Model:
        """The robot. Raises ValueError where the file did not say which it is."""
        return self._known_scene().model

    @property
    def ground(self) -> Ground | None:
        """What it stood on, None for nothing."""
        return self._known_scene().ground

    def save(self, path: str | os.PathLike) -> None:
        """Write one .npz file: every channel under its name, and which robot on which ground it was."""
        extra = {JOINTS: np.array(self.joint_names, dtype=str)}
        if self.scene is not None:
            extra |= {ABOUT: np.array(self.scene.text()), GRID: self.scene.grid}
        with open(path, "wb") as file:
            np.savez(file, **dict(self.channels), **extra)  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | os.PathLike) -> Recording:
        """Read what `save` wrote. Raises ValueError for a file that is something else, OSError where there is none."""
        try:
            arrays = read_arrays(path)
            rows = {len(array) for name, array in arrays.items() if name not in (ABOUT, GRID, JOINTS)}
            if TIME not in arrays or len(rows) != 1:
                raise ValueError(f"expected {TIME} and channels of as many rows")
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}: not a recording: {error}") from None
        names = tuple(str(name) for name in arrays.pop(JOINTS, ()))
        about, grid = arrays.pop(ABOUT, None), arrays.pop(GRID, None)
        return _recording(arrays, names, None if about is None else RecordedScene(text=str(about), grid=grid))

    def view(self, port: int = 8080, *, open: bool = True, block: bool = True, **options: Any) -> Any:
        """Look at the run in a web browser: play it, move through its time.

        block: until Ctrl-C; otherwise the page is there until the `RecordingViewer` that is returned is closed.
        """
        return above("view_recording")(self, port, open=open, block=block, **options)

    def plot(self, path: str | os.PathLike | None = None, what: Iterable[str] = (), joints: Iterable[str] = ()) -> Any:
        """Draw joint angles, torques, footfalls and the energy ledger over time.

        path: a .png file, or .html for a page that can be zoomed; None returns a figure of matplotlib instead.
        what: any of "angles", "torques", "footfalls", "ledger", default all that there is. joints: by name, or all.
        """
        return above("plot_recording")(self, path, tuple(what), tuple(joints))

    def film(
        self, path: str | os.PathLike, *, start: float = 0.0, seconds: float | None = None,
        size: tuple[int, int] = (640, 400), speed: float = 1.0, camera: object = None,
    ) -> None:  # fmt: skip
        """Write a film: a .gif, or an .mp4 where ffmpeg is on this machine; the camera goes along with the robot.

        start, seconds: the part of the run [s], default all. size: pixels (columns, rows).
        speed: 0.5 shows it half as fast. camera: as `Simulation.picture` takes it.
        """
        above("film_recording")(self, path, start=start, seconds=seconds, size=size, speed=speed, camera=camera)

    def save_bag(self, folder: str | os.PathLike) -> list[str]:
        """Write a bag as `mbsim record` does, for `mbsim view, plot, replay` and `ros2 bag play`; needs no ROS process.

        Returns notes on what it cannot tell, such as why a replay could not compare all of it.
        """
        return above("save_bag")(self, folder)  # type: ignore[no-any-return]

    def _known_scene(self) -> RecordedScene:
        if self.scene is None:
            raise ValueError("this recording does not say which robot it is of: save it with this version, or anew")
        return self.scene

    def __reduce__(self) -> tuple[object, ...]:
        return _recording, (dict(self.channels), self.joint_names, self.scene)


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
        self.log = RunLog(sim)
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
        scene = RecordedScene(self._sim.payloads.bare, self._sim.scene.ground)
        return _recording(arrays, self._sim.model.joint_names, scene, self.log)


def _recording(
    arrays: dict[str, np.ndarray], joint_names: tuple[str, ...], scene: RecordedScene | None = None,
    log: RunLog | None = None,
) -> Recording:  # fmt: skip
    return Recording(MappingProxyType(arrays), joint_names, scene, log)
