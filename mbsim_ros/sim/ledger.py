# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where the energy is and where it went: stores now, work and losses since the reset, and what is left over.

Works are done on the mechanism: what resists has negative work. Losses are energy that is gone: positive, except that
`contact_switching` is negative where a change of contact created energy. The integrator sums up every entry with the
velocities of the scheme, each from its own force. What is left,

    residue = change of all stores − works + losses,

is the scheme's discretisation error: bounded, and of second order in the step for smooth motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

WORKS = {
    "actuator_work": "actuators",
    "external_work": "pushes and loads from outside",
    "damping": "damping of joints",
    "friction": "friction of joints",
    "stops": "stops of joints",
    "spring_damping": "damping of springs",
}
LOSSES = {
    "contact_dissipated": "dampers of contact",
    "contact_friction": "friction of contact",
    "contact_switching": "changes of contact",
    "clutch_loss": "clutches",
}
STORES = {
    "kinetic": "kinetic",
    "potential": "potential",
    "elastic": "springs",
    "contact": "springs of contact",
}


@dataclass(frozen=True)
class Energy:
    """Energy of a simulation now [J]; `contact` is what the springs of contact hold."""

    kinetic: float
    potential: float
    elastic: float = 0.0
    contact: float = 0.0

    @property
    def total(self) -> float:
        """All of it."""
        return self.kinetic + self.potential + self.elastic + self.contact


@dataclass(frozen=True)
class Ledger:
    """Energies [J] now, works (on the mechanism) and losses since the reset; see the head of this file for signs."""

    kinetic: float
    potential: float
    elastic: float
    contact_stored: float
    actuator_work: float
    external_work: float
    damping: float
    friction: float
    stops: float
    spring_damping: float
    contact_dissipated: float
    contact_friction: float
    contact_switching: float
    clutch_loss: float
    change: float  # of all stores since the reset
    residue: float
    turned_over: float  # Σ |W|: of works, losses and the changes of the stores

    @property
    def total(self) -> float:
        """All that is stored now."""
        return self.kinetic + self.potential + self.elastic + self.contact_stored

    @property
    def relative_residue(self) -> float:
        """Size of the residue as a part of the energy turned over; 0 where nothing was."""
        return abs(self.residue) / self.turned_over if self.turned_over > 0.0 else 0.0

    def as_dict(self) -> dict[str, float]:
        """The entries by name."""
        return asdict(self)

    def __str__(self) -> str:
        rows: list[tuple[str, float | None]] = [("stored now", None)]
        rows += [(f"  {STORES[name]}", self._stored(name)) for name in STORES]
        rows += [("work since the reset", None)]
        rows += [(f"  {words}", getattr(self, name)) for name, words in WORKS.items()]
        rows += [("lost since the reset", None)]
        rows += [(f"  {words}", getattr(self, name)) for name, words in LOSSES.items()]
        rows += [("change of what is stored", self.change), ("left over (discretisation)", self.residue)]
        rows += [("turned over", self.turned_over)]
        width = max(len(words) for words, _ in rows)
        lines = [words if value is None else f"{words:<{width}}  {value:>13.6g} J" for words, value in rows]
        return "\n".join([*lines, f"{'left over / turned over':<{width}}  {100.0 * self.relative_residue:>13.3g} %"])

    def _stored(self, name: str) -> float:
        return getattr(self, "contact_stored" if name == "contact" else name)  # type: ignore[no-any-return]


LEDGER_ENTRIES = tuple(field.name for field in fields(Ledger))


def balanced(start: Energy, now: Energy, flows: Mapping[str, float]) -> Ledger:
    """The ledger of stores at the reset and now, and of the works and losses between, by name."""
    works = {name: flows.get(name, 0.0) for name in WORKS}
    losses = {name: flows.get(name, 0.0) for name in LOSSES}
    changes = [getattr(now, name) - getattr(start, name) for name in STORES]
    moved = sum(works.values()) - sum(losses.values())
    turned_over = sum(abs(value) for value in (*changes, *works.values(), *losses.values()))
    return Ledger(
        now.kinetic, now.potential, now.elastic, now.contact, **works, **losses, change=sum(changes),
        residue=sum(changes) - moved, turned_over=turned_over,
    )  # fmt: skip
