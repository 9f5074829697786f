# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The robots with closed loops of this package in `Simulation`: spring, drive, contact and a clutch at once."""

from __future__ import annotations

import math

import pytest

from mbsim_ros import Simulation
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.sim import Snapshot

GAINS = {
    "kp": dict.fromkeys(("hip_joint", "crank_joint"), 200.0),
    "kd": dict.fromkeys(("hip_joint", "crank_joint"), 2.0),
}


def hop(sim, seconds, begin=0.0):
    """Bend and stretch, by both motors, or by the one that a clutch has put on both; how far the loop was open."""
    worst, on_the_ground = 0.0, 0
    for k in range(round(seconds / 0.01)):
        swing = 0.3 * math.sin(12.0 * (begin + 0.01 * k))
        if "engine" in sim.coupling.motors:
            sim.drive_motors(position={"engine": swing}, kp={"engine": 200.0}, kd={"engine": 2.0})
        else:
            sim.drive(position={"hip_joint": swing - 0.5, "crank_joint": 0.5 - swing}, **GAINS)
        sim.advance(10)
        worst = max(worst, sim.integrator.closure_error())
        on_the_ground += any(report.force[2] > 0.0 for report in sim.contacts())
    assert 0.1 * seconds < 0.01 * on_the_ground < 0.9 * seconds  # it hops
    return worst


def test_the_leg_hops_with_spring_drive_contact_and_clutch_and_continues_bit_for_bit(tmp_path):
    """Two seconds; docs/integrators.md has 100 s of it."""
    sim = Simulation("closed_leg", 1e-3, terrain="flat")
    worst = hop(sim, 1.0)
    assert sim.couple("straight").loss > 0.0
    sim.snapshot().save(tmp_path / "hop.npz")
    worst = max(worst, hop(sim, 1.0, 1.0))
    assert worst < 1e-13
    ledger = sim.ledger()
    assert ledger.relative_residue < 1e-4
    assert sim.energy().elastic > 1e-3
    other = Simulation("closed_leg", 1e-3, terrain="flat")
    other.restore(Snapshot.load(tmp_path / "hop.npz"))
    hop(other, 1.0, 1.0)
    assert other.q.tobytes() == sim.q.tobytes() and other.v.tobytes() == sim.v.tobytes()
    assert str(other.ledger()) == str(ledger)


def test_loops_beside_other_entities_and_in_other_schemes_are_refused_by_name():
    with pytest.raises(UnsupportedModel, match="closed loops four_bar/pin beside other entities"):
        Simulation(["four_bar", "box"])
    with pytest.raises(UnsupportedModel, match="'rk4' does not go with .*closed loops pin: use 'lie_variational'"):
        Simulation("four_bar", integrator="rk4")
