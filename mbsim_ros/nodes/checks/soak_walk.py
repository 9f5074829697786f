# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The process of ``mbsim soak --walk``: the walker walks for long while its controllers are killed again and again.

As fast as it can, in lockstep, without a recorder. Every so many simulated seconds the controller or the clutch manager
is killed (kill -9) and started again. It has to walk on, its energy ledger has to close, and physics may not grow.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field

import numpy as np
from rich.console import Console

from mbsim_ros.cli.parts.plain_table import print_table
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.nodes.checks.soak_process import SoakProcess
from mbsim_ros.nodes.checks.soak_watcher import Watcher

NAMESPACE = f"/walk_{os.getpid()}"
VICTIMS = ("controller", "clutch_manager")
SETTLES = 30.0  # s of wall time in which a process gets the memory that it needs
GROWTH = 4.0  # MB that its memory may differ afterwards
LEAST_SPEED = 0.1  # m/s over all, of the 0.22 that are asked for
LEFT_OVER = 0.02  # of the energy that was turned over: what the ledger may not explain
PATIENCE = 100.0  # s


@dataclass
class SoakWalk:
    """What came of it."""

    kills: int = 0
    simulated: float = 0.0  # s
    distance: float = 0.0  # m, along the way
    states: int = 0
    not_finite: int = 0
    backward: int = 0
    residue: float = 0.0  # J
    turned_over: float = 0.0  # J
    memory: list[tuple[float, float]] = field(default_factory=list)  # s of wall time, MB
    stuck: list[str] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """Of physics' memory [MB], from the first quarter after it settled to the last."""
        used = [size for at, size in self.memory if at > SETTLES] or [0.0]
        quarter = max(1, len(used) // 4)
        return float(np.median(used[-quarter:]) - np.median(used[:quarter]))

    def problems(self) -> list[str]:
        """Everything that is not as it should be."""
        slow = self.distance < LEAST_SPEED * self.simulated
        return [
            *([f"walked {self.distance:.1f} m in {self.simulated:.0f} s"] if slow else []),
            *([f"{self.not_finite} states that are not finite"] if self.not_finite else []),
            *([f"{self.backward} stamps that go back"] if self.backward else []),
            *([f"ledger: {self.residue:.3g} J of {self.turned_over:.3g} J are not explained"]
              if not abs(self.residue) <= LEFT_OVER * self.turned_over else []),
            *([f"memory grew by {self.growth:.1f} MB"] if not self.growth <= GROWTH else []),
            *self.stuck,
        ]  # fmt: skip


def walk(seconds: float, kill_every: float) -> SoakWalk:
    """Walk this long [simulated s], with a kill every so often."""
    found, watcher, began = SoakWalk(), Watcher(NAMESPACE), time.monotonic()
    processes = {name: _start(name, seconds) for name in ("physics", *VICTIMS)}
    physics, next_kill = processes["physics"], kill_every
    last, heard = -1, time.monotonic()
    place: np.ndarray | None = None
    try:
        while physics.returncode is None:
            watcher.watch(0.2)
            found.memory.append((time.monotonic() - began, physics.memory))
            if watcher.stamp != last:
                last, heard = watcher.stamp, time.monotonic()
            elif time.monotonic() - heard > PATIENCE:
                found.stuck.append(f"nothing for {PATIENCE:g} s at {last} ns: {_ended(processes)}")
                break
            if watcher.place is not None:
                place = watcher.place if place is None else place
                if np.linalg.norm(watcher.place - place) > 0.5:  # it may turn: the way counts, not where it leads
                    found.distance += float(np.linalg.norm(watcher.place - place))
                    place = watcher.place
            if watcher.stamp >= next_kill * 1e9:
                victim = VICTIMS[found.kills % len(VICTIMS)]
                processes[victim].kill()
                processes[victim] = _start(victim, seconds)
                found.kills, next_kill = found.kills + 1, next_kill + kill_every
                watcher.strayed()
    finally:
        for name, process in processes.items():
            if not process.stop():
                found.stuck.append(f"{name} did not end")
        watcher.close()
    if physics.returncode != 0:
        found.stuck.append(f"physics ended with {physics.returncode}: {physics.written[-300:]}")
    found.simulated, found.states = watcher.stamp * 1e-9, watcher.states
    found.not_finite, found.backward = watcher.not_finite, watcher.backward
    found.residue, found.turned_over = (watcher.ledger.get(name, np.nan) for name in ("residue", "turned_over"))
    return found


def _start(name: str, seconds: float) -> SoakProcess:
    share = share_directory("mbsim_ros")
    sidecar = f"sidecar:={share}/config/walker.mbsim.yaml"
    module, parameters = {
        "physics": ("physics", [
            f"robot_file:={share}/urdf/walker.urdf.xacro", sidecar, "sync:=lockstep", "coupling:=normal",
            "lockstep_participants:=[controller, coupling]", "lockstep_timeout:=0.5", "real_time_factor:=0.0",
            f"terrain:={share}/config/terrain_flat.yaml", f"duration:={seconds}", "control_period:=0.004",
        ]),
        "controller": ("walker_controller", [sidecar, "forward:=0.22", "whole_state:=true"]),
        "clutch_manager": ("clutch_manager", [sidecar, "whole_state:=true"]),
    }[name]  # fmt: skip
    given = [word for parameter in parameters for word in ("-p", parameter)]
    return SoakProcess(module, ["-r", f"__ns:={NAMESPACE}", "-r", f"__node:={name}", *given])


def _ended(processes: dict[str, SoakProcess]) -> str:
    gone = [f"{name} ended with {process.returncode}" for name, process in processes.items() if process.returncode]
    return ", ".join(gone) or "all processes live"


def main() -> int:
    """Arguments: simulated seconds, and seconds between kills."""
    seconds, kill_every = (float(json.loads(word)) for word in sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # its processes end with it
    begin = time.monotonic()
    found = walk(seconds, kill_every)
    rows = (
        ("kills", str(found.kills)),
        ("simulated time [s]", f"{found.simulated:.1f}"),
        ("wall time [s]", f"{time.monotonic() - begin:.1f}"),
        ("walked [m]", f"{found.distance:.1f}"),
        ("states seen", str(found.states)),
        ("states with a NaN or an infinity", str(found.not_finite)),
        ("stamps that went back", str(found.backward)),
        ("ledger: energy turned over [J]", f"{found.turned_over:.4g}"),
        ("ledger: not explained [J]", f"{found.residue:.4g}"),
        ("memory of physics [MB]", f"{max((size for _, size in found.memory), default=0.0):.1f}"),
        ("it grew by [MB]", f"{found.growth:.2f}"),
    )
    console = Console(highlight=False)
    print_table(console, "soak --walk", ("", ">"), [(row, "") for row in rows])
    problems = found.problems()
    if problems:
        console.print(f"[red]Not well: {'; '.join(problems)}.[/]", markup=True)
        return 1
    console.print("[green]All is well.[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
