# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The mass matrix against Pinocchio, against inverse dynamics column by column, and what it must not depend on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from mass_matrix_robots import every_robot, every_robot_of_pinocchio, robot, source

from mbsim_ros.bench.states import random_configuration
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.model import ROTOR

STATES = 5
TOLERANCE = 1e-13  # of the geometric mean of the two diagonal entries, so that light parts count as much as heavy ones


def states(model):
    rng = np.random.default_rng(11)
    return [random_configuration(model, rng) for _ in range(STATES)]


def error(M, expected):
    """Largest difference, entry by entry relative to √(M_ii M_jj)."""
    scale = np.sqrt(np.maximum(expected.diagonal(), 1e-12))
    return np.abs((M - expected) / np.outer(scale, scale)).max()


@every_robot_of_pinocchio
def test_it_is_pinocchios(name):
    pin = pytest.importorskip("pinocchio")
    model, (text, base) = robot(name), source(name)
    theirs = pin.buildModelFromXML(text, *([pin.JointModelFreeFlyer()] if base == "floating" else []))
    data = theirs.createData()
    G = np.eye(model.nv) if model.mimic is None else model.mimic.matrix(model.nv)
    for q in states(model):
        expected = G.T @ pin.crba(theirs, data, model.q_to_pinocchio(q)) @ G
        assert error(mass_matrix(model, q), expected) < 1e-12


@every_robot
def test_its_columns_are_the_forces_of_unit_accelerations(name):
    model = robot(name)
    still = np.zeros(model.nv)
    for q in states(model)[:2]:
        columns = [inverse_dynamics(model, q, still, unit, gravity=(0, 0, 0)) for unit in np.eye(model.nv)]
        assert error(mass_matrix(model, q), np.array(columns).T) < TOLERANCE


@every_robot
def test_it_is_symmetric_to_the_bit_and_positive(name):
    model = robot(name)
    for q in states(model):
        M = mass_matrix(model, q)
        assert M.shape == (model.nv, model.nv)
        assert np.array_equal(M, M.T)
        assert np.linalg.eigvalsh(M).min() > 0.0


@every_robot
def test_between_branches_it_is_exactly_zero(name):
    model = robot(name)
    if model.mimic is not None:
        pytest.skip("a mimic joint couples branches")
    carries = np.eye(model.nv, dtype=bool)
    for dof, parent in enumerate(model.dof_parent):
        carries[dof] |= carries[parent] if parent >= 0 else False
    M = mass_matrix(model, states(model)[0])
    assert not M[~(carries | carries.T)].any()


def test_a_robot_far_from_the_origin_has_the_same_matrix():
    for name in ("tree", "balls"):
        model = robot(name)
        for q in states(model):
            far = q.copy()
            far[:3] = 1e6, -1e6, 3e5
            assert error(mass_matrix(model, far), mass_matrix(model, q)) < 1e-9


def test_a_prismatic_root_far_out_has_the_same_matrix():
    """The common frame moves with the root body, whatever joint it hangs on."""
    model = robot("tree, fixed")
    iq = model.joint("j007").iq
    q = states(model)[0]
    near, far = q.copy(), q.copy()
    near[iq], far[iq] = 0.0, 1e6
    assert error(mass_matrix(model, far), mass_matrix(model, near)) < 1e-9


def test_turning_a_floating_base_changes_nothing():
    model = robot("tree")
    q = states(model)[0]
    turned = q.copy()
    turned[3:7] = 0.5, -0.5, 0.5, 0.5
    assert np.array_equal(mass_matrix(model, q), mass_matrix(model, turned))


def test_a_rotor_adds_to_its_own_diagonal_entry():
    model = robot("tree")
    joint = model.joint("j003")
    constants = model.constants.copy()
    constants[joint.body, ROTOR] = 0.25
    constants.setflags(write=False)
    geared = dataclasses.replace(model, constants=constants)
    q = states(model)[0]
    expected = np.zeros((model.nv, model.nv))
    expected[joint.iv, joint.iv] = 0.25
    np.testing.assert_allclose(mass_matrix(geared, q) - mass_matrix(model, q), expected, atol=1e-15)


def test_a_workspace_that_was_used_before_changes_nothing():
    model = robot("tree")
    q = states(model)[0]
    used = Workspace(model)
    for array in (used.sincos, used.rows, used.dofs):
        array.fill(np.nan)
    assert np.array_equal(mass_matrix(model, q, workspace=used), mass_matrix(model, q))


def test_each_call_gives_its_own_matrix():
    model = robot("tree")
    q = states(model)[0]
    first = mass_matrix(model, q)
    kept = first.copy()
    mass_matrix(model, states(model)[1])
    assert np.array_equal(first, kept)


def test_bad_configurations_are_refused():
    model = robot("tree")
    q = states(model)[0]
    with pytest.raises(ValueError, match=r"q: expected shape \(\d+,\), got \(2,\)"):
        mass_matrix(model, [0.0, 1.0])
    for entry, value, reason in ((9, np.nan, "finite"), (3, 7.0, "unit quaternion")):
        bad = q.copy()
        bad[entry] = value
        with pytest.raises(ValueError, match=reason):
            mass_matrix(model, bad)
