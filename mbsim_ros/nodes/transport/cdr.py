# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A ROS message as bytes, with a record of where its numbers and stamps are.

The encoding is the one all ROS 2 middlewares use, plain CDR: a header of four bytes, then the fields in order, each
primitive aligned to its size counted from after the header, strings with length and a closing zero, sequences with
their length. What the middleware's own serialiser leaves undefined is zero here: it skips the bytes between fields
without writing them, so that two serialisations of one message differ by what was in memory.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Sequence
from typing import Any

HEADER = bytes([0, 1 if sys.byteorder == "little" else 0, 0, 0])  # plain CDR, in the byte order of this machine
STAMP = "builtin_interfaces/Time"

# Names of types as messages state them, and their formats in `struct`.
_FORMATS = {
    "boolean": "?", "octet": "c", "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i",
    "uint64": "Q", "int64": "q", "float": "f", "double": "d",
}  # fmt: skip
_SEQUENCE = re.compile(r"sequence<(.+?)(, \d+)?>")
_ARRAY = re.compile(r"(.+)\[\d+\]")
_STRING = re.compile(r"string(<\d+>)?")


class CdrWriter:
    """Writes one message.

    After `write`, `data` has the bytes, `doubles` the offset of every float64 by its path (`position[2]`,
    `transforms[0].transform.rotation.w`), in order, and `stamps` the offset of every time by its path.
    """

    def __init__(self) -> None:
        self.data = bytearray(HEADER)
        self.doubles: dict[str, int] = {}
        self.stamps: dict[str, int] = {}
        self.filling: list[int] = []  # offsets of the bytes that mean nothing

    def write(self, message: Any, path: str = "") -> None:
        """Append all fields of a message."""
        for name, kind in message.get_fields_and_field_types().items():
            self._write_value(kind, getattr(message, name), f"{path}.{name}" if path else name)

    def _write_value(self, kind: str, value: Any, path: str) -> None:
        if kind in _FORMATS:
            self._write_primitive(kind, value, path)
        elif _STRING.fullmatch(kind):
            text = value.encode() + b"\0"
            self._write_primitive("uint32", len(text))
            self.data += text
        elif sequence := _SEQUENCE.fullmatch(kind):
            self._write_primitive("uint32", len(value))
            self._write_elements(sequence[1], value, path)
        elif array := _ARRAY.fullmatch(kind):
            self._write_elements(array[1], value, path)
        elif "/" in kind:
            if kind == STAMP:
                self._align(4)
                self.stamps[path] = len(self.data)
            self.write(value, path)
        else:
            raise TypeError(f"{path}: expected numbers, strings, messages or sequences of them, got a field of {kind}")

    def _write_elements(self, kind: str, values: Sequence[Any], path: str) -> None:
        for index, value in enumerate(values):
            self._write_value(kind, value, f"{path}[{index}]")

    def _write_primitive(self, kind: str, value: Any, path: str = "") -> None:
        encoded = struct.pack(f"={_FORMATS[kind]}", value)
        self._align(len(encoded))
        if kind == "double":
            self.doubles[path] = len(self.data)
        self.data += encoded

    def _align(self, size: int) -> None:
        gap = -(len(self.data) - len(HEADER)) % size
        self.filling += range(len(self.data), len(self.data) + gap)
        self.data += bytes(gap)
