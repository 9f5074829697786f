# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Computed torque in simulations: the error obeys ë + K_v ė + K_p e = 0."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mbsim_ros import Simulation
from mbsim_ros.control import ComputedTorque, ComputedTorqueParameters, RobotState
from mbsim_ros.dynamics import forward_dynamics
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.model import Model
from mbsim_ros.sim import Recorder

KP, KV = np.array([60.0, 100.0, 36.0]), np.array([10.0, 20.0, 18.0])  # oscillating, at the limit, creeping
SET_POINT = np.array([0.4, -0.6, 0.1])


@cache
def arm(mimic: bool = False) -> Model:
    """Waist, shoulder and a slide, all with damping; with mimic a second slide that follows the first."""
    builder = ModelBuilder("arm").link("world").link("column", mass=2.0, com=(0.05, 0, 0.1), box=(0.1, 0.1, 0.2))
    builder.link("upper", mass=1.5, com=(0, 0, 0.2), box=(0.05, 0.07, 0.4)).link(
        "finger", mass=0.5, box=(0.1, 0.05, 0.02)
    )
    builder.joint("waist", "continuous", "world", "column", axis=(0.28, 0, 0.96), damping=0.3)
    builder.joint("shoulder", "continuous", "column", "upper", xyz=(0, 0, 0.2), axis=(0, 1, 0), damping=0.2)
    slide = {"lower": -9.0, "upper": 9.0, "effort": 1e4, "velocity": 99.0, "damping": 0.7}
    builder.joint("slide", "prismatic", "upper", "finger", xyz=(0, 0, 0.4), axis=(0.6, 0, 0.8), **slide)
    if mimic:
        builder.link("thumb", mass=0.3, com=(0.02, 0, 0), box=(0.1, 0.05, 0.02))
        builder.joint(
            "thumb_slide",
            "prismatic",
            "upper",
            "thumb",
            xyz=(0, 0, 0.4),
            axis=(0, 1, 0),
            mimic=("slide", -0.5),
            **slide,
        )
    return builder.build()


def exact_error(t, e0, de0):
    """Solution of ë + K_v ė + K_p e = 0 for each joint, times (k,) → (k, n)."""
    columns = []
    for kp, kv, e, de in zip(KP, KV, e0, de0, strict=True):
        A = np.array([[0.0, 1.0], [-kp, -kv]])
        values, vectors = np.linalg.eig(A + 1e-9 * np.array([[0, 0], [1, 0]]))  # apart where they meet
        weights = np.linalg.solve(vectors, np.array([e, de], dtype=complex))
        columns.append((np.exp(np.outer(t, values)) @ (weights * vectors[0])).real)
    return np.array(columns).T


def worst_deviation(h, held_for, model, set_point=SET_POINT):
    """Largest distance of the simulated error from the exact one."""
    parameters = ComputedTorqueParameters(
        position=tuple(set_point), kp=tuple(KP), kv=tuple(KV), effort_held_for=held_for
    )
    sim = Simulation(model, dt=h, stops=False)
    e0, de0 = np.array([0.3, -0.5, 0.1]), np.array([1.0, 2.0, -0.5])
    sim.reset(set_point + e0, de0)
    recording = sim.run(1.0, ComputedTorque(model, parameters), record=Recorder(("q",)))
    t = np.arange(len(recording.q)) * h
    return np.abs(recording.q - set_point - exact_error(t, e0, de0)).max()


@pytest.mark.parametrize("mimic", [False, True])
def test_the_error_obeys_its_equation_to_second_order(mimic):
    model = arm(mimic)
    errors = [worst_deviation(h, h, model) for h in (4e-3, 2e-3, 1e-3)]
    assert errors[2] < 2e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_without_looking_ahead_an_effort_that_is_held_lags_half_a_period():
    errors = [worst_deviation(h, 0.0, arm()) for h in (4e-3, 2e-3, 1e-3)]
    assert errors[2] > 1e-4
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.1)


