# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Stiffness, damping and friction of contact from numbers that a user can choose.

A robot of mass m that stands on N points sinks in by δ if each has k = m g/(N δ). N is the least number of points that
carry it; with more of them it sinks in less. Each carries the mass m/N, so b = 2 ζ √(k m/N) damps it with the ratio ζ.
Along the ground k and b are the same, as W section 5.3 has it.

What a step must resolve
------------------------
In a contact that lasts, the implicit midpoint rule is stable for every step and stiffness. What goes wrong is
the crossing of the surface. The force of a step is that of its middle, so a step that begins outside at a distance a
and ends inside makes (or loses, on the way out) up to ½k a² that nobody worked for, with a at most half the way of a
step, v h/2. As a part of the energy of the impact that is (ω h/2)², ω² = k N/m. Gains and losses alternate and mostly
cancel, and damping takes more than that; still

    ω h > π/4   the contact lasts under four steps, and one impact may be wrong by 15 % of its energy: a warning
    ω h ≥ 2     one impact may double its energy: refused

With derived k, ω² = g/δ, whatever the robot. A single light link may be faster than that; the solve takes it in its
stride (the rule is stable), and only that link's own small energy is at stake.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.contact.law_registry import DEFAULT_LAW, law_number, law_parameters, law_summary
from mbsim_ros.contact.layout import (
    BN,
    BT,
    FADE_DEPTH,
    KN,
    KT,
    LAW,
    LAW_PARAMETER,
    MU_DYNAMIC,
    MU_STATIC,
    PARAMETER_COLUMNS,
    REST_DEPTH,
    STICK_SPEED,
)
from mbsim_ros.contact.terrain import Ground
from mbsim_ros.model.sidecar.settings import ContactSettings

if TYPE_CHECKING:
    from mbsim_ros.contact.body_pairs import BodyPairs

MAX_PENETRATION = 1e-3  # m
DAMPING_RATIO = 1.0
SLOWEST_SLIDE = 1e-3  # m/s, W section 5.3: zvt
SUPPORT_POINTS = 3  # three points carry a body; a ball has one
FADE = 0.5  # of the penetration at rest: the damper is whole where the robot stands
STEPS_PER_CONTACT = 4.0
REFUSED_PRODUCT = 2.0  # ω h


class ContactTooStiff(ValueError):
    """A contact that the time step cannot follow; the text says which step or penetration would do."""


