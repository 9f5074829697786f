"""Suite `ros`: lockstep rounds between two processes over DDS, and what publishing a state costs. Real nodes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from mbsim_ros.bench.cases import WALKER
from mbsim_ros.bench.result import Goal, Options, Progress, SuiteResult, Table

ROUNDS, QUICK_ROUNDS, REPEATS = 5000, 200, 3
PATIENCE = 300.0  # s: a first run compiles
FASTEST_PUBLISHING, SLOWEST_LOCKSTEP, SLOWEST_REAL_TIME = 60.0, 2700.0, 3.0


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure with the walker's 23 dofs at 1 ms and control at 500 Hz."""
    rounds, repeats = (QUICK_ROUNDS, 1) if options.quick else (ROUNDS, REPEATS)
    progress.begin(3 * repeats)
    result = SuiteResult(notes=["the walker's tree on hold in the air, 23 dofs, dt 1 ms, a state every 2 ms"])
    table = Table("ROS", ["", "rounds/s", "real-time factor", "CPU µs"])
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(repeats):  # in turns, so that a slow phase of the machine meets all
        for loop in ("fast", "executor"):
            progress.step(f"lockstep, {loop}")
            found.setdefault(loop, []).append(_lockstep(loop, rounds))
        progress.step("publishing")
        found.setdefault("publishing", []).append(_publishing(rounds))
    middle = {
        name: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for name, runs in found.items()
    }
    for loop, name in (("fast", "lockstep, our loop"), ("executor", "lockstep, rclpy's executor in the controller")):
        at = middle[loop]
        table.rows.append([name, f"{at['rounds_per_second']:.0f}", f"{at['real_time_factor']:.2f}", ""])
    table.rows.append(["publishing one state, nobody reads", "", "", f"{middle['publishing']['microseconds']:.1f}"])
    result.tables.append(table)
    result.measurements = [{"what": name, **values} for name, values in middle.items()]
    result.goals = [
        Goal(
            "lockstep rounds between two processes", middle["fast"]["rounds_per_second"], SLOWEST_LOCKSTEP, True, "/s"
        ),
        Goal("real-time factor of 23 dofs at 1 ms", middle["fast"]["real_time_factor"], SLOWEST_REAL_TIME, True),
        Goal("publishing one state", middle["publishing"]["microseconds"], FASTEST_PUBLISHING, False, "µs"),
    ]
    return result


def _lockstep(loop: str, rounds: int) -> dict[str, float]:
    parameters = [f"robot_file:={WALKER}", "base:=floating", "gravity:=[0.0, 0.0, 0.0]", "sync:=lockstep"]
    with (
        _node("physics", *parameters, "real_time_factor:=0.0"),
        _node("bench_probe", f"measure:={loop}", f"rounds:={rounds}") as probe,
    ):
        return _answer(probe)


def _publishing(rounds: int) -> dict[str, float]:
    with _node("bench_probe", "measure:=publishing", f"rounds:={rounds}", f"robot_file:={WALKER}") as probe:
        return _answer(probe)


@contextlib.contextmanager
def _node(name: str, *parameters: str) -> Iterator[subprocess.Popen[str]]:
    """A node in a process of its own, ended at the end."""
    given = [word for parameter in parameters for word in ("-p", parameter)]
    environment = {"ROS_DOMAIN_ID": "97", **os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    process = subprocess.Popen(
        [sys.executable, "-m", f"mbsim_ros.nodes.{name}", "--ros-args", *given],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
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


def _answer(probe: subprocess.Popen[str]) -> dict[str, Any]:
    """What a probe printed."""
    try:
        out, error = probe.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the probe got no states within {PATIENCE:g} s") from None
    if probe.returncode != 0 or not out.strip():
        raise RuntimeError(f"the probe failed:\n{error}")
    return json.loads(out.splitlines()[-1])  # type: ignore[no-any-return]
