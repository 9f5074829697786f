# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Quaternions against transforms3d and W A.3."""

import numpy as np
import pytest
import transforms3d.quaternions as oracle
from numpy.testing import assert_allclose, assert_array_equal

from mbsim_ros.lie import quaternion, so3

EPS = 1e-15


def random_unit(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def test_algebra_agrees_with_transforms3d(rng):
    for _ in range(50):
        a, b = rng.normal(size=(2, 4))
        assert_allclose(quaternion.multiply(a, b), oracle.qmult(a, b), atol=4 * EPS)
        assert_array_equal(quaternion.conjugate(a), oracle.qconjugate(a))
        unit = quaternion.normalise(a)
        assert np.linalg.norm(unit) == pytest.approx(1.0, abs=EPS)
        assert_allclose(quaternion.multiply(unit, quaternion.conjugate(unit)), [1, 0, 0, 0], atol=EPS)


def test_matrices_agree_with_transforms3d(rng):
    for _ in range(50):
        q = random_unit(rng)
        R = oracle.quat2mat(q)
        assert_allclose(quaternion.to_matrix(q), R, atol=EPS)
        assert_allclose(quaternion.from_matrix(R), oracle.mat2quat(R), atol=4 * EPS)


def test_exp_and_log_agree_with_transforms3d_and_so3(w):
    angle = np.linalg.norm(w)
    q = quaternion.exp(w)
    assert_allclose(q, oracle.axangle2quat(w if angle else (1, 0, 0), angle), atol=EPS)
    assert_allclose(quaternion.to_matrix(q), so3.exp(w), atol=EPS)
    assert np.abs(quaternion.log(q) - w).max() <= 2 * EPS * angle
    assert_array_equal(quaternion.log(-q), quaternion.log(q))


def test_from_matrix_inverts_to_matrix_near_half_a_turn():
    for axis in np.eye(3):
        for cosine in (0.0, 1e-12, 1e-9, 1e-3):
            q = np.concatenate([[cosine], axis * np.sqrt(1.0 - cosine**2)])
            back = quaternion.from_matrix(quaternion.to_matrix(q))
            assert_allclose(back, q, atol=EPS)
            assert back[0] == pytest.approx(cosine, rel=1e-14, abs=0.0)


def test_the_sign_is_fixed_also_at_half_a_turn(rng):
    for _ in range(20):
        assert quaternion.from_matrix(quaternion.to_matrix(random_unit(rng)))[0] >= 0.0
    assert_allclose(quaternion.from_matrix(quaternion.to_matrix([0, -0.6, 0.8, 0])), [0, 0.6, -0.8, 0], atol=EPS)
    assert_allclose(quaternion.log([0, 0, -0.6, 0.8]), np.pi * np.array([0, 0.6, -0.8]), atol=EPS)


def test_multiplication_matrices(rng):
    a, b = rng.normal(size=(2, 4))
    assert_allclose(quaternion.left_multiplication(a) @ b, quaternion.multiply(a, b), atol=4 * EPS)
    assert_allclose(quaternion.right_multiplication(b) @ a, quaternion.multiply(a, b), atol=4 * EPS)


def test_rotating_a_vector_is_conjugation(rng):
    q, v = random_unit(rng), rng.normal(size=3)
    rotated = quaternion.multiply(quaternion.multiply(q, np.concatenate([[0.0], v])), quaternion.conjugate(q))
    assert_allclose(rotated, np.concatenate([[0.0], quaternion.to_matrix(q) @ v]), atol=4 * EPS)


def test_velocity_and_rate_maps(rng):
    q, w = random_unit(rng), rng.normal(size=3)
    q_dot = quaternion.body_rate_map(q) @ w
    assert_allclose(q_dot, quaternion.multiply(q, np.concatenate([[0.0], w / 2])), atol=EPS)  # W A.3
    assert_allclose(quaternion.body_velocity_map(q) @ q_dot, w, atol=4 * EPS)  # (A.1) inverts (A.4)
    assert_allclose(quaternion.spatial_velocity_map(q) @ q_dot, quaternion.to_matrix(q) @ w, atol=4 * EPS)
    assert_allclose(quaternion.spatial_rate_map(q) @ (quaternion.to_matrix(q) @ w), q_dot, atol=4 * EPS)


def test_the_rate_map_is_the_derivative_of_integrate(rng):
    q, w, h = random_unit(rng), rng.normal(size=3), 1e-5
    difference = (quaternion.integrate(q, w, h) - quaternion.integrate(q, w, -h)) / (2 * h)
    assert_allclose(difference, quaternion.body_rate_map(q) @ w, atol=1e-9)


def test_integrate_is_the_exact_motion_under_a_constant_body_rate(rng):
    q, w = random_unit(rng), rng.normal(size=3)
    R = quaternion.to_matrix(q)
    assert_allclose(quaternion.to_matrix(quaternion.integrate(q, w, 0.7)), R @ so3.exp(0.7 * w), atol=2 * EPS)
    many = q
    for _ in range(1000):
        many = quaternion.integrate(many, w, 0.7e-3)
    assert_allclose(many, quaternion.integrate(q, w, 0.7), atol=1e-13)
    assert np.linalg.norm(many) == pytest.approx(1.0, abs=EPS)


def test_ros_order():
    assert_array_equal(quaternion.from_ros([1, 2, 3, 4]), [4, 1, 2, 3])
    assert_array_equal(quaternion.to_ros([4, 1, 2, 3]), [1, 2, 3, 4])


def test_the_matrix_kernel_gives_a_rotation_for_a_quaternion_that_has_drifted(rng):
    R = np.empty((3, 3))
    quaternion.matrix_from_quaternion_into(1.3 * random_unit(rng), R)
    assert_allclose(R.T @ R, np.eye(3), atol=EPS)


def test_wrong_quaternions_are_refused_by_name():
    for function in (quaternion.to_matrix, quaternion.log):
        with pytest.raises(ValueError, match="q: expected a unit quaternion.*got length 2"):
            function([2.0, 0, 0, 0])
    for name in (
        "conjugate",
        "normalise",
        "to_matrix",
        "log",
        "to_ros",
        "left_multiplication",
        "right_multiplication",
        "body_velocity_map",
        "spatial_velocity_map",
        "body_rate_map",
        "spatial_rate_map",
    ):
        function = getattr(quaternion, name)
        with pytest.raises(ValueError, match=r"q: expected shape \(4,\), got shape \(3,\)"):
            function(np.zeros(3))
        with pytest.raises(ValueError, match="q: expected finite numbers"):
            function([np.nan, 0, 0, 1])
    with pytest.raises(ValueError, match="b: expected shape"):
        quaternion.multiply([1, 0, 0, 0], [1, 0, 0])
    with pytest.raises(ValueError, match="not zero"):
        quaternion.normalise(np.zeros(4))
    with pytest.raises(ValueError, match="q_xyzw: expected shape"):
        quaternion.from_ros([1.0])
    with pytest.raises(ValueError, match="h: expected finite numbers"):
        quaternion.integrate([1, 0, 0, 0], [0, 0, 0], np.nan)
    with pytest.raises(ValueError, match="R: expected a rotation"):
        quaternion.from_matrix(np.ones((3, 3)))
