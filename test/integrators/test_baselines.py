# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Runge-Kutta and Euler on the group: their orders, their agreement with the continuous solution, their failures."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import WEIGHTLESS, distance, move, paper_chain, reference, rotation, tree

from mbsim_ros.dynamics import momentum
from mbsim_ros.integrators.baselines.integrator import LieEuler, Rk4
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.assembly.builder import ModelBuilder, chain

EVERY_KIND = ("revolute", "planar", "spherical", "prismatic", "floating", "continuous")
SCHEMES = [
    pytest.param(Rk4, {}, 4, id="rk4"),
    pytest.param(LieEuler, {"retraction": "exp"}, 1, id="lie_euler-exp"),
    pytest.param(LieEuler, {"retraction": "cayley"}, 1, id="lie_euler-cayley"),
]


def start(model, seed=5):
    rng = np.random.default_rng(seed)
    return move(model, model.neutral, rng.uniform(-0.8, 0.8, model.nv)), 0.5 * rng.normal(size=model.nv)


@pytest.mark.parametrize(("scheme", "options", "order"), SCHEMES)
def test_order_against_the_reference_chain(scheme, options, order):
    model, q, v = paper_chain()
    exact = reference("kobilarov_chain.json")["ode_solution"]["2"]
    errors = []
    for steps in (100, 200, 400):
        simulation = scheme(model, 2.0 / steps, gravity=WEIGHTLESS, **options)
        simulation.reset(q, v)
        simulation.step(steps=steps)
        ours = np.concatenate([rotation(simulation.q[3:7]).ravel(), simulation.q[:3], simulation.q[7:]])
        errors.append(np.abs(ours - np.concatenate([exact["R"], exact["x"], exact["r"]])).max())
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(order, abs=0.15), errors


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_every_kind_of_joint_moves_as_the_variational_integrator_moves_it(base):
    """Two schemes with nothing in common but the model, both of order 4, under gravity and forces."""
    model = tree(*EVERY_KIND, base=base)
    q, v = start(model)
    tau = 0.3 * np.random.default_rng(6).normal(size=model.nv)
    tau[:6] = 0.0 if base == "floating" else tau[:6]
    ends = []
    for simulation in (Rk4(model, 1e-3), LieVariational(model, 1e-3, order=4)):
        simulation.reset(q, v)
        simulation.step(tau, steps=200)
        ends.append((simulation.q.copy(), simulation.v.copy()))
    assert distance(model, ends[0][0], ends[1][0]) < 1e-8
    assert np.abs(ends[0][1] - ends[1][1]).max() < 1e-7


@pytest.mark.parametrize(("scheme", "options", "order"), SCHEMES)
def test_quaternions_stay_of_unit_length(scheme, options, order):
    model = tree("spherical", "floating", base="floating")
    simulation = scheme(model, 0.01, **options)
    simulation.reset(*start(model))
    for _ in range(5):
        simulation.step(steps=20)
        for at in model.quaternions:
            assert np.linalg.norm(simulation.q[at : at + 4]) == pytest.approx(1.0, abs=1e-14)


def test_many_steps_at_once_are_the_same_steps():
    model = chain(4)
    first, second = Rk4(model, 1e-3), Rk4(model, 1e-3)
    for simulation in (first, second):
        simulation.reset(np.full(4, 0.4), np.ones(4))
    first.step(steps=50)
    for _ in range(50):
        second.step()
    assert (first.q == second.q).all() and (first.v == second.v).all()
    assert first.step_count == 50 and first.time == pytest.approx(0.05)


def test_runge_kutta_loses_momentum_where_the_variational_integrator_does_not():
    """What the baseline is there to show: h = 0.1, 100 s of the free chain."""
    model, q, v = paper_chain()
    before = momentum(model, q, v)
    errors = []
    for simulation in (Rk4(model, 0.1, gravity=WEIGHTLESS), LieVariational(model, 0.1, gravity=WEIGHTLESS)):
        simulation.reset(q, v)
        simulation.step(steps=1000)
        errors.append(np.abs(momentum(model, simulation.q, simulation.v) - before).max())
    assert errors[0] > 1e-7 and errors[1] < 1e-12


@pytest.mark.parametrize(("scheme", "options", "order"), SCHEMES)
@pytest.mark.parametrize("speed", [1e80, 1e155, 1e300])
def test_overflow_is_an_error_and_the_last_good_state_is_kept(scheme, options, order, speed):
    model = tree("revolute", "spherical", "floating", base="floating")
    simulation = scheme(model, 0.5, **options)
    q, v = start(model)
    simulation.reset(q, speed * v)
    with pytest.raises(SimulationDiverged, match="try a smaller dt"):
        for _ in range(100):
            before = simulation.q.copy(), simulation.v.copy(), simulation.step_count
            simulation.step()
    assert (simulation.q == before[0]).all() and (simulation.v == before[1]).all()
    assert simulation.step_count == before[2]
    simulation.reset(q, v)
    simulation.step()
    assert np.isfinite(simulation.q).all() and np.isfinite(simulation.v).all()


def test_a_failure_in_mid_run_counts_the_good_steps():
    model = chain(2)
    simulation = LieEuler(model, 0.5)
    simulation.reset(np.full(2, 0.3), np.full(2, 100.0))
    with pytest.raises(SimulationDiverged) as caught:
        simulation.step(steps=1000)
    assert 0 < simulation.step_count < 1000
    assert f"t = {simulation.time:.6g} s" in str(caught.value)
    assert np.isfinite(simulation.q).all() and np.isfinite(simulation.v).all()


def test_bad_arguments_are_named():
    model = chain(2)
    with pytest.raises(ValueError, match="dt: expected a positive number, got 0"):
        Rk4(model, 0)
    with pytest.raises(ValueError, match="retraction: expected one of 'cayley', 'exp', got 'log'"):
        LieEuler(model, 0.1, retraction="log")
    with pytest.raises(ValueError, match="gravity"):
        Rk4(model, 0.1, gravity=(0, 0, np.nan))
    simulation = Rk4(model, 0.1)
    with pytest.raises(ValueError, match=r"v\[1\] = nan"):
        simulation.reset(np.zeros(2), [0, np.nan])
    with pytest.raises(ValueError, match="tau"):
        simulation.step(np.full(2, np.inf))
    with pytest.raises(ValueError, match="steps: expected a number that is not negative, got -1"):
        simulation.step(steps=-1)
    with pytest.raises(TypeError):
        simulation.step(steps=1.5)
    assert not simulation.q.any() and not simulation.v.any() and simulation.step_count == 0


def test_mimic_joints_are_refused():
    builder = ModelBuilder("pair").link("world")
    for name in ("a", "b"):
        builder.link(name, mass=1.0, com=(0.1, 0, 0), sphere=0.1)
    builder.joint("lead", "continuous", "world", "a")
    builder.joint("follow", "continuous", "a", "b", mimic="lead")
    with pytest.raises(UnsupportedModel, match="'pair' has mimic joints"):
        Rk4(builder.build(), 0.1)
