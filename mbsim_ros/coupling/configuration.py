# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`CouplingConfiguration`: which rates u move the tree and how, v_tree = D u. N (26)–(29), (48), (49).

Columns of D, the entries of u, in this order:

1. the floating base's six, and in the order of v the dofs of joints that no motor drives and that are not locked, under
   the joint's name; those of joints of several dofs as `base/vx` … `base/wz`, `ball/wx` …;
2. motors, under theirs.

A row of D has one entry for a joint that is free or driven by one motor, none for a locked one (a brake), several for
a joint that several motors drive: a tibia whose angle a cable drive measures from the body, N (29), has −1 for the
femur's motor and 1 for its own. A joint that mimics another has that one's row times its multiplier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.coupling.definition import CouplingError, checked_definition
from mbsim_ros.coupling.reduction_kernel import expand_vector_into, reduce_vector_into
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.model.joint_kinds import KINDS
from mbsim_ros.model.model import IV, Model
from mbsim_ros.model.sidecar.settings import Coupling

_AXES = ("vx", "vy", "vz", "wx", "wy", "wz")
Row = dict[int, float]  # column → ratio


@dataclass(frozen=True, eq=False)
class CouplingConfiguration:
    """D (tree nv, nu) by compressed rows, all arrays read-only. Make one with `couple`, `identity` or `named`.

    Row i of D has the entries ratio[start[i]:start[i + 1]] in the columns column[start[i]:start[i + 1]].
    """

    name: str
    model: Model = field(repr=False)
    motors: tuple[str, ...]  # the last columns of D, in this order
    locked: tuple[str, ...]
    column_names: tuple[str, ...] = field(repr=False)
    start: np.ndarray = field(repr=False)  # (tree nv + 1,) int64
    column: np.ndarray = field(repr=False)  # (entries,) int64
    ratio: np.ndarray = field(repr=False)  # (entries,) float64
    rotor_inertia: np.ndarray = field(repr=False)  # (nu,) of the motors' own rotors; those of joints are the model's
    own_dofs: np.ndarray = field(repr=False)  # (nv,) int64, where in the tree's velocities those of the model are

    @property
    def nu(self) -> int:
        """Number of columns of D."""
        return len(self.column_names)

    @property
    def D(self) -> np.ndarray:
        """D (tree nv, nu) with its zeros."""
        D = np.zeros((len(self.start) - 1, self.nu))
        for i in range(len(D)):
            entries = slice(self.start[i], self.start[i + 1])
            D[i, self.column[entries]] = self.ratio[entries]
        return D

    def column_of(self, name: str) -> int:
        """Place of a motor or free joint in u; KeyError says which there are."""
        if name not in self.column_names:
            raise KeyError(f"no column named {name!r}; there are: {', '.join(self.column_names)}")
        return self.column_names.index(name)

    def expand(self, u: ArrayLike) -> np.ndarray:
        """Velocities of the tree D u (tree nv,), mimic joints included."""
        v_tree = np.empty(len(self.start) - 1)
        expand_vector_into(
            self.start, self.column, self.ratio, check.finite("u", check.vector("u", u, self.nu)), v_tree
        )
        return v_tree

    def velocities(self, u: ArrayLike) -> np.ndarray:
        """Velocities v (nv,) of the model, in its layout."""
        return self.expand(u)[self.own_dofs]

    def reduce(self, forces: ArrayLike) -> np.ndarray:
        """Forces or momenta of the tree (tree nv,) as those of the columns, Dᵀ forces (nu,)."""
        forces = check.finite("forces", check.vector("forces", forces, len(self.start) - 1))
        reduced = np.empty(self.nu)
        reduce_vector_into(self.start, self.column, self.ratio, forces, reduced)
        return reduced


