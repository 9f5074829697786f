# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The force law: unilateral, continuous, with derivatives that agree with differences and blocks that dissipate."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.contact.contact_kernel import add_point_block, contact_pass_into
from mbsim_ros.contact.law_kernel import friction_coefficient, next_deflection, normal_force, tangential_force
from mbsim_ros.contact.layout import PARAMETER_COLUMNS
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.contact.state import contact_state
from mbsim_ros.contact.terrain import inclined_plane
from mbsim_ros.dynamics.layout import P_WB, R_WB

K, B, FADE = 5e4, 600.0, 5e-4
RNG_SEED = 5
PARAMETERS = np.zeros(PARAMETER_COLUMNS)
PARAMETERS[:8] = K, B, K, B, 0.7, 0.5, 1e-3, FADE
BODIES, GEOMETRY = np.zeros(1, dtype=np.int64), np.zeros((1, 4))
for array in (PARAMETERS, BODIES, GEOMETRY):  # as the package makes them, so that the same kernel serves
    array.setflags(write=False)


def test_the_normal_force_never_pulls():
    rng = np.random.default_rng(RNG_SEED)
    for depth, rate in zip(rng.uniform(-2e-3, 2e-3, 500), rng.uniform(-3.0, 3.0, 500), strict=True):
        f, by_depth, by_rate = normal_force(PARAMETERS, depth, rate)
        assert f >= 0.0
        assert by_rate >= 0.0
        if depth <= 0.0:
            assert (f, by_depth, by_rate) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("rate", [-2.0, -0.1, 0.0, 0.1, 2.0])
def test_the_normal_force_is_continuous_in_depth(rate):
    depths = np.linspace(-FADE, 3.0 * FADE, 40_001)
    forces = np.array([normal_force(PARAMETERS, depth, rate)[0] for depth in depths])
    steepest = K + 1.5 * B * abs(rate) / FADE
    assert np.abs(np.diff(forces)).max() <= 1.001 * steepest * (depths[1] - depths[0])


def test_the_damper_is_whole_from_the_fade_depth_on():
    assert normal_force(PARAMETERS, FADE, 0.1)[0] == pytest.approx(K * FADE + 0.1 * B)
    assert normal_force(PARAMETERS, 1e-9, 5.0)[0] < 1e-3


def test_derivatives_of_the_normal_force_agree_with_differences():
    e = 1e-7
    for depth, rate in [(2e-4, 0.3), (2e-4, -0.05), (8e-4, 0.4), (3e-4, 0.0)]:
        _, by_depth, by_rate = normal_force(PARAMETERS, depth, rate)
        in_depth = (normal_force(PARAMETERS, depth + e, rate)[0] - normal_force(PARAMETERS, depth - e, rate)[0]) / (
            2 * e
        )
        in_rate = (normal_force(PARAMETERS, depth, rate + e)[0] - normal_force(PARAMETERS, depth, rate - e)[0]) / (
            2 * e
        )
        assert by_depth == pytest.approx(in_depth, rel=1e-5)
        assert by_rate == pytest.approx(in_rate, rel=1e-5)


def test_sticking_is_a_spring_at_the_middle_and_a_damper():
    h, s, v = 1e-3, np.array([1e-4, -2e-4, 0.0]), np.array([0.01, 0.02, 0.0])
    *force, along, across, slips = tangential_force(K, B, 1e6, h, *s, *v)
    np.testing.assert_allclose(force, -K * (s + 0.5 * h * v) - B * v, rtol=1e-14)
    assert (along, across, slips) == (0.5 * h * K + B, 0.5 * h * K + B, False)


def test_the_clipped_force_has_the_size_of_the_friction_and_opposes_the_sliding():
    *force, along, across, slips = tangential_force(K, B, 20.0, 1e-3, 0.0, 0.0, 0.0, 3.0, 4.0, 0.0)
    np.testing.assert_allclose(force, [-12.0, -16.0, 0.0], rtol=1e-14)
    assert slips
    assert along == 0.0
    assert across > 0.0


def test_the_deflection_holds_no_more_than_the_friction():
    s = np.array(next_deflection(K, 20.0, 1e-3, 1e-4, 0.0, 0.0, 3.0, 4.0, 0.0))
    assert K * np.linalg.norm(s) == pytest.approx(20.0)
    np.testing.assert_allclose(next_deflection(K, 1e9, 1e-3, 1e-4, 0.0, 0.0, 3.0, 4.0, 0.0), [3.1e-3, 4e-3, 0.0])


