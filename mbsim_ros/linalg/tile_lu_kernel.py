# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""L U of a matrix of tiles, and solutions with it.

No rows are exchanged: matrices are those of steps, positive definite but for what slipping friction adds.
"""

from mbsim_ros.jit import helper, kernel
from mbsim_ros.linalg.tile_matrix import LOWER, PIVOT, SIZE, TILE, UPPER


@helper
def begin_numbers(matrix, tiles):
    """Write zeros where the pattern of these tiles (n,) has numbers."""
    for k in range(tiles.shape[0]):
        tile = tiles[k]
        for place in range(1 + 2 * matrix.n_later[tile]):
            for e in range(SIZE):
                matrix.numbers[tile, place, e] = 0.0


@helper
def place_of(matrix, a, b):
    """Where in numbers the tile of the rows of tile a and the columns of tile b is."""
    if a == b:
        return a, PIVOT
    if matrix.rank[a] < matrix.rank[b]:
        return a, UPPER + 2 * slot_of(matrix, a, matrix.rank[b])
    return b, LOWER + 2 * slot_of(matrix, b, matrix.rank[a])


@helper
def slot_of(matrix, first, rank):
    """Where in the lists of a tile that of a later rank is."""
    row = matrix.later[first]
    s = 0
    while row[s] != rank:
        s += 1
    return s


@kernel
def factor_tiles(matrix, n):
    """Factor the matrix of the first n tiles of order; False where a pivot is not positive."""
    order, later = matrix.order, matrix.later
    for rank in range(n):
        pivot = order[rank]
        if not invert(matrix.numbers[pivot, PIVOT]):
            return False
        count = matrix.n_later[pivot]
        for s in range(count):
            multiply_in_place(matrix.numbers[pivot, LOWER + 2 * s], matrix.numbers[pivot, PIVOT])
        for s in range(count):
            below = order[later[pivot, s]]
            subtract_product(
                matrix.numbers[pivot, LOWER + 2 * s], matrix.numbers[pivot, UPPER + 2 * s], matrix.numbers[below, PIVOT]
            )
            slot = 0
            for t in range(s + 1, count):
                while later[below, slot] != later[pivot, t]:
                    slot += 1
                subtract_product(
                    matrix.numbers[pivot, LOWER + 2 * s],
                    matrix.numbers[pivot, UPPER + 2 * t],
                    matrix.numbers[below, UPPER + 2 * slot],
                )
                subtract_product(
                    matrix.numbers[pivot, LOWER + 2 * t],
                    matrix.numbers[pivot, UPPER + 2 * s],
                    matrix.numbers[below, LOWER + 2 * slot],
                )
    return True


@kernel
def solve_tiles(matrix, n):
    """Replace x of the first n tiles of order by the solution with their factors."""
    order, later, x = matrix.order, matrix.later, matrix.x
    for rank in range(n):
        pivot = order[rank]
        for s in range(matrix.n_later[pivot]):
            subtract_applied(matrix.numbers[pivot, LOWER + 2 * s], x[pivot], x[order[later[pivot, s]]])
    for rank in range(n - 1, -1, -1):
        pivot = order[rank]
        for s in range(matrix.n_later[pivot]):
            subtract_applied(matrix.numbers[pivot, UPPER + 2 * s], x[order[later[pivot, s]]], x[pivot])
        apply_in_place(matrix.numbers[pivot, PIVOT], x[pivot])


@helper
def invert(a):
    """Replace a tile by its inverse, by its quarters; False where the determinant of one is not positive.

    With a = [[P, Q], [R, S]] and the Schur complement C = S − R P⁻¹ Q: its last quarter is C⁻¹.
    """
    if not invert_quarter(a, 0):
        return False
    for i in range(3, TILE):  # R P⁻¹ in place of R, and C in place of S
        r = TILE * i
        x, y, z = a[r], a[r + 1], a[r + 2]
        x, y, z = (
            x * a[0] + y * a[6] + z * a[12], x * a[1] + y * a[7] + z * a[13], x * a[2] + y * a[8] + z * a[14],
        )  # fmt: skip
        a[r], a[r + 1], a[r + 2] = x, y, z
        for j in range(3, TILE):
            a[r + j] -= x * a[j] + y * a[6 + j] + z * a[12 + j]
    for j in range(3, TILE):  # P⁻¹ Q in place of Q
        x, y, z = a[j], a[6 + j], a[12 + j]
        a[j] = a[0] * x + a[1] * y + a[2] * z
        a[6 + j] = a[6] * x + a[7] * y + a[8] * z
        a[12 + j] = a[12] * x + a[13] * y + a[14] * z
    if not invert_quarter(a, 21):
        return False
    for i in range(3):  # −P⁻¹ Q C⁻¹, and what it adds to P⁻¹
        r = TILE * i
        x, y, z = a[r + 3], a[r + 4], a[r + 5]
        for j in range(3):
            a[r + 3 + j] = -(x * a[21 + j] + y * a[27 + j] + z * a[33 + j])
        x, y, z = a[r + 3], a[r + 4], a[r + 5]
        for j in range(3):
            a[r + j] -= x * a[18 + j] + y * a[24 + j] + z * a[30 + j]
    for j in range(3):  # −C⁻¹ R P⁻¹
        x, y, z = a[18 + j], a[24 + j], a[30 + j]
        a[18 + j] = -(a[21] * x + a[22] * y + a[23] * z)
        a[24 + j] = -(a[27] * x + a[28] * y + a[29] * z)
        a[30 + j] = -(a[33] * x + a[34] * y + a[35] * z)
    return True


@helper
def invert_quarter(a, k):
    """Replace the 3 × 3 that begins at a[k] by its inverse; False where its determinant is not positive."""
    m, n = k + TILE, k + 2 * TILE
    a00, a01, a02 = a[k], a[k + 1], a[k + 2]
    a10, a11, a12 = a[m], a[m + 1], a[m + 2]
    a20, a21, a22 = a[n], a[n + 1], a[n + 2]
    c00, c01, c02 = a11 * a22 - a12 * a21, a12 * a20 - a10 * a22, a10 * a21 - a11 * a20
    determinant = a00 * c00 + a01 * c01 + a02 * c02
    if not determinant > 0.0:
        return False
    f = 1.0 / determinant
    a[k], a[k + 1], a[k + 2] = f * c00, f * (a02 * a21 - a01 * a22), f * (a01 * a12 - a02 * a11)
    a[m], a[m + 1], a[m + 2] = f * c01, f * (a00 * a22 - a02 * a20), f * (a02 * a10 - a00 * a12)
    a[n], a[n + 1], a[n + 2] = f * c02, f * (a01 * a20 - a00 * a21), f * (a00 * a11 - a01 * a10)
    return True


@helper
def subtract_product(a, b, c):
    """c −= a b, all (36,), row by row."""
    for i in range(0, TILE, 2):  # two rows at a time: those of b are read half as often
        r, q = TILE * i, TILE * i + TILE
        c0, c1, c2, c3, c4, c5 = c[r], c[r + 1], c[r + 2], c[r + 3], c[r + 4], c[r + 5]
        d0, d1, d2, d3, d4, d5 = c[q], c[q + 1], c[q + 2], c[q + 3], c[q + 4], c[q + 5]
        for k in range(TILE):
            f, g, s = a[r + k], a[q + k], TILE * k
            b0, b1, b2, b3, b4, b5 = b[s], b[s + 1], b[s + 2], b[s + 3], b[s + 4], b[s + 5]
            c0, c1, c2, c3, c4, c5 = c0 - f * b0, c1 - f * b1, c2 - f * b2, c3 - f * b3, c4 - f * b4, c5 - f * b5
            d0, d1, d2, d3, d4, d5 = d0 - g * b0, d1 - g * b1, d2 - g * b2, d3 - g * b3, d4 - g * b4, d5 - g * b5
        c[r], c[r + 1], c[r + 2], c[r + 3], c[r + 4], c[r + 5] = c0, c1, c2, c3, c4, c5
        c[q], c[q + 1], c[q + 2], c[q + 3], c[q + 4], c[q + 5] = d0, d1, d2, d3, d4, d5


@helper
def multiply_in_place(a, b):
    """Replace a by a b, row by row."""
    for i in range(TILE):
        r = TILE * i
        c0 = c1 = c2 = c3 = c4 = c5 = 0.0
        for k in range(TILE):
            f, s = a[r + k], TILE * k
            c0 += f * b[s]
            c1 += f * b[s + 1]
            c2 += f * b[s + 2]
            c3 += f * b[s + 3]
            c4 += f * b[s + 4]
            c5 += f * b[s + 5]
        a[r], a[r + 1], a[r + 2], a[r + 3], a[r + 4], a[r + 5] = c0, c1, c2, c3, c4, c5


@helper
def subtract_applied(a, x, y):
    """y −= a x of a tile and two vectors (6,)."""
    for i in range(TILE):
        r = TILE * i
        y[i] -= a[r] * x[0] + a[r + 1] * x[1] + a[r + 2] * x[2] + a[r + 3] * x[3] + a[r + 4] * x[4] + a[r + 5] * x[5]


@helper
def apply_in_place(a, x):
    """x = a x."""
    x0, x1, x2, x3, x4, x5 = x[0], x[1], x[2], x[3], x[4], x[5]
    for i in range(TILE):
        r = TILE * i
        x[i] = a[r] * x0 + a[r + 1] * x1 + a[r + 2] * x2 + a[r + 3] * x3 + a[r + 4] * x4 + a[r + 5] * x5
