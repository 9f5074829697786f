# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""K's experiments against the checked numbers, and the Monte Carlo search against brute force."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.experiments.kobilarov import (
    chain as kobilarov_chain,
    figure_2 as kobilarov_figure_2,
    monte_carlo as kobilarov_monte_carlo,
    step_bounds as kobilarov_step_bounds,
)
from mbsim_ros.experiments.kobilarov.definiteness import indefinite_steps

LEVI_CIVITA = np.array([np.cross(np.eye(3)[a], np.eye(3)) for a in range(3)])
REFERENCE = Path(__file__).parents[1] / "reference"


def reference(name):
    return json.loads((REFERENCE / name).read_text())


def unheard(share, what):
    assert 0.0 <= share <= 1.0 and what


@pytest.fixture(scope="module")
def figure_2():
    return kobilarov_figure_2.run(unheard, samples=3000)


@pytest.fixture(scope="module")
def step_bounds():
    return kobilarov_step_bounds.run(unheard)


def at(values, kappa):
    return values[kobilarov_figure_2.KAPPAS.index(kappa)]


@pytest.mark.slow
@pytest.mark.parametrize("row", reference("kobilarov_rigid_body.json")["fig2"], ids=lambda row: f"kappa={row['kappa']}")
def test_figure_2(figure_2, row):
    metrics, kappa = figure_2.metrics, row["kappa"]
    assert at(metrics["bound (19), h |ω|"], kappa) == pytest.approx(row["b19"], rel=1e-12)
    assert at(metrics["bound (20) as printed, h |ω|"], kappa) == pytest.approx(float(row["b20"]), rel=1e-12)
    assert at(metrics["bound (20) with the erratum, h |ω|"], kappa) == pytest.approx(
        float(row["b20_corrected"]), rel=1e-12
    )
    for which, end in (("all inertias", ""), ("inertias of real bodies", "_phys")):
        newmark = f"trapezoidal Lie-Newmark, {which}"
        exact = at(metrics[f"{newmark}: smallest singular h |ω|, optimised"], kappa)
        assert exact == pytest.approx(row[f"opt_tln{end}"], rel=1e-7)
        assert exact <= at(metrics[f"{newmark}: smallest singular h |ω| of the samples"], kappa) < 1.05 * exact
        share = at(metrics[f"{newmark}: share of samples with a singular h |ω|"], kappa)
        assert share == pytest.approx(row[f"frac_sing_tln{end}"], abs=0.03)
        assert 0.0 <= at(metrics[f"{newmark}: share of Newton's trials that failed"], kappa) < 0.5 * share
        assert at(metrics[f"Cayley, {which}: smallest singular h |ω| of the samples"], kappa) == np.inf
        assert at(metrics[f"Cayley, {which}: share of Newton's trials that failed"], kappa) == 0.0


def test_figure_2_thresholds_and_orders(figure_2):
    given, metrics = reference("kobilarov_rigid_body.json"), figure_2.metrics
    threshold = "condition number up to which Cayley steps are unrestricted, K (20)"
    assert metrics[threshold] == pytest.approx(given["kappa_threshold_corrected"], rel=1e-12)
    assert figure_2.printed[threshold] == pytest.approx(given["kappa_threshold_printed"], rel=1e-12)
    assert metrics["condition number of the first singular Cayley step, diag(1, κ, κ)"] == pytest.approx(
        135.867, abs=2e-3
    )
    assert metrics["h |ω| of the first singular Cayley step"] == pytest.approx(6.83, abs=0.01)
    for name, key in (("Cayley", "cayley"), ("trapezoidal Lie-Newmark", "tln")):
        for start, kind in (("started by the Legendre transform", "legendre"), ("started as printed", "literal")):
            errors = metrics[f"{name}, {start}: error of R after 2 s"]
            assert errors == pytest.approx(given["convergence"][f"{key}_{kind}"]["errR"], rel=1e-7)


