# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""p = M v and ∂T/∂r for every joint kind, against Pinocchio, finite differences and a double pendulum by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kinematics_oracle import (
    build_twin,
    error,
    every_robot,
    gather,
    pin,
    random_state,
    robot,
    twin,
    with_pinocchio,
    with_rotors,
)
from numpy.testing import assert_allclose, assert_array_equal

from mbsim_ros.dynamics.energy import energy, kinetic_energy
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.momentum_pass import generalised_momentum_and_gradient
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.loading import load_urdf

PENDULUM = Path(__file__).resolve().parents[2] / "urdf/double_pendulum.urdf"
ONE_JOINT = """<robot name="one"><link name="base">{inertial}</link><link name="arm">{inertial}</link>
<link name="hand">{inertial}</link>
<joint name="a" type="{kind}"><parent link="base"/><child link="arm"/><origin xyz="0.2 0.1 -0.3" rpy="0.3 0.5 0.2"/>
<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>
<joint name="b" type="revolute"><parent link="arm"/><child link="hand"/><origin xyz="0.1 0.4 0.2" rpy="0.7 0 -0.3"/>
<axis xyz="0 0.6 0.8"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint></robot>"""
INERTIAL = """<inertial><origin xyz="0.1 0.2 -0.1" rpy="0.1 0.2 0.3"/><mass value="1.7"/>
<inertia ixx="0.2" ixy="0.01" ixz="-0.02" iyy="0.25" iyz="0.03" izz="0.3"/></inertial>"""
KINDS = ("revolute", "continuous", "prismatic", "spherical", "planar", "floating")


def gradient_by_differences(model, theirs, q, v, kinetic):
    """d/dε T(q ⊕ ε e_k, v) by Richardson-extrapolated central differences; Pinocchio's integrate is ⊕."""
    G, q_pin = gather(model), model.q_to_pinocchio(q)

    def slope(k, h):
        T = [kinetic(pin.integrate(theirs, q_pin, sign * h * G[:, k])) for sign in (1.0, -1.0)]
        return (T[0] - T[1]) / (2 * h)

    return np.array([(4 * slope(k, 5e-4) - slope(k, 1e-3)) / 3 for k in range(model.nv)])


@with_pinocchio
@every_robot
def test_momenta_and_gradient(name):
    model, theirs = robot(name), twin(name)
    q, v, _ = random_state(model)
    data, v_tree, G = theirs.createData(), model.tree_v(v), gather(model)
    M = G.T @ pin.crba(theirs, data, model.q_to_pinocchio(q)) @ G
    p, dT_dr = generalised_momentum_and_gradient(model, q, v)
    assert p.shape == dT_dr.shape == (model.nv,)
    assert error(p, M @ v) < 1e-12
    expected = gradient_by_differences(model, theirs, q, v, lambda x: pin.computeKineticEnergy(theirs, data, x, v_tree))
    assert error(dT_dr, expected) < 1e-9


@with_pinocchio
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_each_joint_kind_on_a_fixed_and_on_a_moving_parent(kind, base, seed):
    model = load_urdf(ONE_JOINT.format(kind=kind, inertial=INERTIAL), base=base)
    theirs = build_twin(model)
    q, v, _ = random_state(model, seed)
    data = theirs.createData()
    p, dT_dr = generalised_momentum_and_gradient(model, q, v)
    assert error(p, pin.crba(theirs, data, model.q_to_pinocchio(q)) @ v) < 1e-13
    expected = gradient_by_differences(model, theirs, q, v, lambda x: pin.computeKineticEnergy(theirs, data, x, v))
    assert error(dT_dr, expected) < 1e-9
    joint = model.joint("a")
    own = dT_dr[joint.iv : joint.iv + joint.nv]
    # On a parent that does not move T knows nothing of where the first joint is; on one that does, everything counts.
    assert np.abs(own).max() == 0.0 if base == "fixed" else np.abs(own).min() > 1e-3


