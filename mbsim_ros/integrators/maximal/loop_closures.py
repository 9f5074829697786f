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

from mbsim_ros.integrators.closures import closure_geometry, independent_rows
from mbsim_ros.integrators.maximal.arrays import MaximalTree
from mbsim_ros.integrators.maximal.coordinates_kernel import joint_momenta_into
from mbsim_ros.integrators.maximal.loop_closures_kernel import closure_rows_into
from mbsim_ros.model.model import CENTRE, Model
from mbsim_ros.model.sidecar.settings import Closure


class LoopClosures:
    """Closures of a model as arrays; names (closures,), m rows in all."""

    def __init__(self, model: Model, closures: Iterable[Closure]):
        self.names, self.bodies, self._arms, self._axes, self.owners = closure_geometry(model, closures)
        for arms, bodies in zip(self._arms, self.bodies, strict=True):
            for arm, body in zip(arms, bodies, strict=True):
                if body > 0:
                    arm -= _centre(model, int(body) - 1)
        m = len(self.owners)
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
        self.kept = independent_rows(J)

    def error(self, X: np.ndarray) -> float:
        """How far the closures are open: the largest of all rows, kept or not [m, or sine of an angle]."""
        return float(np.abs(self.rows(X)[0]).max(initial=0.0))


def _centre(model: Model, body: int) -> np.ndarray:
    return model.constants[body, CENTRE : CENTRE + 3]  # type: ignore[no-any-return]
