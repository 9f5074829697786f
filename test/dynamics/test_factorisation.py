# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The factors of a mass matrix: they multiply to M, keep its zeros, solve with it, and refuse what is singular."""

from __future__ import annotations

import numpy as np
import pytest
from mass_matrix_robots import every_robot, robot

from mbsim_ros.bench.states import random_configuration
from mbsim_ros.dynamics.factorisation import Factorisation, factor_parents
from mbsim_ros.dynamics.kernels.factorisation_kernel import factorise_in_place, solve_in_place
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.model.loading import load_urdf


def matrix(name, seed=0):
    model = robot(name)
    return model, mass_matrix(model, random_configuration(model, np.random.default_rng(seed)))


def error(got, expected):
    return np.abs(got - expected).max() / np.abs(expected).max()


@every_robot
def test_the_factors_multiply_to_the_matrix(name):
    model, M = matrix(name)
    factors = Factorisation(model, M)
    product = factors.L.T @ np.diag(factors.D) @ factors.L
    scale = np.sqrt(M.diagonal())
    assert np.abs((product - M) / np.outer(scale, scale)).max() < 1e-14 * model.nv
    assert factors.D.min() > 0.0


@every_robot
def test_nothing_fills_in(name):
    model, M = matrix(name)
    factors = Factorisation(model, M)
    parents = factor_parents(model)
    pattern = np.eye(model.nv, dtype=bool)
    for dof, parent in enumerate(parents):
        pattern[dof] |= pattern[parent] if parent >= 0 else False
    assert not factors.L[~pattern].any()
    in_place = M.copy()
    assert factorise_in_place(parents, in_place) == -1
    assert not in_place[~(pattern | pattern.T)].any()
    assert np.array_equal(np.triu(in_place, 1), np.triu(M, 1))


@every_robot
def test_it_solves(name):
    model, M = matrix(name)
    factors = Factorisation(model, M)
    rng = np.random.default_rng(5)
    x, X = rng.normal(size=model.nv), rng.normal(size=(model.nv, 7))
    condition = np.linalg.cond(M)
    assert error(factors.solve(M @ x), x) < 1e-15 * condition
    assert error(factors.solve(M @ X), X) < 1e-15 * condition
    np.testing.assert_allclose(
        factors.solve(x), np.linalg.solve(M, x), rtol=0, atol=1e-15 * condition * np.abs(factors.solve(x)).max()
    )


def test_many_right_hand_sides_are_as_one_by_one():
    model, M = matrix("tree")
    factors = Factorisation(model, M)
    B = np.random.default_rng(1).normal(size=(model.nv, 4))
    together = factors.solve(B)
    np.testing.assert_allclose(together, np.array([factors.solve(b) for b in B.T]).T, rtol=1e-13)
    np.testing.assert_array_equal(factors.solve(np.asfortranarray(B)), together)
    assert factors.solve(np.zeros((model.nv, 0))).shape == (model.nv, 0)


def test_neither_argument_is_changed():
    model, M = matrix("tree")
    b = np.ones(model.nv)
    kept = M.copy()
    Factorisation(model, M).solve(b)
    assert np.array_equal(M, kept)
    assert np.array_equal(b, np.ones(model.nv))


def test_terms_with_the_same_zeros_may_be_added():
    model, M = matrix("tree")
    damped = M + np.diag(np.linspace(0.1, 2.0, model.nv))
    b = np.arange(model.nv, dtype=float)
    np.testing.assert_allclose(Factorisation(model, damped).solve(b), np.linalg.solve(damped, b), rtol=1e-10)


def test_a_singular_matrix_names_the_joint():
    model, M = matrix("tree")
    dof = model.joint("j006").iv
    M[dof, :] = M[:, dof] = 0.0
    with pytest.raises(ValueError, match=rf"positive definite.*dof {dof}, joint 'j006'"):
        Factorisation(model, M)


@pytest.mark.parametrize("name", ["tree", "chain of 100"])
def test_a_matrix_that_is_singular_but_for_rounding_is_refused(name):
    """One row depends on another: its pivot is a rounding error, of either sign."""
    model, M = matrix(name)
    parent = int(model.dof_parent[-1])
    T = np.eye(model.nv)
    T[-1, -1], T[-1, parent] = 0.0, 1.0 / 3.0
    singular = T @ M @ T.T  # its last dof moves as the one before, by a third
    singular = 0.5 * (singular + singular.T)
    with pytest.raises(ValueError, match="positive definite"):
        Factorisation(model, singular)


def test_an_indefinite_matrix_is_refused():
    model, M = matrix("tree")
    dof = model.joint("j001").iv
    M[dof, dof] *= -1.0
    with pytest.raises(ValueError, match=r"pivot -.*joint 'j001'"):
        Factorisation(model, M)


def test_a_link_without_mass_names_its_joint():
    text = (
        '<robot name="r"><link name="world"/>'
        '<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<link name="b"/>'
        '<joint name="first" type="continuous"><parent link="world"/><child link="a"/></joint>'
        '<joint name="second" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    with pytest.warns(UserWarning):
        model = load_urdf(text)
    with pytest.raises(ValueError, match="joint 'second'"):
        Factorisation(model, mass_matrix(model, [0.1, 0.2]))


def test_a_kernel_stops_at_a_bad_pivot():
    parents = np.array([-1, 0, 0], dtype=np.int64)
    parents.setflags(write=False)
    for bad in (0.0, -1.0, np.nan):
        assert factorise_in_place(parents, np.diag([1.0, bad, 1.0])) == 1


def test_entries_that_the_tree_does_not_have_are_refused():
    model, M = matrix("tree")
    i, j = model.joint("j008").iv, model.joint("j003").iv
    M[i, j] = M[j, i] = 1e-3
    with pytest.raises(ValueError, match="zero between joint 'j008' and joint 'j003'"):
        Factorisation(model, M)


def test_bad_arguments_are_refused():
    model, M = matrix("tree")
    skewed, broken = M.copy(), M.copy()
    skewed[1, 0] += 1.0
    broken[2, 2] = np.inf
    for bad, reason in ((skewed, "symmetric"), (broken, "finite"), (M[:3], "shape"), ("M", "numbers")):
        with pytest.raises(ValueError, match=reason):
            Factorisation(model, bad)
    factors = Factorisation(model, M)
    for bad, reason in ((np.ones(3), "shape"), (np.full(model.nv, np.nan), "finite"), (np.ones((2, 2, 2)), "shape")):
        with pytest.raises(ValueError, match=reason):
            factors.solve(bad)


def test_a_repeat_is_bit_identical():
    model, M = matrix("tree")
    x = [Factorisation(model, M).solve(np.ones(model.nv)) for _ in range(2)]
    assert np.array_equal(*x)
    in_place, b = M.copy(), np.ones(model.nv)
    factorise_in_place(model.dof_parent, in_place)
    solve_in_place(model.dof_parent, in_place, b)
    assert np.array_equal(b, x[0])
