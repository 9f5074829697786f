# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From a simulation to a `Snapshot` and back, all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.integrators.integrator import RemembersStep
from mbsim_ros.sim.energy_accounts import EnergyAccounts
from mbsim_ros.sim.snapshots.checks import check_arrays, check_facts
from mbsim_ros.sim.snapshots.snapshot import Snapshot, coupling_facts, coupling_from, make_snapshot, refuse_other

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


def take_snapshot(sim: Simulation, accounts: EnergyAccounts) -> Snapshot:
    """Everything that a continuation needs, and what it is of."""
    facts = {
        "simulation": sim.identity,
        "coupling": coupling_facts(sim.coupling),
        "pushes": sim.pushes.saved(),
        "payload": sim.payloads.saved(),
        "gains": sim.gains.saved(),
    }
    if isinstance(sim.integrator, RemembersStep):
        facts["last_step"] = sim.integrator.last_step()
    # The integrator's own arrays have the drives, the pushes and what resists the joints among them.
    integrator = {f"engine.{name}": array for name, array in sim.integrator.saved().items()}
    return make_snapshot(facts, {"books": accounts.saved(), **integrator})


def restore_snapshot(sim: Simulation, accounts: EnergyAccounts, snapshot: Snapshot) -> None:
    """Take a snapshot back; whatever goes wrong, the simulation is as before."""
    if not isinstance(snapshot, Snapshot):
        raise ValueError(f"snapshot: expected a Snapshot, got {type(snapshot).__name__}")
    facts = snapshot.read_facts()
    check_facts(facts)
    refuse_other(sim.identity, facts["simulation"])
    before = take_snapshot(sim, accounts)
    try:
        _write(sim, accounts, snapshot)
    except Exception:
        _write(sim, accounts, before)
        raise


def _write(sim: Simulation, accounts: EnergyAccounts, snapshot: Snapshot) -> None:
    facts, integrator = snapshot.read_facts(), sim.integrator
    sim.payloads.restore(facts.get("payload", {}))  # none in bags of before
    sim.gains.restore(facts.get("gains", {}))
    if facts["coupling"] != coupling_facts(sim.coupling):
        integrator.engage(coupling_from(sim.model, facts["coupling"]))
        sim.read_coupling()
    check_arrays(take_snapshot(sim, accounts).arrays, snapshot.arrays)
    integrator.restore(snapshot.part("engine"))
    if isinstance(integrator, RemembersStep):
        known = facts.get("last_step", {})  # none in bags of before
        integrator.recall_step(known if isinstance(known, dict) else {})
    sim.read_coupling()  # limits are the robot's, not the snapshot's
    check.configuration(sim.model, sim.q, "snapshot: q")
    check.velocity(sim.model, sim.v, "snapshot: v")
    sim.pushes.restore(facts["pushes"])
    accounts.restore(snapshot.arrays["books"])