def test_a_sine_is_followed_to_second_order():
    def worst(h):
        parameters = ComputedTorqueParameters(
            trajectory="sine", amplitude=(0.6, 0.5, 0.2), frequency=(0.5, 1.0, 1.5), ramp=0.5, effort_held_for=h
        )
        model, controller = arm(), ComputedTorque(arm(), parameters)
        sim = Simulation(model, dt=h, stops=False)
        sim.reset(SET_POINT)
        q = sim.run(2.0, controller, record=Recorder(("q",))).q
        wanted = [parameters.make(SET_POINT).at(k * h).position for k in range(len(q))]
        assert np.ptp(q[:, 0]) > 1.0
        return np.abs(q - wanted).max()

    errors = [worst(2e-3), worst(1e-3)]
    assert errors[1] < 2e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


def test_a_period_of_several_steps_is_followed_as_well():
    parameters = ComputedTorqueParameters(
        trajectory="waypoints", times=(1.0,), waypoints=(1.0, 1.0, 0.3), effort_held_for=4e-3
    )
    sim = Simulation(arm(), stops=False)
    sim.reset(SET_POINT)
    sim.run(2.0, ComputedTorque(arm(), parameters), control_period=4e-3)
    np.testing.assert_allclose(sim.q, [1.0, 1.0, 0.3], atol=1e-4)


def test_efforts_give_the_acceleration_that_the_law_asks_for():
    rng = np.random.default_rng(3)
    model = arm()
    parameters = ComputedTorqueParameters(position=tuple(SET_POINT), kp=tuple(KP), kv=tuple(KV), gravity=3.7)
    controller = ComputedTorque(model, parameters)
    for _ in range(20):
        q, v = rng.uniform(-1, 1, 3), rng.normal(size=3)
        effort = controller.update(0.0, RobotState(0, q, v)).effort
        a = forward_dynamics(model, q, v, effort - model.damping * v, gravity=(0, 0, -3.7))
        np.testing.assert_allclose(a, -KV * v - KP * (q - SET_POINT), rtol=1e-9, atol=1e-9)


def test_the_trajectory_starts_at_the_first_update_and_again_after_a_reset():
    controller = ComputedTorque(arm(), ComputedTorqueParameters(trajectory="step", amplitude=(1.0,), ramp=0.5))
    still = np.zeros(3)

    def effort(t, q):
        return controller.update(t, RobotState(round(t * 1e9), q, still)).effort

    low, high = np.zeros(3), np.full(3, 0.2)
    holding = effort(10.0, low)
    assert (effort(10.4, low) == holding).all()
    assert (effort(10.6, low) != holding).all()
    controller.reset()
    held_high = effort(20.0, high)
    assert (effort(20.4, high) == held_high).all()
    np.testing.assert_allclose(held_high, ComputedTorque(arm()).update(0.0, RobotState(0, high, still)).effort)


def test_new_gains_keep_the_trajectory_and_a_new_trajectory_begins_now():
    controller = ComputedTorque(arm(), ComputedTorqueParameters(kp=(0.0,), kv=(0.0,)))
    here, there, still = np.zeros(3), np.full(3, 0.3), np.zeros(3)
    controller.update(0.0, RobotState(0, here, still))
    carrying = controller.update(0.1, RobotState(0, there, still)).effort
    controller.configure(ComputedTorqueParameters(kp=(50.0,), kv=(0.0,)))
    pulled_back = controller.update(0.2, RobotState(0, there, still)).effort
    assert np.abs(pulled_back - carrying).min() > 0.1
    controller.configure(ComputedTorqueParameters(kp=(50.0,), kv=(0.0,), trajectory="step", ramp=9.0))
    np.testing.assert_array_equal(controller.update(0.3, RobotState(0, there, still)).effort, carrying)


def test_what_it_cannot_work_with_is_refused():
    floating = ModelBuilder("box").link("body", mass=1.0, box=(1, 1, 1)).build()
    with pytest.raises(ValueError, match="'box': its base floats"):
        ComputedTorque(floating)
    ball = ModelBuilder("ball").link("world").link("body", mass=1.0, box=(1, 1, 1))
    with pytest.raises(ValueError, match="joints of several dofs"):
        ComputedTorque(ball.joint("socket", "spherical", "world", "body").build())
    controller = ComputedTorque(arm())
    before = controller.parameters
    with pytest.raises(ValueError, match="kp: expected 1 number for all joints or 3, one for each, got 2"):
        controller.configure(ComputedTorqueParameters(kp=(1.0, 2.0)))
    assert controller.parameters is before
    with pytest.raises(ValueError, match=r"kv\[0\]: expected 0 or more, got -1"):
        ComputedTorqueParameters(kv=(-1.0,))
