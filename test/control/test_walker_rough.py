# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker on ground that is not flat: legs braked at their own touch-down, and what happens without that."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from walker_runs import ROOT, roll_pitch_yaw, walker

from mbsim_ros import Simulation
from mbsim_ros.control.feet import foot_forces
from mbsim_ros.control.walker.gait import WalkerGait, WalkerGaitParameters
from mbsim_ros.control.walker.geometry import walker_geometry
from mbsim_ros.control.walker.landing import BrakedCouplings, Landing, later_braking, tilt
from mbsim_ros.control.walker.legs import FRAMES, LEGS, legs
from mbsim_ros.control.walker.walk import walk
from mbsim_ros.coupling import named
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain

NORMAL = "normal"
FEET = {f"{leg}_tibia": leg for leg in LEGS}
CARRIES = 5.0  # [N] from which on a foot carries load
DOWN = 20.0


class Trip:
    """A walk over a terrain of config/, with its record: base (n, 3), roll and pitch (n, 2), and what feet carried."""

    def __init__(self, terrain, seconds, asked=((0.0, 0.22, 0.0, 0.0),), **parameters):
        ground = chosen_terrain(str(ROOT / "config" / f"terrain_{terrain}.yaml"))
        self.sim = Simulation(walker(), coupling="normal", terrain=ground)
        self.gait = WalkerGait(walker(), WalkerGaitParameters(**parameters))
        base, angles, carries = [], [], []

        def each(sim):
            q = sim.q
            base.append(q[:3])
            angles.append(roll_pitch_yaw(q)[:2])
            if self.gait.step is not None:
                forces = foot_forces(sim.state(), FEET)
                carries.append(all(forces[leg] >= CARRIES for leg in legs(self.gait.step.stance)))

        walk(self.sim, self.gait, seconds, asked, each=each, every=5)
        self.base, self.angles = np.array(base), np.array(angles)
        self.carried = float(np.mean(carries))


def test_on_a_plate_rigid_legs_roll():
    trip = Trip("plate", 5.0)
    assert np.abs(trip.angles[:, 0]).max() >= 0.05
    assert trip.carried < 0.8


def test_on_a_plate_braked_legs_stay_level_and_all_carry():
    trip = Trip("plate", 12.0, rough=True)
    assert trip.base[-1, 0] > 1.4  # all eight feet have passed the edge at 0.8 m, or their frame's other side has
    assert np.abs(trip.angles).max() <= 0.01
    assert trip.carried >= 0.8
    assert trip.sim.ledger().clutch_loss > 0.0
    heights = {leg: femur(trip.sim, leg) for leg in legs("A")}
    assert min(heights["AFR"], heights["ARR"]) - heights["AFL"] > 0.1  # the left front leg stands 30 mm higher


@pytest.mark.slow
def test_over_rubble():
    trip = Trip("rubble", 47.0, rough=True)
    assert trip.base[-1, 0] >= 5.3  # it begins under the front feet at 0.26 m: 5 m of it
    assert np.abs(trip.angles).max() <= 0.05
    assert abs(trip.base[-1, 1]) <= 0.1
    assert trip.base[:, 2].min() > 0.38


def test_up_and_down_a_slope():
    trip = Trip("slope", 36.0)
    assert trip.base[-1, 0] > 7.2  # beyond its end
    assert trip.base[:, 2].max() > 0.82  # and over its top
    assert trip.angles[:, 1].min() == pytest.approx(-np.radians(10.0), abs=0.01)
    assert trip.angles[:, 1].max() == pytest.approx(np.radians(10.0), abs=0.01)
    assert np.abs(trip.angles[-50:]).max() < 0.01
    assert np.abs(trip.angles[:, 0]).max() < 0.01


def test_on_a_slope_braked_legs_keep_the_body_level():
    trip = Trip("slope", 19.0, rough=True)
    assert trip.base[-1, 0] > 1.9  # all feet are on the slope
    assert trip.base[-1, 2] - trip.base[0, 2] > 0.12
    assert np.abs(trip.angles).max() <= 0.03
    assert trip.carried >= 0.8


