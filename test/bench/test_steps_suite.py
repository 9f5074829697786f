# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `steps`: both sides simulate the same robots, stand and walk, and ratios come from the times. None is judged."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from mbsim_ros.bench import chain_steps, energy_steps
from mbsim_ros.bench.peers import mujoco as mujoco_peer
from mbsim_ros.bench.result import NoProgress, Options
from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.bench.step_cases import OURS, StepCase
from mbsim_ros.bench.suites import steps as steps_suite
from mbsim_ros.bench.timing import Timing
from mbsim_ros.bench.walker import case as walker_case, sides as walker_sides, steps as walker_steps
from mbsim_ros.dynamics import inverse_dynamics, link_pose, mass_matrix
from mbsim_ros.lie import quaternion
from mbsim_ros.model.assembly.builder import ModelBuilder, chain

with_mujoco = pytest.mark.skipif(importlib.util.find_spec("mujoco") is None, reason="mujoco is not installed")

TARGETS = walker_case.gait(walker_steps.CONTROL_STEPS * walker_sides.DT)


def slider():
    builder = ModelBuilder("slider").link("world")
    for name, kind, parent in (("a", "prismatic", "world"), ("b", "revolute", "a")):
        builder.link(name, mass=1.5, com=(0.1, -0.2, 0.05), rpy=(0.3, 0.2, 0.1), box=(0.1, 0.2, 0.4))
        limits = {"lower": -9, "upper": 9, "effort": 9, "velocity": 9}
        builder.joint(f"{name}_joint", kind, parent, name, xyz=(0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6), axis=(0.6, 0, 0.8),
                      rotor_inertia=0.1, **limits)  # fmt: skip
    return builder.build()


@with_mujoco
@pytest.mark.parametrize("make", [walker_case.walker, lambda: chain(7), lambda: chain(5, base="floating"), slider])
def test_mujoco_has_the_same_robot(make):
    """Mass matrix and inverse dynamics, in our layout; MuJoCo takes the linear velocity of a base along the world."""
    import mujoco

    model, rng = make(), np.random.default_rng(3)
    peer = mujoco_peer.MujocoRobot(model, mujoco_peer.specification(model, 1e-3))
    for _ in range(3):
        q, v, a = random_configuration(model, rng), random_velocity(model, rng), random_velocity(model, rng)
        peer.reset(q, v)
        np.testing.assert_allclose(peer.q, q, atol=1e-14)
        np.testing.assert_allclose(peer.v, v, atol=1e-14)
        to_world, acceleration = np.eye(model.nv), a.copy()
        if model.is_floating:
            R = to_world[:3, :3] = quaternion.to_matrix(quaternion.from_ros(q[3:7]))
            acceleration[:3] = R @ (a[:3] + np.cross(v[3:6], v[:3]))
        mujoco.mj_forward(peer.model, peer.data)
        M = np.zeros((model.nv, model.nv))
        _full_mass_matrix(peer, M)
        np.testing.assert_allclose(to_world.T @ M @ to_world, mass_matrix(model, q), atol=1e-9)
        peer.data.qacc[:] = acceleration
        mujoco.mj_inverse(peer.model, peer.data)
        np.testing.assert_allclose(to_world.T @ peer.data.qfrc_inverse, inverse_dynamics(model, q, v, a), atol=1e-9)


def _full_mass_matrix(peer, M):
    """MuJoCo's M; the function changed its arguments with version 4."""
    import mujoco

    try:
        mujoco.mj_fullM(peer.model, peer.data, M)
    except TypeError:
        mujoco.mj_fullM(peer.model, M, peer.data.qM)