def test_only_the_friction_depends_on_the_mode():
    static = [mode for mode in ContactMode if friction_coefficient(int(mode), 0.7, 0.5) == 0.7]
    assert static == [ContactMode.SLIDING_TO_STICKING, ContactMode.STICKING]


def evaluate(twist, *, full, mode=ContactMode.STICKING, h=1e-3, height=-4e-4, deflection=(1e-4, 5e-5, 0.0)):
    """Wrench, C and place of one point of a body somewhere in an inclined plane."""
    ground = inclined_plane((0.0, 0.0, 0.0), (0.2, -0.1, 1.0))
    state = contact_state(1)
    state.modes[0] = mode
    state.deflections[0] = deflection
    rows, wrench = np.zeros((2, 64)), np.zeros((1, 6))
    rows[1, R_WB : R_WB + 9] = np.eye(3).ravel()
    # the pose at the middle of the step follows the mean velocity
    arm = np.array([0.3, -0.2, 0.0])
    arm[2] = -(0.2 * arm[0] - 0.1 * arm[1]) + height
    point_velocity = twist[:3] + np.cross(twist[3:], arm)
    rows[1, P_WB : P_WB + 3] = arm + 0.5 * h * point_velocity
    spatial = np.concatenate([point_velocity - np.cross(twist[3:], rows[1, P_WB : P_WB + 3]), twist[3:]])
    contact_pass_into(
        BODIES, GEOMETRY, ground.kind, ground.data, ground.grid, PARAMETERS[None], state.modes,
        state.deflections, rows, spatial[None], h, full, wrench, state.results, state.blocks, state.active,
    )  # fmt: skip
    return state.results[0, 4:7].copy(), state.blocks[0].reshape(3, 3).copy(), wrench[0], state.results[0, 7:10].copy()


@pytest.mark.parametrize("speed", [1e-3, 0.3])
@pytest.mark.parametrize("mode", [ContactMode.SLIDING, ContactMode.STICKING])
def test_the_full_block_is_the_derivative_of_the_force(mode, speed):
    twist = np.array([speed, -0.7 * speed, 0.02, 0.0, 0.0, 0.0])
    _, C, _, _ = evaluate(twist, full=True, mode=mode)
    e = 1e-6
    difference = np.empty((3, 3))
    for k in range(3):
        up, down = twist.copy(), twist.copy()
        up[k] += e
        down[k] -= e
        difference[:, k] = -(evaluate(up, full=True, mode=mode)[0] - evaluate(down, full=True, mode=mode)[0]) / (2 * e)
    np.testing.assert_allclose(C, difference, atol=2e-6 * np.abs(C).max())


def test_the_block_for_the_factorisation_is_symmetric_and_positive_semidefinite():
    rng = np.random.default_rng(RNG_SEED)
    for _ in range(300):
        _, C, _, _ = evaluate(
            np.concatenate([rng.normal(size=3) * 10.0 ** rng.uniform(-4, 1), rng.normal(size=3)]),
            full=False, mode=int(rng.integers(1, 7)), height=-rng.uniform(0.0, 2e-3), deflection=1e-4 * rng.normal(size=3),
        )  # fmt: skip
        np.testing.assert_allclose(C, C.T, atol=1e-12 * np.abs(C).max())
        assert np.linalg.eigvalsh(C).min() >= -1e-10 * max(1.0, np.abs(C).max())


def test_the_wrench_is_that_of_the_force_where_it_acts():
    force, _, wrench, place = evaluate(np.array([0.1, 0.0, 0.0, 0.4, -0.3, 1.0]), full=False)
    np.testing.assert_allclose(wrench, np.concatenate([force, np.cross(place, force)]), rtol=1e-14)


def test_a_point_block_is_carried_to_the_twist_of_the_body():
    rng = np.random.default_rng(RNG_SEED)
    C, (x, y, z) = rng.normal(size=(3, 3)), rng.normal(size=3)
    J = np.hstack([np.eye(3), -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])])
    matrix = np.ones((6, 6))
    add_point_block(C.ravel(), x, y, z, 0.3, matrix)
    np.testing.assert_allclose(matrix, 1.0 + 0.3 * J.T @ C @ J, atol=1e-13)
