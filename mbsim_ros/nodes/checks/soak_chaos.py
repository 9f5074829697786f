# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One recorded run of the walker in which processes are stopped, killed and started again; then its bags are replayed.

Every kind of process is stopped (SIGSTOP) for longer or shorter than lockstep waits for it; controller, clutch manager
and recorder are killed (kill -9) and come back, too; links are pushed, friction changes, the simulation is reset. What
happened follows from the seed, when exactly from the machine. A recorder that comes back begins another bag.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mbsim_ros.bags.bag_reader import BagError, BagReader
from mbsim_ros.bags.recorded_run import NoRun
from mbsim_ros.bags.replay import replay
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.nodes.checks.soak_process import SoakProcess
from mbsim_ros.nodes.checks.soak_watcher import Watcher

NAMESPACE = "/chaos"
DURATION, PERIOD = 4.0, 4_000_000  # simulated s; ns
TIMEOUT = 0.7  # s after which a participant is missing
DISTURBANCES = 4
LONGEST_STOP, LONGEST_REST, LONGEST_ABSENCE = 1.6, 0.8, 0.5  # s
PATIENCE = 100.0  # s for a start on a busy machine
STOPPED = ("physics", "controller", "clutch_manager", "record")
KILLED = STOPPED[1:]
FIRST_BAG = "bag_0"


@dataclass
class ChaosResult:
    """What came of a run."""

    seed: int
    disturbances: list[str] = field(default_factory=list)
    bags: int = 0
    empty: int = 0  # of recorders that were killed before they had a state
    states: int = 0  # that were compared, bit for bit
    untold: int = 0  # in a bag from before its recorder listened to the journal
    missing: int = 0  # between the first and the last of a bag
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0  # of wall time


def chaos_run(seed: int, folder: Path) -> ChaosResult:
    """Run, disturb, end, replay. Bags of a run that went well are deleted."""
    begin, chance, result = time.monotonic(), random.Random(seed), ChaosResult(seed)
    walker = _Walker(folder / f"run_{seed}")
    try:
        if walker.wait(lambda: walker.watcher.stamp > 0):
            _disturb(walker, chance, result)
            if not walker.wait(lambda: walker.processes["physics"].returncode is not None, needed=()):
                result.problems.append(f"physics did not end, it is at {walker.watcher.stamp} ns")
        else:
            result.problems.append(f"time did not begin: {walker.why()}")
    finally:
        result.problems += walker.end()
    for bag in walker.bags:
        _check_bag(bag, is_last=bag == walker.bags[-1], result=result)
    if result.bags == 0:
        result.problems.append("no bag has a state")
    if not result.problems:
        shutil.rmtree(walker.folder)
    else:
        (walker.folder / "words.txt").write_text(walker.words())
    result.seconds = round(time.monotonic() - begin, 1)
    return result


def _disturb(walker: _Walker, chance: random.Random, result: ChaosResult) -> None:
    for _ in range(DISTURBANCES):
        walker.watcher.watch(chance.uniform(0.0, LONGEST_REST))
        kind = chance.choice(("stop", "stop", "kill", "kill", "meddle"))
        if walker.processes["physics"].returncode is not None:
            return
        if kind == "stop":
            victim, seconds = chance.choice(STOPPED), chance.uniform(0.1, LONGEST_STOP)
            result.disturbances.append(f"stop {victim} {seconds:.2f} s")
            walker.processes[victim].signal(signal.SIGSTOP)
            walker.watcher.watch(seconds)
            walker.processes[victim].signal(signal.SIGCONT)
        elif kind == "kill":
            victim = chance.choice(KILLED)
            result.disturbances.append(f"kill {victim}")
            walker.processes[victim].kill()
            walker.watcher.watch(chance.uniform(0.0, LONGEST_ABSENCE))
            walker.start(victim)
        else:
            what = chance.choice(("push", "friction", "reset"))
            result.disturbances.append(what)
            walker.watcher.meddle(what, chance.uniform(0.2, 1.0))


