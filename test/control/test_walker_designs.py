# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Walkers of other lengths and with six legs: gait and couplings are those of the legs that there are."""

from __future__ import annotations

import functools
from itertools import combinations

import numpy as np
import pytest
from walker_runs import ROOT, roll_pitch_yaw

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.control.clutches.logic import REFUSED, ClutchLogic, ClutchRequest
from mbsim_ros.control.walker.gait import WalkerGait, WalkerGaitParameters
from mbsim_ros.control.walker.geometry import walker_geometry
from mbsim_ros.control.walker.walk import walk
from mbsim_ros.coupling import named
from mbsim_ros.dynamics import forward_kinematics
from mbsim_ros.model.problems import UrdfError
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain

DESIGNS = {
    "short femurs": {"femur": 0.14},
    "the paper's": {},
    "long femurs": {"femur": 0.26},
    "six legs": {"legs": 6, "femur": 0.26},
}
each_design = pytest.mark.parametrize("design", DESIGNS)


@functools.cache
def built(design):
    return load_urdf(ROOT / "urdf" / "walker.urdf.xacro", xacro_args=DESIGNS[design])


@each_design
def test_it_walks_turns_and_lifts_what_is_asked(design):
    """The swinging feet clear the ground by the lift that is asked for, to 5 %, while they are up."""
    model = built(design)
    sim, gait = Simulation(model, coupling="normal"), WalkerGait(model, WalkerGaitParameters(lift_compensation=1.0))
    lifts, level = [], []

    def each(sim):
        level.append(roll_pitch_yaw(sim.q)[:2])
        step = gait.step
        if step is not None and step.up.end <= gait.gait_time <= step.down.begin:
            gaps = {report.link: -report.penetration for report in sim.contacts()}
            lifts.extend(gaps[leg.foot] for leg in gait.geometry.frame(step.swing).legs)

    walk(sim, gait, 4.2, [(0.0, 0.22, 0.0, 0.0)], each=each, every=10)
    assert sim.q[0] > 0.6
    assert abs(sim.q[1]) < 0.01
    assert np.mean(lifts) == pytest.approx(gait.parameters.lift, rel=0.05)
    walk(sim, gait, 4.8, [(4.2, 0.0, 0.1, 0.0)], each=each, every=10)
    assert roll_pitch_yaw(sim.q)[2] > 0.15
    assert np.abs(level).max() < 0.01


@pytest.mark.parametrize("design", [design for design in DESIGNS if DESIGNS[design]])
def test_it_crosses_a_plate(design):
    """30 mm under one side, with the edge beside the legs in the middle: every leg finds its own ground."""
    model = built(design)
    plate = (ROOT / "config" / "terrain_plate.yaml").read_text().replace("[0.8, -0.01]", "[0.8, 0.06]")
    sim = Simulation(model, coupling="normal", terrain=chosen_terrain(plate))
    gait = WalkerGait(model, WalkerGaitParameters(rough=True, lift_compensation=1.0))
    level = []
    walk(sim, gait, 8.0, [(0.0, 0.22, 0.0, 0.0)], each=lambda sim: level.append(roll_pitch_yaw(sim.q)[:2]), every=10)
    assert sim.q[0] > 0.8
    assert np.abs(level).max() <= 0.01
    left, right = (float(sim.q[model.joint(joint).iq]) for joint in ("AFL_f", "AFR_f"))
    femur = gait.geometry.frames[0].femur
    assert femur * (np.sin(right) - np.sin(left)) == pytest.approx(0.03, abs=0.004)  # [m] the plate's height
    assert sim.ledger().clutch_loss > 0.0


def test_lengths_and_legs_are_the_models():
    geometry = walker_geometry(built("six legs"))
    assert [[leg.name for leg in frame.legs] for frame in geometry.frames] == [
        ["AFL", "AFR", "ARC"], ["BFC", "BRL", "BRR"]
    ]  # fmt: skip
    assert [frame.femur for frame in geometry.frames] == [0.26, 0.26]
    assert [(frame.shin, frame.hip_depth) for frame in geometry.frames] == [(0.4, 0.0), (0.32, 0.08)]
    assert geometry.foot_x == 0.51  # hip and femur
    assert geometry.leg_gap == 0.116  # 160 mm between ARC and BRL, less two feet and 4 mm
    assert geometry.motors == ("waist", "femur_A", "tibia_A", "femur_B", "tibia_B")
    paper = walker_geometry(built("the paper's"))
    assert (paper.foot_x, paper.leg_gap, paper.frames[0].furthest) == (0.45, 0.056, 1.2)