@dataclass(frozen=True)
class ContactParameters:
    """The numbers of the law, SI units. Make them with `derive_parameters`.

    `links` and `pairs` are complete laws of their own; theirs are empty.
    """

    stiffness: float
    damping: float
    tangential_stiffness: float
    tangential_damping: float
    friction_static: float
    friction_dynamic: float
    stick_speed: float  # W's zvt: a slower point sticks
    fade_depth: float  # depth at which the normal damper acts fully; 0: from the touch on, SETTLES: and more when slow
    point_mass: float  # mass that one point carries, m/N
    damping_ratio: float | None = None  # None: the damping was given
    gravity: float = 9.81
    law: str | None = None  # along the normal: one of contact/laws, or a scheme's own; None: what the scheme takes
    law_parameters: tuple[float, ...] = ()  # what is the law's own, in its order
    links: Mapping[str, ContactParameters] = field(default_factory=dict)  # of links that differ
    pairs: Mapping[tuple[str, str], ContactParameters] = field(default_factory=dict)  # of two links, sorted by name

    @property
    def frequency(self) -> float:
        """ω of the mass of a point on its spring [rad/s]."""
        return math.sqrt(self.stiffness / self.point_mass)

    @property
    def max_penetration(self) -> float:
        """Depth of a point that carries its share of the weight [m]."""
        return self.point_mass * self.gravity / self.stiffness

    def array(self) -> np.ndarray:
        """The parameters as the kernels take them, (14,), read-only."""
        values = np.zeros(PARAMETER_COLUMNS)
        values[KN], values[BN], values[FADE_DEPTH] = self.stiffness, self.damping, self.fade_depth
        values[KT], values[BT] = self.tangential_stiffness, self.tangential_damping
        values[MU_STATIC], values[MU_DYNAMIC] = self.friction_static, self.friction_dynamic
        values[STICK_SPEED] = self.stick_speed
        values[LAW], values[REST_DEPTH] = law_number(self.law or DEFAULT_LAW), self.max_penetration
        values[LAW_PARAMETER : LAW_PARAMETER + len(self.law_parameters)] = self.law_parameters
        values.setflags(write=False)
        return values

    def fingerprint(self, taken: str = DEFAULT_LAW) -> tuple[str, np.ndarray]:
        """What tells this law from others: its name, nothing for the default, and its numbers.

        taken: the law that the scheme takes where nothing is said.
        """
        is_default = self.law is None or self.law == taken == DEFAULT_LAW
        words = "" if is_default else f"{self.law} {self.law_parameters}"
        others = {**self.links, **{" ".join(pair): law for pair, law in self.pairs.items()}}
        for name, law in sorted(others.items()):
            own_words, numbers = law.fingerprint(taken)
            words += f" {name} {own_words} {numbers.tolist()}"
        return words, self.array()[:LAW]

    def rows(self, links: Sequence[str]) -> np.ndarray:
        """The parameters of points on these links against the ground (n, 14), read-only."""
        values = np.array([self.links.get(link, self).array() for link in links]).reshape(-1, PARAMETER_COLUMNS)
        values.setflags(write=False)
        return values

    def pair_rows(self, links: Sequence[str], pairs: BodyPairs) -> np.ndarray:
        """The parameters of pairs of these links' points with shapes (m, 14), read-only."""
        found = [(links[point], pairs.shape_links[shape]) for point, shape in pairs.pairs.tolist()]
        made = {pair: self.of_pair(*pair).array() for pair in dict.fromkeys(found)}
        values = np.array([made[pair] for pair in found]).reshape(-1, PARAMETER_COLUMNS)
        values.setflags(write=False)
        return values

    def of_pair(self, link: str, other: str) -> ContactParameters:
        """The law between two links: their own; or the common one, with the lower friction of the two."""
        a, b = sorted((link, other))
        if (a, b) in self.pairs:
            return self.pairs[a, b]
        slippery = min((self.links.get(each, self) for each in (a, b)), key=lambda law: law.friction_static)
        return replace(self, friction_static=slippery.friction_static, friction_dynamic=slippery.friction_dynamic)

    def with_friction(self, static: float, dynamic: float) -> ContactParameters:
        """The same with another friction of everything."""
        links = {name: law.with_friction(static, dynamic) for name, law in self.links.items()}
        pairs = {names: law.with_friction(static, dynamic) for names, law in self.pairs.items()}
        return replace(self, friction_static=static, friction_dynamic=dynamic, links=links, pairs=pairs)

    def between(self, mass_a: float, mass_b: float) -> ContactParameters:
        """The same law between two bodies of these masses: their reduced mass is damped with the same ratio."""
        _positive("mass_a", mass_a)
        _positive("mass_b", mass_b)
        mass = mass_a * mass_b / (mass_a + mass_b)
        pairs = {names: law.between(mass_a, mass_b) for names, law in self.pairs.items()}
        if self.damping_ratio is None:
            return replace(self, point_mass=mass, pairs=pairs)
        damping = 2.0 * self.damping_ratio * math.sqrt(self.stiffness * mass)
        tangential = damping if self.tangential_damping == self.damping else self.tangential_damping
        return replace(self, point_mass=mass, damping=damping, tangential_damping=tangential, pairs=pairs)

    def against(self, other: ContactParameters) -> ContactParameters:
        """The law between two entities that have these: the stiffer one's, with the lower friction.

        A damping ratio is one for both masses; a damping that was given stays. `combine_into` of the detection does the
        same where links have no law of their own.
        """
        stiff = self if self.stiffness >= other.stiffness else other
        slippery = self if self.friction_static <= other.friction_static else other
        fades = self.fade_depth, other.fade_depth
        law = replace(
            stiff, friction_static=slippery.friction_static, friction_dynamic=slippery.friction_dynamic,
            fade_depth=min(fades) if max(fades) < 0.0 else max(min(fades), 0.0), links={}, pairs={},
        )  # fmt: skip
        if stiff.damping_ratio is None:
            return law
        reduced = self.point_mass * other.point_mass / (self.point_mass + other.point_mass)
        lighter = math.sqrt(reduced / stiff.point_mass)
        return replace(law, damping=lighter * stiff.damping, tangential_damping=lighter * stiff.tangential_damping)

    def check_step(self, dt: float) -> str | None:
        """What to know about this step [s]: None, or a warning with the numbers that would do.

        Raises ContactTooStiff where one impact could double its energy (see the head of this file).
        """
        _positive("dt", dt)
        stiffest = max((self, *self.links.values(), *self.pairs.values()), key=lambda law: law.frequency)
        if stiffest is not self:
            return stiffest.check_step(dt)
        product = self.frequency * dt
        steps = math.pi / product
        if steps >= STEPS_PER_CONTACT:
            return None
        good_step = math.pi / (STEPS_PER_CONTACT * self.frequency)
        good_depth = self.gravity * (STEPS_PER_CONTACT * dt / math.pi) ** 2
        good_stiffness = self.point_mass * (math.pi / (STEPS_PER_CONTACT * dt)) ** 2
        advice = (
            f"use dt ≤ {_below(good_step)} s, or max_penetration ≥ {_above(good_depth)} m "
            f"(stiffness ≤ {_below(good_stiffness)} N/m)"
        )
        lasts = f"contact of stiffness {self.stiffness:.3g} N/m lasts {steps:.2g} steps of {dt:g} s"
        if product >= REFUSED_PRODUCT:
            raise ContactTooStiff(f"{lasts}: an impact could double its energy; {advice}")
        return f"{lasts}: an impact may be wrong by {25.0 * product**2:.0f} % of its energy; {advice}"

    def __str__(self) -> str:
        depth = 1e3 * self.max_penetration
        origin = "given" if self.damping_ratio is None else f"ratio {self.damping_ratio:g}"
        return "\n".join(
            [
                f"stiffness {self.stiffness:.4g} N/m: {depth:.3g} mm under {self.point_mass:.4g} kg",
                f"damping {self.damping:.4g} N s/m ({origin}), whole from {1e3 * max(self.fade_depth, 0.0):.3g} mm on",
                f"along the ground {self.tangential_stiffness:.4g} N/m, {self.tangential_damping:.4g} N s/m",
                f"friction {self.friction_static:g} static, {self.friction_dynamic:g} dynamic, "
                f"sticks below {self.stick_speed:g} m/s",
                f"law {self.law or DEFAULT_LAW}: {law_summary(self.law or DEFAULT_LAW)}"
                f"{'' if self.law else ', unless the integrator has its own'}",
                f"a contact lasts {1e3 * math.pi / self.frequency:.3g} ms",
            ]
        )


