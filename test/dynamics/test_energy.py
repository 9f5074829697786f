# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Energies against Pinocchio, a double pendulum by hand, and the work inverse dynamics asks for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kinematics_oracle import build_twin, every_robot, pin, random_state, robot, twin, with_pinocchio, with_rotors
from numpy.testing import assert_allclose

from mbsim_ros.dynamics.energy import MechanicalEnergy, energy, kinetic_energy, potential_energy
from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.momentum import centre_of_mass
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.loading import load_urdf

PENDULUM = Path(__file__).resolve().parents[2] / "urdf/double_pendulum.urdf"


@with_pinocchio
@every_robot
def test_against_pinocchio(name):
    model, theirs = robot(name), twin(name)
    q, v, _ = random_state(model)
    data, q_pin = theirs.createData(), model.q_to_pinocchio(q)
    assert kinetic_energy(model, q, v) == pytest.approx(
        pin.computeKineticEnergy(theirs, data, q_pin, model.tree_v(v)), rel=1e-12
    )
    assert potential_energy(model, q) == pytest.approx(
        pin.computePotentialEnergy(theirs, data, q_pin), rel=1e-12, abs=1e-12 * model.mass
    )


@every_robot
def test_the_potential_is_that_of_the_centre_of_mass(name):
    model = robot(name)
    q, _, _ = random_state(model)
    gravity = np.array([1.0, -2.0, 3.0])
    expected = -model.mass * gravity @ centre_of_mass(model, q)
    assert potential_energy(model, q, gravity) == pytest.approx(expected, rel=1e-12, abs=1e-12 * model.mass)


def test_double_pendulum_by_hand():
    m, length, J, g = 1.0, 1.0, (3 * 0.02**2 + 1.0) / 12.0, 9.81
    model = load_urdf(PENDULUM)
    (q1, q2), (v1, v2), _ = (x.tolist() for x in random_state(model))
    m22 = J + m * length**2 / 4
    m12 = m22 + m * length**2 / 2 * np.cos(q2)
    m11 = 2 * J + m * length**2 * (1.5 + np.cos(q2))
    kinetic = 0.5 * m11 * v1**2 + m12 * v1 * v2 + 0.5 * m22 * v2**2
    fall = -g * m * length * (1.5 * np.cos(q1) + 0.5 * np.cos(q1 + q2) - 2.0)
    result = energy(model, [q1, q2], [v1, v2])
    assert result.kinetic == pytest.approx(kinetic, rel=1e-9)
    assert result.potential - potential_energy(model, [0, 0]) == pytest.approx(fall, rel=1e-9)


@pytest.mark.parametrize("name", ["zoo", "fixed_zoo", "mimic"])
def test_kinetic_energy_is_half_v_M_v_with_rotors(name):
    """M v is what inverse dynamics asks for v as acceleration, from rest and without gravity."""
    model = with_rotors(robot(name), 0.3)
    q, v, _ = random_state(model)
    Mv = inverse_dynamics(model, q, np.zeros(model.nv), v, gravity=(0, 0, 0))
    assert kinetic_energy(model, q, v) == pytest.approx(0.5 * v @ Mv, rel=1e-13)
    assert kinetic_energy(model, q, v) > kinetic_energy(robot(name), q, v)


@with_pinocchio
def test_rotors_are_pinocchios_armature():
    model = with_rotors(robot("zoo"), 0.3)
    q, v, _ = random_state(model)
    theirs = build_twin(model)
    assert np.count_nonzero(theirs.armature) == 6
    M = pin.crba(theirs, theirs.createData(), model.q_to_pinocchio(q))
    assert kinetic_energy(model, q, v) == pytest.approx(0.5 * v @ M @ v, rel=1e-13)


def test_the_potential_falls_with_gravity():
    """Its slope along 1-dof joints is what inverse dynamics holds at rest."""
    model, h = robot("zoo"), 1e-5
    q, _, _ = random_state(model)
    gravity = np.array([2.0, -3.0, -8.0])
    holding = inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv), gravity=gravity)
    for joint in model.joints:
        if joint.nv == 1:
            step = np.zeros(model.nq)
            step[joint.iq] = h
            slope = (potential_energy(model, q + step, gravity) - potential_energy(model, q - step, gravity)) / (2 * h)
            assert slope == pytest.approx(holding[joint.iv], abs=1e-7)


def test_energy_is_a_named_triple():
    model = robot("zoo")
    q, v, _ = random_state(model)
    result = energy(model, q, v, (0.0, 0.0, -1.62))
    assert isinstance(result, MechanicalEnergy) and all(type(value) is float for value in result)
    assert result.total == result.kinetic + result.potential
    assert result.kinetic == kinetic_energy(model, q, v)
    assert result.potential == potential_energy(model, q, (0.0, 0.0, -1.62))


def test_a_workspace_changes_nothing():
    model = robot("zoo")
    q, v, _ = random_state(model)
    ws = Workspace(model)
    ws.rows[:] = ws.sincos[:] = np.nan
    assert energy(model, q, v, workspace=ws) == energy(model, q, v)


def test_what_is_refused():
    model = robot("zoo")
    q, v, _ = random_state(model)
    assert_allclose(energy(load_urdf('<robot name="n"><link name="world"/></robot>'), [], []), 0.0)
    with pytest.raises(ValueError, match=r"q: expected shape"):
        potential_energy(model, q[:-1])
    with pytest.raises(ValueError, match=r"v: expected finite"):
        kinetic_energy(model, q, v * np.inf)
    with pytest.raises(ValueError, match=r"gravity: expected shape \(3,\), got \(2,\)"):
        energy(model, q, v, [0.0, 9.81])
    with pytest.raises(ValueError, match=r"unit quaternion at q\[3:7\]"):
        energy(model, np.concatenate([q[:3], 1.001 * q[3:7], q[7:]]), v)
