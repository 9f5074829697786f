# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Brakes and clutches with a torque limit: at it while they slip, hard while they hold, what they lose in the ledger."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros import Simulation
from mbsim_ros.integrators.errors import UnsupportedModel

J1, J2, LIMIT = 0.3, 0.7, 2.0
DISCS = f"""<robot name="discs"><link name="world"/>
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{J1}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{J2}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="ja" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>
  <joint name="jb" type="continuous"><parent link="world"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
CLUTCH = {"motors": {"shaft": {"ja": 1, "jb": 1}}, "torque_limit": {"jb": LIMIT}}
pytestmark = pytest.mark.filterwarnings("ignore::mbsim_ros.model.problems.UrdfWarning")


def discs(coupling=None) -> Simulation:
    """Two discs on one axis, turning at 10 and −3 rad/s."""
    sim = Simulation(DISCS, dt=1e-3)
    sim.reset({}, {"ja": 10.0, "jb": -3.0})
    if coupling is not None:
        assert sim.couple(coupling).loss == 0.0  # it closes without a jolt
    return sim


def test_two_discs_come_to_turn_as_one():
    """In the time and with the loss of a constant torque, t = J Δω / τ and ½ J Δω² with J = J1 J2 / (J1 + J2)."""
    sim, reduced, difference = discs(CLUTCH), J1 * J2 / (J1 + J2), 13.0
    while (clutch := sim.clutches()["jb"]).slips:
        sim.step()
        if sim.seconds < 1.36:
            assert clutch.torque in (LIMIT, -LIMIT) and (sim.seconds == 1e-3 or clutch.torque == LIMIT)
            assert abs(sim.motor_efforts[sim.motor_names.index("jb/slip")] - LIMIT) == 0.0
    assert abs(sim.seconds - reduced * difference / LIMIT) <= 2e-3
    angle = 0.5 * difference**2 * reduced / LIMIT  # by which the one has turned more
    assert abs(sim.q[0] - sim.q[1] - angle) < 1e-5
    ledger = sim.ledger()
    assert abs(ledger.clutch_loss - 0.5 * reduced * difference**2) < 1e-12 * ledger.turned_over
    assert ledger.relative_residue < 1e-12
    before = sim.q
    sim.run(0.1)
    assert sim.v[0] == pytest.approx(0.9, abs=1e-13) and abs((sim.q - before)[0] - (sim.q - before)[1]) < 1e-13
    sim.couple({"motors": {"shaft": {"ja": 1, "jb": 1}}})  # what it has lost stays lost, and nothing more is
    assert abs(sim.ledger().clutch_loss - ledger.clutch_loss) < 1e-13


def test_a_torque_above_the_limit_slips_and_one_below_it_does_not():
    """While it holds it bears what the other disc needs, and moves as the coupling without a limit, bit for bit."""
    soft, hard = (Simulation(DISCS, coupling=each) for each in (CLUTCH, {"motors": CLUTCH["motors"]}))
    for sim in (soft, hard):
        sim.drive_motors(effort={"shaft": 2.0})
        sim.run(0.2)
    assert np.array_equal(soft.q, hard.q) and soft.v == pytest.approx(hard.v, abs=1e-14)
    assert soft.clutches()["jb"].torque == pytest.approx(2.0 * J2 / (J1 + J2), rel=1e-9)
    assert not soft.clutches()["jb"].slips and soft.ledger().clutch_loss == 0.0
    soft.drive_motors(effort={"shaft": 4.0})  # of which 2.8 N m are the other's share
    start, speeds = soft.energy().total, soft.v
    soft.run(0.2)
    clutch, accelerations = soft.clutches()["jb"], (soft.v - speeds) / 0.2
    assert clutch.slips and accelerations == pytest.approx([(4.0 - LIMIT) / J1, LIMIT / J2], rel=1e-12)
    ledger = soft.ledger()
    assert ledger.clutch_loss == pytest.approx(LIMIT * 0.5 * (accelerations[0] - accelerations[1]) * 0.2**2, rel=1e-9)
    assert soft.energy().total > start and ledger.relative_residue < 1e-12


def test_a_brake_slips_as_friction_of_its_torque_does():
    """Against Pinocchio's accelerations and a solver of others, in second order; held it bears what they say."""
    theirs = pinocchio.buildModelFromUrdf("urdf/double_pendulum.urdf")
    data, start, speed, limit = theirs.createData(), np.array([0.3, 0.5]), np.array([0.0, 4.0]), 3.0

    def rates(_, y):
        return np.concatenate([y[2:], pinocchio.aba(theirs, data, y[:2], y[2:], np.array([0.0, -limit]))])

    exact = solve_ivp(rates, (0, 0.08), np.concatenate([start, speed]), rtol=1e-11, atol=1e-12).y[:, -1]
    assert exact[3] > 0.3  # it slips all the time
    errors = []
    for dt in (2e-3, 1e-3):
        sim = Simulation(
            "urdf/double_pendulum.urdf", dt=dt, coupling={"locked": ["elbow"], "torque_limit": {"elbow": limit}}
        )
        sim.reset(start, speed)
        sim.run(0.08)
        errors.append(np.abs(np.concatenate([sim.q, sim.v]) - exact).max())
    assert errors[1] < 1e-4 and 3.5 < errors[0] / errors[1] < 4.5
    sim.couple({"locked": ["elbow"], "torque_limit": {"elbow": 50.0}})
    sim.run(0.1)
    clutch = sim.clutches()["elbow"]
    assert not clutch.slips and sim.v[1] == pytest.approx(0.0, abs=1e-12)
    mass = pinocchio.crba(theirs, data, sim.q)
    bias = pinocchio.nonLinearEffects(theirs, data, sim.q, sim.v)
    needed = pinocchio.rnea(theirs, data, sim.q, sim.v, np.array([-bias[0] / mass[0, 0], 0.0]))[1]
    assert clutch.torque == pytest.approx(needed, rel=5e-3)  # that of half a step ago
    ledger = sim.ledger()
    assert ledger.relative_residue < 1e-6 < ledger.clutch_loss


def test_it_goes_on_bit_for_bit_and_starts_again():
    """From a snapshot while it slips, and from a reset."""
    sim = discs(CLUTCH)
    sim.run(0.5)
    snapshot, before = sim.snapshot(), (sim.q.tolist(), sim.ledger())
    sim.run(1.2)
    other = Simulation(DISCS, dt=1e-3)
    other.restore(snapshot)
    assert other.clutches()["jb"].slips and other.ledger() == before[1]
    other.run(1.2)
    assert other.snapshot() == sim.snapshot() and not sim.clutches()["jb"].slips
    sim.reset({}, {"ja": 10.0, "jb": -3.0})
    sim.run(0.5)
    assert (sim.q.tolist(), sim.ledger()) == before


def test_schemes_without_them_say_so():
    """Of order 4, and robots of a scene."""
    with pytest.raises(UnsupportedModel, match="torque limits of jb"):
        Simulation(DISCS, order=4, coupling=CLUTCH)
    with pytest.raises(UnsupportedModel, match="torque limits of one/jb"):
        scene = Simulation({"one": DISCS, "two": DISCS}, terrain=False)
        scene.couple({"motors": {"shaft": {"one/ja": 1, "one/jb": 1}}, "torque_limit": {"one/jb": 1.0}})
