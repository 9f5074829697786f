# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What measuring one case of the suite `steps` gives: times per step of all contenders, and what was watched."""

from __future__ import annotations

from dataclasses import dataclass, field

from mbsim_ros.bench.result import Table
from mbsim_ros.bench.timing import Timing

OURS = "ours"


@dataclass(frozen=True)
class Effort:
    """How much is done: with MuJoCo or not, and (batches, nanoseconds per batch) of measurements and screening."""

    peers: bool
    quick: bool

    @property
    def batches(self) -> tuple[int, float]:
        """Of a measurement."""
        return (3, 2e5) if self.quick else (21, 5e6)

    @property
    def screening(self) -> tuple[int, float]:
        """Of the look at all of MuJoCo's setups."""
        return (3, 2e6)


@dataclass
class StepCase:
    """A case: times per step by contender, ours first, and iterations of ours per step.

    watched: by contender, numbers that show that it did what it should, such as its speed.
    defaults: the peers that have their default settings but for the integrator.
    """

    name: str
    dofs: int
    timings: dict[str, Timing]
    iterations: float
    watched: dict[str, dict[str, float]] = field(default_factory=dict)
    defaults: frozenset[str] = frozenset()

    @property
    def ours(self) -> Timing:
        """Our time per step."""
        return self.timings[OURS]

    @property
    def fastest_peer(self) -> str | None:
        """The name of the fastest of the others; None without any."""
        peers = [name for name in self.timings if name != OURS]
        return min(peers, key=lambda name: self.timings[name].median) if peers else None

    @property
    def fastest_default(self) -> str | None:
        """The fastest of those of which only the integrator was chosen."""
        peers = [name for name in self.timings if name in self.defaults]
        return min(peers, key=lambda name: self.timings[name].median) if peers else None

    def ratio(self, peer: str) -> float:
        """Our median over that of a peer: below 1 ours is faster."""
        return self.ours.median / self.timings[peer].median

    def table(self) -> Table:
        """A row per contender, the fastest peer marked with a star."""
        table = Table(self.name, ["", "µs", "± %", "ours over it", "iterations", "watched"])
        for name, time in self.timings.items():
            label = f"{name} *" if name == self.fastest_peer else name
            ratio = "" if name == OURS else f"{self.ratio(name):.2f}"
            iterations = f"{self.iterations:.2f}" if name == OURS else ""
            seen = ", ".join(f"{what} {value:.4g}" for what, value in self.watched.get(name, {}).items())
            table.rows.append([label, f"{time.median / 1e3:.3g}", f"{50 * time.spread:.0f}", ratio, iterations, seen])
        return table

    def records(self) -> list[dict[str, object]]:
        """Flat records for the results file."""
        return [
            {
                "case": self.name, "dofs": self.dofs, "contender": name,
                "median_us": time.median / 1e3, "low_us": time.low / 1e3, "high_us": time.high / 1e3,
                "batches": time.batches, "steps_per_batch": time.calls,
                "iterations_per_step": self.iterations if name == OURS else None,
                "watched": self.watched.get(name, {}),
            }
            for name, time in self.timings.items()
        ]  # fmt: skip
