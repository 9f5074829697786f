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

from mbsim_ros.model.sidecar.parser import load_sidecar, parse_sidecar

TERRAINS = {"auto": None, "flat": "flat", "none": False}
FILE = (".yaml", ".yml")


def chosen_terrain(value: str) -> object:
    """What `Simulation` takes as terrain; ValueError says what is wrong with the parameter or its file."""
    if value in TERRAINS:
        return TERRAINS[value]
    if not value.endswith(FILE) and ":" not in value:
        raise ValueError(f"terrain: expected {', '.join(TERRAINS)}, or a .yaml file with `terrain`, got {value!r}")
    found = load_sidecar(value) if value.endswith(FILE) else parse_sidecar(value)
    if found.terrain is None:
        raise ValueError(f"terrain: expected a section `terrain` as in a sidecar, got none in {value[:80]!r}")
    return found.terrain


def terrain_text(value: str) -> str:
    """The parameter with what its file says in place of the name of the file, for who runs it elsewhere."""
    if not value.endswith(FILE):
        return value
    with open(value, encoding="utf-8") as file:
        return file.read()
