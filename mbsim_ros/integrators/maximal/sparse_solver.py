# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The whole linear system W (5.13) as one matrix: for closed loops, which Algorithm 5.1 leaves out, and as its test.

Unknowns, body by body: X, the multiplier of |q| = 1, those of the joint's rows; then those of the closures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

from mbsim_ros.integrators.maximal.arrays import ROWS, MaximalSystem
from mbsim_ros.integrators.maximal.joint_kernel import rows_of
from mbsim_ros.integrators.maximal.loop_closures import LoopClosures
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import KIND, PARENT

Ends = tuple[np.ndarray, np.ndarray]  # of the two bodies of closures


class SparseSystem:
    """Places of the entries, made once; `matrix` and `right_side` read the values that the equations have written."""

    def __init__(self, system: MaximalSystem, closures: LoopClosures):
        self.system, self.closures = system, closures
        topology = system.tree.topology
        counts = np.array([rows_of.py_func(int(kind)) for kind in topology[:, KIND]])
        self.first = np.concatenate([[0], np.cumsum(8 + counts)])  # first unknown of every body
        self._has_row = np.arange(ROWS)[None, :] < counts[:, None]
        self._driven = np.flatnonzero(topology[:, KIND] <= PRISMATIC)
        self._child = np.flatnonzero(topology[:, PARENT] > 0)
        self.bodies = int(self.first[-1])
        own, seven = self.first[:-1], np.arange(7)
        X = own[:, None] + seven  # (n, 7)
        joint = own[:, None] + 8 + np.arange(ROWS)  # (n, ROWS)
        inner = X[topology[self._child, PARENT] - 1]
        turns, gamma = X[:, 3:], np.repeat(own[:, None] + 7, 4, axis=1)
        places = [
            _pairs(X[:, :, None], X[:, None, :]), (turns.ravel(), gamma.ravel()), (gamma.ravel(), turns.ravel()),
            self._rows(X[:, None, :], joint[:, :, None]), self._rows(joint[:, :, None], X[:, None, :]),
            (joint[self._driven, ROWS - 1], joint[self._driven, ROWS - 1]),
            self._rows(inner[:, None, :], joint[self._child, :, None], self._child),
            self._rows(joint[self._child, :, None], inner[:, None, :], self._child),
        ]  # fmt: skip
        kept = closures.kept
        self.size = self.bodies + len(kept)
        extra = self.bodies + np.arange(len(kept))
        self._ends = []
        for end in range(2):
            body = closures.bodies[closures.owners[kept], end] - 1
            moves = np.flatnonzero(body >= 0)
            self._ends.append((moves, body[moves]))
            at, row = X[body[moves]], np.repeat(extra[moves][:, None], 7, axis=1)
            places += [(at.ravel(), row.ravel()), (row.ravel(), at.ravel())]
        row, column = (np.concatenate(part) for part in zip(*places, strict=True))
        # no place occurs twice, so values need only be put in order
        from scipy.sparse import csc_matrix  # here, for robots that are solved otherwise not to wait for it

        numbers = csc_matrix((np.arange(1.0, len(row) + 1.0), (row, column)), shape=(self.size, self.size))
        self._order = numbers.data.astype(np.int64) - 1
        self._matrix = numbers

    def matrix(self, now: Ends, later: Ends) -> csc_matrix:
        """W (5.13); now, later: derivatives of the closures' kept rows by both bodies, at both ends of the step.

        The same matrix is written anew by every call.
        """
        work, state = self.system.work, self.system.state
        mask, children = self._has_row, self._child
        values = [
            work.M.ravel(), -2.0 * state.X[1:, 3:].ravel(), 2.0 * work.X_next[1:, 3:].ravel(),
            -work.now_out[mask].ravel(), work.next_out[mask].ravel(), np.ones(len(self._driven)),
            -work.now_in[children][mask[children]].ravel(), work.next_in[children][mask[children]].ravel(),
        ]  # fmt: skip
        for end, (moves, _) in enumerate(self._ends):
            values += [-now[end][moves].ravel(), later[end][moves].ravel()]
        self._matrix.data = np.concatenate(values)[self._order]
        return self._matrix

    def right_side(self, gaps: np.ndarray) -> np.ndarray:
        """−(f, b, g) of all bodies and of the closures' kept rows, whose impulses must already be in f."""
        right, work, own = np.zeros(self.size), self.system.work, self.first[:-1]
        right[(own[:, None] + np.arange(7)).ravel()] = -work.unbalanced.ravel()
        right[own + 7] = -work.gaps[:, 0]
        joint = own[:, None] + 8 + np.arange(ROWS)
        right[joint[self._has_row]] = -work.gaps[:, 1:][self._has_row]
        right[self.bodies :] = -gaps
        return right

    def pull(self, now: Ends, pulls: np.ndarray) -> None:
        """Take the impulses of the closures out of what is unbalanced."""
        for end, (moves, body) in enumerate(self._ends):
            np.subtract.at(self.system.work.unbalanced, body, now[end][moves] * pulls[moves, None])

    def add(self, step: np.ndarray, pulls: np.ndarray) -> None:
        """Add a solution to X_next, the multipliers and the closures' impulses."""
        own, work = self.first[:-1], self.system.work
        work.X_next[1:] += step[own[:, None] + np.arange(7)]
        self.system.state.multipliers[:, 0] += step[own + 7]
        joint = own[:, None] + 8 + np.arange(ROWS)
        self.system.state.multipliers[:, 1:][self._has_row] += step[joint[self._has_row]]
        pulls += step[self.bodies :]

    def solve(self, now: Ends, later: Ends, gaps: np.ndarray) -> np.ndarray:
        """One Newton step by a general sparse factorisation. Raises RuntimeError if the matrix is singular."""
        from scipy.sparse.linalg import splu

        return splu(self.matrix(now, later)).solve(self.right_side(gaps))  # type: ignore[no-any-return]

    def _rows(
        self, row: np.ndarray, column: np.ndarray, bodies: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Places of (bodies, ROWS, 7) entries, without the rows that a joint does not have."""
        mask = self._has_row if bodies is None else self._has_row[bodies]
        rows, columns = np.broadcast_arrays(row, column)
        return rows[mask].ravel(), columns[mask].ravel()


def _pairs(row: np.ndarray, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.broadcast_arrays(row, column)
    return rows.ravel(), columns.ravel()
