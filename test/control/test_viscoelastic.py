# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hemami's visco-elastic feedback as a controller: against the augmented state space, and holding robots in the air."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros import Simulation
from mbsim_ros.control import RobotState
from mbsim_ros.control.viscoelastic.controller import ViscoelasticController, ViscoelasticParameters
from mbsim_ros.control.viscoelastic.law import ViscoelasticLaw, angle_rates, angles_of, attitude
from mbsim_ros.experiments.hemami.body import ANGLES, PHI, PLACE, SUPPORT, TURN, HemamiBody
from mbsim_ros.experiments.hemami.parameters import CONTACT, KICK, kicked, law, solution
from mbsim_ros.lie import quaternion
from mbsim_ros.model.assembly.builder import ModelBuilder

MOMENTS = (10.0, 8.0, 8.4)  # H's 0.4 about the third axis is that of no real body
AS_H = {"point": tuple(CONTACT), "LTa": (20.0, 20.0, 14.0), "alpha": 0.2, "gravity": 10.0}


def trunk(com=(0.0, 0.0, 0.0)):
    return ModelBuilder("trunk").link("trunk", mass=41.0, com=com, inertia=MOMENTS).build("floating")


def rotation(q):
    return quaternion.to_matrix(quaternion.from_ros(q[3:7]))


def state(q, t=0.0):
    """At rest."""
    return RobotState(round(1e9 * t), np.array(q, dtype=float), np.zeros(6))


def test_angles():
    rng = np.random.default_rng(0)
    for angles in rng.uniform(-1.5, 1.5, (20, 3)):
        A = attitude(angles)
        assert pytest.approx(np.eye(3), abs=1e-14) == A @ A.T and np.linalg.det(A) > 0.0
        assert angles_of(A) == pytest.approx(angles, abs=1e-12)
        W, step = rng.normal(size=3), 1e-6
        slope = (
            attitude(angles + step * angle_rates(angles) @ W) - attitude(angles - step * angle_rates(angles) @ W)
        ) / (2 * step)
        turn = A.T @ slope  # hat(W)
        assert np.array([turn[2, 1], turn[0, 2], turn[1, 0]]) == pytest.approx(W, abs=1e-7)
    first, second, third = (attitude(0.7 * axis) for axis in np.eye(3))
    assert attitude(np.full(3, 0.7)) == pytest.approx(first @ second @ third, abs=1e-15)  # H (25)
    assert attitude(angles_of(attitude(np.array([0.3, np.pi / 2, 0.4])))) == pytest.approx(
        attitude(np.array([0.3, np.pi / 2, 0.4])), abs=1e-10
    )


@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.1, -0.05, 0.2)])
def test_in_a_simulation_it_is_the_augmented_state_space(com):
    """H (1), (3) with R ≠ 0 and α = 0.2 as the period goes to zero, wherever the origin of the base is."""
    exact_body = HemamiBody(41.0, np.array(MOMENTS), np.array([0.0, 0.0, -10.0]), CONTACT, law())
    exact = solution(exact_body.rates, kicked(exact_body), np.array([0.0, 0.2]), 1e-10)[-1]
    model, errors = trunk(com), []
    for dt in (2e-3, 1e-3):
        sim = Simulation(model, dt=dt, gravity=(0, 0, -10))
        controller = ViscoelasticController(model, ViscoelasticParameters(position=(0.0, 0.0, -0.25), **AS_H))
        q = model.neutral.copy()
        q[:3] = np.array([0.0, 0.0, -0.25]) - com
        sim.reset(q, np.concatenate([-np.cross(KICK, com), KICK]))
        sim.run(0.2, controller=controller)
        A = rotation(sim.q)
        found = (angles_of(A), sim.v[3:], sim.q[:3] + A @ com, controller.D, controller.Phi)
        expected = (exact[ANGLES], exact[TURN], exact[PLACE], exact[SUPPORT], exact[PHI])
        errors.append([np.abs(a - b).max() for a, b in zip(found, expected, strict=True)])
    # The wrench is held over a step, an error of first order; the centre of mass hardly moves.
    assert np.divide(*errors)[[0, 1, 4]] == pytest.approx([2.0, 2.0, 2.0], abs=0.2)
    assert max(errors[1]) < 0.2


def test_it_holds_a_robot_with_joints_in_the_air():
    """A base with a swinging leg, thrown and turning, comes to the place and attitude that are wanted."""
    builder = ModelBuilder("hung").link("base", mass=10.0, box=(0.4, 0.3, 0.2))
    builder.link("leg", mass=2.0, com=(0, 0, -0.2), box=(0.05, 0.05, 0.4))
    model = builder.joint("hip", "continuous", "base", "leg", xyz=(0, 0, -0.1), axis=(0, 1, 0), damping=0.5).build(
        "floating"
    )
    wanted = ViscoelasticParameters(
        position=(0.2, -0.1, 1.0), angles=(0.0, 0.0, 0.5), KRa=(200.0,) * 3, KRb=(200.0,) * 3, LRa=(10.0,) * 3, LRb=(20.0,) * 3,
    )  # fmt: skip
    sim, controller = Simulation(model, dt=1e-3, terrain=False), ViscoelasticController(model, wanted)
    sim.reset(q={"base": [0, 0, 0.8, 0, 0, 0, 1], "hip": 0.5}, v=[0.5, 0, 0, 0.5, -0.5, 1.0, 0])
    sim.run(7.0, controller=controller, control_period=5e-3)
    assert sim.q[:3] == pytest.approx([0.2, -0.1, 1.0], abs=1e-3)
    assert angles_of(rotation(sim.q)) == pytest.approx([0.0, 0.0, 0.5], abs=1e-3)
    assert np.abs(sim.v).max() < 1e-2


