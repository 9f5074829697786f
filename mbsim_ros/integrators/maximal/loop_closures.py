# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Closed loops of a robot whose file is a tree: which points coincide, how far they do, which rows are independent."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.integrators.maximal.arrays import MaximalTree
from mbsim_ros.integrators.maximal.coordinates_kernel import joint_momenta_into
from mbsim_ros.integrators.maximal.loop_closures_kernel import closure_rows_into
from mbsim_ros.model.model import CENTRE, Model
from mbsim_ros.model.sidecar.settings import Closure

DEPENDENT = 1e-9  # of the largest: a row of a planar loop that says what others say


class LoopClosures:
    """Closures of a model as arrays; names (closures,), m rows in all."""

    def __init__(self, model: Model, closures: Iterable[Closure]):
        chosen = list(closures)
        self.names = tuple(closure.name for closure in chosen)
        n = len(chosen)
        self.bodies, self._arms = np.zeros((n, 2), dtype=np.int64), np.zeros((n, 2, 3))
        self._axes = np.zeros((n, 3, 3))
        owners: list[int] = []
        for c, closure in enumerate(chosen):
            for end, attached in enumerate(closure.ends):
                frame = model.frame(attached.link)
                self.bodies[c, end] = frame.body + 1
                self._arms[c, end] = frame.X_BF[:3, :3] @ attached.point + frame.X_BF[:3, 3]
                if frame.body >= 0:
                    self._arms[c, end] -= _centre(model, frame.body)
            if closure.axes is not None:
                ends = zip(closure.ends, closure.axes, strict=True)
                a, b = (model.frame(end.link).X_BF[:3, :3] @ axis for end, axis in ends)
                self._axes[c] = *_across(a), b / np.linalg.norm(b)
            owners += [c] * (3 if closure.axes is None else 5)
        self.owners = np.array(owners, dtype=np.int64)  # closure of every row
        m = len(owners)
        self.g, self.G_a, self.G_b = np.zeros(m), np.zeros((m, 7)), np.zeros((m, 7))
        self.kept = np.arange(m)  # rows that the solver uses

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All rows g (m,) at X (n + 1, 7), and their derivatives by the first and second bodies (m, 7)."""
        closure_rows_into(self.bodies, self._arms, self._axes, X, self.g, self.G_a, self.G_b)
        return self.g, self.G_a, self.G_b

    def jacobian(self, tree: MaximalTree, X: np.ndarray, nv: int) -> np.ndarray:
        """Derivatives of all rows by the dofs of the tree (m, nv), Dg Dψ."""
        _, G_a, G_b = self.rows(X)
        J, subtree = np.zeros((len(self.g), nv)), np.zeros(X[:, :6].shape)
        for row, owner in enumerate(self.owners):
            P = np.zeros((len(X), 7))
            P[self.bodies[owner, 0]] += G_a[row]
            P[self.bodies[owner, 1]] += G_b[row]
            joint_momenta_into(tree, X, P[1:], subtree, J[row])
        return J

    def keep_independent(self, J: np.ndarray) -> None:
        """Choose rows that are independent, from the rows' derivatives (m, nv)."""
        from scipy.linalg import qr  # here, for robots without loops not to wait for it

        _, R, order = qr(J.T, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        self.kept = np.sort(order[: int((size > DEPENDENT * max(size.max(initial=0.0), 1e-300)).sum())])

    def error(self, X: np.ndarray) -> float:
        """How far the closures are open: the largest of all rows, kept or not [m, or sine of an angle]."""
        return float(np.abs(self.rows(X)[0]).max(initial=0.0))


def _centre(model: Model, body: int) -> np.ndarray:
    return model.constants[body, CENTRE : CENTRE + 3]  # type: ignore[no-any-return]


def _across(axis: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors across an axis and each other."""
    axis = np.asarray(axis, dtype=float)
    first = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    return first, second / np.linalg.norm(second)
