# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities: the robots and bodies of a simulation of several, which is a forest of all of them (model/merging.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.collision.shapes import convex_shapes
from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.dynamics.robot_state import RobotState
from mbsim_ros.integrators.integrator import Scene, ScenePart
from mbsim_ros.lie import quaternion
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.merging import BASE, merge_models
from mbsim_ros.model.model import Model
from mbsim_ros.sim import initial_states
from mbsim_ros.sim.scenes.contact_laws import contact_laws
from mbsim_ros.sim.scenes.entity_view import EntityView
from mbsim_ros.sim.surroundings.scene import chosen_springs
from mbsim_ros.sim.surroundings.standing import standing
from mbsim_ros.sim.world import World

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation

Given = Sequence["Model | str | Path"] | Mapping[str, "Model | str | Path"]


@dataclass(frozen=True)
class Entity:
    """One of several: where its numbers are among those of all."""

    name: str
    model: Model  # its own
    in_q: np.ndarray  # (nq,) where its coordinates are in those of the forest
    in_v: np.ndarray  # (nv,)


class Entities(Mapping[str, Entity]):
    """All of a simulation, by name, and the model of the forest that they are."""

    def __init__(self, given: Given | World, base: str = "auto", package_dirs: Sequence[str | Path] = ()):
        world = given if isinstance(given, World) else World({})
        given = given.models if isinstance(given, World) else given
        models = {
            name: each if isinstance(each, Model) else load_urdf(each, base, package_dirs=package_dirs)
            for name, each in _named(given).items()
        }
        if not models:
            raise ValueError("entities: expected at least one robot or body, got none")
        self.world = replace(world, models=models)
        self.forest = merge_models(models, self.world.poses)
        self._entities = {name: _entity(name, model, self.forest) for name, model in models.items()}

    def __getitem__(self, name: str) -> Entity:
        return self._entities[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entities)

    def __len__(self) -> int:
        return len(self._entities)

    def start(self, state: str, scene: Scene, gravity: float) -> tuple[np.ndarray, np.ndarray]:
        """q (nq,) and v (nv,) of the forest with every entity in its own state of this name, or home."""
        q, v = self.forest.neutral.copy(), np.zeros(self.forest.nv)
        owned = self._points_by_entity(scene.points)
        for entity in self.values():
            model = entity.model
            known = {} if model.sidecar is None else model.sidecar.initial_states
            wanted = self.world.states.get(entity.name, state)
            name = wanted if wanted in known or entity.name in self.world.states else initial_states.HOME
            q_own, v_own = initial_states.named_state(model, name)
            pose = self.world.poses.get(entity.name)
            if model.is_floating and pose is not None:
                w, x, y, z = quaternion.from_matrix(pose.matrix()[:3, :3])
                q_own[:7] = [*pose.xyz, x, y, z, w]
            elif not initial_states.places_base(model, name):
                q_own = standing(model, _own_scene(entity, scene, owned[entity.name]), q_own, gravity)
            q[entity.in_q], v[entity.in_v] = q_own, v_own
        return q, v

    def _points_by_entity(self, points: ContactPoints | None) -> dict[str, list[int]]:
        """Which points are whose, found for all at once: one search for each would be as many as entities squared."""
        found: dict[str, list[int]] = {name: [] for name in self}
        owner = {
            f"{each.name}/{link.name}": each.name for each in self.values() for link in each.model.description.links
        }
        for i, link in enumerate(() if points is None else points.links):
            found[owner[link]].append(i)
        return found

    def in_scene(self, scene: Scene, contact: object, gravity: float, dt: float) -> Scene:
        """A scene of the forest with the law of each entity, by its own mass, and shapes that touch each other."""
        models = {entity.name: entity.model for entity in self.values()}
        laws = contact_laws(models, self.forest, contact, scene.ground, scene.points, gravity, dt)
        links = {each.name: [link.name for link in each.model.description.links] for each in self.values()}
        groups = {f"{name}/{link}": k for k, (name, own) in enumerate(links.items()) for link in own}
        shapes = convex_shapes(self.forest, laws.of_shape, groups, laws.pairs)
        heaviest = max(self.values(), key=lambda entity: entity.model.mass)
        of_all = None if scene.contact is None else laws.of_all(f"{heaviest.name}/{links[heaviest.name][0]}")
        whole = replace(scene, contact=of_all, shapes=shapes if len(shapes) > 1 else None)
        owned = self._points_by_entity(scene.points)
        return replace(whole, parts=tuple(self._part(each, whole, owned[each.name]) for each in self.values()))

    def _part(self, entity: Entity, scene: Scene, own: list[int]) -> ScenePart:
        """An entity by itself, under the names that it has in the forest."""
        model = merge_models({entity.name: entity.model}, self.world.poses)
        points = scene.points
        if points is not None:
            points = replace(
                points, bodies=np.array([model.frame(points.links[i]).body for i in own], dtype=np.int64),
                geometry=points.geometry[own], links=tuple(points.links[i] for i in own),
                labels=tuple(points.labels[i] for i in own),
            )  # fmt: skip
        springs = chosen_springs(model, None) if scene.springs is not None else None
        touching = (scene.ground, points, scene.contact) if own else (None, None, None)
        return ScenePart(entity.name, model, Scene(*touching, springs=springs))


