# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Holding a posture in simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.control import JointHold, JointHoldParameters, RobotState
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.urdf.writer import to_urdf

MASS, LENGTH, G = 2.0, 0.5, 9.81


def pendulum():
    """A mass on a rod that turns about y, hanging down at zero, with damping."""
    builder = ModelBuilder("pendulum").link("world").link("rod", mass=MASS, com=(0, 0, -LENGTH), box=(0.1, 0.1, 0.1))
    return builder.joint("swing", "continuous", "world", "rod", axis=(0, 1, 0), damping=0.1).build()


def pendulum_with_two():
    builder = ModelBuilder("two").link("world")
    for name, parent, z in (("upper", "world", 0.0), ("lower", "upper_rod", -0.4)):
        builder.link(f"{name}_rod", mass=1.0, com=(0, 0, -0.2), box=(0.05, 0.05, 0.4))
        builder.joint(name, "continuous", parent, f"{name}_rod", xyz=(0, 0, z), axis=(0, 1, 0), damping=0.05)
    return builder.description()


def settled(parameters, q0=0.7, seconds=8.0):
    sim = Simulation(pendulum(), dt=2e-3)
    sim.reset([q0])
    sim.run(seconds, JointHold(sim.model, parameters))
    assert abs(sim.v[0]) < 1e-6
    return sim.q[0]


def test_a_spring_alone_sags_as_far_as_statics_say():
    kp = 40.0
    angle = settled(JointHoldParameters(kp=(kp,), kd=(20.0,)))
    assert kp * (0.7 - angle) == pytest.approx(MASS * G * LENGTH * math.sin(angle), rel=1e-6)
    assert angle < 0.6


def test_with_the_weight_carried_it_does_not_sag():
    assert settled(JointHoldParameters(kp=(40.0,), kd=(20.0,), gravity_compensation=True)) == pytest.approx(
        0.7, abs=1e-9
    )


def test_a_given_position_is_approached():
    found = settled(JointHoldParameters(position=(-0.4,), kp=(40.0,), kd=(20.0,), gravity_compensation=True))
    assert found == pytest.approx(-0.4, abs=1e-6)


def test_the_error_of_the_pd_is_the_exponential_of_its_equation():
    """Weightless: I r̈ = kp (r₀ − r) − (kd + damping) ṙ, whose solution is known; held efforts lag by O(h)."""
    inertia = MASS * LENGTH**2 + MASS * (0.1**2 + 0.1**2) / 12
    kp, kd = 30.0, 5.0

    def worst(h):
        sim = Simulation(pendulum(), dt=h, gravity=(0, 0, 0))
        sim.reset([0.5])
        q = sim.run(
            1.0, JointHold(sim.model, JointHoldParameters(position=(0.0,), kp=(kp,), kd=(kd,))), record=("q",)
        ).q
        roots = np.roots([inertia, kd + 0.1, kp])
        t = np.arange(len(q)) * h
        exact = 0.5 * (roots[1] * np.exp(roots[0] * t) - roots[0] * np.exp(roots[1] * t)) / (roots[1] - roots[0])
        return np.abs(q[:, 0] - exact.real).max()

    errors = [worst(2e-3), worst(1e-3)]
    assert errors[1] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


def test_positions_are_held_by_the_drives_with_their_own_gains(tmp_path):
    urdf = tmp_path / "two.urdf"
    urdf.write_text(to_urdf(pendulum_with_two()))
    (tmp_path / "two.mbsim.yaml").write_text("gains: {upper: {kp: 90, kd: 8}, lower: {kp: 40, kd: 3}}")
    model = load_urdf(urdf)
    by_controller, by_drives = Simulation(model), Simulation(model)
    for sim in (by_controller, by_drives):
        sim.reset([0.5, -0.8])
    by_controller.run(1.0, JointHold(model))
    by_drives.drive(position=[0.5, -0.8])
    by_drives.run(1.0)
    assert (by_controller.q == by_drives.q).all()
    assert 0.01 < np.abs(by_controller.q - [0.5, -0.8]).max() < 0.2
    carried = Simulation(model)
    carried.reset([0.5, -0.8])
    carried.run(1.0, JointHold(model, JointHoldParameters(gravity_compensation=True)))
    np.testing.assert_allclose(carried.q, [0.5, -0.8], atol=1e-9)


def test_after_a_reset_it_holds_where_it_is_then():
    model = pendulum()
    hold = JointHold(model)

    def position(q):
        return hold.update(0.0, RobotState(0, np.array([q]), np.zeros(1))).position.tolist()

    assert position(0.5) == [0.5]
    assert position(0.9) == [0.5]
    hold.reset()
    assert position(0.9) == [0.9]
    hold.configure(JointHoldParameters(position=(0.1,)))
    assert position(0.9) == [0.1]
    hold.configure(JointHoldParameters())
    assert position(0.9) == [0.1]
    hold.reset()
    assert position(0.8) == [0.8]


def test_a_floating_robot_is_held_in_its_posture():
    builder = ModelBuilder("box with arms").link("body", mass=3.0, box=(0.3, 0.2, 0.1))
    for name, y in (("left", 0.1), ("right", -0.1)):
        builder.link(f"{name}_arm", mass=0.5, com=(0, 0, -0.1), box=(0.02, 0.02, 0.2))
        builder.joint(name, "continuous", "body", f"{name}_arm", xyz=(0, y, 0), axis=(0, 1, 0))
    model = builder.build()
    sim = Simulation(model, gravity=(0, 0, 0))
    sim.reset({"left": 0.4, "right": -0.4}, {"left": 1.0, "right": 1.0})
    sim.run(2.0, JointHold(model, JointHoldParameters(position=(0.4, -0.4), kp=(10.0,), kd=(0.5,))))
    np.testing.assert_allclose(sim.q[7:], [0.4, -0.4], atol=1e-3)
    with pytest.raises(ValueError, match="gravity_compensation: expected false for a floating base"):
        JointHold(model, JointHoldParameters(gravity_compensation=True))
    with pytest.raises(ValueError, match="position: expected 1 number for all joints or 2, one for each, got 3"):
        JointHold(model, JointHoldParameters(position=(1.0, 2.0, 3.0)))


def test_a_robot_without_driven_joints():
    """One body has nothing to hold, and is launched with this controller as any robot; a ball joint cannot be held."""
    builder = ModelBuilder("box").link("body", mass=1.0, box=(1, 1, 1))
    sim = Simulation(builder.build())
    assert JointHold(sim.model).update(0.0, sim.state()).names == ()
    builder.link("tail", mass=1.0, box=(1, 1, 1)).joint("ball", "spherical", "body", "tail")
    with pytest.raises(ValueError, match="expected joints of one dof, got 'box' with none"):
        JointHold(builder.build())
