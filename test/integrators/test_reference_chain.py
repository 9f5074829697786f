# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The free 3-link chain of K section 5: the paper's discrete trajectory, and its ODE solution with the right order."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import SCHEMES, WEIGHTLESS, paper_chain, reference, rotation

from mbsim_ros.dynamics import energy
from mbsim_ros.integrators.lie_variational.integrator import LieVariational

CHAIN = reference("kobilarov_chain.json")
DISCRETE = CHAIN["discrete_trajectory_h0.1_trapezoidal_cayley"]


def started(dt, **options):
    model, q, v = paper_chain()
    simulation = LieVariational(model, dt, gravity=WEIGHTLESS, **options)
    simulation.reset(q, v)
    return simulation


def pose(q):
    """R, x and r in one vector, as the reference has them."""
    return np.concatenate([rotation(q[3:7]).ravel(), q[:3], q[7:]])


def test_the_model_is_that_of_the_reference():
    model, q, v = paper_chain()
    assert energy(model, q, v, WEIGHTLESS).kinetic == pytest.approx(CHAIN["E0"], rel=1e-13)


def test_the_discrete_trajectory_is_that_of_the_paper():
    """Trapezoidal and Cayley, h = 0.1: configurations and mean velocities, K (62)–(64)."""
    simulation = started(0.1, quadrature="trapezoidal", retraction="cayley")
    for k in sorted(map(int, DISCRETE)):
        simulation.step(steps=k - simulation.step_count)
        expected = np.array(DISCRETE[str(k)]["v"])
        assert np.abs(pose(simulation.q) - DISCRETE[str(k)]["y"]).max() < 1e-10
        ours = simulation.mean_velocity
        assert np.abs(np.concatenate([ours[3:6], ours[:3], ours[6:]]) - expected).max() < 1e-10


@pytest.mark.parametrize(("order", "tolerance"), [(2, 0.05), (4, 0.15)])
@pytest.mark.parametrize(("quadrature", "retraction"), SCHEMES)
def test_the_order_against_the_ode_solution(quadrature, retraction, order, tolerance):
    exact = CHAIN["ode_solution"]["2"]
    expected = np.concatenate([exact["R"], exact["x"], exact["r"]])
    errors = []
    for steps in (40, 80, 160):
        simulation = started(2.0 / steps, quadrature=quadrature, retraction=retraction, order=order)
        simulation.step(steps=steps)
        errors.append(np.abs(pose(simulation.q) - expected).max())
    slope = np.polyfit(np.log([2 / 40, 2 / 80, 2 / 160]), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=tolerance), errors


def test_the_velocity_at_a_node_is_of_second_order_too():
    """M⁻¹ p is the velocity at the instant; the mean over the step would be half a step late, a first-order error."""
    exact = np.array(CHAIN["ode_solution"]["2"]["v"])
    errors = []
    for steps in (80, 160):
        simulation = started(2.0 / steps)
        simulation.step(steps=steps)
        v = simulation.v
        errors.append(np.abs(np.concatenate([v[3:6], v[:3], v[6:]]) - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
