# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Triangles and colours of a mesh file (STL, OBJ, COLLADA), for those who draw it.

Like contact points they are read here, as numbers and with bounds: a mesh library would follow references to other
files. The only other file that is opened is the table of colours (.mtl) beside an OBJ file.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from mbsim_ros.contact.collada import Colour, MeshPart, collada_parts, fans
from mbsim_ros.contact.mesh_points import MeshUnreadable, read_content, stl_vertices
from mbsim_ros.model.file_reading import OutsideFolder, is_file, resolved_inside

LARGEST_TABLE = 1024 * 1024  # bytes of a .mtl file


def read_parts(path: Path) -> list[MeshPart]:
    """What a mesh file consists of, one part a colour. Raises MeshUnreadable."""
    readers = {".stl": _stl_parts, ".obj": _obj_parts, ".dae": collada_parts}
    content = read_content(path, tuple(readers))
    try:
        table = _table(path, content) if path.suffix.lower() == ".obj" else {}
        parts = _joined(readers[path.suffix.lower()](content), table)
    except (ValueError, IndexError, OverflowError, ZeroDivisionError):
        raise MeshUnreadable("not a mesh of numbers") from None
    if not parts:
        raise MeshUnreadable("no faces")
    if not all(np.isfinite(part.vertices).all() for part in parts):
        raise MeshUnreadable("vertices that are not finite")
    return parts


def decimated(part: MeshPart, most: int) -> MeshPart:
    """A part with about `most` faces at most: vertices that share a cell of a grid become one, in their middle."""
    low = part.vertices.min(axis=0)
    extent = float((part.vertices.max(axis=0) - low).max()) or 1.0
    found, cells = part, 256
    while len(found.faces) > most and cells >= 4:
        keys = np.floor((part.vertices - low) * (cells / extent)).astype(np.int64)
        _, cell, count = np.unique(keys @ (1, 1024, 1024**2), return_inverse=True, return_counts=True)
        middles = np.stack([np.bincount(cell, part.vertices[:, k]) for k in range(3)], axis=1) / count[:, None]
        faces = cell[part.faces]
        apart = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        found = MeshPart(middles, faces[apart], part.colour)
        cells = int(cells * min(0.9, (most / max(1, len(found.faces))) ** 0.5))  # faces go with the square of cells
    return found


def _joined(parts: list[MeshPart], table: dict[str, Colour]) -> list[MeshPart]:
    """Parts of the same colour as one, with vertices that are the same once; names of colours from a table."""
    groups: dict[Colour | None, list[MeshPart]] = defaultdict(list)
    for part in parts:
        if len(part.faces):
            groups[table.get(part.colour) if isinstance(part.colour, str) else part.colour].append(part)
    found = []
    for colour, members in groups.items():
        starts = np.cumsum([0, *(len(part.vertices) for part in members[:-1])])
        faces = np.concatenate([part.faces + start for part, start in zip(members, starts, strict=True)])
        vertices = np.ascontiguousarray(np.concatenate([part.vertices for part in members]), np.float32)
        _, first, same = np.unique(vertices.view("V12").ravel(), return_index=True, return_inverse=True)
        found.append(MeshPart(vertices[first], same.ravel()[faces], colour))
    return found


def _stl_parts(content: bytes) -> list[MeshPart]:
    vertices = stl_vertices(content)
    return [MeshPart(vertices, np.arange(len(vertices) // 3 * 3).reshape(-1, 3))]


def _obj_parts(content: bytes) -> list[MeshPart]:
    """Parts by the material in use; its name stands where the colour will be."""
    vertices: list[list[float]] = []
    polygons: dict[str, list[list[int]]] = defaultdict(list)
    material = ""
    for line in content.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == b"v":
            vertices.append([float(word) for word in words[1:4]])
        elif words[0] == b"f":
            named = [int(word.split(b"/", 1)[0]) for word in words[1:]]
            polygons[material].append([k - 1 if k > 0 else len(vertices) + k for k in named])
        elif words[0] == b"usemtl":
            material = b" ".join(words[1:]).decode("utf-8", "replace")
    table, parts = np.array(vertices).reshape(-1, 3), []
    for name, members in polygons.items():
        corners = np.array([k for member in members for k in member], np.int64)
        if len(corners) and (corners.min() < 0 or corners.max() >= len(table)):
            raise ValueError("a face of vertices that there are none of")
        faces = corners[fans(np.array([len(member) for member in members]))]
        used, again = np.unique(faces, return_inverse=True)
        parts.append(MeshPart(table[used], again.reshape(-1, 3), name))  # type: ignore[arg-type]
    return parts


def _table(path: Path, content: bytes) -> dict[str, Colour]:
    """Diffuse colours by the names of materials, of the .mtl file that an OBJ file names; none where it has none."""
    lines = [line.split(None, 1) for line in content.splitlines() if line.startswith(b"mtllib")]
    found: dict[str, Colour] = {}
    for words in lines[:1]:
        try:
            file = resolved_inside(path.parent / words[1].decode("utf-8").strip(), path.parent)
            text = file.read_bytes() if is_file(file) and file.stat().st_size <= LARGEST_TABLE else b""
        except (OutsideFolder, OSError, IndexError, UnicodeDecodeError):
            return {}
        name = ""
        for row in (line.split() for line in text.splitlines()):
            if row and row[0] == b"newmtl":
                name = b" ".join(row[1:]).decode("utf-8", "replace")
            elif len(row) >= 4 and row[0] == b"Kd":
                red, green, blue = (min(max(float(word), 0.0), 1.0) for word in row[1:4])
                found[name] = (red, green, blue, 1.0)
    return found
