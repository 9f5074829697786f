# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Couplings as text: an entry of a sidecar's `couplings`, or one that stands for itself, as coupling_command takes it.

A coupling that is in no sidecar is named by its own text, `{"motors":{"drive":{"hip":1.0}}}`: whoever hears of it,
controllers, journals and snapshots, knows what it is.
"""

from __future__ import annotations

import json
from dataclasses import replace

import yaml

from mbsim_ros.model.description import RobotDescription
from mbsim_ros.model.problems import SidecarError
from mbsim_ros.model.sidecar.couplings import read_coupling
from mbsim_ros.model.sidecar.names import SidecarNames
from mbsim_ros.model.sidecar.nodes import NodeReader, compose
from mbsim_ros.model.sidecar.settings import Coupling

LONGEST = 20_000  # characters of a coupling that is given as text


def is_coupling_text(name: object) -> bool:
    """Whether a name is none, but the text of a coupling."""
    return isinstance(name, str) and name.lstrip().startswith("{")


def split_command(command: str) -> tuple[str, str]:
    """A coupling and its stamp, "" where it has none, of `name@stamp` or `{…}@stamp`; names in a text may have an @."""
    if not is_coupling_text(command):
        name, _, stamp = command.partition("@")
        return name, stamp
    text, brace, rest = command.rpartition("}")
    return text + brace, rest.strip().removeprefix("@")


def parse_coupling(text: str, robot: RobotDescription | None = None, *, file: str = "coupling") -> Coupling:
    """Read the text of a coupling, YAML or JSON, as strictly as a sidecar; its name is `coupling_text` of it.

    It may have `rotor_inertia` of its motors. Raises SidecarError with every problem.
    """
    if len(text) > LONGEST:
        raise ValueError(f"{file}: {len(text)} characters, at most {LONGEST} are read: put it into the sidecar")
    node = compose(text, file)
    reader = NodeReader(file, []).within("couplings", "given")
    if not isinstance(node, yaml.MappingNode):
        raise ValueError(f"{file}: expected {{motors: {{name: {{joint: ratio}}}}, locked: [joint]}}, got {text[:80]!r}")
    found = read_coupling(reader, node, SidecarNames(robot))
    if reader.problems:
        raise SidecarError(reader.problems)
    return replace(found, name=coupling_text(found))


def coupling_text(coupling: Coupling) -> str:
    """The same coupling as one line of JSON, always the same: motors in their order, which is that of the columns."""
    said = {
        "motors": {motor: {joint: float(row[joint]) for joint in row} for motor, row in coupling.motors.items()},
        "locked": list(coupling.locked),
        "torque_limit": {joint: float(limit) for joint, limit in coupling.torque_limit.items()},
        "measured_from": dict(coupling.measured_from),
        "rotor_inertia": {motor: float(inertia) for motor, inertia in (coupling.rotor_inertia or {}).items()},
    }  # fmt: skip
    return json.dumps({key: value for key, value in said.items() if value}, separators=(",", ":"), ensure_ascii=False)
