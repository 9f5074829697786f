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
   the joint's name; those of joints of several dofs as `base/vx` … `base/wz`, `ball/wx` …; a joint whose brake has a
   torque limit is one of them, for it may slip;
2. for each joint that a motor drives by a clutch with a torque limit how fast the clutch slips, as `knee/slip`;
3. motors, under theirs.

A row of D has one entry for a joint that is free or driven by one motor, none for a locked one (a brake), several for
a joint that several motors drive: a tibia whose angle a cable drive measures from the body, N (29), has −1 for the
femur's motor and 1 for its own. A joint that mimics another has that one's row times its multiplier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.coupling.cables import add_cables
from mbsim_ros.coupling.definition import CouplingError, checked_definition
from mbsim_ros.coupling.reduction_kernel import expand_vector_into, reduce_vector_into
from mbsim_ros.coupling.rows import compressed, constant, fill_mimic_rows, free_columns, own_dofs, tree_dof
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.coupling_details import BASE
from mbsim_ros.model.sidecar.coupling_text import is_coupling_text, parse_coupling
from mbsim_ros.model.sidecar.settings import Coupling

SLIP = "/slip"  # after the name of a joint: the column of how fast its clutch slips
_MOST_TEXTS = 1000  # couplings that stand for themselves, of which what they mean is kept
_UNCOUPLED = Coupling("")


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
    definition: Coupling = field(default=_UNCOUPLED, repr=False)  # what it was made of
    slipping: Mapping[str, int] = field(default_factory=dict, repr=False)  # joint with a torque limit → column of slip

    @property
    def base_columns(self) -> int:
        """How many columns the floating base has: the first six, or none where it is fixed or locked."""
        return 6 if self.model.is_floating and BASE not in self.locked else 0

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
    torque_limit: Mapping[str, float] | None = None,
    measured_from: Mapping[str, str] | None = None,
) -> CouplingConfiguration:
    """The configuration in which each motor drives its joints with these ratios, {motor: {joint: ratio}}.

    motors: also an entry of a sidecar's `couplings`, which has all the others as well.
    locked: joints, of any number of dofs, and `base` for a floating base.
    rotor_inertia: of motors, at the speed of the motor; default the sidecar's. An entry of the sidecar under the name
    of a joint is the joint's, and is in the model already. A motor without joints needs one: it turns freely.
    torque_limit: by joint that is locked or driven: beyond it [N m, N] its brake or clutch slips.
    measured_from: by joint that is locked or driven, the link from which its rotation is measured (cables.py).
    Raises CouplingError with every problem.
    """
    given = motors if isinstance(motors, Coupling) else Coupling(
        name, {} if motors is None else motors, tuple(locked), torque_limit or {}, measured_from or {}, rotor_inertia
    )  # fmt: skip
    driven_by, of_sidecar = given.motors, {} if model.sidecar is None else model.sidecar.rotor_inertia
    if given.rotor_inertia is None or isinstance(motors, Coupling):
        own = {motor: of_sidecar[motor] for motor in driven_by if motor in set(of_sidecar) - set(model.joint_names)}
        rotor_inertia = {**own, **(given.rotor_inertia or {})}
    else:
        rotor_inertia = given.rotor_inertia
    checked_definition(model, given, rotor_inertia)
    driven = {joint for joints in driven_by.values() for joint in joints}
    braked = [joint for joint in given.locked if joint in given.torque_limit]
    names, rows = free_columns(model, (driven | set(given.locked)) - set(braked))
    slipping = {joint: names.index(joint) for joint in braked}
    for joint in (joint.name for joint in model.joints if joint.name in driven and joint.name in given.torque_limit):
        slipping[joint] = len(names)
        rows[tree_dof(model, joint)][len(names)] = 1.0
        names.append(f"{joint}{SLIP}")
    for motor, joints in driven_by.items():
        if motor in names:
            raise CouplingError(f"motor '{motor}' is named like another column: rename the motor")
        for joint, ratio in joints.items():
            rows[tree_dof(model, joint)][len(names)] = float(ratio)
        names.append(motor)
    fill_mimic_rows(model, rows)
    add_cables(model, given.measured_from, rows)
    rotors = np.zeros(len(names))
    rotors[len(names) - len(driven_by) :] = [rotor_inertia.get(motor, 0.0) for motor in driven_by]
    definition = replace(given, locked=tuple(given.locked), rotor_inertia=dict(rotor_inertia))
    return CouplingConfiguration(
        given.name, model, tuple(driven_by), tuple(given.locked), tuple(names), *compressed(rows), constant(rotors),
        own_dofs(model), definition, slipping,
    )  # fmt: skip


def identity(model: Model) -> CouplingConfiguration:
    """The configuration without couplings: D is the identity, but for mimic joints."""
    return couple(model, name="identity")


class NamedCouplings(Mapping[str, CouplingConfiguration]):
    """The configurations of a model's sidecar by name; and under the text of a coupling (`{…}`) the one that it says.

    To go through it is to go through those of the sidecar.
    """

    def __init__(self, model: Model):
        couplings = {} if model.sidecar is None else model.sidecar.couplings
        self._model = model
        self._named = {name: couple(model, coupling) for name, coupling in couplings.items()}
        self._texts: dict[str, CouplingConfiguration] = {}

    def __getitem__(self, name: str) -> CouplingConfiguration:
        if not is_coupling_text(name):
            return self._named[name]
        if name not in self._texts:
            try:
                made = couple(self._model, parse_coupling(name, self._model.description))
            except ValueError as error:
                raise KeyError(str(error)) from None
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[name] = made
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)


def named(model: Model) -> NamedCouplings:
    """All configurations of the model's sidecar by name, and those that are named by their own text."""
    return NamedCouplings(model)
