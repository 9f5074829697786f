# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Bags: read, replayed and told of, or an error that says what is wrong, and no more memory than they deserve."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import yaml

from mbsim_ros import __version__
from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.bag_writer import COMPRESSIONS, BagWriter
from mbsim_ros.bags.formats.mcap_file import MAGIC
from mbsim_ros.bags.history import read_history
from mbsim_ros.bags.replay import replay
from mbsim_ros.bags.setup import SimulationSetup, computed_with
from mbsim_ros.bags.topics import STANDARD
from mbsim_ros.fuzz.mutations import mutated_bytes, mutated_text, mutated_tree
from mbsim_ros.fuzz.seeds import PENDULUM, SIDECAR
from mbsim_ros.fuzz.verdict import Case
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.drives.drive_table import Refusal

SPACE, STATES, PERIOD = "/arm/", 8, 2_000_000  # ns
PARAMETERS: dict[str, object] = {
    "base": "auto", "dt": 0.001, "control_period": 0.002, "integrator": "lie_variational", "quadrature": "midpoint",
    "retraction": "cayley", "order": 2, "gravity": [0.0, 0.0, -9.81], "terrain": "auto", "friction": -1.0,
    "body_contact": [""], "initial_state": "home", "coupling": "", "sync": "lockstep", "clock": "publish",
    "lockstep_participants": ["controller"], "on_missing": "hold", "command_timeout": 0.5, "on_timeout": "hold",
    "frame_prefix": "", "start": "hold",
}  # fmt: skip
LENGTHS = (0, 1, 2**16, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)

Doubles = Sequence[float] | np.ndarray
Message = tuple[str, int, bytes]