@each_design
def test_feet_are_where_the_geometry_says(design):
    """Against the kinematics of the whole tree, for random angles of the motors."""
    model = built(design)
    geometry, D = walker_geometry(model), named(model)["normal"].D[6:, 6:]
    rng = np.random.default_rng(5)
    for _ in range(5):
        angles = np.array([0.0, *rng.uniform(-0.4, 0.4, size=4)])
        q = model.neutral.copy()
        q[7:] = D @ angles
        kinematics = forward_kinematics(model, q)
        for k, frame in enumerate(geometry.frames):
            phi, theta = angles[1 + 2 * k : 3 + 2 * k]
            for leg in frame.legs:
                X = kinematics.link_pose(leg.foot)
                foot = X[:3, :3] @ [0.0, 0.0, -frame.shin] + X[:3, 3]
                assert -foot[2] == pytest.approx(frame.foot_depth(phi, theta), abs=1e-12)


def test_couplings_of_six_legs():
    """D of N (48), (49), (29) with the legs that there are; every choice of legs of a frame can be braked."""
    model = built("six legs")
    couplings = named(model)
    normal = couplings["normal"]
    frames = {"A": ("AFL", "AFR", "ARC"), "B": ("BFC", "BRL", "BRR")}
    D = np.zeros((19, 11))
    D[:6, :6] = np.eye(6)
    D[model.joint("body").iv, normal.column_of("waist")] = 1.0
    for frame, legs in frames.items():
        femurs, shins = (normal.column_of(f"{kind}_{frame}") for kind in ("femur", "tibia"))
        for leg in legs:
            sign = 1.0 if leg[1] == "F" else -1.0
            D[model.joint(f"{leg}_f").iv, femurs] = sign
            D[model.joint(f"{leg}_t").iv, [femurs, shins]] = -sign, 1.0
    np.testing.assert_array_equal(normal.D, D)
    expected = {"normal", "turn", "hold", "femurs_reversed"}
    expected |= {f"{leg}_released" for legs in frames.values() for leg in legs}
    braked = [chosen for legs in frames.values() for n in (1, 2) for chosen in combinations(legs, n)]
    assert set(couplings) == expected | {f"braked_{'_'.join(chosen)}" for chosen in braked}
    both = couplings["braked_AFL_ARC"]
    assert both.locked == ("AFL_f", "ARC_f")
    D[[model.joint(joint).iv for joint in ("AFL_f", "AFL_t", "ARC_f", "ARC_t")], both.column_of("femur_A")] = 0.0
    np.testing.assert_array_equal(both.D, D)


def test_a_tripod_lets_no_leg_go():
    """Of three feet that carry, none can be spared."""
    sim = Simulation(built("six legs"), coupling="normal")
    clutches = ClutchLogic(sim.model)
    sim.run(0.5)
    clutches.request(ClutchRequest("ARC_released"))
    clutches.update(sim.seconds, sim.state())
    assert [(event.outcome, "ARC is loaded" in event.reason) for event in clutches.events] == [(REFUSED, True)]


@pytest.mark.parametrize(
    ("design", "asked", "reason"),
    [
        ({"femur": 0.08}, {}, "fast_lift: .* cannot be lifted by 0.08 m with femurs of 0.08 m .*: 0.064 m they can"),
        ({}, {"lift": 0.2}, "lift: .* by 0.2 m with femurs of 0.2 m .*: 0.176 m they can"),
        ({"tibia": 0.5}, {"depth": 0.3}, "depth: 0.3 m below the base is out of reach .*: 0.394 to 0.657 m are not"),
        ({"tibia": 0.2}, {}, "longest_step: .* cannot step by 0.35 m .* shins of 0.12 m .*: 0.271 m they can"),
    ],
)
def test_what_legs_cannot_reach_is_refused_with_what_they_can(design, asked, reason):
    model = load_urdf(ROOT / "urdf" / "walker.urdf.xacro", xacro_args=design)
    with pytest.raises(ValueError, match=reason) as refused:
        WalkerGait(model, WalkerGaitParameters(**asked))
    name, number = refused.value.args[0].split(":")[0], float(refused.value.args[0].split(": ")[-1].split()[0])
    WalkerGait(model, WalkerGaitParameters(**{**asked, "fast_lift": 0.05, name: number}))  # and that they can


def test_a_running_gait_keeps_what_it_can_do():
    gait = WalkerGait(built("short femurs"))
    before = gait.parameters
    with pytest.raises(ValueError, match="lift"):
        gait.configure(WalkerGaitParameters(lift=0.3))
    assert gait.parameters is before


def test_designs_that_there_are_not():
    with pytest.raises(UrdfError, match="legs: expected 8 or 6, got 7"):
        load_urdf(ROOT / "urdf" / "walker.urdf.xacro", xacro_args={"legs": 7})
    with pytest.raises(ValueError, match="'arm' with no section `gait`"):
        WalkerGait(load_urdf(ROOT / "urdf" / "arm.urdf.xacro"))
