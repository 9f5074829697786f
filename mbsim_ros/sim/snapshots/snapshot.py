# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Snapshot`: everything from which a simulation continues bit for bit, in memory or in one .npz file."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from mbsim_ros.coupling.configuration import CouplingConfiguration, couple
from mbsim_ros.model.model import Model
from mbsim_ros.sim.snapshots.file import read_arrays
from mbsim_ros.sim.surroundings.scene import Scene

FORMAT = 1
_FACTS = "facts"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Arrays, read-only, and facts as JSON text: what it is of, the step, the coupling. Equal where every bit is."""

    facts: str = field(repr=False)
    arrays: Mapping[str, np.ndarray] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot):
            return NotImplemented
        if self.facts != other.facts or set(self.arrays) != set(other.arrays):
            return False
        return all(_same(array, other.arrays[name]) for name, array in self.arrays.items())

    def __hash__(self) -> int:
        return hash((self.facts, *(self.arrays[name].tobytes() for name in sorted(self.arrays))))

    def __reduce__(self) -> tuple[object, ...]:
        return make_snapshot, (self.read_facts(), dict(self.arrays))

    def read_facts(self) -> dict[str, Any]:
        """The facts as a dict."""
        return json.loads(self.facts)  # type: ignore[no-any-return]

    def part(self, prefix: str) -> dict[str, np.ndarray]:
        """The arrays whose names begin with `prefix.`, without it, as copies to write to."""
        start = prefix + "."
        return {name[len(start) :]: array.copy() for name, array in self.arrays.items() if name.startswith(start)}

    def save(self, path: str | os.PathLike) -> None:
        """Write one .npz file under exactly this name; a file that is there is replaced in one go."""
        target = Path(path)
        beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            with open(beside, "xb") as file:  # in a folder of all, nobody has laid a link under this name
                np.savez(file, **{_FACTS: np.array(self.facts)}, **dict(self.arrays))  # type: ignore[arg-type]
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)

    @staticmethod
    def load(path: str | os.PathLike) -> Snapshot:
        """Read what `save` wrote. Raises ValueError for a file that is something else, OSError where there is none."""
        try:
            arrays = read_arrays(path)
            facts = json.loads(str(arrays.pop(_FACTS)[()]))
            found = facts["format"]
        except RecursionError:
            raise ValueError(f"{path}: not a snapshot of a simulation: its facts are nested too deep") from None
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise ValueError(f"{path}: not a snapshot of a simulation: {error}") from None
        if found != FORMAT:
            raise ValueError(f"{path}: a snapshot of format {found}, expected {FORMAT}: take it again")
        return make_snapshot(facts, arrays)


def make_snapshot(facts: dict[str, object], arrays: dict[str, np.ndarray]) -> Snapshot:
    """A snapshot of these facts and of copies of these arrays."""
    kept = {}
    for name, array in arrays.items():
        kept[name] = np.array(array)
        kept[name].setflags(write=False)
    text = json.dumps({"format": FORMAT, **facts}, sort_keys=True, ensure_ascii=False)
    return Snapshot(text, MappingProxyType(kept))


def identity_of(model: Model, scene: Scene, scheme: dict[str, object], law: str) -> dict[str, object]:
    """What a simulation is, in comparable words: the robot, the scheme, and fingerprints of everything around it.

    law: of contact, which the scheme takes where nothing is said.
    """
    names = "\0".join((*model.joint_names, *model.body_names, *model.frames))
    limits = (model.lower, model.upper, model.effort_limit, model.damping, model.friction)
    points, ground, pairs, springs = scene.points, scene.ground, scene.pairs, scene.springs
    laws = [each.fingerprint(law) for each in (scene.contact, scene.pair_contact) if each is not None]
    shapes = scene.shapes
    of_shapes = {} if shapes is None else {
        "shapes": _digest("\0".join(shapes.links), shapes.bodies, shapes.groups, shapes.radii, *shapes.vertices)
    }  # fmt: skip
    return {
        "model": f"{model.name} ({_digest(names, model.topology, model.constants, *limits)})",
        **scheme,
        "terrain": "" if ground is None else f"{ground} ({_digest(str(ground.kind), ground.data, ground.grid)})",
        "contact points": "" if points is None else _digest("", points.bodies, points.geometry),
        "contact parameters": _digest("".join(own[0] for own in laws), *(own[1] for own in laws)) if laws else "",
        **of_shapes,
        "body_contact": "" if pairs is None else _digest("", pairs.pairs, pairs.shape_ints, pairs.shape_floats),
        "springs": "" if springs is None else _digest(
            "\0".join(springs.names), springs.start, springs.point_row, springs.point, springs.constants
        ),
    }  # fmt: skip


def refuse_other(own: dict[str, object], theirs: dict[str, object]) -> None:
    """Raise ValueError naming what a snapshot was taken of that this simulation is not."""
    differences = [
        f"{key}: {theirs.get(key)!r} in the snapshot, {value!r} here"
        for key, value in own.items()
        if theirs.get(key) != value
    ]
    if differences:
        raise ValueError("snapshot of another simulation: " + "; ".join(differences))


def coupling_facts(configuration: CouplingConfiguration) -> dict[str, object]:
    """The definition of a coupling, from which `coupling_from` makes it again."""
    given, motors, rotors = configuration.definition, [], []
    for motor, ratios in given.motors.items():  # as lists: the order of the motors is that of the columns
        joints = (joint.name for joint in configuration.model.joints if joint.name in ratios)
        motors.append([motor, {joint: float(ratios[joint]) for joint in joints}])
        rotors.append([motor, float(configuration.rotor_inertia[configuration.column_of(motor)])])
    facts: dict[str, object] = {
        "name": configuration.name, "motors": motors, "locked": list(configuration.locked), "rotors": rotors
    }  # fmt: skip
    if given.torque_limit:
        facts["torque_limit"] = {joint: float(limit) for joint, limit in given.torque_limit.items()}
    if given.measured_from:
        facts["measured_from"] = dict(given.measured_from)
    return facts


def coupling_from(model: Model, facts: dict[str, Any]) -> CouplingConfiguration:
    """The coupling that `coupling_facts` described."""
    motors, rotors = dict(facts["motors"]), dict(facts["rotors"])
    return couple(
        model, motors, facts["locked"], name=facts["name"], rotor_inertia=rotors,
        torque_limit=facts.get("torque_limit"), measured_from=facts.get("measured_from"),
    )  # fmt: skip


def _digest(text: str, *arrays: np.ndarray) -> str:
    found = hashlib.sha256(text.encode())
    for array in arrays:
        found.update(f"{array.dtype}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
