# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A robot as it is launched, recorded in lockstep by real nodes, and its bag replayed without its meshes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from mbsim_ros.bench.mbsim_process import run_mbsim
from mbsim_ros.bench.robot_data import package_dirs

SAME = "bit for bit"


def replayed(path: Path, seconds: float) -> str:
    """SAME, or how the replay of a launch differs from what was recorded, or why there is none."""
    arguments = {
        "robot": path, "package_dirs": ":".join(map(str, package_dirs(path))), "terrain": "flat", "duration": seconds,
        "real_time_factor": 0.0, "view": "false", "record": "true",
    }  # fmt: skip
    with TemporaryDirectory() as folder:
        bag = Path(folder) / "bag"
        words = [f"{key}:={value}" for key, value in arguments.items()]
        try:
            launched = run_mbsim("launch", "simulate", *words, f"bag:={bag}")
            if launched.returncode != 0:
                return f"no launch: {launched.stdout.strip().splitlines()[-1:]}"
            done = run_mbsim("replay", str(bag))
        except subprocess.TimeoutExpired as error:
            return f"no replay: {error}"
    is_whole = f", {seconds:g} s\n" in done.stdout and "note:" not in done.stdout
    return SAME if is_whole and SAME in done.stdout else f"no replay: {done.stdout.strip()} {done.stderr.strip()}"
