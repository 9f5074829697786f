# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Brakes of joints of several dofs and of the floating base: a robot that is held moves as one that is built so."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import Simulation
from mbsim_ros.model.loading import load_urdf

LINK = """<link name="{0}"><inertial><origin xyz="0.02 0.01 -0.1"/><mass value="{1}"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0.001" ixz="0" iyz="0.002"/></inertial></link>"""
JOINT = """<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><origin xyz="0.1 0 -0.2"/>
  <axis xyz="{3}"/></joint>"""
CHAIN = f"""<robot name="chain">{LINK.format("body", 3)}{LINK.format("upper", 1.5)}{LINK.format("lower", 1)}
  {JOINT.format("hip", "body", "upper", "0 1 0")}{JOINT.format("knee", "upper", "lower", "0 0.6 0.8")}</robot>"""


def test_a_robot_with_a_locked_base_moves_as_one_that_is_fixed():
    """Until it is let go: then it falls from there, with the momentum that it has."""
    fixed, free = (Simulation(load_urdf(CHAIN, base), terrain=False) for base in ("fixed", "floating"))
    rates = 1.0 + 0.1 * np.arange(fixed.model.nv)
    fixed.reset(fixed.model.neutral, rates)
    free.reset(free.model.neutral, np.concatenate([np.zeros(6), rates]))
    height = free.q[2]
    assert free.couple({"locked": ["base"]}).loss < 1e-12
    assert free.motor_names == fixed.motor_names
    for sim in (fixed, free):
        sim.run(0.2)
    assert np.allclose(free.q[7:], fixed.q, atol=1e-11) and np.allclose(free.v[6:], fixed.v, atol=1e-10)
    assert free.v[:6].tolist() == [0.0] * 6 and free.q[2] == height
    released = free.couple({})
    assert released.loss == 0.0 and np.allclose(free.v[6:], fixed.v, atol=1e-10)
    other = Simulation(load_urdf(CHAIN, "floating"), terrain=False)
    other.reset(free.q, free.v)
    for sim in (free, other):
        sim.run(0.2)
    assert np.allclose(free.q, other.q, atol=1e-12) and free.q[2] < height
    # closed while it falls: what moved is lost, and says where
    closing = free.couple('{"locked": ["base"]}')
    assert closing.loss > 0.1 and set(closing.joint_impulses) >= {"base/vx", "base/wz"}
    assert free.ledger().relative_residue < 1e-4


def test_a_spherical_joint_is_locked():
    """It does not move, the next one swings as if both links were one, and it is let go again."""
    sim = Simulation("urdf/double_spherical_pendulum.urdf.xacro")
    balls = [joint.name for joint in sim.model.joints if joint.type == "spherical"]
    assert len(balls) == 2
    rng = np.random.default_rng(2)
    sim.reset(sim.q, rng.uniform(-1, 1, sim.model.nv))
    closing = sim.couple({"locked": [balls[1]]})
    assert closing.loss > 0.0 and f"{balls[1]}/wx" in closing.joint_impulses
    joint = sim.model.joint(balls[1])
    before, energy = sim.q[joint.iq : joint.iq + 4], sim.energy().total
    sim.run(1.0)
    assert np.array_equal(sim.q[joint.iq : joint.iq + 4], before) and sim.q[0] != 0.0
    assert sim.energy().total == pytest.approx(energy, rel=1e-5)
    snapshot = sim.snapshot()
    sim.run(0.1)
    end = sim.q
    sim.restore(snapshot)
    sim.run(0.1)
    assert np.array_equal(sim.q, end)
    assert sim.couple({}).loss == 0.0
    sim.run(0.1)
    assert not np.array_equal(sim.q[joint.iq : joint.iq + 4], before)
    with pytest.raises(ValueError, match="only joints of one dof can be driven"):
        sim.couple({"motors": {"m": {balls[1]: 1}}})