class BagCases:
    """Cases of bags of one short run."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._setup, self._messages = _run()
        self._files = {}
        for compression in COMPRESSIONS:
            writer = self._write(f"whole_{compression}", self._messages, compression)
            self._files[compression] = writer.file.read_bytes()
        self._metadata = (writer.folder / "metadata.yaml").read_text()
        self._bag = folder / "bag"
        self._bombs = _bombs()

    def make(self, random: Random) -> Case:
        """A bag with changed bytes, lengths, messages, setup or metadata."""
        way = random.random()
        if way < 0.35:
            content = mutated_bytes(self._files[random.choice(COMPRESSIONS)], random)
            return Case(f"{len(content)} bytes", lambda: self._use_file(content, None, random))
        if way < 0.5:
            content = _with_odd_lengths(self._files[random.choice(COMPRESSIONS)], random)
            return Case(f"{len(content)} bytes", lambda: self._use_file(content, None, random))
        if way < 0.6:
            text = _changed_metadata(self._metadata, random)
            return Case(text, lambda: self._use_file(self._files["zstd"], text, random))
        if way < 0.62:
            content = random.choice(self._bombs)
            return Case(f"a bomb of {len(content)} bytes", lambda: self._use_file(content, None, random))
        messages, said = self._changed_messages(random)
        compression = random.choice(COMPRESSIONS)
        return Case(said, lambda: self._use_messages(messages, compression, random))

    def _changed_messages(self, random: Random) -> tuple[list[Message], str]:
        messages = list(self._messages)
        for _ in range(random.choice((1, 1, 2, 5))):
            place = random.randrange(len(messages))
            topic, time, data = messages[place]
            change = random.randrange(6)
            if change == 0:
                messages[place] = topic, random.choice((0, time + 1, time + PERIOD, 2**62, 2**63, 2**64 - 1)), data
            elif change == 1:
                messages[place] = random.choice(messages)[0], time, data
            elif change == 2:
                messages.insert(place, messages[place])
            elif change == 3:
                del messages[place]
            else:
                messages[place] = topic, time, mutated_bytes(data, random)
        if random.random() < 0.5:
            text = (
                json.dumps(mutated_tree(self._setup, random))
                if random.random() < 0.8
                else mutated_text(json.dumps(self._setup), random)
            )
            messages[0] = SPACE + "simulation_setup", 0, _string(text)
            return messages, text
        return messages, f"{len(messages)} messages"

    def _use_messages(self, messages: list[Message], compression: str, random: Random) -> None:
        shutil.rmtree(self._bag, ignore_errors=True)
        self._write("bag", messages, compression)
        self._use(random)

    def _use_file(self, content: bytes, metadata: str | None, random: Random) -> None:
        shutil.rmtree(self._bag, ignore_errors=True)
        self._bag.mkdir()
        (self._bag / "whole_none_0.mcap").write_bytes(content)
        if metadata is not None:
            (self._bag / "metadata.yaml").write_text(metadata, errors="replace")
        self._use(random)

    def _use(self, random: Random) -> None:
        for _ in BagReader(self._bag).messages():
            pass
        if random.random() < 0.7:
            replay(self._bag)
        else:
            read_history(self._bag)

    def _write(self, name: str, messages: list[Message], compression: str) -> BagWriter:
        with BagWriter(self._folder / name, compression=compression) as writer:
            for topic in STANDARD:
                writer.add_topic(SPACE + topic.name.strip("/"), topic.type, topic.quality, text="float64 x")
            for message in messages:
                writer.write(*message)
        return writer


def _run() -> tuple[dict[str, object], list[Message]]:
    """A run in lockstep as a recorder has it: its setup and its messages."""
    setup: dict[str, object] = {
        "robot_description": PENDULUM, "sidecar": SIDECAR, "parameters": PARAMETERS, "version": __version__,
        **computed_with(),
    }  # fmt: skip
    sim = SimulationSetup.from_json(json.dumps(setup)).simulation()
    intake = CommandInterface(sim)
    intake.hold()
    messages = [(SPACE + "simulation_setup", 0, _string(json.dumps(setup)))]
    for k in range(STATES):
        stamp = k * PERIOD
        efforts = sim.efforts
        messages.append((SPACE + "motor_states", stamp, _joint_state(stamp, "", sim.motor_names, sim.motor_position)))
        state = _joint_state(stamp, "", sim.tau_names, sim.q, sim.v, efforts)
        messages.append((SPACE + "joint_states", stamp, state))
        given = np.array([0.1 * k, -0.2])
        messages.append(
            (SPACE + "joint_commands", stamp, _joint_state(stamp, "/arm/controller", sim.tau_names, effort=given))
        )
        command = intake.joints.read(sim.tau_names, [], [], given)
        assert not isinstance(command, Refusal)
        command.apply()
        sim.advance(2)
    messages.append((SPACE + "coupling_command", stamp, _string(f"both@{stamp}")))
    messages.append((SPACE + "wrench", stamp, _wrench(stamp, "lower")))
    return setup, messages


def _changed_metadata(text: str, random: Random) -> str:
    way = random.random()
    if way < 0.5:
        return yaml.safe_dump(mutated_tree(yaml.safe_load(text), random))
    return "[" * 3000 if way < 0.55 else mutated_text(text, random)


def _with_odd_lengths(content: bytes, random: Random) -> bytes:
    """Lengths of records, or what looks like them, that are not so."""
    changed = bytearray(content)
    places, at = [], 8
    while at + 9 <= len(content):
        places.append(at + 1)
        at += 9 + struct.unpack_from("<Q", content, at + 1)[0]
    for _ in range(random.choice((1, 2))):
        place = random.choice(places) + random.choice((0, 0, 8, 16, 24, 32, 36, 44))
        if place + 8 <= len(changed):
            changed[place : place + 8] = struct.pack("<Q", random.choice(LENGTHS))
    return bytes(changed)


def _bombs() -> list[bytes]:
    """Few bytes that say to be many."""
    import lz4.frame
    import zstandard

    found = []
    for size, chunks in ((1 << 20, 400), (60 << 20, 20), (200 << 20, 1)):
        for kind, pack in ((b"zstd", zstandard.compress), (b"lz4", lz4.frame.compress)):
            packed = pack(bytes(size))
            for says in (size, 100, 2**63):
                head = struct.pack("<QQQI", 0, 1, says, 0) + struct.pack("<I", len(kind)) + kind
                body = head + struct.pack("<Q", len(packed)) + packed
                found.append(MAGIC + (b"\x06" + struct.pack("<Q", len(body)) + body) * chunks)
    return found


def _joint_state(
    stamp: int, frame: str, names: Sequence[str], position: Doubles = (), velocity: Doubles = (), effort: Doubles = ()
) -> bytes:
    data = _Cdr().stamp(stamp).text(frame).number(len(names))
    for name in names:
        data.text(name)
    for values in (position, velocity, effort):
        data.number(len(values)).doubles(values)
    return bytes(data.content)


def _wrench(stamp: int, frame: str) -> bytes:
    return bytes(_Cdr().stamp(stamp).text(frame).doubles((1.0, 0.0, 0.0, 0.0, 0.0, 0.1)).content)


def _string(text: str) -> bytes:
    return bytes(_Cdr().text(text).content)


class _Cdr:
    """Writes a message as ROS does, value by value."""

    def __init__(self) -> None:
        self.content = bytearray(b"\0\1\0\0")

    def stamp(self, value: int) -> _Cdr:
        self.content += struct.pack("<iI", *divmod(value, 1_000_000_000))
        return self

    def number(self, value: int) -> _Cdr:
        self._align(4)
        self.content += struct.pack("<I", value)
        return self

    def text(self, value: str) -> _Cdr:
        data = value.encode(errors="surrogatepass") + b"\0"
        self.number(len(data))
        self.content += data
        return self

    def doubles(self, values: Doubles) -> _Cdr:
        if len(values):
            self._align(8)
        self.content += struct.pack(f"<{len(values)}d", *values)
        return self

    def _align(self, size: int) -> None:
        self.content += bytes(-(len(self.content) - 4) % size)
