# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What the mouse and the time line of a live view do, without a simulation beside them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mbsim_ros.dynamics.kinematics import link_pose_rows
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.viewer.page.dragging import FREQUENCY, Dragging, inertia_at
from mbsim_ros.viewer.page.link_reading import LinkReading
from mbsim_ros.viewer.page.rewind import LENGTH, Instant, Rewind

BOX = """<robot name="box"><link name="box"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
HERE = np.zeros(3)
PERIOD = 33_000_000  # ns


@pytest.fixture
def box():
    return Simulation(BOX, dt=1e-3, gravity=(0, 0, 0))


def event(phase, start=(0.0, 0.0, 0.0), end=(0.0, 0.0, 0.0), client=1):
    return SimpleNamespace(phase=phase, start_position=start, end_position=end, client_id=client)


def test_a_box_that_is_dragged_comes_to_rest_below_the_pointer(box):
    dragging, pointer = Dragging(box.model), (0.3, -0.2, 0.1)
    assert inertia_at(box.model, box.q, "box", HERE) == pytest.approx(2.0)
    dragging.on_event("box", event("start", end=pointer))
    for picture in range(90):  # 3 s at 30 pictures a second
        pull = dragging.pull(box.q, link_pose_rows(box.model, box.q), picture * PERIOD, HERE, 1.0)
        if picture == 0:
            np.testing.assert_allclose(pull.force, 2.0 * FREQUENCY**2 * np.array(pointer), rtol=1e-12)
        box.push("box", pull.force, pull.torque)
        box.run(0.033)
    np.testing.assert_allclose(box.q[:3], pointer, atol=1e-3)
    assert box.ledger().external_work == pytest.approx(box.ledger().kinetic, abs=1e-6)
    dragging.on_event("box", event("end"))
    pull = dragging.pull(box.q, link_pose_rows(box.model, box.q), 91 * PERIOD, HERE, 1.0)
    assert (pull.link, pull.force.any(), pull.torque.any()) == ("box", False, False)
    assert dragging.pull(box.q, link_pose_rows(box.model, box.q), 92 * PERIOD, HERE, 1.0) is None


def test_a_pull_beside_the_middle_turns_and_is_bounded(box):
    dragging, rows = Dragging(box.model), link_pose_rows(box.model, box.q)
    dragging.on_event("box", event("start", (1.0, 0.0, 0.0), (1.0, 5000.0, 0.0)))
    pull = dragging.pull(box.q, rows, PERIOD, HERE, 1.0)
    assert np.linalg.norm(pull.force) == pytest.approx(3 * 9.81 * 2.0)
    np.testing.assert_allclose(pull.torque, np.cross([1, 0, 0], pull.force), atol=1e-9)
    assert dragging.pull(box.q, rows, PERIOD, HERE, 1.0) is None  # paused: nothing new


@pytest.mark.parametrize("bad", [(np.nan, 0, 0), (1e9, 0, 0), (1, 2), "abc", None, ({}, 1, 2)])
def test_what_no_browser_sends_does_nothing(box, bad):
    dragging, rows = Dragging(box.model), link_pose_rows(box.model, box.q)
    dragging.on_event("box", event("start", bad))
    dragging.on_event("box", event("update"))
    dragging.on_event("box", event("end"))
    assert dragging.pull(box.q, rows, PERIOD, HERE, 1.0) is None


def test_a_page_that_is_closed_lets_go(box):
    dragging, rows = Dragging(box.model), link_pose_rows(box.model, box.q)
    dragging.on_event("box", event("start", end=(1.0, 0.0, 0.0)))
    assert dragging.pull(box.q, rows, PERIOD, HERE, 1.0).force.any()
    dragging.on_leave(SimpleNamespace(client_id=2))
    assert dragging.pull(box.q, rows, 2 * PERIOD, HERE, 1.0).force.any()  # another page
    dragging.on_leave(SimpleNamespace(client_id=1))
    assert not dragging.pull(box.q, rows, 3 * PERIOD, HERE, 1.0).force.any()
    dragging.on_event("box", event("start", client=3))  # and somebody else may take it
    assert dragging.pull(box.q, rows, 4 * PERIOD, HERE, 1.0).link == "box"


def test_one_page_drags_at_a_time(box):
    dragging, rows = Dragging(box.model), link_pose_rows(box.model, box.q)
    dragging.on_event("box", event("start", end=(0.1, 0.0, 0.0)))
    dragging.on_event("box", event("start", end=(0.0, 9.0, 0.0), client=2))
    dragging.on_event("box", event("end", client=2))
    pull = dragging.pull(box.q, rows, PERIOD, HERE, 1.0)
    np.testing.assert_allclose(pull.force / np.linalg.norm(pull.force), [1, 0, 0], atol=1e-12)


def test_a_link_is_read(box):
    reading = LinkReading(box.model.link_names)
    assert reading.read(link_pose_rows(box.model, box.q), 0, None) == ""
    reading.link = "box"
    box.reset(v=[1.0, 0, 0, 0, 0, 2.0])
    reading.read(link_pose_rows(box.model, box.q), 0, None)
    box.run(0.02)
    said = reading.read(link_pose_rows(box.model, box.q), 20_000_000, np.array([0, 0, 9.0, 0, 0, 0]))
    assert "position 0.020, 0.000, 0.000 m" in said
    assert "turns 0.000, 0.000, 2.000 rad/s" in said
    assert "contact force 0.0, 0.0, 9.0 N" in said


def test_the_last_seconds_are_kept_and_begin_anew_after_a_reset(server, page):
    rewind = Rewind(server)
    empty = (np.zeros((0, 3)), np.zeros((0, 3), np.uint8), np.zeros((0, 3)))
    for tenth in range(300):
        rewind.keep(Instant(tenth * 100_000_000, np.array([float(tenth)]), empty))
    kept = rewind.instants
    assert kept[-1].stamp - kept[0].stamp == LENGTH * 1e9
    page.set("look back [s]", -3.0)
    page.until(lambda: rewind.shown is not None, "an instant of before")
    assert rewind.shown.stamp == kept[-1].stamp - 3_000_000_000
    rewind.keep(Instant(30_000_000_000, np.zeros(1), empty))
    page.set("look back [s]", -4.0)
    page.until(lambda: rewind.shown.stamp == kept[-1].stamp - 4_000_000_000, "another, of the same seconds")
    page.press("back to now")
    page.until(lambda: rewind.shown is None, "what happens now")
    rewind.keep(Instant(31_000_000_000, np.zeros(1), empty))  # time jumps at a reset
    assert len(rewind.instants) == 1
