# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities that come and go while a scene runs, by making the simulation anew: the others change in last digits.

Provisional: the core keeps others bit for bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.coupling.of_entities import without_entity
from mbsim_ros.model.description import Origin
from mbsim_ros.model.model import Model
from mbsim_ros.sim.world import World

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


def spawn(
    sim: Simulation, name: str, model: Model, pose: Origin | None, q: ArrayLike | None, v: ArrayLike | None
) -> None:
    """Add an entity; ValueError, and nothing changes, if it cannot be."""
    entities = _entities(sim)
    if name in entities:
        raise ValueError(f"spawn: expected a name that is free, got {name!r}")
    models = {**{each: entity.model for each, entity in entities.items()}, name: model}
    world = entities.world
    poses = world.poses if pose is None else {**world.poses, name: pose}
    _rebuild(sim, replace(world, models=models, poses=poses))
    if q is not None or v is not None:
        entity = _entities(sim)[name]
        q_all, v_all, steps = sim.q, sim.v, sim.integrator.step_count
        q_all[entity.in_q] = q_all[entity.in_q] if q is None else np.asarray(q)
        v_all[entity.in_v] = v_all[entity.in_v] if v is None else np.asarray(v)
        sim.reset(q_all, v_all)
        sim.integrator.step_count = steps


def delete(sim: Simulation, name: str) -> None:
    """Take an entity out; ValueError, and nothing changes, if it is not there or is the last."""
    entities = _entities(sim)
    if name not in entities:
        raise ValueError(f"delete: no entity named {name!r}")
    if len(entities) == 1:
        raise ValueError(f"delete: '{name}' is the last entity, and a scene has one at least")
    world = entities.world
    _rebuild(
        sim,
        replace(
            world,
            models={each: entity.model for each, entity in entities.items() if each != name},
            poses={each: pose for each, pose in world.poses.items() if each != name},
            states={each: state for each, state in world.states.items() if each != name},
        ),
        without=name,
    )


def _rebuild(sim: Simulation, world: World, without: str = "") -> None:
    from mbsim_ros.sim.simulation import Simulation

    scheme, before = sim.scheme, sim
    coupling = before.coupling.name
    kept = coupling if not without else without_entity(coupling, without, before.couplings)
    ground = sim.scene.ground
    nothing_touched = ground is None and sim.scene.points is None  # then there may be a ground for who comes
    new = Simulation(
        world, sim.dt, str(scheme["integrator"]), str(scheme["quadrature"]), str(scheme["retraction"]), 2,
        sim.integrator.gravity, None if nothing_touched else False if ground is None else ground,
        coupling=kept if kept not in ("", "identity") else None,
    )  # fmt: skip
    q, v = new.q, new.v
    for name, entity in _entities(before).items():
        if name in _entities(new):
            there = _entities(new)[name]
            q[there.in_q], v[there.in_v] = before.q[entity.in_q], before.v[entity.in_v]
    new.reset(q, v)
    new.integrator.step_count = before.integrator.step_count
    for old, table in (
        (before.drive_tables.joints, new.drive_tables.joints), (before.drive_tables.motors, new.drive_tables.motors),
    ):  # fmt: skip
        at = dict(zip(old.names.names, old._places.tolist(), strict=True))
        for name, place in zip(table.names.names, table._places.tolist(), strict=True):
            if name in at:
                for mine, theirs in zip(table._arrays[:5], old._arrays[:5], strict=True):
                    mine[place] = theirs[at[name]]
    new.gains.change({name: gains for name, gains in before.gains.changed.items() if name in new.gains})
    watcher = sim.watcher
    sim.__dict__.clear()
    sim.__dict__.update(new.__dict__)
    sim.payloads._sim = sim
    sim.watcher = watcher


def _entities(sim: Simulation):  # type: ignore[no-untyped-def]
    if sim.entities is None:
        raise ValueError("spawn, delete: this is a simulation of one robot: make it of a list or a dict of robots")
    return sim.entities
