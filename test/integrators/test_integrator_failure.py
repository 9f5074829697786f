# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Absurd states, steps and forces: a step either integrates or raises a named error that leaves the state as it was."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import SCHEMES, discrete_momentum, move, paper_chain, tree

from mbsim_ros import Simulation
from mbsim_ros.dynamics import inverse_dynamics
from mbsim_ros.integrators.baselines.integrator import LieEuler, Rk4
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.assembly.builder import ModelBuilder, chain

NAMED = (SimulationDiverged, ValueError)
BAD = (np.nan, np.inf, -np.inf, 1e308, -1e200, 1e155, 1e-320)
MODELS = {
    "chain": lambda: chain(3),
    "free": lambda: paper_chain()[0],
    "groups": lambda: tree("revolute", "spherical", "planar", "floating"),
    "free_groups": lambda: tree("prismatic", "floating", base="floating"),
}


def state(simulation):
    return [np.array(getattr(simulation, name)) for name in ("q", "p", "mu", "step_count")]


def same(before, after):
    return all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def random_magnitude(rng):
    """Mostly sane, at times absurd."""
    return float(10.0 ** rng.choice([rng.uniform(-2, 1), rng.uniform(1, 6), rng.uniform(6, 300)], p=[0.5, 0.3, 0.2]))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_random_bad_cases(name):
    """320 for each robot: no NaN gets out, what fails says so and changes nothing."""
    model, rng = MODELS[name](), np.random.default_rng(11)
    integrated = refused = 0
    LieVariational(model, 0.01).step()  # compiles
    for _ in range(320):
        simulation = LieVariational(
            model, min(random_magnitude(rng) * 1e-2, 1e300), quadrature=str(rng.choice(["midpoint", "trapezoidal"])),
            retraction=str(rng.choice(["cayley", "exp"])), order=int(rng.choice([2, 4])),
            gravity=rng.normal(size=3) * (random_magnitude(rng) if rng.random() < 0.2 else 9.81),
        )  # fmt: skip
        q = move(model, model.neutral, rng.uniform(-3, 3, model.nv))
        v = rng.normal(size=model.nv) * random_magnitude(rng)
        tau = rng.normal(size=model.nv) * (random_magnitude(rng) if rng.random() < 0.3 else 0.0)
        if model.is_floating:
            tau[:6] = 0.0
        for vector in (q, v, tau):
            if rng.random() < 0.05:
                vector[rng.integers(len(vector))] = rng.choice(BAD)
        before = state(simulation)
        try:
            with np.errstate(all="ignore"):
                simulation.reset(q, v)
            before = state(simulation)
            for _ in range(3):
                before = state(simulation)
                simulation.step(tau)
            integrated += 1
        except NAMED as error:
            assert str(error)
            assert same(before, state(simulation))
            refused += 1
        assert all(np.isfinite(part).all() for part in state(simulation))
    assert integrated > 50 and refused > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_step_that_is_taken_is_a_solution(name):
    """p_k = −D₁L_d − f⁻ holds after a step, however long: an iteration that diverges is not taken as converged."""
    model, rng = MODELS[name](), np.random.default_rng(12)
    solved = halved = refused = 0
    for dt in np.geomspace(1e-3, 30.0, 60):
        for quadrature, retraction in SCHEMES:
            q, v = move(model, model.neutral, rng.uniform(-1, 1, model.nv)), rng.normal(size=model.nv)
            simulation = LieVariational(model, dt, quadrature=quadrature, retraction=retraction)
            simulation.reset(q, v)
            p = simulation.p.copy()
            try:
                simulation.step()
            except SimulationDiverged:
                refused += 1
                continue
            if simulation.counts.halvings:
                halved += 1
                continue
            solved += 1
            still = np.zeros(model.nv)
            impulse = 0.5 * dt * inverse_dynamics(model, q, still, still)
            minus, scale = discrete_momentum(simulation, q, simulation.mean_velocity)
            assert np.abs(minus - p + impulse).max() < 1e-9 * max(scale, np.abs(p).max(), np.abs(impulse).max())
    assert solved > 40 and halved + refused > 10


