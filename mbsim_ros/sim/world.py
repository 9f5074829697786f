# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Worlds: a file with robots, bodies, ground, gravity and where everything starts.

    gravity: [0, 0, -9.81]
    terrain: {type: flat}                     # as in a sidecar; boxes and stairs are entities
    entities:
      walker: {robot: ../urdf/walker.urdf.xacro, state: standing}
      block: {box: [0.2, 0.2, 0.2], mass: 1.0, xyz: [1, 0, 0.8], rpy: [0, 0.3, 0]}
      table: {box: [1, 1, 0.7], xyz: [1, 0, 0.35]}
      stairs: {stairs: {steps: 5, rise: 0.1, run: 0.3, width: 1.0}, xyz: [2, 0, 0]}

A robot is a file, found from the world's folder, or a name of `mbsim robots`. Bodies are a `box` (edges), a `sphere`
(radius) or a `cylinder` (radius, length); one without a mass is fixed to the world. What has no xyz stands on the
ground at the origin. `Simulation(load_world("my.world.yaml"))` simulates it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.catalogue import is_name
from mbsim_ros.model.description import Origin, Vector3
from mbsim_ros.model.file_reading import checked_path, read_bytes
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import SidecarError
from mbsim_ros.model.sidecar.nodes import NodeReader, compose
from mbsim_ros.model.sidecar.settings import Terrain
from mbsim_ros.model.sidecar.terrain import read_terrain
from mbsim_ros.model.sidecar.terrain_files import TerrainFiles

MAX_BYTES = 256 * 1024
MOST_STEPS = 1000
_SOLIDS = ("box", "sphere", "cylinder")
_KINDS = ("robot", *_SOLIDS, "stairs")
_KEYS = (*_KINDS, "mass", "base", "xyz", "rpy", "state")
_STAIRS = ("steps", "rise", "run", "width")


@dataclass(frozen=True)
class World:
    """What a file says. Entities without a pose are at the origin; those that float stand on the ground there."""

    models: Mapping[str, Model]
    poses: Mapping[str, Origin] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    terrain: Terrain | None = None
    gravity: Vector3 | None = None

    @property
    def ground(self) -> Terrain | str:
        """Its terrain, or that which the first of its entities has, or the floor."""
        sidecars = (model.sidecar for model in self.models.values())
        own = (each.terrain for each in sidecars if each is not None and each.terrain is not None)
        return next(own, "flat") if self.terrain is None else self.terrain


def load_world(path: str | os.PathLike) -> World:
    """Read a world; SidecarError with every problem of the file, and its line."""
    checked = checked_path(path, MAX_BYTES, SidecarError, "world", "write it to a file")
    node = compose(read_bytes(checked, MAX_BYTES, SidecarError, "world"), str(checked))
    reader, folder = NodeReader(str(checked), []), checked.absolute().parent
    sections = {} if node is None else reader.entries(node, ("gravity", "terrain", "entities"))
    found = {key: value for key, (_, value) in sections.items()}
    gravity = reader.within("gravity").vector(found["gravity"], "gravity") if "gravity" in found else None
    files = TerrainFiles(folder)
    terrain = read_terrain(reader.within("terrain"), found["terrain"], files) if "terrain" in found else None
    models: dict[str, Model] = {}
    poses: dict[str, Origin] = {}
    states: dict[str, str] = {}
    entries = reader.within("entities").entries(found["entities"]) if "entities" in found else {}
    for name, (_, value) in entries.items():
        here = reader.within("entity", name)
        own = {key: part for key, (_, part) in here.entries(value, _KEYS).items()}
        model = _model(here, name, value, own, folder)
        if model is not None:
            models[name] = model
        if "xyz" in own or "rpy" in own:
            xyz, rpy = (here.vector(own[key], key) if key in own else (0.0, 0.0, 0.0) for key in ("xyz", "rpy"))
            poses[name] = Origin(xyz or (0.0, 0.0, 0.0), rpy or (0.0, 0.0, 0.0))
        if "state" in own:
            states[name] = here.text(own["state"]) or ""
    if not entries and node is not None:
        reader.error(node, "no entities", "", "add entities: {box: {box: [0.2, 0.2, 0.2], mass: 1}}")
    if reader.problems:
        raise SidecarError(reader.problems)
    return World(models, poses, states, terrain, gravity)


def _model(here: NodeReader, name: str, node: yaml.Node, own: Mapping[str, yaml.Node], folder: Path) -> Model | None:
    """The robot or body of an entry."""
    kinds = [kind for kind in _KINDS if kind in own]
    if len(kinds) != 1:
        here.error(node, "expected one kind of entity", ", ".join(kinds) or "none", f"give one of {', '.join(_KINDS)}")
        return None
    if kinds[0] == "robot":
        robot = here.text(own["robot"])
        base = here.text(own["base"]) if "base" in own else "auto"
        if robot is None or base is None:
            return None
        return load_urdf(robot if is_name(robot) else folder / robot, base)
    if kinds[0] == "stairs":
        return _stairs(here, name, own["stairs"])
    sizes = _sizes(here, kinds[0], own[kinds[0]])
    mass = here.number(own["mass"], "mass", above=0.0) if "mass" in own else None
    if sizes is None:
        return None
    box, cylinder = (sizes if kind in own else None for kind in ("box", "cylinder"))
    builder = ModelBuilder(name).link(
        name, mass=1.0 if mass is None else mass, box=box, cylinder=cylinder, visual=True, collision=True,
        sphere=sizes[0] if "sphere" in own else None,
    )  # fmt: skip
    return builder.build("fixed" if mass is None else "floating")


def _sizes(here: NodeReader, kind: str, node: yaml.Node) -> list[float] | None:
    parts = [node] if kind == "sphere" else here.items(node)
    expected = {"sphere": 1, "box": 3, "cylinder": 2}[kind]
    numbers = [here.number(part, kind, above=0.0) for part in parts]
    if len(parts) != expected:
        here.error(node, f"{kind} of {len(parts)} numbers", "", f"expected {expected}")
        return None
    return None if any(number is None for number in numbers) else [float(number or 0.0) for number in numbers]


def _stairs(here: NodeReader, name: str, node: yaml.Node) -> Model | None:
    """Steps that rise along x, each a box down to the ground, fixed to the world."""
    found = {key: value for key, (_, value) in here.entries(node, _STAIRS).items()}
    numbers = {key: here.number(found[key], key, above=0.0) for key in found}
    missing = [key for key in _STAIRS if key not in found]
    if missing:
        here.error(node, "missing key", ", ".join(missing), "write {steps: 5, rise: 0.1, run: 0.3, width: 1.0}")
    if missing or any(number is None for number in numbers.values()):
        return None
    steps, rise, run, width = (float(numbers[key] or 0.0) for key in _STAIRS)
    if steps != int(steps) or steps > MOST_STEPS:
        here.error(found["steps"], "number of steps", f"{steps:g}", f"expected a whole number up to {MOST_STEPS}")
        return None
    middle = (0.5 * run, 0.0, 0.5 * rise)
    builder = ModelBuilder(name).link(name, mass=1.0, com=middle, box=(run, width, rise), visual=True, collision=True)
    for k in range(1, int(steps)):
        height = (k + 1) * rise
        builder = builder.link(f"step_{k}", mass=1.0, box=(run, width, height), visual=True, collision=True)
        builder = builder.joint(f"to_step_{k}", "fixed", name, f"step_{k}", xyz=((k + 0.5) * run, 0.0, 0.5 * height))
    return builder.build("fixed")
