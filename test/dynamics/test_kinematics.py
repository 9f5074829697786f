# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Poses, twists and accelerations against Pinocchio, finite differences and closed forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kinematics_oracle import error, every_robot, pin, random_state, robot, twin, with_pinocchio
from numpy.testing import assert_allclose, assert_array_equal

from mbsim_ros.dynamics.kinematics import (
    forward_kinematics,
    link_acceleration,
    link_frames,
    link_pose,
    link_pose_rows,
    link_poses,
    link_twist,
)
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.loading import load_urdf

PENDULUM = Path(__file__).resolve().parents[2] / "urdf/double_pendulum.urdf"


def pinocchio_data(name, q, v, a):
    model, theirs = robot(name), twin(name)
    data = theirs.createData()
    pin.forwardKinematics(theirs, data, model.q_to_pinocchio(q), model.tree_v(v), model.tree_v(a))
    pin.updateFramePlacements(theirs, data)
    return theirs, data


@with_pinocchio
@every_robot
def test_poses_of_all_links(name):
    model = robot(name)
    q, v, a = random_state(model)
    theirs, data = pinocchio_data(name, q, v, a)
    poses = link_poses(model, q)
    assert tuple(poses) == model.link_names
    for link, X_WL in poses.items():
        expected = data.oMf[theirs.getFrameId(link, pin.BODY)].homogeneous
        assert_allclose(X_WL, expected, atol=1e-13)
        assert_allclose(link_pose(model, q, link), expected, atol=1e-13)


@with_pinocchio
@every_robot
def test_twists_and_accelerations_of_all_links(name):
    model = robot(name)
    q, v, a = random_state(model)
    theirs, data = pinocchio_data(name, q, v, a)
    motion = forward_kinematics(model, q, v, a)
    for link in model.link_names:
        frame = theirs.getFrameId(link, pin.BODY)
        V = pin.getFrameVelocity(theirs, data, frame, pin.LOCAL).vector
        A = pin.getFrameAcceleration(theirs, data, frame, pin.LOCAL).vector
        classical = pin.getFrameClassicalAcceleration(theirs, data, frame, pin.LOCAL).vector
        assert error(motion.link_twist(link), V) < 1e-12
        assert error(motion.link_acceleration(link), A) < 1e-12
        assert error(motion.link_acceleration(link, classical=True), classical) < 1e-12
    assert error(link_twist(model, q, v, link), V) < 1e-12
    assert error(link_acceleration(model, q, v, a, link), A) < 1e-12
    assert error(link_acceleration(model, q, v, a, link, classical=True), classical) < 1e-12


def test_double_pendulum_by_hand():
    """Two rods of length 1 about y, hanging: the lower joint swings on a circle, the lower link turns with the sum."""
    model = load_urdf(PENDULUM)
    lower = model.joints[1].child_link
    q1, q2, v1, v2, a1, a2 = 0.4, -0.9, 1.3, 0.7, -0.6, 2.1
    start, end = (link_pose(model, q, lower)[:3, 3] for q in ([0.0, 0.0], [q1, q2]))
    pivot = link_pose(model, [q1, q2], model.joints[0].child_link)[:3, 3]
    arm = start - pivot
    length = np.linalg.norm(arm)
    assert np.linalg.norm(end - pivot) == pytest.approx(length)
    assert np.dot(end - pivot, arm) == pytest.approx(length**2 * np.cos(q1))
    V = link_twist(model, [q1, q2], [v1, v2], lower)
    A = link_acceleration(model, [q1, q2], [v1, v2], [a1, a2], lower, classical=True)
    assert np.linalg.norm(V[:3]) == pytest.approx(length * v1)
    assert np.linalg.norm(V[3:]) == pytest.approx(v1 + v2)
    assert np.linalg.norm(A[:3]) == pytest.approx(length * np.hypot(a1, v1**2))  # tangential and centripetal
    assert np.linalg.norm(A[3:]) == pytest.approx(abs(a1 + a2))


