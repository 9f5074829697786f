# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim view` without a file: a robot of one's own is chosen, started, seen and ended, all in real processes."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from page_client import Page, page_of

from mbsim_ros.viewer.page.chooser import Chooser

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def chooser(monkeypatch):
    """The page of a chooser, and its process."""
    monkeypatch.delenv("DISPLAY", raising=False)
    command = [sys.executable, "-m", "mbsim_ros", "view", "--no-browser", "--port", "18730"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    page = page_of(process)
    yield page, process
    page.close()
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=100)


@pytest.mark.ros
def test_a_robot_is_chosen_started_and_ended(chooser):
    page, process = chooser
    page.element("robot or launch file")
    page.until(lambda: "`./mbsim launch walker`" in page.words(), "what would be started")
    page.set("robot or launch file", "simulate")
    page.set("robot", "nowhere.urdf")
    page.press("start")
    page.until(lambda: "has failed" in page.words(), "a robot that is not there")
    button = "a URDF of your own, or drop it here"
    page.upload(button, "evil.xacro", b"<robot/>")  # a program
    page.upload(button, "large.urdf", b" " * 100, size=10**9)
    page.upload(button, "name.urdf", b"/etc/hostname")
    page.until(lambda: "expected XML" in page.words(), "a file that is no XML")
    page.upload(button, "broken.urdf", b"<robot name='x'><link/></robot>")
    page.until(lambda: "`broken.urdf` cannot be simulated" in page.words(), "a file that is no robot")
    page.upload(button, "../../double_pendulum.urdf", (ROOT / "urdf/double_pendulum.urdf").read_bytes())
    page.until(lambda: "/robot.urdf`" in page.words(), "what is started")
    page.until(lambda: "open its view" in page.words(), "a simulation with a view")
    view = Page(int(re.search(r"\(http://localhost:(\d+)\)", page.words())[1]))
    view.node("/world/robot/shapes_0")
    view.until(lambda: re.search(r"t = [0-9.]*[1-9]", view.words()), "the simulation to run")
    view.close()
    page.press("end")
    page.until(lambda: "It has ended" in page.words(), "its end")
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=100)[0].splitlines()
    assert [re.search(r"got '(.*)'|'(.*)' is larger", line)[0] for line in said] == [
        "got 'evil.xacro'",
        "'large.urdf' is larger",
    ]
    assert process.returncode == 130


def test_what_it_starts_is_what_would_be_typed(server, page):
    chooser = Chooser(server)
    page.element("terrain")
    assert chooser.command() == ["launch", "walker"]
    page.set("terrain", "plate")
    page.until(lambda: "`./mbsim launch walker terrain:=plate`" in page.words(), "another terrain")
    page.set("robot or launch file", "arm")
    page.until(lambda: "`./mbsim launch arm`" in page.words(), "another robot")
    chooser.tick()
    assert "nothing runs" in page.words()
