# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker on flat ground: it gets on, straight and level, forward, fast, backward and turning."""

from __future__ import annotations

import numpy as np
import pytest
from walker_runs import roll_pitch_yaw, walk

from mbsim_ros.control.walker.legs import LEGS
from mbsim_ros.control.walker.parameters import WalkerGaitParameters


def assert_level(walked, limit=0.01):
    assert np.abs(walked.angles[:, :2]).max() <= limit  # roll and pitch
    assert walked.base[:, 2].min() > 0.38


@pytest.mark.parametrize("way", [1.0, -1.0], ids=["forward", "backward"])
def test_flat_walk(way):
    walked = walk(8.0, [(0.0, way * 0.22, 0.0, 0.0)])
    assert_level(walked)
    speed = walked.speed(3.0, 6.2)  # two whole cycles
    assert way * speed >= 0.20
    assert abs(speed) == pytest.approx(0.22, rel=0.03)
    assert abs(walked.base[-1, 1]) <= 0.02 * abs(walked.base[-1, 0])
    assert abs(walked.angles[-1, 2]) <= 0.01
    assert min(walked.clearance) >= 0.040


def test_fast_walk():
    walked = walk(7.0, [(0.0, 0.5, 0.0, 0.0)])
    assert_level(walked)
    assert walked.speed(2.4, 6.6) >= 0.45  # three whole cycles
    assert min(walked.clearance) >= 0.040
    assert abs(walked.base[-1, 1]) <= 0.02 * walked.base[-1, 0]


def test_turn_in_place():
    walked = walk(7.0, [(0.0, 0.0, 0.125, 0.0)])
    assert_level(walked)
    rate = (walked.angles[-1, 2] - walked.angles[1000, 2]) / (walked.t[-1] - walked.t[1000])
    assert rate >= 0.1
    assert np.hypot(*walked.base[-1, :2]) <= 0.01


def test_a_curve():
    walked = walk(7.0, [(0.0, 0.2, 0.1, 0.0)])
    assert_level(walked)
    assert walked.angles[-1, 2] > 0.4
    assert walked.base[-1, 0] > 0.8
    assert walked.base[-1, 1] > 0.1


def test_commands_in_mid_stride_stop_and_sit():
    asked = [(0.0, 0.22, 0.0, 0.0), (1.37, -0.1, 0.08, 0.0), (2.0, 0.3, -0.1, 0.0), (3.21, 0.0, 0.0, -1.0)]
    walked = walk(7.5, asked)
    assert np.abs(walked.angles[:, :2]).max() <= 0.01
    assert not walked.gait.is_walking
    assert walked.base[-1, 2] == pytest.approx(0.34, abs=0.01)  # it sits
    assert np.abs(walked.sim.v).max() < 0.02


def test_stands_up_and_waits_for_its_feet_to_touch_down():
    walked = walk(6.0, [(0.0, 0.22, 0.0, 0.0)], start="sitting", parameters=WalkerGaitParameters(rough=True))
    assert np.abs(roll_pitch_yaw(walked.sim.q)[:2]).max() <= 0.01
    assert walked.base[-1, 0] > 0.3
    touched = walked.gait.touch_down.last_touch
    assert set(touched) == set(LEGS)
    a, b = (np.mean([touched[leg] for leg in LEGS if leg[0] == frame]) for frame in "AB")
    assert abs(a - b) == pytest.approx(1.86, abs=0.1)  # the frames step in turn
