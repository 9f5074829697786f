# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim view`: robots and recordings as a page gets them, and what is said of what cannot be shown."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "viewer"))

from page_client import page_of

from mbsim_ros.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def test_a_robot_file_is_shown_until_ctrl_c():
    command = [
        sys.executable,
        "-m",
        "mbsim_ros",
        "view",
        "urdf/double_pendulum.urdf",
        "--no-browser",
        "--port",
        "18700",
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    page = page_of(process)
    page.element("shoulder [rad]")
    assert len(page.node("/world/robot/shapes_0")["props"]["batched_positions"]) == 2 * 3
    page.close()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=100)[0] == ""
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.urdf"], "nowhere.urdf"), (["."], "there is no .mcap file in ."),
        (["urdf/arm.urdf.xacro", "--state", "lying"], "no initial state named 'lying'"),
        (["urdf/arm.urdf.xacro", "--picture", "x.png", "--size", "9x9"], "--size: expected 16 to 8000 pixels"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_said(arguments, said, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["view", *arguments, "--port", "18710"]) == 2
    assert said in capsys.readouterr().err


def test_a_picture_needs_a_file():
    with pytest.raises(SystemExit):
        main(["view", "--picture", "x.png"])


def test_a_picture_without_a_browser_says_what_to_do(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("mbsim_ros.viewer.drawing.picture.find_browser", lambda: None)
    arguments = [
        "view",
        str(ROOT / "urdf/double_pendulum.urdf"),
        "--picture",
        str(tmp_path / "x.png"),
        "--port",
        "18720",
    ]
    assert main(arguments) == 2
    assert "there is no Chromium on this machine" in capsys.readouterr().err


def test_without_viser_it_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["view", str(ROOT / "urdf/double_pendulum.urdf")]) == 2
    assert "pip install viser trimesh" in capsys.readouterr().err
