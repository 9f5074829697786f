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
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.control.command import Command, Returned, Targets, Values, command_from
from mbsim_ros.control.controller import Controller, PlansAhead
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.sim.clock import SECOND, nearest_steps, whole_steps
from mbsim_ros.sim.recording.recorder import Recorder, Recording, Tape, chosen_recorder
from mbsim_ros.sim.scenes.entity_controllers import EntityControllers

if TYPE_CHECKING:
    import rich.progress

    from mbsim_ros.sim.simulation import Simulation

CHUNK = 500  # steps in one compiled call: short enough for ctrl-C and the progress bar
SHOWN_AFTER = 1.0  # s of waiting

# `update(t, state)`, or called with the simulation; in a scene controllers of entities, by name
ControllerLike = Controller | Callable[["Simulation"], Returned] | Mapping[str, Controller]


def run(
    sim: Simulation, seconds: float, controller: ControllerLike | None, control_period: float | None,
    record: Recorder | Iterable[str] | bool | None, progress: bool | None,
) -> Recording | None:  # fmt: skip
    """Advance a simulation; see `Simulation.run`."""
    steps = nearest_steps("seconds", seconds, sim.dt_ns)
    if isinstance(controller, Mapping):
        controller = EntityControllers(sim, controller, control_period)
    period = steps_of_a_period(sim, controller, control_period)
    planner = controller if isinstance(controller, PlansAhead) and sim.can_follow else None
    recorder = chosen_recorder(record)
    tape = None if recorder is None else Tape(recorder, sim, steps)
    tau: Values | None = None
    motor: Values | None = None
    done = 0
    with RunBar(steps, progress) as bar:
        while done < steps:
            ahead = most_steps(sim, tape, done, steps)
            table = None
            if controller is not None and done % period == 0:
                if planner is not None and tape is None:  # a recording notes what acts at every instant
                    table = planned(sim, planner, ahead // period, period)
                if table is None:
                    tau, motor = act(sim, command_of(sim, controller))
                if tape is not None:
                    tape.log.note(done, tau, motor)
            if controller is not None:
                ahead = min(ahead, period - done % period) if table is None else len(table) * period
            try:
                if table is None:
                    sim.advance(ahead, tau, motor)
                else:
                    sim.follow(table, period)
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


def most_steps(sim: Simulation, tape: Tape | None, done: int, steps: int) -> int:
    """How many steps may be taken in one call before somebody wants to see the state."""
    ahead = min(CHUNK, steps - done)
    if tape is not None:
        ahead = min(ahead, tape.every - done % tape.every)
    if sim.watcher is not None:
        ahead = min(ahead, sim.watcher.most_steps())
    return ahead


def steps_of_a_period(sim: Simulation, controller: ControllerLike | None, control_period: float | None) -> int:
    """Steps between two questions: as given, as the controller wants it, or one."""
    if controller is not None and not (callable(controller) or hasattr(controller, "update")):
        raise ValueError(f"controller: expected something with update(t, state), or a callable, got {controller!r}")
    chosen = getattr(controller, "control_period", None) if control_period is None else control_period
    return 1 if chosen is None else whole_steps("control_period", chosen, sim.dt_ns)


def planned(sim: Simulation, controller: PlansAhead, periods: int, period: int) -> np.ndarray | None:
    """Targets of the motors for up to so many periods from now on, if the controller can tell them."""
    if periods < 2 or not controller.is_under_way(sim.coupling.name):
        return None
    return controller.ahead([(sim.time + k * period * sim.dt_ns) / SECOND for k in range(periods)])


def command_of(sim: Simulation, controller: ControllerLike) -> Command:
    """Ask a controller once."""
    asks = getattr(controller, "update", None)
    returned = controller(sim) if asks is None else asks(sim.seconds, sim.state())  # type: ignore[operator]
    try:
        return command_from(returned, sim.tau_names)
    except ValueError as error:
        raise ValueError(f"controller: {error}") from None


def act(sim: Simulation, command: Command) -> tuple[Values | None, Values | None]:
    """Set drives, coupling and pushes as a command says; returns the efforts of joints and motors that it adds.

    Targets of motors are of the coupling before, as over ROS, where both come with the answer to one state.
    """
    motor: Values | None
    if isinstance(command.motor, Targets):
        drives = _by_name(command.motor, sim.motor_names)
        motor = drives.pop("effort", None)
        if drives:
            sim.drive_motors(**drives)
    else:
        motor = command.motor
    if command.coupling is not None and command.coupling != sim.coupling.name:
        sim.couple(command.coupling)
    drives = _by_name(command, sim.tau_names)
    tau = drives.pop("effort", None)
    if drives:
        sim.drive(**drives)
    for link, push in (command.wrench or {}).items():
        sim.push(link, push[:3], push[3:])
    return tau, motor


def _by_name(targets: Targets, every: tuple[str, ...]) -> dict[str, Values]:
    """The parts of targets: as they are where they are of all names in order, by name where they are of some."""
    parts, names = targets.given(), targets.names
    if not names or names == every:
        return parts
    return {part: _mapping(part, names, values) for part, values in parts.items()}


def _mapping(part: str, names: tuple[str, ...], values: Values) -> Mapping[str, float]:
    if isinstance(values, Mapping):
        return values
    array = np.atleast_1d(np.asarray(values, dtype=float))
    if array.shape != (len(names),):
        raise ValueError(f"{part}: expected a number for each of the command's {len(names)} names, got {array.size}")
    return dict(zip(names, array.tolist(), strict=True))


class RunBar:
    """A bar on standard error, shown where somebody looks at it and only once a run takes longer than a second."""

    def __init__(self, steps: int, wanted: bool | None):
        self._steps, self._wanted = steps, wanted
        self._bar: rich.progress.Progress | None = None
        self._begin = time.monotonic()

    def __enter__(self) -> RunBar:
        if self._wanted and self._steps > 0:
            self._show()
        return self

    def update(self, done: int) -> None:
        """Say how many steps are done."""
        if self._bar is None:
            if self._wanted is not None or time.monotonic() - self._begin < SHOWN_AFTER or not sys.stderr.isatty():
                return
            self._show()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)

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
        self._bar.add_task("run", total=self._steps)
        self._bar.start()
