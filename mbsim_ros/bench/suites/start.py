# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `start`: how long a user waits: for the import, for first calls, and once per version for the compiler."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table

IMPORT_LIMIT, FIRST_CALLS_LIMIT, COMPILATION_LIMIT = 0.5, 1.5, 40.0  # seconds
REPEATS = 5
CORE = "mbsim_ros, mbsim_ros.dynamics, mbsim_ros.model.assembly.builder, mbsim_ros.lie"

# Run in a fresh interpreter; wall-clock and CPU seconds.
IMPORT = """
import json, time
wall, cpu = time.perf_counter(), time.process_time()
import {modules}
print(json.dumps({{"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}}))
"""
CALLS = """
import json, time
import mbsim_ros.dynamics, mbsim_ros.model.assembly.builder, mbsim_ros.lie
from mbsim_ros.bench import warm_up
wall, cpu = time.perf_counter(), time.process_time()
calls = warm_up.compile_all()
times = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
print(json.dumps({**times, "calls": calls, "kernels": len(warm_up.kernels())}))
"""


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure imports, then everything's first call in an empty cache, then again in the cache that left."""
    repeats = 1 if options.quick else REPEATS
    progress.begin(2 * repeats + (1 if options.quick else 1 + repeats))
    result = SuiteResult(notes=["wall-clock seconds of fresh interpreters, medians"])
    summary = Table("start", ["", "wall s", "CPU s"])
    result.tables.append(summary)
    # Only the first has a goal: the rest comes when it is used, and most of it is the import of numba.
    for what, modules, limit in (
        ("import mbsim_ros", "mbsim_ros", IMPORT_LIMIT),
        ("import of the whole core", CORE, None),
    ):
        _add(result, what, [_run(IMPORT.format(modules=modules), progress, what) for _ in range(repeats)], limit)
    if options.quick:
        _add(result, "first calls", [_run(CALLS, progress, "first calls")], FIRST_CALLS_LIMIT)
        result.notes.append("--quick: compilation is not measured; first calls take the cache as it is")
        return result
    with tempfile.TemporaryDirectory() as cache:
        what = "compilation from nothing"
        cold = _run(CALLS, progress, what, cache)
        _add(result, f"{what}, {cold['kernels']} kernels", [cold], COMPILATION_LIMIT)
        what = "first call of every function, warm cache"
        warm = [_run(CALLS, progress, what, cache) for _ in range(repeats)]
        _add(result, what, warm, FIRST_CALLS_LIMIT)
    result.tables.append(_slowest(cold["calls"], warm))
    return result


def _run(code: str, progress: Progress, what: str, cache: str | None = None) -> dict[str, Any]:
    progress.step(what)
    environment = dict(os.environ)
    if cache is not None:
        environment.pop("NUMBA_CACHE_DIR", None)
        environment["XDG_CACHE_HOME"] = cache  # where mbsim_ros.jit keeps compiled kernels
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the measured interpreter failed:\n{done.stderr}")
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _add(result: SuiteResult, what: str, runs: list[dict[str, Any]], limit: float | None) -> None:
    """A row, a record and, where there is a limit, a goal from repeated runs."""
    wall, cpu = (statistics.median(run[clock] for run in runs) for clock in ("wall", "cpu"))
    result.tables[0].rows.append([what, f"{wall:.3f}", f"{cpu:.3f}"])
    record = {"what": what, "wall_s": wall, "cpu_s": cpu, "runs": len(runs)}
    result.measurements.append(record if "calls" not in runs[0] else {**record, "calls_s": runs[-1]["calls"]})
    if limit is not None:
        result.goals.append(BenchGoal(what, wall, limit, False, "s"))


def _slowest(cold: dict[str, float], warm: list[dict[str, Any]], rows: int = 12) -> Table:
    """The calls that take longest to compile, and what they take from the cache."""
    table = Table("slowest to compile", ["", "cold s", "warm s"])
    for name in sorted(cold, key=lambda name: -cold[name])[:rows]:
        cached = statistics.median(run["calls"][name] for run in warm)
        table.rows.append([name, f"{cold[name]:.2f}", f"{cached:.3f}"])
    return table
