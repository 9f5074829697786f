# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""SO(3) against 50-digit definitions, group axioms and finite differences."""

import lie_oracle as oracle
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mbsim_ros.lie import so3

EPS = 1e-15


def size(w):
    """|w|, or 1 for zero, to make errors relative."""
    return np.linalg.norm(w) or 1.0


def test_hat_is_the_cross_product_and_vee_its_inverse(rng):
    w, b = rng.normal(size=(2, 3))
    assert_allclose(so3.hat(w) @ b, np.cross(w, b), atol=EPS)
    assert_array_equal(so3.vee(so3.hat(w)), w)


def test_exp_is_the_matrix_exponential(w):
    exact = oracle.expm(so3.hat(w))
    R = so3.exp(w)
    assert oracle.error(R, exact) < EPS
    off = ~np.eye(3, dtype=bool)
    assert oracle.error(R[off], exact[off]) < 2 * EPS * min(1.0, size(w))  # relative for small turns


def test_exp_of_zero_is_exactly_the_identity():
    assert_array_equal(so3.exp(np.zeros(3)), np.eye(3))
    assert_array_equal(so3.log(np.eye(3)), np.zeros(3))


def test_log_inverts_the_matrix_exponential(w):
    R = oracle.expm(so3.hat(w)).astype(float)
    assert np.abs(so3.log(R) - w).max() < 3 * EPS * size(w)


def test_exp_inverts_log(rng):
    for _ in range(200):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        R *= np.linalg.det(R)
        assert_allclose(so3.exp(so3.log(R)), R, atol=2 * EPS)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.tuples(*[st.floats(-1.8, 1.8)] * 3))
def test_log_inverts_exp_for_any_vector_below_pi(w):
    w = np.array(w)
    if np.linalg.norm(w) < np.pi - 1e-9:
        assert np.abs(so3.log(so3.exp(w)) - w).max() <= 4 * EPS * np.linalg.norm(w) + 1e-300


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, -0.8, 0), (0, 0.6, -0.8), (-0.6, 0, 0.8)])
def test_log_of_half_a_turn_has_a_positive_first_component(axis):
    axis = np.array(axis, dtype=float)
    R = 2.0 * np.outer(axis, axis) - np.eye(3)
    w = so3.log(R)
    assert w[np.nonzero(w)[0][0]] > 0.0
    assert_allclose(w, np.pi * axis * np.sign(axis[np.nonzero(axis)[0][0]]), atol=1e-15)


def test_log_is_accurate_on_both_sides_of_pi():
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    for gap in (1e-15, 1e-12, 1e-9, 1e-6):
        below = oracle.expm(so3.hat((np.pi - gap) * axis)).astype(float)
        above = oracle.expm(so3.hat((np.pi + gap) * axis)).astype(float)
        assert_allclose(so3.log(below), (np.pi - gap) * axis, rtol=8e-16, atol=0)
        assert_allclose(so3.log(above), (gap - np.pi) * axis, rtol=8e-16, atol=0)


def test_exp_is_orthonormal_and_a_homomorphism_along_one_axis(w):
    R = so3.exp(w)
    assert_allclose(R.T @ R, np.eye(3), atol=EPS)
    assert np.linalg.det(R) > 0.0
    assert_allclose(so3.exp(0.25 * w) @ so3.exp(0.75 * w), R, atol=EPS)
    assert_allclose(so3.exp(-w), R.T, atol=EPS)


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_cay_is_its_definition_and_cay_inv_its_inverse(w, scale):
    w = scale * w
    assert oracle.error(so3.cay(w), oracle.cay(so3.hat(w))) < EPS
    # the condition number grows as 1 + |w|^2 / 4
    R = oracle.cay(so3.hat(w)).astype(float)
    assert np.abs(so3.cay_inv(R) - w).max() < 2 * EPS * size(w) * (1.0 + w @ w / 4.0)


def test_half_cay_squared_is_cay(w):
    H = so3.cay(so3.half_cay(5.0 * w))
    assert_allclose(H @ H, so3.cay(5.0 * w), atol=EPS)


