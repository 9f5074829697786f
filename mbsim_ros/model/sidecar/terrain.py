# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading the `terrain` section of a sidecar."""

from __future__ import annotations

import math
from pathlib import Path

import yaml

from mbsim_ros.model.file_reading import OutsideFolder, is_file, resolved_inside
from mbsim_ros.model.problems import did_you_mean, shortened
from mbsim_ros.model.sidecar.nodes import NodeReader
from mbsim_ros.model.sidecar.settings import TERRAIN_TYPES, Terrain

_KEYS = {
    "flat": ("type", "height"),
    "incline": ("type", "height", "angle", "direction"),
    "heightfield": ("type", "height", "heights", "spacing", "origin", "file"),
}
_TABLES = (".csv", ".npy")


def read_terrain(reader: NodeReader, node: yaml.Node, folder: Path | None) -> Terrain | None:
    """Read `terrain`; a table beside the sidecar lies in `folder`."""
    kind = _type(reader, node)
    if kind is None:
        return None
    found = {key: value for key, (_, value) in reader.entries(node, _KEYS[kind]).items()}
    height = reader.number(found["height"], "height") if "height" in found else 0.0
    if kind == "flat":
        return Terrain(kind, height or 0.0)
    if kind == "incline":
        return _incline(reader, node, found, height or 0.0)
    return _heightfield(reader, node, found, height or 0.0, folder)


def _type(reader: NodeReader, node: yaml.Node) -> str | None:
    every_key = sorted({key for keys in _KEYS.values() for key in keys})
    probe = NodeReader(reader.file, [], budget=reader.budget)  # unknown keys are reported once the type is known
    found = probe.entries(node, every_key)
    if "type" not in found:
        reader.error(node, "missing key", "'type'", "one of " + ", ".join(TERRAIN_TYPES))
        return None
    kind = reader.text(found["type"][1])
    if kind is not None and kind not in TERRAIN_TYPES:
        hint = did_you_mean(kind, TERRAIN_TYPES, "one of " + ", ".join(TERRAIN_TYPES), len(reader.problems))
        reader.error(found["type"][1], "unknown terrain type", f"'{shortened(kind)}'", hint)
        return None
    return kind


def _incline(reader: NodeReader, node: yaml.Node, found: dict[str, yaml.Node], height: float) -> Terrain | None:
    if "angle" not in found:
        reader.error(node, "missing key", "'angle'", "add the angle in radians")
        return None
    angle = reader.number(found["angle"], "angle", above=-math.pi / 2, below=math.pi / 2)
    direction = reader.number(found["direction"], "direction") if "direction" in found else 0.0
    return None if angle is None or direction is None else Terrain("incline", height, angle, direction)


def _heightfield(
    reader: NodeReader, node: yaml.Node, found: dict[str, yaml.Node], height: float, folder: Path | None
) -> Terrain | None:
    if ("heights" in found) == ("file" in found):
        value = "both" if "heights" in found else "neither"
        reader.error(node, "heights or file", value, "give the table as heights, or the name of a file")
        return None
    if "spacing" not in found:
        reader.error(node, "missing key", "'spacing'", "add the distance of the grid points in metres")
    spacing = reader.number(found["spacing"], "spacing", above=0.0) if "spacing" in found else None
    corner = reader.numbers(found["origin"], "origin", 2) if "origin" in found else (0.0, 0.0)
    heights = _heights(reader, found["heights"]) if "heights" in found else ()
    file = _file(reader, found["file"], folder) if "file" in found else None
    if spacing is None or corner is None:
        return None
    return Terrain("heightfield", height, 0.0, 0.0, heights, spacing, (corner[0], corner[1]), file)


def _heights(reader: NodeReader, node: yaml.Node) -> tuple[tuple[float, ...], ...]:
    before = len(reader.problems)
    lines = reader.items(node)
    rows = [reader.numbers(line, "heights") or () for line in lines]
    if len(reader.problems) > before:
        return ()
    if len(rows) < 2 or len(rows[0]) < 2:
        size = f"{len(rows)} x {len(rows[0]) if rows else 0}"
        reader.error(node, "too few heights", size, "a field has at least 2 x 2")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            hint = f"the first row has {len(rows[0])}"
            reader.error(line, "rows of different length", f"{len(row)} numbers", hint)
    return tuple(rows)


def _file(reader: NodeReader, node: yaml.Node, folder: Path | None) -> Path | None:
    """Path of a table; like a mesh it may not lead out of the folder of the file that names it."""
    name = reader.text(node)
    if name is None:
        return None
    if Path(name).suffix not in _TABLES:
        reader.error(node, "unknown table format", f"'{shortened(name)}'", "use a .csv or .npy file")
        return None
    if folder is None:
        reader.error(node, "table not found", f"'{shortened(name)}'", "text has no folder: load the file instead")
        return None
    try:
        path = resolved_inside(folder / name, folder)
    except OutsideFolder:
        reader.error(node, "table outside the folder", f"'{shortened(name)}'", "move it beside the sidecar")
        return None
    if not is_file(path):
        reader.error(node, "table not found", f"'{shortened(name)}'", "check the path")
        return None
    return path