def _own_scene(entity: Entity, scene: Scene, own: list[int]) -> Scene:
    """What of a scene is an entity's own: its points, under its own names."""
    if scene.points is None:
        return Scene(scene.ground)
    prefix = f"{entity.name}/"
    links = tuple(scene.points.links[i].removeprefix(prefix) for i in own)
    bodies = np.array([entity.model.frame(link).body for link in links], dtype=np.int64)
    points = replace(
        scene.points, bodies=bodies, geometry=scene.points.geometry[own], links=links,
        labels=tuple(scene.points.labels[i] for i in own),
    )  # fmt: skip
    law = None if scene.contact is None or not own else scene.contact.links.get(scene.points.links[own[0]])
    return Scene(scene.ground if own else None, points if own else None, law)


class EntityState:
    """An entity of a simulation as it is now."""

    def __init__(self, sim: Simulation, entity: Entity):
        self._sim, self._entity = sim, entity

    @property
    def model(self) -> Model:
        """Its own model."""
        return self._entity.model

    @property
    def q(self) -> np.ndarray:
        """Its configuration (nq,), in its own order."""
        return self._sim.q[self._entity.in_q]

    @property
    def v(self) -> np.ndarray:
        """Its velocities (nv,), in its own order."""
        return self._sim.v[self._entity.in_v]

    def state(self) -> RobotState:
        """What a controller of it sees, under its own names."""
        return EntityView(self._sim, self._entity.name).of(self._sim.state())


def _named(given: Given) -> dict[str, Model | str | Path]:
    """By name; of a list by the names of the models, with a number where there are several of one."""
    if isinstance(given, Mapping):
        return dict(given)
    found: dict[str, Model | str | Path] = {}
    for each in given:
        name = each.name if isinstance(each, Model) else Path(each).name.partition(".")[0]
        unique, k = name, 2
        while unique in found:
            unique, k = f"{name}_{k}", k + 1
        found[unique] = each
    return found


def _entity(name: str, model: Model, forest: Model) -> Entity:
    joints = {joint.name: joint for joint in forest.joints}
    in_q: list[int] = []
    in_v: list[int] = []
    if model.is_floating:
        base = joints[f"{name}/{BASE}"]
        in_q += range(base.iq, base.iq + 7)
        in_v += range(base.iv, base.iv + 6)
    for joint in model.joints:
        if joint.iq >= 0:
            there = joints[f"{name}/{joint.name}"]
            in_q += range(there.iq, there.iq + joint.nq)
            in_v += range(there.iv, there.iv + joint.nv)
    return Entity(name, model, np.array(in_q, dtype=np.int64), np.array(in_v, dtype=np.int64))
