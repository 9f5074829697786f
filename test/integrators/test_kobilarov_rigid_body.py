# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""K section 3: the Cayley scheme and trapezoidal Lie-Newmark against the checked numbers, and against other integrators."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import WEIGHTLESS, paper_chain, reference, rotation

from mbsim_ros import Simulation
from mbsim_ros.integrators.baselines.integrator import Rk4
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.rigid_body.cayley import CayleyRigidBody
from mbsim_ros.integrators.rigid_body.trapezoidal_lie_newmark import TrapezoidalLieNewmark
from mbsim_ros.model.assembly.builder import ModelBuilder

CHECKED = reference("kobilarov_rigid_body.json")
BODY = CHECKED["rigid_body_reference"]
SCHEMES = [(CayleyRigidBody, "cayley"), (TrapezoidalLieNewmark, "tln")]


def hanging(moments=(1.0, 2.0, 3.0), com=(0.0, 0.0, 0.0), mass=1.0, rpy=(0.0, 0.0, 0.0)):
    builder = ModelBuilder("hanging").link("world").link("body", mass=mass, com=com, inertia=moments)
    return builder.joint("ball", "spherical", "world", "body", rpy=rpy).build("fixed")


def free():
    return ModelBuilder("free").link("free", mass=2.0, com=(0.1, 0.2, -0.1), inertia=(1.0, 2.0, 2.5)).build("floating")


def started(scheme, h, model=None, w=BODY["w0"], gravity=WEIGHTLESS):
    body = scheme(hanging() if model is None else model, h, gravity=gravity)
    body.reset(body.q, w)
    return body


@pytest.mark.parametrize(("scheme", "name"), SCHEMES)
def test_errors_are_those_of_the_reference(scheme, name):
    """Four steps, second order, started by the discrete Legendre transform."""
    errors = []
    for h in (0.02, 0.01, 0.005, 0.0025):
        body = started(scheme, h)
        body.step(steps=round(BODY["T"] / h))
        errors.append(np.linalg.norm(rotation(body.q) - BODY["R"]))
    assert errors == pytest.approx(CHECKED["convergence"][f"{name}_legendre"]["errR"], rel=1e-7)


def test_ten_steps_of_the_cayley_scheme():
    body = started(CayleyRigidBody, 0.1)
    body.step(steps=10)
    assert np.abs(rotation(body.q) - CHECKED["convergence"]["ref10steps_h0.1"]["R"]).max() < 1e-12


def test_the_cayley_scheme_keeps_the_spatial_momentum_and_the_other_does_not():
    drifts = {}
    for scheme, name in SCHEMES:
        body, drift = started(scheme, 0.05), 0.0
        first = np.array([1.0, 2.0, 3.0]) * BODY["w0"]
        for _ in range(200):
            body.step(steps=50)
            drift = max(drift, np.abs(rotation(body.q) @ (np.array([1.0, 2.0, 3.0]) * body.v) - first).max())
        drifts[name] = drift
    assert drifts["cayley"] < 3e-11  # of 13 N m s, over 10 000 steps
    assert drifts["tln"] > 1e-3


def test_the_cayley_scheme_is_the_flagship_on_a_ball_joint():
    """A heavy body out of balance on a turned joint: K (11), (12) with a torque that depends on the attitude."""
    model = hanging((1.0, 2.0, 2.5), (0.1, 0.2, -0.4), 3.0, (0.3, -0.5, 0.8))
    ours = started(CayleyRigidBody, 0.01, model, (1.0, 2.0, -3.0), (0.0, 0.0, -9.81))
    flagship = LieVariational(model, 0.01, quadrature="trapezoidal", retraction="cayley", tolerance=0.0)
    flagship.reset(model.neutral, [1.0, 2.0, -3.0])
    for simulation in (ours, flagship):
        simulation.step(steps=200)
    assert np.abs(ours.q - flagship.q).max() < 1e-11
    assert np.abs(ours.v - flagship.v).max() < 1e-11


@pytest.mark.parametrize(("scheme", "name"), SCHEMES)
@pytest.mark.parametrize("kind", ["free", "hanging"])
def test_second_order_under_gravity_and_forces(scheme, name, kind):
    if kind == "free":
        model, v, tau = free(), [0.1, 0.2, 0.3, 1.0, -2.0, 1.5], [1.0, -2.0, 0.5, 0.3, 0.4, -0.2]
    else:
        model, v, tau = hanging(com=(0.3, -0.2, 0.1), rpy=(1.0, 0.4, 0.2)), [1.0, -2.0, 1.5], [0.3, 0.4, -0.2]
    exact = Rk4(model, 1e-3)
    exact.reset(model.neutral, v)
    exact.step(tau, steps=1000)
    errors = []
    for h in (0.01, 0.005):
        body = started(scheme, h, model, v, (0.0, 0.0, -9.81))
        body.step(tau, steps=round(1.0 / h))
        errors.append([np.abs(body.q - exact.q).max(), np.abs(body.v - exact.v).max()])
    assert np.log2(np.divide(*errors)) == pytest.approx([2.0, 2.0], abs=0.02)


@pytest.mark.parametrize(("scheme", "name"), SCHEMES)
def test_below_its_bound_every_step_is_solved(scheme, name):
    rng = np.random.default_rng(3)
    for _ in range(50):
        moments = np.sort(rng.uniform(0.2, 2.0, 3))
        moments[2] = min(moments[2], 0.99 * (moments[0] + moments[1]))
        model, w = hanging(tuple(moments)), rng.normal(size=3)
        bound = started(scheme, 1.0, model, w).step_bound()
        started(scheme, 0.99 * min(bound, 5.0), model, w).step(steps=3)


def test_a_step_without_solution_is_an_error_and_changes_nothing():
    """A slender body, far beyond 4 √κ / (κ − 1)."""
    failures = 0
    for turn in np.linspace(0.1, 1.4, 14):
        body = started(TrapezoidalLieNewmark, 1.0, hanging((0.1, 1.0, 1.05)), (6 * np.sin(turn), 6 * np.cos(turn), 3.0))
        q, v = body.q.copy(), body.v.copy()
        try:
            body.step()
        except SimulationDiverged as error:
            failures += 1
            assert "found no mean velocity" in str(error) and "solvable below" in str(error)
            assert (body.q == q).all() and (body.v == v).all() and body.time == 0.0
    assert failures > 0


@pytest.mark.parametrize(("scheme", "name"), SCHEMES)
def test_only_one_body(scheme, name):
    with pytest.raises(UnsupportedModel, match="covers one rigid body"):
        scheme(paper_chain()[0], 0.1)


def test_as_an_integrator_of_a_simulation():
    sim = Simulation(free(), dt=0.01, integrator="trapezoidal_lie_newmark")
    sim.reset(v=[0.1, 0.2, 0.3, 1.0, -2.0, 1.5])
    sim.run(0.1)
    kept = sim.snapshot()
    sim.run(0.2)
    end = sim.q
    sim.restore(kept)
    sim.run(0.2)
    assert (sim.q == end).all()
    direct = started(TrapezoidalLieNewmark, 0.01, free(), [0.1, 0.2, 0.3, 1.0, -2.0, 1.5], (0.0, 0.0, -9.81))
    direct.step(steps=30)
    assert (direct.q == end).all()
    with pytest.raises(UnsupportedModel, match="'kobilarov_chain' has 3 moving bodies: .*: use 'lie_variational'"):
        Simulation(paper_chain()[0], integrator="trapezoidal_lie_newmark")
