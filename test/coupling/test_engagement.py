# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Closing clutches keeps momentum and books what is lost; opening them keeps velocities."""

from __future__ import annotations

import numpy as np
import pytest
from nelson_walker_cases import cases, five_motors, state, walker
from random_couplings import ROBOTS, random_case, robot

from mbsim_ros.bench.states import random_configuration
from mbsim_ros.coupling import couple, coupled_mass_matrix, engage, identity, lift, release
from mbsim_ros.coupling.coupled_dynamics import tree_mass_matrix
from mbsim_ros.dynamics import momentum
from mbsim_ros.model.assembly.builder import ModelBuilder


def kinetic(model, configuration, q, u):
    return 0.5 * u @ coupled_mass_matrix(model, configuration, q) @ u


def wheels():
    builder = ModelBuilder("wheels")
    builder.link("world")
    for name, inertia in (("one", 0.5), ("two", 0.25)):
        builder.link(name, mass=1.0, inertia=(inertia, inertia, inertia))
        builder.joint(f"{name}_joint", "continuous", "world", name, axis=(0, 0, 1))
    return builder.build()


def test_clutch_between_two_wheels_in_closed_form():
    """J_1 = 1/2 at 4 rad/s meets J_2 = 1/4 at rest: 8/3 rad/s, impulse ∓2/3, and ½ J_1J_2/(J_1 + J_2) Δω² is lost."""
    model = wheels()
    both = couple(model, {"m": {"one_joint": 1.0, "two_joint": 1.0}})
    result = engage(model, np.zeros(2), identity(model), both, u=[4.0, 0.0])
    assert result.u[0] == pytest.approx(8.0 / 3.0, rel=1e-15)
    assert result.joint_impulses == pytest.approx({"one_joint": -2.0 / 3.0, "two_joint": 2.0 / 3.0})
    assert result.loss == pytest.approx(0.5 * (0.5 * 0.25 / 0.75) * 16.0, rel=1e-14)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(5))
def test_momentum_is_kept_and_the_loss_is_the_energy_that_is_gone(name, seed):
    model, new, q, _ = random_case(name, seed)
    old, rng = identity(model), np.random.default_rng(seed)
    u = rng.normal(size=old.nu)
    result = engage(model, q, old, new, u=u)
    M, before = tree_mass_matrix(model, q), old.expand(u)
    # only what D keeps: Dᵀ M Δv is zero on all columns but those of rotors, which were at rest
    left = new.reduce(M @ (result.v_tree - before)) + new.rotor_inertia * result.u
    assert np.abs(left).max() <= 1e-12 * np.abs(M @ before).max()
    gone = kinetic(model, old, q, u) - kinetic(model, new, q, result.u)
    change = result.v_tree - before
    rotors = 0.5 * result.u @ (new.rotor_inertia * result.u)
    assert result.loss == pytest.approx(0.5 * change @ M @ change + rotors, rel=1e-13)
    assert abs(result.loss - gone) <= 1e-13 * kinetic(model, old, q, u)
    impulses = M @ change
    for joint, impulse in result.joint_impulses.items():
        assert impulse == pytest.approx(impulses[model.topology[model.joint(joint).body, 3]], abs=1e-12)
    if model.is_floating:
        total = momentum(model, q, old.velocities(u))
        assert np.abs(momentum(model, q, new.velocities(result.u)) - total).max() <= 1e-12 * np.abs(total).max()


def test_engaging_the_walker_conserves_total_momentum():
    model = walker()
    q, _ = state(cases()[True])
    rng = np.random.default_rng(5)
    old, new = identity(model), couple(model, five_motors())
    for _ in range(20):
        u = rng.normal(size=old.nu)
        result = engage(model, q, old, new, u=u)
        before = momentum(model, q, old.velocities(u))
        after = momentum(model, q, new.velocities(result.u))
        assert np.abs(after - before).max() <= 1e-12 * np.abs(before).max()
        gone = kinetic(model, old, q, u) - kinetic(model, new, q, result.u)
        assert abs(result.loss - gone) <= 1e-13 * kinetic(model, old, q, u)
        assert result.loss > 0.0


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(3))
def test_opening_keeps_velocities_and_costs_nothing(name, seed):
    model, old, q, u = random_case(name, seed, rotors=False)
    new = identity(model)
    result = release(model, q, old, new, u=u)
    np.testing.assert_allclose(result.v_tree, old.expand(u), atol=1e-14 * np.abs(u).max() * 10)
    assert result.loss == 0.0
    assert not any(result.joint_impulses.values())
    np.testing.assert_allclose(result.p_tree, lift(model, q, old, u), atol=1e-12)
    back = engage(model, q, new, old, u=result.u)
    np.testing.assert_allclose(back.u, u, atol=1e-10)
    assert abs(back.loss) <= 1e-20 * max(1.0, kinetic(model, old, q, u))


