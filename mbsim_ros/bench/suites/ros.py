# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `ros`: lockstep rounds over DDS, the walker's launch file, and what publishing a state costs. Real nodes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from mbsim_ros.bench.cases import WALKER
from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table
from mbsim_ros.executables import module_of
from mbsim_ros.launcher.discovery import discovery
from mbsim_ros.launcher.plan import find_launch_file, list_arguments

ROUNDS, QUICK_ROUNDS, REPEATS = 5000, 200, 3
PATIENCE = 300.0  # s: a first run compiles

PHYSICS = ("physics", f"robot_file:={WALKER}", "base:=floating", "gravity:=[0.0, 0.0, 0.0]", "sync:=lockstep",
           "real_time_factor:=0.0")  # fmt: skip
LOOP_ALONE, WITH_PHYSICS = "lockstep, our loop alone", "lockstep, our loop with physics"
LAUNCHED = "mbsim launch walker, three processes"
COMPOSED = "mbsim launch walker compose:=true, one process"
WALKS, QUICK_WALKS = (1.0, 21.0), (0.4, 1.2)  # s of simulated time: the longer one's start is that of the shorter
PUBLISHING = "publishing one state, nobody reads"
# What is measured → the node that gives states, and how the other one answers.
CASES = {
    LOOP_ALONE: (("bench_probe", "measure:=give_fast"), "fast"),
    "lockstep, rclpy's executor alone": (("bench_probe", "measure:=give_executor"), "executor"),
    WITH_PHYSICS: (PHYSICS, "fast"),
    "lockstep, our physics, rclpy's executor answers": (PHYSICS, "executor"),
}
FASTEST_PUBLISHING, SLOWEST_LOCKSTEP, SLOWEST_REAL_TIME = 60.0, 3000.0, 3.0
SLOWEST_LAUNCHED, SLOWEST_COMPOSED = 4.5, 12.0  # times real time


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure with the walker's 23 dofs at 1 ms, control at 500 Hz, and the walk as it is launched."""
    rounds, repeats, walks = (QUICK_ROUNDS, 1, QUICK_WALKS) if options.quick else (ROUNDS, REPEATS, WALKS)
    progress.begin((len(CASES) + 3) * repeats)
    result = SuiteResult(
        notes=["with physics: the walker's tree on hold in the air, 23 dofs, dt 1 ms, a state every 2 ms",
               "alone: states and answers of 17 joints, and nothing computed",
               f"launched: it walks, with its controller and its clutches, a state every {1e3 * _period():g} ms"]
    )  # fmt: skip
    table = Table("ROS", ["", "rounds/s", "real-time factor", "CPU µs"])
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(repeats):  # in turns, so that a slow phase of the machine meets all
        for name, (robot, answering) in CASES.items():
            progress.step(name)
            found.setdefault(name, []).append(_lockstep(robot, answering, rounds))
        progress.step(LAUNCHED)
        found.setdefault(LAUNCHED, []).append(_launched(*walks))
        progress.step(COMPOSED)
        found.setdefault(COMPOSED, []).append(_launched(*walks, "compose:=true"))
        progress.step("publishing")
        found.setdefault(PUBLISHING, []).append(_publishing(rounds))
    middle = {
        name: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for name, runs in found.items()
    }
    for name, at in middle.items():
        with_physics = name in (LAUNCHED, COMPOSED) or (name in CASES and CASES[name][0] == PHYSICS)
        table.rows.append([
            name,
            f"{at['rounds_per_second']:.0f}" if "rounds_per_second" in at else "",
            f"{at['real_time_factor']:.2f}" if with_physics else "",
            f"{at['microseconds']:.1f}" if "microseconds" in at else "",
        ])  # fmt: skip
    result.tables.append(table)
    result.measurements = [{"what": name, **values} for name, values in middle.items()]
    alone, whole, walker, publishing = (middle[name] for name in (LOOP_ALONE, WITH_PHYSICS, LAUNCHED, PUBLISHING))
    result.goals = [
        BenchGoal("lockstep rounds between two processes", alone["rounds_per_second"], SLOWEST_LOCKSTEP, True, "/s"),
        BenchGoal("the same with the physics of 23 dofs", whole["rounds_per_second"], SLOWEST_LOCKSTEP, True, "/s"),
        BenchGoal("real-time factor of 23 dofs at 1 ms", whole["real_time_factor"], SLOWEST_REAL_TIME, True),
        BenchGoal("real-time factor of the launched walker", walker["real_time_factor"], SLOWEST_LAUNCHED, True),
        BenchGoal("the same in one process", middle[COMPOSED]["real_time_factor"], SLOWEST_COMPOSED, True),
        BenchGoal("publishing one state", publishing["microseconds"], FASTEST_PUBLISHING, False, "µs"),
    ]
    return result


def _lockstep(robot: tuple[str, ...], answering: str, rounds: int) -> dict[str, float]:
    with _node(*robot), _node("bench_probe", f"measure:={answering}", f"rounds:={rounds}") as probe:
        return _answer(probe)


def _launched(shorter: float, longer: float, *more: str) -> dict[str, float]:
    """The walk of walker.launch.xml as fast as it goes; what two lengths have in common is the start."""
    taken = []
    for duration in (shorter, longer):
        arguments = ("real_time_factor:=0.0", "view:=false", f"duration:={duration}", *more)
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "mbsim_ros", "launch", "walker", *arguments],
            env=_environment(), capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        taken.append(time.perf_counter() - start)
        if done.returncode != 0:
            raise RuntimeError(f"the launched walker failed:\n{done.stdout}{done.stderr}")
    factor = (longer - shorter) / max(taken[1] - taken[0], 1e-3)
    return {"real_time_factor": factor, "rounds_per_second": factor / _period()}


def _period() -> float:
    """The control period of walker.launch.xml [s]."""
    arguments = {argument.name: argument.default for argument in list_arguments(find_launch_file("walker"))}
    return float(arguments["control_period"] or 0.0)


def _environment() -> dict[str, str]:
    return discovery({"ROS_DOMAIN_ID": "97", **os.environ}).environment


def _publishing(rounds: int) -> dict[str, float]:
    with _node("bench_probe", "measure:=publishing", f"rounds:={rounds}", f"robot_file:={WALKER}") as probe:
        return _answer(probe)


@contextlib.contextmanager
def _node(name: str, *parameters: str) -> Iterator[subprocess.Popen[str]]:
    """A node in a process of its own, ended at the end."""
    given = [word for parameter in parameters for word in ("-p", parameter)]
    process = subprocess.Popen(
        [sys.executable, "-m", module_of(name), "--ros-args", *given],
        env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _answer(probe: subprocess.Popen[str]) -> dict[str, float]:
    """What a probe printed."""
    try:
        out, error = probe.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the probe got no states within {PATIENCE:g} s") from None
    if probe.returncode != 0 or not out.strip():
        raise RuntimeError(f"the probe failed:\n{error}")
    return json.loads(out.splitlines()[-1])  # type: ignore[no-any-return]
