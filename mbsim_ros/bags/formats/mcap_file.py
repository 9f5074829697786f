# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading one MCAP file that may be damaged or made to harm: what cannot be is BagError, before memory is taken for it.

The records are those of the library `mcap`; its readers believe the lengths that stand in a file. Here a record is
never longer than what is left of its file, a chunk unpacks to no more than it says and than is allowed, and all of them
together to no more than a recording of that size could.
"""

from __future__ import annotations

import heapq
import io
import os
import struct
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mcap.records import Channel, Chunk, ChunkIndex, Metadata, Schema

MAGIC = b"\x89MCAP0\r\n"
FOOTER_SIZE = 9 + 20  # bytes of the last record, before the magic that ends the file
LARGEST_CHUNK = 64 << 20  # bytes, unpacked: recorders make chunks of about one MiB
ALWAYS_ALLOWED = 256 << 20  # bytes that all chunks of a file together may take
EXPANSION = 100  # and beyond that this many times the size of the file
MESSAGE = 5  # the kind of record that there are most of
PER_RECORD = 300  # bytes that a record in memory takes beside its data
_HEAD = struct.Struct("<BQ")  # a record's kind and length
_MESSAGE = struct.Struct("<HIQQ")  # channel, number, time of recording, time of publishing

T = TypeVar("T")


class BagError(ValueError):
    """A bag that cannot be read."""


class Damaged(BagError):
    """A place in a file that is not as the format wants it."""


@dataclass
class Summary:
    """What the end of a closed file says about it."""

    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    chunks: list[ChunkIndex] = field(default_factory=list)
    metadata: list[Metadata] = field(default_factory=list)


class McapFile:
    """The records of a file. Every method raises BagError, and Damaged where the file ends before it should."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self.size = os.path.getsize(path)
        except OSError as error:
            raise BagError(f"{path}: {error.strerror}") from None

    def records(self) -> Iterator[Any]:
        """All records in their order, those in chunks among them."""
        allowance = _Allowance(self)
        with self._open() as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise Damaged(f"{self.path}: not an MCAP file")
            while True:
                record = self._record(stream)
                kind = type(record).__name__
                if kind == "Chunk":
                    yield from self._unpacked(record, allowance)
                elif kind == "Footer":
                    return
                elif record is not None:
                    yield record

    def summary(self) -> Summary:
        """The summary; Damaged if the file was not closed."""
        found = Summary()
        with self._open() as stream:
            for record in list(self._summary_records(stream)):
                kind = type(record).__name__
                if kind == "Schema":
                    found.schemas[record.id] = record
                elif kind == "Channel":
                    found.channels[record.id] = record
                elif kind == "ChunkIndex":
                    found.chunks.append(record)
                elif kind == "MetadataIndex":
                    found.metadata.append(self._record_at(stream, record.offset, "Metadata"))
        return found

    def messages(self, summary: Summary, topics: Collection[str] | None) -> Iterator[tuple[str, int, bytes]]:
        """Topic, time and bytes of messages of these topics (None: of all) by time; equal times as they were written.

        A chunk is unpacked when its first message is due.
        """
        names = {number: channel.topic for number, channel in summary.channels.items()}
        wanted = {number: name for number, name in names.items() if topics is None or name in topics}
        chunks = [
            chunk for chunk in summary.chunks
            if not chunk.message_index_offsets or wanted.keys() & chunk.message_index_offsets.keys()
        ]  # fmt: skip
        allowance = _Allowance(self)
        waiting: list[tuple[int, int, int, str, bytes]] = []  # time, and where it stands: chunk, place in it
        with self._open() as stream:
            for chunk in sorted(chunks, key=lambda each: (each.message_start_time, each.chunk_start_offset)):
                while waiting and waiting[0][0] < chunk.message_start_time:
                    time, _, _, topic, data = heapq.heappop(waiting)
                    yield topic, time, data
                packed = self._record_at(stream, chunk.chunk_start_offset, "Chunk")
                for place, record in enumerate(self._unpacked(packed, allowance)):
                    if type(record).__name__ == "Message" and record.channel_id in wanted:
                        topic = wanted[record.channel_id]
                        heapq.heappush(waiting, (record.log_time, chunk.chunk_start_offset, place, topic, record.data))
            while waiting:
                time, _, _, topic, data = heapq.heappop(waiting)
                yield topic, time, data

    def _open(self) -> IO[bytes]:
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise BagError(f"{self.path}: {error.strerror}") from None

    def _summary_records(self, stream: IO[bytes]) -> Iterator[Any]:
        end = self.size - len(MAGIC)
        stream.seek(max(0, end))
        if stream.read() != MAGIC:
            raise Damaged(f"{self.path}: it was not closed")
        start = self._record_at(stream, end - FOOTER_SIZE, "Footer").summary_start
        if not len(MAGIC) <= start < end:
            raise Damaged(f"{self.path}: it has no summary")
        stream.seek(start)
        while stream.tell() < end:
            yield self._record(stream)

    def _record_at(self, stream: IO[bytes], offset: int, kind: str) -> Any:
        if not 0 <= offset < self.size:
            raise Damaged(f"{self.path}: there is no byte {offset} for a {kind}")
        stream.seek(offset)
        record = self._record(stream)
        if type(record).__name__ != kind:
            raise Damaged(f"{self.path}: expected a {kind} at byte {offset}")
        return record

    def _record(self, stream: IO[bytes]) -> Any:
        """The next record; None for a kind that is not known."""
        at = stream.tell()
        head = stream.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise Damaged(f"{self.path}: it ends at byte {at}, without a last record")
        opcode, length = _HEAD.unpack(head)
        if length > self.size - at - _HEAD.size:
            raise Damaged(f"{self.path}: a record of {length} bytes at byte {at} is longer than the file")
        body = stream.read(length)
        return self._understood(at, partial(_parsed, opcode, body))

    def _unpacked(self, chunk: Chunk, allowance: _Allowance) -> Iterator[Any]:
        """The records in a chunk."""
        says, most = chunk.uncompressed_size, LARGEST_CHUNK >> 20
        if says > LARGEST_CHUNK:
            raise BagError(
                f"{self.path}: a chunk of {says / 2**20:.4g} MiB, at most {most} are read: "
                "`ros2 bag convert` makes smaller ones"
            )
        allowance.take(says)
        data = self._understood(None, partial(_decompressed, chunk))
        if len(data) != says:
            raise Damaged(
                f"{self.path}: a chunk that says {says} bytes has {'more' if len(data) > says else len(data)}"
            )
        if chunk.uncompressed_crc not in (0, zlib.crc32(data)):
            raise Damaged(f"{self.path}: a chunk has not the checksum that it says")
        at = 0
        while at < len(data):
            if len(data) - at < _HEAD.size:
                raise Damaged(f"{self.path}: a chunk ends in a record")
            opcode, length = _HEAD.unpack_from(data, at)
            body = data[at + _HEAD.size : at + _HEAD.size + length]
            at += _HEAD.size + length
            allowance.take(PER_RECORD)
            yield self._understood(None, partial(_parsed, opcode, body))

    def _understood(self, at: int | None, read: Callable[[], T]) -> T:
        """What `read` gives; Damaged for whatever the libraries make of bytes that are not what they should be."""
        try:
            return read()
        except ImportError:
            raise
        except Exception as error:  # McapError, struct.error, ZstdError, RuntimeError of lz4, OverflowError, …
            where = "in a chunk" if at is None else f"at byte {at}"
            raise Damaged(f"{self.path}: no record can be read {where}: {error or type(error).__name__}") from None


