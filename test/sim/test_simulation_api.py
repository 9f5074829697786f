# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Simulation`: how it is made, reset and stepped, by place and by name, and how it refuses what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from sim_robots import ROOT, crawler, gripper, pendulum, two_blocks

import mbsim_ros
from mbsim_ros import ModelBuilder, Simulation, SimulationDiverged, UnsupportedModel
from mbsim_ros.dynamics import energy, momentum
from mbsim_ros.integrators.lie_variational.integrator import LieVariational


@pytest.fixture
def sim():
    return Simulation(pendulum())


def test_the_public_names_are_there():
    assert mbsim_ros.Simulation is Simulation
    assert issubclass(UnsupportedModel, ValueError) and issubclass(SimulationDiverged, RuntimeError)


@pytest.mark.parametrize("text", [False, True])
def test_a_robot_may_be_a_file_or_its_text(text):
    path = ROOT / "urdf/double_pendulum.urdf"
    sim = Simulation(path.read_text() if text else path)
    assert sim.model.name == "double_pendulum"
    assert sim.tau_names == sim.motor_names == ("shoulder", "elbow")
    np.testing.assert_array_equal(sim.q, [0, 0])


def test_it_moves_as_its_integrator_does():
    sim, plain = Simulation(pendulum(), stops=False), LieVariational(pendulum(), 1e-3)
    sim.reset([0.5, 0.3], [1.0, 0.0])
    plain.reset([0.5, 0.3], [1.0, 0.0])
    for _ in range(50):
        sim.step([0.1, -0.2])
        plain.step([0.1, -0.2])
    np.testing.assert_array_equal(sim.q, plain.q)
    np.testing.assert_array_equal(sim.v, plain.v)
    assert sim.energy().total == pytest.approx(energy(pendulum(), plain.q, plain.v).total, rel=1e-14)
    np.testing.assert_allclose(sim.momentum(), momentum(pendulum(), plain.q, plain.v))


class TestTime:
    def test_it_is_whole_nanoseconds(self, sim):
        for _ in range(7):
            sim.step()
        assert (sim.time, type(sim.time), sim.seconds) == (7_000_000, int, 0.007)
        sim.advance(3)
        assert sim.time == 10_000_000
        sim.reset()
        assert sim.time == 0

    @pytest.mark.parametrize("dt", [0, -1e-3, 1.5, np.nan, np.inf, 1e-10, 1.00005e-6, "soon", None])
    def test_bad_steps_are_refused(self, dt):
        with pytest.raises(ValueError, match="dt: expected"):
            Simulation(pendulum(), dt)

    @pytest.mark.parametrize(("dt", "ns"), [(1 / 1024, 976562.5), (2e-9, 2), (0.002, 2_000_000), (1, 10**9)])
    def test_steps_are_rounded_to_nanoseconds_only_where_that_is_rounding(self, dt, ns):
        if ns == int(ns):
            assert Simulation(pendulum(), dt, stops=False).dt_ns == ns
        else:  # half a nanosecond of a millisecond: within a millionth
            assert Simulation(pendulum(), dt).dt_ns == 976562