def test_without_carrying_the_weight_it_sags_by_what_the_springs_give():
    model = trunk()
    wanted = ViscoelasticParameters(position=(0.0, 0.0, 1.0), carry_weight=False, LTa=(200.0, 200.0, 140.0))
    sim, controller = Simulation(model, dt=1e-3), ViscoelasticController(model, wanted)
    sim.reset(q=[0, 0, 1, 0, 0, 0, 1])
    sim.run(3.0, controller=controller, control_period=5e-3)
    assert sim.q[2] == pytest.approx(1.0 - 2 * 41.0 * 9.81 / 3280.0, abs=1e-3)


def test_memory_follows_its_equations_exactly():
    """D and Φ for a place and an angle that move at constant speed, whatever the period."""
    model = trunk()
    controller = ViscoelasticController(model, ViscoelasticParameters(position=(0.0, 0.0, 0.0), carry_weight=False))
    times, speed, rate = np.cumsum([0.0, 0.01, 0.05, 0.002, 0.1]), np.array([0.3, -0.2, 0.1]), 0.5
    for t in times:
        half = 0.5 * rate * t
        controller.update(t, state([*(speed * t), np.sin(half), 0.0, 0.0, np.cos(half)], t=t))
    gains = controller.law
    angles = np.array([rate, 0.0, 0.0])

    def rates(t, y):
        return np.concatenate([gains.place_rate(speed * t, y[:3]), gains.angle_rate(angles * t, y[3:])])

    exact = solve_ivp(rates, (0.0, times[-1]), np.zeros(6), rtol=1e-11, atol=1e-13).y[:, -1]
    assert np.concatenate([controller.D, controller.Phi]) == pytest.approx(exact, abs=1e-10)


def test_the_couple_does_not_jump_after_half_a_turn():
    controller = ViscoelasticController(trunk())
    torques = []
    for k, yaw in enumerate(np.arange(0.0, 8.0, 0.1)):
        command = controller.update(0.01 * k, state([0, 0, 0, 0, 0, np.sin(yaw / 2), np.cos(yaw / 2)], t=0.01 * k))
        torques.append(command.wrench["trunk"][5])
    assert np.abs(np.diff(torques)).max() < 1.5 * 3280.0 * 0.1


def test_reset_and_where_it_is_at_first():
    controller = ViscoelasticController(trunk(), ViscoelasticParameters(gravity=10.0))
    here = state([1.0, 2.0, 3.0, 0, 0, 0, 1])
    first = controller.update(0.0, here).wrench["trunk"]
    assert first == pytest.approx([0, 0, 410.0, 0, 0, 0], abs=1e-9)  # carries the weight where it was found
    pulled = controller.update(0.1, state([1.1, 2.0, 3.0, 0, 0, 0, 1], t=0.1)).wrench["trunk"]
    assert pulled[0] < -1.0
    controller.reset()
    assert controller.update(0.2, state([5.0, 0, 0, 0, 0, 0, 1], t=0.2)).wrench["trunk"] == pytest.approx(
        first, abs=1e-9
    )


def test_what_it_cannot_work_with():
    arm = ModelBuilder("arm").link("world").link("rod", mass=1, sphere=0.1).joint("x", "continuous", "world", "rod")
    with pytest.raises(ValueError, match="model: expected a floating base, got 'arm'"):
        ViscoelasticController(arm.build("fixed"))
    with pytest.raises(ValueError, match="position: expected 3 numbers, got 2"):
        ViscoelasticController(trunk(), ViscoelasticParameters(position=(0.0, 1.0)))
    with pytest.raises(ValueError, match="angles: expected the second away from"):
        ViscoelasticController(trunk(), ViscoelasticParameters(angles=(0.0, np.pi / 2, 0.0)))
    with pytest.raises(ValueError, match="KRa"):
        ViscoelasticParameters(KRa=(1.0, 1.0, -1.0))
    controller = ViscoelasticController(trunk())
    turned = np.sqrt(0.5)
    with pytest.raises(ValueError, match="near ±90° this feedback is singular"):
        controller.update(0.0, state([0, 0, 0, 0, turned, 0, turned]))
    with pytest.raises(ValueError, match="KTa: expected a symmetric positive definite matrix"):
        ViscoelasticLaw(-np.ones(3), *np.ones((7, 3)))
