# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The energy-stable scheme of G 3: the reference numbers, the thesis' own equations, and what it does not cover."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from planar_chains import WEIGHT, ode_state, random_chain, random_planar

from mbsim_ros.dynamics import energy, mass_matrix
from mbsim_ros.elastic import attach, spring_energy
from mbsim_ros.experiments.goetz.chain import (
    CENTRE,
    GRAVITY,
    SPRINGS,
    START,
    chain_with,
    manipulator,
    with_printed_mass_matrix,
)
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.planar.chain import planar_chain
from mbsim_ros.integrators.planar.energy_stable import EnergyStable
from mbsim_ros.model.assembly.builder import ModelBuilder, chain
from mbsim_ros.model.sidecar.settings import Attachment, Spring

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "goetz.json").read_text())
KEY = {"none": "gravity", "mono": "mono", "multi": "multi"}
AT_REST = np.zeros(3)


def scheme(kind, dt, gauss_points=1, chain=None):
    made = EnergyStable(chain or chain_with(kind), dt, gauss_points=gauss_points)
    made.reset(START, AT_REST)
    return made


def centres(scheme):
    """Centres of mass, (x_1 … x_n, y_1 … y_n)."""
    x = scheme.chain.base + scheme.chain.centres @ scheme.d
    return np.concatenate([x.real, x.imag])


def energy_errors(scheme, steps):
    start = sum(scheme.energies())
    return np.abs(scheme.trace(steps)["energy"] - start)


@pytest.mark.parametrize("kind", SPRINGS)
def test_standard_run_of_the_reference(kind):
    run, reference = scheme(kind, 0.01), REFERENCE[KEY[kind]]["a_midpoint_ES"]
    assert sum(run.energies()) == pytest.approx(REFERENCE[KEY[kind]]["E0"], abs=1e-14)
    start = sum(run.energies())
    first = run.trace(100)
    np.testing.assert_allclose(centres(run), reference["com_q_t1"], atol=1e-13)
    velocity = run.chain.centres @ run.rate
    np.testing.assert_allclose(np.concatenate([velocity.real, velocity.imag]), reference["com_v_t1"], atol=1e-12)
    second = run.trace(900)
    np.testing.assert_allclose(centres(run), reference["com_q_t10"], atol=1e-10)
    np.testing.assert_allclose(
        np.angle(np.exp(1j * run.q)), np.angle(np.exp(1j * np.array(reference["state_t10"][0]))), atol=1e-10
    )
    np.testing.assert_allclose(run.v, reference["state_t10"][1], atol=1e-9)
    last = run.trace(4000)
    worst = {
        name: max(np.abs(part[name]).max() for part in (first, second, last)) for name in ("length error", "rate error")
    }
    error = max(np.abs(part["energy"] - start).max() for part in (first, second, last))
    assert CENTRE**2 * worst["length error"] <= 5e-14  # G (5.1)
    # |Re(conj(d) ḋ)| l², ERRATA A21; the end of the run is chaotic
    assert CENTRE**2 * worst["rate error"] == pytest.approx(reference["max_velocity_constraint_violation"], rel=1e-4)
    assert error <= 1e-13 if kind == "none" else error == pytest.approx(reference["maxE"], rel=1e-6)


@pytest.mark.parametrize("kind", ["mono", "multi"])
def test_three_gauss_points(kind):
    run, reference = scheme(kind, 0.01, 3), REFERENCE[KEY[kind]]["b_gauss3_ES"]
    errors = energy_errors(run, 100)
    np.testing.assert_allclose(centres(run), reference["com_q_t1"], atol=1e-13)
    errors = np.append(errors, energy_errors(run, 900))
    np.testing.assert_allclose(centres(run), reference["com_q_t10"], atol=1e-10)
    errors = np.append(errors, energy_errors(run, 4000))
    assert errors.max() <= 2.0 * reference["maxE"]


@pytest.mark.parametrize("dt", [0.005, 0.05, 0.2])
def test_weight_alone_conserves_energy_whatever_the_step(dt):
    assert energy_errors(scheme("none", dt), round(20.0 / dt)).max() <= 1e-13


@pytest.mark.parametrize(("kind", "points", "slope", "steps"), [
    ("mono", 1, 2.0, (0.01, 0.02)), ("multi", 1, 2.0, (0.01, 0.02)),
    ("mono", 3, 6.0, (0.05, 0.08)), ("multi", 3, 6.0, (0.05, 0.08)),
])  # fmt: skip
def test_order_of_the_energy_error(kind, points, slope, steps):
    """G (5.5) over 10 s; the reference divides by one number more."""
    means = [energy_errors(scheme(kind, dt, points), round(10.0 / dt)).mean() for dt in steps]
    assert np.log(means[1] / means[0]) / np.log(steps[1] / steps[0]) == pytest.approx(slope, abs=0.05)
    listed = dict(
        zip(REFERENCE["order"]["dt"], REFERENCE["order"][f"{'a' if points == 1 else 'b'}_{kind}"], strict=True)
    )
    for dt, mean in zip(steps, means, strict=True):
        n = round(10.0 / dt)
        assert mean * n / (n + 1) == pytest.approx(listed[dt], rel=2e-3)