class TestReset:
    def test_home_of_the_sidecar_is_where_it_starts(self, sim):
        np.testing.assert_array_equal(sim.q, [0.5, 0.3])
        sim.advance(5)
        sim.reset()
        np.testing.assert_array_equal(sim.q, [0.5, 0.3])
        sim.advance(5)
        sim.reset("home")
        np.testing.assert_array_equal(sim.v, [0, 0])

    def test_named_states(self, sim):
        sim.reset("swinging")
        np.testing.assert_allclose(sim.q, [1.0, 0.0])
        np.testing.assert_allclose(sim.v, [0.0, -2.0], atol=1e-14)

    def test_a_state_places_the_base(self):
        sim = Simulation(crawler())
        np.testing.assert_allclose(sim.q[:3], [0, 0, 0.272])
        sim.reset("tossed")
        from transforms3d.euler import quat2euler

        x, y, z, w = sim.q[3:7]
        np.testing.assert_allclose(quat2euler([w, x, y, z], "sxyz"), [0.1, 0.2, 0.3])
        np.testing.assert_allclose(sim.v[:6], [0.5, 0, 0, 0, 1, 0], atol=1e-14)
        assert sim.q[7] == 0.2

    def test_by_name_and_by_place(self, sim):
        sim.reset({"elbow": 0.7}, {"shoulder": 1.5})
        np.testing.assert_allclose(sim.q, [0, 0.7])
        np.testing.assert_allclose(sim.v, [1.5, 0], atol=1e-14)
        sim.reset(q=[0.1, 0.2])
        np.testing.assert_allclose(sim.v, 0)
        floating = Simulation(crawler())
        floating.reset({"base": [0, 0, 1, 0, 0, 0, 1], "rr": 0.4}, {"base": [1, 0, 0, 0, 0, 0]})
        assert floating.q[2] == 1 and floating.q[10] == 0.4
        np.testing.assert_allclose(floating.v[:3], [1, 0, 0], atol=1e-14)

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            (("nowhere",), "no initial state named 'nowhere'"),
            (("hom",), "did you mean 'home'"),
            (([0.0],), "q: expected shape"),
            (([0.0, np.nan],), "q: expected finite"),
            (([0, 0], [np.inf, 0]), "v: expected finite"),
            (([0, 0], [1, 2, 3]), "v: expected shape"),
            (({"elbw": 1},), "q\\['elbw'\\]: no such joint: did you mean 'elbow'"),
            (({"elbow": np.nan},), "q\\['elbow'\\]"),
            (({"elbow": [1, 2]},), "q\\['elbow'\\]: expected shape"),
            (([0, 0], {"base": [0] * 6}), "v\\['base'\\]: no such joint"),
        ],
    )
    def test_bad_starts_change_nothing(self, sim, arguments, match):
        sim.advance(10)
        before = sim.snapshot()
        with pytest.raises(ValueError, match=match):
            sim.reset(*arguments)
        assert sim.snapshot() == before

    def test_a_quaternion_has_unit_length(self):
        with pytest.raises(ValueError, match="unit quaternion"):
            Simulation(crawler()).reset({"base": [0, 0, 1, 0, 0, 0, 2]})

    def test_velocities_that_the_coupling_does_not_allow(self):
        sim = Simulation(pendulum(), coupling="belt")
        before = sim.snapshot()
        with pytest.raises(ValueError, match="belt"):
            sim.reset([0, 0], [1.0, 1.0])
        assert sim.snapshot() == before
        sim.reset([0, 0], {"shoulder": 1.0, "elbow": -2.0})
        np.testing.assert_allclose(sim.v, [1, -2])


