# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The ground that contact points meet: a floor, an inclined plane or a field of heights."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.terrain_kernel import DATA_SIZE, FLAT, HEIGHT_FIELD, PLANE, terrain_at
from mbsim_ros.model.sidecar.height_image import heights_of_image, smoothed
from mbsim_ros.model.sidecar.settings import Terrain

FRICTION = 0.8  # static and dynamic, where neither the ground nor the robot says otherwise
_NAMES = {FLAT: "floor", PLANE: "inclined plane", HEIGHT_FIELD: "height field"}


@dataclass(frozen=True, eq=False)
class Ground:
    """A ground as `terrain_at` takes it. Make one with `floor`, `inclined_plane`, `height_field` or `ground_of`."""

    kind: int
    data: np.ndarray = field(repr=False)  # (4,) float64, read-only
    grid: np.ndarray = field(repr=False)  # (rows along y, columns along x) float64, read-only
    friction_static: float = FRICTION
    friction_dynamic: float = FRICTION

    def gap(self, point: ArrayLike) -> float:
        """Signed distance of a world point (3,) to the ground [m], negative below it."""
        return float(terrain_at(self.kind, self.data, self.grid, *_numbers("point", point, 3))[0])

    def normal(self, point: ArrayLike) -> np.ndarray:
        """Unit normal (3,) of the ground below a world point (3,)."""
        return np.array(terrain_at(self.kind, self.data, self.grid, *_numbers("point", point, 3))[1:])

    @property
    def spacings(self) -> tuple[float, float]:
        """Distances of the heights of a field along x and y [m]."""
        x, y = float(self.data[2]), float(self.data[3])
        return x, y or x

    def __str__(self) -> str:
        return f"{_NAMES[self.kind]}, friction {self.friction_static:g} static, {self.friction_dynamic:g} dynamic"


def floor(height: float = 0.0, friction: float | Sequence[float] = FRICTION) -> Ground:
    """The floor z = height [m]; friction: one coefficient, or (static, dynamic)."""
    (height,) = _numbers("height", [height], 1)
    return _ground(FLAT, [height], None, friction)


def inclined_plane(point: ArrayLike, normal: ArrayLike, friction: float | Sequence[float] = FRICTION) -> Ground:
    """The plane through a point (3,) with an upward normal (3,), of any length."""
    p, n = np.array(_numbers("point", point, 3)), np.array(_numbers("normal", normal, 3))
    length = np.linalg.norm(n)
    if not length > 0.0 or not n[2] > 0.0:
        raise ValueError(f"normal: expected a vector that points upward (z > 0), got {n.tolist()}")
    n /= length
    return _ground(PLANE, [*n, n @ p], None, friction)


