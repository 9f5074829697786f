# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Couplings of several entities at once: a scene has one D, and each entity a part of it that it changes by itself.

`walker/normal+dog/turn` is the coupling in which walker is coupled as its `normal` says, and dog as its `turn`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mbsim_ros.model.sidecar.coupling_text import is_coupling_text
from mbsim_ros.model.sidecar.settings import Coupling

UNCOUPLED = "identity"  # the name of the coupling of an entity whose joints are all by themselves
_AND = "+"


def parts_of(name: str, known: Mapping[str, object]) -> dict[str, str]:
    """The couplings that a name stands for, by entity; none where it is that of no coupling of an entity."""
    if is_coupling_text(name):  # of the scene as a whole
        return {}
    parts = [name] if name in known else name.split(_AND)
    return {part.partition("/")[0]: part for part in parts if part in known and "/" in part}


def with_part(name: str, entity: str, part: str, known: Mapping[str, object]) -> str:
    """The name of the coupling in force with another part for one entity; of those of others nothing changes."""
    parts = {**parts_of(name, known), entity: part}
    return _AND.join(parts[each] for each in sorted(parts))


def without_entity(name: str, entity: str, known: Mapping[str, object]) -> str:
    """The name of the coupling in force without that of an entity; "" where nothing is left."""
    parts = parts_of(name, known)
    return _AND.join(parts[each] for each in sorted(parts) if each != entity)


def is_combined(name: str, known: Mapping[str, object]) -> bool:
    """Whether a name stands for couplings of several entities, all of which there are."""
    return len(parts_of(name, known)) == len(name.split(_AND)) > 1


def combined(name: str, known: Mapping[str, Coupling]) -> Coupling:
    """The coupling of all entities that such a name stands for."""
    return joined(name, [known[part] for part in parts_of(name, known).values()])


def joined(name: str, couplings: Iterable[Coupling]) -> Coupling:
    """One coupling of all that these say, of which no two speak of the same."""
    whole = Coupling(name)
    for each in couplings:
        rotors = whole.rotor_inertia if each.rotor_inertia is None else {
            **(whole.rotor_inertia or {}), **each.rotor_inertia
        }  # fmt: skip
        whole = Coupling(
            name, {**whole.motors, **each.motors}, (*whole.locked, *each.locked),
            {**whole.torque_limit, **each.torque_limit}, {**whole.measured_from, **each.measured_from}, rotors,
        )  # fmt: skip
    return whole
