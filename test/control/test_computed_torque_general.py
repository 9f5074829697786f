# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Computed torque beyond diagonal gains on a fixed base: full matrices, trajectories that come, feet on the ground."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.control import ComputedTorque, ComputedTorqueParameters, RobotState
from mbsim_ros.control.joints.joint_trajectory import Goal
from mbsim_ros.dynamics import forward_dynamics

ROOT = Path(__file__).resolve().parents[2]
FEET = "front_left_foot front_right_foot hind_left_foot hind_right_foot"


@pytest.fixture(scope="module")
def arm():
    return load_urdf(ROOT / "urdf/arm.urdf.xacro")


def test_full_matrices_are_in_the_law(arm):
    """ë + K_v ė + K_p e = 0 with errors that pull on each other's joints, W A.9."""
    rng, n = np.random.default_rng(8), arm.nv
    A, B = rng.normal(size=(2, n, n))
    kp, kv = 40.0 * np.eye(n) + A @ A.T, 15.0 * np.eye(n) + B @ B.T
    wanted = tuple(0.1 * rng.normal(size=n))
    parameters = ComputedTorqueParameters(position=wanted, kp_matrix=tuple(kp.ravel()), kv_matrix=tuple(kv.ravel()))
    q, v = 0.3 * rng.normal(size=(2, n))
    tau = ComputedTorque(arm, parameters).update(0.0, RobotState(0, q, v)).effort
    a = forward_dynamics(arm, q, v, tau - arm.damping * v)
    np.testing.assert_allclose(a, -kv @ v - kp @ (q - wanted), rtol=1e-9)
    plain = ComputedTorque(arm, ComputedTorqueParameters(position=wanted)).update(0.0, RobotState(0, q, v)).effort
    diagonal = ComputedTorqueParameters(position=wanted, kp_matrix=tuple(100.0 * np.eye(n).ravel()))
    np.testing.assert_allclose(ComputedTorque(arm, diagonal).update(0.0, RobotState(0, q, v)).effort, plain, rtol=1e-12)


def test_gains_that_let_the_error_grow_are_refused(arm):
    n = arm.nv
    with pytest.raises(ValueError, match="kv_matrix: expected 36 numbers"):
        ComputedTorque(arm, ComputedTorqueParameters(kv_matrix=(1.0, 2.0)))
    with pytest.raises(ValueError, match="the error would grow"):
        ComputedTorque(arm, ComputedTorqueParameters(kp_matrix=tuple((-np.eye(n)).ravel())))


def test_a_trajectory_that_comes_is_followed_and_the_others_hold(arm):
    sim = Simulation(arm, dt=1e-3)
    controller = ComputedTorque(arm, ComputedTorqueParameters(effort_held_for=1e-3))
    sim.run(0.1, controller)
    start = sim.q
    points = np.array([[0.2, -0.1], [0.4, 0.1]])
    controller.follow(
        Goal(["elbow", "waist"], np.array([0.3, 0.6]), points, np.array([[0.5, 0.4], [0.0, 0.0]]), np.zeros((2, 2)))
    )
    sim.run(0.3, controller)
    elbow, waist = (arm.joint(name).iv for name in ("elbow", "waist"))
    np.testing.assert_allclose(sim.q[[elbow, waist]], points[0], atol=1e-5)
    np.testing.assert_allclose(sim.v[[elbow, waist]], [0.5, 0.4], atol=1e-3)
    sim.run(0.5, controller)
    np.testing.assert_allclose(sim.q[[elbow, waist]], points[1], atol=1e-5)
    others = [k for k in range(arm.nv) if k not in (elbow, waist)]
    np.testing.assert_allclose(sim.q[others], start[others], atol=1e-4)
    with pytest.raises(ValueError, match="no joint named 'knee'"):
        controller.follow(Goal(["knee"], np.array([1.0]), np.zeros((1, 1))))


def test_a_dog_squats_on_its_feet():
    """Feet stay where they stand, knees follow a sine, and the trunk goes up and down with them."""
    sim = Simulation(ROOT / "examples/dog.urdf.xacro", dt=1e-3, terrain="flat")
    sim.hold()
    sim.advance(500)  # it stands
    sim.release_drives()
    feet = [sim.link_pose(foot)[:3, 3] for foot in FEET.split()]
    knees = [0.15 if "knee" in name else -0.075 for name in sim.model.joint_names]
    controller = ComputedTorque(
        sim.model,
        ComputedTorqueParameters(
            trajectory="sine", amplitude=tuple(knees), frequency=(1.0,), ramp=0.5, feet=FEET, kp=(400.0,), kv=(40.0,)
        ),
    )
    recording = sim.run(2.0, controller, control_period=2e-3, record=("q", "v"))
    wanted = np.array([controller._trajectory.at(t).position for t in recording.seconds - recording.seconds[0]])
    error = np.abs(recording.q[:, 7:] - wanted)[500:]
    assert error.max() < 0.02  # of 0.15
    assert np.ptp(recording.q[1000:, 2]) > 0.02  # the trunk
    assert all(
        np.linalg.norm(sim.link_pose(foot)[:3, 3] - place) < 5e-3
        for foot, place in zip(FEET.split(), feet, strict=True)
    )


def test_a_floating_base_needs_feet_that_exist():
    dog = load_urdf(ROOT / "examples/dog.urdf.xacro")
    with pytest.raises(ValueError, match="feet: no link named 'paw'"):
        ComputedTorque(dog, ComputedTorqueParameters(feet="paw"))
    with pytest.raises(ValueError, match="effort_held_for: expected 0"):
        ComputedTorque(dog, ComputedTorqueParameters(effort_held_for=1e-3))


def test_in_flight_joints_obey_the_law_and_the_base_falls():
    """Without contact nothing but the joints' own law is left: accelerations of joints are those of W A.9."""
    dog = load_urdf(ROOT / "examples/dog.urdf.xacro")
    rng = np.random.default_rng(3)
    q, v = dog.neutral.copy(), 0.3 * rng.normal(size=dog.nv)
    q[7:] += 0.2 * rng.normal(size=dog.nv - 6)
    controller = ComputedTorque(dog, ComputedTorqueParameters(feet=FEET, position=(0.1,), kp=(50.0,), kv=(9.0,)))
    state = RobotState(0, q, v, is_floating=True, contact_links=(), contact_values=np.zeros((0, 6)))
    tau = controller.update(0.0, state).effort
    a = forward_dynamics(dog, q, v, np.concatenate([np.zeros(6), tau - dog.damping[6:] * v[6:]]))
    np.testing.assert_allclose(a[6:], -9.0 * v[6:] - 50.0 * (q[7:] - 0.1), rtol=1e-6, atol=1e-6)
