# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The biped in motion: the two experiments of W section 4.3, standing, pushes, squats, and legs that become straight."""

from __future__ import annotations

import numpy as np
import pytest
from balancing_bipeds import (
    CONTROL_PERIOD,
    EXPERIMENT_1,
    EXPERIMENT_2,
    MIDDLE,
    UPRIGHT,
    balance,
    biped,
    biped_and_block,
    standing,
    turn_in_degrees,
)

from mbsim_ros.dynamics import link_pose
from mbsim_ros.sim.recording.recorder import Recorder
from mbsim_ros.sim.simulation import Simulation

FOOT_CENTRE = 0.03473  # m: height of a foot's centre of mass over its sole
OPTIONS = [{}, {"workspace": "exact"}, {"distribution": "cones"}]


@pytest.mark.parametrize("options", OPTIONS)
def test_experiment_1(options):
    sim = Simulation(biped())
    controller = balance(biped(), **EXPERIMENT_1, **options)
    sim.run(3.0, controller, control_period=CONTROL_PERIOD)
    controller.update(3.0, sim.state())
    assert np.linalg.norm(controller.position_error) < 1e-3
    assert turn_in_degrees(controller) < 0.2
    assert 580.0 < controller.desired_wrench[2] < 600.0  # printed: 594 N, with feet that slip


def test_experiment_2_a_block_hits_the_back():
    sim = Simulation(biped_and_block())
    controller = balance(sim.entity("biped").model, **EXPERIMENT_2)
    channels = Recorder(("link_forces", "penetrations"), every=1)
    recording = sim.run(0.6, {"biped": controller}, control_period=CONTROL_PERIOD, record=channels)
    sim.run(2.4, {"biped": controller}, control_period=CONTROL_PERIOD)
    controller.update(3.0, sim.entity("biped").state())
    assert np.linalg.norm(controller.position_error) < 1e-3
    assert turn_in_degrees(controller) < 0.2

    reports = sim.contacts()
    touching = recording["link_forces"][:, sim.link_forces.links.index("biped/base_link")].any(axis=1)
    assert 0.07 <= 1e-3 * np.flatnonzero(touching)[0] <= 0.09  # printed: 0.08 s
    heels = [i for i, r in enumerate(reports) if "foot" in r.link and not r.other and r.label in ("point 2", "point 3")]
    toes = [i for i, r in enumerate(reports) if "foot" in r.link and not r.other and r.label in ("point 0", "point 1")]
    assert len(heels) == len(toes) == 4
    depth = recording["penetrations"]
    assert (depth[100:400, heels].min(axis=0) < -5e-3).all()  # printed: from 0.13 s to 0.36 s
    assert (depth[100:400, toes].max(axis=1) > 0.0).all()
    assert (depth[-1, heels] > 0.0).all()


def feet(sim) -> np.ndarray:
    return np.array([link_pose(biped(), sim.q, foot)[:3, 3] for foot in ("left_foot", "right_foot")])


def test_feet_do_not_drift():
    """The original's feet did, by its impulses."""
    sim, controller = standing(2.0)
    before = feet(sim)
    sim.run(10.0, controller, control_period=CONTROL_PERIOD)
    assert np.abs(feet(sim) - before).max() < 1e-4


def pushed(sim, controller, impulse: float, direction) -> None:
    """Push the central body for 0.1 s, and wait: 5 s together."""
    R = link_pose(biped(), sim.q, "base_link")[:3, :3]
    sim.push("base_link", force=R.T @ (10.0 * impulse * np.array(direction)))
    sim.run(0.1, controller, control_period=CONTROL_PERIOD)
    sim.push("base_link", None)
    sim.run(4.9, controller, control_period=CONTROL_PERIOD)


@pytest.mark.parametrize("direction", [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)])
def test_a_push_of_15_newton_seconds(direction):
    sim, controller = standing(distribution="cones")
    pushed(sim, controller, 15.0, direction)
    assert not controller.has_fallen
    assert np.linalg.norm(controller.position_error) < 1e-3


def test_the_published_distribution_survives_it_forward():
    sim, controller = standing()
    pushed(sim, controller, 15.0, (1, 0, 0))
    assert np.linalg.norm(controller.position_error) < 1e-3


@pytest.mark.parametrize(("options", "stays_within"), [({}, False), ({"distribution": "cones"}, True)])
def test_why_the_published_distribution_does_not_survive_it_sideways(options, stays_within):
    """It wants the soles to turn, more than their half width of 5 cm lets the weight on them do."""
    sim, controller = standing(**options)
    sim.push("base_link", force=(0.0, 150.0, 0.0))
    within = True
    for _ in range(25):  # 50 ms, while the feet are still flat
        sim.run(CONTROL_PERIOD, controller, control_period=CONTROL_PERIOD)
        for _, force_y, force_z, moment_x, *_ in controller.foot_wrenches:
            at_the_ground = moment_x - FOOT_CENTRE * force_y
            within = within and force_z >= 0.0 and abs(at_the_ground) <= 0.05 * force_z + 1e-6
    assert within == stays_within


@pytest.mark.parametrize("options", [{}, {"distribution": "cones"}])
def test_ten_squats_of_8_centimetres(options):
    sim, controller = standing(**options)
    before = feet(sim)
    for _ in range(10):
        for height in (MIDDLE[2] - 0.08, MIDDLE[2]):
            controller.go_to((*MIDDLE[:2], height), UPRIGHT, 0.6)
            sim.run(0.8, controller, control_period=CONTROL_PERIOD)
            assert abs(sim.q[2] - height) < 1e-3
    assert np.abs(feet(sim) - before).max() < 1e-4


def test_what_is_out_of_reach_is_approached_with_bent_knees():
    sim, controller = standing(distribution="cones")
    controller.go_to((*MIDDLE[:2], 1.30), UPRIGHT, 1.5)  # straight legs reach 1.23 m
    sim.run(4.0, controller, control_period=CONTROL_PERIOD)
    assert not controller.has_fallen and 1.21 < sim.q[2] < 1.23
    assert controller.straightness > controller.parameters.singular_reach
    # The legs lean a little, so the limit along them takes something off the other axes, too.
    assert np.abs(controller.position_error[:2]).max() < 0.01 and turn_in_degrees(controller) < 1.0
    controller.go_to(MIDDLE, UPRIGHT, 1.0)
    sim.run(3.0, controller, control_period=CONTROL_PERIOD)
    assert np.linalg.norm(controller.position_error) < 1e-3


def test_runs_repeat_bit_for_bit():
    ends = []
    for _ in range(2):
        sim, controller = standing(0.5, distribution="cones")
        controller.go_to((0.0, 0.02, 1.12), UPRIGHT, 0.0)
        sim.run(0.5, controller, control_period=CONTROL_PERIOD)
        ends.append(sim.q)
    assert (ends[0] == ends[1]).all()
