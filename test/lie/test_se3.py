# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""SE(3): poses, adjoints and wrench transforms against matrix definitions in 50 digits, and group axioms."""

import lie_oracle as oracle
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal

from mbsim_ros.lie import se3, so3

EPS = 1e-15


def random_pose(rng):
    return se3.pose(so3.exp(rng.normal(size=3)), rng.normal(size=3))


def test_hat_and_vee(rng):
    xi = rng.normal(size=6)
    assert_array_equal(se3.hat(xi)[:3, 3], xi[:3])  # linear first
    assert_array_equal(se3.hat(xi)[:3, :3], so3.hat(xi[3:]))
    assert_array_equal(se3.vee(se3.hat(xi)), xi)


def test_group_axioms(rng):
    for _ in range(20):
        A, B, C = (random_pose(rng) for _ in range(3))
        assert_allclose(se3.compose(A, B), A @ B, atol=2 * EPS)
        assert_allclose(se3.compose(se3.compose(A, B), C), se3.compose(A, se3.compose(B, C)), atol=8 * EPS)
        assert_allclose(se3.compose(A, se3.inverse(A)), np.eye(4), atol=2 * EPS)
        assert_array_equal(se3.compose(A, np.eye(4)), A)


def test_a_pair_is_a_pose_too(rng):
    A, B = random_pose(rng), random_pose(rng)
    assert_array_equal(se3.compose((A[:3, :3], A[:3, 3]), B), se3.compose(A, B))


def test_exp_is_the_matrix_exponential(xi):
    assert oracle.error(se3.exp(xi), oracle.expm(se3.hat(xi))) < 2 * EPS


def test_the_oracle_agrees_with_scipy(xi):
    assert_allclose(oracle.expm(se3.hat(xi)).astype(float), scipy.linalg.expm(se3.hat(xi)), atol=1e-13)


def test_log_inverts_the_matrix_exponential(xi):
    X = oracle.expm(se3.hat(xi)).astype(float)
    assert np.abs(se3.log(X)[:3] - xi[:3]).max() < 5 * EPS
    assert np.abs(se3.log(X)[3:] - xi[3:]).max() < 3 * EPS * (np.linalg.norm(xi[3:]) or 1.0)


def test_exp_inverts_log(rng):
    for _ in range(100):
        X = random_pose(rng)
        assert_allclose(se3.exp(se3.log(X)), X, atol=4 * EPS)


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_cay_is_its_definition_and_cay_inv_its_inverse(xi, scale):
    xi = scale * xi
    condition = 1.0 + xi[3:] @ xi[3:] / 4.0
    exact = oracle.cay(se3.hat(xi))
    assert oracle.error(se3.cay(xi), exact) < 2 * EPS * scale
    assert np.abs(se3.cay_inv(exact.astype(float)) - xi).max() < 4 * EPS * scale * condition**1.5


def test_cay_agrees_with_exp_to_third_order(rng):
    xi = rng.normal(size=6)
    defects = [np.abs(se3.cay(h * xi) - se3.exp(h * xi)).max() for h in (0.02, 0.01)]
    assert defects[0] / defects[1] == pytest.approx(8.0, rel=0.05)


def test_half_cay_squared_is_cay(xi):
    H = se3.cay(se3.half_cay(5.0 * xi))
    assert_allclose(H @ H, se3.cay(5.0 * xi), atol=10 * EPS)


def test_half_cay_is_not_half_the_twist(rng):
    xi = rng.normal(size=6)
    assert np.abs(se3.half_cay(xi) - xi / 2).max() > 1e-3


def test_Ad_is_conjugation_and_a_homomorphism(rng):
    for _ in range(20):
        A, B = random_pose(rng), random_pose(rng)
        V = rng.normal(size=6)
        assert_allclose(se3.hat(se3.Ad(A) @ V), A @ se3.hat(V) @ np.linalg.inv(A), atol=10 * EPS)
        assert_allclose(se3.Ad(A @ B), se3.Ad(A) @ se3.Ad(B), atol=10 * EPS)
        assert_allclose(se3.Ad_inv(A), se3.Ad(se3.inverse(A)), atol=2 * EPS)
        assert_allclose(se3.Ad_inv(A) @ se3.Ad(A), np.eye(6), atol=10 * EPS)


