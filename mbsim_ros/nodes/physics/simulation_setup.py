# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A Simulation from the parameters of the physics node, and what must be known to make the same one again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mbsim_ros.bags.carried_files import as_texts
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.parameters import BadParameter
from mbsim_ros.sim.parameters import simulation_from
from mbsim_ros.sim.scenes.entity_spec import EntitySpec, surroundings_of
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.terrain_parameter import files_of, terrain_files, terrain_text
from mbsim_ros.sim.world import World


def make_simulation(model: Model, values: dict[str, Any], world: World | None = None) -> Simulation:
    """The simulation that the parameters describe, in its initial state; BadParameter says what cannot be."""
    try:
        sim = simulation_from(model, values, world=world)
        sim.advance(1)  # compiles what there is to compile, before anybody waits for an answer
        sim.reset(values["initial_state"])
    except ValueError as error:
        raise BadParameter(str(error)) from error
    return sim


def setup_of(
    sim: Simulation, description: str, values: dict[str, Any], entities: Iterable[EntitySpec] = ()
) -> dict[str, Any]:
    """All that it takes to run it again: robot, or the entities of a scene, sidecar and parameters."""
    sidecar = sim.model.sidecar
    text = "" if sidecar is None else sidecar.text
    kept = {name: value if not hasattr(value, "tolist") else value.tolist() for name, value in values.items()}
    kept["gravity"] = [float(g) for g in values["gravity"]]
    kept["robot_description"] = kept["robot_file"] = kept["xacro_args"] = kept["package_dirs"] = ""
    kept["terrain"] = terrain_text(values["terrain"])
    kept["base"] = "floating" if sim.model.is_floating else "fixed"
    points, world = sim.scene.points, None if sim.entities is None else sim.entities.world
    files = {
        "sidecar": files_of(None if sidecar is None else sidecar.terrain),
        "terrain": terrain_files(values["terrain"]),
        "world": {} if world is None else files_of(world.terrain),
    }
    return {
        "robot_description": description, "sidecar": text, "parameters": kept, "has_journal": True,
        "meshes": sim.model.description.found_meshes(), "contact_points": [] if points is None else points.rows(),
        "files": as_texts(files),
        "entities": [spec.to_json() for spec in entities],
        **({} if world is None else {"world": surroundings_of(world)}),
    }  # fmt: skip
