# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""K section 4: the variational integrator in coordinates, its exact Jacobian, and the constants of its bounds."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import paper_chain, reference, tree

from mbsim_ros.dynamics import mass_matrix
from mbsim_ros.experiments.kobilarov.step_bounds import THREE_LINKS, rods
from mbsim_ros.integrators.coordinates.derivatives import momentum_slopes
from mbsim_ros.integrators.coordinates.regularity import MassSeries, multilinear_norm, search_regularity
from mbsim_ros.integrators.coordinates.variational import CoordinateVariational
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.lie_variational.integrator import LieVariational

BOUNDS = reference("kobilarov_step_bounds.json")


def robot():
    return tree("revolute", "prismatic", "revolute")


def state(model, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, model.nv), rng.normal(size=model.nv)


def test_slopes_of_the_momentum_are_exact():
    model = robot()
    q, v = state(model)
    step = 1e-4
    for i, found in enumerate(momentum_slopes(model, q, v).T):
        # eighth order, so that 1e-4 leaves nothing but rounding
        weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
        e = step * np.eye(model.nv)[i]
        ways = [
            weight * (mass_matrix(model, q + k * e) - mass_matrix(model, q - k * e)) for k, weight in weights.items()
        ]
        assert np.abs(sum(ways) / step @ v - found).max() < 1e-10


def test_the_jacobian_is_the_derivative_of_the_residual():
    """K (25), with damping."""
    model = robot()
    q, v = state(model)
    scheme = CoordinateVariational(model, 0.1, damping=np.linspace(0.1, 0.4, model.nv))
    scheme.reset(q, v)
    difference = [
        (scheme.residual_terms(v + 1e-6 * e, 0.1) - scheme.residual_terms(v - 1e-6 * e, 0.1)) / 2e-6
        for e in np.eye(model.nv)
    ]
    assert np.abs(np.stack(difference, axis=1) - scheme.jacobian(v, 0.1)).max() < 1e-7


@pytest.mark.parametrize("model", [rods(3), robot()], ids=["rods", "tree"])
def test_it_takes_the_steps_of_the_flagship(model):
    q, v = state(model)
    ours, flagship = CoordinateVariational(model, 0.01), LieVariational(model, 0.01, quadrature="trapezoidal")
    tau = np.linspace(-1.0, 1.0, model.nv)
    for scheme in (ours, flagship):
        scheme.reset(q, v)
        scheme.step(tau, steps=30)
    assert np.abs(ours.q - flagship.q).max() < 1e-10
    assert np.abs(ours.v - flagship.v).max() < 1e-9
    assert np.abs(ours.mean_velocity - flagship.mean_velocity).max() < 1e-9


def test_second_order_against_the_ode():
    exact = np.array(BOUNDS["three_link_ode"]["1"])
    errors = []
    for steps in (100, 200):
        scheme = CoordinateVariational(rods(3), 1.0 / steps)
        scheme.reset(THREE_LINKS, np.zeros(3))
        scheme.step(steps=steps)
        errors.append(np.abs(np.concatenate([scheme.q, scheme.v]) - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert errors[0] < 0.02


def test_damping_takes_energy_with_second_order():
    """One rod in the horizontal plane with damping d turns as exp(−d t / I)."""
    errors = []
    for steps in (20, 40):
        scheme = CoordinateVariational(rods(1), 1.0 / steps, gravity=(0, 0, 0), damping=[0.5])
        scheme.reset([0.0], [2.0])
        scheme.step(steps=steps)
        errors.append(abs(scheme.v[0] - 2.0 * np.exp(-0.5 / (1 / 3))))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_a_step_too_long_is_an_error_in_the_state_before():
    scheme = CoordinateVariational(rods(3), 0.5)
    scheme.reset(THREE_LINKS, np.zeros(3))
    with pytest.raises(SimulationDiverged, match="found no mean velocity with dt = 0.5"):
        for _ in range(20):
            q = scheme.q
            scheme.step()
    assert scheme.q is q and np.isfinite(q).all()


def test_models_it_does_not_cover():
    with pytest.raises(UnsupportedModel, match="has a floating base"):
        CoordinateVariational(paper_chain()[0], 0.1)
    with pytest.raises(UnsupportedModel, match="prismatic joint makes the mass matrix unbounded"):
        search_regularity(robot())


def test_the_series_is_the_mass_matrix():
    model = tree("revolute", "revolute")
    q, _ = state(model)
    series = MassSeries(model)
    assert np.abs(series.value(q) - mass_matrix(model, q)).max() < 1e-13
    v = np.array([0.3, -1.0, 0.7])
    assert np.abs(np.einsum("iab,b->ai", series.slopes(q), v) - momentum_slopes(model, q, v)).max() < 1e-13
    step = 1e-5 * np.eye(3)[1]
    difference = (series.slopes(q + step) - series.slopes(q - step)) / 2e-5
    assert np.abs(series.curvatures(q)[:, 1] - difference).max() < 1e-9


def test_the_norm_of_a_form_of_known_norm():
    """Of matrices it is the largest singular value; of a ⊗ b ⊗ c the product of the lengths."""
    rng = np.random.default_rng(2)
    starts = rng.normal(size=(4, 8, 3))
    T = rng.normal(size=(3, 3))
    assert multilinear_norm(T, starts) == pytest.approx(np.linalg.norm(T, 2), rel=1e-9)
    a, b, c = rng.normal(size=(3, 3))
    lengths = np.prod([np.linalg.norm(x) for x in (a, b, c)])
    assert multilinear_norm(np.einsum("i,j,k", a, b, c), starts) == pytest.approx(lengths, rel=1e-12)