class TestStep:
    def test_efforts_by_name_and_by_place_are_the_same(self):
        runs = []
        for tau, motor in (([1.0, -0.5], [0.2, 0.0]), ({"elbow": -0.5, "shoulder": 1.0}, {"shoulder": 0.2})):
            sim = Simulation(pendulum())
            for _ in range(20):
                sim.step(tau, motor)
            runs.append(sim.q.tobytes())
        assert runs[0] == runs[1]

    def test_an_effort_acts_for_that_step_only(self, sim):
        sim.drive(effort={"shoulder": 0.5})
        sim.step({"shoulder": 2.0}, {"elbow": 1.0})
        np.testing.assert_array_equal(sim.integrator.drives.effort, [0.5, 0])
        np.testing.assert_array_equal(sim.integrator.motors.effort, [0, 0])

    def test_an_effort_adds_to_the_drives(self):
        both, one = Simulation(pendulum()), Simulation(pendulum())
        both.drive(effort={"shoulder": 0.5})
        for _ in range(20):
            both.step([0.25, 0.0])
            one.step([0.75, 0.0])
        np.testing.assert_array_equal(both.q, one.q)

    def test_the_load_on_a_motor_is_that_of_its_joints_and_its_own(self):
        """D of the belt is (1, −2): an effort of 3 on the elbow loads the drum with −6."""
        by_joint, by_motor = Simulation(pendulum(), coupling="belt"), Simulation(pendulum(), coupling="belt")
        assert by_motor.motor_names == ("drum",)
        for _ in range(50):
            by_joint.step({"elbow": 3.0})
            by_motor.step(motor=[-6.0])
        np.testing.assert_allclose(by_joint.q, by_motor.q, rtol=1e-12)
        np.testing.assert_allclose(by_joint.motor_position, by_joint.q[0] - 0.5, rtol=1e-10)
        np.testing.assert_allclose(by_joint.motor_velocity, by_joint.v[0], rtol=1e-10)

    @pytest.mark.parametrize(
        ("tau", "motor", "match"),
        [
            ([1.0], None, "tau: expected shape"),
            ([np.nan, 0.0], None, "tau: expected finite"),
            ({"sholder": 1.0}, None, "tau\\['sholder'\\]: no joint of one dof of that name: did you mean 'shoulder'"),
            ({"shoulder": np.inf}, None, "tau\\['shoulder'\\]: expected a finite number"),
            ("much", None, "tau: expected 2 numbers"),
            (None, [1.0, 2.0, 3.0], "motor: expected shape"),
            (None, {"wheel": 1.0}, "motor\\['wheel'\\]: no column of that name"),
            ([1.0, 1.0], {"elbow": np.nan}, "motor\\['elbow'\\]"),
        ],
    )
    def test_bad_efforts_change_nothing(self, sim, tau, motor, match):
        sim.advance(3)
        before = sim.snapshot()
        with pytest.raises(ValueError, match=match):
            sim.step(tau, motor)
        assert sim.snapshot() == before

    def test_the_base_has_no_motor(self):
        with pytest.raises(ValueError, match="nothing drives the base: push it"):
            Simulation(crawler()).step(motor={"base/vx": 1.0})

    @pytest.mark.parametrize("robot", [pendulum, crawler, gripper])
    def test_many_steps_at_once_are_the_same_bit_for_bit(self, robot):
        one, many = Simulation(robot()), Simulation(robot())
        for sim in (one, many):
            sim.drive(effort=dict.fromkeys(sim.tau_names, 0.3))
        for _ in range(30):
            one.advance(1)
        many.advance(10)
        many.advance(20)
        assert one.snapshot().part("engine")["state.q"].tobytes() == many.snapshot().part("engine")["state.q"].tobytes()
        assert one.v.tobytes() == many.v.tobytes()
        assert one.ledger().actuator_work == many.ledger().actuator_work

    def test_negative_numbers_of_steps_are_refused(self, sim):
        with pytest.raises(ValueError, match="steps: expected at least 0"):
            sim.advance(-1)


