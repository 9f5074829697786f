# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From `<robot>.mbsim.yaml` to a `Sidecar`, or to every reason why not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import yaml

from mbsim_ros.model.description import RobotDescription
from mbsim_ros.model.file_reading import checked_path, is_file, read_bytes, too_large
from mbsim_ros.model.problems import SidecarError
from mbsim_ros.model.sidecar.couplings import read_couplings
from mbsim_ros.model.sidecar.gait import read_clutch_rules, read_gait
from mbsim_ros.model.sidecar.names import SidecarNames
from mbsim_ros.model.sidecar.nodes import NodeReader, compose
from mbsim_ros.model.sidecar.sections import (
    read_amounts,
    read_choice,
    read_closure,
    read_contact,
    read_feet,
    read_gains,
    read_initial_state,
    read_spring,
)
from mbsim_ros.model.sidecar.settings import ClutchRules, Sidecar
from mbsim_ros.model.sidecar.terrain import read_terrain
from mbsim_ros.model.sidecar.terrain_files import TerrainFiles

SUFFIX = ".mbsim.yaml"
SECTIONS = (
    "contact", "couplings", "springs", "initial_states", "gains", "rotor_inertia", "damping", "closures", "base",
    "feet", "mesh_up_axis", "gait", "clutch_rules", "terrain",
)  # fmt: skip
# Settings are short; PyYAML reads about 0.2 MB per second.
MAX_BYTES = 256 * 1024

Entry = TypeVar("Entry")


def load_sidecar(path: str | os.PathLike, robot: RobotDescription | None = None) -> Sidecar:
    """Read a sidecar file; names are checked against `robot` if given. Raises one SidecarError with every problem."""
    checked = checked_path(path, MAX_BYTES, SidecarError, "sidecar", "pass text to parse_sidecar")
    data = read_bytes(checked, MAX_BYTES, SidecarError, "sidecar")
    return parse_sidecar(data, robot, file=str(checked), folder=checked.absolute().parent)


def parse_sidecar(
    text: str | bytes, robot: RobotDescription | None = None, *, file: str = "<yaml text>", folder: Path | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Sidecar:  # fmt: skip
    """Read YAML text like `load_sidecar` reads a file; `folder` is where its tables and images lie.

    files: contents of those that come with the text, by the names that it has for them.
    """
    if len(text) > MAX_BYTES:
        raise too_large(SidecarError, file, len(text), MAX_BYTES, "sidecar")
    node = compose(text, file)
    if node is None:
        return Sidecar(file)
    reader = NodeReader(file, [])
    sidecar = _read_sections(reader, node, SidecarNames(robot), TerrainFiles(folder, files or {}))
    if reader.problems:
        raise SidecarError(reader.problems)
    return replace(sidecar, text=text if isinstance(text, str) else text.decode("utf-8", "replace"))


def find_sidecar(urdf: str | os.PathLike) -> Path | None:
    """Return the sidecar of a URDF: `<robot>.mbsim.yaml` beside it or in the `config` folder next to its folder."""
    path = Path(urdf).absolute()
    robot = path.name.removesuffix(".xacro").removesuffix(".urdf")
    places = (path.parent, path.parent / "config", path.parent.parent / "config")
    return next((place / (robot + SUFFIX) for place in places if is_file(place / (robot + SUFFIX))), None)


def _read_sections(reader: NodeReader, node: yaml.Node, names: SidecarNames, files: TerrainFiles) -> Sidecar:
    found = {key: value for key, (_, value) in reader.entries(node, SECTIONS).items()}
    here = {section: reader.within(section) for section in SECTIONS}
    # Couplings first: they name the motors that gains and rotor_inertia may use.
    couplings = read_couplings(here["couplings"], found["couplings"], names) if "couplings" in found else {}
    springs = _each(here["springs"], found.get("springs"), names, read_spring)
    states = _each(here["initial_states"], found.get("initial_states"), names, read_initial_state)
    contact = read_contact(here["contact"], found["contact"], names) if "contact" in found else None
    gains = read_gains(here["gains"], found["gains"], names) if "gains" in found else {}
    rotors, damping = (
        read_amounts(here[section], found[section], names) if section in found else {}
        for section in ("rotor_inertia", "damping")
    )
    terrain = read_terrain(here["terrain"], found["terrain"], files) if "terrain" in found else None
    closures = _each(here["closures"], found.get("closures"), names, read_closure)
    base = read_choice(here["base"], found["base"], ("floating", "fixed")) if "base" in found else None
    given = {} if contact is None else contact.points
    feet = read_feet(here["feet"], found["feet"], names, given) if "feet" in found else ()
    up_axis = read_choice(here["mesh_up_axis"], found["mesh_up_axis"], ("y", "z")) if "mesh_up_axis" in found else None
    gait = read_gait(here["gait"], found["gait"], couplings) if "gait" in found else None
    rules = ClutchRules()
    if "clutch_rules" in found:
        rules = read_clutch_rules(here["clutch_rules"], found["clutch_rules"], couplings, names)
    names.refuse_idle_motors(rotors)
    return Sidecar(
        reader.file, contact, couplings, springs, states, gains, rotors, damping, terrain, closures, base, feet,
        up_axis or "z", gait, rules,
    )  # fmt: skip


def _each(
    reader: NodeReader, node: yaml.Node | None, names: SidecarNames,
    read: Callable[[NodeReader, str, yaml.Node, SidecarNames], Entry | None],
) -> dict[str, Entry]:  # fmt: skip
    """Read a section of named entries."""
    entries = {}
    for name, (_, value) in ({} if node is None else reader.entries(node)).items():
        entry = read(reader.within(reader.section, name), name, value, names)
        if entry is not None:
            entries[name] = entry
    return entries
