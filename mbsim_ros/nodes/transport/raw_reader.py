# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reads messages that come as bytes, fast where one looks like the last: only its numbers and its stamp are new.

A typed JointState of 17 joints costs 50 µs to make from its bytes, most of it for names that are the same as 2 ms ago.
Here the first message of a kind is read as a typed one and its layout noted; of those that follow, strings and lengths
are compared with it as bytes, and the numbers are a view.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message

from mbsim_ros.nodes.transport.cdr import HEADER, CdrWriter
from mbsim_ros.sim.clock import SECOND

KNOWN_LAYOUTS = 16  # several controllers send different commands on one topic
LONGEST = 1 << 18  # bytes; a robot of 5,000 joints has less
_WORD = 8
_STAMP = struct.Struct("=iI")


class Layout:
    """Where the numbers are in messages that differ from `message` in numbers and stamps only."""

    def __init__(self, message: Any):
        """message: typed, with a header."""
        self.message = message
        writer = CdrWriter()
        writer.write(message)
        self.size = len(writer.data)
        self._stamp = writer.stamps["header.stamp"]
        self._places = {path: (at - len(HEADER)) // _WORD for path, at in writer.doubles.items()}
        self._fields: dict[str, slice] = {}
        words = [*writer.doubles.values(), self._stamp]
        self._same = _runs(writer.data, words, writer.filling)
        self._whole, *self._rest = sorted(_runs(writer.data, words, []), key=lambda run: run[0] - run[1])

    def fits(self, data: bytes) -> bool:
        """Whether a message has the same strings and sizes. Serialisers may leave bytes behind the end."""
        if len(data) < self.size:
            return False
        first, last, part = self._whole  # one comparison where even the bytes between the strings are as before
        if data[first:last] == part:
            return all(data[first:last] == part for first, last, part in self._rest)
        return all(data[first:last] == part for first, last, part in self._same)

    def stamp(self, data: bytes) -> int:
        """The stamp in the header of a message that fits [ns]."""
        seconds, nanoseconds = _STAMP.unpack_from(data, self._stamp)
        return int(seconds) * SECOND + int(nanoseconds)

    def field(self, path: str) -> slice:
        """Place of a field's numbers, which must be in a row, in `Reading.words`."""
        if path not in self._fields:
            below = (f"{path}.", f"{path}[")
            found = [place for name, place in self._places.items() if name == path or name.startswith(below)]
            first = found[0] if found else 0
            if found != list(range(first, first + len(found))):
                raise ValueError(f"path: expected a field whose numbers are in a row, got {path!r}")
            self._fields[path] = slice(first, first + len(found))
        return self._fields[path]


class Reading:
    """One message: its stamp [ns], its layout, and its numbers as memory of the bytes, which is read-only."""

    __slots__ = ("layout", "stamp", "words")

    def __init__(self, layout: Layout, data: bytes):
        self.layout, self.stamp = layout, layout.stamp(data)
        body = data[len(HEADER) :]
        self.words = np.frombuffer(body, count=len(body) // _WORD)

    @property
    def message(self) -> Any:
        """A typed message with the same strings and sizes, but other numbers."""
        return self.layout.message

    def numbers(self, path: str) -> np.ndarray:
        """All float64 of a field, (n,), read-only."""
        return self.words[self.layout.field(path)]


class RawReader:
    """Reads the bytes of one type of message, which has a header."""

    def __init__(self, message_type: Any):
        self._type = message_type
        self._layouts: list[Layout] = []  # the last used first

    def read(self, data: bytes) -> Reading:
        """The message; ValueError if these bytes are none."""
        for place, layout in enumerate(self._layouts):
            if layout.fits(data):
                if place:
                    self._layouts.insert(0, self._layouts.pop(place))
                return Reading(layout, data)
        if len(data) > LONGEST:
            raise ValueError(f"expected a {self._type.__name__} of at most {LONGEST} bytes, got {len(data)}")
        try:
            message = deserialize_message(data, self._type)
        except Exception as error:  # the middleware's own, of no common kind
            raise ValueError(f"expected a {self._type.__name__}, got bytes that are none: {error}") from None
        layout = Layout(message)
        if not layout.fits(data):  # another byte order, or a middleware with an encoding of its own
            return reading_of(message)
        self._layouts = [layout, *self._layouts[: KNOWN_LAYOUTS - 1]]
        return Reading(layout, data)


def reading_of(message: Any) -> Reading:
    """A typed message, as if it had come as bytes."""
    writer = CdrWriter()
    writer.write(message)
    return Reading(Layout(message), bytes(writer.data))


def _runs(data: bytearray, words: list[int], filling: list[int]) -> list[tuple[int, int, bytes]]:
    """First, end and content of all stretches of bytes that are neither in a word that begins there nor filling."""
    fixed = np.zeros(len(data) + 2, dtype=np.int8)
    fixed[1:-1] = 1
    begin = np.array(words, dtype=np.int64)
    fixed[1 + begin[:, None] + np.arange(_WORD)] = 0
    fixed[1 + np.array(filling, dtype=np.int64)] = 0
    edges = np.flatnonzero(np.diff(fixed)).tolist()
    return [(first, end, bytes(data[first:end])) for first, end in zip(edges[::2], edges[1::2], strict=True)]
