# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Distance to the ground and its normal, for every kind of ground."""

import math

from mbsim_ros.jit import helper, kernel

FLAT, PLANE, HEIGHT_FIELD = range(3)
# What the data of each kind hold: FLAT (height), PLANE (normal, offset), HEIGHT_FIELD (x and y of the corner, spacing,
# spacing along y, 0 where it is the same).
DATA_SIZE = 4


@kernel
def terrain_at(kind, data, grid, x, y, z):
    """Distance of a point to the ground, negative below, and the unit normal there: (gap, nx, ny, nz).

    data (4,), grid (rows along y, columns along x). Exact for planes. For a height field z = H(x, y) it is the distance
    to the tangent plane below the point, (z − H)/√(1 + ‖∇H‖²); H has continuous slopes, so the gap and the normal are
    continuous.
    """
    if kind == FLAT:
        return z - data[0], 0.0, 0.0, 1.0
    if kind == PLANE:
        return data[0] * x + data[1] * y + data[2] * z - data[3], data[0], data[1], data[2]
    height, slope_x, slope_y = height_and_slopes(data, grid, x, y)
    inverse = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    return (z - height) * inverse, -slope_x * inverse, -slope_y * inverse, inverse


@helper
def height_and_slopes(data, grid, x, y):
    """H, ∂H/∂x, ∂H/∂y of a grid of heights by Catmull-Rom splines: through every height, planes exactly.

    Heights beyond the edge are those of the edge, so one cell further out the ground is level across the edge.
    """
    rows, columns = grid.shape
    inverse = 1.0 / data[2]
    inverse_y = 1.0 / data[3] if data[3] > 0.0 else inverse
    j, u = cell(inverse * (x - data[0]), columns)
    i, v = cell(inverse_y * (y - data[1]), rows)
    a0, a1, a2, a3 = weights(u)
    d0, d1, d2, d3 = weight_slopes(u)
    b0, b1, b2, b3 = weights(v)
    e0, e1, e2, e3 = weight_slopes(v)
    j0, j1, j2, j3 = within(j - 1, columns), within(j, columns), within(j + 1, columns), within(j + 2, columns)
    height, slope_x, slope_y = 0.0, 0.0, 0.0
    for k in range(4):
        row = grid[within(i - 1 + k, rows)]
        p0, p1, p2, p3 = row[j0], row[j1], row[j2], row[j3]
        along = a0 * p0 + a1 * p1 + a2 * p2 + a3 * p3
        rising = d0 * p0 + d1 * p1 + d2 * p2 + d3 * p3
        b = b0 if k == 0 else b1 if k == 1 else b2 if k == 2 else b3
        e = e0 if k == 0 else e1 if k == 1 else e2 if k == 2 else e3
        height += b * along
        slope_x += b * rising
        slope_y += e * along
    return height, inverse * slope_x, inverse_y * slope_y


@helper
def cell(u, count):
    """Cell of a coordinate in units of the spacing, and the place in it (0…1); far outside, a level cell."""
    if not u > -2.0:
        return -2, 0.0  # NaN, too: an index must stay an index
    if u > count + 1.0:
        return count, 0.0
    floor = math.floor(u)
    return int(floor), u - floor


@helper
def within(index, count):
    """The nearest index that exists."""
    return min(max(index, 0), count - 1)


@helper
def weights(u):
    """Weights of the four heights around a place u in the middle cell."""
    return (
        0.5 * u * (-1.0 + u * (2.0 - u)),
        1.0 + 0.5 * u * u * (3.0 * u - 5.0),
        0.5 * u * (1.0 + u * (4.0 - 3.0 * u)),
        0.5 * u * u * (u - 1.0),
    )


@helper
def weight_slopes(u):
    """Derivatives of the weights by u."""
    return (
        0.5 * (-1.0 + u * (4.0 - 3.0 * u)),
        0.5 * u * (9.0 * u - 10.0),
        0.5 * (1.0 + u * (8.0 - 9.0 * u)),
        0.5 * u * (3.0 * u - 2.0),
    )
