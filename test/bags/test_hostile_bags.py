# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Bags that are damaged or made to harm: BagError, before memory is taken."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from mbsim_ros.bags.bag_reader import BagError, BagReader
from mbsim_ros.bags.bag_writer import BagWriter
from mbsim_ros.bags.formats.cdr import joint_message, string_message
from mbsim_ros.bags.formats.mcap_file import ALWAYS_ALLOWED, LARGEST_CHUNK, MAGIC
from mbsim_ros.bags.setup import SimulationSetup

CHUNK = 6


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    with BagWriter(tmp_path / "run", compression="none") as writer:
        writer.add_topic("/a", "std_msgs/msg/String", text="string data")
        for time in range(100):
            writer.write("/a", time, b"\0\1\0\0" + struct.pack("<I", 2) + b"a\0")
    return writer.file


def chunk(data: bytes, says: int) -> bytes:
    packed = zstandard.compress(data)
    body = struct.pack("<QQQII", 0, 1, says, 0, 4) + b"zstd" + struct.pack("<Q", len(packed)) + packed
    return b"\x06" + struct.pack("<Q", len(body)) + body


@pytest.mark.parametrize(
    "content",
    [
        chunk(bytes(300 << 20), 300 << 20),  # in 10 kB
        chunk(b"\x80" + struct.pack("<Q", LARGEST_CHUNK - 9) + bytes(LARGEST_CHUNK - 9), LARGEST_CHUNK) * 10,
    ],
    ids=["a large chunk", "many chunks that are allowed each"],
)
def test_a_bomb_takes_no_memory(tmp_path, content):
    file = tmp_path / "bomb.mcap"
    file.write_bytes(MAGIC + content)
    with peak_of_memory() as peak, pytest.raises(BagError, match="unpack to more than|at most 64 are read"):
        BagReader(file)
    assert peak[0] < ALWAYS_ALLOWED


def test_a_chunk_that_says_to_be_small_is_where_the_file_ends(tmp_path):
    file = tmp_path / "bomb.mcap"
    file.write_bytes(MAGIC + chunk(bytes(300 << 20), 100))
    with peak_of_memory() as peak:
        assert not BagReader(file).complete
    assert peak[0] < 1 << 20


@contextlib.contextmanager
def peak_of_memory() -> Iterator[list[int]]:
    """The most bytes that Python held at a time."""
    tracemalloc.start()
    found: list[int] = []
    try:
        yield found
    finally:
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()


def test_lengths_beyond_the_file_end_it(bag):
    """Of a file that was not closed; one that was closed has an index, and its chunks are where it says."""
    whole = bag.read_bytes()
    at = len(MAGIC)
    while whole[at] != CHUNK:
        at += 9 + struct.unpack_from("<Q", whole, at + 1)[0]
    for length in (2**31, 2**40, 2**64 - 1):
        odd = whole[: at + 1] + struct.pack("<Q", length) + whole[at + 9 :]
        bag.write_bytes(odd[:-20])
        reader = BagReader(bag)
        assert not reader.complete
        assert list(reader.messages()) == []
        bag.write_bytes(odd)
        with pytest.raises(BagError, match="longer than the file"):
            list(BagReader(bag).messages())


def test_a_chunk_with_a_flipped_bit_is_named(bag):
    whole = bag.read_bytes()
    at = whole.index(b"a\0", 300)
    bag.write_bytes(whole[:at] + b"b" + whole[at + 1 :])
    reader = BagReader(bag)
    with pytest.raises(BagError, match="checksum"):
        list(reader.messages())


@pytest.mark.parametrize(
    "text", ["[" * 5000, "a: 2001-99-99", "rosbag2_bagfile_information: 3", "\0", "a: " + "b" * 2**20]
)
def test_metadata_that_is_none(bag, text):
    (bag.parent / "metadata.yaml").write_text(text)
    with pytest.raises(BagError, match="not the metadata of a bag"):
        BagReader(bag.parent)


def test_a_name_that_no_file_can_have():
    for name in ("a" * 5000, "a\0b"):
        with pytest.raises(BagError, match="there is no bag"):
            BagReader(name)


@pytest.mark.parametrize("data", [b"", b"\0\1\0\0", b"\0\1\0\0" + b"\xff" * 8, b"\0\1\0\0" + bytes(8) + b"\xff" * 4])
def test_messages_that_are_cut_off(data):
    with pytest.raises(ValueError, match="cut off"):
        joint_message(data)


def test_a_text_that_is_none():
    with pytest.raises(ValueError, match="is none"):
        string_message(b"\0\1\0\0" + struct.pack("<I", 3) + b"\xff\xff\0")


@pytest.mark.parametrize("text", ["[" * 100_000, "3", "{}", '{"robot_description": 1, "sidecar": "", "parameters": {}}',
                                  '{"robot_description": "", "sidecar": "", "parameters": {}}'])  # fmt: skip
def test_setups_that_are_none(text):
    with pytest.raises(ValueError, match="simulation_setup"):
        SimulationSetup.from_json(text)
