# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The setup of a simulation as recordings keep it: robot, sidecar, parameters, and what it was computed with."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mbsim_ros.bags.carried_files import Files, from_texts
from mbsim_ros.contact.points import ContactPoints, points_from
from mbsim_ros.model.model import Model
from mbsim_ros.sim.parameters import scene_from, simulation_from
from mbsim_ros.sim.scenes.entity_spec import EntitySpec, model_from_text, surroundings_from, world_of
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.scene import Scene
from mbsim_ros.sim.surroundings.terrain_parameter import FILE
from mbsim_ros.sim.world import World, load_world

# Parameters of the physics node that a simulation is made from again, and what they are.
NUMBER, WORD, WORDS = "a number", "a text", "a list of texts"
PARAMETERS = {
    "base": WORD, "dt": NUMBER, "control_period": NUMBER, "integrator": WORD, "quadrature": WORD, "retraction": WORD,
    "order": NUMBER, "gravity": "a list of numbers", "terrain": WORD, "friction": NUMBER, "body_contact": WORDS,
    "initial_state": WORD, "coupling": WORD, "sync": WORD, "clock": WORD, "lockstep_participants": WORDS,
    "on_missing": WORD, "command_timeout": NUMBER, "on_timeout": WORD, "frame_prefix": WORD, "start": WORD,
}  # fmt: skip
LATER = {  # that bags of before do not have
    "payload": WORDS, "contact_law": WORD, "world": WORD, "entities": WORDS, "tolerance": NUMBER,
}  # fmt: skip
COMPUTED_WITH = ("cpu", "machine", "numba", "llvmlite")  # what equal bits depend on


@dataclass(frozen=True)
class SimulationSetup:
    """All that it takes to make the same simulation again."""

    robot_description: str
    sidecar: str  # text; "" for none
    parameters: Mapping[str, Any]  # of the physics node
    version: str  # of this package
    computed_with: Mapping[str, str]
    stamp: int = 0  # ns from which on the parameters hold
    changed: tuple[str, ...] = ()  # parameters that were set at this stamp
    has_journal: bool = False  # whether physics keeps one
    meshes: Mapping[str, str] = field(default_factory=dict)  # where its meshes were, by their names in the description
    contact_points: tuple[Sequence, ...] | None = None  # as `ContactPoints.rows` has them; None in bags of before
    files: Files = field(default_factory=dict)  # tables and images of the terrains of `sidecar` and `terrain`
    entities: tuple[EntitySpec, ...] = ()  # of a scene, in their order; none in bags of before
    world: Mapping[str, Any] | None = None  # ground and gravity of a scene; None in bags of before, and of one robot
    package_dirs: tuple[str | os.PathLike, ...] = ()  # where meshes are looked for that are not where they were

    @classmethod
    def from_json(cls, text: str) -> SimulationSetup:
        """From the text on the topic simulation_setup. Raises ValueError if it is not such a text."""
        try:
            given = json.loads(text)
            computed_with = {name: str(given[name]) for name in COMPUTED_WITH if name in given}
            found = cls(
                given["robot_description"], given["sidecar"], given["parameters"], str(given.get("version", "")),
                computed_with, int(given.get("stamp_ns", 0)), tuple(given.get("changed", ("gravity",))),
                bool(given.get("has_journal")), dict(given.get("meshes", {})),
                None if given.get("contact_points") is None else tuple(given["contact_points"]),
                from_texts(given.get("files", {})),
                tuple(map(EntitySpec.from_json, given.get("entities", ()))), given.get("world"),
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError, OverflowError, RecursionError, ValueError) as error:
            raise ValueError(f"simulation_setup: not the setup of a simulation: {error!r}"[:500]) from None
        found._check()
        return found

    def _check(self) -> None:
        """Raise ValueError for what is not as physics writes it."""
        if not (isinstance(self.robot_description, str) and isinstance(self.sidecar, str)):
            raise ValueError("simulation_setup: expected robot_description and sidecar to be texts")
        if not isinstance(self.parameters, dict):
            raise ValueError("simulation_setup: expected parameters by their names")
        later = {name: kind for name, kind in LATER.items() if name in self.parameters}
        for name, kind in (PARAMETERS | later).items():
            if name not in self.parameters or not _is(kind, self.parameters[name]):
                got = repr(self.parameters.get(name))[:80]
                raise ValueError(f"simulation_setup: parameter '{name}': expected {kind}, got {got}")
        if not all(isinstance(word, str) for pair in self.meshes.items() for word in pair):
            raise ValueError("simulation_setup: expected meshes to be paths by names")
        unknown = [name for name in self.changed if name not in self.parameters]
        if unknown:
            raise ValueError(f"simulation_setup: changed: there is no parameter {str(unknown[0])[:80]!r}")

    def model(self) -> Model:
        """The robot."""
        return model_from_text(
            self.robot_description, self.sidecar, self.parameters["base"], self.meshes, self.package_dirs,
            self.files.get("sidecar"),
        )  # fmt: skip

    def simulation(self) -> Simulation:
        """The simulation in its initial state, with the contact points of the recording: no mesh is read for it."""
        model, points = self._robot()
        return simulation_from(model, self.parameters, points, self.files.get("terrain"), self._world())

    def model_and_scene(self) -> tuple[Model, Scene]:
        """The robot and what is around it, for those who only look: much faster than a simulation."""
        model, points = self._robot()
        return model, scene_from(model, self.parameters, points, self.files.get("terrain"), self._world())

    def _world(self) -> World | None:
        """The scene, with the ground and the gravity that it had."""
        if not self.entities:
            return None
        file = self.parameters.get("world")
        before = load_world(file) if file and self.world is None else None  # as bags of before have it
        if self.world is not None:
            before = surroundings_from(self.world, self.files.get("world"))
        return world_of(self.entities, before, self.package_dirs)

    def _robot(self) -> tuple[Model, ContactPoints | None]:
        if self.parameters["terrain"].endswith(FILE):  # physics puts the text of the file in its place
            raise ValueError("simulation_setup: terrain: expected a word or a text, got the name of a file")
        model = self.model()
        return model, None if self.contact_points is None else points_from(model, self.contact_points)


def _is(kind: str, value: object) -> bool:
    if isinstance(value, list):
        return (kind == WORDS and all(isinstance(word, str) for word in value)) or (
            kind == PARAMETERS["gravity"] and all(_is(NUMBER, number) for number in value)
        )
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
    return is_number if kind == NUMBER else kind == WORD and isinstance(value, str)


def computed_with() -> dict[str, str]:
    """What this machine computes with: equal bits can be expected where it is the same."""
    import llvmlite
    import llvmlite.binding
    import numba

    return {
        "cpu": str(llvmlite.binding.get_host_cpu_name()),
        "machine": platform.machine(),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
    }
