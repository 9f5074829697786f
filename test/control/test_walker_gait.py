# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the gait generator asks for, without physics: smooth whatever is asked for when, and where feet should be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from walker_runs import PERIOD, walker

from mbsim_ros.control.balance.touch_down import TouchDown
from mbsim_ros.control.joints.quintic import Quintic
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.gait import WalkerGait, WalkerGaitParameters
from mbsim_ros.control.walker.geometry import walker_geometry
from mbsim_ros.control.walker.legs import joint_matrix

FEMUR, FOOT_RADIUS, SHIN, HIP_DEPTH = 0.2, 0.02, {"A": 0.4, "B": 0.32}, {"A": 0.0, "B": 0.08}  # [m] of the URDF
KINK = 0.06  # [rad/s] by which rates of targets may change in their change from tick to tick


def motor_angles(frame, *arguments):
    return walker_geometry(walker()).frame(frame).motor_angles(*arguments)


class Follower:
    """A robot that is always where it is told to be, in the coupling `normal`."""

    def __init__(self, gait, coupling="normal"):
        self.gait, self.coupling = gait, coupling
        self.q = walker().neutral.copy()
        femur = math.asin((gait.parameters.depth - SHIN["A"]) / FEMUR)
        self.motor_position = np.array([0.0, femur, 0.0, femur, 0.0])  # as the gait stands
        self.q[7:] = joint_matrix(walker()) @ self.motor_position

    def go(self, t):
        state = RobotState(0, self.q, np.zeros(23), self.motor_position, coupling=self.coupling)
        command = self.gait.update(t, state).motor
        if len(command.names) == 5:
            self.motor_position = np.array(command.position)
            self.q[7:] = joint_matrix(walker()) @ self.motor_position
        return command


def play(asked, seconds, parameters=None):
    """Targets (n, 5) and rates (n, 5) for velocities [(time, forward, turn, rise)…]."""
    gait = WalkerGait(walker(), parameters)
    robot = Follower(gait)
    asked = sorted(asked)
    found = []
    for i in range(round(seconds / PERIOD)):
        t = i * PERIOD
        while asked and t >= asked[0][0]:
            gait.ask(*asked.pop(0)[1:])
        command = robot.go(t)
        found.append([*command.position, *command.velocity])
    found = np.array(found)
    return found[:, :5], found[:, 5:], gait


def assert_smooth(targets, rates):
    """Positions follow from the rates, and rates have no jumps: from tick to tick they change evenly."""
    means = 0.5 * (rates[1:] + rates[:-1])
    assert np.abs(np.diff(targets, axis=0) / PERIOD - means).max() < 0.02
    assert np.abs(np.diff(rates, n=2, axis=0)).max() < KINK


@settings(max_examples=8, deadline=None)
@given(st.lists(
    st.tuples(st.floats(0.0, 6.0), st.floats(-0.6, 0.6), st.floats(-0.2, 0.2), st.sampled_from([0.0, 0.0, 0.0, -1.0])),
    min_size=1, max_size=12,
))  # fmt: skip
def test_targets_are_smooth_whatever_is_asked_for(asked):
    assert_smooth(*play(asked, 6.5)[:2])


def test_a_stop_ends_with_all_feet_under_their_hips():
    targets, rates, gait = play([(0.0, 0.3, 0.1, 0.0), (3.0, 0.0, 0.0, 0.0)], 6.0)
    assert not gait.is_walking
    depth = gait.parameters.depth
    femur = math.asin((depth - SHIN["A"]) / FEMUR)
    np.testing.assert_allclose(targets[-1], [0.0, femur, 0.0, femur, 0.0], atol=1e-12)
    assert not rates[-1].any()


def test_a_stop_at_the_begin_of_a_step_shortens_it():
    """Asked for before the stroke, the step that was to be long brings the feet together."""
    begin = 0.2  # the gait first settles for that long
    changed = play([(0.0, 0.24, 0.0, 0.0), (begin + 0.05, 0.0, 0.0, 0.0)], 2.0)[0]
    assert np.abs(changed[:, [2, 4]]).max() < 1e-3
    late = play([(0.0, 0.24, 0.0, 0.0), (begin + 0.5, 0.0, 0.0, 0.0)], 2.0)[0]
    assert np.abs(late[:, [2, 4]]).max() > 0.1


def test_sitting_and_standing_up():
    asked = [(0.0, 0.0, 0.0, -1.0), (3.0, 0.0, 0.0, 1.0)]
    targets, rates, gait = play(asked, 6.0)
    assert_smooth(targets, rates)
    low = targets[round(2.9 / PERIOD)]
    assert low[1] == pytest.approx(math.asin((gait.parameters.sitting_depth - SHIN["A"]) / FEMUR))
    assert targets[-1][1] == pytest.approx(math.asin((gait.parameters.depth - SHIN["A"]) / FEMUR))


