# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading the `terrain` section of a sidecar, and writing it."""

from __future__ import annotations

import math

import yaml

from mbsim_ros.model.problems import did_you_mean, shortened
from mbsim_ros.model.sidecar.height_image import heights_of_image
from mbsim_ros.model.sidecar.nodes import NodeReader
from mbsim_ros.model.sidecar.settings import TERRAIN_TYPES, Terrain
from mbsim_ros.model.sidecar.terrain_files import IMAGE, TABLE, TerrainFiles

_KEYS = {
    "flat": ("type", "height"),
    "incline": ("type", "height", "angle", "direction"),
    "heightfield": ("type", "height", "heights", "spacing", "origin", "file"),
    "heightmap": ("type", "height", "image", "size", "offset", "smoothing"),
}
_MAP_NEEDS = {
    "image": "name a grayscale .png file",
    "size": "add the lengths along x and y in metres, [20, 10]",
    "height": "add how high white is above black in metres",
}


def read_terrain(reader: NodeReader, node: yaml.Node, files: TerrainFiles) -> Terrain | None:
    """Read `terrain`; a table or an image that it names is one of `files`."""
    kind = _type(reader, node)
    if kind is None:
        return None
    found = {key: value for key, (_, value) in reader.entries(node, _KEYS[kind]).items()}
    if kind == "heightmap":
        return _heightmap(reader, node, found, files)
    height = reader.number(found["height"], "height") if "height" in found else 0.0
    if kind == "flat":
        return Terrain(kind, height or 0.0)
    if kind == "incline":
        return _incline(reader, node, found, height or 0.0)
    return _heightfield(reader, node, found, height or 0.0, files)


def terrain_section(terrain: Terrain) -> dict[str, object]:
    """The section from which the same terrain is read, with the file that it names carried by `terrain.source`."""
    name = None if terrain.source is None else terrain.source.name
    values: dict[str, object] = {
        "type": terrain.type, "height": terrain.height, "angle": terrain.angle, "direction": terrain.direction,
        "heights": [list(row) for row in terrain.heights], "spacing": terrain.spacing, "origin": list(terrain.origin),
        "file": name, "image": name, "size": list(terrain.size), "offset": list(terrain.offset),
        "smoothing": terrain.smoothing,
    }  # fmt: skip
    left_out = ("heights",) if name is not None else ("file",)
    return {key: values[key] for key in _KEYS[terrain.type] if key not in left_out}


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
    reader: NodeReader, node: yaml.Node, found: dict[str, yaml.Node], height: float, files: TerrainFiles
) -> Terrain | None:
    if ("heights" in found) == ("file" in found):
        value = "both" if "heights" in found else "neither"
        reader.error(node, "heights or file", value, "give the table as heights, or the name of a file")
        return None
    if "spacing" not in found:
        reader.error(node, "missing key", "'spacing'", "add the distance of the grid points in metres")
    spacing = _spacing(reader, found["spacing"]) if "spacing" in found else None
    corner = reader.numbers(found["origin"], "origin", 2) if "origin" in found else (0.0, 0.0)
    heights = _heights(reader, found["heights"]) if "heights" in found else ()
    table = files.read(reader, found["file"], TABLE) if "file" in found else None
    if spacing is None or corner is None:
        return None
    file, source = table or (None, None)
    return Terrain(
        "heightfield", height, heights=heights, spacing=spacing, origin=(corner[0], corner[1]), file=file, source=source
    )


def _heightmap(reader: NodeReader, node: yaml.Node, found: dict[str, yaml.Node], files: TerrainFiles) -> Terrain | None:
    before = len(reader.problems)
    for key, hint in _MAP_NEEDS.items():
        if key not in found:
            reader.error(node, "missing key", f"'{key}'", hint)
    image = files.read(reader, found["image"], IMAGE) if "image" in found else None
    if image is not None:
        try:
            heights_of_image(image[1].content)  # whatever is wrong with it is told here, with the line
        except ValueError as error:
            reader.error(found["image"], "unusable image", f"'{shortened(image[1].name)}', {error}")
    size = _lengths(reader, found["size"], "size") if "size" in found else None
    height = reader.number(found["height"], "height", above=0.0) if "height" in found else None
    offset = reader.vector(found["offset"], "offset") if "offset" in found else (0.0, 0.0, 0.0)
    smoothing = reader.number(found["smoothing"], "smoothing", least=0.0) if "smoothing" in found else 0.0
    if len(reader.problems) > before or image is None or size is None or height is None or offset is None:
        return None
    file, source = image
    return Terrain("heightmap", height, file=file, size=size, offset=offset, smoothing=smoothing or 0.0, source=source)


def _spacing(reader: NodeReader, node: yaml.Node) -> float | tuple[float, float] | None:
    """One distance, or those along x and y."""
    if isinstance(node, yaml.SequenceNode):
        return _lengths(reader, node, "spacing")
    return reader.number(node, "spacing", above=0.0)


def _lengths(reader: NodeReader, node: yaml.Node, what: str) -> tuple[float, float] | None:
    """Two lengths along x and y."""
    items = reader.items(node)
    if len(items) != 2 and isinstance(node, yaml.SequenceNode):
        reader.error(node, "wrong count of numbers", f"{what}: {len(items)}", "2 numbers are expected")
        return None
    lengths = [reader.number(item, what, above=0.0) for item in items]
    return None if len(lengths) != 2 or lengths[0] is None or lengths[1] is None else (lengths[0], lengths[1])


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
