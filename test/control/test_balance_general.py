# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Balance with set points that move, and full gain matrices."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from balancing_bipeds import CONTROL_PERIOD, MIDDLE, balance, biped, standing, turn_in_degrees

from mbsim_ros import load_urdf
from mbsim_ros.bench.cases import robots_folder
from mbsim_ros.control import RobotState
from mbsim_ros.control.balance.desired_wrench_kernel import POSITION, PUSH, QUATERNION, TURN, TURN_RATE, VELOCITY
from mbsim_ros.control.balance.pose_trajectory import GOES_ON, PosePoints, PoseTrajectory
from mbsim_ros.lie import quaternion
from mbsim_ros.sim import Simulation

ROBOTS = robots_folder()


def some_points(rng, k=3):
    turns = np.array([quaternion.exp(0.4 * rng.normal(size=3)) for _ in range(k)])
    return PosePoints(np.linspace(0.5, 1.5, k), rng.normal(size=(k, 3)), turns, *rng.normal(size=(2, k, 6)))


def test_a_trajectory_has_what_its_points_say_and_the_derivatives_that_it_says():
    rng = np.random.default_rng(6)
    points, start = some_points(rng), np.zeros(19)
    start[QUATERNION], start[TURN : TURN + 3] = 1.0, (0.1, -0.2, 0.3)
    trajectory = PoseTrajectory(points, 10.0, start)
    np.testing.assert_allclose(trajectory.at(10.0), start, atol=1e-8)
    for k, time in enumerate(points.times[:-1]):
        found = trajectory.at(10.0 + time)
        np.testing.assert_allclose(found[POSITION : POSITION + 3], points.places[k], atol=1e-9)
        assert abs(abs(found[QUATERNION : QUATERNION + 4] @ points.turns[k]) - 1.0) < 1e-12
        for linear, angular, given in ((VELOCITY, TURN, points.velocities), (PUSH, TURN_RATE, points.accelerations)):
            np.testing.assert_allclose(
                [*found[linear : linear + 3], *found[angular : angular + 3]], given[k], atol=1e-6
            )
    h = 1e-5
    for t in (10.2, 10.7, 11.1, 11.3):
        before, now, after = (trajectory.at(t + s).copy() for s in (-h, 0.0, h))
        np.testing.assert_allclose((after - before)[:3] / (2 * h), now[VELOCITY : VELOCITY + 3], atol=1e-6)
        np.testing.assert_allclose((after - before)[3:6] / (2 * h), now[PUSH : PUSH + 3], atol=1e-5)
        R = [quaternion.to_matrix(each[QUATERNION : QUATERNION + 4]) for each in (before, after)]
        turn = quaternion.log(quaternion.from_matrix(R[1] @ R[0].T)) / (2 * h)
        np.testing.assert_allclose(turn, now[TURN : TURN + 3], atol=1e-6)
        np.testing.assert_allclose((after - before)[TURN : TURN + 3] / (2 * h), now[TURN_RATE:], atol=1e-5)


def test_a_point_that_is_sent_alone_goes_on_for_a_while():
    point = PosePoints(
        np.zeros(1), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.array([[0.2, 0, 0, 0, 0, 0.5]]), np.zeros((1, 6))
    )
    trajectory = PoseTrajectory(point, 1.0, np.zeros(19))
    assert trajectory.at(1.05)[0] == pytest.approx(0.01) and trajectory.at(1.05)[VELOCITY] == 0.2
    end = trajectory.at(2.0)
    assert trajectory.is_over(2.0) and end[0] == pytest.approx(0.2 * GOES_ON) and not end[VELOCITY : VELOCITY + 3].any()
    assert trajectory.goal[0][0] == pytest.approx(0.2 * GOES_ON)


def test_the_biped_goes_through_poses():
    """Down, sideways and back, to a fraction of a millimetre, with the speed that is asked for on the way."""
    sim, controller = standing()
    sim.run(0.5, controller, control_period=CONTROL_PERIOD)
    x, y, z = MIDDLE
    places, still = np.array([[x, y + 0.005, z - 0.01], [x, y, z - 0.02]]), np.zeros((2, 6))
    moving = still.copy()
    moving[0, 1] = -0.01
    turns = np.tile([1.0, 0, 0, 0], (2, 1))
    controller.follow(PosePoints(np.array([0.8, 1.6]), places, turns, moving, still))
    sim.run(0.8, controller, control_period=CONTROL_PERIOD)
    assert np.abs(controller.position_error).max() < 2e-4
    centre = sim.jacobian("base_link")[:2] @ sim.v
    assert centre[1] == pytest.approx(-0.01, abs=2e-3)
    sim.run(1.2, controller, control_period=CONTROL_PERIOD)
    np.testing.assert_allclose(controller.set_point[0], places[1])
    assert np.abs(controller.position_error).max() < 2e-5


