# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The journal of a simulation: everything that acted on it, in order, and states from which it can be computed on.

Physics writes it on the topic simulation_journal (String, JSON), many entries in a message: `sequence` counts the
messages, `entries` are [stamp_ns, kind, value]. A replay that follows it need not guess what acted when:

| kind | value | what happened at the stamp |
|---|---|---|
| joints, motors | JointState as bytes (base64) | a command began to act |
| couple | name | a coupling was engaged |
| push | link, force, torque; link alone | a push began; ended |
| stand_by | hold, damp, zero; that and an entity | the joints are driven so, because nobody commands them |
| go | – | one control period was taken, and the state after it published: the stamp is that state's |
| state | – | a state was published without a period |
| set | keyframe | the simulation was set: a reset, a pose, gravity, friction, gains or payload, an owner's clock |
| spawn | what it is made from | an entity came to the scene, and holds |
| delete | name | an entity left the scene |
| keyframe | keyframe | nothing: who begins to listen can go on from here |

A keyframe of a scene has its entities, as names and digests of what they are made from; that itself is told where they
come, and in simulation_setup.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.parameters import friction_from
from mbsim_ros.sim.snapshots.snapshot import Snapshot, make_snapshot
from mbsim_ros.sim.surroundings.friction import change_friction

JOINTS, MOTORS, COUPLE, PUSH, STAND_BY = "joints", "motors", "couple", "push", "stand_by"
GO, STATE, SET, KEYFRAME = "go", "state", "set", "keyframe"
SPAWN, DELETE = "spawn", "delete"
COMMANDS = (JOINTS, MOTORS)
KINDS = (*COMMANDS, COUPLE, PUSH, STAND_BY, GO, STATE, SET, KEYFRAME, SPAWN, DELETE)
LATEST = 2**63  # ns: no stamp is beyond it
_ARRAYS = ("<f8", "<i8", "|b1", "<i4", "|u1")  # what the arrays of a snapshot are made of


class Entry(NamedTuple):
    """One thing that happened: at which stamp [ns], what, and what it was; commands as bytes (CDR)."""

    stamp: int
    kind: str
    value: Any = None  # as JSON has it, or bytes


def journal_text(sequence: int, entries: Iterable[Entry]) -> str:
    """One message of a journal."""
    words = [[stamp, kind, b64encode(value).decode() if kind in COMMANDS else value] for stamp, kind, value in entries]
    return json.dumps({"sequence": sequence, "entries": words}, separators=(",", ":"))


def read_journal(texts: Iterable[str]) -> list[list[Entry]]:
    """The entries of these messages, in pieces between which messages are missing; each begins with a keyframe.

    Raises ValueError where a text is no part of a journal.
    """
    messages: dict[int, list[Entry]] = {}
    for text in texts:
        sequence, entries = _read_message(text)
        messages[sequence] = entries
    pieces: list[list[Entry]] = []
    last = -2
    for sequence in sorted(messages):
        entries = messages[sequence]
        if sequence != last + 1:
            start = next((k for k, entry in enumerate(entries) if entry.kind in (KEYFRAME, SET)), None)
            if start is None:
                continue  # what acted before is not known: wait for the next keyframe
            pieces.append([])
            entries = entries[start:]
        pieces[-1] += entries
        last = sequence
    return pieces


def _read_message(text: str) -> tuple[int, list[Entry]]:
    try:
        given = json.loads(text)
        return int(given["sequence"]), [_read_entry(*entry) for entry in given["entries"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"simulation_journal: not a journal: {error!r}") from None


def _read_entry(stamp: object, kind: str, value: Any) -> Entry:
    if type(stamp) is not int or not 0 <= stamp < LATEST or kind not in KINDS:
        raise ValueError(f"expected a stamp and a kind, got {stamp!r}, {kind!r}")
    return Entry(stamp, kind, b64decode(value, validate=True) if kind in COMMANDS else value)


def keyframe(intake: CommandInterface, friction: float, entities: Iterable[tuple[str, str]] = ()) -> dict[str, object]:
    """All from which a simulation goes on bit for bit, as JSON has it.

    friction: the parameter; entities: of a scene, names and digests of what they are made from, in their order.
    """
    snapshot = intake.sim.snapshot()
    arrays = {
        name: [array.dtype.str, list(array.shape), b64encode(np.ascontiguousarray(array).tobytes()).decode()]
        for name, array in snapshot.arrays.items()
    }
    return {
        "facts": snapshot.read_facts(), "arrays": arrays, "friction": friction, "held": intake.held,
        "entities": [list(entry) for entry in entities],
    }  # fmt: skip


def restore_keyframe(intake: CommandInterface, value: Mapping[str, Any]) -> None:
    """Put a simulation where `keyframe` was taken. Raises ValueError if it is none of it."""
    try:
        friction, held = float(value["friction"]), [bool(word) for word in value["held"]]
        snapshot = _snapshot(value["facts"], value["arrays"])
        touches = intake.sim.scene.points is not None and intake.sim.scene.contact is not None
        law = value["facts"]["simulation"].get("contact parameters")
        if (
            touches and law != intake.sim.identity["contact parameters"]
        ):  # each entity of a scene has a friction of its own
            change_friction(intake.sim, friction_from(friction))
        intake.sim.restore(snapshot)
        intake.take_over(held)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"simulation_journal: not a keyframe: {error!r}") from None


def _snapshot(facts: dict[str, object], arrays: dict[str, Sequence[Any]]) -> Snapshot:
    kept = {}
    for name, (kind, shape, data) in arrays.items():
        if kind not in _ARRAYS:
            raise ValueError(f"simulation_journal: array '{name}' of the type {kind!r}")
        kept[name] = np.frombuffer(b64decode(data, validate=True), dtype=kind).reshape(shape)
    return make_snapshot(facts, kept)
