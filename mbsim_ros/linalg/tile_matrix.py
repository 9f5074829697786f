# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A sparse matrix of 6 × 6 tiles and its factors, each tile's in a place of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

TILE = 6  # unknowns of a tile: those of a free body
SIZE = TILE * TILE
PIVOT, UPPER, LOWER = 0, 1, 2  # places of a tile's numbers
MOST_LATER = 40  # tiles that one may be tied to when it is eliminated
KEPT = 4  # fields of a TileMatrix, from the first, that factors are; the others are scratch


class TileMatrix(NamedTuple):
    """Several matrices, each of some of the T tiles; the pattern is symmetric, the numbers need not be.

    Tiles are eliminated in the order of their ranks. What is kept of a tile names others by their ranks alone, so it
    stays true wherever the tiles of other matrices come and go.
    """

    rank: np.ndarray  # (T,) int64, when a tile is eliminated among those of its matrix
    n_later: np.ndarray  # (T,) int64, to how many that are eliminated later it is tied then
    later: np.ndarray  # (T, MOST_LATER) int64, their ranks, ascending
    # (T, 1 + 2 MOST_LATER, 36), each tile row by row: PIVOT is that of itself, its inverse once it is factored; then
    # for each s of later UPPER + 2 s, of its own rows and the columns of that one, and LOWER + 2 s, of rows there
    numbers: np.ndarray
    order: np.ndarray  # (T,) int64, scratch: the tile of each rank
    seen: np.ndarray  # (T,) int64, scratch
    x: np.ndarray  # (T, 6) right sides, and solutions


def make_tile_matrix(n: int) -> TileMatrix:
    """Memory for matrices of n tiles in all."""

    def whole(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    return TileMatrix(
        whole(n), whole(n), whole(n, MOST_LATER), np.zeros((n, 1 + 2 * MOST_LATER, SIZE)), whole(n), whole(n),
        np.zeros((n, TILE)),
    )  # fmt: skip


def packed(matrix: TileMatrix, is_kept: np.ndarray) -> dict[str, np.ndarray]:
    """Copies of the factors of the tiles that is_kept (T,) says, by name; those of others look as if never made."""
    n_later = np.where(is_kept, matrix.n_later, 0)
    return {
        "rank": np.where(is_kept, matrix.rank, 0), "n_later": n_later, "is_kept": is_kept.copy(),
        "later": matrix.later[_first(MOST_LATER, n_later)],
        "numbers": matrix.numbers[_first(1 + 2 * MOST_LATER, np.where(is_kept, 1 + 2 * n_later, 0))],
    }  # fmt: skip


def unpack(matrix: TileMatrix, saved: Mapping[str, np.ndarray]) -> None:
    """Take back what `packed` gave; ValueError, and nothing is done, where it is not of such a matrix."""
    n, is_kept, n_later, rank = len(matrix.rank), saved["is_kept"], saved["n_later"], saved["rank"]
    if not is_kept.shape == n_later.shape == rank.shape == (n,):
        raise ValueError(f"saved state: expected factors of {n} tiles, got those of {len(n_later)}")
    for name, numbers, most in (
        ("rank", rank, n - 1),
        ("n_later", n_later, MOST_LATER),
        ("later", saved["later"], n - 1),
    ):
        if numbers.size and (numbers.min() < 0 or numbers.max() > most):
            found = f"{numbers.min()} to {numbers.max()}"
            raise ValueError(f"saved state: '{name}' of a factor: expected 0 to {most}, got {found}")
    ties = _first(MOST_LATER, n_later)
    places = _first(1 + 2 * MOST_LATER, np.where(is_kept, 1 + 2 * n_later, 0))
    if saved["later"].shape != (ties.sum(),) or saved["numbers"].shape != (places.sum(), SIZE):
        shapes = f"{saved['later'].shape} and {saved['numbers'].shape}"
        raise ValueError(f"saved state: expected factors with {ties.sum()} ties, got arrays of shapes {shapes}")
    matrix.rank[:], matrix.n_later[:] = rank, n_later
    matrix.later[ties], matrix.numbers[places] = saved["later"], saved["numbers"]


def _first(width: int, counts: np.ndarray) -> np.ndarray:
    """Mask (n, width) of the first counts (n,) of each row."""
    return np.arange(width) < counts[:, None]
