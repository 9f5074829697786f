# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Matrices of tiles: against numpy's dense solution, and what they refuse."""

import numpy as np
import pytest

from mbsim_ros.jit import kernel
from mbsim_ros.linalg.tile_lu_kernel import begin_numbers, factor_tiles, place_of, solve_tiles
from mbsim_ros.linalg.tile_matrix import MOST_LATER, SIZE, TILE, make_tile_matrix, packed, unpack
from mbsim_ros.linalg.tile_order_kernel import begin_pattern, order_tiles, tie


@kernel
def make_pattern(matrix, tiles, ties):
    """Tie pairs of tiles (m, 2) and find the order; whether there was room."""
    begin_pattern(matrix, tiles)
    for k in range(ties.shape[0]):
        if not tie(matrix, ties[k, 0], ties[k, 1]):
            return False
    if not order_tiles(matrix, tiles):
        return False
    begin_numbers(matrix, tiles)
    return True


@kernel
def put(matrix, a, b, tile):
    """Write the numbers of a tile (36,)."""
    row, place = place_of(matrix, a, b)
    for k in range(tile.shape[0]):
        matrix.numbers[row, place, k] = tile[k]


def filled(chance, n, apart=3):
    """A matrix of n of n + apart tiles, in any order, and the same as a dense one, in the order of its tiles."""
    matrix, tiles = make_tile_matrix(n + apart), np.sort(chance.permutation(n + apart)[:n])
    pairs = [(i, j) for i in range(n) for j in range(i) if chance.random() < 3.0 / n]
    ties = np.array([(tiles[i], tiles[j]) for i, j in pairs], dtype=np.int64).reshape(-1, 2)
    assert make_pattern(matrix, tiles, ties)
    dense = 2.0 * np.eye(TILE * n)
    for i, j in pairs:  # as a contact between two bodies: positive but for a part that is not symmetric
        B = np.zeros((3, TILE * n))
        B[:, TILE * i : TILE * (i + 1)], B[:, TILE * j : TILE * (j + 1)] = chance.normal(size=(2, 3, TILE))
        dense += B.T @ (np.eye(3) + 0.3 * chance.normal(size=(3, 3))) @ B
    for i, j in [*pairs, *((j, i) for i, j in pairs), *((i, i) for i in range(n))]:
        block = dense[TILE * i : TILE * (i + 1), TILE * j : TILE * (j + 1)]
        put(matrix, tiles[i], tiles[j], np.ascontiguousarray(block).ravel())
    return matrix, tiles, dense


@pytest.mark.parametrize("n", [1, 2, 9, 60])
def test_solutions_are_those_of_the_dense_matrix(n):
    chance = np.random.default_rng(n)
    matrix, tiles, dense = filled(chance, n)
    assert factor_tiles(matrix, n)
    b = chance.normal(size=(n, TILE))
    matrix.x[tiles] = b
    solve_tiles(matrix, n)
    np.testing.assert_allclose(matrix.x[tiles].ravel(), np.linalg.solve(dense, b.ravel()), rtol=1e-9, atol=1e-12)


def test_a_chain_is_not_filled():
    n = 50
    matrix, tiles = make_tile_matrix(n), np.arange(n)
    ties = np.array([(k, k + 1) for k in range(n - 1)])[np.random.default_rng(0).permutation(n - 1)]
    assert make_pattern(matrix, tiles, ties)
    assert matrix.n_later.sum() == n - 1


def test_more_ties_than_there_is_room_for_are_refused():
    n = MOST_LATER + 2
    ties = np.array([(i, j) for i in range(n) for j in range(i)])
    assert not make_pattern(make_tile_matrix(n), np.arange(n), ties)
    assert make_pattern(make_tile_matrix(n), np.arange(n - 1), ties[(ties < n - 1).all(axis=1)])


def test_a_matrix_that_is_not_positive_is_refused():
    matrix, tiles, _ = filled(np.random.default_rng(1), 5)
    matrix.numbers[tiles[3], 0, 0] = -100.0
    assert not factor_tiles(matrix, 5)


def test_factors_are_packed_and_taken_back():
    chance = np.random.default_rng(2)
    matrix, tiles, _ = filled(chance, 12)
    assert factor_tiles(matrix, 12)
    is_kept = np.isin(np.arange(len(matrix.rank)), tiles)
    saved, other = packed(matrix, is_kept), make_tile_matrix(len(matrix.rank))
    assert saved["numbers"].shape[0] < len(matrix.rank) * 8, "only what is used"
    unpack(other, saved)
    b = chance.normal(size=(12, TILE))
    for each in (matrix, other):
        each.order[matrix.rank[tiles]] = tiles
        each.x[tiles] = b
        solve_tiles(each, 12)
    np.testing.assert_array_equal(other.x, matrix.x)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("rank", lambda a: a + 100),
        ("n_later", lambda a: a - 1),
        ("n_later", lambda a: a + 1),
        ("later", lambda a: a + 100),
        ("later", lambda a: a[1:]),
        ("numbers", lambda a: np.zeros((0, SIZE))),
        ("rank", lambda a: a[1:]),
    ],
)
def test_what_no_matrix_has_is_not_taken_back(name, wrong):
    matrix, tiles, _ = filled(np.random.default_rng(3), 6)
    assert factor_tiles(matrix, 6)
    saved = packed(matrix, np.isin(np.arange(len(matrix.rank)), tiles))
    before = matrix.numbers.copy()
    with pytest.raises(ValueError, match="saved state"):
        unpack(matrix, {**saved, name: wrong(saved[name])})
    np.testing.assert_array_equal(matrix.numbers, before)
