# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A robot as it is launched, recorded in lockstep by real nodes; its bag is replayed here, without its meshes."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

from mbsim_ros.bags.replay import replay
from mbsim_ros.bench.robot_data import package_dirs
from mbsim_ros.launcher.discovery import discovery

SAME = "bit for bit"
PATIENCE = 300.0  # s for a launch, start and all


def replayed(path: Path, seconds: float) -> str:
    """SAME, or how the replay of a launch differs from what was recorded, or why there is none."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bag = Path(folder) / "bag"
        try:
            _launch(path, bag, seconds)
            reports = replay(bag)
        except (ValueError, RuntimeError, subprocess.TimeoutExpired) as error:
            return f"no replay: {error}"
    (report,) = reports
    if report.difference is not None:
        return f"differs {report.difference}"
    if report.tolerance or report.left_out or report.untold or report.seconds < seconds:
        return f"replayed in part: {report.states} states of {report.seconds:g} s, {'; '.join(report.notes)}"
    return SAME


def _launch(path: Path, bag: Path, seconds: float) -> None:
    """Hold the robot on the floor for a while, as fast as it goes: physics, controller and recorder."""
    arguments = {
        "robot": path, "package_dirs": ":".join(map(str, package_dirs(path))), "terrain": "flat", "duration": seconds,
        "real_time_factor": 0.0, "view": "false", "record": "true", "bag": bag,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "mbsim_ros", "launch", "simulate", *(f"{key}:={arguments[key]}" for key in arguments)],
        env=discovery({"ROS_DOMAIN_ID": "97", **os.environ}).environment,
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"the launch ended with {done.returncode}: {done.stdout.strip().splitlines()[-1:]}")