def test_dexp_is_its_series(w):
    assert oracle.error(so3.dexp(w), oracle.dexp(so3.hat(w))) < EPS
    assert oracle.error(so3.dexp_inv(w), oracle.dexp_inv(so3.hat(w))) < EPS


def test_dexp_inv_inverts_dexp_up_to_two_pi(rng):
    for angle in (3.5, 5.0, 6.0, 6.2):
        axis = rng.normal(size=3)
        w = angle * axis / np.linalg.norm(axis)
        assert_allclose(so3.dexp_inv(w) @ so3.dexp(w), np.eye(3), atol=1e-13)


def test_dcay_is_its_definition(w, rng):
    y = rng.normal(size=3)
    exact = oracle.dcay(so3.hat(w), so3.hat(y))
    assert oracle.error(so3.hat(so3.dcay(w) @ y), exact) < 2 * EPS
    assert_allclose(so3.dcay_inv(w) @ so3.dcay(w), np.eye(3), atol=2 * EPS)


@pytest.mark.parametrize("name", ["exp", "cay"])
def test_tangents_are_the_derivatives_of_the_maps(name, w, rng):
    tau, dtau, dtau_left = (getattr(so3, n) for n in (name, f"d{name}", f"d{name}_left"))
    y = rng.normal(size=3)
    derivative = central_difference(lambda s: tau(w + s * y))
    assert_allclose(derivative @ tau(w).T, so3.hat(dtau(w) @ y), atol=3e-12)
    assert_allclose(tau(w).T @ derivative, so3.hat(dtau_left(w) @ y), atol=3e-12)


@pytest.mark.parametrize("name", ["dexp", "dcay"])
def test_left_tangents_are_transposes_and_inverses_match(name, w):
    right, left, left_inv = (getattr(so3, n) for n in (name, f"{name}_left", f"{name}_left_inv"))
    assert_allclose(left(w), right(w).T, atol=EPS)
    assert_allclose(left_inv(w) @ left(w), np.eye(3), atol=2 * EPS)


def central_difference(f, step=2e-3):
    """Derivative of f at 0 from six points; the error of order step^6 is below rounding."""
    return sum(c * (f(k * step) - f(-k * step)) for k, c in ((1, 45), (2, -9), (3, 1))) / (60 * step)


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
def test_wrong_vectors_are_refused_by_name(name):
    function = getattr(so3, name)
    with pytest.raises(ValueError, match=r"w: expected shape \(3,\), got shape \(4,\)"):
        function(np.zeros(4))
    with pytest.raises(ValueError, match="w: expected finite numbers.*nan"):
        function([0.0, np.nan, 0.0])
    with pytest.raises(ValueError, match="w: expected finite numbers.*inf"):
        function([np.inf, 0.0, 0.0])
    with pytest.raises(ValueError, match="w: expected numbers"):
        function("abc")


@pytest.mark.parametrize("function", [so3.log, so3.cay_inv])
def test_wrong_rotations_are_refused_by_name(function):
    with pytest.raises(ValueError, match=r"R: expected shape \(3, 3\), got shape \(4, 4\)"):
        function(np.eye(4))
    with pytest.raises(ValueError, match="R: expected finite numbers"):
        function(np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match="R: expected a rotation matrix.*defect of 3"):
        function(2.0 * np.eye(3))
    with pytest.raises(ValueError, match="R: expected a rotation matrix.*det -1"):
        function(-np.eye(3))


def test_what_has_no_inverse_is_refused():
    with pytest.raises(ValueError, match="less than pi"):
        so3.cay_inv(np.diag([1.0, -1.0, -1.0]))
    with pytest.raises(ValueError, match="W: expected a skew-symmetric matrix"):
        so3.vee(np.eye(3))


def test_arguments_are_not_changed_and_lists_are_accepted():
    w = np.array([0.1, -0.2, 0.3])
    w.setflags(write=False)
    assert_array_equal(so3.exp(w), so3.exp([0.1, -0.2, 0.3]))
    assert_array_equal(so3.exp(w), so3.exp(np.array([0.1, 9.0, -0.2, 9.0, 0.3])[::2]))
