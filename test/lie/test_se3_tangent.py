# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Tangents of exp and cay on SE(3) against series and definitions in 50 digits, differences, a conserved momentum."""

import lie_oracle as oracle
import numpy as np
import pytest
from numpy.testing import assert_allclose

from mbsim_ros.lie import se3

EPS = 1e-15


def test_dexp_is_its_series(xi):
    assert oracle.error(se3.dexp(xi), oracle.dexp(se3.ad(xi))) < 2 * EPS
    assert oracle.error(se3.dexp_inv(xi), oracle.dexp_inv(se3.ad(xi))) < 3 * EPS


def test_dexp_inv_inverts_dexp_up_to_two_pi(rng):
    for angle in (3.5, 5.0, 6.0):
        xi = rng.normal(size=6)
        xi[3:] *= angle / np.linalg.norm(xi[3:])
        assert_allclose(se3.dexp_inv(xi) @ se3.dexp(xi), np.eye(6), atol=1e-12)


def test_dcay_is_its_definition(xi, rng):
    y = rng.normal(size=6)
    assert oracle.error(se3.hat(se3.dcay(xi) @ y), oracle.dcay(se3.hat(xi), se3.hat(y))) < 4 * EPS
    assert_allclose(se3.dcay_inv(xi) @ se3.dcay(xi), np.eye(6), atol=8 * EPS)


def test_dcay_is_the_complex_step_derivative_of_the_definition(xi, rng):
    y = rng.normal(size=6)
    half = (se3.hat(xi) + 1e-30j * se3.hat(y)) / 2
    derivative = np.linalg.solve(np.eye(4) - half, np.eye(4) + half).imag / 1e-30
    assert_allclose(derivative @ np.linalg.inv(se3.cay(xi)), se3.hat(se3.dcay(xi) @ y), atol=2e-14)


@pytest.mark.parametrize("name", ["exp", "cay"])
def test_tangents_are_the_derivatives_of_the_maps(name, xi, rng):
    tau, dtau, dtau_left = (getattr(se3, n) for n in (name, f"d{name}", f"d{name}_left"))
    y = rng.normal(size=6)
    derivative = central_difference(lambda s: tau(xi + s * y))
    assert_allclose(derivative @ se3.inverse(tau(xi)), se3.hat(dtau(xi) @ y), atol=1e-11)
    assert_allclose(se3.inverse(tau(xi)) @ derivative, se3.hat(dtau_left(xi) @ y), atol=1e-11)


@pytest.mark.parametrize("name", ["exp", "cay"])
def test_left_tangent_is_the_right_one_seen_from_the_body(name, xi):
    tau, dtau, dtau_left, inverse = (getattr(se3, n) for n in (name, f"d{name}", f"d{name}_left", f"d{name}_left_inv"))
    assert_allclose(se3.Ad(tau(xi)) @ dtau_left(xi), dtau(xi), atol=8 * EPS)
    assert_allclose(inverse(xi) @ dtau_left(xi), np.eye(6), atol=8 * EPS)


@pytest.mark.parametrize("name", ["dexp", "dexp_inv", "dcay", "dcay_inv"])
def test_transposed_kernels_apply_the_transpose(name, xi, rng):
    out = np.empty(6)
    for sign in (1.0, -1.0):
        mu = rng.normal(size=6)
        getattr(se3, f"{name}_T_se3_into")(sign * xi, mu, out)
        assert_allclose(out, getattr(se3, name)(sign * xi).T @ mu, atol=1e-14)


def test_cay_variation_of_a_step_is_K_61(xi, rng):
    """delta xi = -dcay_inv(xi) eta_0 + dcay_inv(-xi) eta_1 when both ends of the step move."""
    eta_0, eta_1 = rng.normal(size=(2, 6))

    def step(s):  # 0.7: cay_inv is ill-conditioned near half a turn
        return se3.cay_inv(se3.compose(se3.compose(se3.exp(-s * eta_0), se3.exp(0.7 * xi)), se3.exp(s * eta_1)))

    x = step(0.0)
    assert_allclose(
        central_difference(step, 5e-4), -se3.dcay_inv(x) @ eta_0 + se3.dcay_inv(-x) @ eta_1, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", ["exp", "cay"])
def test_free_rigid_body_keeps_its_spatial_momentum(name):
    """K (62)-(65) for one body: momentum is carried exactly only if tau and dtau_inv belong together."""
    tau, dtau_inv = getattr(se3, name), getattr(se3, f"d{name}_inv")
    inertia = np.diag([2.0, 2.0, 2.0, 0.3, 0.7, 0.9])
    h, X, xi = 0.05, np.eye(4), np.array([1.0, -0.5, 0.2, 2.0, -1.0, 3.0])
    momentum = []
    for _ in range(200):
        mu = dtau_inv(h * xi).T @ inertia @ xi  # K (64), left-hand side
        momentum.append(se3.coAd(X) @ mu)  # K (65)
        X = se3.compose(X, tau(h * xi))  # K (62)
        mu = dtau_inv(-h * xi).T @ inertia @ xi
        for _ in range(40):  # fixed point for the next xi
            xi = np.linalg.solve(dtau_inv(h * xi).T @ inertia, mu)
    drift = np.abs(np.array(momentum) - momentum[0]).max(axis=0)
    assert drift.max() < 3e-12
    assert np.linalg.norm(X[:3, 3]) > 5.0  # it did move


def central_difference(f, step=2e-3):
    """Derivative of f at 0 from six points; the error of order step^6 is below rounding."""
    return sum(c * (f(k * step) - f(-k * step)) for k, c in ((1, 45), (2, -9), (3, 1))) / (60 * step)
