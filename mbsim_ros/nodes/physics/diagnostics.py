# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the physics node tells on /diagnostics. It only informs: whatever goes wrong here, the simulation goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from std_msgs.msg import Header

from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.nodes.stamps import stamp_of
from mbsim_ros.sim.simulation import Simulation

BOUND_PERIOD = 10.0  # s of wall time between two looks at how long a step might be, at least …
BOUND_SHARE = 1e-3  # … and of all wall time that they may take
Entries = dict[str, object]


class Diagnostics:
    """Ledger, speed, solver, step bound and refusals; each part that fails is named and costs no other."""

    def __init__(self, node: Node, sim: Simulation):
        self._node, self._sim = node, sim
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._parts: dict[str, Callable[[], Entries]] = {
            "solver": self._solver, "step bound": self._step_bound, "ledger": self._ledger,
        }  # fmt: skip
        self._reported: set[str] = set()  # parts whose failure is in the log
        self._bound: Entries = {}
        self._next_bound = 0.0  # s of wall time

    def publish(self, stamp: int, level: bytes, message: str, counts: Entries) -> None:
        """Tell what is known at this stamp [ns]; never raises."""
        entries = {**counts, "coupling": self._sim.coupling.name}
        failed = [name for name in self._parts if not self._add(name, entries)]
        if failed and level == DiagnosticStatus.OK:
            level, message = DiagnosticStatus.WARN, f"{message}; not known: {', '.join(failed)}"
        status = DiagnosticStatus(
            level=level, name=f"{self._node.get_fully_qualified_name()}: simulation", message=message,
            hardware_id=self._sim.model.name,
            values=[KeyValue(key=key, value=_words(value)) for key, value in entries.items()],
        )  # fmt: skip
        try:
            self._publisher.publish(DiagnosticArray(header=Header(stamp=stamp_of(stamp)), status=[status]))
        except Exception as error:
            self._report("diagnostics", error)

    def _add(self, name: str, entries: Entries) -> bool:
        """Add a part to the entries; if it fails, that."""
        try:
            entries |= self._parts[name]()
        except Exception as error:
            self._report(name, error)
            entries[f"{name} failed"] = f"{type(error).__name__}: {error}"
            return False
        return True

    def _report(self, name: str, error: Exception) -> None:
        """Log the first failure of a part."""
        if name not in self._reported:
            self._reported.add(name)
            self._node.get_logger().error(
                f"diagnostics: {name}: {type(error).__name__}: {error}; the simulation goes on, further failures are "
                "in /diagnostics only"
            )

    def _solver(self) -> Entries:
        integrator = self._sim.integrator
        return {
            "iterations of the last call": self._sim.iterations, "residual": float(integrator.residual),
            "Newton steps": integrator.counts.newton_steps, "halved steps": integrator.counts.halvings,
        }  # fmt: skip

    def _ledger(self) -> Entries:
        return {f"ledger {name} [J]": value for name, value in asdict(self._sim.ledger()).items()}

    def _step_bound(self) -> Entries:
        """How long a step might be in free motion. Some 10 ms of work: for those who look, and not too often."""
        if self._publisher.get_subscription_count() == 0:
            return {}
        begin = time.monotonic()
        if begin >= self._next_bound:
            self._next_bound = begin + BOUND_PERIOD
            self._bound = {}
            try:
                found = self._sim.step_bound()
                self._bound = {"step bound [s]": found.value, "step bound is": f"{found.kind}, {found.scope}"}
            except UnsupportedModel as error:
                self._bound = {"step bound is": f"none: {error}"}
            self._next_bound = begin + max(BOUND_PERIOD, (time.monotonic() - begin) / BOUND_SHARE)
        return self._bound


def _words(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
