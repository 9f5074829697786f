# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A package made for the tests, and short ways to plan and run launch files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mbsim_ros.launcher.plan import LaunchPlan, plan_launch

# Writes what it was started with; parameter files are replaced by their content.
DUMP = """\
#!{python} -IS
import json, os, sys
open(os.environ["DUMP"], "a").write(json.dumps({{"argv": sys.argv[1:], "env": dict(os.environ)}}) + "\\n")
print("dumped"); print("to stderr", file=sys.stderr)
sys.exit(int(os.environ.get("CODE", "0")))
"""
# Sleeps until a signal; `stubborn` ignores the gentle ones, `parent` has a child that would outlive it.
SLEEP = """\
#!{python} -IS
import os, signal, subprocess, sys, time
if "stubborn" in sys.argv:
    signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGINT, lambda *a: (print("interrupted", flush=True), sys.exit(0)))
pids = [os.getpid()]
if "parent" in sys.argv:
    pids.append(subprocess.Popen(["sleep", "300"]).pid)
print("pids", *pids, flush=True)
time.sleep(300)
"""


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ament prefix with the package `probe` and its executables `dump` and `sleeper`."""
    prefix = tmp_path / "prefix"
    for folder in ("share/ament_index/resource_index/packages", "share/probe/launch", "lib/probe"):
        (prefix / folder).mkdir(parents=True)
    (prefix / "share/ament_index/resource_index/packages/probe").touch()
    for name, source in (("dump", DUMP), ("sleeper", SLEEP)):
        script = prefix / "lib/probe" / name
        script.write_text(source.format(python=sys.executable))
        script.chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{prefix}{os.pathsep}{os.environ.get('AMENT_PREFIX_PATH', '')}")
    monkeypatch.setenv("DUMP", str(tmp_path / "dump.jsonl"))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    return prefix


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a launch file from the elements inside <launch>."""

    def write(body: str, name: str = "test.launch.xml") -> Path:
        path = tmp_path / name
        path.write_text("<launch>\n" + textwrap.dedent(body).strip("\n") + "\n</launch>\n")
        return path

    return write


@pytest.fixture
def plan(prefix: Path, write: Callable[..., Path]) -> Callable[..., LaunchPlan]:
    """Plan a launch file given by its body; keyword arguments are its arguments."""

    def plan(body: str, **arguments: str) -> LaunchPlan:
        return plan_launch(write(body), arguments)

    return plan


@pytest.fixture
def expand(plan: Callable[..., LaunchPlan]) -> Callable[..., str]:
    """The text that an attribute becomes."""

    def expand(text: str, before: str = "", **arguments: str) -> str:
        quoted = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
        body = f'{before}<let name="result" value="{quoted}"/><node pkg="probe" exec="dump" args="$(var result)"/>'
        arguments_of_node = plan(body, **arguments).nodes[0].arguments
        return arguments_of_node[0] if arguments_of_node else ""

    return expand


@pytest.fixture
def launch(prefix: Path, write: Callable[..., Path]) -> Callable[..., subprocess.Popen[str]]:
    """Start `mbsim launch` on a launch file given by its body, as a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def launch(body: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "mbsim_ros", "launch", str(write(body)), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield launch
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def dumped(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    """What the started `dump` executables wrote, in the order of their end."""

    def dumped() -> list[dict[str, Any]]:
        return [json.loads(line) for line in (tmp_path / "dump.jsonl").read_text().splitlines()]

    return dumped
