# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""``mbsim doctor`` with real nodes, well and unwell."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from mbsim_ros.cli.parts import machine_checks

pytestmark = pytest.mark.ros

COMMAND = [sys.executable, "-m", "mbsim_ros", "doctor", "--round-trips", "100"]


def doctor(**changes: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "120", **changes}
    return subprocess.run(COMMAND, env=environment, capture_output=True, text=True, timeout=120)


def test_all_is_well_with_two_doctors_at_once_who_do_not_disturb_each_other(ros_domain):
    environment = {**os.environ, "COLUMNS": "120"}
    both = [subprocess.Popen(COMMAND, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said, other = (process.communicate(timeout=120)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0], said + other
    assert "100 JointStates there and back" in said
    assert f"domain {ros_domain}, for this host alone" in said
    for what in (
        "Python",
        "numba",
        "rclpy",
        "RMW",
        "C++ compiler",
        "messages",
        "mcap",
        "matplotlib",
        "viser",
    ):
        assert what in said
    assert "All is well." in said and "All is well." in other


def test_a_package_that_nobody_has_sourced_is_found_where_pip_has_put_it():
    done = doctor(AMENT_PREFIX_PATH="/nonexistent")
    assert done.returncode == 0, done.stdout
    assert "All is well." in done.stdout


def test_a_node_that_cannot_run_is_reported_with_its_words():
    done = doctor(RMW_IMPLEMENTATION="rmw_that_does_not_exist")
    assert done.returncode == 1
    assert "rmw_that_does_not_exist" in done.stdout
    assert "Not well: two nodes." in done.stdout


@pytest.mark.parametrize("module", ["mcap", "matplotlib", "viser", "xacro"])
def test_a_missing_package_that_is_optional_is_a_note_with_its_purpose(module, monkeypatch, capsys):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else real(name))
    (check,) = [check for check in machine_checks.all_checks() if check.what == module]
    assert (check.found, check.verdict) == ("not installed", "note")
    assert check.remedy.startswith(f"pip install {module}, only needed ")
    assert machine_checks.report([check]) == 0
    assert f"pip install {module}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("module", ["lxml", "yaml", "rich"])
def test_a_missing_library_is_reported_not_a_traceback(module, tmp_path):
    """What the doctor itself would use may be what is missing."""
    (tmp_path / "sitecustomize.py").write_text(f"""
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] == {module!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name.split('.')[0] == {module!r} else real(name, package)
""")
    done = doctor(PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"pip install {module}" in " ".join(done.stdout.split())
