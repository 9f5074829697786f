# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a controller asks about its robot, at the simulation's own state, and inverse kinematics; against Pinocchio."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.bench.robot_data import find_robot
from mbsim_ros.dynamics import Unreachable, inverse_kinematics, link_pose

pin = pytest.importorskip("pinocchio")


@pytest.fixture(scope="module")
def solo():
    path = find_robot("solo12")
    if path is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulation(path, terrain=False)
    rng = np.random.default_rng(5)
    q, v = sim.q, rng.normal(size=sim.model.nv)
    q[:3], q[7:] = rng.normal(size=3), rng.uniform(-1, 1, len(q) - 7)
    quaternion = rng.normal(size=4)
    q[3:7] = quaternion / np.linalg.norm(quaternion)
    sim.reset(q, v)
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    assert list(model.names)[2:] == list(sim.model.joint_names)
    return sim, model, model.createData()


def test_poses_twists_and_jacobians(solo):
    sim, model, data = solo
    pin.forwardKinematics(model, data, sim.q, sim.v)
    pin.updateFramePlacements(model, data)
    for link in ("FL_FOOT", "HR_LOWER_LEG"):
        frame = model.getFrameId(link)
        np.testing.assert_allclose(sim.link_pose(link), data.oMf[frame].homogeneous, atol=1e-12)
        twist = pin.getFrameVelocity(model, data, frame, pin.LOCAL).vector
        np.testing.assert_allclose(sim.link_twist(link), twist, atol=1e-11)
        J = pin.computeFrameJacobian(model, data, sim.q, frame, pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(sim.jacobian(link), J, atol=1e-12)


def test_mass_momenta_and_efforts(solo):
    sim, model, data = solo
    q, v = sim.q, sim.v
    M = pin.crba(model, data, q)
    np.testing.assert_allclose(sim.mass_matrix(), np.triu(M) + np.triu(M, 1).T, atol=1e-12)
    np.testing.assert_allclose(sim.centre_of_mass(), pin.centerOfMass(model, data, q), atol=1e-12)
    momentum = pin.computeCentroidalMomentum(model, data, q, v).vector
    np.testing.assert_allclose(sim.centroidal_momentum(), momentum, atol=1e-11)
    np.testing.assert_allclose(sim.gravity_effort(), pin.computeGeneralizedGravity(model, data, q), atol=1e-10)
    np.testing.assert_allclose(sim.nonlinear_effort(), pin.nonLinearEffects(model, data, q, v), atol=1e-10)


def test_a_foot_is_brought_to_where_it_can_be(solo):
    """Random reachable places: the pose that is found has the foot there, within the limits; the base stays."""
    model, rng = solo[0].model, np.random.default_rng(8)
    found = 0
    for _ in range(50):
        q = model.neutral.copy()
        q[2] = 0.3
        q[7:] = rng.uniform(-0.8, 0.8, 12)
        place = link_pose(model, q, "FL_FOOT")[:3, 3]
        start = q.copy()
        start[7:] += rng.uniform(-0.4, 0.4, 12)
        try:
            solution = inverse_kinematics(model, start, "FL_FOOT", place)
        except Unreachable:
            continue
        found += 1
        assert np.abs(link_pose(model, solution, "FL_FOOT")[:3, 3] - place).max() < 1e-6
        np.testing.assert_array_equal(solution[:7], q[:7])
    assert found >= 48


def test_a_hand_with_place_and_axes():
    model, rng = load_urdf("urdf/arm.urdf.xacro"), np.random.default_rng(4)
    link, worst = model.description.links[-1].name, 0
    for _ in range(30):
        q = np.clip(rng.uniform(-1, 1, model.nq), model.lower, model.upper)
        goal = link_pose(model, q, link)
        start = np.clip(q + rng.uniform(-0.3, 0.3, model.nq), model.lower, model.upper)
        try:
            solution = inverse_kinematics(model, start, link, goal[:3, 3], goal[:3, :3])
        except Unreachable:
            worst += 1
            continue
        np.testing.assert_allclose(link_pose(model, solution, link), goal, atol=1e-5)
        assert (solution >= model.lower).all() and (solution <= model.upper).all()
    assert worst <= 2


def test_what_is_out_of_reach_says_how_far():
    model = load_urdf("urdf/arm.urdf.xacro")
    link = model.description.links[-1].name
    with pytest.raises(Unreachable, match="does not get nearer than") as caught:
        inverse_kinematics(model, model.neutral, link, (0.0, 0.0, 9.0))
    assert caught.value.error > 5.0 and caught.value.q.shape == (model.nq,)
    with pytest.raises(ValueError, match="orthogonal"):
        inverse_kinematics(model, model.neutral, link, rotation=np.ones((3, 3)))
    with pytest.raises(ValueError, match="a position, a rotation, or both"):
        inverse_kinematics(model, model.neutral, link)