@with_mujoco
@pytest.mark.parametrize("coupled", [False, True])
def test_mujocos_drives_push_as_our_motors_do(coupled):
    import mujoco

    walker = walker_sides.MujocoWalker(mujoco_peer.Settings(), coupled)
    rng = np.random.default_rng(1)
    x, rate, target = 0.1 * rng.normal(size=5), 0.2 * rng.normal(size=5), 0.1 * rng.normal(size=5)
    D = walker_case.five_motors().D[6:, 6:]
    q, v = walker_case.state_on_feet(x), np.zeros(23)
    q[2], v[6:] = 2.0, D @ rate
    walker.robot.reset(q, v)
    walker.target[:] = walker.command(target)
    mujoco.mj_forward(walker.robot.model, walker.robot.data)
    kp, kd = walker_case.STIFFNESS.copy(), walker_case.DAMPING.copy()
    if not coupled:  # a drive between femur and tibia holds the femur as well
        kp[[1, 3]] += kp[[2, 4]]
        kd[[1, 3]] += kd[[2, 4]]
    expected = kp * (target - x) - kd * rate
    np.testing.assert_allclose(D.T @ walker.robot.data.qfrc_actuator[6:], expected, atol=1e-9)
    if coupled:  # the equality constraints agree with the transmission
        assert np.abs(walker.robot.data.efc_pos).max() < 1e-12
        assert walker.robot.data.ne == 12


def feet(motor_angles):
    """Centres of the spheres (8, 3) of frames A and B, four each, in the world."""
    q, model = walker_case.state_on_feet(motor_angles), walker_case.walker()
    centres = []
    for frame in walker_case.FRAMES:
        for leg in walker_case.legs(frame):
            X = link_pose(model, q, f"{leg}_tibia")
            centres.append(X[:3, :3] @ [0, 0, -walker_case.TIBIA[frame]] + X[:3, 3])
    return np.array(centres)


def test_the_gait_keeps_standing_feet_on_the_floor_and_lifts_the_others():
    half = len(TARGETS) // 2
    heights = np.array([feet(row)[:, 2] for row in TARGETS]) - walker_case.FOOT_RADIUS
    assert np.abs(heights[:half, :4]).max() < 1e-12
    assert np.abs(heights[half:, 4:]).max() < 1e-12
    assert 0.05 < heights[half // 2, 4:].min() < heights[half // 2, 4:].max() < 0.07
    assert heights.min() > -1e-12
    begin, end = feet(TARGETS[0])[:, 0], feet(TARGETS[half - 1])[:, 0]
    np.testing.assert_allclose(end - begin, np.repeat([-1.0, 1.0], 4) * walker_case.STROKE, atol=1e-4)
    steps = np.diff(np.vstack([TARGETS[-1:], TARGETS]), axis=0)
    assert np.abs(steps).max() < 0.01  # no jumps, also not from one cycle to the next


def test_ours_stands_and_walks():
    walker = walker_sides.OurWalker()
    walker.reset(walker_case.standing_motors())
    walker.advance(1500)
    walker_sides.check_standing(walker)
    walker.reset(TARGETS[-1])
    walker.advance(500)
    for _ in range(2):
        watched = walker_steps.watch_cycle(walker, TARGETS)
    # feet of radius r roll by r times the angle of the tibias: 0.41 of A, 0.51 of B in a cycle
    rolled = walker_case.FOOT_RADIUS * (np.ptp(TARGETS[:, 2]) + np.ptp(TARGETS[:, 4])) / walker_case.CYCLE
    assert watched["m/s"] == pytest.approx(walker_steps.SPEED + rolled, rel=0.05)
    assert watched["touch-downs"] >= 8


@with_mujoco
@pytest.mark.parametrize("coupled", [False, True])
def test_mujoco_stands_and_walks(coupled):
    walker = walker_sides.MujocoWalker(mujoco_peer.Settings("implicitfast"), coupled)
    walker.reset(walker_case.standing_motors())
    walker.advance(1500)
    walker_sides.check_standing(walker)
    assert not walker.robot.diverged
    walker.reset(TARGETS[-1])
    walker.advance(500)
    assert walker_steps.watch_cycle(walker, TARGETS)["m/s"] > 0.9 * walker_steps.SPEED


def test_a_walker_that_falls_or_stays_is_noticed():
    walker = walker_sides.OurWalker()
    walker.reset(TARGETS[-1])
    with pytest.raises(walker_sides.Fallen, match=r"ours: .* m/s, \d+ touch-downs"):
        walker_steps.watch_cycle(walker, np.tile(TARGETS[-1], (100, 1)))
    walker.integrator.motors.kp[:] = 0.0
    with pytest.raises(walker_sides.Fallen, match="ours: fallen"):
        walker_steps.watch_cycle(walker, TARGETS)


def test_chains_start_smooth_and_bend_alike():
    for n in (10, 1000):
        q, v = chain_steps.swinging(n)
        assert q[::2].sum() == pytest.approx(0.5 * chain_steps.AMPLITUDE, rel=0.1)
        assert q[1::2].sum() == pytest.approx(0.5 * chain_steps.AMPLITUDE, rel=0.1)
        assert np.abs(np.diff(q)).max() < 0.2 * np.abs(q).max()
        np.testing.assert_allclose(v, np.sqrt(9.81 / n) * q)


@pytest.mark.parametrize(("scheme", "k", "order"), [("lie_variational, order 4", 5, 4), ("gauss, order 6", 2, 6)])
def test_energy_error_is_that_of_a_scheme_of_its_order(scheme, k, order):
    motion, make = energy_steps.motions()[0], energy_steps.OURS[scheme]
    coarse, fine = (
        energy_steps.energy_error(motion, make(motion, energy_steps.SAMPLE / n), n, 2.0) for n in (k, 2 * k)
    )
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.15 * order)


