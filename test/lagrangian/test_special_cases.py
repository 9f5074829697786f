# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Verlet, SHAKE and RATTLE are what W's construction gives for L = ½ vᵀMv − V(q): the same numbers to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import variational_integrator
from mbsim_ros.experiments.wendlandt.table_2_2 import pendulum
from mbsim_ros.integrators.particles.shake_rattle import rattle, shake

MASSES = np.repeat([2.0, 3.5], 3)
STEP, STEPS = 5e-3, 400


def lagrangian(q, v):
    return 0.5 * v @ (MASSES * v) - 9.81 * (2.0 * q[2] + 3.5 * q[5])


def bars(q):
    first, second = q[:3], q[3:] - q[:3]
    return [first @ first - 16.0, second @ second - 9.0]


def test_trapezoidal_is_rattle():
    """W (2.33)–(2.37): places and momenta."""
    system, q, v = pendulum()
    integrator = variational_integrator(lagrangian, bars, q=q.ravel(), v=v.ravel(), dt=STEP, quadrature="trapezoidal")
    places, momenta = rattle(system, STEP, q, system.masses[:, None] * v, STEPS)
    motion = integrator.run(STEPS)
    np.testing.assert_allclose(motion.q, places.reshape(-1, 6), atol=1e-12)
    np.testing.assert_allclose(motion.p, momenta.reshape(-1, 6), atol=1e-11)


@pytest.mark.parametrize("quadrature", ["midpoint", "trapezoidal", "endpoint"])
def test_each_is_shake_under_constant_forces(quadrature):
    """W (2.32), (2.55), from two places."""
    system, q, v = pendulum()
    second = rattle(system, STEP, q, system.masses[:, None] * v, 1)[0][1]
    integrator = variational_integrator(lagrangian, bars, q=q.ravel(), dt=STEP, quadrature=quadrature)
    integrator.start_between(q.ravel(), second.ravel())
    track = shake(system, STEP, q, second, STEPS).reshape(-1, 6)
    np.testing.assert_allclose(integrator.run(STEPS).q, track[1:], atol=1e-12)


M = np.array([[2.0, 0.3], [0.3, 1.0]])


def coupled(q, v):
    """Hénon and Heiles's potential."""
    return 0.5 * v @ M @ v - 0.5 * q @ q - q[0] ** 2 * q[1] + q[1] ** 3 / 3.0


def slope(q):
    return q + np.array([2.0 * q[0] * q[1], q[0] ** 2 - q[1] ** 2])


def test_midpoint_is_as_printed():
    """W (2.30)."""
    h = 0.05
    q = variational_integrator(coupled, q=[0.1, 0.3], v=[0.2, -0.1], dt=h).run(STEPS).q
    middle = np.array([slope(place) for place in (q[1:] + q[:-1]) / 2.0])
    left = (q[2:] - 2.0 * q[1:-1] + q[:-2]) @ M / h**2 + 0.5 * (middle[1:] + middle[:-1])
    assert abs(left).max() < 1e-12 < abs(middle).max()


def test_trapezoidal_without_constraints_is_velocity_verlet():
    h, q, v = 0.05, np.array([0.1, 0.3]), np.array([0.2, -0.1])
    motion = variational_integrator(coupled, q=q, v=v, dt=h, quadrature="trapezoidal").run(STEPS)
    for place, speed, p in zip(motion.q, motion.v, motion.p, strict=True):
        np.testing.assert_allclose(place, q, atol=1e-13)
        np.testing.assert_allclose(speed, v, atol=1e-13)
        np.testing.assert_allclose(p, M @ v, atol=1e-13)
        v = v - 0.5 * h * np.linalg.solve(M, slope(q))
        q = q + h * v
        v = v - 0.5 * h * np.linalg.solve(M, slope(q))


def test_endpoint_without_constraints_is_verlet():
    """W (2.31)."""
    h, before, q = 0.05, np.array([0.1, 0.3]), np.array([0.11, 0.295])
    integrator = variational_integrator(coupled, q=before, dt=h, quadrature="endpoint")
    integrator.start_between(before, q)
    for place in integrator.run(STEPS).q:
        np.testing.assert_allclose(place, q, atol=1e-13)
        before, q = q, 2.0 * q - before - h * h * np.linalg.solve(M, slope(q))