def _check_bag(bag: Path, is_last: bool, result: ChaosResult) -> None:
    try:
        stamps = [message.time for message in BagReader(bag).messages([f"{NAMESPACE}/joint_states"])]
    except BagError:
        stamps = []
    try:
        if not stamps:
            raise NoRun("no states")
        (report,) = replay(bag)
    except NoRun as error:  # its recorder was killed before it had anything, or came after the end
        result.empty += 1
        result.problems += [f"{bag.name}: {error}"] if bag.name == FIRST_BAG and is_last else []
        return
    except ValueError as error:
        result.problems.append(f"{bag.name}: {error}")
        return
    result.bags += 1
    result.states += report.states
    result.untold += report.untold
    result.missing += report.left_out
    if not report.is_same:
        result.problems.append(f"{bag.name}: {report.difference}")
    if report.left_out:
        result.problems.append(f"{bag.name}: {report.left_out} states are missing")
    if is_last and stamps[-1] < round(DURATION * 1e9):
        result.problems.append(f"{bag.name}: the last state is of {stamps[-1]} ns")


class _Walker:
    """The four processes, and a watcher that drives the run."""

    def __init__(self, folder: Path):
        self.folder, self.bags = folder, list[Path]()
        folder.mkdir(parents=True)
        self._all: list[SoakProcess] = []
        self.processes: dict[str, SoakProcess] = {}
        self.watcher = Watcher(NAMESPACE)
        for name in STOPPED:
            self.start(name)

    def start(self, name: str) -> None:
        """Start a process, or another of its kind."""
        share = share_directory("mbsim_ros")
        sidecar = f"sidecar:={share}/config/walker.mbsim.yaml"
        if name == "record":
            self.bags.append(self.folder / f"bag_{len(self.bags)}")
        module, parameters = {
            "physics": ("physics", [
                f"robot_file:={share}/urdf/walker.urdf.xacro", sidecar, "sync:=lockstep", "coupling:=normal",
                "lockstep_participants:=[controller, coupling, record]", f"lockstep_timeout:={TIMEOUT}",
                f"terrain:={share}/config/terrain_flat.yaml", f"duration:={DURATION}", "control_period:=0.004",
            ]),
            "controller": ("walker_controller", [sidecar, "forward:=0.22", "whole_state:=true"]),
            "clutch_manager": ("clutch_manager", [sidecar, "whole_state:=true"]),
            "record": ("record", [f"out:={self.bags[-1] if self.bags else ''}", "lockstep:=true"]),
        }[name]  # fmt: skip
        given = [word for parameter in parameters for word in ("-p", parameter)]
        process = SoakProcess(module, ["-r", f"__ns:={NAMESPACE}", "-r", f"__node:={name}", *given])
        self.processes[name] = process
        self._all.append(process)

    def wait(self, condition: Callable[[], bool], needed: tuple[str, ...] = STOPPED) -> bool:
        """Until the condition holds, as long as those who are needed for it live."""
        ended = lambda: any(self.processes[name].returncode is not None for name in needed)  # noqa: E731
        return self.watcher.wait(lambda: condition() or ended(), PATIENCE) and condition()

    def why(self) -> str:
        """Who has ended."""
        ended = [
            f"{name} ended with {process.returncode}"
            for name, process in self.processes.items()
            if process.returncode is not None
        ]
        return ", ".join(ended) or f"nothing for {PATIENCE:g} s"

    def end(self) -> list[str]:
        """End all, physics first; says who did not end, or failed."""
        found = []
        if self.processes["physics"].returncode is not None and self.processes["physics"].returncode != 0:
            found.append(f"physics ended with {self.processes['physics'].returncode}")
        for name, process in self.processes.items():
            process.signal(signal.SIGCONT)
            if not process.stop():
                found.append(f"{name} did not end")
        self.watcher.close()
        return found

    def words(self) -> str:
        """All that was written."""
        return "\n".join(f"== {process.module}\n{process.written}" for process in self._all)


def main() -> int:
    """Arguments: seed, folder. Prints the result as JSON."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # its processes end with it
    result: Any = chaos_run(int(sys.argv[1]), Path(sys.argv[2]))
    print(json.dumps(asdict(result)), flush=True)
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