def derive_parameters(
    mass: float,
    points: int,
    settings: ContactSettings | None = None,
    ground: Ground | None = None,
    *,
    gravity: float = 9.81,
    support_points: int | None = None,
) -> ContactParameters:
    """Parameters for a robot of this mass [kg] with this number of contact points.

    settings: the sidecar's; what it leaves open is 1 mm, ratio 1, the scheme's own law and the ground's friction; its
    stiffness and damping override what follows from them. support_points: the least number of points that carry the
    robot, 3 unless there are fewer. Without gravity the penetration is that under the weight on earth.
    """
    _positive("mass", mass)
    g = gravity if gravity > 0.0 else 9.81
    said = settings if settings is not None else ContactSettings()
    carrying = min(SUPPORT_POINTS, max(points, 1)) if support_points is None else support_points
    if carrying < 1:
        raise ValueError(f"support_points: expected at least 1, got {carrying}")
    depth = _positive("max_penetration", MAX_PENETRATION if said.max_penetration is None else said.max_penetration)
    point_mass = mass / carrying
    k = _positive("stiffness", point_mass * g / depth if said.stiffness is None else said.stiffness)
    ratio = _not_negative("damping_ratio", DAMPING_RATIO if said.damping_ratio is None else said.damping_ratio)
    b = 2.0 * ratio * math.sqrt(k * point_mass) if said.damping is None else _not_negative("damping", said.damping)
    static, dynamic = _friction(said, ground)
    own_parameters = law_parameters(said.law or DEFAULT_LAW, said.law_parameters)
    k_t = k if said.tangential_stiffness is None else _positive("tangential_stiffness", said.tangential_stiffness)
    b_t = b if said.tangential_damping is None else _not_negative("tangential_damping", said.tangential_damping)
    slow = SLOWEST_SLIDE if said.stick_speed is None else _positive("stick_speed", said.stick_speed)

    def of(own: ContactSettings) -> ContactParameters:
        settings = replace(said, links={}, pairs={}).changed(own)
        return derive_parameters(mass, points, settings, ground, gravity=gravity, support_points=support_points)

    return ContactParameters(
        stiffness=k, damping=b, tangential_stiffness=k_t, tangential_damping=b_t, friction_static=static,
        friction_dynamic=dynamic, stick_speed=slow, fade_depth=FADE * point_mass * g / k,
        links={name: of(own) for name, own in said.links.items()},
        pairs={names: of(own) for names, own in said.pairs.items()},
        point_mass=point_mass, damping_ratio=ratio if said.damping is None else None, gravity=g,
        law=said.law, law_parameters=own_parameters,
    )  # fmt: skip


