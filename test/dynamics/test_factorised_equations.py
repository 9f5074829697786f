# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's factorised equations of motion, as printed, give what the recursions give: M and C of (3.32) and (3.33)."""

from __future__ import annotations

import numpy as np
import pytest
from mass_matrix_robots import every_robot, robot

from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.dynamics.factorised_equations import _stack, factorised_bias, factorised_mass_matrix
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.mass_matrix import mass_matrix


def state(name):
    model, rng = robot(name), np.random.default_rng(8)
    return model, random_configuration(model, rng), random_velocity(model, rng)


@every_robot
def test_the_mass_matrix(name):
    """M = Hᵀ φᵀ M^b φ H, W (3.32)."""
    model, q, _ = state(name)
    M = mass_matrix(model, q)
    scale = np.sqrt(M.diagonal())
    assert np.abs((factorised_mass_matrix(model, q) - M) / np.outer(scale, scale)).max() < 1e-12


@every_robot
@pytest.mark.parametrize("gravity", [None, (1.0, -2.0, 3.0)])
def test_the_bias(name, gravity):
    """C = Hᵀ φᵀ (M^b φ a + b), W (3.33), is inverse dynamics without acceleration."""
    model, q, v = state(name)
    C = inverse_dynamics(model, q, v, np.zeros(model.nv), gravity=gravity)
    assert np.abs(factorised_bias(model, q, v, gravity) - C).max() < 1e-11 * np.abs(C).max()


@every_robot
def test_together_they_are_inverse_dynamics(name):
    """τ = M β̇ + C, W (3.31)."""
    model, q, v = state(name)
    a = random_velocity(model, np.random.default_rng(9))
    tau = factorised_mass_matrix(model, q) @ a + factorised_bias(model, q, v)
    expected = inverse_dynamics(model, q, v, a)
    assert np.abs(tau - expected).max() < 1e-11 * np.abs(expected).max()


def test_phi_is_the_finite_series():
    """φ = 1 + A + A² + … + Aⁿ⁻¹, and Aⁿ = 0."""
    model, q, _ = state("tree")
    s = _stack(model, q)
    power, series = np.eye(len(s.A)), np.zeros_like(s.A)
    for _ in range(model.n_bodies):
        series += power
        power = power @ s.A
    assert not power.any()
    np.testing.assert_allclose(s.phi, series, atol=1e-12)


def test_a_is_strictly_lower_and_follows_the_tree():
    model, q, _ = state("tree")
    s = _stack(model, q)
    blocks = np.abs(s.A).reshape(model.n_bodies, 6, model.n_bodies, 6).max(axis=(1, 3)) > 0.0
    expected = np.zeros_like(blocks)
    for k, row in enumerate(model.topology):
        if row[0] > 0:
            expected[k, row[0] - 1] = True
    assert np.array_equal(blocks, expected)
    assert not np.triu(blocks).any()