def test_full_matrices_are_in_the_wanted_acceleration():
    """W (4.14) and (4.24) at a state at rest: X is −K_p of the errors, whatever its axes."""
    sim = Simulation(biped())
    sim.reset("standing")
    rng = np.random.default_rng(2)
    A = rng.normal(size=(3, 3))
    kp = 30.0 * np.eye(3) + 5.0 * A @ A.T
    state = RobotState(0, sim.q, np.zeros(sim.model.nv), is_floating=True)
    first = balance(biped())
    first.update(0.0, state)
    place = first.set_point[0]
    wanted = place - np.array([0.004, -0.003, 0.02])  # below: legs bend
    rpy = (0.01, -0.02, 0.015)
    gains = {"position_kp_matrix": tuple(kp.ravel()), "orientation_kp_matrix": tuple(kp.ravel())}
    controller = balance(biped(), position=tuple(wanted), rpy=rpy, **gains)
    controller.update(0.0, state)
    R = sim.link_pose("base_link")[:3, :3]
    found = controller.desired_acceleration
    np.testing.assert_allclose(R @ found[:3], -kp @ controller.position_error, atol=1e-9)
    np.testing.assert_allclose(R @ found[3:], -kp @ controller.orientation_error[1:], atol=1e-9)
    plain = balance(biped(), position=tuple(wanted), rpy=rpy)
    same = balance(biped(), position=tuple(wanted), rpy=rpy, position_kp_matrix=(50, 0, 0, 0, 50, 0, 0, 0, 200))
    assert plain.update(0.0, state).effort.tobytes() == same.update(0.0, state).effort.tobytes()
    with pytest.raises(ValueError, match="orientation_kv_matrix: expected no direction that pushes away"):
        balance(biped(), orientation_kv_matrix=(1, 0, 0, 0, -1, 0, 0, 0, 1))


@pytest.mark.skipif(ROBOTS is None, reason="example-robot-data is not installed")
def test_a_robot_on_four_small_feet_goes_to_a_pose():
    """Legs of three joints: feet are pinned and give forces only. Its joints have friction, which leaves an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        go2 = load_urdf(next(path for path in ROBOTS.rglob("*.urdf") if path.stem == "go2"), "floating")
        sim = Simulation(go2, dt=1e-3, terrain="flat", contact={"friction": 0.8})
    angles = {"hip": 0.0, "thigh": 0.8, "calf": -1.5}
    sim.reset({name: angles[name.split("_")[1]] for name in go2.joint_names})
    sim.hold()
    sim.advance(300)
    sim.release_drives()
    controller = balance(go2, central_link="base", feet="FL_foot FR_foot RL_foot RR_foot", friction=0.6)
    sim.run(0.2, controller, control_period=CONTROL_PERIOD)
    goal = controller.set_point[0] + (0.01, 0.02, -0.04)
    controller.go_to(goal, quaternion.exp((0.1, 0.1, 0.1)), 0.5)
    sim.run(1.3, controller, control_period=CONTROL_PERIOD)
    assert controller.standing.all() and not controller.has_fallen
    assert np.abs(controller.position_error).max() < 6e-3 and turn_in_degrees(controller) < 4.0
    forces = controller.foot_wrenches[:, :3]
    assert (forces[:, 2] > 10.0).all() and forces[:, 2].sum() == pytest.approx(9.81 * go2.mass, rel=0.15)
    assert (np.linalg.norm(forces[:, :2], axis=1) < 0.6 * 2**0.5 * forces[:, 2]).all()


def test_messages_become_points_and_goals():
    messages = pytest.importorskip("trajectory_msgs.msg")
    from builtin_interfaces.msg import Duration
    from geometry_msgs.msg import Transform, Twist

    from mbsim_ros.nodes.controllers.trajectory_messages import joint_goal, pose_points

    point = messages.MultiDOFJointTrajectoryPoint(time_from_start=Duration(sec=1, nanosec=500_000_000))
    transform, twist = Transform(), Twist()
    transform.translation.z, transform.rotation.w, twist.angular.z = 1.1, 2.0, 0.3
    point.transforms, point.velocities = [transform], [twist]
    found = pose_points(messages.MultiDOFJointTrajectory(joint_names=["base_link"], points=[point]))
    assert found.times.tolist() == [1.5] and found.places.tolist() == [[0, 0, 1.1]] and found.start is None
    assert found.turns.tolist() == [[1, 0, 0, 0]] and found.velocities.tolist() == [[0, 0, 0, 0, 0, 0.3]]
    with pytest.raises(ValueError, match=r"points\[0\].transforms: expected one"):
        pose_points(messages.MultiDOFJointTrajectory(points=[messages.MultiDOFJointTrajectoryPoint()]))
    joints = messages.JointTrajectory(joint_names=["a", "b"])
    joints.points = [messages.JointTrajectoryPoint(positions=[1.0, 2.0], time_from_start=Duration(sec=2))]
    goal = joint_goal(joints)
    assert goal.times.tolist() == [2.0] and goal.positions.tolist() == [[1.0, 2.0]] and goal.velocities is None
