# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The balance controller at single states: numbers of the thesis, power, raised feet, limits, bad parameters."""

from __future__ import annotations

import numpy as np
import pytest
from balancing_bipeds import EXPERIMENT_1, MIDDLE, REFERENCE, UPRIGHT, W_TO_OURS, balance, biped, biped_and_block

from mbsim_ros.control.balance.desired_wrench_kernel import QUATERNION, TURN
from mbsim_ros.control.balance.workspace_balance import WorkspaceBalanceParameters
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics import forward_dynamics, frame_jacobian, inverse_dynamics, link_pose
from mbsim_ros.lie import quaternion, se3, so3
from mbsim_ros.model.model import CENTRE
from mbsim_ros.sim.simulation import Simulation


def published() -> RobotState:
    sim = Simulation(biped())
    sim.reset("home")
    return RobotState(0, sim.q, sim.v)


def test_the_model_is_that_of_the_thesis():
    """Forward dynamics of the reference case, whose frame is ours turned by half a turn about z."""
    model, case = biped(), REFERENCE["forward_dynamics_case"]
    w, x, y, z = case["q"]
    turn = np.array([y, -x, w, -z])  # (x y z w) of q · (0, 0, 0, 1)
    R = 2 * np.outer(turn[:3], turn[:3]) + np.eye(3) * (turn[3] ** 2 - turn[:3] @ turn[:3])
    R += 2 * turn[3] * np.array([[0, -turn[2], turn[1]], [turn[2], 0, -turn[0]], [-turn[1], turn[0], 0]])
    half = np.diag([-1.0, -1.0, 1.0])
    q = np.concatenate([case["p"], turn, case["th"]])
    v = np.concatenate([R.T @ case["v_spatial"], half @ case["w_body"], case["thd"]])
    a = forward_dynamics(model, q, v, np.concatenate([np.zeros(6), case["tau"]]))
    np.testing.assert_allclose(W_TO_OURS @ a[:6], case["Vdot1_body_v_w"], rtol=1e-8)
    np.testing.assert_allclose(a[6:], case["thdd"], rtol=1e-8)


def test_wrench_and_torques_at_the_stated_initial_state():
    controller = balance(biped(), **EXPERIMENT_1)
    command = controller.update(0.0, published())
    expected = REFERENCE["desired_wrench_at_stated_initial_state"]
    np.testing.assert_allclose(W_TO_OURS @ controller.desired_wrench, expected["F_body"], atol=1e-6)
    np.testing.assert_allclose(command.effort, expected["tau"], atol=1e-6)


def test_power_of_the_torques_is_that_of_the_wrench():
    """W Algorithm 4.6: with the feet at rest the legs pass all power on to the body, τ·θ̇ = F·V₁."""
    model, rng = biped(), np.random.default_rng(7)
    state = published()
    twist = rng.normal(size=6)
    v = np.zeros(model.nv)
    v[:6] = twist
    for foot, own in (("left_foot", slice(6, 12)), ("right_foot", slice(12, 18))):
        J = frame_jacobian(model, state.q, foot)
        v[own] = -np.linalg.solve(J[:, own], J[:, :6] @ twist)
    controller = balance(model, **EXPERIMENT_1)
    command = controller.update(0.0, RobotState(0, state.q, v))
    power = command.effort @ v[6:]
    assert abs(power - controller.desired_wrench @ twist) <= 1e-12 * np.abs(command.effort * v[6:]).sum()


