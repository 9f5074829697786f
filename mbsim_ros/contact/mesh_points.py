# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact points of a mesh: a bounded number of vertices of its convex hull.

Only the places of the vertices are needed, so the common formats are read in a few lines each (COLLADA in
collada.py, triangles in mesh_faces.py); a mesh library would be a dependency for that. Files are only ever read as
numbers, and their size is bounded.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

import numpy as np

from mbsim_ros.contact.collada import collada_vertices

MOST_POINTS = 32
MOST_SUPPORT_POINTS = 64
SUPPORT_ERROR = 0.01  # of the size of a mesh: how much farther than the chosen points it may reach in any direction
_DIRECTIONS = 500  # that are tried for that
LARGEST_FILE = 64 * 1024 * 1024  # bytes
_STL_HEADER, _STL_TRIANGLE = 84, 50


class MeshUnreadable(ValueError):
    """A mesh file that gives no contact points; the text says why."""


def mesh_points(
    path: Path, scale: tuple[float, float, float] = (1.0, 1.0, 1.0), most: int = MOST_POINTS, by_support: bool = False
) -> np.ndarray:
    """At most `most` vertices (n, 3) of the convex hull of an STL, OBJ or DAE file, in the mesh's own frame.

    Those that are farthest apart, or `by_support` as few as reach about as far as all of them in every direction.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise MeshUnreadable(f"not readable: {error.strerror}") from None
    return _points(path, found.st_mtime_ns, found.st_size, scale, most, by_support)


@lru_cache(maxsize=512)  # legs share meshes, and a robot is asked for its points more than once
def _points(
    path: Path, _modified: int, _size: int, scale: tuple[float, float, float], most: int, by_support: bool
) -> np.ndarray:
    hull = hull_vertices(read_vertices(path) * np.asarray(scale, dtype=float))
    points = support_points(hull, most) if by_support else spread_out(hull, most)
    points.setflags(write=False)
    return points


def read_vertices(path: Path) -> np.ndarray:
    """All vertices (n, 3) of an STL (binary or text), OBJ or COLLADA file. Raises MeshUnreadable."""
    readers = {".stl": stl_vertices, ".obj": _obj, ".dae": collada_vertices}
    content = read_content(path, tuple(readers))
    try:
        vertices = readers[path.suffix.lower()](content)
    except (ValueError, IndexError, OverflowError, ZeroDivisionError):
        raise MeshUnreadable("not a mesh of numbers") from None
    if len(vertices) == 0:
        raise MeshUnreadable("no vertices")
    if not np.isfinite(vertices).all():
        raise MeshUnreadable("vertices that are not finite")
    return vertices


def read_content(path: Path, endings: tuple[str, ...]) -> bytes:
    """Bytes of a mesh file with one of these endings, of bounded size. Raises MeshUnreadable."""
    if path.suffix.lower() not in endings:
        raise MeshUnreadable(f"'{path.suffix}' is not read, use {', '.join(endings)}")
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= LARGEST_FILE else b""
    except OSError as error:
        raise MeshUnreadable(f"not readable: {error.strerror}") from None
    if size > LARGEST_FILE:
        raise MeshUnreadable(f"{size} bytes are more than {LARGEST_FILE}")
    return content


def hull_vertices(vertices: np.ndarray) -> np.ndarray:
    """The vertices that span the convex hull; of a flat or thin mesh, all that differ."""
    different = _different(vertices)
    from scipy.spatial import ConvexHull, QhullError  # a third of a second that robots without meshes do not wait for

    try:
        return different[ConvexHull(different).vertices]  # type: ignore[no-any-return]
    except (QhullError, ValueError):
        return different


def _different(vertices: np.ndarray) -> np.ndarray:
    """The vertices by x, then y, then z, each once: np.unique(axis=0), which sorts rows several times as long."""
    ordered = vertices[np.lexsort(vertices.T[::-1])]
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[is_new]


def spread_out(points: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of the points, each the farthest from those chosen before it; the order is kept."""
    if len(points) <= most:
        return points
    chosen = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < most:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return points[sorted(chosen)]


def support_points(points: np.ndarray, most: int, error: float = SUPPORT_ERROR) -> np.ndarray:
    """At most `most` of the points, fewer where those reach as far but for `error` of the size; the order is kept.

    Each is the one that reaches farthest in the direction in which those before it fall short most: a body that lies on
    the ground sinks in by what they fall short.
    """
    directions = _directions(_DIRECTIONS)
    size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if not size < math.inf:
        return points  # which whoever takes them refuses, by the name of the link
    # Sums of products one by one: what a matrix product of a library rounds differs from machine to machine.
    reach, product = np.zeros((2, len(directions), len(points)))
    for axis in range(3):
        reach += np.multiply.outer(directions[:, axis], points[:, axis], out=product)
    farthest = reach.max(axis=1, initial=-np.inf)
    chosen: list[int] = []
    reached = np.full(len(directions), -np.inf)
    while len(chosen) < min(most, len(points)):
        short = farthest - reached
        worst = int(np.argmax(short))
        if not short[worst] > error * size:
            break
        chosen.append(int(np.argmax(reach[worst])))
        reached = np.maximum(reached, reach[:, chosen[-1]])
    return points[sorted(chosen)]


@lru_cache(maxsize=1)
def _directions(count: int) -> np.ndarray:
    """Unit vectors (count, 3) spread evenly over the sphere, a Fibonacci lattice: along no axis, edge or face."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = math.pi * (1.0 + math.sqrt(5.0)) * (np.arange(count) + 0.5)
    across = np.sqrt(1.0 - height * height)
    # Rounded: the last bits of sines differ from machine to machine, and which vertices are chosen must not.
    return np.round(np.column_stack([across * np.cos(turn), across * np.sin(turn), height]), 6)


def stl_vertices(content: bytes) -> np.ndarray:
    """Corners (3 n, 3) of the triangles of an STL file, binary or text."""
    # Binary files may begin with `solid`, too: the length decides.
    if len(content) >= _STL_HEADER:
        count = int.from_bytes(content[80:84], "little")
        if len(content) == _STL_HEADER + count * _STL_TRIANGLE:
            triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
            return np.frombuffer(content, triangle, count, _STL_HEADER)["corners"].reshape(-1, 3).astype(float)
    return _lines(content, b"vertex")


def _obj(content: bytes) -> np.ndarray:
    return _lines(content, b"v")


def _lines(content: bytes, keyword: bytes) -> np.ndarray:
    """The three numbers after the keyword on every line that begins with it."""
    words = (line.split() for line in content.splitlines())
    return np.array([[float(x) for x in w[1:4]] for w in words if w and w[0] == keyword]).reshape(-1, 3)
