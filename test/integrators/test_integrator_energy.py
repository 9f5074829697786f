# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Energy oscillates with the step and does not drift: 10⁶ steps of the free chain."""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import WEIGHTLESS, paper_chain

from mbsim_ros.dynamics import energy
from mbsim_ros.integrators.baselines.integrator import LieEuler
from mbsim_ros.integrators.lie_variational.integrator import LieVariational

STEPS, STRIDE = 1_000_000, 97  # a stride that is in no simple ratio to the motion


def energies(simulation, steps, stride):
    model, q, v = paper_chain()
    simulation.reset(q, v)
    values = []
    for _ in range(steps // stride):
        simulation.step(steps=stride)
        values.append(energy(model, simulation.q, simulation.v, WEIGHTLESS).total)
    return np.array(values)


@pytest.mark.slow
@pytest.mark.parametrize(("quadrature", "steps"), [("midpoint", STEPS), ("trapezoidal", STEPS // 5)])
def test_energy_has_no_secular_drift(quadrature, steps):
    """Means of the first and the last tenth agree within the oscillation, which is irregular, but does not grow."""
    model, q, v = paper_chain()
    before = energy(model, q, v, WEIGHTLESS).total
    values = energies(LieVariational(model, 0.02, quadrature=quadrature, gravity=WEIGHTLESS), steps, STRIDE)
    tenth = len(values) // 10
    first, last, oscillation = values[:tenth].mean(), values[-tenth:].mean(), np.ptp(values)
    assert oscillation < 1e-3 * before
    assert abs(last - first) < 0.25 * oscillation
    assert np.ptp(values[-tenth:]) < 2.0 * np.ptp(values[:tenth])


def test_the_oscillation_is_of_second_order():
    model, _, _ = paper_chain()
    ranges = []
    for dt in (0.04, 0.02):
        values = energies(LieVariational(model, dt, gravity=WEIGHTLESS), round(40 / dt), 1)
        ranges.append(np.ptp(values))
    assert np.log2(ranges[0] / ranges[1]) == pytest.approx(2.0, abs=0.2)


def test_the_measure_sees_a_drift():
    """Euler's energy drifts by more than it oscillates."""
    model, _, _ = paper_chain()
    values = energies(LieEuler(model, 0.02, gravity=WEIGHTLESS), 5_000, 7)
    tenth = len(values) // 10
    assert abs(values[-tenth:].mean() - values[:tenth].mean()) > 0.2 * np.ptp(values)