@pytest.mark.parametrize("seed", range(4))
def test_errors_of_a_body_that_turns_obey_the_law(seed):
    """W (4.14), (4.26): a body with V̇ = X has ë = −K_v ė − K_p e, ω̇_e = −K_v ω_e − K_p q_e, all by differences.

    Body and set point both turn and travel: else ω × ṗ of (4.12) and ω × ω_t of (4.24) vanish.
    """
    rng, state, small = np.random.default_rng(seed), published(), 1e-4
    v = state.v.copy()
    v[:6] = rng.normal(size=6)
    gains = {
        "position_kp": (50.0, 40.0, 30.0), "position_kv": (5.0, 6.0, 7.0), "orientation_kp": (60.0, 50.0, 40.0),
        "orientation_kv": (8.0, 6.0, 5.0),
    }  # fmt: skip
    controller = balance(
        biped(), **EXPERIMENT_1, **gains, support="assumed", move_time=1.0, swing=(0.01, -0.02, 0.015),
        swing_turn=(0.2, -0.3, 0.25), swing_frequency=0.8,
    )  # fmt: skip
    controller.update(0.0, RobotState(0, state.q, v))
    controller.update(0.4, RobotState(0, state.q, v))
    X = controller.desired_acceleration
    centre = biped().constants[0, CENTRE : CENTRE + 3]
    R = link_pose(biped(), state.q, "base_link")[:3, :3]
    start = se3.pose(R, state.q[:3] + R @ centre)
    V = np.concatenate([v[:3] + np.cross(v[3:6], centre), v[3:6]])

    def errors(t):
        """Of position, of orientation and of the rate of turning, at t after the update, in the world."""
        pose, goal = start @ se3.exp(t * V + 0.5 * t * t * X), controller._motion.at(0.4 + t).copy()
        R_d = quaternion.to_matrix(goal[QUATERNION : QUATERNION + 4])
        R_e = pose[:3, :3] @ R_d.T
        turn = so3.log(R_e)
        angle = np.linalg.norm(turn)
        rate = pose[:3, :3] @ (V + t * X)[3:] - R_e @ goal[TURN : TURN + 3]
        return pose[:3, 3] - goal[:3], np.sin(0.5 * angle) * turn / angle, rate

    before, here, after = errors(-small), errors(0.0), errors(small)
    e_rate, e_acceleration = (after[0] - before[0]) / (2 * small), (after[0] - 2 * here[0] + before[0]) / small**2
    wanted = -np.array(gains["position_kv"]) * e_rate - np.array(gains["position_kp"]) * here[0]
    np.testing.assert_allclose(e_acceleration, wanted, atol=1e-5)
    wanted = -np.array(gains["orientation_kv"]) * here[2] - np.array(gains["orientation_kp"]) * here[1]
    np.testing.assert_allclose((after[2] - before[2]) / (2 * small), wanted, atol=1e-5)


def raised(height: float) -> RobotState:
    """The right foot is lifted, the left one stays."""
    sim = Simulation(biped())
    sim.reset("standing")
    q = sim.q
    q[model_index("right_hip_y")] += 0.4
    q[model_index("right_knee")] -= 0.8
    q[model_index("right_ankle_y")] += 0.4
    assert link_pose(biped(), q, "right_foot")[2, 3] > 0.06 + height
    return RobotState(0, q, np.zeros(biped().nv))


def model_index(joint: str) -> int:
    return biped().joint(joint).iq


def test_a_raised_foot_carries_nothing_and_its_leg_is_held():
    """At rest on one foot: the ground's wrench and the efforts balance all weights, whatever the set point wants."""
    model, state = biped(), raised(0.02)
    controller = balance(model)  # holds the pose that it finds: no acceleration is wanted
    command = controller.update(0.0, state)
    assert controller.standing.tolist() == [True, False]
    assert (controller.foot_wrenches[1] == 0.0).all()
    # What the ground must give for rest follows from the rows of the base; the joints' rows are then the efforts.
    weights = inverse_dynamics(model, state.q, state.v, np.zeros(model.nv))
    J = frame_jacobian(model, state.q, "left_foot")
    ground = np.linalg.solve(J[:, :6].T, weights[:6])
    np.testing.assert_allclose(command.effort, weights[6:] - J[:, 6:].T @ ground, atol=1e-3)  # big base: 1e-6 of it


def test_without_a_foot_on_the_ground_it_falls_without_effort():
    state = published()
    state.q[2] += 0.5
    controller = balance(biped())
    command = controller.update(0.0, state)
    assert not controller.standing.any()
    np.testing.assert_allclose(controller.desired_wrench, 0.0, atol=1e-9)
    np.testing.assert_allclose(command.effort, 0.0, atol=1e-9)
    a = forward_dynamics(biped(), state.q, state.v, np.concatenate([np.zeros(6), command.effort]))
    np.testing.assert_allclose(a[6:], 0.0, atol=1e-6)