def test_bodies_have_their_joint_axis_as_z():
    model = robot("zoo")
    q, _, _ = random_state(model)
    before = forward_kinematics(model, q)
    q[model.joint("i_leaf").iq] += 0.3
    after = forward_kinematics(model, q)
    body = model.joint("i_leaf").body
    assert_allclose(after.X_WB[body, :3, 2], before.X_WB[body, :3, 2], atol=1e-14)
    assert_allclose(after.X_WB[body, :3, 3], before.X_WB[body, :3, 3], atol=1e-14)
    assert before.X_WB.shape == (model.n_bodies, 4, 4)
    assert_array_equal(before.V_WB, np.zeros((model.n_bodies, 6)))
    assert_array_equal(before.A_WB, np.zeros((model.n_bodies, 6)))


def test_acceleration_alone_is_that_of_a_start_from_rest():
    model = robot("zoo")
    q, _, a = random_state(model)
    from_rest = forward_kinematics(model, q, np.zeros(model.nv), a)
    assert_array_equal(forward_kinematics(model, q, a=a).A_WB, from_rest.A_WB)


def test_a_link_fixed_to_the_world_stands_still():
    model = robot("fixed_zoo")
    q, v, a = random_state(model)
    assert_array_equal(link_pose(model, q, "base"), np.eye(4))
    assert_array_equal(link_poses(model, q)["base"], np.eye(4))
    assert_array_equal(link_twist(model, q, v, "base"), np.zeros(6))
    assert_array_equal(link_acceleration(model, q, v, a, "base", classical=True), np.zeros(6))
    pose = link_pose(model, q, "base")
    pose[0, 3] = 1.0  # the caller's own
    assert_array_equal(link_pose(model, q, "base"), np.eye(4))


def test_rows_of_poses_for_publishers():
    model = robot("zoo")
    q, _, _ = random_state(model)
    out = np.empty((len(model.link_names), 12))
    assert link_pose_rows(model, q, out=out) is out
    for row, X in zip(out, link_poses(model, q).values(), strict=True):
        assert_array_equal(row, [*X[:3, :3].ravel(), *X[:3, 3]])
    assert link_frames(model) is link_frames(model)
    for wrong in (np.empty((2, 12)), np.empty(out.shape, dtype=np.float32), np.asfortranarray(out)):
        with pytest.raises(ValueError, match=r"out: expected a writable contiguous float64 array \(12, 12\)"):
            link_pose_rows(model, q, out=wrong)


def test_a_workspace_changes_nothing_and_results_outlive_the_next_call():
    model = robot("zoo")
    q, v, a = random_state(model)
    ws = Workspace(model)
    ws.rows[:] = ws.sincos[:] = np.nan
    first = forward_kinematics(model, q, v, a, workspace=ws)
    copies = first.X_WB.copy(), first.V_WB.copy(), first.A_WB.copy()
    forward_kinematics(model, model.neutral, workspace=ws)
    again = forward_kinematics(model, q, v, a)
    for mine, copy, other in zip(
        (first.X_WB, first.V_WB, first.A_WB), copies, (again.X_WB, again.V_WB, again.A_WB), strict=True
    ):
        assert_array_equal(mine, copy)
        assert_array_equal(mine, other)


def test_a_robot_without_joints():
    model = load_urdf('<robot name="stone"><link name="world"/></robot>')
    assert forward_kinematics(model, [], [], []).X_WB.shape == (0, 4, 4)
    assert_array_equal(link_poses(model, [])["world"], np.eye(4))


def test_what_is_refused():
    model = robot("zoo")
    q, v, a = random_state(model)
    with pytest.raises(ValueError, match=rf"q: expected shape \({model.nq},\), got \(3,\)"):
        forward_kinematics(model, np.zeros(3))
    with pytest.raises(ValueError, match=r"v: expected shape"):
        link_twist(model, q, v[:-1], "base")
    with pytest.raises(ValueError, match=r"a: expected finite numbers, got a\[2\] = inf"):
        link_acceleration(model, q, v, np.where(np.arange(model.nv) == 2, np.inf, a), "base")
    with pytest.raises(ValueError, match=r"q: expected finite numbers, got q\[0\] = nan"):
        link_poses(model, np.where(np.arange(model.nq) == 0, np.nan, q))
    with pytest.raises(ValueError, match=r"q: expected a unit quaternion at q\[3:7\], got one of length 2"):
        link_pose(model, [*q[:3], *(2.0 * q[3:7]), *q[7:]], "base")
    with pytest.raises(KeyError, match=r"no link named 'nose'; there are: base, a_hip"):
        link_pose(model, q, "nose")
