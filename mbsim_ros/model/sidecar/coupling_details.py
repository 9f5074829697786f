# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a coupling may say beside its motors: brakes of the base, torque limits, links that joints are measured from."""

from __future__ import annotations

from typing import TypedDict

import yaml

from mbsim_ros.model.problems import shortened
from mbsim_ros.model.sidecar.names import SidecarNames
from mbsim_ros.model.sidecar.nodes import NodeReader

BASE = "base"  # what the floating base is called among joints that are locked
DETAILS = ("torque_limit", "measured_from")  # keys of an entry beside motors and locked
Found = dict[str, tuple[yaml.Node, yaml.Node]]


class CouplingDetails(TypedDict):
    """Arguments of `Coupling`."""

    torque_limit: dict[str, float]
    measured_from: dict[str, str]
    rotor_inertia: dict[str, float] | None


def read_locked(reader: NodeReader, node: yaml.Node, names: SidecarNames) -> str | None:
    """Name of what is locked: a joint with any number of axes, or the base."""
    is_base = isinstance(node, yaml.ScalarNode) and node.value == BASE and BASE not in names.joints
    return reader.text(node) if is_base else names.joint(reader, node, has_one_axis=False)


def read_details(
    reader: NodeReader, found: Found, names: SidecarNames, held: set[str], motors: set[str]
) -> CouplingDetails:
    """What the entry says of joints that it locks or drives (`held`), and of its motors."""
    rotors = _amounts(reader, found, "rotor_inertia", motors)
    return {
        "torque_limit": _amounts(reader, found, "torque_limit", held),
        "measured_from": _measured_from(reader, found, names, held),
        "rotor_inertia": rotors or None,
    }


def _amounts(reader: NodeReader, found: Found, section: str, known: set[str]) -> dict[str, float]:
    """Numbers above 0 by the name of a joint or motor that the coupling has."""
    amounts: dict[str, float] = {}
    for name, (key, value) in (reader.entries(found[section][1]) if section in found else {}).items():
        amount = reader.number(value, section, above=0.0)
        if name not in known:
            reader.error(key, f"{section} of what the coupling does not have", f"'{shortened(name)}'", _HELD)
        elif amount is not None:
            amounts[name] = amount
    return amounts


def _measured_from(reader: NodeReader, found: Found, names: SidecarNames, held: set[str]) -> dict[str, str]:
    links: dict[str, str] = {}
    given = reader.entries(found["measured_from"][1]) if "measured_from" in found else {}
    for joint, (key, value) in given.items():
        link = names.link(reader, value)
        if joint not in held:
            reader.error(key, "measured_from of what the coupling does not have", f"'{shortened(joint)}'", _HELD)
        elif link is not None:
            links[joint] = link
    return links


_HELD = "name what it locks or drives"
