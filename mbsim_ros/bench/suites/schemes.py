# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `schemes`: every scheme on every robot of this package, launched by name: it runs, or its row says why not."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue

from mbsim_ros.bench.mbsim_process import DOMAIN
from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table
from mbsim_ros.bench.scheme_cells import REFUSED, CellResult, SchemeCell, cells_of, judged, robots_to_launch

QUICK = ("double_pendulum", "box, no ground", "double_spherical_pendulum")  # on which every scheme runs at least once
MOST_AT_ONCE = 4  # domains from 97 to 100: above 101 ports collide with those that systems give away
RAN_MARK, REFUSED_MARK, OTHERWISE_MARK = "●", "–", "?"


def run(options: Options, progress: Progress) -> SuiteResult:
    """Launch every cell in processes of its own, some at a time, each group in a ROS domain of its own."""
    robots = [robot for robot in robots_to_launch() if not options.quick or robot.name in QUICK]
    cells = [cell for robot in robots for cell in cells_of(robot)]
    progress.begin(len(cells))
    at_once = min(MOST_AT_ONCE, os.cpu_count() or 1)
    domains: SimpleQueue[int] = SimpleQueue()
    for k in range(at_once):
        domains.put(DOMAIN + k)

    def in_free_domain(cell: SchemeCell) -> CellResult:
        domain = domains.get()
        try:
            return judged(cell, domain)
        finally:
            domains.put(domain)

    results: list[CellResult] = []
    with ThreadPoolExecutor(at_once) as pool:
        for done in as_completed([pool.submit(in_free_domain, cell) for cell in cells]):
            results.append(done.result())
            progress.step(f"{results[-1].cell.robot.name}, {results[-1].cell.row.title}")
    return summary(results)


def summary(results: list[CellResult]) -> SuiteResult:
    """A table of what ran, what was refused in the words of its row, and what did otherwise."""
    cells = {(result.cell.robot.name, result.cell.row.title): result for result in results}
    robots = sorted({robot for robot, _ in cells})
    schemes = dict.fromkeys(title for _, title in sorted(cells, key=lambda key: cells[key].cell.row.name))
    table = Table("schemes on robots, launched", ["", *map(str, range(1, len(robots) + 1))])
    for scheme in schemes:
        table.rows.append([scheme, *(_shown(cells.get((robot, scheme))) for robot in robots)])
    result = SuiteResult([table])
    result.notes = [
        "; ".join(f"{k} {robot}" for k, robot in enumerate(robots, 1)),
        f"{RAN_MARK} ran, to a state of 1 s, and its bag replays; {REFUSED_MARK} refused, in the words of its row",
    ]
    otherwise = [each for each in results if not each.is_as_said]
    result.notes += [f"{each.cell.robot.name}, {each.cell.row.title}: {each.verdict}" for each in otherwise]
    result.measurements = [
        {"robot": each.cell.robot.name, "scheme": each.cell.row.title, "verdict": each.verdict,
         "as_said": each.is_as_said, "why_refused": each.cell.expected}
        for each in results
    ]  # fmt: skip
    result.goals = [BenchGoal("cells that do not as their row says", float(len(otherwise)), 0.0, False, "cells")]
    return result


def _shown(result: CellResult | None) -> str:
    if result is None or not result.is_as_said:
        return OTHERWISE_MARK
    return REFUSED_MARK if result.verdict == REFUSED else RAN_MARK
