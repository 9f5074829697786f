# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The variational integrator on (S¹)ⁿ of G 4: the reference numbers, symplecticity, and the flagship beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from planar_chains import WEIGHT, ode_state, random_chain

from mbsim_ros.elastic import attach
from mbsim_ros.experiments.goetz.chain import SPRINGS, START, chain_with
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.planar.chain import planar_chain
from mbsim_ros.integrators.planar.circle_variational import VERSIONS, CircleVariational

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "goetz.json").read_text())
KEY = {"none": "gravity", "mono": "mono", "multi": "multi"}
NAME = {"printed": "printed_sin_noCos", "chord": "sin_exact_derivative", "angle": "angle"}
AT_REST = np.zeros(3)


def scheme(kind, dt, version="angle"):
    made = CircleVariational(chain_with(kind), dt, version=version)
    made.reset(START, AT_REST)
    return made


@pytest.mark.parametrize("kind", SPRINGS)
@pytest.mark.parametrize("version", VERSIONS)
def test_standard_run_of_the_reference(kind, version):
    run, reference = scheme(kind, 0.01, version), REFERENCE[KEY[kind]]["c_variational"][NAME[version]]
    start = sum(run.energies())
    assert start == pytest.approx(REFERENCE[KEY[kind]]["E0"], abs=1e-14)
    parts = [run.trace(100)]
    np.testing.assert_allclose(run.q, reference["phi_t1"], atol=1e-12)
    parts.append(run.trace(900))
    np.testing.assert_allclose(run.q, reference["phi_t10"], atol=1e-10)
    parts.append(run.trace(4000))

    def worst(column):
        return max(np.abs(part[column] - start).max() for part in parts)

    assert worst("energy") == pytest.approx(reference["maxE_node_Legendre"], rel=1e-5)  # the end of the run is chaotic
    assert worst("energy in the middle") == pytest.approx(reference["maxE_midpoint_state"], rel=1e-5)
    assert worst("mixed energy") == pytest.approx(reference["maxE_qnode_omegaMid"], rel=1e-5)
    assert max(part["norm error"].max() for part in parts) <= 5e-14  # G (5.2)
    assert run.energies()[0] + run.energies()[1] == pytest.approx(parts[-1]["energy"][-1], abs=1e-12)


def defect(version, h):
    """|GᵀJG − J| of one step, as a map of joint angles and momenta, by differences."""
    planar = chain_with("none")

    def step(state):
        run = CircleVariational(planar, h, version=version)
        run.reset(state[:3], AT_REST)
        run.p[:] = state[3:]
        run.step()
        return np.concatenate([run.q, run.p])

    state = np.array([0.3, -0.5, 0.8, 4.0, -1.0, 1.5])
    G = np.transpose([(step(state + 1e-5 * e) - step(state - 1e-5 * e)) / 2e-5 for e in np.eye(6)])
    J = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
    return np.abs(G.T @ J @ G - J).max()


def test_angle_and_chord_are_symplectic_and_the_printed_version_is_not():
    """ERRATA A17: a defect of h³ in each step."""
    assert defect("angle", 0.05) <= 1e-8 and defect("chord", 0.05) <= 1e-8
    coarse, fine = defect("printed", 0.05), defect("printed", 0.025)
    assert coarse > 1e-4
    assert np.log2(coarse / fine) == pytest.approx(3.0, abs=0.2)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", SPRINGS)
def test_meets_the_solution_as_the_step_shrinks(kind, version):
    solution = REFERENCE[KEY[kind]]["ode_solution"]["5"]
    errors = []
    for dt in (0.01, 0.005, 0.0025):
        run = scheme(kind, dt, version)
        run.step(round(5.0 / dt))
        errors.append(max(np.abs(run.q - solution["phi"]).max(), np.abs(run.v - solution["omega"]).max()))
    assert errors[2] <= 5e-4
    np.testing.assert_allclose(np.divide(errors[:2], errors[1:]), 4.0, rtol=0.02)


def test_a_random_chain_meets_its_solution_as_the_step_shrinks():
    model, springs = random_chain(2)
    q, v = np.array([0.3, -0.5, 0.8, 0.1]), np.array([0.2, 0.1, -0.3, 0.4])
    expected = ode_state(model, springs, WEIGHT, q, v, 1.0)
    errors = []
    for dt in (0.004, 0.002):
        run = CircleVariational(planar_chain(model, springs, WEIGHT), dt)
        run.reset(q, v)
        np.testing.assert_allclose(run.v, v, atol=1e-13)
        run.step(round(1.0 / dt))
        errors.append(max(np.abs(run.q - expected[0]).max(), np.abs(run.v - expected[1]).max()))
    assert errors[1] <= 2e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)


def test_order_of_the_energy_error_by_where_it_is_taken():
    """ERRATA A18: of second order in the middle and at the nodes, of first where the two are mixed."""
    order = REFERENCE["order"]
    steps, means = (0.02, 0.04), []
    for dt in steps:
        run = scheme("none", dt, "printed")
        start, trace = sum(run.energies()), run.trace(round(10.0 / dt))
        means.append([np.abs(trace[name] - start).mean() for name in run.columns[:3]])
        at = order["dt"].index(dt)
        assert means[-1][1] == pytest.approx(order["c_grav_mid"][at], rel=1e-3)
    slopes = np.log2(np.divide(means[1], means[0]))
    np.testing.assert_allclose(slopes, [2.0, 2.0, 1.0], atol=0.05)


def test_without_weight_the_momentum_about_the_base_is_conserved():
    model, _ = random_chain(3)
    run = CircleVariational(planar_chain(model, attach(model, []), (0, 0, 0)), 0.02)
    run.reset([0.3, -0.5, 0.8, 0.1], [0.5, 1.0, -1.0, 2.0])
    start = run.p[0]
    run.step(2000)
    assert run.p[0] == pytest.approx(start, rel=1e-12)


def test_with_springs_only_it_is_the_flagship_with_the_midpoint_rule():
    """Both have the discrete Lagrangian h L((q_k + q_{k+1})/2, (q_{k+1} − q_k)/h), one in the plane, one in space."""
    model, springs = random_chain(4)
    q, v = np.array([0.3, -0.5, 0.8, 0.1]), np.array([0.2, 0.1, -0.3, 0.4])
    run = CircleVariational(planar_chain(model, springs, (0, 0, 0)), 0.01)
    run.reset(q, v)
    flagship = LieVariational(model, 0.01, gravity=(0, 0, 0), springs=springs)
    flagship.reset(q, v)
    run.step(200)
    flagship.step(steps=200)
    np.testing.assert_allclose(run.q, flagship.q, atol=1e-9)
    np.testing.assert_allclose(run.v, flagship.v, atol=1e-8)


def test_a_step_without_solution_is_an_error_that_keeps_the_state():
    run = scheme("none", 0.2, "chord")
    with pytest.raises(SimulationDiverged, match="try a smaller dt"):
        run.step(50)
    assert 0 < run.step_count < 50
    again = scheme("none", 0.2, "chord")
    again.step(run.step_count)
    np.testing.assert_array_equal(run.q, again.q)


def test_an_unknown_version_is_refused():
    with pytest.raises(ValueError, match="version: expected one of 'printed', 'chord', 'angle', got 'sine'"):
        CircleVariational(chain_with("none"), 0.01, version="sine")
