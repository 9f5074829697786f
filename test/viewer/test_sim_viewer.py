# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A simulation of a Python program in a page: shown as it runs, at its pace, and not changed by being looked at."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from page_client import Page

from mbsim_ros import Simulation, Viewer
from mbsim_ros.sim import run_loop

ROOT = Path(__file__).resolve().parents[2]
PORT = 18580


@pytest.fixture(scope="module")
def sim():
    return Simulation(ROOT / "urdf/walker.urdf.xacro")


@pytest.fixture
def viewer(sim):
    sim.reset()
    with Viewer(sim, PORT, open=False, real_time_factor=0) as viewer:
        yield viewer


@pytest.fixture
def page(viewer):
    page = Page(viewer.server.get_port())
    page.until(lambda: "t = 0.00 s" in page.words(), "the first words")
    yield page
    page.close()


def test_a_run_is_shown_and_has_the_same_bits(viewer, page, sim):
    shapes = next(name for name in page.nodes if name.startswith("/world/robot/"))
    before = page.nodes[shapes]["props"]["batched_positions"].copy()
    sim.run(0.3)
    page.until(lambda: "t = 0.30 s" in page.words(), "the last state of the run")
    assert not np.array_equal(page.nodes[shapes]["props"]["batched_positions"], before)
    seen, same = sim.q, Simulation(sim.model)
    assert any(report.is_touching for report in sim.contacts())
    page.until(lambda: any("contacts" in name for name in page.nodes), "contacts")
    same.run(0.3)
    assert same.q.tobytes() == seen.tobytes() and same.v.tobytes() == sim.v.tobytes()


def test_pictures_come_at_their_rate_and_steps_at_their_pace(viewer, page, sim):
    page.set("speed", "2")
    page.until(lambda: _asked(viewer) and viewer._page.factor == 2.0, "the speed")
    viewer.update()
    begin, pictures = time.monotonic(), viewer.pictures
    for _ in range(500):
        sim.step()
    passed = time.monotonic() - begin
    assert passed >= 0.24  # half a second at twice its speed
    assert 1 <= viewer.pictures - pictures <= 30 * passed + 2


def test_it_stands_still_while_paused_and_goes_on_step_by_step(viewer, page, sim):
    page.press("pause")
    page.until(lambda: _asked(viewer) and viewer._page.is_paused, "pause")
    runner = threading.Thread(
        target=lambda: sim.run(0.2, control_period=0.01, controller=lambda sim: None), daemon=True
    )
    start = sim.time
    runner.start()
    page.until(lambda: sim.time > start and _stands(sim), "a stop after the first call")
    for _ in range(3):
        before = sim.time
        viewer._page.controls.ask("step")
        page.until(lambda before=before: sim.time > before and _stands(sim), "a step")
        assert sim.time - before <= 10_000_000  # one call, of at most a control period
    viewer._page.controls.ask("reset")
    page.until(lambda: "t = 0.0" in page.words() and sim.time <= 20_000_000, "the reset")
    page.press("play")
    runner.join()
    assert not viewer._page.is_paused


def _asked(viewer):
    """Do what was asked for on the page, as a program does that waits."""
    viewer.wait(0.0)
    viewer._do_what_is_asked()
    return True


def _stands(sim):
    first = sim.time
    time.sleep(0.15)
    return sim.time == first


def test_calls_are_short_enough_for_pictures(viewer, sim, monkeypatch):
    steps = []
    advance = sim.advance
    monkeypatch.setattr(sim, "advance", lambda count, *given: (steps.append(count), advance(count, *given))[1])
    viewer._page.factor = 1.0
    viewer.update()
    sim.run(0.2)
    assert max(steps) <= 34  # 1/30 s in steps of 1 ms
    assert sum(steps) == 200 and run_loop.CHUNK > 200


def test_a_view_that_fails_says_so_and_the_run_goes_on(viewer, page, sim, monkeypatch):
    monkeypatch.setattr(viewer._page.stage, "place", lambda q: 1 / 0)
    with pytest.warns(UserWarning, match="the web view stopped: ZeroDivisionError"):
        sim.run(0.1)
    assert sim.seconds == pytest.approx(0.1)


def test_it_is_closed_once_and_shown_once(viewer, sim):
    with pytest.raises(ValueError, match=f"shown already, at http://localhost:{viewer.server.get_port()}"):
        sim.view(PORT, open=False)
    viewer.close()
    viewer.close()
    assert sim.watcher is None
    again = sim.view(PORT, open=False, real_time_factor=0)
    again.wait(0.05)
    again.close()
    for name, value in (("real_time_factor", -1.0), ("rate", 0.0)):
        with pytest.raises(ValueError, match=name):
            Viewer(sim, PORT, open=False, **{name: value})