@pytest.mark.parametrize("scheme", [LieVariational, Rk4, LieEuler])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_numbers_are_named_before_anything_changes(scheme, bad):
    model, q, v = paper_chain()
    simulation = scheme(model, 0.01)
    simulation.reset(q, v)
    simulation.step(steps=3)
    kept = simulation.q.copy(), simulation.v.copy()
    for number in (0, 8):
        with pytest.raises(ValueError, match=rf"q\[{number}\]"):
            simulation.reset(np.where(np.arange(len(q)) == number, bad, q), v)
    with pytest.raises(ValueError, match=r"v\[2\]"):
        simulation.reset(q, np.where(np.arange(len(v)) == 2, bad, v))
    with pytest.raises(ValueError, match=r"tau\[7\]"):
        simulation.step(np.where(np.arange(len(v)) == 7, bad, 0.0))
    with pytest.raises(ValueError, match="unit quaternion"):
        simulation.reset(np.where(np.arange(len(q)) == 3, 2.0, q), v)
    with pytest.raises(ValueError, match="shape"):
        simulation.reset(q[:-1], v)
    assert (simulation.q == kept[0]).all() and (simulation.v == kept[1]).all()
    assert simulation.step_count == 3


@pytest.mark.parametrize("dt", [0.0, -0.1, np.nan, np.inf])
def test_a_step_length_that_is_none(dt):
    with pytest.raises(ValueError, match="dt: expected a positive number"):
        LieVariational(paper_chain()[0], dt)


def test_a_step_that_is_too_long_says_when_and_what_to_do():
    model, q, v = paper_chain()
    simulation = LieVariational(model, 0.05)
    simulation.reset(q, v)
    simulation.step(steps=4)
    before = state(simulation)
    tau = np.zeros(model.nv)
    tau[6:] = 1e9
    with pytest.raises(SimulationDiverged, match=r"t = 0\.2 s: .* dt = 0\.05 s"):
        simulation.step(tau, steps=10)
    assert same(before, state(simulation))


def test_a_failed_composition_takes_back_all_its_substeps():
    model, q, v = paper_chain()
    failures = 0
    for dt in np.geomspace(1e3, 1e6, 30):  # too long for any number of parts
        simulation = LieVariational(model, dt, order=4)
        simulation.reset(q, v)
        before = state(simulation)
        try:
            simulation.step()
        except SimulationDiverged:
            failures += 1
            assert same(before, state(simulation))
    assert failures > 5


def test_steps_go_on_after_a_failure():
    """As if the failure had not been, to rounding."""
    model, q, v = paper_chain()
    disturbed, plain = (LieVariational(model, 0.01, tolerance=0.0) for _ in range(2))
    for simulation in (disturbed, plain):
        simulation.reset(q, v)
        simulation.step(steps=5)
    with pytest.raises(SimulationDiverged):
        disturbed.step(np.array([0.0] * 6 + [1e200] * 2))
    for simulation in (disturbed, plain):
        simulation.step(steps=20)
    assert np.abs(disturbed.q - plain.q).max() < 1e-12


def test_massless_parts_are_an_error():
    builder = ModelBuilder("ghost").link("world").link("rod", mass=1.0, com=(0, 0, -0.5), cylinder=(0.02, 1.0))
    builder.link("nothing").joint("pivot", "continuous", "world", "rod", axis=(0, 1, 0))
    builder.joint("loose", "continuous", "rod", "nothing", axis=(0, 1, 0))
    with pytest.warns():
        model = builder.build()
    for scheme in (LieVariational, Rk4, LieEuler):
        simulation = scheme(model, 0.01)
        simulation.reset([0.3, 0.1], [0.0, 0.0])
        with pytest.raises((SimulationDiverged, ValueError)):
            simulation.step()
        assert simulation.q.tolist() == [0.3, 0.1]


def test_order_4_recovers_too():
    """A floating chain that turns by half a radian in a substep, where the iteration alone gives up at 7.18 s."""
    sim = Simulation(chain(3, base="floating"), dt=0.02, gravity=(0, 0, 0), stops=False, order=4)
    q = sim.q
    q[7:] = 0.4, -0.7
    sim.reset(q=q, v=[0.3, -0.2, 0.5, 1, 2, 3, 1.5, -2])
    momentum, energy = sim.momentum(), sim.energy().total
    sim.run(8.0)
    assert sim.integrator.counts.newton_steps + sim.integrator.counts.halvings > 0
    np.testing.assert_allclose(sim.momentum(), momentum, rtol=1e-11, atol=1e-11)
    assert sim.energy().total == pytest.approx(energy, rel=0.02)
