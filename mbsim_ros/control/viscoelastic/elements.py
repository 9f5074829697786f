# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What couples two bodies, or a body and the world: a spring with a damper, H (16) to (20), or a muscle, H 2.3.1.

Each acts between a point of one link and a point of another, and has what it stores. A spring and damper act every way,
Δ₁₂ = −K_c (p₁ − p₂) − L_c (ṗ₁ − ṗ₂). A muscle acts along the line between its points, H Figure 1b: a tendon K in series
with an active element whose force is the neural input, and a viscous element L beside that. It pulls and never pushes:

    F = K z where the tendon is stretched by z > 0, else 0        L μ̇ = F − a        z = ℓ − ℓ₀ − μ

with the length ℓ between the points, the length μ of the active element, its force a ≥ 0, and ℓ₀ of the slack tendon.
What the active element puts in, ∫ −a μ̇ dt, is counted: less that, what is stored only goes into the viscous element.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import yaml

from mbsim_ros.control.viscoelastic.law import is_positive, rows_of

WORLD = ""
NO_LENGTH = 1e-12  # m: shorter than this a muscle has no direction


class Anchor(NamedTuple):
    """Where an element is fixed: a point (3,) of a link in its axes, or of the world."""

    link: str
    point: np.ndarray


class Connection(Protocol):
    """Something between two anchors that has a force."""

    name: str
    anchors: tuple[Anchor, Anchor]
    stored: float  # J: what it stores, less what was put in

    def reset(self) -> None:
        """Begin anew."""

    def update(self, t: float, way: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """The force (3,) on the first anchor in the world; way (3,) from the second to the first, and its rate."""


@dataclass
class SpringDamper:
    """K_c, L_c (3, 3) every way."""

    name: str
    anchors: tuple[Anchor, Anchor]
    stiffness: np.ndarray = field(repr=False)
    damping: np.ndarray = field(repr=False)
    stored: float = 0.0

    def reset(self) -> None:
        """See Connection."""
        self.stored = 0.0

    def update(self, t: float, way: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """See Connection."""
        pull = self.stiffness @ way
        self.stored = float(0.5 * way @ pull)
        return np.asarray(-pull - self.damping @ rate)


@dataclass
class Muscle:
    """A tendon [N/m], a viscous element [N s/m], the length of the slack tendon [m], and the active force [N]."""

    name: str
    anchors: tuple[Anchor, Anchor]
    tendon: float
    damping: float
    slack_length: float = 0.0
    force: float = 0.0
    stored: float = 0.0

    def __post_init__(self) -> None:
        self.activate(self.force)
        self.reset()

    def activate(self, force: float) -> None:
        """From now on the active element pulls with this force [N]."""
        if not (math.isfinite(force) and force >= 0.0):
            raise ValueError(f"{self.name}: expected an active force of 0 or more, for a muscle pulls, got {force}")
        self.force = float(force)

    def reset(self) -> None:
        """See Connection. It begins as it is when nothing moves: with the tendon stretched by the active force."""
        self.stretch = self.put_in = self.stored = 0.0
        self._acting = self.force
        self._last: tuple[float, float] | None = None  # time [s], and length [m]

    def update(self, t: float, way: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """See Connection."""
        length = float(np.linalg.norm(way))
        if self._last is None:
            self.stretch = self.force / self.tendon
        elif t > self._last[0]:
            self._advance(t - self._last[0], length - self._last[1])
        self._last, self._acting = (t, length), self.force
        tension = self.tendon * max(self.stretch, 0.0)
        self.stored = 0.5 * self.tendon * max(self.stretch, 0.0) ** 2 - self.put_in
        return np.asarray(way * (-tension / length)) if length > NO_LENGTH else np.zeros(3)

    def _advance(self, h: float, longer: float) -> None:
        """Over h [s], while the length grows evenly by so much [m]; the active force is that of the last update."""
        rate, before = longer / h, self.stretch
        left = h
        if self.stretch < 0.0:  # slack: the active element takes up what hangs
            taking_up = rate + self._acting / self.damping
            needs = -self.stretch / taking_up if taking_up > 0.0 else math.inf
            if needs >= h:
                self.stretch, left = self.stretch + taking_up * h, 0.0
            else:
                self.stretch, left = 0.0, h - needs
        if left > 0.0:
            self._stretched(left, rate)
        self.put_in -= self._acting * (longer - (self.stretch - before))  # a μ̇, with μ = ℓ − ℓ₀ − z

    def _stretched(self, h: float, rate: float) -> None:
        """Over h [s] from a tendon that is not slack; it may become so."""
        tends_to, speed = (self._acting + self.damping * rate) / self.tendon, self.tendon / self.damping
        after = tends_to + (self.stretch - tends_to) * math.exp(-speed * h)
        if after < 0.0:
            needs = math.log((self.stretch - tends_to) / -tends_to) / speed
            after = (h - needs) * (rate + self._acting / self.damping)
        self.stretch = after


def read_elements(text: str, links: Mapping[str, object]) -> tuple[SpringDamper | Muscle, ...]:
    """The elements of a YAML text by name; ValueError says what of it is wrong. links: those that there are."""
    try:
        given = yaml.safe_load(text) if text.strip() else {}
    except yaml.YAMLError as error:
        raise ValueError(f"elements: expected YAML, got {text!r:.80}: {error}") from None
    if not isinstance(given, dict) or not all(isinstance(each, dict) for each in given.values()):
        raise ValueError(f"elements: expected a mapping of names to elements, got {text!r:.80}")
    return tuple(_element(str(name), dict(entries), links) for name, entries in given.items())


def _element(name: str, entries: dict[str, object], links: Mapping[str, object]) -> SpringDamper | Muscle:
    anchors = _anchor(name, "from", entries, links), _anchor(name, "to", entries, links)
    if anchors[0].link == anchors[1].link:
        raise ValueError(f"elements: {name}: expected two bodies, or one and the world, got {anchors[0].link!r} twice")
    is_muscle = "tendon" in entries
    known = ("tendon", "damping", "slack_length", "force") if is_muscle else ("stiffness", "damping")
    strange = [key for key in entries if key not in known]
    if strange:
        raise ValueError(f"elements: {name}: expected from, to and any of {', '.join(known)}, got {strange[0]!r}")
    if is_muscle:
        numbers = {key: _number(name, key, value) for key, value in entries.items()}
        for key in ("tendon", "damping"):
            if not numbers.get(key, 0.0) > 0.0:
                raise ValueError(f"elements: {name}: expected {key} above 0, got {numbers.get(key, 'none')}")
        return Muscle(name, anchors, **numbers)
    stiffness, damping = (_gain(name, key, entries.get(key, 0.0)) for key in known)
    return SpringDamper(name, anchors, stiffness, damping)


def _anchor(name: str, end: str, entries: dict[str, object], links: Mapping[str, object]) -> Anchor:
    given = entries.pop(end, None)
    if not isinstance(given, dict) or not given.keys() <= {"link", "point"}:
        raise ValueError(f"elements: {name}: expected {end}: {{link: NAME, point: [x, y, z]}}, got {given!r}")
    link = str(given.get("link", WORLD))
    if link != WORLD and link not in links:
        raise ValueError(f"elements: {name}: {end}: no link named {link!r}; there are {', '.join(links)}")
    return Anchor(link, np.array(_numbers(name, "point", given.get("point", [0.0, 0.0, 0.0]), (3,))))


def _gain(name: str, key: str, given: object) -> np.ndarray:
    """One number for every way, a diagonal or rows; positive semidefinite."""
    values = _numbers(name, key, [given] * 3 if isinstance(given, int | float) else given, (3, 9))
    matrix = rows_of(key, values)
    if not is_positive(matrix, semidefinite=True):
        raise ValueError(f"elements: {name}: {key}: expected a symmetric positive matrix, got {given}")
    return matrix


def _numbers(name: str, key: str, given: object, lengths: tuple[int, ...]) -> tuple[float, ...]:
    if not isinstance(given, list) or len(given) not in lengths:
        raise ValueError(f"elements: {name}: {key}: expected {' or '.join(map(str, lengths))} numbers, got {given!r}")
    return tuple(_number(name, key, each) for each in given)


def _number(name: str, key: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise ValueError(f"elements: {name}: {key}: expected a finite number, got {given!r}")
    return float(given)
