# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What must work on every ROS 2 that is supported: CI runs this with the wheels of each (MBSIM_ROS)."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parents[1]
RCLPY = {".venv": "9.1.", ".venv-jazzy": "7.1."}  # by the environment that ./mbsim makes
ELSEWHERE = pytest.mark.skipif(
    Path(sys.prefix).name == ".venv", reason="where all tests run test_doctor and test_documentation do the same"
)


def mbsim(*arguments: str) -> str:
    """Run a verb that must succeed; returns what it wrote."""
    command = [sys.executable, "-m", "mbsim_ros", *arguments]
    environment = {**os.environ, "COLUMNS": "120"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


def test_it_is_the_distribution_that_was_asked_for():
    expected = RCLPY.get(Path(sys.prefix).name)
    if expected is None:
        pytest.skip("a ROS 2 of somebody else's")
    assert version("ros-rclpy").startswith(expected)


@ELSEWHERE
def test_doctor():
    assert "All is well." in mbsim("doctor", "--round-trips", "100")


@ELSEWHERE
@pytest.mark.parametrize("launch", ["biped", "arm", "simulate robot:=urdf/double_pendulum.urdf"])
def test_a_launch_runs_to_its_end(launch):
    said = mbsim("launch", *launch.split(), "view:=false", "real_time_factor:=0.0", "duration:=0.5")
    assert "[controller]" in said and "controls '" in said
    assert "[launch] physics ended\n" in said


def test_a_recorded_walk_replays_bit_for_bit(tmp_path):
    bag = tmp_path / "walk"
    words = ("view:=false", "real_time_factor:=0.0", "duration:=1.0", "record:=true", f"bag:={bag}")
    said = mbsim("launch", "walker", *words).splitlines()
    assert said[-2].startswith("[launch] physics: simulated 1 s in "), said
    assert said[-1].startswith(f"[launch] record: the bag is {bag}, "), said
    before_it_walks = said[: next(k for k, line in enumerate(said) if " ended" in line)]
    assert len(before_it_walks) <= 12, said
    assert "bit for bit" in mbsim("replay", str(bag))
