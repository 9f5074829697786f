# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Laws of contact in a scene: of each entity by its own mass, and of two links of different entities by their entry.

An entity whose sidecar says how deep it sinks in and how it is damped has that law on the ground, the same as alone,
and so has a pair with an entry that says both. What is not said is as a scene needs it: springs so stiff that a stack
does not sway, and dampers that act from the touch on, since the depth to fade in over is passed in a step; those of
free bodies act more on what is slow and carries others (collision/settling_kernel.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mbsim_ros.collision.settling_kernel import SETTLES
from mbsim_ros.contact.parameters import STEPS_PER_CONTACT, ContactParameters, derive_parameters, without_fade
from mbsim_ros.contact.points import ContactPoints, ContactWarning
from mbsim_ros.contact.terrain import Ground
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean, warn_user
from mbsim_ros.model.sidecar.settings import ContactSettings
from mbsim_ros.sim.surroundings.scene import chosen_settings

# How deep bodies press into each other under their own weight, where nothing is said: a stack presses the lowest of its
# bodies many times as deep, and must not sway on it.
MAX_PENETRATION = 1e-4  # m
# Damping ratios where nothing is said. The one that stops a body within a step, h b = 2 m, is 1/(ω h): less lets it
# sway, more would throw it back, since a step meets the damper with its mean velocity.
LEAST_DAMPING, MOST_DAMPING = 1.0, 4.0

Pair = tuple[str, str]  # names of two links in the scene, sorted


@dataclass(frozen=True)
class ContactLaws:
    """Laws of all links of a scene on the ground, by their names in it, and of pairs that have one of their own."""

    links: Mapping[str, ContactParameters]
    pairs: Mapping[Pair, ContactParameters]

    def of_shape(self, link: str) -> ContactParameters:
        """The law of a link towards other entities."""
        return without_fade(self.links[link], min(self.links[link].fade_depth, 0.0))

    def of_all(self, first: str) -> ContactParameters:
        """As one law with all of them: that of a link, and where others differ."""
        return replace(self.links[first], links=self.links, pairs=self.pairs)


def contact_laws(
    models: Mapping[str, Model], forest: Model, contact: object, ground: Ground | None, points: ContactPoints | None,
    gravity: float, dt: float,
) -> ContactLaws:  # fmt: skip
    """The laws of entities, by name; contact: what `Simulation` was given. ValueError says which entry is wrong."""
    on_links = Counter(() if points is None else points.links)
    makers = {}
    for name, model in models.items():
        count = 1 if points is None else sum(on_links[f"{name}/{link.name}"] for link in model.description.links)
        makers[name] = _LawMaker.of(name, model, ground, count, gravity, dt)
    given, said, pairs = said_of(models, forest, contact)
    links: dict[str, ContactParameters] = {}
    for name, model in models.items():
        law = makers[name].law(said[name]) if given is None else given
        for link in model.description.links:
            links[f"{name}/{link.name}"] = law.links.get(link.name, replace(law, links={}, pairs={}))
    between = {} if given is not None else {
        pair: _between(pair, settings, makers, forest) for pair, settings in pairs.items()
    }  # fmt: skip
    return ContactLaws(links, between)


def said_of(
    models: Mapping[str, Model], forest: Model, contact: object
) -> tuple[ContactParameters | None, dict[str, ContactSettings], dict[Pair, ContactSettings]]:
    """A finished law, if given; else what is said of each entity, and of pairs of links of two, sidecars and argument.

    The argument's links and pairs have the names of the scene; those of a sidecar its own, and `entity/link` of others.
    """
    given, of_scene = chosen_settings(forest, contact)
    common, is_whole = of_scene or ContactSettings(), isinstance(contact, ContactSettings)
    said: dict[str, ContactSettings] = {}
    pairs: dict[Pair, ContactSettings] = {}
    origin: dict[Pair, str] = {}
    for name, model in models.items():
        sidecar = None if model.sidecar is None or is_whole else model.sidecar.contact
        own = sidecar or ContactSettings()
        links = {
            link.removeprefix(f"{name}/"): each for link, each in common.links.items() if link.startswith(f"{name}/")
        }
        said[name] = replace(own, pairs={}).changed(replace(common, links=links, pairs={}, points={}))
        for words, settings in own.pairs.items():
            pair = _pair_in_scene(name, words, models)
            if pair is None:
                continue
            if pair in pairs and pairs[pair] != settings:
                raise ValueError(
                    f"contact: pair '{' '.join(pair)}' is in the sidecars of '{origin[pair]}' and '{name}', and they "
                    "differ: keep one"
                )
            pairs[pair], origin[pair] = settings, name
    based = {pair: said[origin[pair]].changed(own) for pair, own in pairs.items()}
    for (a, b), settings in common.pairs.items():
        for link in (a, b):
            if link not in forest.frames:
                hint = did_you_mean(link, forest.frames, "names are as in 'arm/hand'", 0)
                raise ValueError(f"contact: pair '{a} {b}': no link named {link!r} in the scene: {hint}")
        based[a, b] = based.get((a, b), said[a.partition("/")[0]]).changed(settings)
    return given, said, {pair: replace(settings, links={}, pairs={}) for pair, settings in based.items()}


def _pair_in_scene(name: str, words: Pair, models: Mapping[str, Model]) -> Pair | None:
    """The names in the scene of a pair of an entity's sidecar; None where the other entity is not there, or nobody."""
    own = {link.name for link in models[name].description.links}
    found = [f"{name}/{word}" if word in own else word for word in words]
    for full in found:
        entity, _, link = full.partition("/")
        if entity not in models:
            return None  # it may come
        known = [each.name for each in models[entity].description.links]
        if link not in known:
            hint = did_you_mean(link, known, f"it has {', '.join(known[:5])}", 0)
            raise ValueError(f"contact: pair '{' '.join(words)}' of '{name}': '{entity}' has no link {link!r}: {hint}")
    a, b = sorted(found)
    return None if a.partition("/")[0] == b.partition("/")[0] else (a, b)  # links of one entity do not touch


def _between(
    pair: Pair, settings: ContactSettings, makers: Mapping[str, _LawMaker], forest: Model
) -> ContactParameters:
    """The law of two links by their entry: that of the heavier entity, damped for the masses of both."""
    # who touches what is fixed to the world brings the law, and moves all by itself
    moving = [link for link in pair if forest.frame(link).body >= 0] or [pair[0]]
    first, *second = (makers[link.partition("/")[0]].law(settings) for link in moving)
    return first.against(second[0]) if second else first


@dataclass(frozen=True)
class _LawMaker:
    """What makes the law of an entity from its settings."""

    name: str
    mass: float
    points: int
    ground: Ground | None
    gravity: float
    dt: float
    is_free_body: bool

    @classmethod
    def of(cls, name: str, model: Model, ground: Ground | None, points: int, gravity: float, dt: float) -> _LawMaker:
        """Of an entity of a scene with so many points against the ground."""
        mass = model.mass if model.mass > 0.0 else 1.0  # what stands still: others bring the law
        return cls(name, mass, points, ground, gravity, dt, model.n_bodies <= 1)

    def law(self, said: ContactSettings) -> ContactParameters:
        """The law by these settings, and by what a scene needs where they say nothing."""
        depth = max(MAX_PENETRATION, self.gravity * (STEPS_PER_CONTACT * self.dt / math.pi) ** 2)  # the step resolves
        stop = math.sqrt(depth / self.gravity) / self.dt if self.gravity > 0.0 else 0.0
        has_depth = said.max_penetration is not None or said.stiffness is not None
        has_damping = said.damping_ratio is not None or said.damping is not None
        if not has_depth:
            said = replace(said, max_penetration=depth)
        if not has_damping:
            said = replace(said, damping_ratio=min(max(stop, LEAST_DAMPING), MOST_DAMPING))
        law = derive_parameters(self.mass, self.points, said, self.ground, gravity=self.gravity)
        if has_depth:
            warning = law.check_step(self.dt)
            if warning is not None:
                warn_user(f"entity '{self.name}': {warning}", ContactWarning)
        if has_depth and has_damping:
            return law
        # a link of a robot may weigh much less than the robot that its law is for: more damping would shake it
        return without_fade(law, SETTLES if self.is_free_body and not has_damping else 0.0)
