# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`variational_integrator` for Lagrangians of every kind: order, symplecticity, momenta, forces, multipliers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros import variational_integrator


def double_pendulum(q, v):
    """In angles: the mass matrix depends on them."""
    turning = 0.5 * (2.0 * v[0] ** 2 + v[1] ** 2) + np.cos(q[0] - q[1]) * v[0] * v[1]
    return turning + 9.81 * (2.0 * np.cos(q[0]) + np.cos(q[1]))


def double_pendulum_rates(t, state):
    """Derived by hand."""
    a, b, da, db = state
    c, s = np.cos(a - b), np.sin(a - b)
    right = [-s * db**2 - 2.0 * 9.81 * np.sin(a), s * da**2 - 9.81 * np.sin(b)]
    return [da, db, *np.linalg.solve([[2.0, c], [c, 1.0]], right)]


START = ([0.5, 0.9], [0.3, -0.6])


@pytest.mark.parametrize(("quadrature", "order"), [("midpoint", 2), ("trapezoidal", 2), ("endpoint", 1)])
def test_the_true_motion_is_met_with_its_order(quadrature, order):
    """W 2.3.5."""
    true = solve_ivp(double_pendulum_rates, (0.0, 1.0), [*START[0], *START[1]], method="DOP853", rtol=1e-12, atol=1e-12)
    errors = []
    for steps in (200, 400):
        made = variational_integrator(double_pendulum, q=START[0], v=START[1], dt=1.0 / steps, quadrature=quadrature)
        state = made.run(steps)
        errors.append(abs(np.concatenate([state.q[-1], state.v[-1]]) - true.y[:, -1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    assert errors[1] < (1e-3 if order == 2 else 0.1)


def test_the_step_is_symplectic():
    """W (2.16): DᵀΩD = Ω of a long step from (q, p) to (q, p), by central differences of starts."""
    integrator = variational_integrator(double_pendulum, q=START[0], v=START[1], dt=0.1)

    def step(q, p):
        c = np.cos(q[0] - q[1])
        integrator.reset(q, np.linalg.solve([[2.0, c], [c, 1.0]], p))
        state = integrator.step()
        return np.concatenate([state.q, state.p])

    x = np.concatenate([START[0], integrator.state.p])
    tilts = 1e-5 * np.eye(4)
    D = np.transpose([(step(*np.split(x + d, 2)) - step(*np.split(x - d, 2))) / 2e-5 for d in tilts])
    turned = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(D.T @ turned @ D, turned, atol=1e-8)
    assert abs(D - np.eye(4)).max() > 0.05


def ball(q, v):
    return 0.5 * v @ v - 9.81 * q[2]


def sphere(q):
    return q @ q - 1.0


def test_a_particle_on_a_sphere_keeps_what_it_should():
    integrator = variational_integrator(ball, sphere, q=[0.6, 0.0, -0.8], v=[0.0, 2.0, 0.0], dt=0.01)
    motion = integrator.run(5000)
    about_z = motion.q[:, 0] * motion.p[:, 1] - motion.q[:, 1] * motion.p[:, 0]
    assert abs(about_z / about_z[0] - 1.0).max() < 1e-12
    assert abs((motion.q * motion.q).sum(axis=1) - 1.0).max() < 1e-14
    assert abs((motion.q * motion.v).sum(axis=1)).max() < 1e-13  # hidden constraint
    first, last = (np.ptp(part) for part in np.split(motion.energy[1:], 2))
    assert 1e-5 < last < 1.05 * first < 1e-2  # bounded, and no drift
    assert motion.t[-1] == pytest.approx(50.0) and integrator.state.t == motion.t[-1]


def test_multipliers_are_the_force_of_the_constraints():
    """On the equator of a sphere without gravity: v² = 2 |λ| of g = q² − 1. A bead at rest at the bottom. And a mass
    that grows with its place, 1 + q², which pulls another: λ = q v²/(2 + q²)."""
    state = variational_integrator(lambda q, v: 0.5 * v @ v, sphere, q=[1, 0, 0], v=[0, 3.0, 0], dt=0.01).step()
    assert state.multipliers == pytest.approx([-4.5])
    assert state.energy == pytest.approx(4.5)
    rest = variational_integrator(ball, sphere, q=[0, 0, -1], dt=0.01).step()
    assert rest.multipliers == pytest.approx([-9.81 / 2.0])
    assert not rest.v.any() and list(rest.q) == [0.0, 0.0, -1.0]
    growing = variational_integrator(
        lambda q, v: 0.5 * (1.0 + q[0] ** 2) * v[0] ** 2 + 0.5 * v[1] ** 2, lambda q: q[0] - q[1],
        q=[0.5, 0.5], v=[1.0, 1.0], dt=0.01,
    )  # fmt: skip
    assert growing.state.multipliers == pytest.approx([0.5 / 2.25])


def test_a_kinetic_energy_that_is_not_quadratic():
    """A particle near the speed of light, in a spring: L = −√(1 − v²) − q²/2."""
    motion = variational_integrator(
        lambda q, v: -np.sqrt(1.0 - v @ v) - 0.5 * q @ q, q=[1.0, 0.0], v=[0.0, 0.8], dt=0.01
    ).run(1000)
    speeds = np.linalg.norm(motion.v, axis=1)
    np.testing.assert_allclose(motion.p, motion.v / np.sqrt(1.0 - speeds**2)[:, None], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(motion.q[:, 0] * motion.p[:, 1] - motion.q[:, 1] * motion.p[:, 0], 4.0 / 3.0, rtol=1e-13)
    energy = 1.0 / np.sqrt(1.0 - speeds**2) + 0.5 * (motion.q**2).sum(axis=1)
    np.testing.assert_allclose(motion.energy, energy, rtol=1e-13)
    assert np.ptp(energy) < 1e-4


def test_forces_of_position_velocity_and_time_are_of_second_order():
    """W (5.3): a driven, damped oscillator, against its equation."""

    def force(q, v, t):
        return [-0.4 * v[0] - 0.1 * q[0] ** 3 + np.sin(3.0 * t)]

    true = solve_ivp(
        lambda t, x: [x[1], -4.0 * x[0] - 0.4 * x[1] - 0.1 * x[0] ** 3 + np.sin(3.0 * t)], (0.5, 5.5), [1.0, 0.0],
        method="DOP853", rtol=1e-12, atol=1e-12,
    ).y[0, -1]  # fmt: skip
    for quadrature in ("midpoint", "trapezoidal"):
        errors = []
        for steps in (200, 400):
            made = variational_integrator(
                lambda q, v: 0.5 * v[0] ** 2 - 2.0 * q[0] ** 2, q=[1.0], dt=5.0 / steps, t=0.5, forces=force,
                quadrature=quadrature,
            )  # fmt: skip
            errors.append(abs(made.run(steps).q[-1, 0] - true))
        assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_functions_of_numpy_and_of_casadi_can_be_used():
    import casadi

    def lagrangian(q, v):
        R = np.array([[np.cos(q[0]), -np.sin(q[0])], [np.sin(q[0]), np.cos(q[0])]])
        at = R @ np.array([1.0, 0.5]) + q[1] * np.array([1.0, 0.0])
        speed = np.float64(2.0) * v + 0.1 * np.arctan2(v, 3.0)
        return speed @ speed / 8.0 - np.linalg.norm(at) ** 1.5 - np.exp(-np.sum(q**2)) - abs(at[0])

    def wall(q, v, t):
        return np.array([casadi.if_else(q[0] > 0.5, -1.0, 0.0), -np.tanh(v[1])])

    motion = variational_integrator(lagrangian, q=[0.4, 0.2], v=[1.0, -0.3], dt=0.01, forces=wall).run(50)
    assert np.isfinite(motion.energy).all() and motion.energy[-1] < motion.energy[0] - 0.1


def test_runs_are_the_same_however_they_are_cut():
    one = variational_integrator(double_pendulum, q=START[0], v=START[1], dt=0.01)
    other = variational_integrator(double_pendulum, q=START[0], v=START[1], dt=0.01)
    whole = one.run(30)
    first, second = other.run(10), other.run(20)
    assert (np.concatenate([first.q, second.q[1:]]) == whole.q).all()
    one.reset(*START)
    assert [(one.step().q == row).all() for row in whole.q[1:]] == [True] * 30
    assert one.state.energy == whole.energy[-1] and (one.energy(whole.q, whole.v) == whole.energy).all()
