# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Clutches that close in a running simulation: momentum to rounding, the loss to rounding, the motion that follows."""

from __future__ import annotations

import numpy as np
import pytest
from sim_robots import crawler, pendulum

from mbsim_ros import Simulation
from mbsim_ros.bench.walker import case as walker_case
from mbsim_ros.coupling.configuration import couple
from mbsim_ros.dynamics import mass_matrix

ROTORS = dict.fromkeys(walker_case.MOTORS, 0.05)


def with_rotors():
    """The transmission of the walker with a rotor on every motor."""
    plain = walker_case.five_motors()
    return couple(plain.model, {motor: ratios_of(plain, motor) for motor in plain.motors}, rotor_inertia=ROTORS)


def ratios_of(configuration, motor):
    """What a motor drives, as `couple` takes it."""
    column = configuration.D[:, configuration.column_of(motor)]
    return {joint.name: float(column[joint.iv]) for joint in configuration.model.joints if column[joint.iv] != 0.0}


def tumbling_walker(terrain):
    model = walker_case.walker()
    sim = Simulation(model, terrain=terrain, stops=False)
    rng = np.random.default_rng(4)
    q, v = walker_case.state_on_feet(walker_case.standing_motors()), 0.5 * rng.normal(size=model.nv)
    v[2] = -0.5
    sim.reset(q, v)
    sim.advance(80)
    assert any(report.is_touching for report in sim.contacts()) == (terrain == "flat")
    return sim


def check_change(sim, coupling, **options):
    """Couple, and compare all that must agree; returns the engagement."""
    M, v, momentum = mass_matrix(sim.model, sim.q), sim.v, sim.momentum()
    before, books, q = sim.energy(), sim.ledger(), sim.q
    old, spinning = sim.coupling, dict(zip(sim.motor_names, sim.motor_velocity, strict=True))
    done = sim.couple(coupling, **options)
    assert np.array_equal(sim.q, q)
    if sim.model.is_floating:
        size = max(np.abs(momentum).max(), np.sqrt(2.0 * before.kinetic * sim.model.mass))
        assert np.abs(sim.momentum() - momentum).max() <= 1e-12 * size
    gone = before.kinetic - sim.energy().kinetic
    scale = before.kinetic
    assert abs(done.loss - gone) <= 1e-12 * scale
    assert sim.ledger().clutch_loss - books.clutch_loss == pytest.approx(done.loss, rel=1e-12, abs=1e-15 * scale)
    assert abs(sim.ledger().residue - books.residue) <= 1e-12 * scale
    # ½ ΔvᵀMΔv with the tree's velocities, and the same of the rotors
    dv = sim.v - v
    turning = dict(zip(sim.motor_names, sim.motor_velocity, strict=True))
    loss = 0.5 * dv @ M @ dv
    inertias = {m: float(c.rotor_inertia[c.column_of(m)]) for c in (old, sim.coupling) for m in c.motors}
    for motor, inertia in inertias.items():
        loss += 0.5 * inertia * (turning.get(motor, 0.0) - spinning.get(motor, 0.0)) ** 2
    assert abs(done.loss - loss) <= 1e-12 * scale
    return done


@pytest.mark.parametrize("terrain", [False, "flat"], ids=["in flight", "on its feet"])
@pytest.mark.parametrize("rotors", [False, True], ids=["plain", "rotors"])
def test_the_walker_closes_and_opens_its_clutches_while_it_moves(terrain, rotors):
    sim = tumbling_walker(terrain)
    closed = with_rotors() if rotors else walker_case.five_motors()
    inertia = {"femur_A": ROTORS["femur_A"]} if rotors else {}
    half = couple(sim.model, {"femur_A": ratios_of(closed, "femur_A")}, rotor_inertia=inertia)
    braked = couple(sim.model, {}, [joint.name for joint in sim.model.joints])
    free = couple(sim.model, {})
    losses = [check_change(sim, closed).loss]
    for coupling in (free, half, closed, braked, free):
        sim.advance(40)
        sim.push("top", (5.0, 3.0, 0.0))
        losses.append(check_change(sim, coupling).loss)
    assert losses[0] > 0.01  # random joint rates meet a transmission
    assert losses[-1] == pytest.approx(0.0, abs=1e-12)  # opening is free
    assert sim.ledger().clutch_loss == pytest.approx(sum(losses), rel=1e-12)


def test_a_fixed_base_keeps_the_momentum_of_the_columns():
    sim = Simulation(pendulum())
    sim.reset([0.4, 0.2], [1.0, 1.5])
    sim.advance(123)
    M, v, D = mass_matrix(sim.model, sim.q), sim.v, np.array([1.0, -2.0])
    check_change(sim, "belt")
    assert D @ mass_matrix(sim.model, sim.q) @ sim.v == pytest.approx(D @ M @ v, rel=1e-12)
    rate = sim.v[0]
    np.testing.assert_allclose(sim.v, rate * D, rtol=1e-12)
    sim.advance(200)
    np.testing.assert_allclose(sim.v, sim.v[0] * D, rtol=1e-12)
    check_change(sim, {"motors": {}})


def test_rotors_keep_what_they_have_until_the_clutch_closes():
    """A motor that runs free meets joints at another speed: the loss is that of all the inertias together."""
    sim = Simulation(crawler(), terrain=False, gravity=(0, 0, 0), springs=())
    apart = {"motors": {"left": {}, "right": {}}, "rotor_inertia": {"left": 0.02, "right": 0.02}}
    sim.couple(apart)
    sim.drive_motors(effort={"left": 0.5, "right": -0.3})
    sim.advance(100)
    speeds = sim.motor_velocity[[sim.motor_names.index(name) for name in ("left", "right")]]
    np.testing.assert_allclose(speeds, np.array([0.5, -0.3]) * 0.1 / 0.02, rtol=1e-9)
    done = check_change(sim, "sides")
    assert done.loss > 0.01
    sim.drive_motors(effort={"left": 0.0, "right": 0.0})
    momentum = sim.momentum()
    sim.advance(300)
    assert np.abs(sim.momentum() - momentum).max() < 1e-12


def test_what_comes_after_is_the_motion_of_the_coupled_robot():
    """As if it had been started with the coupling in force, from the velocities that the clutch left."""
    sim = tumbling_walker(False)
    sim.couple(walker_case.five_motors())
    other = Simulation(walker_case.walker(), terrain=False, coupling=walker_case.five_motors(), stops=False)
    other.reset(sim.q, sim.v)
    sim.advance(200)
    other.advance(200)
    np.testing.assert_allclose(sim.q, other.q, atol=1e-11)
    np.testing.assert_allclose(sim.v, other.v, atol=1e-10)


def test_a_coupling_that_is_refused_leaves_everything_as_it_was():
    sim = tumbling_walker(False)
    before = sim.snapshot()
    for bad in ("unheard of", {"motors": {"m": {"no such joint": 1.0}}}, {"locked": ["body", "body"], "what": 1}):
        with pytest.raises(ValueError):
            sim.couple(bad)
        assert sim.snapshot() == before
    with pytest.raises(ValueError, match="motor_speeds"):
        sim.couple(walker_case.five_motors(), motor_speeds={"waist": 3.0})
    assert sim.snapshot() == before
