# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`EntitySpec`: an entity as text, from which the same one is made again: for journals, setups and replays."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.description import Origin, Vector3
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.parser import parse_sidecar
from mbsim_ros.model.sidecar.settings import Terrain, with_sidecar
from mbsim_ros.model.sidecar.terrain import terrain_section
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.sim.entities import Entities
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain, files_of
from mbsim_ros.sim.world import World


@dataclass(frozen=True)
class EntitySpec:
    """What an entity is made from."""

    name: str
    urdf: str  # text
    sidecar: str  # text; "" for none
    base: str  # floating or fixed
    meshes: Mapping[str, str] = field(default_factory=dict)  # where they were, by their names in the text
    xyz: Vector3 | None = None  # where its root starts; None: it stands on the ground at the origin
    rpy: Vector3 | None = None
    state: str = ""  # the initial state that it starts in; "": as the parameter says
    files: Mapping[str, str] = field(default_factory=dict)  # of its sidecar's terrain, base64 by the names there

    @classmethod
    def of(cls, name: str, model: Model, pose: Origin | None = None, state: str = "") -> EntitySpec:
        """Of a model that starts at a pose."""
        xyz, rpy = (None, None) if pose is None else (pose.xyz, pose.rpy)
        sidecar = "" if model.sidecar is None else model.sidecar.text
        base = "floating" if model.is_floating else "fixed"
        meshes = dict(model.description.found_meshes())
        carried = files_of(None if model.sidecar is None else model.sidecar.terrain)
        files = {key: base64.b64encode(content).decode("ascii") for key, content in carried.items()}
        return cls(name, to_urdf(model.description), sidecar, base, meshes, xyz, rpy, state, files)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> EntitySpec:
        """What `to_json` gave; ValueError if it is something else."""
        try:
            name, urdf, sidecar, base = (given[key] for key in ("name", "urdf", "sidecar", "base"))
            xyz, rpy = (None if given[key] is None else _vector(given[key]) for key in ("xyz", "rpy"))
            files = dict(given.get("files", {}))
            found = cls(name, urdf, sidecar, base, dict(given["meshes"]), xyz, rpy, given["state"], files)
            texts = (*found.meshes, *found.meshes.values(), *files, *files.values())
            words = (name, urdf, sidecar, base, found.state, *texts)
            if not all(isinstance(word, str) for word in words):
                raise TypeError("expected texts")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"not an entity: {error!r}"[:300]) from None
        return found

    def to_json(self) -> dict[str, Any]:
        """As JSON has it; files only where there are any, so that digests of bags of before stay."""
        values = asdict(self)
        return values if self.files else {key: value for key, value in values.items() if key != "files"}

    @property
    def digest(self) -> str:
        """A word that is another one where anything of it is."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def pose(self) -> Origin | None:
        """Where its root starts."""
        return None if self.xyz is None else Origin(self.xyz, self.rpy or (0.0, 0.0, 0.0))

    def model(self, package_dirs: Sequence[str | os.PathLike] = ()) -> Model:
        """Its model."""
        files = {key: base64.b64decode(text, validate=True) for key, text in self.files.items()}
        return model_from_text(self.urdf, self.sidecar, self.base, self.meshes, package_dirs, files)


def model_from_text(
    urdf: str, sidecar: str, base: str, meshes: Mapping[str, str], package_dirs: Sequence[str | os.PathLike] = (),
    files: Mapping[str, bytes] | None = None,
) -> Model:  # fmt: skip
    """A model from the texts that a simulation has told of it; meshes: where they were; files: of the sidecar."""
    robot = parse_urdf(urdf, package_dirs=[str(folder) for folder in package_dirs], found_meshes=meshes)
    if not sidecar:
        return make_model(robot, base)
    settings = parse_sidecar(sidecar, robot, file="sidecar of the recording", files=files)
    return make_model(with_sidecar(robot, settings), base, settings)


def specs_of(entities: Entities) -> list[EntitySpec]:
    """All entities of a scene, in their order."""
    world = entities.world
    return [
        EntitySpec.of(name, entity.model, world.poses.get(name), world.states.get(name, ""))
        for name, entity in entities.items()
    ]


def surroundings_of(world: World) -> dict[str, Any]:
    """Ground and gravity of a world as JSON has them; a file of the ground is not among it."""
    terrain = "" if world.terrain is None else json.dumps({"terrain": terrain_section(world.terrain)})
    return {"terrain": terrain, "gravity": None if world.gravity is None else list(world.gravity)}


def surroundings_from(given: Mapping[str, Any], files: Mapping[str, bytes] | None) -> World:
    """A world without entities from what `surroundings_of` gave; ValueError if it is something else."""
    try:
        text, gravity = given["terrain"], given["gravity"]
        terrain = chosen_terrain(text, files) if text else None
        if not (terrain is None or isinstance(terrain, Terrain)):
            raise ValueError(f"terrain {text!r:.80}")
        return World({}, terrain=terrain, gravity=None if gravity is None else _vector(gravity))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"not the surroundings of a world: {error!r}"[:300]) from None


def world_of(
    specs: Iterable[EntitySpec], before: World | None, package_dirs: Sequence[str | os.PathLike] = ()
) -> World:
    """The scene of these entities; before: the world whose ground and gravity it has."""
    specs, before = list(specs), World({}) if before is None else before
    return World(
        {each.name: each.model(package_dirs) for each in specs},
        {each.name: each.pose for each in specs if each.pose is not None},
        {each.name: each.state for each in specs if each.state},
        before.terrain,
        before.gravity,
    )


def _vector(given: Sequence[float]) -> Vector3:
    x, y, z = map(float, given)
    return x, y, z