def test_bounds_are_below_what_a_search_finds(figure_2):
    metrics = figure_2.metrics
    found = "smallest h |ω| that is not positive definite, by search"
    exact = metrics["4 √κ / (κ − 1), h |ω|"]
    assert metrics[f"trapezoidal Lie-Newmark: {found}"] == pytest.approx(exact, rel=1e-7)
    assert metrics["trapezoidal Lie-Newmark: bound (19) over it, at most"] == pytest.approx(
        1.5**-0.5, rel=1e-7
    )  # κ = 1.5
    assert metrics["Cayley: bound (20) with the erratum over it, at most"] < 1.0
    assert np.isinf(at(metrics[f"Cayley: {found}"], 7.0)) and np.isfinite(at(metrics[f"Cayley: {found}"], 10.0))
    w = at(metrics[f"Cayley: {found}"], 10.0)  # and there it is: an eigenvalue of the symmetric part vanishes
    middle, directions = kobilarov_monte_carlo.random_bodies(10.0, False, 2000, np.random.default_rng(0))
    steps = indefinite_steps(middle, 10.0, directions, True)
    best = int(np.argmin(steps))
    assert w <= steps[best] < 1.2 * w
    J, u = np.diag([1.0, middle[best], 10.0]), steps[best] * directions[best]
    De = J + 0.5 * np.cross(u, J.T).T + 0.25 * (u @ J @ u) * np.eye(3) + 0.5 * np.outer(u, J @ u)
    assert np.linalg.eigvalsh(0.5 * (De + De.T))[0] == pytest.approx(0.0, abs=1e-7)


def test_the_momentum_map_is_the_momentum_of_a_short_step():
    """K (65) of two configurations that a motion passes through, against the momentum of that motion."""
    model, q, v = kobilarov_chain.chain()
    scheme = kobilarov_chain.LieVariational(model, 1e-4, order=4, gravity=kobilarov_chain.WEIGHTLESS)
    (before, after), _ = kobilarov_chain.sampled(scheme, q, v, 1, 2)
    found = kobilarov_chain.momentum_map(model, before, after, 1e-4)
    assert found == pytest.approx(kobilarov_chain.momentum(model, q, v), abs=1e-7)


@pytest.mark.parametrize("scheme", ["trapezoidal Lie-Newmark", "Cayley"])
def test_singular_steps_against_determinants(scheme):
    """No change of sign before the step that was found, and the determinant vanishes there."""
    rng, kappa = np.random.default_rng(5), 400.0  # a condition number with singular steps of both schemes
    middle, directions = kobilarov_monte_carlo.random_bodies(kappa, False, 300, rng)
    middle[::2] = kappa
    directions[::3] = (np.cos(0.1), np.sin(0.1), 0.0)
    found = kobilarov_monte_carlo.smallest_singular_step(scheme, kappa, middle, directions)
    assert np.isfinite(found).sum() > 20 and np.isinf(found).sum() > 20
    for j, u, x in zip(middle, directions, found, strict=True):
        values = determinant(scheme, j, kappa, np.linspace(0.0, min(x, 1e3), 200)[:-1, None] * u)
        assert (values > 0.0).all()
        if np.isfinite(x):
            assert abs(determinant(scheme, j, kappa, x * u[None])[0]) < 1e-9 * np.abs(values).max()


def determinant(scheme, middle, kappa, w):
    J = np.diag([1.0, middle, kappa])
    hats = np.einsum("abc,nb->nac", LEVI_CIVITA, w), np.einsum("abc,nb->nac", LEVI_CIVITA, w @ J)
    De = J - 0.5 * hats[1] + 0.5 * hats[0] @ J
    if scheme == "Cayley":
        De = De + 0.25 * np.einsum("na,ab,nb->n", w, J, w)[:, None, None] * np.eye(3)
        De = De + 0.5 * w[:, :, None] * (w @ J)[:, None, :]
    return np.linalg.det(De)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "row"), [(n, row) for n in (2, 3) for row in (0, 1)])