def test_one_that_sits_stands_up_before_it_walks():
    targets, _, gait = play([(0.0, 0.0, 0.0, -1.0), (3.0, 0.2, 0.0, 0.0)], 8.0)
    shins = np.abs(targets[:, [2, 4]]).max(axis=1)
    first = int(np.argmax(shins > 1e-6))
    assert first * PERIOD >= 3.0 + gait.parameters.rising_time - PERIOD
    assert shins.max() > 0.1


def test_standing_feet_keep_their_height():
    """The femur compensates the arc of the shin."""
    for frame in "AB":
        for reach in np.linspace(-0.17, 0.17, 9):
            phi, theta, _, _ = motor_angles(frame, reach, 0.0, 0.39, 0.0)
            depth = HIP_DEPTH[frame] + FEMUR * math.sin(phi) + SHIN[frame] * math.cos(theta)
            assert depth == pytest.approx(0.39, abs=1e-12)
            assert -SHIN[frame] * math.sin(theta) - FOOT_RADIUS * theta == pytest.approx(reach, abs=1e-9)


def test_rates_of_the_legs():
    h = 1e-6
    for frame in "AB":
        here = motor_angles(frame, 0.1, 0.4, 0.37, -0.2)
        ahead = motor_angles(frame, 0.1 + 0.4 * h, 0.4, 0.37 - 0.2 * h, -0.2)
        np.testing.assert_allclose((np.array(ahead[:2]) - here[:2]) / h, here[2:], rtol=1e-4)


def test_time_stands_still_while_brakes_are_on():
    gait = WalkerGait(walker())
    robot = Follower(gait)
    gait.ask(0.2)
    for i in range(400):
        robot.go(i * PERIOD)
    before = gait.gait_time
    robot.coupling, robot.motor_position = "hold", np.zeros(0)
    for i in range(400, 500):
        assert robot.go(i * PERIOD).names == ()
    assert gait.gait_time == before
    robot.coupling, robot.motor_position = "normal", np.zeros(5)  # engaged anew, motors count from zero
    held = robot.q[7:].copy()
    command = robot.go(500 * PERIOD)
    assert np.abs(command.position).max() < 2e-3
    assert np.abs(command.velocity).max() < 0.1
    gait.ask(0.0)
    assert np.abs(held).max() > 0.05


def test_reversed_femurs_are_driven_the_other_way():
    gait = WalkerGait(walker())
    robot = Follower(gait)
    for i in range(200):
        robot.go(i * PERIOD)
    gait.ask(0.2)
    robot.coupling = "femurs_reversed"
    angles = robot.q[7:].copy()
    robot.motor_position = np.zeros(5)
    for i in range(200, 300):
        state = RobotState(0, robot.q, np.zeros(23), robot.motor_position, coupling=robot.coupling)
        command = gait.update(i * PERIOD, state).motor
        robot.motor_position = np.array(command.position)
        robot.q[7:] = angles + joint_matrix(walker()) * [1, -1, 1, -1, 1] @ robot.motor_position
    expected = joint_matrix(walker()) @ gait.targets()[0]
    np.testing.assert_allclose(robot.q[7:], expected, atol=1e-9)
    assert np.abs(robot.q[7:] - angles).max() > 0.1


def test_a_gap_in_time_starts_again():
    gait = WalkerGait(walker())
    robot = Follower(gait)
    gait.ask(0.2)
    for i in range(600):
        robot.go(i * PERIOD)
    assert gait.is_walking
    robot = Follower(gait)
    command = robot.go(600 * PERIOD + 1.0)
    assert not gait.is_walking
    np.testing.assert_allclose(command.position, Follower(gait).motor_position, atol=1e-12)


def test_quintic_leaves_another_without_a_jump():
    first = Quintic(1.0, 2.0, 0.0, 1.0)
    second = first.towards(1.3, 0.4)
    assert second.at(1.3) == pytest.approx(first.at(1.3))
    assert second.acceleration(1.3) == pytest.approx(first.acceleration(1.3))
    assert second.at(2.0) == (0.4, 0.0)
    assert second.at(2.0 - 1e-9)[1] == pytest.approx(0.0, abs=1e-6)
    assert second.acceleration(2.0 - 1e-9) == pytest.approx(0.0, abs=1e-5)


def test_touch_down_needs_force_that_lasts():
    feet = TouchDown(["AFL", "AFR"], down=8.0, up=2.0, lasting=0.004)
    assert feet.update(0.000, {"AFL": 20.0}) == ()
    assert feet.update(0.002, {"AFL": 1.0}) == ()  # a bounce
    assert feet.update(0.004, {"AFL": 20.0}) == ()
    assert feet.update(0.008, {"AFL": 4.0}) == ("AFL",)  # above what lifts it
    assert feet.standing == ("AFL",)
    assert feet.last_touch == {"AFL": 0.004}
    assert feet.update(0.010, {"AFL": 1.0}) == ()
    assert not feet.is_down("AFL")


def test_bad_parameters_and_velocities_are_refused():
    with pytest.raises(ValueError, match="lift: expected 0.01 or more"):
        WalkerGaitParameters(lift=-1.0)
    with pytest.raises(ValueError, match="finite"):
        WalkerGait(walker()).ask(math.nan)
