# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""SHAKE, RATTLE and the energy-momentum scheme: the double spherical pendulum of W 2.4.2 against independent numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.experiments.wendlandt.table_2_2 import pendulum
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.particles.energy_momentum import energy_momentum
from mbsim_ros.integrators.particles.shake_rattle import rattle, shake
from mbsim_ros.integrators.particles.system import particles

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/wendlandt_table_2_2.json").read_text())
LONG = np.longdouble


def start():
    system, q, v = pendulum()
    return system, q, system.masses[:, None] * v


def test_the_start_is_the_references():
    system, q, p = start()
    np.testing.assert_allclose(q.ravel(), REFERENCE["initial"]["q0"], atol=1e-14)
    np.testing.assert_allclose((p / system.masses[:, None]).ravel(), REFERENCE["initial"]["v0"], atol=1e-13)
    assert system.energy(q, p) == pytest.approx(REFERENCE["initial"]["E0"], abs=1e-12)


@pytest.mark.parametrize("scheme", ["rattle", "energy_momentum"])
def test_the_true_motion_is_met_with_order_two(scheme):
    system, q, p = start()
    true = np.array(REFERENCE["ode_solution"]["1"]["q"])
    errors = []
    for h in (2e-3, 1e-3):
        run = rattle if scheme == "rattle" else energy_momentum
        errors.append(np.abs(run(system, h, q, p, round(1.0 / h))[0][-1].ravel() - true).max())
    assert errors[1] < 5e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)


def test_rattle_goes_through_the_places_of_shake_and_obeys_the_velocity_constraints():
    """W 2.3.1: RATTLE extends SHAKE. Both from the same two places."""
    system, q, p = start()
    h, steps = 5e-3, 400
    places, momenta = rattle(system, h, q, p, steps)
    np.testing.assert_allclose(shake(system, h, places[0], places[1], steps - 1), places, atol=1e-10)
    ways = system.ways(places)
    speeds = system.ways(momenta / system.masses[:, None])
    assert np.abs((ways * speeds).sum(axis=-1)).max() < 1e-11  # hidden constraints
    assert np.abs(system.constraints(places)).max() < 1e-13 * 16.0
    in_between = system.ways(np.diff(places, axis=0) / h)
    assert np.abs((ways[1:] * in_between).sum(axis=-1)).max() > 1e-3  # which SHAKE's increments do not obey


def test_energy_and_momentum_are_conserved_by_the_scheme_named_so():
    system, q, p = start()
    places, momenta = energy_momentum(system, 0.05, q, p, 2000)
    energy = system.energy(places, momenta)
    about_z = np.cross(places, momenta)[..., 2].sum(axis=-1)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-11
    assert np.abs(about_z / about_z[0] - 1.0).max() < 1e-11
    # while the variational one keeps only the momentum
    path = shake(system, 0.05, places[0], places[1], 2000)
    middle = system.middle_energy(path, 0.05)
    assert np.ptp(middle) > 0.1
    discrete = np.cross(path[:-1], system.masses[:, None] * np.diff(path, axis=0))[..., 2].sum(axis=-1)
    assert np.abs(discrete / discrete[0] - 1.0).max() < 1e-11


def test_the_energy_at_the_smallest_step_is_right_to_more_digits_than_the_table_has():
    """An independent SHAKE in 80-bit numbers from the same start: at h = 1e-4 s rounding must not show."""
    system, q, p = start()
    h, steps = 1e-4, 200
    first = energy_momentum(system, h, q, p, 1)[0][1]
    ours = system.middle_energy(shake(system, h, q, first, steps), h)
    np.testing.assert_allclose(ours, _energies_in_80_bits(q, first, h, steps), atol=2e-9)
    assert np.abs(ours - system.energy(q, p)).min() > 4e-6


def _energies_in_80_bits(q, first, h, steps):
    masses, squares = np.repeat(np.array([2.0, 3.5], dtype=LONG), 3), np.array([16.0, 9.0], dtype=LONG)
    weight = masses * np.array([0, 0, LONG("-9.81")] * 2, dtype=LONG)
    h = LONG(1) / round(1 / h)

    def gradients(x):
        a, b = x[:3], x[3:] - x[:3]
        zero = np.zeros(3, dtype=LONG)
        return np.array([np.concatenate([2 * a, zero]), np.concatenate([-2 * b, 2 * b])]), np.array([a @ a, b @ b])

    path, pull = [q.ravel().astype(LONG), first.ravel().astype(LONG)], np.zeros(2, dtype=LONG)
    for _ in range(steps):
        D, _ = gradients(path[-1])
        free = 2 * path[-1] - path[-2] + h * h * weight / masses
        for _ in range(6):
            x = free + h * h * (D.T @ pull) / masses
            D_next, lengths = gradients(x)
            A, left = h * h * (D_next / masses) @ D.T, lengths - squares
            inverse = np.array([[A[1, 1], -A[0, 1]], [-A[1, 0], A[0, 0]]]) / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
            pull = pull - inverse @ left
        path.append(free + h * h * (D.T @ pull) / masses)
    path = np.array(path)
    speed, middle = np.diff(path, axis=0) / h, (path[1:] + path[:-1]) / 2
    return (0.5 * (speed * speed) @ masses - middle @ weight).astype(float)


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match="bars: expected pairs of different ends from -1 to 0"):
        particles([1.0], [[0, 1]], [1.0])
    with pytest.raises(ValueError, match="masses: expected positive"):
        particles([0.0], [[0, -1]], [1.0])
    with pytest.raises(ValueError, match="lengths: expected 1 positive"):
        particles([1.0], [[0, -1]], [])
    bar = particles([1.0], [[0, -1]], [1.0])
    with pytest.raises(SimulationDiverged, match="t = 0 s: .* try a smaller h"):
        rattle(bar, 10.0, [[0, 0, -1.0]], [[3.0, 0, 0]], 2)
