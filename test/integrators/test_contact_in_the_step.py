# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact solved within the variational step: bounces, rest, slopes, and the momentum that the ground takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.parameters import derive_parameters
from mbsim_ros.contact.points import contact_points
from mbsim_ros.contact.terrain import floor, inclined_plane
from mbsim_ros.dynamics import energy, momentum
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.lie import quaternion
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.sidecar.settings import ContactSettings

WALKER = Path(__file__).resolve().parents[2] / "mbsim_ros/bench/robots/walker_sized.urdf"


@pytest.fixture(scope="module")
def box():
    return ModelBuilder("box").link("box", mass=2.0, box=(0.3, 0.2, 0.1), collision=True).build("floating")


def pose(model, position, rotation_vector=(0.0, 0.0, 0.0)):
    q = model.neutral.copy()
    q[:3], q[3:7] = position, quaternion.to_ros(quaternion.exp(rotation_vector))
    return q


def test_an_elastic_ball_keeps_its_height():
    """60 bounces at 1 ms without damping; a contact switched at the ends of steps would pump it up."""
    ball = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.05, collision=True).build("floating")
    elastic = derive_parameters(ball.mass, 1, ContactSettings(damping_ratio=0.0), floor())
    simulation = LieVariational(ball, 1e-3, points=contact_points(ball), contact=elastic)
    simulation.reset(pose(ball, (0, 0, 0.15)), np.zeros(6))
    apexes, rising = [], False
    while len(apexes) < 60:
        simulation.step()
        was_rising, rising = rising, simulation.mean_velocity[2] > 0.0
        if was_rising and not rising:
            apexes.append(simulation.q[2] - 0.05)
    assert np.abs(np.array(apexes) / 0.1 - 1.0).max() < 0.05


def test_a_dropped_box_comes_to_rest_and_stays(box):
    simulation = LieVariational(box, 1e-3, points=contact_points(box))
    simulation.reset(pose(box, (0, 0, 0.3), (0.3, 0.2, 0.1)), [0.1, 0, 0, 0, 1, 0])
    before = energy(box, simulation.q, simulation.v).total
    simulation.step(steps=3000)
    modes = [report.mode for report in simulation.contacts.reports()]
    assert modes.count(ContactMode.STICKING) == 4
    assert modes.count(ContactMode.NO_CONTACT) == 4
    assert np.abs(simulation.v).max() < 1e-9
    weight = sum(report.force for report in simulation.contacts.reports())
    np.testing.assert_allclose(weight, [0, 0, 2.0 * 9.81], atol=1e-6)
    # the ground's springs hold what the robot has lost, but for what damping and friction took
    booked = simulation.contacts.energy()
    change = energy(box, simulation.q, simulation.v).total - before
    assert abs(change - booked.work) < 0.02 * abs(booked.work)
    resting = simulation.q.copy()
    simulation.step(steps=10_000)
    assert np.abs(simulation.q - resting).max() < 1e-12


@pytest.mark.parametrize("steepness", [0.98, 1.02])
def test_on_a_slope_it_slides_just_when_friction_is_too_small(box, steepness):
    angle = 0.3
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    ground = inclined_plane((0, 0, 0), normal, steepness * np.tan(angle))
    simulation = LieVariational(box, 1e-3, points=contact_points(box), ground=ground)
    simulation.reset(pose(box, 0.05 * normal, (0, angle, 0)), np.zeros(6))
    simulation.step(steps=500)
    velocity, place = simulation.v[:3], simulation.q[:3].copy()
    simulation.step(steps=500)
    if steepness > 1.0:
        assert np.abs(simulation.q[:3] - place).max() < 1e-12
    else:
        expected = 9.81 * (np.sin(angle) - steepness * np.tan(angle) * np.cos(angle))
        acceleration = (simulation.v[:3] - velocity)[0] / 0.5
        assert abs(acceleration - expected) < 1e-4 * 9.81


def test_the_ground_takes_what_the_robot_loses():
    """Linear momentum changes by gravity's and the contacts' impulses, exactly: both are booked in μ."""
    walker = load_urdf(WALKER)
    points = contact_points(walker)
    assert len(points.bodies) == 8
    simulation = LieVariational(walker, 1e-3, points=points)
    simulation.drives.kp[6:], simulation.drives.kd[6:] = 400.0, 8.0
    simulation.reset(pose(walker, (0, 0, 0.44)), np.zeros(walker.nv))
    impulse = np.zeros(3)
    for _ in range(300):
        simulation.step()
        ground = sum(report.force for report in simulation.contacts.reports())
        impulse += 1e-3 * (ground + walker.mass * np.array([0, 0, -9.81]))
    linear = momentum(walker, simulation.q, simulation.v)[:3]
    np.testing.assert_allclose(linear, impulse, atol=1e-9)
    simulation.step(steps=2000)
    assert all(report.mode is ContactMode.STICKING for report in simulation.contacts.reports())
    assert np.abs(simulation.v).max() < 1e-6


def test_the_same_twice_and_no_fourth_order(box):
    points = contact_points(box)
    runs = []
    for _ in range(2):
        simulation = LieVariational(box, 1e-3, points=points)
        simulation.reset(pose(box, (0, 0, 0.3), (0.3, 0.2, 0.1)), [0.1, 0, 0, 0, 1, 0])
        simulation.step(steps=700)
        runs.append((simulation.q.tobytes(), simulation.p.tobytes(), simulation.contacts.deflections.tobytes()))
    assert runs[0] == runs[1]
    with pytest.raises(ValueError, match="order: expected 2 with contact"):
        LieVariational(box, 1e-3, order=4, points=points)
