# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where in the model of all parts the numbers of each part are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.model import IQ, IV, Model


class PartLayout:
    """Maps from bodies, dofs and coordinates of the parts, one after the other, to those of the tree of all.

    Names are the same in both: a part is the model of all with one entity only.
    """

    def __init__(self, model: Model, parts: Sequence[LieVariational]):
        at = {name: b for b, name in enumerate(model.body_names)}
        bodies, dofs, coordinates = list[int](), list[int](), list[int]()
        sizes_v, sizes_q = list[int](), list[int]()
        for part in parts:
            own = part.model
            n_v, n_q = len(own.dof_parent), len(part.state.q)
            dof_map, q_map = np.zeros(n_v, dtype=np.int64), np.zeros(n_q, dtype=np.int64)
            ends_v, ends_q = _ends(own.topology[:, IV], n_v), _ends(own.topology[:, IQ], n_q)
            for b, name in enumerate(own.body_names):
                there, mine = model.topology[at[name]], own.topology[b]
                n_dofs, n_coordinates = ends_v[b] - mine[IV], ends_q[b] - mine[IQ]
                dof_map[mine[IV] : ends_v[b]] = there[IV] + np.arange(n_dofs)
                q_map[mine[IQ] : ends_q[b]] = there[IQ] + np.arange(n_coordinates)
                bodies.append(at[name])
            dofs += dof_map.tolist()
            coordinates += q_map.tolist()
            sizes_v.append(n_v)
            sizes_q.append(n_q)
        self.bodies, self.dofs, self.coordinates = (
            np.array(each, dtype=np.int64) for each in (bodies, dofs, coordinates)
        )
        self.first_body = _firsts([part.model.n_bodies for part in parts])
        self.first_dof, self.first_coordinate = _firsts(sizes_v), _firsts(sizes_q)

    def rows_of_bodies(self, bodies: np.ndarray, first_row: np.ndarray) -> np.ndarray:
        """Rows of bodies of the model of all in the arrays of a scene; -1, the world, stays."""
        rows = np.full(max(len(self.bodies), 1), -1)
        for t, first in enumerate(first_row):
            own = self.bodies[self.first_body[t] : self.first_body[t + 1]]
            rows[own] = first + np.arange(len(own))
        return np.where(bodies < 0, -1, rows[bodies]) if len(bodies) else bodies.copy()


def columns_of(column_names: Sequence[str], parts: Sequence[LieVariational]) -> tuple[np.ndarray, np.ndarray]:
    """first_column (P + 1,) and columns (nu,): where the columns of D of each part are among those of all."""
    at = {name: k for k, name in enumerate(column_names)}
    columns = [at[name] for part in parts for name in part.configuration.column_names]
    return _firsts([part.configuration.nu for part in parts]), np.array(columns, dtype=np.int64)


def _firsts(sizes: Sequence[int]) -> np.ndarray:
    return np.array([0, *accumulate(sizes)], dtype=np.int64)


def _ends(firsts: np.ndarray, total: int) -> np.ndarray:
    """Where what begins at these places ends: at the next place, whatever order they come in."""
    order = np.argsort(firsts, kind="stable")
    ends = np.empty(len(firsts), dtype=np.int64)
    ends[order] = [*firsts[order][1:], total]
    return ends
