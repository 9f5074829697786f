# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities that come and go while a scene runs: what stays goes on bit for bit, with its state, drives and couplings.

A simulation of the changed set of entities is made, and goes on with the parts of the one before (scene/adoption.py of
the integrator). The energy that an entity brings, or takes with it, is work from outside in the ledger.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from mbsim_ros.coupling.of_entities import without_entity
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.integrator import GoesOnWithOthers
from mbsim_ros.integrators.layout import LEDGER_EXTERNAL
from mbsim_ros.integrators.state_bounds import refuse_implausible
from mbsim_ros.model.description import Origin
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.sim.entities import Entities
from mbsim_ros.sim.integrator_choice import tolerance_from
from mbsim_ros.sim.world import World

if TYPE_CHECKING:
    from mbsim_ros.sim.simulation import Simulation


def spawn(
    sim: Simulation, name: str, model: Model, pose: Origin | None, q: ArrayLike | None, v: ArrayLike | None
) -> None:
    """Add an entity; ValueError, and nothing changes, if it cannot be."""
    entities = _entities(sim)
    if name in entities:
        raise ValueError(f"spawn: expected a name that is free, got {name!r}: there is one already")
    world = entities.world
    models = {**{each: entity.model for each, entity in entities.items()}, name: model}
    poses = world.poses if pose is None else {**world.poses, name: pose}
    new = _made_anew(sim, replace(world, models=models, poses=poses))
    _go_on(sim, new, sim.coupling.name, None if q is None and v is None else (name, q, v))


def delete(sim: Simulation, name: str) -> None:
    """Take an entity out; ValueError, and nothing changes, if it is not there or is the last."""
    entities = _entities(sim)
    if name not in entities:
        raise ValueError(f"delete: no entity named {name!r}: {did_you_mean(name, entities, ', '.join(entities), 0)}")
    if len(entities) == 1:
        raise ValueError(f"delete: '{name}' is the last entity, and a scene has one at least")
    world = entities.world
    changed = replace(
        world,
        models={each: entity.model for each, entity in entities.items() if each != name},
        poses={each: pose for each, pose in world.poses.items() if each != name},
        states={each: state for each, state in world.states.items() if each != name},
    )
    _go_on(sim, _made_anew(sim, changed), without_entity(sim.coupling.name, name, sim.couplings), None)


def _made_anew(sim: Simulation, world: World) -> Simulation:
    """A simulation of other entities, in its initial state."""
    if not isinstance(sim.integrator, GoesOnWithOthers):
        name = sim.scheme["integrator"]
        raise UnsupportedModel(f"spawn, delete: not with integrator '{name}': use 'lie_variational' of order 2")
    scheme, ground = sim.scheme, sim.scene.ground
    # where nothing touched there may be a ground for who comes
    terrain = None if ground is None and sim.scene.points is None else False if ground is None else ground
    return type(sim)(
        world, sim.dt, str(scheme["integrator"]), str(scheme["quadrature"]), str(scheme["retraction"]), 2,
        sim.integrator.gravity, terrain, sim.given_contact, stops=sim.has_stops,
        tolerance=tolerance_from(float(str(scheme["tolerance"]))),
    )  # fmt: skip


def _go_on(
    sim: Simulation, new: Simulation, coupling: str, start: tuple[str, ArrayLike | None, ArrayLike | None] | None
) -> None:
    """Let the simulation be the new one, with all that stays of it."""
    integrator, before = new.integrator, sim.integrator
    assert isinstance(integrator, GoesOnWithOthers)
    if start is not None:
        _place(new, *start)
    stored = sim.energy().total
    integrator.adopt(before, coupling)
    new.payloads.restore(_of(new, sim.payloads.saved()))
    new.gains.change({name: gains for name, gains in sim.gains.changed.items() if name in new.gains})
    new.read_coupling()
    new.pushes.restore(_of(new, sim.pushes.saved()))
    new.accounts_from(sim)
    integrator.add_work(LEDGER_EXTERNAL, new.energy().total - stored)
    sim.become(new)


def _place(new: Simulation, name: str, q: ArrayLike | None, v: ArrayLike | None) -> None:
    """Let an entity that comes begin with its own q (nq,) and v (nv,)."""
    entity = _entities(new)[name]
    q_all, v_all = new.q, new.v
    if q is not None:
        q_all[entity.in_q] = check.vector("q", q, len(entity.in_q))
    if v is not None:
        v_all[entity.in_v] = check.vector("v", v, len(entity.in_v))
    refuse_implausible(q_all, v_all)
    new.integrator.reset(q_all, v_all)


def _of(new: Simulation, by_link: dict[str, list[float]]) -> dict[str, list[float]]:
    """What of these links is still there."""
    return {link: numbers for link, numbers in by_link.items() if link in new.model.frames}


def _entities(sim: Simulation) -> Entities:
    if sim.entities is None:
        raise ValueError("spawn, delete: this is a simulation of one robot: make it of a list or a dict of robots")
    return sim.entities
