# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Many control periods in one compiled call give the walk of one period after the other, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from walker_runs import roll_pitch_yaw, swing_clearance, walker

from mbsim_ros import Simulation
from mbsim_ros.control.joints.quintic import Quintic
from mbsim_ros.control.walker.gait import WalkerGait
from mbsim_ros.control.walker.gait_kernel import COLUMNS, NOBODY, ROWS, SETTLING, targets_into
from mbsim_ros.control.walker.geometry import walker_geometry
from mbsim_ros.control.walker.walk import walk
from mbsim_ros.sim.run_loop import act

ASKED = [(0.0, 0.22, 0.0, 0.0), (1.37, -0.1, 0.08, 0.0), (2.0005, 0.5, -0.1, 0.0), (3.1, 0.0, 0.0, -1.0)]


def started():
    sim = Simulation(walker(), coupling="normal")
    return sim, WalkerGait(walker())


def test_a_table_gives_the_same_walk():
    one, gait = started()
    due = list(ASKED)
    for _ in range(2000):
        while due and one.seconds >= due[0][0] - 1e-12:
            gait.ask(*due.pop(0)[1:])
        act(one, gait.update(one.seconds, one.state()))
        one.advance(2)
    other, gait = started()
    walk(other, gait, 4.0, ASKED, every=317)
    assert other.time == one.time == 4_000_000_000
    assert (other.q == one.q).all()
    assert (other.v == one.v).all()
    assert abs(one.q[0]) > 0.1


def test_a_table_follows_a_change_of_the_coupling():
    one, gait = started()
    walk(one, gait, 1.0, ASKED[:1])
    one.couple("femurs_reversed")
    walk(one, gait, 2.0)
    assert one.q[0] > 0.3
    assert np.abs(roll_pitch_yaw(one.q)[:2]).max() < 0.01


def test_a_minute_on_flat_ground():
    sim, gait = started()
    base, angles, clearance = [], [], []

    def each(sim):
        base.append(sim.q[:3])
        angles.append(roll_pitch_yaw(sim.q)[:2])
        clearance.extend(swing_clearance(sim, gait))

    walk(sim, gait, 60.0, [(0.0, 0.22, 0.0, 0.0)], each=each, every=10)
    base = np.array(base)
    distance = sim.q[0]
    assert distance / 60.0 >= 0.20
    assert np.abs(base[:, 1]).max() <= 0.02 * distance
    assert np.abs(angles).max() <= 0.01
    assert min(clearance) >= 0.040
    assert base[:, 2].min() > 0.38


def test_what_cannot_be_told_ahead():
    _, gait = started()
    with pytest.raises(ValueError, match="first state"):
        gait.ahead([0.0])
    sim, gait = started()
    gait.update(0.0, sim.state())
    with pytest.raises(ValueError, match="times"):
        gait.ahead([0.002, 1.0])
    with pytest.raises(ValueError, match="times"):
        gait.ahead([0.002, 0.001])
    assert gait.ahead([]).shape == (0, 2, 11)


def test_the_kernel_evaluates_quintics_as_they_do_themselves():
    rng = np.random.default_rng(0)
    plan = np.tile(Quintic.rest(0.0).row, (ROWS, 1))
    assert plan.shape == (ROWS, COLUMNS)
    plan[1] = (motion := Quintic(1.0, 2.5, *rng.normal(size=4))).row  # the waist
    plan[SETTLING] = (settling := Quintic(0.5, 2.0, *rng.normal(size=4))).row
    plan[0] = Quintic.rest(0.39).row
    times = np.linspace(0.0, 3.0, 61)
    targets = np.empty((61, 2, 5))
    targets_into(times, np.full(61, 0.5), plan, NOBODY, 2.0, walker_geometry(walker()).lengths, targets)
    for k, time in enumerate(times):
        angle, rate = motion.at(time)
        if time < 2.0:
            angle, rate = angle + settling.at(time)[0], rate + settling.at(time)[1]
        assert targets[k, 0, 0] == pytest.approx(angle, abs=1e-12)
        assert targets[k, 1, 0] == pytest.approx(0.5 * rate, abs=1e-12)