def test_lagrange_with_differences_in_time():
    """ṗ − ∂T/∂r is the force on a tree of 1-dof joints: inverse dynamics without gravity. No Pinocchio needed."""
    model, h = load_urdf(PENDULUM), 1e-5
    q, v, a = random_state(model)
    later, earlier = (
        generalised_momentum_and_gradient(model, q + s * h * v + 0.5 * h * h * a, v + s * h * a).p for s in (1, -1)
    )
    force = (later - earlier) / (2 * h) - generalised_momentum_and_gradient(model, q, v).dT_dr
    assert_allclose(force, inverse_dynamics(model, q, v, a, gravity=(0, 0, 0)), atol=1e-8)


def test_double_pendulum_by_hand():
    m, length, J = 1.0, 1.0, (3 * 0.02**2 + 1.0) / 12.0
    model = load_urdf(PENDULUM)
    (q1, q2), (v1, v2), _ = (x.tolist() for x in random_state(model))
    m22 = J + m * length**2 / 4
    m12 = m22 + m * length**2 / 2 * np.cos(q2)
    m11 = 2 * J + m * length**2 * (1.5 + np.cos(q2))
    p, dT_dr = generalised_momentum_and_gradient(model, [q1, q2], [v1, v2])
    assert_allclose(p, [m11 * v1 + m12 * v2, m12 * v1 + m22 * v2], rtol=1e-9)
    assert_allclose(dT_dr, [0.0, -0.5 * m * length**2 * np.sin(q2) * v1 * (v1 + v2)], rtol=1e-9)


@every_robot
def test_half_p_v_is_the_kinetic_energy(name):
    model = robot(name)
    q, v, _ = random_state(model)
    assert 0.5 * generalised_momentum_and_gradient(model, q, v).p @ v == pytest.approx(
        kinetic_energy(model, q, v), rel=1e-12
    )


def test_a_floating_root_has_no_gradient():
    """T does not change when the whole robot is moved."""
    model = robot("zoo")
    q, v, _ = random_state(model)
    assert_array_equal(generalised_momentum_and_gradient(model, q, v).dT_dr[:6], np.zeros(6))


def test_rotors_add_to_their_own_momentum_only():
    model, heavy = robot("zoo"), with_rotors(robot("zoo"), 0.3)
    q, v, _ = random_state(model)
    light_p, light_gradient = generalised_momentum_and_gradient(model, q, v)
    p, gradient = generalised_momentum_and_gradient(heavy, q, v)
    single = np.zeros(model.nv)
    single[[joint.iv for joint in model.joints if joint.nv == 1]] = 0.3
    assert_allclose(p - light_p, single * v, atol=1e-14)
    assert_array_equal(gradient, light_gradient)


def test_a_workspace_changes_nothing():
    model = robot("zoo")
    q, v, _ = random_state(model)
    ws = Workspace(model)
    ws.rows[:] = ws.sincos[:] = np.nan
    for ours, theirs in zip(
        generalised_momentum_and_gradient(model, q, v, workspace=ws),
        generalised_momentum_and_gradient(model, q, v),
        strict=True,
    ):
        assert_array_equal(ours, theirs)


def test_what_is_refused():
    model = robot("zoo")
    q, v, _ = random_state(model)
    with pytest.raises(ValueError, match=r"v: expected shape"):
        generalised_momentum_and_gradient(model, q, v[1:])
    with pytest.raises(ValueError, match=r"q: expected finite numbers, got q\[1\] = inf"):
        generalised_momentum_and_gradient(model, np.where(np.arange(model.nq) == 1, np.inf, q), v)
    with pytest.raises(ValueError, match=r"unit quaternion"):
        generalised_momentum_and_gradient(model, np.where(np.arange(model.nq) == 3, 2.0, q), v)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["zoo", "fixed_zoo", "mimic"])
def test_no_entry_of_q_or_v_may_be_infinite_even_at_rest(name, bad):
    model = robot(name)
    q, v, _ = random_state(model)
    for at_rest in (v, np.zeros(model.nv)):
        for i in range(model.nq):
            wrong = np.where(np.arange(model.nq) == i, bad, q)
            for function in (generalised_momentum_and_gradient, energy):
                with pytest.raises(ValueError, match=r"^q: expected"):
                    function(model, wrong, at_rest)
    for i in range(model.nv):
        for function in (generalised_momentum_and_gradient, energy):
            with pytest.raises(ValueError, match=rf"^v: expected finite numbers, got v\[{i}\]"):
                function(model, q, np.where(np.arange(model.nv) == i, bad, v))