class TestPush:
    def test_a_free_body_is_accelerated_in_its_own_axes(self):
        """Turned by 90° about z, a push along its x moves it along y, with f/m."""
        block = ModelBuilder("block").link("block", mass=2.0, box=(0.1, 0.1, 0.1)).build("floating")
        sim = Simulation(block, gravity=(0, 0, 0))
        half = np.sqrt(0.5)
        sim.reset([0, 0, 0, 0, 0, half, half])
        sim.push("block", (3.0, 0, 0))
        sim.advance(1000)
        np.testing.assert_allclose(sim.momentum()[:3], [0, 3.0, 0], atol=1e-9)
        np.testing.assert_allclose(sim.q[:3], [0, 0.75, 0], atol=1e-6)
        assert sim.ledger().external_work == pytest.approx(0.5 * 2.0 * 1.5**2, rel=1e-9)
        sim.push("block", None)
        sim.advance(1000)
        np.testing.assert_allclose(sim.momentum()[:3], [0, 3.0, 0], atol=1e-9)

    def test_a_force_beside_the_origin_turns(self):
        """The rod hangs from the shoulder: a push f at depth 1 has the moment of f on it, as an effort has."""
        pushed, driven = Simulation(pendulum(), gravity=(0, 0, 0)), Simulation(pendulum(), gravity=(0, 0, 0))
        for sim in (pushed, driven):
            sim.reset([0, 0])
        pushed.push("upper_rod", (0.2, 0, 0), at=(0, 0, -1))
        for sim in (pushed, driven):
            sim.step({"shoulder": -0.2} if sim is driven else None)
        np.testing.assert_allclose(pushed.v, driven.v, rtol=1e-6)
        turned = Simulation(pendulum(), gravity=(0, 0, 0))
        turned.reset([0, 0])
        turned.push("upper_rod", torque=(0, -0.2, 0))
        turned.step()
        np.testing.assert_allclose(turned.v, driven.v, rtol=1e-6)

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            (("foot", (1, 0, 0)), "no link named 'foot'"),
            (("world", (1, 0, 0)), "fixed to the world"),
            (("upper_rod", (1, 0)), "force: expected shape"),
            (("upper_rod", (1, 0, np.nan)), "force: expected finite"),
            (("upper_rod", None, None, (0, 0, 1)), "at: expected a force"),
        ],
    )
    def test_bad_pushes_change_nothing(self, sim, arguments, match):
        sim.push("lower_rod", (1, 0, 0))
        before = sim.snapshot()
        with pytest.raises(ValueError, match=match):
            sim.push(*arguments)
        assert sim.snapshot() == before


def test_links_that_meet_are_reported_by_name():
    sim = Simulation(two_blocks(), gravity=(0, 0, 0), body_contact=[("big", "small")])
    assert sim.scene.ground is None
    sim.reset({"small_flight": [0.25, 0.03, 0.04, 0, 0, 0, 1]}, {"small_flight": [-1, 0, 0, 0, 0, 0]})
    before = sim.momentum()
    seen = set()
    for _ in range(100):
        sim.step()
        seen |= {(report.link, report.other) for report in sim.contacts() if report.is_touching}
    assert seen == {("small", "big"), ("big", "small")}
    np.testing.assert_allclose(sim.momentum(), before, atol=1e-12)
    assert sim.v[0] < -0.1


def test_a_failure_says_when_where_and_what_to_do():
    sim = Simulation(crawler())
    sim.run(0.2)  # it has landed on its feet
    sim.integrator.joints.damping[-1] = 1e18  # absurd: no number of parts helps
    sim.integrator.external[:] = 1e15
    with pytest.raises(SimulationDiverged) as caught:
        sim.advance(1000)
    error = caught.value
    assert f"t = {sim.seconds:.9g} s" in str(error) and "the last good one" in str(error)
    assert "hard to solve since t = " in str(error) and "max_penetration" in str(error) and "foot_" in str(error)
    assert f"Try dt = {error.proposed_dt:g} s" in str(error) and error.proposed_dt < sim.dt
    assert 0.0 <= error.began <= sim.seconds and error.joint
    assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all()


def test_the_step_bound_informs(sim):
    assert sim.step_bound().value > 1e-3
    assert sim.step_bound().kind == "estimate"
    assert sim.step_bound().scope == "free motion only"


def test_the_step_bound_says_what_it_leaves_out_and_changes_nothing():
    """A robot that stands on drives goes on bit for bit as one that nobody asked."""
    asked, left_alone = Simulation(crawler(), coupling="sides"), Simulation(crawler(), coupling="sides")
    for sim in (asked, left_alone):
        sim.drive_motors(position={"left": 0.1, "right": 0.0})
        for _ in range(20):
            sim.advance(5)
            if sim is asked:
                sentence = sim.step_bound().sentence
    assert "; without contact, coupling 'sides', drives, springs, damping and friction, stops" in sentence
    assert asked.snapshot() == left_alone.snapshot()
