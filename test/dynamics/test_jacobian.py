# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Jacobians against Pinocchio, and against the twists they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from kinematics_oracle import error, every_robot, gather, pin, random_state, robot, twin, with_pinocchio
from numpy.testing import assert_array_equal

from mbsim_ros.dynamics.jacobian import frame_jacobian, motion_subspaces
from mbsim_ros.dynamics.kinematics import link_pose, link_twist
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.lie import se3

REFERENCES = ("local", "world", "local_world_aligned")


@with_pinocchio
@pytest.mark.parametrize("reference", REFERENCES)
@every_robot
def test_every_link(name, reference):
    model, theirs = robot(name), twin(name)
    q, _, _ = random_state(model)
    data = theirs.createData()
    pin.computeJointJacobians(theirs, data, model.q_to_pinocchio(q))
    pin.updateFramePlacements(theirs, data)
    for link in model.link_names:
        frame = theirs.getFrameId(link, pin.BODY)
        expected = pin.getFrameJacobian(theirs, data, frame, getattr(pin, reference.upper())) @ gather(model)
        J = frame_jacobian(model, q, link, reference)
        assert J.shape == (6, model.nv) and J.flags.c_contiguous
        assert error(J, expected) < 1e-12 or (not expected.any() and not J.any())


@with_pinocchio
@every_robot
def test_motion_subspaces(name):
    model, theirs = robot(name), twin(name)
    q, _, _ = random_state(model)
    expected = pin.computeJointJacobians(theirs, theirs.createData(), model.q_to_pinocchio(q))
    assert error(motion_subspaces(model, q), expected) < 1e-12


@every_robot
def test_the_local_one_gives_the_twist(name):
    model = robot(name)
    q, v, _ = random_state(model)
    for link in model.link_names:
        V = link_twist(model, q, v, link)
        assert np.abs(frame_jacobian(model, q, link) @ v - V).max() < 1e-12 * max(1.0, np.abs(V).max())


def test_references_are_adjoints_of_each_other():
    model = robot("zoo")
    q, _, _ = random_state(model)
    X_WL = link_pose(model, q, "e_wheel")
    local, world, aligned = (frame_jacobian(model, q, "e_wheel", reference) for reference in REFERENCES)
    assert error(se3.Ad(X_WL) @ local, world) < 1e-13
    assert error(np.kron(np.eye(2), X_WL[:3, :3]) @ local, aligned) < 1e-13


def test_far_from_the_origin_no_digits_are_lost():
    model = robot("zoo")
    q, _, _ = random_state(model)
    near = frame_jacobian(model, q, "e_wheel")
    q[:3] += 1024.0
    assert error(frame_jacobian(model, q, "e_wheel"), near) < 1e-12


def test_dofs_that_do_not_carry_the_link_have_zero_columns():
    model = robot("zoo")
    q, _, _ = random_state(model)
    J = frame_jacobian(model, q, "f_plane", "world")
    plane = model.joint("f_plane")
    carries = [*range(6), *range(plane.iv, plane.iv + 3)]
    assert set(np.flatnonzero(J.any(axis=0))) == set(carries)
    assert_array_equal(J[:, carries], motion_subspaces(model, q)[:, carries])


def test_a_link_fixed_to_the_world_has_none():
    model = robot("fixed_zoo")
    q, _, _ = random_state(model)
    for reference in REFERENCES:
        assert_array_equal(frame_jacobian(model, q, "base", reference), np.zeros((6, model.nv)))


def test_a_workspace_changes_nothing():
    model = robot("zoo")
    q, _, _ = random_state(model)
    ws = Workspace(model)
    ws.rows[:] = ws.sincos[:] = ws.dofs[:] = np.nan
    assert_array_equal(frame_jacobian(model, q, "e_wheel", workspace=ws), frame_jacobian(model, q, "e_wheel"))
    assert_array_equal(motion_subspaces(model, q, workspace=ws), motion_subspaces(model, q))


def test_what_is_refused():
    model = robot("zoo")
    q, _, _ = random_state(model)
    with pytest.raises(
        ValueError, match=r"reference: expected one of 'local', 'world', 'local_world_aligned', got 'body'"
    ):
        frame_jacobian(model, q, "base", "body")
    with pytest.raises(KeyError, match="no link named 'nose'"):
        frame_jacobian(model, q, "nose")
    with pytest.raises(ValueError, match=r"q: expected shape"):
        frame_jacobian(model, q[1:], "base")
    with pytest.raises(ValueError, match=r"q: expected finite"):
        motion_subspaces(model, np.full(model.nq, np.nan))