@pytest.mark.parametrize("kind", SPRINGS)
def test_meets_the_solution_as_the_step_shrinks(kind):
    solution = REFERENCE[KEY[kind]]["ode_solution"]["5"]
    errors = []
    for dt in (0.01, 0.005, 0.0025):
        run = scheme(kind, dt, 3)
        run.step(round(5.0 / dt))
        errors.append(max(np.abs(run.q - solution["phi"]).max(), np.abs(run.v - solution["omega"]).max()))
    assert errors[2] <= 1e-4
    np.testing.assert_allclose(np.divide(errors[:2], errors[1:]), 4.0, rtol=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_any_planar_chain_has_the_energies_of_the_tree_in_space(seed):
    model, springs = random_chain(seed)
    planar, rng = planar_chain(model, springs, WEIGHT), np.random.default_rng(seed)
    q, v = rng.normal(size=4), rng.normal(size=4)
    kinetic, potential = planar.joint_energies(q, v)
    expected = energy(model, q, v, WEIGHT)
    assert kinetic == pytest.approx(expected.kinetic, rel=1e-13)
    assert potential == pytest.approx(expected.potential + spring_energy(model, springs, q), rel=1e-13)
    rates = [sum(planar.joint_energies(q, v + e)) - sum(planar.joint_energies(q, v - e)) for e in np.eye(4)]
    np.testing.assert_allclose(np.array(rates) / 2.0, mass_matrix(model, q) @ v, atol=1e-12)


def test_a_random_chain_meets_its_solution_as_the_step_shrinks():
    model, springs = random_chain(1)
    q, v = np.array([0.3, -0.5, 0.8, 0.1]), np.array([0.2, 0.1, -0.3, 0.4])
    expected = ode_state(model, springs, WEIGHT, q, v, 1.0)
    errors = []
    for dt in (0.004, 0.002):
        run = EnergyStable(planar_chain(model, springs, WEIGHT), dt)
        run.reset(q, v)
        run.step(round(1.0 / dt))
        errors.append(max(np.abs(run.q - expected[0]).max(), np.abs(run.v - expected[1]).max()))
    assert errors[1] <= 2e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)


@pytest.mark.parametrize("points", [1, 3])
def test_a_step_solves_the_equations_with_multipliers(points):
    """(3.43) in coordinates of the centres of mass, with constraints of (3.23) and numbers written out here."""
    h = 0.05
    run = scheme("mono", h, points)
    run.step(30)
    B = run.chain.centres.real  # x = B d
    M = np.array([[37.0, -24.0, 8.0], [-24.0, 21.0, -8.0], [8.0, -8.0, 5.0]])  # ERRATA A1
    d0, v0 = run.d.copy(), B @ run.rate
    run.step()
    d1, v1 = run.d.copy(), B @ run.rate
    change, mean = B @ (d1 - d0), (v0 + v1) / 2.0
    np.testing.assert_allclose(change, h * mean, atol=1e-15)
    # rows: how |x_i − X_i|² changes with x; x_i − X_i = l d_i, d = B⁻¹ x
    inverse, middle = np.linalg.inv(B), (d0 + d1) / 2.0
    constraints = [np.concatenate([inverse[i] * middle[i].real, inverse[i] * middle[i].imag]) for i in range(3)]
    np.testing.assert_allclose(np.array(constraints) @ np.concatenate([change.real, change.imag]), 0.0, atol=1e-15)
    gradient = np.concatenate([np.zeros(3), np.ones(3)])  # (3.36), m g = 1
    nodes, weights = np.polynomial.legendre.leggauss(points)
    for node, weight in zip((nodes + 1.0) / 2.0, weights / 2.0, strict=True):
        x = B @ (d0 + node * (d1 - d0))
        gradient += weight * spring_gradient(np.concatenate([x.real, x.imag]), inverse)
    acceleration = (v1 - v0) / h
    forces = np.concatenate([M @ acceleration.real, M @ acceleration.imag]) + gradient
    multipliers = np.linalg.lstsq(np.array(constraints).T, forces, rcond=None)[0]
    np.testing.assert_allclose(np.array(constraints).T @ multipliers, forces, atol=2e-13)
    assert np.abs(multipliers).max() > 0.1


