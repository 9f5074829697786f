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
from mbsim_ros.sim.books import Books
from mbsim_ros.sim.snapshots.checks import check_arrays, check_facts
from mbsim_ros.sim.snapshots.snapshot import Snapshot, coupling_facts, coupling_from, make_snapshot, refuse_other

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


def take_snapshot(sim: Simulation, books: Books) -> Snapshot:
    """Everything that a continuation needs, and what it is of."""
    facts = {
        "simulation": sim.identity,
        "coupling": coupling_facts(sim.coupling),
        "pushes": sim.pushes.saved(),
        "payload": sim.payloads.saved(),
        "gains": sim.gains.saved(),
    }
    # The integrator's own arrays have the drives, the pushes and what resists the joints among them.
    engine = {f"engine.{name}": array for name, array in sim.engine.saved().items()}
    return make_snapshot(facts, {"books": books.saved(), **engine})


def restore_snapshot(sim: Simulation, books: Books, snapshot: Snapshot) -> None:
    """Take a snapshot back; whatever goes wrong, the simulation is as before."""
    if not isinstance(snapshot, Snapshot):
        raise ValueError(f"snapshot: expected a Snapshot, got {type(snapshot).__name__}")
    facts = snapshot.read_facts()
    check_facts(facts)
    refuse_other(sim.identity, facts["simulation"])
    before = take_snapshot(sim, books)
    try:
        _write(sim, books, snapshot)
    except Exception:
        _write(sim, books, before)
        raise


def _write(sim: Simulation, books: Books, snapshot: Snapshot) -> None:
    facts, engine = snapshot.read_facts(), sim.engine
    sim.payloads.restore(facts.get("payload", {}))  # none in bags of before
    sim.gains.restore(facts.get("gains", {}))
    if facts["coupling"] != coupling_facts(sim.coupling):
        engine.engage(coupling_from(sim.model, facts["coupling"]))
        sim.read_coupling()
    check_arrays(take_snapshot(sim, books).arrays, snapshot.arrays)
    engine.restore(snapshot.part("engine"))
    sim.read_coupling()  # limits are the robot's, not the snapshot's
    check.configuration(sim.model, sim.q, "snapshot: q")
    check.velocity(sim.model, sim.v, "snapshot: v")
    sim.pushes.restore(facts["pushes"])
    books.restore(snapshot.arrays["books"])
