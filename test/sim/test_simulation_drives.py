# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Drives that stay: targets, gains from the sidecar, limits; all by name, and nothing changes on a mistake."""

from __future__ import annotations

import numpy as np
import pytest
from sim_robots import crawler, gripper, pendulum

from mbsim_ros import ModelBuilder, Simulation, UnsupportedModel
from mbsim_ros.dynamics import inverse_dynamics


@pytest.fixture
def sim():
    return Simulation(pendulum())


def test_a_position_is_held_against_the_weight(sim):
    """At rest kp (position − r) is the weight, whatever the step."""
    sim.drive(position=[0.4, -0.2], kp=[500.0, 300.0], kd=[40.0, 20.0])
    sim.advance(6000)
    weight = inverse_dynamics(sim.model, sim.q, [0, 0], [0, 0])
    np.testing.assert_allclose(np.array([500.0, 300.0]) * ([0.4, -0.2] - sim.q), weight, rtol=1e-6)


def test_gains_come_from_the_sidecar_where_none_are_given(sim):
    sim.drive(position={"shoulder": 0.2})
    assert (sim.integrator.drives.kp[0], sim.integrator.drives.kd[0]) == (60.0, 4.0)
    sim.drive(position={"shoulder": 0.3}, kp={"shoulder": 90})
    assert (sim.integrator.drives.kp[0], sim.integrator.drives.kd[0]) == (90.0, 4.0)
    sim.drive(position={"shoulder": 0.1})  # it keeps the gains that it has
    assert sim.integrator.drives.kp[0] == 90.0
    sim.drive(velocity={"shoulder": 1.0})
    np.testing.assert_array_equal(sim.integrator.drives.position, [0.1, 0])
    np.testing.assert_array_equal(sim.integrator.drives.velocity, [1.0, 0])


def test_a_velocity_alone_holds_no_position(sim):
    sim.drive(velocity={"shoulder": 1.0, "elbow": -2.0}, kd={"elbow": 300.0, "shoulder": 300.0})
    assert not sim.integrator.drives.kp.any()
    sim.advance(500)
    np.testing.assert_allclose(sim.v, [1.0, -2.0], atol=0.1)


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"position": {"elbow": 0.1}, "kp": {"elbow": 0.0}}, "position\\['elbow'\\]: no gain: give kp"),
        ({"velocity": {"elbow": 0.1}, "kd": {"elbow": 0.0}}, "velocity\\['elbow'\\]: no gain: give kd"),
        ({"kp": {"elbow": 10}}, "kp\\['elbow'\\]: there is no position to hold"),
        ({"position": {"shoulder": np.nan}}, "position\\['shoulder'\\]: expected a finite number"),
        ({"position": {"shoulder": "up"}}, "position\\['shoulder'\\]: expected a number"),
        ({"position": {"wrist": 0.1}}, "position\\['wrist'\\]: no joint of one dof"),
        ({"position": {"shoulder": 0.1}, "kd": {"shoulder": -1}}, "kd\\['shoulder'\\]: expected a gain of 0 or more"),
        ({"effort": [1.0]}, "effort: expected shape"),
        ({"position": {"shoulder": 0.1}, "effort": {"elbow": np.inf}}, "effort\\['elbow'\\]"),
    ],
)
def test_mistakes_change_nothing(sim, values, match):
    sim.drive(effort={"elbow": 0.5})
    before = sim.snapshot()
    with pytest.raises(ValueError, match=match):
        sim.drive(**values)
    assert sim.snapshot() == before


def test_release(sim):
    sim.drive(position={"shoulder": 0.2}, effort={"elbow": 1.0})
    sim.drive_motors(effort={"elbow": 1.0})
    sim.release_drives(["shoulder"])
    assert not sim.integrator.drives.kp.any() and sim.integrator.drives.effort[1] == 1.0
    sim.release_drives()
    free = Simulation(pendulum())
    for one in (sim, free):
        one.advance(50)
    np.testing.assert_array_equal(sim.q, free.q)
    with pytest.raises(ValueError, match="no joint of one dof"):
        sim.release_drives(["knee"])


def test_drives_and_pushes_stay_over_a_reset(sim):
    sim.drive(position={"shoulder": 0.2})
    sim.push("lower_rod", (1, 0, 0))
    sim.reset()
    assert sim.integrator.drives.kp[0] == 60.0
    assert sim.integrator.external.any()


def test_efforts_stay_within_the_limits_of_the_urdf(sim):
    strong, limited = Simulation(pendulum(), gravity=(0, 0, 0)), Simulation(pendulum(), gravity=(0, 0, 0))
    strong.advance(20, {"elbow": 1e6})
    limited.advance(20, {"elbow": 50.0})
    np.testing.assert_array_equal(strong.q, limited.q)


def test_an_effort_limit_of_zero_is_none():
    builder = ModelBuilder("wheel").link("world").link("disc", mass=1, cylinder=(0.1, 0.1))
    builder.joint("axle", "continuous", "world", "disc", axis=(0, 0, 1), effort=0, velocity=0)
    with pytest.warns(UserWarning, match="effort limit of zero"):
        model = builder.build()
    sim = Simulation(model)
    sim.advance(10, [3.0])
    np.testing.assert_allclose(sim.v, 3.0 * 0.01 / (0.5 * 0.01), rtol=1e-9)


def test_motors_of_a_coupling_are_driven_by_name():
    sim = Simulation(crawler(), coupling="sides", terrain=False, gravity=(0, 0, 0), springs=())
    sim.drive_motors(position={"left": 0.3, "right": -0.2})
    sim.advance(2000)
    np.testing.assert_allclose(sim.motor_position, [0.3, -0.2], atol=1e-4)
    np.testing.assert_allclose(sim.q[7:], [0.3, -0.2, -0.3, 0.2], atol=1e-4)  # fl, fr, rl, rr
    with pytest.raises(ValueError, match="no column of that name"):
        sim.drive_motors(position={"fl": 0.1})


def test_a_joint_that_follows_is_not_driven():
    sim = Simulation(gripper())
    assert sim.tau_names == ("lift", "slide_left")
    with pytest.raises(ValueError, match="it follows 'slide_left': name that one"):
        sim.drive(effort={"slide_right": 1.0})
    with pytest.raises(ValueError, match="it follows 'slide_left'"):
        sim.reset({"slide_right": 0.01})


def test_a_ball_joint_takes_efforts_of_its_columns_only():
    builder = ModelBuilder("ball").link("world").link("bob", mass=1, com=(0, 0, -0.5), sphere=0.1)
    builder.joint("socket", "spherical", "world", "bob")
    sim = Simulation(builder.build(), gravity=(0, 0, 0))
    assert sim.tau_names == () and sim.motor_names == ("socket/wx", "socket/wy", "socket/wz")
    sim.advance(100, motor={"socket/wx": 0.2})
    inertia = 0.4 * 0.01 + 0.25
    np.testing.assert_allclose(sim.v, [0.2 * 0.1 / inertia, 0, 0], rtol=1e-6, atol=1e-15)
    with pytest.raises(ValueError, match="no position to hold"):
        sim.drive_motors(position={"socket/wx": 0.1}, kp={"socket/wx": 1.0})


def test_what_damps_does_not_go_with_a_step_back_in_time():
    sim = Simulation(pendulum(), order=4)
    with pytest.raises(UnsupportedModel, match="kd\\['shoulder'\\]: order=4"):
        sim.drive(position={"shoulder": 0.1})
    sim.drive(position={"shoulder": 0.1}, kp={"shoulder": 10}, kd={"shoulder": 0})  # a spring does
    assert sim.integrator.drives.kp[0] == 10