@pytest.mark.parametrize("name", ROBOTS)
def test_rates_and_momenta_are_the_same_start(name):
    model, old, q, u = random_case(name, 2)
    new = couple(model, {"first": {}, "idle": {}}, rotor_inertia={"first": 0.3, "idle": 0.2})
    by_rates = engage(model, q, old, new, u=u)
    by_momentum = engage(model, q, old, new, momentum=coupled_mass_matrix(model, old, q) @ u)
    np.testing.assert_allclose(by_momentum.u, by_rates.u, atol=1e-9)
    np.testing.assert_allclose(by_rates.momentum, coupled_mass_matrix(model, new, q) @ by_rates.u, atol=1e-12)


def test_a_rotor_keeps_its_speed_when_its_clutch_opens_and_meets_the_joint_when_it_closes():
    model, q = wheels(), np.zeros(2)
    rotor = {"m": 0.75}
    closed = couple(model, {"m": {"one_joint": 2.0}}, name="closed", rotor_inertia=rotor)
    opened = couple(model, {"m": {}}, name="open", rotor_inertia=rotor)
    u = np.array([0.5, 3.0])  # two_joint, m
    result = release(model, q, closed, opened, u=u)
    assert opened.column_names == ("one_joint", "two_joint", "m")
    np.testing.assert_allclose(result.u, [6.0, 0.5, 3.0], atol=1e-14)
    again = engage(model, q, opened, closed, u=[1.0, 0.5, 3.0])
    # 2 J_1 · 1 + J_r · 3 = (4 J_1 + J_r) ω
    speed = (2 * 0.5 * 1.0 + 0.75 * 3.0) / (4 * 0.5 + 0.75)
    np.testing.assert_allclose(again.u, [0.5, speed], atol=1e-14)
    assert again.motor_impulses["m"] == pytest.approx(0.75 * (speed - 3.0))
    assert again.joint_impulses["one_joint"] == pytest.approx(0.5 * (2 * speed - 1.0))
    # the clutch is between the two, so its impulses balance
    assert 2 * again.joint_impulses["one_joint"] + again.motor_impulses["m"] == pytest.approx(0.0, abs=1e-14)
    before = 0.5 * (0.5 * 1.0 + 0.25 * 0.25 + 0.75 * 9.0)
    assert again.loss == pytest.approx(before - kinetic(model, closed, q, again.u), rel=1e-13)


def test_a_motor_left_out_stops_and_its_energy_is_booked():
    model, q = wheels(), np.zeros(2)
    with_motor = couple(model, {"m": {}}, name="with", rotor_inertia={"m": 0.75})
    result = engage(model, q, with_motor, identity(model), u=[1.0, 2.0, 4.0])
    assert result.loss == pytest.approx(0.5 * 0.75 * 16.0)
    assert result.motor_impulses == pytest.approx({"m": -3.0})
    np.testing.assert_allclose(result.u, [1.0, 2.0], atol=1e-15)
    with pytest.raises(ValueError, match="coupling 'identity' does not allow every motion that 'with' allows"):
        release(model, q, with_motor, identity(model), u=[1.0, 2.0, 4.0])
    back = engage(model, q, identity(model), with_motor, u=[1.0, 2.0])
    assert back.u[2] == 0.0
    turning = engage(model, q, identity(model), with_motor, u=[1.0, 2.0], motor_speeds={"m": 4.0})
    np.testing.assert_allclose(turning.u, [1.0, 2.0, 4.0], atol=1e-14)


def test_a_brake_takes_the_energy_of_its_joint():
    model, q = wheels(), np.zeros(2)
    result = engage(model, q, identity(model), couple(model, locked=["one_joint"]), u=[4.0, 1.0])
    np.testing.assert_array_equal(result.v_tree, [0.0, 1.0])
    assert result.loss == pytest.approx(4.0)
    assert result.joint_impulses == pytest.approx({"one_joint": -2.0, "two_joint": 0.0})


def test_arguments_are_checked():
    model, q = wheels(), np.zeros(2)
    one = identity(model)
    with pytest.raises(ValueError, match="expected either u or momentum, got neither"):
        engage(model, q, one, one)
    with pytest.raises(ValueError, match="u: expected finite numbers"):
        engage(model, q, one, one, u=[0.0, np.nan])
    with pytest.raises(ValueError, match="expected couplings of one model"):
        engage(model, q, one, identity(robot("arm")), u=[0.0, 0.0])
    with pytest.raises(ValueError, match="motor_speeds\\['k'\\]: no motor with a rotor"):
        engage(model, q, one, one, u=[0.0, 0.0], motor_speeds={"k": 1.0})
    heavy, light = (couple(model, {"m": {}}, rotor_inertia={"m": inertia}) for inertia in (2.0, 1.0))
    with pytest.raises(ValueError, match="motor 'm': a rotor inertia of 2 in one coupling, 1 in the other"):
        engage(model, q, heavy, light, u=[0.0, 0.0, 0.0])


def test_repeats_bit_for_bit():
    model, new, _, _ = random_case("walker", 1)
    q, u = random_configuration(model, np.random.default_rng(0)), np.arange(model.nv, dtype=float)
    first, second = (engage(model, q, identity(model), new, u=u) for _ in range(2))
    assert first.u.tobytes() == second.u.tobytes()
    assert first.loss == second.loss
