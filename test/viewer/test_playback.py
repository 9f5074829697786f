# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A recording in the scene: the slider moves through its time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "bags"))

from hand_made_run import HOPPER, begin, wavy

from mbsim_ros.bags.history import read_history
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.viewer.playback import Playback

STANDS = "contact: {max_penetration: 0.001}\ninitial_states: {home: {base: {xyz: [0, 0, 0.2]}}}\n"


@pytest.fixture
def history(tmp_path):
    run = begin(tmp_path / "bag", HOPPER, STANDS)
    run.run(150, wavy)
    run.writer.close()
    return read_history(tmp_path / "bag")


def shown(page):
    around = page.node("/world/around").get("position", (0.0, 0.0, 0.0))  # moves under a robot that is followed
    return page.node("/world/robot/shapes_0")["props"]["batched_positions"].reshape(-1, 3)[0] - around


def test_the_slider_moves_through_time(server, page, history):
    playback = Playback(server, history)
    page.until(lambda: np.allclose(shown(page), history.q[0, :3], atol=1e-6), "the first state")
    assert "/world/marks/contacts/points" not in page.nodes
    end = float(history.seconds[-1])
    page.set("time [s]", end)
    page.until(lambda: np.allclose(shown(page), history.q[-1, :3], atol=1e-6), "the last state")
    touching = history.contacts.modes[-1] != ContactMode.NO_CONTACT
    props = page.node("/world/marks/contacts/points")["props"]
    points, is_seen = (props[name].reshape(-1, 3) for name in ("batched_positions", "batched_scales"))
    in_world = points[is_seen.any(axis=1)] + playback.stage.origin  # the view goes along
    np.testing.assert_allclose(in_world, history.contacts.positions[-1, touching], atol=1e-6)
    page.set("time [s]", 0.0)
    page.until(lambda: not props["batched_scales"].any(), "no contact in the air")
    playback.go_to(0.0501)
    assert history.seconds[playback.row] == pytest.approx(0.05)
    playback.go_to(-1.0)
    assert playback.row == 0
    playback.go_to(99.0)
    assert playback.row == len(history.stamps) - 1


def test_it_plays_to_its_end(server, page, history):
    playback = Playback(server, history)
    page.set("speed", "5")
    page.set("play", True)
    page.until(lambda: playback.tick() or playback.row == len(history.stamps) - 1, "the end")
    playback.tick()
    assert not playback._playing.value
