# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a launch of a robot of others prints: few lines, from one process, without places in our own source."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mbsim_ros.bench.robot_data import find_robot

PATIENCE = 100.0  # s


def test_a_robot_of_others_prints_few_lines(tmp_path):
    """HyQ has ten imperfections; it once printed ninety lines."""
    path = find_robot("hyq")
    if path is None:
        pytest.skip("example-robot-data is not installed")
    command = [sys.executable, "-m", "mbsim_ros", "launch", "simulate", f"robot:={path}", "view:=false"]
    given = ["terrain:=flat", "duration:=0.02", "real_time_factor:=0.0"]
    done = subprocess.run(
        [*command, *given], cwd=tmp_path, env={**os.environ, "PYTHONUNBUFFERED": "1"}, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    said = (done.stdout + done.stderr).splitlines()
    assert done.returncode == 0, said
    told = [line for line in said if "[INFO]" not in line and "[launch]" not in line and "compiling" not in line]
    assert any("loaded with 10 imperfections (mbsim check shows where)" in line for line in told), said
    assert len(told) <= 6, told
    assert not any(".py:" in line for line in told), told
    assert not any("[controller]" in line for line in told), told
    assert said[-1].startswith("[launch] physics: simulated 0.02 s in "), said
    assert "refused commands: none; energy left over: " in said[-1]
