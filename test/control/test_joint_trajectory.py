# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Trajectories that come while it runs: followed by the arm, judged by tolerances, refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import Simulation
from mbsim_ros.control.joints.joint_trajectory import (
    GOAL_TOLERANCE_VIOLATED,
    PATH_TOLERANCE_VIOLATED,
    SUCCESSFUL,
    Goal,
    JointTrajectoryController,
    JointTrajectoryParameters,
)  # fmt: skip
from mbsim_ros.control.joints.trajectories import TimedPoints

PERIOD = 0.002


@pytest.fixture
def arm():
    return Simulation("urdf/arm.urdf.xacro")


def run_to_the_end(arm, controller, seconds=2.0):
    """The outcome and the time at which it came."""
    for _ in range(round(seconds / PERIOD)):
        arm.run(PERIOD, controller, control_period=PERIOD)
        if controller.progress is not None and controller.progress.outcome is not None:
            return controller.progress, arm.seconds
    return controller.progress, None


def names_of(arm):
    return {name: arm.model.joint(name).iq for name in arm.tau_names}


def test_it_follows_and_the_rest_holds(arm):
    iq, home = names_of(arm), arm.q
    controller = JointTrajectoryController(arm.model)
    arm.run(0.1, controller, control_period=PERIOD)
    names = arm.tau_names[1:3]
    goal = Goal(
        names, np.array([1.0]), np.array([[home[iq[names[0]]] - 0.3, home[iq[names[1]]] + 0.2]]), np.zeros((1, 2))
    )
    controller.follow(goal)
    progress, end = run_to_the_end(arm, controller)
    assert (progress.outcome, end) == (SUCCESSFUL, pytest.approx(0.1 + 1.0 + PERIOD, abs=1e-9))
    arm.run(0.2, controller, control_period=PERIOD)
    wanted = home.copy()
    wanted[[iq[name] for name in names]] = goal.positions[0]
    np.testing.assert_allclose(arm.q, wanted, atol=2e-3)


def test_a_goal_that_starts_later_and_one_that_is_late(arm):
    """A start in the future is waited for; of one in the past only what is left is followed."""
    for start in (0.4, -0.2):
        arm.reset()
        controller = JointTrajectoryController(arm.model)
        name = arm.tau_names[2]
        here = arm.q[names_of(arm)[name]]
        controller.follow(Goal((name,), np.array([0.1, 0.5]), np.array([[here], [here + 0.2]]), start=start))
        progress, end = run_to_the_end(arm, controller)
        assert (progress.outcome, end) == (SUCCESSFUL, pytest.approx(start + 0.5 + PERIOD, abs=2 * PERIOD))


@pytest.mark.parametrize(
    ("more", "outcome", "reason"),
    [
        ({"path_tolerance": {0: 1e-9}}, PATH_TOLERANCE_VIOLATED, "more than 1e-09"),
        ({"goal_tolerance": {0: 1e-12}, "goal_time": 0.1}, GOAL_TOLERANCE_VIOLATED, "after the end joint"),
        ({"path_tolerance": {0: -1.0}}, SUCCESSFUL, ""),
    ],
)
def test_tolerances(arm, more, outcome, reason):
    name = arm.tau_names[1]
    more = {key: {name: value[0]} if isinstance(value, dict) else value for key, value in more.items()}
    controller = JointTrajectoryController(arm.model, JointTrajectoryParameters(path_tolerance=(0.5,)))
    here = arm.q[names_of(arm)[name]]
    controller.follow(Goal((name,), np.array([0.2]), np.array([[here + 0.1]]), **more))
    progress, _ = run_to_the_end(arm, controller, 0.6)
    assert progress.outcome == outcome
    assert reason in progress.reason


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"names": ("elbow", "wrst")}, "no joint named 'wrst'"),
        ({"names": ("elbow", "elbow")}, "each once"),
        ({"times": np.array([1.0, 1.0])}, "times that increase"),
        ({"times": np.array([-1.0, 1.0])}, "from 0"),
        ({"positions": np.zeros((2, 3))}, "positions: expected"),
        ({"velocities": np.array([[0.0, np.nan], [0.0, 0.0]])}, "velocities: not finite"),
        ({"path_tolerance": {"tool": 0.1}}, "does not move 'tool'"),
    ],
)
def test_what_is_wrong_is_refused_and_the_old_goal_stays(arm, change, word):
    controller = JointTrajectoryController(arm.model)
    good = {"names": ("elbow", arm.tau_names[0]), "times": np.array([0.5, 1.0]), "positions": np.zeros((2, 2))}
    controller.follow(Goal(**good))
    asked = controller._asked
    with pytest.raises(ValueError, match=word):
        controller.follow(Goal(**{**good, **change}))
    assert controller._asked is asked


def test_points_are_joined_by_what_they_say():
    """A line, a cubic, a quintic: each has what its points say, and the middle that belongs to it."""
    times, positions, zeros = [0.0, 2.0], [[0.0], [1.0]], [[0.0], [0.0]]
    line, cubic, quintic = (TimedPoints(times, positions, *rest) for rest in ((), (zeros,), (zeros, zeros)))
    for motion in (line, cubic, quintic):
        assert motion.at(1.0).position == pytest.approx([0.5])
        assert motion.at(-1.0).position == [0.0] and motion.at(3.0).position == [1.0]
    assert (line.at(0.3).velocity, cubic.at(1.0).velocity) == (pytest.approx([0.5]), pytest.approx([0.75]))
    assert quintic.at(1.0).velocity == pytest.approx([0.9375])
