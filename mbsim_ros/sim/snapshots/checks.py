# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether the contents of a snapshot can be the state of this simulation: a file may be damaged, or made by others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

import numpy as np

from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.integrators.layout import DRIVE_LIMIT, JOINT_LOWER, JOINT_UPPER

# Rows of arrays that may be infinite, by the last part of their names: what has no limit.
UNLIMITED = {
    "joints": (JOINT_LOWER, JOINT_UPPER),
    "drives": (DRIVE_LIMIT,),
    "motors": (DRIVE_LIMIT,),
}
MODES, COUNTS = ".modes", "engine.counts"
LARGEST = 1e100  # number that a state can have; NaN is not below it
LISTS = (".joint.later", ".joint.numbers")  # as long as a scene's factors have ties; what takes them back counts
LONGEST = 2**62  # steps, and what else is counted


def check_facts(facts: Mapping[str, object]) -> None:
    """Raise ValueError unless the coupling, pushes, loads and gains have the form in which they are saved."""
    coupling, pushes = facts.get("coupling"), facts.get("pushes")
    if not isinstance(facts.get("simulation"), dict) or not isinstance(coupling, dict) or not isinstance(pushes, dict):
        raise ValueError("snapshot: its facts are damaged: expected simulation, coupling and pushes")
    right = (
        isinstance(coupling.get("name"), str)
        and all(isinstance(name, str) for name in _list(coupling, "locked"))
        and all(_is_entry(entry) and _is_numbers(entry[1]) for entry in _list(coupling, "motors"))
        and all(_is_entry(entry) and _is_number(entry[1]) for entry in _list(coupling, "rotors"))
        and _is_numbers(coupling.get("torque_limit", {}))
        and _is_words(coupling.get("measured_from", {}))
    )
    if not right:
        raise ValueError(f"snapshot: its coupling is damaged: {str(coupling)[:200]}")
    for link, wrench in pushes.items():
        if not _is_list(wrench, 6):
            raise ValueError(f"snapshot: its push of '{link[:80]}' is damaged: expected 6 numbers")
    for what, count in (("payload", 10), ("gains", 2)):
        found = facts.get(what, {})
        if not isinstance(found, dict) or not all(_is_list(numbers, count) for numbers in found.values()):
            raise ValueError(f"snapshot: its {what} is damaged: expected {count} numbers by name, got {found!r:.200}")


def check_arrays(own: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError unless the arrays are like our own ones: names, shapes, types, finite, modes that there are."""
    if own.keys() != given.keys():
        odd = ", ".join(sorted(own.keys() ^ given.keys()))[:200]
        raise ValueError(f"snapshot: expected the arrays of this simulation, too many or missing: {odd}")
    for name, array in given.items():
        like = own[name]
        begin = 1 if name.endswith(LISTS) else 0
        if array.shape[begin:] != like.shape[begin:] or array.ndim != like.ndim or array.dtype != like.dtype:
            got = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"snapshot: {name}: expected {like.dtype} of shape {like.shape}, got {got}")
        if array.dtype.kind == "f":
            _check_numbers(name, array)
        elif name.endswith(MODES) and not np.isin(array, [mode.value for mode in ContactMode]).all():
            raise ValueError(f"snapshot: {name}: expected modes of contact, got {array.min()} to {array.max()}")
        elif name == COUNTS and not ((array >= 0) & (array < LONGEST)).all():
            raise ValueError(f"snapshot: {name}: expected counts, got {array.tolist()}")


def _check_numbers(name: str, array: np.ndarray) -> None:
    finite = np.abs(array) <= LARGEST
    for row in UNLIMITED.get(name.rpartition(".")[2], ()):
        finite[row] |= np.isinf(array[row])
    if not finite.all():
        where = tuple(int(place) for place in np.argwhere(~finite)[0])
        raise ValueError(
            f"snapshot: {name}: expected finite numbers up to {LARGEST:g}, got {array[where]} at {list(where)}"
        )


def _list(facts: Mapping[str, object], name: str) -> list[object]:
    """The list of this name; one entry that is nothing where there is none."""
    value = facts.get(name)
    return value if isinstance(value, list) else [None]


def _is_list(value: object, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(map(_is_number, value))


def _is_entry(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)


def _is_numbers(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def _is_words(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(word, str) for word in value.values())


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST
