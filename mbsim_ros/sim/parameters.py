# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A Simulation from the parameters of the physics node, as a dict: for the node, and for who runs a recording again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.model.model import Model
from mbsim_ros.model.payload import read_payloads
from mbsim_ros.sim.integrator_choice import AS_THE_SCHEME_DOES, tolerance_from
from mbsim_ros.sim.scenes.entity_list import world_from
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.scene import Scene, make_scene
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain
from mbsim_ros.sim.world import World


def simulation_from(
    model: Model, values: Mapping[str, Any], points: ContactPoints | None = None,
    files: Mapping[str, bytes] | None = None, world: World | None = None,
) -> Simulation:  # fmt: skip
    """The simulation that the parameters describe, in its initial state; ValueError says what cannot be.

    points: those that can touch, and world: the scene, where they are known already. files: as `chosen_terrain` has
    them.
    """
    world = world_from(values) if world is None else world
    sim = Simulation(
        model if world is None else world, values["dt"], values["integrator"], values["quadrature"],
        values["retraction"], values["order"], values["gravity"], chosen_terrain(values["terrain"], files),
        _contact(values), values["coupling"] or None,
        body_contact=_body_contact(values), contact_points=points if world is None else None,
        tolerance=tolerance_from(values.get("tolerance", AS_THE_SCHEME_DOES)),  # new, as payload is
    )  # fmt: skip
    sim.payloads.set(read_payloads(values.get("payload", ())))  # no such parameter in bags of before
    sim.reset(values["initial_state"])
    return sim


def scene_from(
    model: Model,
    values: Mapping[str, Any],
    points: ContactPoints | None = None,
    files: Mapping[str, bytes] | None = None,
    world: World | None = None,
) -> Scene:
    """What that simulation has around the robot, without its integrator, whose kernels take long to load."""
    terrain = chosen_terrain(values["terrain"], files)
    return make_scene(
        model, values["dt"], np.array(values["gravity"]), terrain if terrain is not None or world is None else
        world.ground, _contact(values), None, None, _body_contact(values), points,
    )  # fmt: skip


def friction_from(value: float) -> float | None:
    """The coefficient of the parameter `friction`; None for what the sidecar says."""
    return value if value >= 0.0 else None


def _contact(values: Mapping[str, Any]) -> dict[str, object] | None:
    friction, law = friction_from(values["friction"]), values.get("contact_law", "auto")  # new, as payload is
    changes: dict[str, object] = {} if friction is None else {"friction": friction}
    return (changes if law == "auto" else {**changes, "law": law}) or None


def _body_contact(values: Mapping[str, Any]) -> object:
    pairs = [entry.split() for entry in values["body_contact"] if entry]
    return None if not pairs else "all" if pairs == [["all"]] else [tuple(pair) for pair in pairs]
