# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What contact remembers from step to step, and what it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mbsim_ros.contact.culling.pairs import PairCulling
from mbsim_ros.contact.culling.points import Culling
from mbsim_ros.contact.layout import (
    CONTACT_DAMPING,
    DEPTH,
    ENERGIES,
    FORCE,
    FRICTION,
    NORMAL,
    POSITION,
    RESULT_COLUMNS,
    STORED_NORMAL,
    STORED_TANGENTIAL,
    SWITCHING,
    WORK,
)
from mbsim_ros.contact.modes import NO_CONTACT, ContactMode


@dataclass(frozen=True, eq=False)
class PointReport:
    """One point as the last step had it; vectors (3,) in the world, the deflection of a pair in the other body's frame.

    penetration [m] is negative above the surface; the force [N] is that on the point, zero without contact.
    """

    mode: ContactMode
    penetration: float
    force: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    deflection: np.ndarray


@dataclass(frozen=True)
class ContactEnergy:
    """Energy [J] of the contact: what is stored now, what a step (or a sum of steps) moved.

    switching: lost from the springs without work when a mode changed, negative where it was created.
    """

    stored_normal: float = 0.0
    stored_tangential: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    switching: float = 0.0
    work: float = 0.0

    @property
    def stored(self) -> float:
        """Elastic energy, normal and tangential."""
        return self.stored_normal + self.stored_tangential


@dataclass(eq=False)
class ContactState:
    """State of n contacts (`modes`, `deflections`) and the arrays that the kernels write."""

    modes: np.ndarray  # (n,) int64, numbers of ContactMode
    deflections: np.ndarray  # (n, 3) float64
    latest: np.ndarray = field(repr=False)  # (n, 16) float64, `results` of all that may touch; others may be older
    blocks: np.ndarray = field(repr=False)  # (n, 9) float64
    active: np.ndarray = field(repr=False)  # (n,) int64
    energies: np.ndarray = field(repr=False)  # (6,) float64
    complete: Callable[[], None] | None = field(default=None, repr=False)  # makes `latest` that of all points
    culling: Culling | PairCulling | None = field(
        default=None, repr=False
    )  # which of them are not computed in every step

    @property
    def results(self) -> np.ndarray:
        """What the last step left of every point (n, 16), columns named in layout.py."""
        if self.complete is not None:
            self.complete()
        return self.latest

    def forget_culling(self) -> None:
        """Look at all points in the next step: for when their state was set from outside, with all results."""
        if self.culling is not None:
            self.culling.forget()

    def clear(self) -> None:
        """Back to no contact anywhere."""
        self.modes[:] = NO_CONTACT
        for array in (self.deflections, self.latest, self.blocks, self.active, self.energies):
            array[:] = 0
        self.forget_culling()

    def saved(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Copies of all that a continuation bit for bit needs: modes and deflections, and results for the reports."""
        return self.modes.copy(), self.deflections.copy(), self.results.copy()

    def restore(self, saved: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """Take back what `saved` gave."""
        for own, kept in zip((self.modes, self.deflections, self.latest), saved, strict=True):
            if own.shape != kept.shape:
                raise ValueError(f"saved contact: expected shape {own.shape}, got {kept.shape}")
        self.modes[:], self.deflections[:], self.latest[:] = saved
        self.forget_culling()

    def reports(self, count: int | None = None) -> tuple[PointReport, ...]:
        """Mode, penetration, force and deflection of every point, or of the first ones."""
        rows = slice(count)
        return tuple(
            PointReport(
                ContactMode(int(mode)),
                float(row[DEPTH]),
                row[FORCE : FORCE + 3].copy(),
                row[POSITION : POSITION + 3].copy(),
                row[NORMAL : NORMAL + 3].copy(),
                deflection.copy(),
            )
            for mode, row, deflection in zip(self.modes[rows], self.results[rows], self.deflections[rows], strict=True)
        )

    def energy(self) -> ContactEnergy:
        """The energies that the kernels have added up since they were zero."""
        e = self.energies
        return ContactEnergy(
            *(float(e[k]) for k in (STORED_NORMAL, STORED_TANGENTIAL, CONTACT_DAMPING, FRICTION, SWITCHING, WORK))
        )


def contact_state(n: int) -> ContactState:
    """State of n points, or pairs, that touch nothing."""
    return ContactState(
        np.full(n, NO_CONTACT, dtype=np.int64),
        np.zeros((n, 3)),
        np.zeros((n, RESULT_COLUMNS)),
        np.zeros((n, 9)),
        np.zeros(n, dtype=np.int64),
        np.zeros(ENERGIES),
    )
