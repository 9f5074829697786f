# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Momentum and centre of mass against Pinocchio, conservation laws and a thrown stone."""

from __future__ import annotations

import numpy as np
import pytest
from kinematics_oracle import error, every_robot, gather, pin, random_state, robot, twin, with_pinocchio, with_rotors
from numpy.testing import assert_allclose, assert_array_equal

from mbsim_ros.dynamics.inverse import inverse_dynamics
from mbsim_ros.dynamics.mean_momentum import mean_momentum
from mbsim_ros.dynamics.momentum import centre_of_mass, centroidal_momentum, centroidal_momentum_matrix, momentum
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf

STONE = """<robot name="stone"><link name="stone"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link></robot>"""


@with_pinocchio
@every_robot
def test_against_pinocchio(name):
    model, theirs = robot(name), twin(name)
    q, v, _ = random_state(model)
    data = theirs.createData()
    pin.ccrba(theirs, data, model.q_to_pinocchio(q), model.tree_v(v))
    assert error(centroidal_momentum_matrix(model, q), data.Ag @ gather(model)) < 1e-12
    assert error(centroidal_momentum(model, q, v), data.hg.vector) < 1e-12
    assert error(centre_of_mass(model, q), data.com[0]) < 1e-12
    linear, angular = data.hg.linear, data.hg.angular
    expected = np.concatenate([linear, angular + np.cross(data.com[0], linear)])
    assert error(momentum(model, q, v), expected) < 1e-12


@every_robot
def test_the_matrix_gives_the_momentum(name):
    model = robot(name)
    q, v, _ = random_state(model)
    assert error(centroidal_momentum_matrix(model, q) @ v, centroidal_momentum(model, q, v)) < 1e-12


@every_robot
def test_the_matrix_gives_the_velocity_of_the_centre_of_mass(name):
    """Finite differences in 1-dof directions: an oracle with no formula in common."""
    model = robot(name)
    q, _, _ = random_state(model)
    A, h = centroidal_momentum_matrix(model, q), 1e-5
    for joint in model.joints:
        if joint.nv == 1 and joint.iv >= 0:
            step = np.zeros(model.nq)
            step[joint.iq] = h
            slope = (centre_of_mass(model, q + step) - centre_of_mass(model, q - step)) / (2 * h)
            assert_allclose(A[:3, joint.iv], model.mass * slope, atol=1e-7)


def test_a_stone_by_hand():
    """Standing at (1, 2, 3), unrotated: p = m (v + ω × c), L = x × p + I ω."""
    model = load_urdf(STONE)
    q, v = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0], [0.5, -1.0, 2.0, 0.3, 0.7, -0.4]
    linear = 2.0 * (np.array(v[:3]) + np.cross(v[3:], [0.3, 0, 0]))
    spin = np.array([0.1, 0.2, 0.25]) * v[3:]
    assert_allclose(centre_of_mass(model, q), [1.3, 2.0, 3.0], rtol=1e-15)
    assert_allclose(centroidal_momentum(model, q, v), [*linear, *spin], rtol=1e-14)
    assert_allclose(momentum(model, q, v), [*linear, *(np.cross([1.3, 2, 3], linear) + spin)], rtol=1e-14)


def test_far_from_the_origin_no_digits_are_lost():
    model = robot("zoo")
    q, v, _ = random_state(model)
    near_h, near_A = centroidal_momentum(model, q, v), centroidal_momentum_matrix(model, q)
    q[:3] += 1024.0
    assert error(centroidal_momentum(model, q, v), near_h) < 1e-11
    assert error(centroidal_momentum_matrix(model, q), near_A) < 1e-11


@with_pinocchio
def test_momentum_grows_with_the_force_on_the_base():
    """d/dt of the momentum is the wrench inverse dynamics asks of a floating base, in the world: no gravity."""
    model = robot("zoo")
    q, v, a = random_state(model)
    base = inverse_dynamics(model, q, v, a, gravity=(0, 0, 0))[:6]
    h, found = 1e-5, []
    for sign in (1, -1):
        step = sign * h * v + 0.5 * h * h * a
        moved = _from_pinocchio(model, pin.integrate(twin("zoo"), model.q_to_pinocchio(q), step))
        found.append(momentum(model, moved, v + sign * h * a))
    R, x = pin.Quaternion(q[3:7]).matrix(), q[:3]
    force = R @ base[:3]
    expected = np.concatenate([force, R @ base[3:] + np.cross(x, force)])
    assert error((found[0] - found[1]) / (2 * h), expected) < 1e-7


def _from_pinocchio(model, q):
    """Inverse of q_to_pinocchio for the zoo: angles from (cos, sin)."""
    parts, at = [q[:7]], 7
    for joint in model.joints:
        turns = joint.type in ("continuous", "planar")
        own = q[at : at + joint.nq + turns]
        at += len(own)
        parts.append([*own[:-2], np.arctan2(own[-1], own[-2])] if turns else own)
    return np.concatenate(parts)


def test_rotors_have_no_part_in_it():
    model, heavy = robot("zoo"), with_rotors(robot("zoo"), 0.3)
    q, v, _ = random_state(model)
    assert_array_equal(momentum(heavy, q, v), momentum(model, q, v))
    assert_array_equal(centroidal_momentum_matrix(heavy, q), centroidal_momentum_matrix(model, q))


def test_a_workspace_changes_nothing():
    model = robot("zoo")
    q, v, _ = random_state(model)
    ws = Workspace(model)
    ws.rows[:] = ws.sincos[:] = np.nan
    assert_array_equal(momentum(model, q, v, workspace=ws), momentum(model, q, v))
    ws.rows[:] = np.nan
    assert_array_equal(centroidal_momentum_matrix(model, q, workspace=ws), centroidal_momentum_matrix(model, q))


def test_what_is_refused():
    model = robot("zoo")
    q, v, _ = random_state(model)
    with pytest.raises(ValueError, match=r"v: expected shape"):
        momentum(model, q, [*v, 0.0])
    with pytest.raises(ValueError, match=r"v: expected finite numbers, got v\[4\] = nan"):
        centroidal_momentum(model, q, np.where(np.arange(model.nv) == 4, np.nan, v))
    with pytest.raises(ValueError, match=r"unit quaternion"):
        centre_of_mass(model, np.ones(model.nq))
    ghost = load_urdf('<robot name="ghost"><link name="world"/></robot>')
    assert_array_equal(momentum(ghost, [], []), np.zeros(6))
    for function in (centre_of_mass, centroidal_momentum_matrix):
        with pytest.raises(ValueError, match=r"model 'ghost': nothing that moves has mass"):
            function(ghost, [])


def test_a_way_between_configurations_has_the_momentum_of_its_middle():
    """A body that flies and turns about an axis of its own at constant rates: m c × v + I ω there."""
    model = ModelBuilder("stone").link("stone", mass=2.0, inertia=(0.1, 0.2, 0.3)).build("floating")
    velocity, rate, h = np.array([1.0, -2.0, 3.0]), 4.0, 0.05
    start = np.array([5.0, 0.5, -1.0])

    def at(time):
        half = 0.5 * rate * time
        return np.array([*(start + time * velocity), 0.0, 0.0, np.sin(half), np.cos(half)])

    found = mean_momentum(model, at(0.2), at(0.2 + h), h)
    middle = start + (0.2 + 0.5 * h) * velocity
    angular = 2.0 * np.cross(middle, velocity) + [0.0, 0.0, 0.3 * rate]
    assert_allclose(found, [*(2.0 * velocity), *angular], rtol=1e-12, atol=1e-12)
