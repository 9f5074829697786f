# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Values by name or by place: every public call takes an array in a documented order, or a mapping by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.model.model import IV, Model, ModelJoint
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.sim.clock import number


class Names:
    """The names that a vector goes by, in order. `refused` says of other known names why they are not among them."""

    def __init__(self, kind: str, names: Sequence[str], refused: Mapping[str, str] | None = None):
        self.kind = kind
        self.names = tuple(names)
        self._places = {name: place for place, name in enumerate(self.names)}
        self._refused = {} if refused is None else refused

    def __len__(self) -> int:
        return len(self.names)

    def place(self, argument: str, name: object) -> int:
        """Where a name is; ValueError says what else it could be."""
        try:
            return self._places[name]  # type: ignore[index]
        except (KeyError, TypeError):
            why = self._refused.get(name) if isinstance(name, str) else None
            if why is None:
                there = ", ".join(self.names[:20]) + (", …" if len(self.names) > 20 else "")
                why = f"no {self.kind} of that name: " + did_you_mean(str(name), self.names, f"there are {there}", 0)
            raise ValueError(f"{argument}[{name!r}]: {why}") from None

    def entries(self, argument: str, values: object) -> dict[int, float]:
        """Finite values by place, from a mapping by name (any part of them) or from an array (all of them)."""
        if values is None:
            return {}
        if isinstance(values, Mapping):
            return {self.place(argument, name): number(f"{argument}[{name!r}]", v) for name, v in values.items()}
        vector = check.finite(argument, check.vector(argument, values, len(self.names)))
        return dict(enumerate(vector.tolist()))

    def vector(self, argument: str, values: object) -> np.ndarray:
        """Finite values as an array; names that a mapping leaves out have zero."""
        if isinstance(values, Mapping):
            vector = np.zeros(len(self.names))
            for place, value in self.entries(argument, values).items():
                vector[place] = value
            return vector
        return check.finite(argument, check.vector(argument, values, len(self.names)))


def driven_joints(model: Model) -> Names:
    """The joints that `tau` is for: those of one dof that mimic no other, in the order of the model."""
    refused = {}
    for joint in model.joints:
        mimic = model.description.joint(joint.name).mimic
        if mimic is not None:
            refused[joint.name] = f"it follows '{mimic.joint}': name that one"
        elif joint.nv != 1:
            refused[joint.name] = f"it is {joint.type}, and only joints of one dof are driven"
    return Names("joint of one dof", [joint.name for joint in model.joints if joint.name not in refused], refused)


def tree_dofs(model: Model, names: Sequence[str]) -> np.ndarray:
    """Where the velocities of these joints are among those of the tree, as the integrators have them."""
    return np.array([model.topology[joint.body, IV] for joint in joints_named(model, names)], dtype=np.int64)


def own_dofs(model: Model, names: Sequence[str]) -> np.ndarray:
    """Where the velocities of these joints are in v (nv,)."""
    return np.array([joint.iv for joint in joints_named(model, names)], dtype=np.int64)


def joints_named(model: Model, names: Sequence[str]) -> list[ModelJoint]:
    """The joints of these names; KeyError says which there are. One look at each, however many there are."""
    known = {joint.name: joint for joint in model.joints}
    return [known[name] if name in known else model.joint(name) for name in names]


def as_slice(places: np.ndarray) -> slice | np.ndarray:
    """The same places as a slice where they are in a row: numpy is some microseconds faster with one."""
    first = int(places[0]) if len(places) else 0
    in_a_row = np.array_equal(places, np.arange(first, first + len(places)))
    return slice(first, first + len(places)) if in_a_row else places
