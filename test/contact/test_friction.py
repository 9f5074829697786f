# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Friction: sticking, slipping, rolling and resting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from midpoint_bodies import ball, cube
from transforms3d.axangles import axangle2mat

from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.parameters import derive_parameters
from mbsim_ros.contact.terrain import floor, inclined_plane
from mbsim_ros.model.sidecar.settings import ContactSettings

ANGLE = 0.4
DOWN = -np.array([math.cos(ANGLE), 0.0, math.sin(ANGLE)])
UP = np.array([-math.sin(ANGLE), 0.0, math.cos(ANGLE)])


def on_incline(friction, h, seconds):
    """A cube laid on an incline, after some time; with its speeds down the slope."""
    p = derive_parameters(1.0, 8, ContactSettings(friction_static=friction, friction_dynamic=friction))
    thing = cube(inclined_plane((0, 0, 0), UP), p.array())
    thing.R[0] = axangle2mat([0, 1, 0], -ANGLE)
    thing.x[0] = 0.0995 * UP
    speeds = []
    for _ in range(round(seconds / h)):
        thing.step(h)
        speeds.append(thing.v[0] @ DOWN)
    return thing, np.array(speeds)


@pytest.mark.parametrize("h", [1e-3, 4e-3])
def test_a_block_sticks_on_an_incline_below_the_friction_angle(h):
    thing, speeds = on_incline(1.02 * math.tan(ANGLE), h, 0.7)
    assert abs(speeds[-1]) < 1e-9
    assert [ContactMode(mode) for mode in thing.state.modes] == [ContactMode.STICKING] * 4 + [
        ContactMode.NO_CONTACT
    ] * 4
    place = thing.x.copy()
    for _ in range(200):
        thing.step(h)
    assert np.abs(thing.x - place).max() < 1e-10  # it does not creep


@pytest.mark.parametrize("h", [1e-3, 4e-3])
def test_a_block_slips_above_the_friction_angle_with_the_acceleration_that_is_left(h):
    friction = 0.98 * math.tan(ANGLE)
    thing, speeds = on_incline(friction, h, 0.6)
    half = len(speeds) // 2
    acceleration = (speeds[-1] - speeds[half]) / (h * (len(speeds) - 1 - half))
    assert acceleration == pytest.approx(9.81 * (math.sin(ANGLE) - friction * math.cos(ANGLE)), rel=1e-6)
    assert {ContactMode(mode) for mode in thing.state.modes[:4]} == {ContactMode.SLIDING}


def test_a_resting_cube_does_not_creep_or_turn():
    thing = cube(floor(), derive_parameters(1.0, 8).array())
    thing.x[0] = (0.0, 0.0, 0.11)
    thing.R[0] = axangle2mat([0.3, 1.0, 0.2], 0.02)
    for _ in range(600):
        thing.step(1e-3)
    x, R = thing.x.copy(), thing.R.copy()
    for _ in range(400):
        thing.step(1e-3)
    assert np.abs(thing.x - x).max() < 1e-12
    assert np.abs(thing.R - R).max() < 1e-11
    assert [ContactMode(mode) for mode in thing.state.modes[:4]] == [ContactMode.STICKING] * 4


def sliding_point(static, h):
    """A point that slides to a stop: its forces along the floor, modes and speeds."""
    p = derive_parameters(1.0, 1, ContactSettings(friction_static=static, friction_dynamic=0.4))
    thing = ball(floor(), p.array())
    thing.x[0], thing.v[0] = (0.0, 0.0, -1e-3), (0.1, 0.05, 0.0)
    history = []
    for _ in range(round(0.06 / h)):
        thing.step(h)
        history.append((thing.state.reports()[0], thing.v[0].copy()))
    return history


def test_the_force_is_continuous_from_sliding_to_sticking():
    jumps = []
    for h in (4e-4, 2e-4):
        history = sliding_point(0.6, h)
        modes = [report.mode for report, _ in history]
        stop = modes.index(ContactMode.SLIDING_TO_STICKING)
        assert ContactMode.STICKING in modes[stop + 1 :]
        forces = np.array([report.force[:2] for report, _ in history])
        jumps.append(np.linalg.norm(np.diff(forces[stop - 5 : stop + 10], axis=0), axis=1).max())
    assert jumps[1] < 0.65 * jumps[0]
    assert np.linalg.norm(history[-1][1]) < 0.02


def test_sliding_has_the_size_of_the_dynamic_friction():
    history = sliding_point(0.6, 1e-3)
    for report, v in history[5:15]:
        assert np.linalg.norm(report.force[:2]) == pytest.approx(0.4 * report.force[2], rel=1e-12)
        assert report.force[:2] @ v[:2] < 0.0


def rolling_ball(speed, spin, seconds):
    thing = ball(floor(), derive_parameters(1.0, 1, ContactSettings(friction_static=0.5)).array(), radius=0.1)
    thing.x[0], thing.v[0], thing.w[0] = (0.0, 0.0, 0.099), (speed, 0.0, 0.0), (0.0, spin, 0.0)
    for _ in range(round(seconds / 1e-3)):
        thing.step(1e-3)
    return thing


def test_a_rolling_ball_feels_no_false_force():
    thing = rolling_ball(1.0, 10.0, 0.5)
    assert thing.x[0, 0] == pytest.approx(0.5, abs=1e-10)  # five radii: an anchor on the ground would be far behind
    np.testing.assert_allclose(thing.v[0], [1.0, 0.0, 0.0], atol=1e-10)
    assert abs(thing.state.reports()[0].force[0]) < 1e-9
    assert ContactMode(thing.state.modes[0]) is ContactMode.STICKING


def test_a_sliding_ball_ends_rolling_with_five_sevenths_of_its_speed():
    thing = rolling_ball(1.0, 0.0, 0.3)
    assert thing.v[0, 0] == pytest.approx(5.0 / 7.0, rel=2e-3)
    assert thing.w[0, 1] * 0.1 == pytest.approx(thing.v[0, 0], rel=1e-3)


def test_static_friction_holds_what_dynamic_friction_does_not():
    """Pushed sideways with 0.5 of its weight, a point sticks if it did (0.6), and slides if it did (0.4)."""
    p = derive_parameters(1.0, 1, ContactSettings(friction_static=0.6, friction_dynamic=0.4))
    thing = ball(floor(), p.array())
    thing.x[0, 2] = -1e-3
    for push in np.linspace(0.0, 0.5, 100):
        thing.gravity[0] = 9.81 * push
        thing.step(1e-3)
    for _ in range(100):
        thing.step(1e-3)
    assert ContactMode(thing.state.modes[0]) is ContactMode.STICKING
    assert thing.v[0, 0] < 1e-3
    thing.v[0, 0] = 0.2
    for _ in range(100):
        thing.step(1e-3)
    assert ContactMode(thing.state.modes[0]) is ContactMode.SLIDING
    assert thing.v[0, 0] > 0.25