def spring_gradient(x, inverse):
    """∇S of the three mono-articular springs by central differences of (2.3) with (2.6), in x (6,)."""

    def stored(x):
        d = np.concatenate([[1.0], inverse @ (x[:3] + 1j * x[3:])])  # the base points along x
        s = np.abs(d[1:] - 0.4j * d[:-1] + 0.4j * d[1:])
        return 0.5 * ((s - 0.2) ** 2).sum()

    def difference(h):
        return np.array([(stored(x + h * e) - stored(x - h * e)) / (2.0 * h) for e in np.eye(6)])

    return richardson(difference)


def richardson(difference):
    """Differences of order 6 from three of order 2."""
    a, b, c = (difference(h) for h in (4e-3, 2e-3, 1e-3))
    return (64.0 * c - 20.0 * b + a) / 45.0


def test_velocities_leave_their_constraint_by_the_square_of_the_step():
    """ERRATA A21: positions keep theirs, so the scheme is not symplectic because constraints hold."""
    worst = [CENTRE**2 * scheme("none", h).trace(round(10.0 / h))["rate error"].max() for h in (0.02, 0.01, 0.005)]
    np.testing.assert_allclose(worst, [8.2e-5, 2.1e-5, 5.1e-6], rtol=0.03)


def test_the_printed_mass_matrix_conserves_energy_on_a_wrong_path():
    """ERRATA A1: an energy error alone does not see it."""
    right, printed = scheme("none", 0.005), scheme("none", 0.005, chain=with_printed_mass_matrix(chain_with("none")))
    solution = REFERENCE["gravity"]["ode_solution"]["1"]["phi"]
    assert energy_errors(printed, 200).max() <= 1e-13
    right.step(200)
    assert np.abs(right.q - solution).max() <= 5e-6
    assert np.abs(printed.q - solution).max() == pytest.approx(0.21, abs=0.01)


def test_a_run_repeats_bit_for_bit_and_in_pieces():
    whole, pieces = scheme("multi", 0.01, 3), scheme("multi", 0.01, 3)
    whole.step(300)
    for _ in range(3):
        pieces.step(100)
    np.testing.assert_array_equal(whole.d, pieces.d)
    np.testing.assert_array_equal(whole.rate, pieces.rate)
    first = whole.q
    whole.reset(START, AT_REST)
    whole.step(300)
    np.testing.assert_array_equal(whole.q, first)


def test_full_turns_are_counted():
    run = EnergyStable(planar_chain(chain(1, axes="parallel"), gravity=(0, 0, 0)), 0.01)
    run.reset([0.5], [7.0])
    run.step(500)
    assert run.q[0] == pytest.approx(35.5, rel=1e-3) and run.v[0] == pytest.approx(7.0, rel=1e-12)


def test_a_step_without_solution_is_an_error_that_keeps_the_state():
    run = scheme("none", 3.0)
    with pytest.raises(SimulationDiverged, match=r"t = 0 s: .* dt = 3 s .*try a smaller dt"):
        run.step(3)
    np.testing.assert_allclose(run.q, START, atol=1e-15)
    assert run.step_count == 0


def test_what_is_no_conservative_planar_chain_is_refused():
    cases = [
        (chain(3, base="floating", axes="parallel"), "its base floats"),
        (chain(3), "the axes of joint_1 are not parallel to that of joint_0"),
        (chain(2, axes="parallel", damping=0.1), "damping at joint_0, joint_1"),
    ]
    tree = ModelBuilder("tree")
    tree.link("world")
    for name in ("left", "right"):
        tree.link(name, mass=1.0, com=(0.1, 0, 0), inertia=(1, 1, 1))
        tree.joint(f"to_{name}", "continuous", "world", name, axis=(0, 1, 0))
    cases.append((tree.build(), "it branches"))
    for model, reason in cases:
        with pytest.raises(UnsupportedModel, match=reason):
            EnergyStable(model, 0.01)
    model = manipulator()
    for spring, reason in [
        (
            Spring("s", (Attachment("world", (0, 0, 1)), Attachment("link_2", (0, 0, 0))), 1.0, 0.1, damping=2.0),
            "spring 's' has damping",
        ),
        (
            Spring("s", (Attachment("world", (0, 0.2, 1)), Attachment("link_2", (0, 0, 0))), 1.0, 0.1),
            "leaves the plane by 0.2 m",
        ),
    ]:
        with pytest.raises(UnsupportedModel, match=reason):
            planar_chain(model, attach(model, [spring]), GRAVITY)


def test_bad_numbers_are_refused_by_name():
    planar, _ = random_planar(0)
    with pytest.raises(ValueError, match="gauss_points: expected 1 to 12, got 0"):
        EnergyStable(planar, 0.01, gauss_points=0)
    with pytest.raises(ValueError, match="dt: expected a positive number"):
        EnergyStable(planar, -1.0)
    run = EnergyStable(planar, 0.01)
    with pytest.raises(ValueError, match="q: expected shape"):
        run.reset(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="steps"):
        run.step(-1)