def height_field(
    heights: ArrayLike,
    spacing: float | Sequence[float],
    origin: Sequence[float] = (0.0, 0.0),
    height: float = 0.0,
    friction: float | Sequence[float] = FRICTION,
) -> Ground:
    """A field of heights on a grid; spacing: one distance [m], or those along x and y.

    heights[i][j] + height stands at x = origin[0] + j·spacing, y = origin[1] + i·spacing.
    Between the grid points the surface is a Catmull-Rom spline: it goes through every height and its slopes are
    continuous, as the normal must be for the energy of what rolls over it. Beyond the grid the ground keeps the heights
    of the edge; in the cells next to the edge the slope across it levels out.
    """
    try:
        grid = np.array(heights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("heights: expected a table of numbers with rows of equal length") from None
    if grid.ndim != 2 or min(grid.shape) < 2:
        raise ValueError(f"heights: expected a table of at least 2 x 2, got shape {grid.shape}")
    if not np.isfinite(grid).all():
        raise ValueError(f"heights: expected finite numbers, got {grid[~np.isfinite(grid)][0]}")
    along_x, along_y = _numbers("spacing", [spacing, spacing] if np.isscalar(spacing) else spacing, 2)
    if not (along_x > 0.0 and along_y > 0.0):
        raise ValueError(f"spacing: expected more than 0, got {spacing}")
    x, y = _numbers("origin", origin, 2)
    other = along_y if along_y != along_x else 0.0
    return _ground(HEIGHT_FIELD, [x, y, along_x, other], grid + _numbers("height", [height], 1)[0], friction)


def height_map(
    image: np.ndarray, size: Sequence[float], height: float, offset: Sequence[float] = (0.0, 0.0, 0.0),
    smoothing: float = 0.0, friction: float | Sequence[float] = FRICTION,
) -> Ground:  # fmt: skip
    """A field of heights from an image (rows from the smallest y on, columns along x) of values 0 … 1.

    Its first and last pixels are `size` (x, y) apart [m], its middle is at `offset` (x, y, z), 1 is `height` above 0.
    Between pixels the surface is that of `height_field`; heights are those of the image unless `smoothing`, the
    standard deviation of a Gaussian [m], is more than 0.
    """
    rows, columns = image.shape
    (width, depth), (x, y, z) = _numbers("size", size, 2), _numbers("offset", offset, 3)
    (rise,), (deviation,) = _numbers("height", [height], 1), _numbers("smoothing", [smoothing], 1)
    spacing = (width / (columns - 1), depth / (rows - 1))
    if deviation > 0.0 and min(spacing) > 0.0:
        image = smoothed(image, (deviation / spacing[1], deviation / spacing[0]))
    return height_field(rise * image, spacing, (x - 0.5 * width, y - 0.5 * depth), z, friction)


def ground_of(terrain: Terrain | None) -> Ground:
    """The ground that a sidecar describes; without one, the floor z = 0."""
    if terrain is None or terrain.type == "flat":
        return floor(terrain.height if terrain is not None else 0.0)
    if terrain.type == "incline":
        rise, heading = math.sin(terrain.angle), terrain.direction
        normal = (-rise * math.cos(heading), -rise * math.sin(heading), math.cos(terrain.angle))
        return inclined_plane((0.0, 0.0, terrain.height), normal)
    if terrain.type == "heightfield":
        heights = terrain.heights if terrain.file is None else _table(terrain.file.name, _content(terrain))
        return height_field(heights, terrain.spacing, terrain.origin, terrain.height)
    if terrain.type == "heightmap":
        image = heights_of_image(_content(terrain))
        return height_map(image, terrain.size, terrain.height, terrain.offset, terrain.smoothing)
    raise ValueError(f"terrain: unknown type {terrain.type!r}")


def _ground(kind: int, data: list, grid: np.ndarray | None, friction: float | Sequence[float]) -> Ground:
    static, dynamic = _friction(friction)
    values = np.zeros(DATA_SIZE)
    values[: len(data)] = data
    table = np.zeros((1, 1)) if grid is None else np.ascontiguousarray(grid)
    values.setflags(write=False)
    table.setflags(write=False)
    return Ground(kind, values, table, static, dynamic)


def _friction(friction: float | Sequence[float]) -> tuple[float, float]:
    pair = _numbers("friction", [friction, friction] if np.isscalar(friction) else friction, 2)
    if pair[1] < 0.0 or pair[0] < pair[1]:
        raise ValueError(f"friction: expected static ≥ dynamic ≥ 0, got {pair[0]:g} and {pair[1]:g}")
    return pair[0], pair[1]


def _content(terrain: Terrain) -> bytes:
    """What the file of a terrain holds: as it was read, or now where it was named in Python."""
    if terrain.source is not None:
        return terrain.source.content
    if terrain.file is None:
        raise ValueError(f"terrain: a {terrain.type} needs a file")
    return terrain.file.read_bytes()


def _table(name: str, content: bytes) -> np.ndarray:
    """Heights of a .csv or .npy file; a file of objects is refused, for reading one would run code."""
    try:
        if name.endswith(".npy"):
            return np.load(io.BytesIO(content), allow_pickle=False)  # type: ignore[no-any-return]
        return np.loadtxt(io.BytesIO(content), delimiter=",", ndmin=2)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{name}: not a table of heights: {error}") from None


def _numbers(name: str, values: object, count: int) -> list[float]:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected {count} number(s), got {values!r}") from None
    if array.shape != (count,) or not np.isfinite(array).all():
        raise ValueError(f"{name}: expected {count} finite number(s), got {values!r}")
    return array.tolist()  # type: ignore[no-any-return]
