# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Laws that hold for any tree of rigid bodies, on random trees with every joint type."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from random_trees import TYPES, bracket, derivative, models, move, random_tree, states

from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.dynamics import (
    centre_of_mass,
    energy,
    forward_dynamics,
    frame_jacobian,
    generalised_momentum_and_gradient,
    inverse_dynamics,
    kinetic_energy,
    link_pose,
    link_poses,
    mass_matrix,
    momentum,
    potential_energy,
)
from mbsim_ros.model.assembly.assemble import make_model

WEIGHTLESS = (0.0, 0.0, 0.0)
some = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def assert_close(ours, expected, tolerance):
    """Norm-wise, relative, from one on."""
    error, size = np.linalg.norm(np.subtract(ours, expected)), max(1.0, np.linalg.norm(expected))
    assert error <= tolerance * size, f"relative error {error / size:.2e}"


@some
@given(states())
def test_mass_matrix_is_the_derivative_of_inverse_dynamics(state):
    model, q, v, _ = state
    bias = inverse_dynamics(model, q, v, np.zeros(model.nv))
    columns = [inverse_dynamics(model, q, v, unit) - bias for unit in np.eye(model.nv)]
    M = mass_matrix(model, q)
    assert_close(M, np.transpose(columns), 1e-11)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0


@some
@given(states())
def test_forward_dynamics_undoes_inverse_dynamics(state):
    model, q, v, a = state
    wrenches = {model.link_names[-1]: np.arange(6.0), model.link_names[0]: np.ones(6)}
    tau = inverse_dynamics(model, q, v, a, wrenches=wrenches)
    assert_close(forward_dynamics(model, q, v, tau, wrenches=wrenches), a, 1e-8)


@some
@given(states())
def test_kinetic_energy_and_momenta_are_those_of_the_mass_matrix(state):
    model, q, v, _ = state
    p = mass_matrix(model, q) @ v
    assert_close(kinetic_energy(model, q, v), 0.5 * v @ p, 1e-12)
    assert_close(generalised_momentum_and_gradient(model, q, v).p, p, 1e-12)


@some
@given(states())
def test_gradient_of_the_kinetic_energy(state):
    model, q, v, _ = state
    expected = [derivative(lambda q: kinetic_energy(model, q, v), model, q, unit) for unit in np.eye(model.nv)]
    assert_close(generalised_momentum_and_gradient(model, q, v).dT_dr, expected, 1e-7)


@some
@given(states())
def test_derivative_of_the_mass_matrix_minus_twice_coriolis_is_skew(state):
    """C from the velocity terms c(v) = C(v) v, by polarisation; in joints that are groups half a bracket is added."""
    model, q, v, _ = state

    def c(v):
        return inverse_dynamics(model, q, v, np.zeros(model.nv), gravity=WEIGHTLESS)

    M = mass_matrix(model, q)
    units = np.eye(model.nv)
    C = np.transpose([0.25 * (c(v + e) - c(v - e)) + 0.5 * M @ bracket(model, v, e) for e in units])
    M_dot = derivative(lambda q: mass_matrix(model, q), model, q, v)
    S = M_dot - 2.0 * C
    assert np.linalg.norm(S + S.T) <= 1e-7 * max(1.0, np.linalg.norm(M_dot), np.linalg.norm(C))


@some
@given(states())
def test_power_of_the_forces_is_the_rate_of_energy(state):
    model, q, v, tau = state
    a = forward_dynamics(model, q, v, tau)
    h = 1e-6
    after, before = (energy(model, move(model, q, s * v), v + s * a).total for s in (h, -h))
    assert_close((after - before) / (2 * h), tau @ v, 1e-6 * max(1.0, np.linalg.norm(a)))


@some
@given(states())
def test_gravity_is_the_gradient_of_the_potential_energy(state):
    model, q, _, _ = state
    zero, gravity = np.zeros(model.nv), (1.0, -2.0, -9.0)
    tau = inverse_dynamics(model, q, zero, zero, gravity=gravity)
    expected = [derivative(lambda q: potential_energy(model, q, gravity), model, q, unit) for unit in np.eye(model.nv)]
    assert_close(tau, expected, 1e-7)


