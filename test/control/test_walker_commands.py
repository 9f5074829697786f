# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What cmd_vel means: each way of walking does what it says, and changes in mid-stride never jerk the motors."""

from __future__ import annotations

import numpy as np
import pytest
from walker_runs import roll_pitch_yaw, walker

from mbsim_ros import Simulation
from mbsim_ros.control.walker.gait import WalkerGait, WalkerGaitParameters
from mbsim_ros.control.walker.walk import PERIOD, walk

# [rad/s²] of the targets of waist, femurs and shins. The most is a femur's that lifts its foot by 60 mm in 0.15 s, or by
# 80 mm in 0.13 s at full speed. A jump of a speed by 0.03 rad/s between two instants would be 15 rad/s².
AT_EASE = np.array([15.0, 85.0, 15.0, 85.0, 15.0])
AT_FULL_SPEED = np.array([15.0, 150.0, 25.0, 150.0, 25.0])

WAYS = {  # velocity: forward, turn, rise → signs of the way ahead, of the turn and of the rise
    "forward": ((0.2, 0.0, 0.0), (1, 0, 0)),
    "backward": ((-0.2, 0.0, 0.0), (-1, 0, 0)),
    "turn left": ((0.0, 0.1, 0.0), (0, 1, 0)),
    "turn right": ((0.0, -0.1, 0.0), (0, -1, 0)),
    "curve": ((0.15, -0.08, 0.0), (1, -1, 0)),
    "backward curve": ((-0.15, 0.08, 0.0), (-1, 1, 0)),
    "stop": ((0.0, 0.0, 0.0), (0, 0, 0)),
    "sit down": ((0.0, 0.0, -1.0), (0, 0, -1)),
}


def accelerations(asked, seconds, parameters=None):
    """Accelerations (n, 5) of the motors' targets for velocities [(time, forward, turn, rise), …], without physics."""
    sim = Simulation(walker(), coupling="normal")
    gait = WalkerGait(walker(), parameters)
    gait.ask(*asked[0][1:])
    gait.update(0.0, sim.state())
    rates, k = [], 1
    for time, *velocity in [*asked[1:], (seconds,)]:
        upto = round(time / PERIOD)
        rates.append(gait.ahead([i * PERIOD for i in range(k, upto)])[:, 1, 6:])
        k = upto
        if velocity:
            gait.ask(*velocity)
    return np.diff(np.vstack(rates), axis=0) / PERIOD


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_moving(way):
    """From a stand that has been walked into: 4 s of it, for which 2.5 s are enough to be under way."""
    velocity, signs = WAYS[way]
    sim, gait = Simulation(walker(), coupling="normal"), WalkerGait(walker())
    walk(sim, gait, 1.0, [(0.0, *velocity)])
    x, yaw, z = sim.q[0], roll_pitch_yaw(sim.q)[2], sim.q[2]
    walk(sim, gait, 3.2)
    moved = (sim.q[0] - x, roll_pitch_yaw(sim.q)[2] - yaw, sim.q[2] - z)
    for amount, sign, least, still in zip(moved, signs, (0.3, 0.15, 0.02), (0.02, 0.01, 0.006), strict=True):
        assert sign * amount > least if sign else abs(amount) < still
    assert np.abs(roll_pitch_yaw(sim.q)[:2]).max() < 0.01
    assert (np.abs(accelerations([(0.0, *velocity)], 4.0)) < AT_EASE).all()


@pytest.mark.parametrize("before", ["forward", "turn left", "curve", "stop", "sit down"])
@pytest.mark.parametrize("after", WAYS)
def test_a_change_in_mid_stride_does_not_jerk(before, after):
    first, then = WAYS[before][0], WAYS[after][0]
    for late in (0.07, 0.33, 0.51, 0.77):  # lifting, stroke, lowering, before the end
        asked = [(0.0, *first), (1.8 + late, *then), (3.1, *first)]
        assert (np.abs(accelerations(asked, 5.0)) < AT_EASE).all()


def test_full_speed_and_back_in_mid_stride():
    asked = [(0.0, 0.5, 0.0, 0.0), (1.63, -0.5, 0.1, 0.0), (2.35, 0.5, -0.1, 0.0), (3.3, 0.0, 0.0, -1.0)]
    assert (np.abs(accelerations(asked, 6.0)) < AT_FULL_SPEED).all()


def test_standing_up_from_sitting_then_walking_as_asked():
    sim, gait = Simulation(walker(), coupling="normal"), WalkerGait(walker())
    sim.reset("sitting")
    walk(sim, gait, 2.2, [(0.0, 0.0, 0.0, 1.0)])
    assert sim.q[2] == pytest.approx(0.405, abs=0.01)
    assert not gait.is_walking
    walk(sim, gait, 1.0, [(0.0, 0.2, 0.0, 0.0)])
    assert gait.is_walking


def test_what_is_too_fast_is_walked_as_fast_as_it_can():
    p = WalkerGaitParameters()
    sim, gait = Simulation(walker(), coupling="normal"), WalkerGait(walker())
    walk(sim, gait, 4.0, [(0.0, 5.0, 0.0, 0.0)])
    assert 0.4 < sim.q[0] / 4.0 <= p.longest_step / p.shortest_step_time