class _Allowance:
    """What the chunks of a file may unpack to together."""

    def __init__(self, file: McapFile):
        self._path, self._size = file.path, file.size
        self._left = max(ALWAYS_ALLOWED, EXPANSION * file.size)

    def take(self, size: int) -> None:
        """Count what is about to be unpacked."""
        self._left -= size
        if self._left < 0:
            raise BagError(f"{self._path}: {self._size} bytes that unpack to more than {ALWAYS_ALLOWED >> 20} MiB")


def _parsed(opcode: int, body: bytes) -> Any:
    """A record of its bytes; None for a kind that is not known or not needed."""
    message, stream, kinds = _kinds()
    if opcode == MESSAGE:
        channel, number, logged, published = _MESSAGE.unpack_from(body)
        return message(channel, logged, body[_MESSAGE.size :], published, number)
    if opcode == 0:
        raise ValueError("a record of no kind")
    kind = kinds.get(opcode)
    return None if kind is None else kind.read(stream(io.BytesIO(body)))


@cache
def _kinds() -> tuple[Any, Any, dict[int, Any]]:
    """Of the library: a message, what reads values from bytes, and the other records that are read."""
    from mcap import records
    from mcap.data_stream import ReadDataStream

    wanted = ("Header", "Footer", "Schema", "Channel", None, "Chunk", None, "ChunkIndex", None, None, None, "Metadata",
              "MetadataIndex")  # fmt: skip
    kinds = {opcode: getattr(records, name) for opcode, name in enumerate(wanted, 1) if name is not None}
    return records.Message, ReadDataStream, kinds


def _decompressed(chunk: Chunk) -> bytes:
    """The bytes of a chunk, one more than it says at most."""
    most = chunk.uncompressed_size + 1
    if chunk.compression == "zstd":
        import zstandard

        return bytes(zstandard.ZstdDecompressor(max_window_size=LARGEST_CHUNK).stream_reader(chunk.data).read(most))
    if chunk.compression == "lz4":
        import lz4.frame

        return bytes(lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=most))
    if chunk.compression:
        raise ValueError(f"compressed by '{chunk.compression[:40]}', only zstd and lz4 are read")
    return bytes(chunk.data)
