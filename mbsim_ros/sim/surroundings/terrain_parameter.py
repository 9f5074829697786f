# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The parameter `terrain` of the physics node: a word, a file with the section `terrain` of a sidecar, or its text."""

from __future__ import annotations

from collections.abc import Mapping

from mbsim_ros.model.sidecar.parser import load_sidecar, parse_sidecar
from mbsim_ros.model.sidecar.settings import Terrain

TERRAINS = {"auto": None, "flat": "flat", "none": False}
FILE = (".yaml", ".yml")


def chosen_terrain(value: str, files: Mapping[str, bytes] | None = None) -> object:
    """What `Simulation` takes as terrain; ValueError says what is wrong with the parameter or its file.

    files: contents of tables and images that come with a text, by the names that it has for them.
    """
    if value in TERRAINS:
        return TERRAINS[value]
    if not value.endswith(FILE) and ":" not in value:
        raise ValueError(f"terrain: expected {', '.join(TERRAINS)}, or a .yaml file with `terrain`, got {value!r}")
    found = load_sidecar(value) if value.endswith(FILE) else parse_sidecar(value, files=files)
    if found.terrain is None:
        raise ValueError(f"terrain: expected a section `terrain` as in a sidecar, got none in {value[:80]!r}")
    return found.terrain


def terrain_text(value: str) -> str:
    """The parameter with what its file says in place of the name of the file, for who runs it elsewhere."""
    if not value.endswith(FILE):
        return value
    with open(value, encoding="utf-8") as file:
        return file.read()


def terrain_files(value: str) -> dict[str, bytes]:
    """Contents of the table or image that the file of the parameter names, by that name."""
    return files_of(load_sidecar(value).terrain) if value.endswith(FILE) else {}


def files_of(terrain: object) -> dict[str, bytes]:
    """Contents of the table or image of a terrain, by the name that its section has for it."""
    source = terrain.source if isinstance(terrain, Terrain) else None
    return {} if source is None else {source.name: source.content}