def test_assumed_support_is_the_published_controller_also_in_the_air():
    state = published()
    state.q[2] += 0.5
    controller = balance(biped(), support="assumed")
    controller.update(0.0, state)
    assert controller.standing.all() and controller.desired_wrench[2] > 500.0


def test_efforts_stay_within_the_limits_of_the_joints():
    controller = balance(biped(), position=(0.5, 0.5, 2.0), rpy=(0.5, 0.0, 0.0))
    command = controller.update(0.0, published())
    limits = biped().effort_limit[6:]
    assert (np.abs(command.effort) <= limits).all() and (np.abs(command.effort) == limits).any()


def test_it_gives_up_when_it_has_fallen_and_begins_again_after_a_reset():
    controller = balance(biped(), position=MIDDLE, rpy=(0.0, 0.0, 0.0))
    state = published()
    state.q[3:7] = (0.0, np.sin(0.6), 0.0, np.cos(0.6))  # 1.2 rad
    controller.update(0.0, state)
    assert controller.has_fallen and not controller.standing.any()
    controller.update(0.002, published())
    assert controller.has_fallen
    controller.reset()
    controller.update(0.004, published())
    assert not controller.has_fallen and controller.standing.all()


def test_the_block_is_no_part_of_the_robot():
    """Where it is, and how fast, changes nothing."""
    biped_of_scene = Simulation(biped_and_block()).entity("biped")
    alone, with_block = balance(biped(), **EXPERIMENT_1), balance(biped_of_scene.model, **EXPERIMENT_1)
    expected = alone.update(0.0, published())
    command = with_block.update(0.0, biped_of_scene.state())
    assert command.names == expected.names
    np.testing.assert_array_equal(command.effort, expected.effort)


def test_a_motion_has_the_derivatives_that_it_says():
    controller = balance(
        biped(), position=MIDDLE, rpy=(0.1, 0.2, -0.3), move_time=1.0, swing=(0.01, 0.02, 0.03),
        swing_turn=(0.1, -0.2, 0.05), swing_frequency=0.7,
    )  # fmt: skip
    controller.update(0.0, published())
    h = 1e-5
    for t in (0.3, 0.8, 1.9):
        before, here, after = (controller._motion.at(t + s).copy() for s in (-h, 0.0, h))
        np.testing.assert_allclose(here[3:6], (after[:3] - before[:3]) / (2 * h), atol=1e-6)
        np.testing.assert_allclose(here[6:9], (after[3:6] - before[3:6]) / (2 * h), atol=1e-6)
        w0, x0, y0, z0 = here[9:13]
        dw, *dv = (after[9:13] - before[9:13]) / (2 * h)
        spin = 2 * (w0 * np.array(dv) - dw * np.array([x0, y0, z0]) + np.cross([x0, y0, z0], dv))  # 2 q̇ conj(q)
        np.testing.assert_allclose(here[13:16], spin, atol=1e-6)
        np.testing.assert_allclose(here[16:19], (after[13:16] - before[13:16]) / (2 * h), atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"central_link": "torso"}, "central_link: no link named 'torso'"),
        ({"central_link": "left_foot"}, "central_link: expected a link that moves freely"),
        ({"feet": "left_foot left_shin"}, "shares one with another"),
        ({"feet": ""}, "feet: expected the names of links"),
        ({"feet": "base_link"}, "feet: expected links that joints connect"),
    ],
)
def test_a_robot_that_does_not_fit_is_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        balance(biped(), **parameters)


def test_parameters_out_of_range_are_refused():
    with pytest.raises(ValueError, match="position_kp: expected three numbers, got 1"):
        WorkspaceBalanceParameters(position_kp=(50.0,))
    with pytest.raises(ValueError, match="workspace: expected one of"):
        WorkspaceBalanceParameters(workspace="big")
    with pytest.raises(ValueError, match="position: expected three finite numbers"):
        balance(biped()).go_to((0.0, 0.0, np.nan), UPRIGHT)