def couple(
    model: Model,
    motors: Mapping[str, Mapping[str, float]] | Coupling | None = None,
    locked: Sequence[str] = (),
    *,
    name: str = "",
    rotor_inertia: Mapping[str, float] | None = None,
) -> CouplingConfiguration:
    """The configuration in which each motor drives its joints with these ratios, {motor: {joint: ratio}}.

    motors: also an entry of a sidecar's `couplings`, which has the locked joints and the name as well.
    rotor_inertia: of motors, at the speed of the motor; default the sidecar's. An entry of the sidecar under the name
    of a joint is the joint's, and is in the model already. A motor without joints needs one: it turns freely.
    Raises CouplingError with every problem.
    """
    if isinstance(motors, Coupling):
        locked, name, motors = motors.locked, motors.name, motors.motors
    motors = {} if motors is None else motors
    if rotor_inertia is None:
        of_sidecar = {} if model.sidecar is None else model.sidecar.rotor_inertia
        rotor_inertia = {
            motor: of_sidecar[motor] for motor in motors if motor in set(of_sidecar) - set(model.joint_names)
        }
    checked_definition(model, motors, locked, rotor_inertia)
    names, rows = _free_columns(model, {joint for driven in motors.values() for joint in driven} | set(locked))
    for motor, driven in motors.items():
        if motor in names:
            raise CouplingError(f"motor '{motor}' is named like another column: rename the motor")
        for joint, ratio in driven.items():
            rows[_tree_dof(model, joint)][len(names)] = float(ratio)
        names.append(motor)
    _fill_mimic_rows(model, rows)
    rotors = np.zeros(len(names))
    rotors[len(names) - len(motors) :] = [rotor_inertia.get(motor, 0.0) for motor in motors]
    return CouplingConfiguration(
        name, model, tuple(motors), tuple(locked), tuple(names), *_compressed(rows), _constant(rotors), _own_dofs(model)
    )


def identity(model: Model) -> CouplingConfiguration:
    """The configuration without couplings: D is the identity, but for mimic joints."""
    return couple(model, name="identity")


def named(model: Model) -> dict[str, CouplingConfiguration]:
    """All configurations of the model's sidecar by name."""
    couplings = {} if model.sidecar is None else model.sidecar.couplings
    return {name: couple(model, coupling) for name, coupling in couplings.items()}


def _free_columns(model: Model, taken: set[str]) -> tuple[list[str], list[Row]]:
    """Names of the columns that are dofs of their own, and the rows of D with these only."""
    rows: list[Row] = [{} for _ in model.dof_parent]
    names: list[str] = []
    free = [("base", "floating", 0)] if model.is_floating else []
    for joint in model.joints:
        if joint.iv >= 0 and joint.name not in taken:
            free.append((joint.name, joint.type, _tree_dof(model, joint.name)))
    for name, kind, first in free:
        axes = KINDS[kind].axes
        for k, axis in enumerate(axes):
            rows[first + k][len(names)] = 1.0
            names.append(name if len(axes) == 1 else f"{name}/{_AXES[axis]}")
    return names, rows


def _fill_mimic_rows(model: Model, rows: list[Row]) -> None:
    if model.mimic is None:
        return
    own = _own_dofs(model)
    for dof in set(range(len(rows))) - set(own.tolist()):
        leader, ratio = own[model.mimic.source_v[dof]], float(model.mimic.ratio_v[dof])
        rows[dof] = {column: ratio * entry for column, entry in rows[leader].items()} if ratio else {}


def _own_dofs(model: Model) -> np.ndarray:
    """Where in the tree's velocities those of the model are (nv,)."""
    dofs = list(range(6)) if model.is_floating else []
    for joint in model.joints:
        if joint.iv >= 0:
            first = _tree_dof(model, joint.name)
            dofs += range(first, first + joint.nv)
    return _constant(np.array(dofs, dtype=np.int64))


def _tree_dof(model: Model, joint: str) -> int:
    return int(model.topology[model.joint(joint).body, IV])


def _compressed(rows: list[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    start = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    column = np.array([column for row in rows for column in sorted(row)], dtype=np.int64)
    ratio = np.array([row[column] for row in rows for column in sorted(row)], dtype=np.float64)
    return _constant(start), _constant(column), _constant(ratio)


def _constant(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