@some
@given(states())
def test_wrenches_act_through_the_jacobian(state):
    model, q, v, a = state
    link, wrench = model.link_names[-1], np.array([1.0, -2.0, 3.0, 0.5, -0.4, 0.3])
    difference = inverse_dynamics(model, q, v, a) - inverse_dynamics(model, q, v, a, wrenches={link: wrench})
    assert_close(difference, frame_jacobian(model, q, link, "local").T @ wrench, 1e-11)


@some
@given(states(bases=("floating",)))
def test_action_and_reaction_do_not_change_the_momentum(state):
    """A force and its reaction along one line between two links, gravity, and no other force from outside."""
    model, q, v, tau = state
    tau[:6] = 0.0
    a = forward_dynamics(model, q, v, tau, wrenches=pair_of_forces(model, q, np.array([3.0, -5.0, 2.0])))
    weight = model.mass * np.array([0.0, 0.0, -9.81])
    expected = np.concatenate([weight, np.cross(centre_of_mass(model, q), weight)])
    h = 1e-6
    after, before = (momentum(model, move(model, q, s * v), v + s * a) for s in (h, -h))
    assert_close((after - before) / (2 * h), expected, 1e-6 * max(1.0, np.linalg.norm(a)))


def pair_of_forces(model, q, force):
    """A force in world axes at the first link's origin, its reaction at the same point of the last link."""
    first, last = link_pose(model, q, model.link_names[0]), link_pose(model, q, model.link_names[-1])
    reaction = -last[:3, :3].T @ force
    point = last[:3, :3].T @ (first[:3, 3] - last[:3, 3])
    return {
        model.link_names[0]: np.concatenate([first[:3, :3].T @ force, np.zeros(3)]),
        model.link_names[-1]: np.concatenate([reaction, np.cross(point, reaction)]),
    }


@pytest.mark.skipif(importlib.util.find_spec("pinocchio") is None, reason="pinocchio is not installed")
@some
@given(states())
def test_pinocchio_agrees_on_random_trees(state):
    """The peer is built from the description, so that axes, merging, inertias and mimic joints are checked, too."""
    import pinocchio as pin
    import pinocchio_from_description as peer

    model, q, v, a = state
    theirs, places = peer.build(model)
    data = theirs.createData()
    q_theirs, v_theirs, a_theirs = peer.configuration(model, q), model.tree_v(v), model.tree_v(a)
    tau = model.reduce_forces(pin.rnea(theirs, data, q_theirs, v_theirs, a_theirs))
    G = np.eye(model.nv) if model.mimic is None else model.mimic.matrix(model.nv)
    assert_close(inverse_dynamics(model, q, v, a), tau, 1e-10)
    M = pin.crba(theirs, data, q_theirs)
    assert_close(mass_matrix(model, q), G.T @ M @ G, 1e-10)
    if model.mimic is None:
        assert_close(forward_dynamics(model, q, v, tau), pin.aba(theirs, data, q_theirs, v, tau), 1e-8)
    pin.forwardKinematics(theirs, data, q_theirs)
    for link, X_WL in link_poses(model, q).items():
        joint, placement = places[link]
        assert_close(X_WL, (data.oMi[joint] * placement).homogeneous, 1e-10)


def test_random_trees_have_every_joint_type():
    rng = np.random.default_rng(5)
    model = make_model(random_tree([*TYPES, *TYPES], rng), "floating")
    types = {joint.type for joint in model.description.joints}
    assert types == {"revolute", "continuous", "prismatic", "spherical", "planar", "floating", "fixed"}
    assert model.mimic is not None
    assert any(joint.rotor_inertia for joint in model.description.joints)
    q, v, a = random_configuration(model, rng), random_velocity(model, rng), random_velocity(model, rng)
    assert_close(forward_dynamics(model, q, v, inverse_dynamics(model, q, v, a)), a, 1e-8)


@some
@given(models())
def test_results_repeat_bit_by_bit(model):
    rng = np.random.default_rng(1)
    q, v, a = random_configuration(model, rng), random_velocity(model, rng), random_velocity(model, rng)
    tau = inverse_dynamics(model, q, v, a)
    forward_dynamics(model, q, v, tau)  # leaves the workspace in another state
    assert inverse_dynamics(model, q, v, a).tobytes() == tau.tobytes()
