# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `energy`: whether fast robots make energy from nothing; thirty robots of others, by speed and by step.

Not a matter of speed, but measured beside it: `mbsim bench energy --json FILE` is 1,050 runs of ten seconds, on all
cores, each robot in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from dataclasses import asdict

from mbsim_ros.bench.free_flight import LARGEST_ERROR, SPEEDS, STEPS, Flight, fly, load_floating, plan
from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table
from mbsim_ros.bench.robot_data import ROBOTS, find_robot, robots_folder

QUICK_ROBOTS, QUICK_SECONDS, SECONDS = ("go2", "ur5"), 0.5, 10.0


def run(options: Options, progress: Progress) -> SuiteResult:
    """All flights of all robots, and tables by speed and step and by robot."""
    if robots_folder() is None:
        return SuiteResult(notes=["example-robot-data is not installed: pip install example-robot-data"])
    robots = QUICK_ROBOTS if options.quick else tuple(ROBOTS)
    seconds = QUICK_SECONDS if options.quick else SECONDS
    progress.begin(len(robots))
    flights: list[Flight] = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(len(robots), os.cpu_count() or 1)) as pool:
        tasks = [(number, robot, seconds) for number, robot in enumerate(robots)]
        for found in pool.imap_unordered(fly_robot, tasks):
            progress.step(found[0].robot)
            flights += found
    flights.sort(key=lambda flight: (flight.robot, flight.speed, flight.dt))
    return summary(flights)


def fly_robot(task: tuple[int, str, float]) -> list[Flight]:
    """All flights of one robot."""
    number, robot, seconds = task
    path = find_robot(robot)
    assert path is not None
    model = load_floating(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [fly(model, flight, seconds) for flight in plan([robot], seed=number)]


def summary(flights: list[Flight]) -> SuiteResult:
    """Tables of the worst energy errors and of the runs that ended."""
    worst = max(flight.worst for flight in flights)
    ended = [flight for flight in flights if flight.ended is not None]
    result = SuiteResult(measurements=[asdict(flight) for flight in flights])
    result.tables = [_by_speed_and_step(flights), _by_robot(flights)]
    result.goals = [
        BenchGoal("worst energy error of a state given out", worst, LARGEST_ERROR, at_least=False, unit=""),
        BenchGoal(
            "states that are no numbers", sum(not flight.is_finite for flight in flights), 0, at_least=False, unit="",
        ),
        BenchGoal(
            "runs that ended without a dt that does", sum(flight.proposed_dt is None for flight in ended), 0,
            at_least=False, unit="",
        ),
    ]  # fmt: skip
    result.notes = [f"{len(flights)} runs, {len(ended)} ended early", *(flight.message for flight in ended[:5])]
    return result


def _by_speed_and_step(flights: list[Flight]) -> Table:
    table = Table("worst energy error, and the part of the steps that were taken in parts", ["rad/s \\ dt"])
    table.columns += [f"{1e3 * dt:g} ms" for dt in STEPS]
    for speed in SPEEDS:
        row = [f"{speed:g}"]
        for dt in STEPS:
            cell = [flight for flight in flights if (flight.speed, flight.dt) == (speed, dt)]
            row.append(_cell(cell))
        table.rows.append(row)
    return table


def _by_robot(flights: list[Flight]) -> Table:
    table = Table("by robot", ["robot", "worst energy error", "in parts", "ended early"])
    for robot in sorted({flight.robot for flight in flights}):
        own = [flight for flight in flights if flight.robot == robot]
        worst, parts = _cell(own).split(", ")
        table.rows.append([robot, worst, parts, str(sum(flight.ended is not None for flight in own))])
    return table


def _cell(flights: list[Flight]) -> str:
    steps = sum(flight.steps for flight in flights)
    parts = sum(flight.in_parts for flight in flights) / max(steps, 1)
    return f"{max(flight.worst for flight in flights):.1e}, {100.0 * parts:.2g} %"
