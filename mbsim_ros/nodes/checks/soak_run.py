# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Kill the arm's controller at random moments, again and again, and see whether the simulation minds."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.nodes.checks.soak_process import SoakProcess
from mbsim_ros.nodes.checks.soak_watcher import Watcher

NAMESPACE, CONTROLLER = f"/soak_{os.getpid()}", "computed_torque"
MISSING = f"no answer from {NAMESPACE}/{CONTROLLER}: hold until it is back"
BACK = "all participants are back"
PATIENCE = 100.0  # s: a first start on a busy machine compiles
AT_WORK = 20  # commands that show that a controller is back at its work
LONGEST = 1.0  # s between that and its end
FURTHEST = 0.1  # rad that a joint may move while it holds; it has to be stopped first, which takes 0.04

PHYSICS_PARAMETERS = (
    "sync:=lockstep", f"lockstep_participants:=[{CONTROLLER}]", "lockstep_timeout:=0.5", "real_time_factor:=0.0",
    "diagnostics_period:=0.1",
)  # fmt: skip
# about where the arm stands at first, and not about where the one before was killed: it would wander off
CONTROLLER_PARAMETERS = ("position:=[0.0, 0.4, 1.2, 0.3, 0.0, 0.0]", "use_sim_time:=true")


@dataclass
class SoakFindings:
    """What came of it."""

    kills: int = 0
    named: int = 0  # kills after which physics said who is missing
    resumed: int = 0  # starts after which the controller was back at work
    states: int = 0
    not_finite: int = 0
    backward: int = 0
    moved: float = 0.0  # rad, the furthest of a joint that was to hold
    simulated: float = 0.0  # s
    stuck: list[str] = field(default_factory=list)
    written: str = ""  # by physics

    def problems(self, wanted: int) -> list[str]:
        """Everything that is not as it should be after this many kills were wanted."""
        held = self.moved <= FURTHEST
        return [
            *([] if self.kills == wanted else [f"{self.kills} kills, not {wanted}"]),
            *([] if self.named == self.kills else [f"not named {self.kills - self.named} times"]),
            *([] if self.resumed == self.kills + 1 else [f"resumed {self.resumed} times, not {self.kills + 1}"]),
            *([f"{self.not_finite} states that are not finite"] if self.not_finite else []),
            *([f"{self.backward} stamps that go back"] if self.backward else []),
            *([] if held else [f"moved {self.moved:.2f} rad where it was to hold"]),
            *self.stuck,
        ]


def soak(kills: int, seed: int, progress: Callable[[int], None] = lambda _: None) -> SoakFindings:
    """Kill the controller this many times while it works; progress is told how many there have been."""
    found = SoakFindings()
    watcher = Watcher(NAMESPACE)
    processes: list[SoakProcess] = []
    try:
        for problem in _kill_again_and_again(found, watcher, processes, kills, random.Random(seed), progress):
            found.stuck.append(problem)
            break
    finally:
        _end(found, processes)
        watcher.close()
    found.states, found.not_finite, found.backward = watcher.states, watcher.not_finite, watcher.backward
    found.simulated = watcher.stamp * 1e-9
    return found


def _kill_again_and_again(
    found: SoakFindings, watcher: Watcher, processes: list[SoakProcess], kills: int, moments: random.Random,
    progress: Callable[[int], None],
) -> Iterator[str]:  # fmt: skip
    """Yields what never came; whoever runs it then ends."""
    physics = _physics()
    processes.append(physics)
    for number in range(kills + 1):
        before, seen, backs = watcher.commands, watcher.states, physics.said(BACK)
        controller = _controller()
        processes.append(controller)

        def works(before: int = before, seen: int = seen, backs: int = backs, first: bool = number == 0) -> bool:
            is_back = first or physics.said(BACK) > backs
            return is_back and watcher.states > seen and watcher.commands > before + AT_WORK

        if not _wait(watcher, works, physics, controller):
            yield f"start {number + 1} of the controller: {_why(physics, controller)}"
        found.moved = max(found.moved, watcher.strayed())
        found.resumed += 1
        if number == kills:
            return
        watcher.watch(LONGEST * moments.random() ** 2)  # more often soon after it came back than later
        controller.kill()
        found.kills += 1
        if not _wait(watcher, lambda: physics.said(MISSING) > physics.said(BACK), physics):
            yield f"kill {number + 1}, to be noticed: {_why(physics)}"
        found.named += 1
        progress(found.kills)


def _wait(watcher: Watcher, condition: Callable[[], bool], *needed: SoakProcess) -> bool:
    """Until the condition holds, as long as those who are needed for it live."""
    ended = lambda: any(process.returncode is not None for process in needed)  # noqa: E731
    return watcher.wait(lambda: condition() or ended(), PATIENCE) and not ended()


def _why(*needed: SoakProcess) -> str:
    """What kept them from it."""
    ended = [
        f"{process.module} ended with {process.returncode}" for process in needed if process.returncode is not None
    ]
    last = [line for process in needed if process.returncode is not None for line in process.written.splitlines()[-1:]]
    return ", ".join([*ended, *last]) or f"nothing for {PATIENCE:g} s"


def _end(found: SoakFindings, processes: list[SoakProcess]) -> None:
    """End what still runs as ctrl-C does, the controllers first; note who did not, or failed."""
    names = ["physics", *(f"controller {number + 1}" for number in range(len(processes) - 1))]
    for name, process in reversed(list(zip(names, processes, strict=True))):
        ran = process.returncode is None
        if not process.stop():
            found.stuck.append(f"{name} did not end")
        elif (ran or name == "physics") and process.returncode != 0:
            found.stuck.append(f"{name} ended with {process.returncode}")
    found.written = processes[0].written if processes else ""


def _physics() -> SoakProcess:
    robot = share_directory("mbsim_ros") / "urdf/arm.urdf.xacro"
    parameters = (f"robot_file:={robot}", *PHYSICS_PARAMETERS)
    return SoakProcess("physics", _arguments("physics", parameters))


def _controller() -> SoakProcess:
    file = share_directory("mbsim_ros") / "config/arm_sine.yaml"
    return SoakProcess(CONTROLLER, [*_arguments(CONTROLLER, CONTROLLER_PARAMETERS), "--params-file", str(file)])


def _arguments(name: str, parameters: tuple[str, ...]) -> list[str]:
    given = [word for parameter in parameters for word in ("-p", parameter)]
    return ["-r", f"__ns:={NAMESPACE}", "-r", f"__node:={name}", *given]