def _friction(said: ContactSettings, ground: Ground | None) -> tuple[float, float]:
    default = ground if ground is not None else Ground(0, np.zeros(0), np.zeros((0, 0)))
    static, dynamic = said.friction_static, said.friction_dynamic
    static = (default.friction_static if dynamic is None else dynamic) if static is None else static
    dynamic = (default.friction_dynamic if said.friction_static is None else static) if dynamic is None else dynamic
    _not_negative("friction_dynamic", dynamic)
    if not dynamic <= static < math.inf:
        raise ValueError(f"friction_static: expected at least the dynamic friction {dynamic:g}, got {static:g}")
    return static, dynamic


def _positive(name: str, value: float) -> float:
    if not 0.0 < value < math.inf:
        raise ValueError(f"{name}: expected a positive finite number, got {value}")
    return value


def _not_negative(name: str, value: float) -> float:
    if not 0.0 <= value < math.inf:
        raise ValueError(f"{name}: expected a finite number ≥ 0, got {value}")
    return value


def _below(value: float) -> str:
    """Rounded down to two digits, so that the advice itself passes."""
    return _two_digits(value, math.floor)


def _above(value: float) -> str:
    return _two_digits(value, math.ceil)


def _two_digits(value: float, rounded) -> str:  # type: ignore[no-untyped-def]
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{rounded(value / unit) * unit:.2g}"


def without_fade(law: ContactParameters, fade_depth: float = 0.0) -> ContactParameters:
    """The same law, of links and pairs too, with dampers that act from the touch on instead of fading in by depth."""
    links = {name: without_fade(own, fade_depth) for name, own in law.links.items()}
    pairs = {names: without_fade(own, fade_depth) for names, own in law.pairs.items()}
    return replace(law, fade_depth=fade_depth, links=links, pairs=pairs)
