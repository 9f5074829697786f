# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`run`: many steps with a controller, a recording and a progress bar, in compiled calls as long as these allow."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.sim.clock import nearest_steps, whole_steps
from mbsim_ros.sim.recording.recorder import Recording, Tape, chosen_recorder

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation

CHUNK = 500  # steps in one compiled call: short enough for ctrl-C and the progress bar
SHOWN_AFTER = 1.0  # s of waiting
DRIVE_ENTRIES = ("position", "velocity", "kp", "kd")


def run(
    sim: Simulation, seconds: Any, controller: Any, control_period: Any, record: Any, progress: bool | None
) -> Recording | None:
    """Advance a simulation; see `Simulation.run`."""
    steps = nearest_steps("seconds", seconds, sim.dt_ns)
    period = 1 if control_period is None else whole_steps("control_period", control_period, sim.dt_ns)
    if controller is not None and not (callable(controller) or hasattr(controller, "update")):
        raise ValueError(f"controller: expected something with update(t, state), or a callable, got {controller!r}")
    recorder = chosen_recorder(record)
    tape = None if recorder is None else Tape(recorder, sim, steps)
    tau = motor = None
    done = 0
    with Progress(steps, progress) as bar:
        while done < steps:
            if controller is not None and done % period == 0:
                tau, motor = command_of(sim, controller)
                if tape is not None:
                    tape.log.note(done, tau, motor)
            ahead = min(CHUNK, steps - done)
            if controller is not None:
                ahead = min(ahead, period - done % period)
            if tape is not None:
                ahead = min(ahead, tape.every - done % tape.every)
            if sim.watcher is not None:
                ahead = min(ahead, sim.watcher.most_steps())
            try:
                sim.advance(ahead, tau, motor)
            except SimulationDiverged as error:
                error.recording = None if tape is None else tape.recording()  # type: ignore[attr-defined]
                raise
            done += ahead
            if tape is not None and done % tape.every == 0:
                tape.note()
            bar.update(done)
    if sim.watcher is not None:
        sim.watcher.update()
    return None if tape is None else tape.recording()


def command_of(sim: Simulation, controller: Any) -> tuple[Any, Any]:
    """Ask a controller once; drives and the coupling are set at once, efforts of joints and motors are returned.

    A command is None, the efforts of joints (array or mapping), or an object with any of the attributes effort,
    position, velocity, kp, kd (of joints), motor (efforts of columns), coupling (a name) and wrench (by link). Where it
    has `names`, its arrays are of those joints, in that order.
    """
    updates = hasattr(controller, "update")
    command = controller.update(sim.seconds, sim.state()) if updates else controller(sim)
    known = ("effort", "motor", "coupling", "wrench", *DRIVE_ENTRIES)
    parts = {name: getattr(command, name) for name in known if getattr(command, name, None) is not None}
    if not parts:
        if command is None or isinstance(command, np.ndarray | list | tuple | Mapping):
            return command, None
        _refuse_strange(command, known)
        return None, None
    names = tuple(getattr(command, "names", None) or sim.tau_names)
    if names != sim.tau_names:
        parts = {name: _by_name(name, names, part) for name, part in parts.items()}
    coupling = parts.get("coupling")
    if coupling is not None and coupling != sim.coupling.name:
        sim.couple(coupling)
    drives = {name: parts[name] for name in DRIVE_ENTRIES if name in parts}
    if drives:
        sim.drive(**drives)
    for link, push in parts.get("wrench", {}).items():
        sim.push(link, push[:3], push[3:])
    return parts.get("effort"), parts.get("motor")


def _by_name(entry: str, names: tuple[str, ...], values: Any) -> Any:
    """An array of these joints as a mapping; what is none, or not of joints, as it is."""
    if entry not in ("effort", *DRIVE_ENTRIES) or isinstance(values, Mapping):
        return values
    array = np.atleast_1d(np.asarray(values, dtype=float))
    if array.shape != (len(names),):
        raise ValueError(f"{entry}: expected a number for each of the command's {len(names)} names, got {array.size}")
    return dict(zip(names, array.tolist(), strict=True))


def _refuse_strange(command: Any, known: tuple[str, ...]) -> None:
    """Raise ValueError for what is no command; one whose entries are all None commands nothing."""
    if not any(hasattr(command, name) for name in known):
        raise ValueError(f"controller: expected None, efforts, or an object with {', '.join(known)}; got {command!r}")


class Progress:
    """A bar on standard error, shown where somebody looks at it and only once a run takes longer than a second."""

    def __init__(self, steps: int, wanted: bool | None):
        self._steps, self._wanted = steps, wanted
        self._bar: Any = None
        self._task: Any = None
        self._begin = time.monotonic()

    def __enter__(self) -> Progress:
        if self._wanted and self._steps > 0:
            self._show()
        return self

    def update(self, done: int) -> None:
        """Say how many steps are done."""
        if self._bar is None:
            if self._wanted is not None or time.monotonic() - self._begin < SHOWN_AFTER or not sys.stderr.isatty():
                return
            self._show()
        self._bar.update(self._task, completed=done)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.percentage:>3.0f} % of the run"), BarColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=self._wanted is None)
        self._task = self._bar.add_task("run", total=self._steps)
        self._bar.start()