def test_rough_steps_turn_and_stop_too():
    asked = [(0.0, 0.0, 0.1, 0.0), (4.0, 0.0, 0.0, 0.0)]
    trip = Trip("flat", 9.0, asked, rough=True)
    assert roll_pitch_yaw(trip.sim.q)[2] > 0.1
    assert not trip.gait.is_walking
    assert np.abs(trip.angles).max() <= 0.01
    assert trip.sim.coupling.name == NORMAL


def frame(name):
    return walker_geometry(walker()).frame(name)


def brakes():
    return BrakedCouplings(walker_geometry(walker()), named(walker()))


def femur(sim, leg):
    """Angle by which a femur lowers its foot."""
    return (1.0 if leg[1] == "F" else -1.0) * float(sim.q[walker().joint(f"{leg}_f").iq])


def test_couplings_of_braked_femurs():
    """Each takes the femurs of its legs off the motor, and nothing else."""
    couplings = named(walker())
    normal = couplings["normal"]
    expected = set()
    for letter in FRAMES:
        for count in (1, 2, 3):
            for feet in combinations(legs(letter), count):
                name = brakes().name(feet[::-1])  # in whichever order they touched down
                expected.add(name)
                one = couplings[name]
                assert one.motors == normal.motors
                assert set(one.locked) == {f"{leg}_f" for leg in feet}
                D = normal.D.copy()
                column = normal.column_of(f"femur_{letter}")
                for leg in feet:
                    D[[walker().joint(f"{leg}_f").iv, walker().joint(f"{leg}_t").iv], column] = 0.0
                np.testing.assert_array_equal(one.D, D)
    assert expected == {name for name in couplings if name.startswith("braked")}
    assert brakes().name(()) == NORMAL
    assert not brakes().missing()


def test_a_landing_brakes_leg_by_leg_and_then_pushes():
    p = WalkerGaitParameters(rough=True)
    landing = Landing(frame("B"), brakes(), -0.5, 0.15, (0.0, 0.0), p)
    forces, wanted, way = {}, [], []
    touches = {"BRR": 0.02, "BFL": 0.05, "BFR": 0.0501, "BRL": 0.09}  # [m] of lowering
    coupling = NORMAL
    begin = np.sin(landing.angle)
    while not landing.is_done and len(way) < 2000:
        landing.update(0.002, coupling, forces)
        coupling = landing.coupling  # in force one period later
        lowered = 0.2 * (np.sin(landing.angle) - begin)
        forces = {leg: DOWN for leg, at in touches.items() if lowered >= at}
        if not wanted or wanted[-1] != coupling:
            wanted.append(coupling)
        way.append(lowered)
    assert wanted == [NORMAL, "braked_BRR", "braked_BFL_BFR_BRR", NORMAL]
    assert way[-1] == pytest.approx(0.09 + p.preload, abs=5e-4)
    assert set(landing.touched) == set(touches)
    assert np.diff(way).max() <= 1.01 * 0.002 * p.lowering_speed
    assert np.diff(way).min() >= 0.0


def test_a_landing_without_ground_ends():
    p = WalkerGaitParameters(rough=True)
    landing = Landing(frame("A"), brakes(), -0.5, 0.15, (0.0, 0.0), p)
    for _ in range(2000):
        landing.update(0.002, landing.coupling, {"AFL": DOWN})
        if landing.is_done:
            break
    assert landing.is_done
    assert landing.touched == ("AFL",)
    assert landing.coupling == NORMAL


def test_legs_under_the_low_side_are_braked_later():
    p = WalkerGaitParameters(rough=True, levelling=1.0, largest_levelling=0.01)
    later = later_braking(frame("A"), (0.01, 0.0), p)  # its left side is high
    assert later == pytest.approx({"AFL": 0.0, "ARL": 0.0, "AFR": 0.0052, "ARR": 0.0052})
    later = later_braking(frame("B"), (0.0, 0.01), p)  # its front is low
    assert later == pytest.approx({"BFL": 0.009, "BFR": 0.009, "BRL": 0.0, "BRR": 0.0})
    assert max(later_braking(frame("A"), (1.0, 0.0), p).values()) == 0.01


def test_tilt():
    q = walker().neutral.copy()
    q[3:7] = [np.sin(0.1), 0.0, 0.0, np.cos(0.1)]
    assert tilt(q) == pytest.approx((0.2, 0.0))
    q[3:7] = [0.0, np.sin(0.1), 0.0, np.cos(0.1)]
    assert tilt(q) == pytest.approx((0.0, 0.2))
