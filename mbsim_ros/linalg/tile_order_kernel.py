# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""In which order the tiles of a matrix are eliminated, and which tiles that fills.

Minimum degree: always the tile that is tied to the fewest others. Eliminating it ties all of those to each other.
    begin_pattern, tie    write which tiles are tied
    order_tiles           finds the order, and what is filled
"""

from mbsim_ros.jit import helper, kernel
from mbsim_ros.linalg.tile_matrix import MOST_LATER

NOT_ELIMINATED = -1


@helper
def begin_pattern(matrix, tiles):
    """Begin with tiles (n,) that are not tied to each other."""
    for k in range(tiles.shape[0]):
        matrix.rank[tiles[k]], matrix.n_later[tiles[k]], matrix.seen[tiles[k]] = NOT_ELIMINATED, 0, -1


@helper
def tie(matrix, a, b):
    """Tie two tiles; False where one is tied to too many."""
    if a == b or is_tied(matrix, a, b):
        return True
    return append(matrix, a, b) and append(matrix, b, a)


@helper
def is_tied(matrix, a, b):
    """Whether a has b in its list."""
    row = matrix.later[a]
    for k in range(matrix.n_later[a]):  # noqa: SIM110 (no generator in a kernel)
        if row[k] == b:
            return True
    return False


@helper
def append(matrix, a, b):
    """Add b to the list of a; False where there is no room."""
    n = matrix.n_later[a]
    if n == MOST_LATER:
        return False
    matrix.later[a, n] = b
    matrix.n_later[a] = n + 1
    return True


@kernel
def order_tiles(matrix, tiles):
    """Eliminate the tiles (n,), in thought; False where one would be tied to more than there is room for."""
    stamp = 0
    for rank in range(tiles.shape[0]):
        pivot = least_tied(matrix, tiles)
        matrix.rank[pivot], matrix.order[rank] = rank, pivot
        for k in range(matrix.n_later[pivot]):
            other = matrix.later[pivot, k]
            forget(matrix, other, pivot)
            stamp += 1
            if not tie_all(matrix, other, pivot, stamp):
                return False
    for k in range(tiles.shape[0]):
        sort_ranks(matrix, tiles[k])
    return True


@helper
def least_tied(matrix, tiles):
    """The first of those with the shortest list among the tiles that are left."""
    best, fewest = -1, MOST_LATER + 1
    for k in range(tiles.shape[0]):
        tile = tiles[k]
        if matrix.rank[tile] == NOT_ELIMINATED and matrix.n_later[tile] < fewest:
            best, fewest = tile, matrix.n_later[tile]
    return best


@helper
def forget(matrix, a, b):
    """Take b off the list of a."""
    row, n = matrix.later[a], matrix.n_later[a]
    for k in range(n):
        if row[k] == b:
            row[k] = row[n - 1]
            matrix.n_later[a] = n - 1
            return


@helper
def tie_all(matrix, tile, pivot, stamp):
    """Tie a tile to all that the pivot is tied to."""
    seen = matrix.seen
    seen[tile] = stamp
    for k in range(matrix.n_later[tile]):
        seen[matrix.later[tile, k]] = stamp
    for k in range(matrix.n_later[pivot]):
        other = matrix.later[pivot, k]
        if seen[other] != stamp and not append(matrix, tile, other):
            return False
    return True


@helper
def sort_ranks(matrix, tile):
    """Replace the tiles of a list by their ranks, in ascending order."""
    row = matrix.later[tile]
    for k in range(matrix.n_later[tile]):
        rank, at = matrix.rank[row[k]], k
        while at > 0 and row[at - 1] > rank:
            row[at] = row[at - 1]
            at -= 1
        row[at] = rank