def test_step_bounds(step_bounds, number, row):
    """The checked (38) and (41) were found by scanning in steps of 5 µs."""
    given = reference("kobilarov_step_bounds.json")[f"n{number}"]
    case, metrics = given["rows"][row], step_bounds.metrics
    constants = metrics[f"{number} rods: m1, m2, ℓ0, ℓ1, ℓ2 of K (26)–(29)"]
    assert constants == pytest.approx(list(given["consts"].values()), rel=1e-8)

    def found(name):
        return metrics[f"{number} rods, state {row + 1}: {name} [s]"]

    assert found("(32), regular Jacobian") == pytest.approx(case["h32"], rel=1e-8)
    for name, key in (
        ("(38) as printed", "h38_printed"), ("(38) with 2 m1", "h38_2m1"),
        ("(41) as printed", "h41_printed"), ("(41) with 3 m1² L1", "h41_corrected"),
    ):  # fmt: skip
        assert found(name) == pytest.approx(case[key], abs=5e-6)
    # For the last state Newton's iterates wander from 0.33 s on: rounding decides where they first fail.
    fails, leaves = (
        found("last step before Newton's method fails"),
        found("last step with the solution that continues from short steps"),
    )
    if (number, row) != (3, 1):
        assert fails == pytest.approx(case["h_emp"], rel=1e-9)
    assert 0.3 < leaves <= fails <= case["h_emp"] * (1 + 1e-9)


def test_three_links(step_bounds):
    given, metrics = reference("kobilarov_step_bounds.json")["three_link_ode"], step_bounds.metrics
    assert metrics["three links: q and v after 1 s, exact [rad, rad/s]"] == pytest.approx(given["1"], abs=1e-9)
    assert metrics["three links: longest of these steps that runs for 10 s [s]"] == 0.125
    # up to 0.155 s no step breaks down; at 0.16 s one has no solution, or the energy is off by orders of magnitude:
    # rounding decides which
    assert metrics[kobilarov_step_bounds.LONGEST_RIGHT] == pytest.approx(0.155)
    beyond = kobilarov_step_bounds.trajectory(0.16)
    assert np.isfinite(beyond.failed_at) or beyond.energy_error > 10.0 * kobilarov_step_bounds.energy_above_rest()


def test_chain():
    given, metrics = reference("kobilarov_chain.json"), kobilarov_chain.run(unheard).metrics
    assert metrics["energy at the start [J]"] == pytest.approx(given["E0"], rel=1e-12)
    L_p = np.array(given["spatial_momentum0"])
    momentum = metrics["momentum at the start (p, L) [kg m/s, kg m²/s]"]
    assert momentum == pytest.approx(np.concatenate([L_p[3:], L_p[:3]]), rel=1e-12)
    errors = metrics["error of the pose after 2 s with h = 0.1, 0.05, 0.025, 0.0125, 0.00625 s"]
    assert errors == pytest.approx(given["convergence_trapezoidal_cayley"]["err"], rel=1e-6)
    # K (65) from configurations; after 1000 s it is 95 m away, where places are rounded to 1e-14 m, over h = 0.1 s
    assert metrics["symplectic: largest drift of momentum over 20 s [kg m/s, kg m²/s]"] < 1e-12
    assert metrics["drift of momentum over 1000 s [kg m/s, kg m²/s]"] < 1e-9
    low, high = metrics["smallest and largest energy over 1000 s [J]"]
    assert 0.99 * given["E0"] < low < high < 1.01 * given["E0"]
    euler = metrics["Euler: largest drift of momentum over 20 s [kg m/s, kg m²/s]"]
    assert euler > 0.1
    measured = kobilarov_chain.FROM_CONFIGURATIONS
    assert (
        max(metrics[f"symplectic: {measured} over 20 s"]) < 5e-3 < 0.05 < max(metrics[f"Euler: {measured} over 20 s"])
    )
    assert metrics[f"{measured} over 1000 s"][0] < 3.0 * metrics[f"symplectic: {measured} over 20 s"][0]
    orders = np.array(metrics["order of the momentum from configurations, linear and angular"])
    assert orders == pytest.approx(2.0, abs=0.1)
