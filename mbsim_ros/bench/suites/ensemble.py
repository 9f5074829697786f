# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `ensemble`: walkers by the thousand, on one core and on all, beside mujoco.rollout with as many threads."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from dataclasses import dataclass, field
from typing import Protocol

from mbsim_ros.bench.peers.mujoco import Settings
from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table
from mbsim_ros.bench.timing import growth_exponent
from mbsim_ros.bench.walker.ensembles import MujocoWalkers, OurWalkers, Spinners
from mbsim_ros.bench.walker.sides import Fallen
from mbsim_ros.ensemble.lanes import usable_cores

MEMBERS, QUICK_MEMBERS = 1024, 32
SIZES, QUICK_SIZES = (1, 4, 16, 64, 256, 1024, 4096), (1, 4, 16)
ROWS, QUICK_ROWS = 50, 5  # of the gait in a round, two steps each
ROUNDS, QUICK_ROUNDS = 9, 2
SCALING, FASTER, RATE, EXPONENT, MEMORY = 1.85, 2.0, 1e5, 1.05, 100.0  # goals; kB
PEERS = [(Settings(), False), (Settings("implicitfast"), False), (Settings("implicitfast"), True)]


class Walkers(Protocol):
    """What takes so many steps in a round."""

    name: str
    steps: int

    def run(self) -> None:
        """Take a round."""


@dataclass
class RoundTimes:
    """Seconds a step by the clock and of the processor, one entry a round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Steps a second, in the middle of the rounds."""
        return 1.0 / statistics.median(self.wall)

    @property
    def cpu_us(self) -> float:
        """Microseconds of a processor for a step, in the middle of the rounds."""
        return 1e6 * statistics.median(self.cpu)


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure everything."""
    threads = max(2, usable_cores())
    members, rows, rounds = (QUICK_MEMBERS, QUICK_ROWS, QUICK_ROUNDS) if options.quick else (MEMBERS, ROWS, ROUNDS)
    sizes = QUICK_SIZES if options.quick else SIZES
    progress.begin(2 + len(sizes))
    progress.step(f"{members} walkers, made")
    sides: list[Walkers] = [OurWalkers(members, each, rows) for each in (1, threads)]
    sides += [Spinners(1), Spinners(threads)]
    if options.peers:
        sides += _peers(members, threads, rows)
    progress.step(f"{members} walkers, walking")
    found = take_turns(sides, rounds)
    result = SuiteResult(notes=[
        "steps/s by the clock, CPU µs of all threads together; medians of rounds in turns",
        "arithmetic: what as many threads get from this machine without memory and Python, in rounds beside the others",
    ])  # fmt: skip
    _add(result, members, threads, found)
    times = {}
    for size in sizes:
        progress.step(f"{size} walkers")
        times[size] = round_cpu(OurWalkers(size, 1, rows), rounds)
    _add_growth(result, times, memory_of_a_member())
    return result


def take_turns(sides: list[Walkers], rounds: int) -> dict[str, RoundTimes]:
    """Rounds of all sides in turns, the first not counted."""
    found = {side.name: RoundTimes() for side in sides}
    for each in range(rounds + 1):
        for side in sides:
            wall, cpu = time.perf_counter(), time.process_time()
            side.run()
            taken = time.perf_counter() - wall, time.process_time() - cpu
            if each > 0:
                found[side.name].wall.append(taken[0] / side.steps)
                found[side.name].cpu.append(taken[1] / side.steps)
    return found


def round_cpu(walkers: OurWalkers, rounds: int) -> float:
    """CPU seconds of a round of all members on one thread: the median."""
    found = take_turns([walkers], rounds)[walkers.name]
    return statistics.median(found.cpu) * walkers.steps


def memory_of_a_member(few: int = 8, many: int = 40) -> float:
    """kB that each further member takes, after a rollout."""
    taken = []
    for n in (few, many):
        tracemalloc.start()
        walkers = OurWalkers(n, 1, 1)
        walkers.run()
        taken.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    return (taken[1] - taken[0]) / (many - few) / 1e3


def _peers(members: int, threads: int, rows: int) -> list[Walkers]:
    """MuJoCo's rollouts of those setups that walk."""
    made: list[Walkers] = []
    for settings, coupled in PEERS:
        try:
            side = MujocoWalkers(members, threads, rows, settings, coupled)
            side.run()
        except Fallen:
            continue
        made.append(side)
    return made


def _add(result: SuiteResult, members: int, threads: int, found: dict[str, RoundTimes]) -> None:
    """A table, records and goals of the walk."""
    table = Table(f"{members:,} walkers walking", ["who", "steps/s", "CPU µs a step", "± %"])
    for name, each in found.items():
        spread = 50.0 * (max(each.wall) - min(each.wall)) / statistics.median(each.wall)
        table.rows.append([name, f"{each.rate:,.0f}", f"{each.cpu_us:.3g}", f"{spread:.0f}"])
        result.measurements.append({
            "case": "walkers", "who": name, "members": members, "steps_per_s": each.rate, "cpu_us": each.cpu_us,
        })  # fmt: skip
    result.tables.append(table)
    one, several = found["ours, 1 thread"], found[f"ours, {threads} threads"]
    machine = found[f"arithmetic, {threads} threads"].rate / found["arithmetic, 1 thread"].rate
    result.notes.append(f"{threads} threads of arithmetic alone were {machine:.2f} times as fast as one")
    result.goals += [
        BenchGoal(f"{threads} threads against one", several.rate / one.rate, SCALING, True),
        BenchGoal("walker steps a second", several.rate, RATE, True, ""),
    ]
    peers = [each for name, each in found.items() if name.startswith("MuJoCo")]
    if peers:
        fastest = max(peers, key=lambda each: each.rate)
        result.goals.append(BenchGoal("against the fastest mujoco.rollout", several.rate / fastest.rate, FASTER, True))


def _add_growth(result: SuiteResult, times: dict[int, float], memory: float) -> None:
    """A table, records and goals of the growth with members."""
    exponent = growth_exponent(times)
    table = Table(f"time with members: exponent {exponent:.3f}", ["members", "CPU ms a round", "µs each"])
    for size, seconds in times.items():
        table.rows.append([str(size), f"{1e3 * seconds:.4g}", f"{1e6 * seconds / size:.4g}"])
        result.measurements.append({"case": "growth", "members": size, "cpu_s": seconds})
    result.tables.append(table)
    result.measurements.append({"case": "memory", "kb": memory})
    result.goals += [
        BenchGoal("exponent of time with members", exponent, EXPONENT, False, ""),
        BenchGoal("memory a member", memory, MEMORY, False, " kB"),
    ]
