# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How the feet share a wrench: minimum norm, and within friction cones against another solver."""

from __future__ import annotations

import numpy as np
import pytest
from balancing_bipeds import MIDDLE, UPRIGHT, balance, biped
from scipy.optimize import nnls

from mbsim_ros.control.balance.desired_wrench_kernel import F_W
from mbsim_ros.control.balance.wrench_distribution_kernel import RIDGE
from mbsim_ros.dynamics import link_pose
from mbsim_ros.sim.simulation import Simulation

FOOT_CENTRE = np.array([0.05325, 0.0, -0.02527])


def updated(set_point=MIDDLE, **parameters):
    sim = Simulation(biped())
    sim.reset("standing")
    controller = balance(biped(), position=set_point, rpy=(0.0, 0.0, 0.0) if set_point else (), **parameters)
    controller.update(0.0, sim.state())
    return sim, controller


def summed(sim, controller) -> np.ndarray:
    """The feet's wrenches together, at the centre of mass of the central body, in world axes."""
    total = np.zeros(6)
    for wrench, foot in zip(controller.foot_wrenches, ("left_foot", "right_foot"), strict=True):
        X = link_pose(biped(), sim.q, foot)
        arm = X[:3, 3] + X[:3, :3] @ FOOT_CENTRE - sim.q[:3]
        total[:3] += wrench[:3]
        total[3:] += wrench[3:] + np.cross(arm, wrench[:3])
    return total


@pytest.mark.parametrize("length", [1.0, 0.05])
def test_minimum_norm_gives_the_wrench_with_the_least_sum_of_squares(length):
    sim, controller = updated((0.02, 0.03, 1.1), norm_length=length)
    F = controller._result.report[F_W : F_W + 6]
    np.testing.assert_allclose(summed(sim, controller), F, atol=1e-9)
    blocks = []
    for foot in ("left_foot", "right_foot"):
        X = link_pose(biped(), sim.q, foot)
        x, y, z = X[:3, 3] + X[:3, :3] @ FOOT_CENTRE - sim.q[:3]
        G = np.eye(6)
        G[3:, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        blocks.append(G @ np.diag([1, 1, 1, length, length, length]))
    least = np.linalg.pinv(np.hstack(blocks)) @ F
    scale = np.array([1, 1, 1, length, length, length])
    np.testing.assert_allclose(controller.foot_wrenches.ravel(), np.tile(scale, 2) * least, atol=1e-8)


def test_a_wrench_that_the_ground_can_give_is_given():
    sim, controller = updated((), distribution="cones")  # holds the posture that it finds
    np.testing.assert_allclose(summed(sim, controller), controller._result.report[F_W : F_W + 6], atol=0.02)


def far_set_points():
    rng = np.random.default_rng(3)
    return [tuple(MIDDLE + rng.normal(size=3) * (0.3, 0.3, 0.05)) for _ in range(8)]


@pytest.mark.parametrize("set_point", far_set_points())
def test_cones_against_non_negative_least_squares(set_point):
    """Most of these ask for more than the ground can give."""
    _, controller = updated(set_point, distribution="cones")
    A = controller._work.A[:, :6].T
    weights = np.array([1.0, 1.0, 1.0, *(3 * [1.0 / controller.parameters.moment_arm])])
    F = weights * controller._result.report[F_W : F_W + 6]
    n = A.shape[1]
    rows = np.vstack([A / np.sqrt(RIDGE), np.eye(n)])
    expected, _ = nnls(rows, np.concatenate([F / np.sqrt(RIDGE), np.zeros(n)]), maxiter=5000)
    found = np.maximum(0.0, A.T @ controller._memory.y)
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, expected.max()))


@pytest.mark.parametrize("set_point", far_set_points())
def test_no_pull_no_slip_and_the_pressure_within_the_soles(set_point):
    sim, controller = updated(set_point, distribution="cones", friction=0.3, sole_margin=0.0)
    for wrench, foot in zip(controller.foot_wrenches, ("left_foot", "right_foot"), strict=True):
        X = link_pose(biped(), sim.q, foot)
        fx, fy, fz = wrench[:3]
        assert fz >= 0.0
        assert abs(fx) + abs(fy) <= 0.3 * fz * (1 + 1e-9) + 1e-9
        if fz > 1.0:
            moment = wrench[3:] + np.cross(X[:3, :3] @ (FOOT_CENTRE - [0.0, 0.0, -0.06]), wrench[:3])  # below the ankle
            cop = X[:3, :3].T @ np.array([-moment[1] / fz, moment[0] / fz, 0.0])
            assert -0.039 - 1e-3 <= cop[0] <= 0.175 + 1e-3
            assert abs(cop[1]) <= 0.05 + 1e-3


def test_the_search_is_the_same_every_time():
    runs = []
    for _ in range(2):
        sim, controller = updated((0.1, 0.1, 1.1), distribution="cones")
        controller.go_to((0.0, -0.2, 1.0), UPRIGHT, 0.0)
        controller.update(0.002, sim.state())
        runs.append(controller.foot_wrenches)
    assert (runs[0] == runs[1]).all()
