# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The command line itself: help everywhere, no traceback for a user's mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mbsim_ros import __version__
from mbsim_ros.cli.main import VERBS, main
from mbsim_ros.launcher.packages import add_own_prefix


def mbsim(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mbsim_ros", *arguments], capture_output=True, text=True, **options)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb):
    done = mbsim(verb, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: mbsim {verb}")


def test_overview():
    for arguments in ([], ["--help"]):
        done = mbsim(*arguments)
        assert all(verb in done.stdout for verb in VERBS)
    assert mbsim("--version").stdout == f"mbsim_ros {__version__}\n"


def test_unknown_verb():
    done = mbsim("dance")
    assert done.returncode == 2
    assert "invalid choice: 'dance'" in done.stderr
    assert "Traceback" not in done.stderr


def test_launch_help_names_the_launch_files():
    assert "doctor" in mbsim("launch", "--help").stdout.partition("launch files of this package:")[2]


def test_show_args():
    done = mbsim("launch", "doctor", "--show-args")
    assert done.returncode == 0
    assert "round_trips:=…  (default: '1000')\n      How many JointStates go there and back." in done.stdout


def test_test_passes_its_arguments_and_the_exit_code_of_pytest_on(tmp_path):
    test = tmp_path / "test_sample.py"
    test.write_text("def test_good(): pass\ndef test_bad(): assert False\n")
    without_xdist = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    arguments = ("test", str(test), "-q", "-n0", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "-c", os.devnull)
    assert mbsim(*arguments, env=without_xdist).returncode == 1
    good = mbsim(*arguments, "-k", "good", env=without_xdist)
    assert good.returncode == 0, good.stdout + good.stderr
    assert "1 passed" in good.stdout


def test_test_outside_a_checkout_says_so(tmp_path):
    package = Path(__file__).resolve().parents[1] / "mbsim_ros"
    (tmp_path / "mbsim_ros").symlink_to(package)
    script = "import sys, mbsim_ros; mbsim_ros.__file__ = sys.argv.pop(1); from mbsim_ros.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "elsewhere/mbsim_ros/__init__.py"), "test"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "source checkout" in done.stderr


def test_a_launch_without_ros_says_what_to_do(monkeypatch, capsys):
    """As from a wheel in an environment of its own."""
    monkeypatch.setitem(sys.modules, "rclpy", None)
    assert main(["launch", "doctor"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"mbsim launch: nodes need ROS 2, and {sys.executable} has no rclpy: ")
    assert "pip install 'mbsim_ros[ros]'" in said


def test_an_installed_package_is_found_without_a_word(monkeypatch, tmp_path):
    index = tmp_path / "share/ament_index/resource_index/packages"
    index.mkdir(parents=True)
    (index / "mbsim_ros").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/sourced")
    for _ in range(2):
        add_own_prefix()
        assert os.environ["AMENT_PREFIX_PATH"] == f"/sourced{os.pathsep}{tmp_path}"
