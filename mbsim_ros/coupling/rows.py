# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Rows of D while a coupling is made: which dofs of the tree are columns of their own, and what mimic joints follow."""

from __future__ import annotations

import numpy as np

from mbsim_ros.model.joint_kinds import KINDS
from mbsim_ros.model.model import IV, Model
from mbsim_ros.model.sidecar.coupling_details import BASE

_AXES = ("vx", "vy", "vz", "wx", "wy", "wz")
Row = dict[int, float]  # column → ratio


def free_columns(model: Model, taken: set[str]) -> tuple[list[str], list[Row]]:
    """Names of the columns that are dofs of their own, and the rows of D with these only."""
    rows: list[Row] = [{} for _ in model.dof_parent]
    names: list[str] = []
    free = [(BASE, "floating", 0)] if model.is_floating and BASE not in taken else []
    for joint in model.joints:
        if joint.iv >= 0 and joint.name not in taken:
            free.append((joint.name, joint.type, int(model.topology[joint.body, IV])))
    for name, kind, first in free:
        for k, dof in enumerate(dof_names(name, kind)):
            rows[first + k][len(names)] = 1.0
            names.append(dof)
    return names, rows


def dof_names(joint: str, kind: str) -> list[str]:
    """What the dofs of a joint are called: by its name, or where it has several as `ball/wx` …"""
    axes = KINDS[kind].axes
    return [joint] if len(axes) == 1 else [f"{joint}/{_AXES[axis]}" for axis in axes]


def fill_mimic_rows(model: Model, rows: list[Row]) -> None:
    """Give joints that mimic others the rows of these times their multipliers."""
    if model.mimic is None:
        return
    own = own_dofs(model)
    for dof in set(range(len(rows))) - set(own.tolist()):
        leader, ratio = own[model.mimic.source_v[dof]], float(model.mimic.ratio_v[dof])
        rows[dof] = {column: ratio * entry for column, entry in rows[leader].items()} if ratio else {}


def own_dofs(model: Model) -> np.ndarray:
    """Where in the tree's velocities those of the model are (nv,)."""
    dofs = list(range(6)) if model.is_floating else []
    for joint in model.joints:
        if joint.iv >= 0:
            first = int(model.topology[joint.body, IV])
            dofs += range(first, first + joint.nv)
    return constant(np.array(dofs, dtype=np.int64))


def tree_dof(model: Model, joint: str) -> int:
    """The first dof of a joint in the tree's velocities."""
    return int(model.topology[model.joint(joint).body, IV])


def compressed(rows: list[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows as start (tree nv + 1,), column and ratio (entries,)."""
    start = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    column = np.array([column for row in rows for column in sorted(row)], dtype=np.int64)
    ratio = np.array([row[column] for row in rows for column in sorted(row)], dtype=np.float64)
    return constant(start), constant(column), constant(ratio)


def constant(array: np.ndarray) -> np.ndarray:
    """The same array, read-only from now on."""
    array.setflags(write=False)
    return array
