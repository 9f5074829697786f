# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""When a message was, in simulated time: no wall clock, so that equal runs make equal records."""

from __future__ import annotations

import struct
from collections.abc import Callable

from mbsim_ros.bags.formats.definitions import AT_ONCE, IN_SEQUENCE, stamp_offset
from mbsim_ros.bags.topics import ANSWER, IGNORED, STRING, WHOLE, Topic

SECOND = 1_000_000_000  # ns
FAR = 60 * SECOND  # what a stamp by others may be ahead: beyond that its maker has another clock
_STAMPS = {1: struct.Struct("<iI"), 0: struct.Struct(">iI")}
_LENGTHS = {1: struct.Struct("<I"), 0: struct.Struct(">I")}


class SimTime:
    """Tells the time of serialized messages and keeps the first and the latest that the simulation itself has told."""

    def __init__(self) -> None:
        self.begin: int | None = None  # ns; None until the first stamp
        self.now: int | None = None

    def reader(self, topic: Topic) -> Callable[[bytes], int | None]:
        """A function from messages of this topic to their time [ns]; None as long as nothing has told the time."""
        offset = stamp_offset(topic.type)
        if topic.stamps == ANSWER:
            stamp_of = _stamp_after_at if topic.type == STRING else _stamp_of_answer
            return lambda data: self._believed(stamp_of(data))
        if topic.stamps == WHOLE:
            return lambda data: self.begin
        if topic.stamps == IGNORED or offset is None:
            return lambda data: self.now
        if offset == IN_SEQUENCE:
            return lambda data: self.now if _is_empty(data) else self._told(stamp_at(data, offset))
        return lambda data: self._told(stamp_at(data, offset))

    def _told(self, stamp: int) -> int | None:
        if stamp < 0:  # no time of any simulation, and none that a bag can have
            return self.now
        if self.begin is None:
            self.begin = stamp
        if self.now is None or stamp > self.now:
            self.now = stamp
        return stamp

    def _believed(self, stamp: int | None) -> int | None:
        """A stamp by others if it can be simulated time: wall time is far ahead."""
        if stamp is None or stamp < 0 or self.now is None or stamp > self.now + FAR:
            return self.now
        return stamp


def stamp_at(data: bytes, offset: int) -> int:
    """The stamp [ns] at an offset of a serialized message."""
    seconds, nanoseconds = _STAMPS[data[1] & 1].unpack_from(data, offset)
    return int(seconds * SECOND + nanoseconds)


def _is_empty(data: bytes) -> bool:
    """Whether a message that is one sequence has nothing in it."""
    return bool(_LENGTHS[data[1] & 1].unpack_from(data, 4)[0] == 0)


def _stamp_of_answer(data: bytes) -> int | None:
    """The stamp of a command; one of 0 by a sender without a name means that there is none."""
    stamp = stamp_at(data, AT_ONCE)
    nameless = _LENGTHS[data[1] & 1].unpack_from(data, AT_ONCE + 8)[0] <= 1  # its frame_id is just the closing zero
    return None if nameless and stamp == 0 else stamp


def _stamp_after_at(data: bytes) -> int | None:
    """The stamp of a String ``name@stamp_ns``."""
    digits = data[8:].rstrip(b"\0").rpartition(b"@")[2]
    return int(digits) if digits.isdigit() and b"@" in data else None
