# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Coupled accelerations against N's walker and against Pinocchio projected with the same D."""

from __future__ import annotations

import numpy as np
import pytest
from kinematics_oracle import build_twin, pin, with_pinocchio
from nelson_walker_cases import base_acceleration, cases, five_motors, seventeen_motors, state, walker
from random_couplings import ROBOTS, random_case, robot

from mbsim_ros.bench.states import random_configuration
from mbsim_ros.coupling import couple, coupled_forward_dynamics, coupled_mass_matrix, identity
from mbsim_ros.coupling.coupled_dynamics import tree_mass_matrix
from mbsim_ros.coupling.reduction_kernel import (
    expand_vector_into,
    factorise_dense_in_place,
    reduce_matrix_into,
    reduce_vector_into,
    solve_dense_in_place,
)
from mbsim_ros.dynamics import forward_dynamics
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.problems import UrdfWarning


@pytest.mark.parametrize("coupled", [True, False])
def test_accelerations_of_nelson_and_quinn(coupled):
    case = cases()[coupled]
    q, v = state(case)
    configuration = couple(walker(), five_motors() if coupled else seventeen_motors())
    D = configuration.D
    u = np.linalg.lstsq(D, v, rcond=None)[0]
    np.testing.assert_allclose(configuration.expand(u), v, atol=1e-13)  # the rates of the case obey the coupling
    a = coupled_forward_dynamics(walker(), configuration, q, u, motor=case["tau"])
    ours = np.concatenate([base_acceleration(case, v, configuration.expand(a)), a[6:]])
    expected = np.array(case["acc_[R,euler,joints]"])
    assert np.abs(ours - expected).max() <= 1e-9


@with_pinocchio
@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "mixed"])
@pytest.mark.parametrize("seed", range(6))
def test_against_pinocchio_projected_with_the_same_matrix(name, seed):
    model, configuration, q, u = random_case(name, seed)
    twin = build_twin(model)
    data = twin.createData()
    rng = np.random.default_rng(seed + 100)
    motor, tau = rng.normal(size=configuration.nu), rng.normal(size=model.nv)
    D, q_pin = configuration.D, model.q_to_pinocchio(q)
    v_tree = D @ u
    M = np.array(pin.crba(twin, data, q_pin))
    M = np.triu(M) + np.triu(M, 1).T
    bias = pin.nonLinearEffects(twin, data, q_pin, v_tree)
    on_tree = np.zeros(len(D))
    on_tree[configuration.own_dofs] = tau
    M_u = D.T @ M @ D + np.diag(configuration.rotor_inertia)
    expected = np.linalg.solve(M_u, motor + D.T @ (on_tree - bias))
    ours = coupled_forward_dynamics(model, configuration, q, u, motor, tau)
    np.testing.assert_allclose(coupled_mass_matrix(model, configuration, q), M_u, atol=1e-12 * np.abs(M_u).max())
    assert np.abs(ours - expected).max() <= 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(3))
def test_without_couplings_it_is_forward_dynamics(name, seed):
    model = robot(name, seed)
    rng = np.random.default_rng(seed)
    q, u, tau = random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    configuration = identity(model)
    gravity = (1.0, -2.0, 3.0)
    a = coupled_forward_dynamics(model, configuration, q, u, tau=tau, gravity=gravity)
    expected = forward_dynamics(model, q, configuration.velocities(u), tau, gravity=gravity)
    assert np.abs(configuration.velocities(a) - expected).max() <= 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_reduction_reads_only_the_pattern_of_the_tree(name):
    model, configuration, q, _ = random_case(name, 7)
    M, D = tree_mass_matrix(model, q), configuration.D
    expected = D.T @ M @ D
    spoilt = np.full_like(M, np.nan)
    for i in range(len(M)):
        j = i
        while j >= 0:
            spoilt[i, j] = M[i, j]
            j = model.dof_parent[j]
    M_u = np.full((configuration.nu, configuration.nu), np.nan)
    reduce_matrix_into(model.dof_parent, configuration.start, configuration.column, configuration.ratio, spoilt, M_u)
    np.testing.assert_allclose(M_u, expected, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_kernels_multiply_with_the_matrix_of_the_coupling(name):
    """D u, as steps expand velocities, and Dᵀ x, as they reduce momenta."""
    _, configuration, _, u = random_case(name, 3)
    D, x = configuration.D, np.random.default_rng(3).normal(size=len(configuration.D))
    entries = configuration.start, configuration.column, configuration.ratio
    v_tree, x_u = np.full(len(D), np.nan), np.full(configuration.nu, np.nan)
    expand_vector_into(*entries, u, v_tree)
    reduce_vector_into(*entries, x, x_u)
    np.testing.assert_allclose(v_tree, D @ u, atol=1e-13)
    np.testing.assert_allclose(x_u, D.T @ x, atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 5, 11, 23])
def test_dense_factors_solve(n):
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n))
    A, b = half @ half.T + np.eye(n), rng.normal(size=n)
    factors, x = A.copy(), b.copy()
    assert factorise_dense_in_place(factors) == -1
    solve_dense_in_place(factors, x)
    np.testing.assert_allclose(A @ x, b, atol=1e-11)
    A[n // 2, :] = A[:, n // 2] = 0.0
    assert factorise_dense_in_place(A) == n // 2


def test_two_joints_on_one_motor_in_closed_form():
    """Two wheels on a motor with ratios 1 and -3, and its rotor: (J_1 + 9 J_2 + J_r) u' = motor + τ_1 − 3 τ_2."""
    builder = ModelBuilder("wheels")
    builder.link("world")
    for name, inertia in (("one", 0.5), ("two", 0.25)):
        builder.link(name, mass=1.0, inertia=(inertia, inertia, inertia))
        builder.joint(f"{name}_joint", "continuous", "world", name, axis=(0, 0, 1))
    model = builder.build()
    motors = {"m": {"one_joint": 1.0, "two_joint": -3.0}}
    configuration = couple(model, motors, rotor_inertia={"m": 0.75})
    a = coupled_forward_dynamics(model, configuration, np.zeros(2), [2.0], [7.0], [0.5, 0.25])
    assert a[0] == pytest.approx((7.0 + 0.5 - 0.75) / (0.5 + 9 * 0.25 + 0.75), rel=1e-14)


def test_bad_arguments_are_named():
    model, configuration, q, u = random_case("arm", 0)
    with pytest.raises(ValueError, match="motor: expected shape"):
        coupled_forward_dynamics(model, configuration, q, u, motor=np.zeros(1))
    with pytest.raises(ValueError, match="tau: expected finite numbers"):
        coupled_forward_dynamics(model, configuration, q, u, tau=np.full(model.nv, np.nan))
    builder = ModelBuilder("nothing")
    builder.link("world")
    builder.link("ghost", mass=0.0, inertia=(0.0, 0.0, 0.0))
    builder.joint("hinge", "continuous", "world", "ghost", axis=(0, 0, 1))
    with pytest.warns(UrdfWarning, match="carries no mass"):
        ghost = builder.build()
    with pytest.raises(ValueError, match="column 'm' moves no inertia"):
        coupled_forward_dynamics(ghost, couple(ghost, {"m": {"hinge": 1.0}}), np.zeros(1), np.zeros(1))