def test_wrench_transforms_keep_power(rng):
    for _ in range(20):
        X_AB = random_pose(rng)
        V_B, F_B = rng.normal(size=(2, 6))
        F_A = se3.coAd(X_AB) @ F_B
        assert F_A @ (se3.Ad(X_AB) @ V_B) == pytest.approx(F_B @ V_B, abs=1e-13)
        assert_allclose(se3.coAd_inv(X_AB) @ F_A, F_B, atol=10 * EPS)
        assert_allclose(se3.coAd(X_AB), se3.Ad_inv(X_AB).T, atol=EPS)
        assert_allclose(se3.coAd_inv(X_AB), se3.Ad(X_AB).T, atol=EPS)


def test_a_force_away_from_the_origin_has_a_moment():
    X_AB = se3.pose(np.eye(3), [2.0, 0.0, 0.0])
    assert_allclose(se3.coAd(X_AB) @ [0, 0, 5.0, 0, 0, 0], [0, 0, 5.0, 0, -10.0, 0])
    assert_allclose(se3.Ad(X_AB) @ [0, 0, 0, 0, 0, 3.0], [0, -6.0, 0, 0, 0, 3.0])


def test_ad_is_the_bracket_and_the_derivative_of_Ad(rng):
    for _ in range(20):
        V, U, W = rng.normal(size=(3, 6))
        commutator = se3.hat(V) @ se3.hat(U) - se3.hat(U) @ se3.hat(V)
        assert_allclose(se3.hat(se3.ad(V) @ U), commutator, atol=10 * EPS)
        jacobi = se3.ad(V) @ se3.ad(U) @ W + se3.ad(U) @ se3.ad(W) @ V + se3.ad(W) @ se3.ad(V) @ U
        assert_allclose(jacobi, np.zeros(6), atol=1e-13)
        assert_allclose(se3.ad_T(V), se3.ad(V).T, atol=EPS)
        assert oracle.error(se3.Ad(se3.exp(V)), oracle.expm(se3.ad(V))) < 1e-14


def test_wrong_poses_are_refused_by_name(rng):
    X = random_pose(rng)
    for function in (se3.log, se3.cay_inv, se3.Ad, se3.Ad_inv, se3.coAd, se3.coAd_inv):
        with pytest.raises(ValueError, match=r"X: expected shape \(4, 4\), got shape \(3, 3\)"):
            function(np.eye(3))
        with pytest.raises(ValueError, match="X: expected finite numbers"):
            function(X * np.nan)
        with pytest.raises(ValueError, match=r"X: expected the last row"):
            function(2.0 * X)
        with pytest.raises(ValueError, match=r"X\.p: expected shape \(3,\)"):
            function((np.eye(3), np.zeros(2)))
    with pytest.raises(ValueError, match="X_BC: expected shape"):
        se3.compose(X, np.eye(3))
    with pytest.raises(ValueError, match="X_AB: expected a rotation matrix"):
        se3.inverse(np.diag([1.0, 1.0, 2.0, 1.0]))
    with pytest.raises(ValueError, match="p: expected shape"):
        se3.pose(np.eye(3), [1.0])
    with pytest.raises(ValueError, match="less than pi"):
        se3.cay_inv(np.diag([-1.0, -1.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match="M: expected the last row"):
        se3.vee(np.eye(4))


@pytest.mark.parametrize(
    "name",
    [
        "hat",
        "exp",
        "cay",
        "half_cay",
        "dexp",
        "dexp_inv",
        "dexp_left",
        "dexp_left_inv",
        "dcay",
        "dcay_inv",
        "dcay_left",
        "dcay_left_inv",
    ],
)
def test_wrong_twists_are_refused_by_name(name):
    with pytest.raises(ValueError, match=r"xi: expected shape \(6,\), got shape \(3,\)"):
        getattr(se3, name)(np.zeros(3))
    with pytest.raises(ValueError, match="xi: expected finite numbers"):
        getattr(se3, name)([0, 0, 0, 0, 0, np.nan])


@pytest.mark.parametrize("function", [se3.ad, se3.ad_T])
def test_wrong_brackets_are_refused_by_name(function):
    with pytest.raises(ValueError, match=r"V: expected shape \(6,\)"):
        function(np.zeros((2, 6)))
