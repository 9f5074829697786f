# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Impacts: an elastic ball keeps its height, a damped one comes to rest, and the energy adds up."""

from __future__ import annotations

import numpy as np
import pytest
from midpoint_bodies import ball

from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.parameters import derive_parameters
from mbsim_ros.contact.terrain import floor, height_field
from mbsim_ros.model.sidecar.settings import ContactSettings

H = 1e-3


def parameters(mass=1.0, **settings):
    return derive_parameters(mass, 1, ContactSettings(**settings))


def apexes(penetration, bounces, height=0.02):
    """Heights of the tops of an elastic ball's jumps, as parts of the first."""
    thing = ball(floor(), parameters(max_penetration=penetration, damping_ratio=0.0).array())
    thing.x[0, 2] = height
    tops = []
    while len(tops) < bounces:
        before = thing.v[0, 2]
        thing.step(H)
        if before > 0.0 >= thing.v[0, 2]:
            tops.append(thing.x[0, 2] / height)
    return np.array(tops)


def test_an_elastic_ball_keeps_its_height_for_60_bounces():
    tops = apexes(1e-3, 60)
    assert np.abs(tops - 1.0).max() < 0.02  # 5 % are asked for


@pytest.mark.parametrize("product", [0.1, 0.78, 2.0])
def test_crossing_the_surface_makes_no_more_energy_than_the_check_of_the_step_says(product):
    """The part of an impact's energy that one crossing makes, over all phases: at most (ω h/2)², and about that."""
    p = parameters(stiffness=(product / H) ** 2, damping=0.0)
    gains = []
    for distance in np.linspace(0.0, H, 101)[1:]:
        thing = ball(floor(), p.array(), gravity=(0.0, 0.0, 0.0))
        thing.x[0, 2], thing.v[0, 2] = distance, -1.0
        while not thing.state.modes[0] > ContactMode.NO_CONTACT:
            thing.step(H)
        gains.append(-thing.state.energy().switching / 0.5)
    assert max(gains) <= (0.5 * product) ** 2
    assert max(gains) > 0.4 * (0.5 * product) ** 2


def test_a_damped_ball_comes_to_rest_where_its_weight_is_carried():
    p = parameters(mass=2.0)
    thing = ball(floor(), p.array(), mass=2.0)
    thing.x[0, 2] = 0.05
    for _ in range(400):
        thing.step(H)
    assert thing.x[0, 2] == pytest.approx(-1e-3, rel=1e-6)
    assert ContactMode(thing.state.modes[0]) is ContactMode.STICKING
    assert thing.iterations <= 8


def test_the_energy_of_a_tumbling_bounce_adds_up():
    thing = ball(
        floor(friction=0.5),
        parameters(damping_ratio=0.3, friction_dynamic=0.3, friction_static=0.4).array(),
        radius=0.05,
    )
    thing.x[0], thing.v[0], thing.w[0] = (0.0, 0.0, 0.1), (2.0, -0.2, -0.5), (3.0, -20.0, 5.0)
    start, worst = thing.energy(), 0.0
    for _ in range(1000):
        thing.step(H)
        e = thing.state.energy()
        worst = max(worst, abs(thing.energy() + e.stored + e.damping + e.friction + e.switching - start))
        assert e.damping >= 0.0
        assert e.friction >= -1e-12
    assert worst < 1e-11
    assert min(e.damping, e.friction) > 0.05


def test_the_force_grows_from_nothing_at_touch_down():
    """The faster the sampling, the smaller the steps of the force, also at a touch-down at speed and sideways."""
    jumps = []
    for h in (2e-4, 1e-4):
        thing = ball(floor(), parameters(max_penetration=5e-3).array())
        thing.x[0], thing.v[0] = (0.0, 0.0, 1e-3), (0.5, 0.0, -1.0)
        forces = []
        for _ in range(round(0.02 / h)):
            thing.step(h)
            forces.append(thing.state.reports()[0].force)
        assert np.max(forces) > 20.0
        jumps.append(np.linalg.norm(np.diff(forces, axis=0), axis=1).max())
    assert jumps[1] < 0.65 * jumps[0]


def test_a_ball_on_waves_stays_on_them_and_comes_to_rest_in_a_valley():
    x = 0.05 * np.arange(41)
    waves = np.tile(0.03 * np.cos(2.0 * np.pi * x / 0.5), (41, 1))
    thing = ball(height_field(waves, 0.05), parameters(damping_ratio=0.5).array(), radius=0.03)
    thing.x[0] = (0.9, 1.0, 0.12)
    for _ in range(2000):
        thing.step(2e-3)
    assert np.isfinite(thing.x).all()
    assert thing.ground.gap(thing.x[0]) == pytest.approx(0.03, abs=2e-3)
    assert abs(thing.x[0, 1] - 1.0) < 1e-9  # nothing pushes it sideways


def test_a_saved_state_continues_bit_for_bit():
    thing = ball(floor(), parameters().array(), radius=0.05)
    thing.x[0], thing.v[0] = (0.0, 0.0, 0.051), (0.3, 0.1, -0.3)
    for _ in range(25):
        thing.step(H)
    saved, motion = thing.state.saved(), [a.copy() for a in (thing.x, thing.v, thing.w, thing.R)]
    assert thing.state.deflections.any()

    def run():
        for _ in range(20):
            thing.step(H)
        return np.concatenate([thing.x.ravel(), thing.v.ravel(), thing.w.ravel(), thing.state.deflections.ravel()])

    first = run()
    thing.state.clear()
    thing.state.restore(saved)
    thing.x, thing.v, thing.w, thing.R = motion
    assert run().tobytes() == first.tobytes()
