# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Trajectories are what they say, and their velocities and accelerations are the derivatives of their positions."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.control.joints.set_points import SetPointParameters
from mbsim_ros.control.joints.trajectories import Hold, Sine, Step, Waypoints, smooth_step

HERE = np.array([0.3, -0.2])


def made(**parameters):
    return SetPointParameters(**parameters).make(HERE)


ALL = {
    "hold": made(),
    "sine": made(trajectory="sine", amplitude=(0.5, 0.1), frequency=(0.7, 1.3), ramp=0.8),
    "sine at once": made(trajectory="sine", ramp=0.0),
    "waypoints": made(trajectory="waypoints", times=(0.5, 0.9, 2.0), waypoints=(1.0, 0.0, 2.0, -1.0, 1.5, 3.0)),
}


@pytest.mark.parametrize("trajectory", ALL.values(), ids=ALL)
def test_velocity_and_acceleration_are_derivatives(trajectory):
    h = 1e-4
    for t in np.linspace(0.053, 2.5, 50):  # none within h of a kink
        before, here, after = trajectory.at(t - h), trajectory.at(t), trajectory.at(t + h)
        np.testing.assert_allclose(here.velocity, (after.position - before.position) / (2 * h), atol=2e-5)
        np.testing.assert_allclose(here.acceleration, (after.velocity - before.velocity) / (2 * h), atol=2e-2)


def test_hold_is_where_the_robot_is_or_where_it_is_told():
    assert made().at(7.0).position.tolist() == HERE.tolist()
    assert made(position=(1.0,)).at(7.0).position.tolist() == [1.0, 1.0]
    assert isinstance(made(), Hold)


def test_a_step_comes_when_it_is_due():
    step = made(trajectory="step", amplitude=(0.1, 0.2), ramp=0.5)
    assert isinstance(step, Step)
    assert step.at(0.499).position.tolist() == HERE.tolist()
    np.testing.assert_allclose(step.at(0.5).position, HERE + np.array([0.1, 0.2]))
    assert not step.at(0.5).velocity.any()


def test_a_sine_starts_at_rest_and_is_a_sine_after_the_ramp():
    sine = ALL["sine"]
    assert isinstance(sine, Sine)
    begin = sine.at(0.0)
    assert begin.position.tolist() == HERE.tolist()
    assert not begin.velocity.any()
    assert not begin.acceleration.any()
    t = 1.234
    wanted = HERE + np.array([0.5, 0.1]) * np.sin(2 * np.pi * np.array([0.7, 1.3]) * t)
    np.testing.assert_allclose(sine.at(t).position, wanted, rtol=1e-14)


def test_waypoints_are_passed_in_time_and_end_at_rest():
    path = ALL["waypoints"]
    for t, position in ((0.0, HERE), (0.5, [1.0, 0.0]), (0.9, [2.0, -1.0]), (2.0, [1.5, 3.0]), (9.0, [1.5, 3.0])):
        np.testing.assert_allclose(path.at(t).position, position, atol=1e-12)
    for t in (0.0, 2.0, 9.0):
        np.testing.assert_allclose(path.at(t).velocity, 0.0, atol=1e-12)
        np.testing.assert_allclose(path.at(t).acceleration, 0.0, atol=1e-9)
    # joint 0 goes on upwards through the first waypoint and turns round at the second; joint 1 turns round at both
    assert path.at(0.5).velocity[0] == pytest.approx(0.5 * (0.7 / 0.5 + 1.0 / 0.4))
    np.testing.assert_allclose([path.at(0.5).velocity[1], *path.at(0.9).velocity], 0.0, atol=1e-12)


def test_a_rest_to_rest_quintic_is_the_smooth_step():
    path = Waypoints([1.0, 3.0], [[0.0], [2.0]])
    for x in np.linspace(0, 1, 11):
        s, ds, dds = smooth_step(x)
        found = path.at(1.0 + 2.0 * x)
        np.testing.assert_allclose(
            [found.position[0], found.velocity[0], found.acceleration[0]], [2 * s, ds, dds / 2], atol=1e-12
        )


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"trajectory": "circle"}, "trajectory: expected one of 'hold', 'step', 'sine', 'waypoints', got 'circle'"),
        ({"frequency": (-1.0,)}, "frequency[0]: expected 0 or more, got -1"),
        ({"frequency": (float("nan"),)}, "frequency[0]: expected a finite number, got nan"),
        ({"ramp": "soon"}, "ramp: expected a finite number, got 'soon'"),
        ({"amplitude": 0.1}, "amplitude: expected a tuple of numbers, got 0.1"),
        ({"amplitude": (1.0, 2.0, 3.0)}, "amplitude: expected 1 number for all joints or 2, one for each, got 3"),
        ({"position": (1.0, 2.0, 3.0)}, "position: expected 1 number for all joints or 2, one for each, got 3"),
        ({"trajectory": "waypoints"}, "waypoints: expected 2 numbers for each of the 0 times (at least one), got 0"),
        (
            {"trajectory": "waypoints", "times": (1.0, 2.0), "waypoints": (1.0,)},
            "waypoints: expected 2 numbers for each of the 2 times (at least one), got 1",
        ),
        (
            {"trajectory": "waypoints", "times": (2.0, 1.0), "waypoints": (1.0,) * 4},
            "times: expected increasing ones, got [0.0, 2.0, 1.0]",
        ),
        (
            {"trajectory": "waypoints", "times": (0.0,), "waypoints": (1.0, 1.0)},
            "times: expected the first after the start",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_trajectory_is_refused_with_the_reason(parameters, says):
    with pytest.raises(ValueError) as error:
        made(**parameters)
    assert says in str(error.value)


def test_all_problems_are_named_at_once():
    with pytest.raises(ValueError) as error:
        SetPointParameters(trajectory="circle", ramp=-1.0)
    assert len(str(error.value).splitlines()) == 2
