# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The legged tutorial over ROS: Go2 trots five metres with its controller in a process of its own."""

from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from mbsim_ros import Simulation
from mbsim_ros.bags.history import read_history
from mbsim_ros.bench.robot_data import find_robot

ROOT = Path(__file__).resolve().parents[2]
SECONDS, PERIOD = 10.0, 0.004


@pytest.mark.skipif(find_robot("go2") is None, reason="example-robot-data is not installed")
def test_go2_trots_five_metres(tmp_path):
    given = [
        "controller:=python_file", f"controller_file:={ROOT / 'examples/trot.py'}", f"control_period:={PERIOD}",
        f"duration:={SECONDS}", "real_time_factor:=0.0", "view:=false", "record:=true", f"bag:={tmp_path / 'trot'}",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "mbsim_ros", "launch", "go2", *given], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    recorded = read_history(tmp_path / "trot").q
    assert recorded[-1, 0] > 5.0 and (recorded[:, 2] > 0.28).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulation("go2")
    sim.run(SECONDS, runpy.run_path(str(ROOT / "examples/trot.py"))["Trot"](), control_period=PERIOD)
    assert (recorded[-1] == sim.q).all()  # bit for bit as in one process