def test_a_race_that_none_of_ours_finishes_is_lost():
    lost = energy_steps.Race("hanging", 1.0, "a", 0.002, 1e-20, 1.0)
    assert [goal.is_met for goal in energy_steps.goals([lost])] == [False]


def test_ratios_come_from_the_medians():
    times = {name: Timing(us * 1e3, us * 1e3, us * 1e3, 1, 1) for name, us in ((OURS, 6), ("a", 8), ("b", 12))}
    case = StepCase("case", 1, times, 2.0, defaults=frozenset({"b"}))
    goals = steps_suite._walker_goals(case, 0.5)
    assert [goal.measured for goal in goals] == [0.75, 0.5]
    assert [goal.is_met for goal in goals] == [False, True]
    assert [row[0] for row in case.table().rows] == [OURS, "a *", "b"]
    assert steps_suite._walker_goals(StepCase("alone", 1, {OURS: times[OURS]}, 2.0), 0.5) == []


@pytest.mark.slow
@with_mujoco
def test_suite_with_peers():
    result = steps_suite.run(Options(peers=True, quick=True), NoProgress())
    steps = [record for record in result.measurements if "median_us" in record]
    assert {record["case"] for record in steps} == {*steps_suite.WALKER_CASES, "chain 10", "chain 30"}
    for record in steps:
        assert 0 < record["low_us"] <= record["median_us"] <= record["high_us"]
        assert (record["contender"] == OURS) == (record["iterations_per_step"] is not None)
    for name in steps_suite.WALKER_CASES:
        contenders = {record["contender"] for record in steps if record["case"] == name}
        assert OURS in contenders
        assert any(contender.startswith("MuJoCo") for contender in contenders)
    watched = {r["contender"]: r["watched"] for r in steps if r["case"] == "walker walking"}
    assert all(each["m/s"] > 0.9 * walker_steps.SPEED for each in watched.values())
    races = [record for record in result.measurements if record["case"].startswith("order 4")]
    assert len(races) == 4
    assert {race["contender"] for race in races} <= set(energy_steps.OURS)
    assert all(race["max_energy_error_J"] <= race["peer_max_energy_error_J"] for race in races)
    said = " ".join(goal.what for goal in result.goals)
    for what in ("standing", "walking", "falling", "weightless", "growth exponent", "order 4"):
        assert what in said


def test_suite_without_mujoco(monkeypatch):
    monkeypatch.setattr(mujoco_peer, "is_installed", lambda: False)
    result = steps_suite.run(Options(peers=True, quick=True), NoProgress())
    assert "peers skipped: pip install mujoco" in result.notes
    assert {record["contender"] for record in result.measurements} == {OURS}
    assert [goal.what for goal in result.goals] == ["chains of 10 to 30: growth exponent"]


def test_the_suites_are_imported_when_they_are_used():
    code = """
import sys
import mbsim_ros.bench.suite_table, mbsim_ros.cli.bench, mbsim_ros.cli.main
print([name for name in sys.modules if name.startswith(("mujoco", "mbsim_ros.integrators", "mbsim_ros.bench.walker"))])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
