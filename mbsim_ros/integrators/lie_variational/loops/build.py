# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Making the arrays of closed loops from a model and its closures."""

from __future__ import annotations

import numpy as np

from mbsim_ros.integrators.closures import ClosureGeometry
from mbsim_ros.integrators.lie_variational.loops.arrays import LoopArrays
from mbsim_ros.model.joint_kinds import FLOATING
from mbsim_ros.model.model import KIND, PARENT, TRANSLATION, Model


def make_loops(model: Model, geometry: ClosureGeometry, nu: int) -> LoopArrays:
    """Arrays of the closures for nu independent velocities; all rows are kept, without multipliers."""
    roots = np.array([[_root(model, body) for body in ends] for ends in geometry.bodies], dtype=np.int64)
    m, nv, nq = len(geometry.owners), len(model.dof_parent), len(model.tree_q(model.neutral))
    zeros = np.zeros
    return LoopArrays(
        geometry.bodies, geometry.points, geometry.axes, _reach(model, geometry), roots,
        bool((roots[:, 0] == roots[:, 1]).all() and (roots >= 0).all()), np.arange(m), zeros(m), zeros(m), zeros(m),
        zeros(m), zeros((m, nv)), zeros((m, nv)), zeros((m, nu)), zeros((m, nu)), zeros((m, nu)), zeros((m, m)),
        zeros(m), zeros(m), zeros(nv), zeros(nq), zeros(18),
    )  # fmt: skip


def for_columns(loops: LoopArrays, nu: int) -> LoopArrays:
    """The same loops, with memory for another number of independent velocities."""
    m = len(loops.g)
    return loops._replace(J_node=np.zeros((m, nu)), J_end=np.zeros((m, nu)), solved=np.zeros((m, nu)))


def keep_rows(loops: LoopArrays, rows: np.ndarray) -> None:
    """Use these rows, in ascending order, and no others."""
    loops.kept[:] = -1
    loops.kept[: len(rows)] = rows
    unused = np.setdiff1d(np.arange(len(loops.g)), rows)
    loops.force[unused] = 0.0


def _ancestors(model: Model, body: int) -> list[int]:
    """A body by its row, and all that carry it; none for the world."""
    found = []
    while body > 0:
        found.append(body)
        body = int(model.topology[body - 1, PARENT])
    return found


def _root(model: Model, body: int) -> int:
    """Place in mu of the floating root that carries a body, -1 where none does."""
    floats = (model.topology[:, KIND] == FLOATING) & (model.topology[:, PARENT] == 0)
    path = _ancestors(model, body)
    return int(floats[: path[-1] - 1].sum()) if path and floats[path[-1] - 1] else -1


def _reach(model: Model, geometry: ClosureGeometry) -> np.ndarray:
    """Length of the links from the world, or from the root that floats, to both ends of each closure [m]."""
    lengths = np.linalg.norm(model.constants[:, TRANSLATION : TRANSLATION + 3], axis=1)
    reach = np.linalg.norm(geometry.points, axis=2).sum(axis=1)
    for c, ends in enumerate(geometry.bodies):
        reach[c] += sum(float(lengths[body - 1]) for end in ends for body in _ancestors(model, int(end)))
    return reach
