# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim launch walker` in a real browser: it renders and moves, buttons, keys and mouse work, its console is clean.

MBSIM_BROWSER_PICTURES=DIR keeps the screenshots.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

sys.path.append(str(Path(__file__).parents[1] / "nodes"))

from devtools import open_tab
from physics_process import Client, stop

from mbsim_ros.viewer.drawing.picture import find_browser

ROOT = Path(__file__).resolve().parents[2]
SCENE = (slice(100, 700), slice(50, 850))  # pixels of the page that only the scene has
PASSIVE = "Unable to preventDefault inside passive event listener"  # viser's, of a wheel that nobody turned
STATE = re.compile(r"t = ([0-9.]+) s")

pytestmark = [
    pytest.mark.skipif(find_browser() is None, reason="there is no Chromium on this machine"),
    pytest.mark.timeout(1200),
    pytest.mark.ros,
    pytest.mark.slow,
]


@pytest.fixture
def address(monkeypatch):
    """A walker that was launched as users do it; the address that the viewer says."""
    monkeypatch.setenv("MBSIM_VIEW", "true")
    monkeypatch.delenv("DISPLAY", raising=False)
    command = [sys.executable, "-m", "mbsim_ros", "launch", "walker"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said = ""
    for line in process.stdout:
        said += line
        found = re.search(r"open (http://localhost:\d+)", line)
        if found:
            break
    else:
        pytest.fail(said)
    yield found[1]
    process.send_signal(signal.SIGINT)
    print(said + stop(process))


def simulated(tab):
    return float(STATE.search(tab.text())[1])


def differs(first, second):
    return float((np.abs(first[SCENE] - second[SCENE]).max(axis=2) > 0.08).mean())


def test_the_walker_walks_in_a_browser(address, tmp_path):
    pictures = Path(os.environ.get("MBSIM_BROWSER_PICTURES", tmp_path))
    pictures.mkdir(parents=True, exist_ok=True)
    robot = Client("/walker")
    with open_tab(address) as tab:
        assert tab.evaluate("!!document.createElement('canvas').getContext('webgl2')")
        tab.until("!!document.querySelector('canvas')", "a canvas")
        tab.until("/t = [1-9]/.test(document.body.innerText)", "a simulation that runs")
        end = time.monotonic() + 150
        while len(np.unique((15 * tab.screenshot()[SCENE]).astype(int).reshape(-1, 3), axis=0)) < 20:
            assert time.monotonic() < end, "the scene stays empty"
        first = tab.screenshot(pictures / "walker_1.png")
        start = simulated(tab)
        while simulated(tab) < start + 0.7:
            time.sleep(0.2)
        second = tab.screenshot(pictures / "walker_2.png")
        assert differs(first, second) > 0.002, "the robot does not move"

        tab.key(" ", "Space", 32)
        tab.until("document.body.innerText.includes('paused at')", "the answer to the space bar")
        tab.until("document.body.innerText.includes('play')", "a button that goes on")
        time.sleep(1.0)
        paused = simulated(tab)
        time.sleep(2.0)
        assert simulated(tab) == paused
        tab.key("ArrowRight", "ArrowRight", 39)
        tab.until("/step: at [0-9.]+ s/.test(document.body.innerText)", "the answer to the right arrow")
        tab.click("play")
        tab.until("document.body.innerText.includes('goes on')", "the answer to play")

        def sideways(seconds):
            robot.odometry.clear()
            robot.spin_until(lambda: span() >= seconds, "odometry")
            return max(abs(message.twist.twist.linear.y) for message in robot.odometry)

        def span():
            stamps = [message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec for message in robot.odometry]
            return stamps[-1] - stamps[0] if stamps else 0.0

        before = sideways(0.5)
        middle = (430, 265)  # pixels of the top plate: the robot is followed
        tab.drag(middle, (middle[0] + 20, middle[1] - 40))
        tab.until("/drag: [1-9][0-9.]* N on/.test(document.body.innerText)", "a force")
        tab.screenshot(pictures / "walker_drag.png")
        assert sideways(0.5) > 2 * before
        tab.release((middle[0] + 20, middle[1] - 40))
        tab.until("/drag: 0 N on/.test(document.body.innerText)", "the end of the force")
        tab.mouse("mousePressed", middle, 1)
        tab.mouse("mouseReleased", middle)
        tab.until("/roll, pitch, yaw/.test(document.body.innerText)", "the pose of the link that was clicked")

        walked = robot.odometry[-1].pose.pose.position.x
        assert walked > 0.1
        now = simulated(tab)
        tab.key("Backspace", "Backspace", 8)
        tab.until("document.body.innerText.includes(\"in state 'home'\")", "the answer to backspace")
        tab.until(f"parseFloat(/t = ([0-9.]+)/.exec(document.body.innerText)[1]) > {now + 1}", "time after the reset")
        tab.screenshot(pictures / "walker_3.png")
        robot.odometry.clear()
        robot.spin_until(lambda: robot.odometry, "odometry")
        assert robot.odometry[-1].pose.pose.position.x < walked

        tab.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
        tab.click("picture")
        tab.click("film")
        time.sleep(2.0)
        tab.click("end film")
        end = time.monotonic() + 60
        while not (len([*tmp_path.glob("mbsim_*.png")]) and len([*tmp_path.glob("mbsim_*.webm")])):
            assert time.monotonic() < end, f"a picture and a film, got {[*tmp_path.iterdir()]}"
            time.sleep(0.2)
        assert len(np.unique((15 * imread(next(tmp_path.glob("mbsim_*.png")))).astype(int).reshape(-1, 4), axis=0)) > 20

        tab.resize(390, 844)
        tab.until("document.querySelector('canvas').getBoundingClientRect().width <= 390", "a page for phones")
        time.sleep(2.0)
        tab.screenshot(pictures / "walker_phone.png")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert [error for error in tab.errors if PASSIVE not in error] == []
    robot.close()
