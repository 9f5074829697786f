# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Messages of fixed size that are serialised once; afterwards only their numbers and stamps are written.

A typed message of 19 transforms costs some hundred microseconds to fill and serialise each time; patching its bytes
costs five. Strings and lengths of arrays stay as they were.
"""

from __future__ import annotations

import copy
import struct
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message

from mbsim_ros.nodes.transport.cdr import HEADER, STAMP, CdrWriter
from mbsim_ros.sim.clock import SECOND
from mbsim_ros.sim.names import as_slice

_WORD = 8
_STAMP = struct.Struct("=iI")


class PatchedMessage:
    """The bytes of a message, with its float64 fields as a numpy array and all of its stamps set together.

    message: a typed message with its strings set and its arrays of the sizes they are to keep; it is not changed.
    words: (n,) float64, memory of the bytes; entries that belong to strings or other fields are not to be touched.
    `places` says which entries are a field's, `numbers` gives them as a view to write to.

    The layout is checked here by writing random numbers and reading the bytes back as a typed message.
    """

    def __init__(self, message: Any):
        self.message_type = type(message)
        writer = CdrWriter()
        writer.write(message)
        size = len(writer.data)
        # One word before the body, whose last bytes are the header: so the body's float64 are aligned in memory.
        memory = np.zeros(2 + (size - len(HEADER)) // _WORD)
        self.words = memory[1:]
        self._data = memory.view(np.uint8)[_WORD - len(HEADER) : _WORD - len(HEADER) + size]
        self._data[:] = np.frombuffer(bytes(writer.data), np.uint8)
        self._halves = memory.view(np.int32)
        self._buffer = self._data.data
        self._places = {path: (offset - len(HEADER)) // _WORD for path, offset in writer.doubles.items()}
        self._views: dict[str, np.ndarray] = {}
        self._stamp = next(iter(writer.stamps.values())) if len(writer.stamps) == 1 else None
        seconds = np.array(list(writer.stamps.values()), dtype=np.int64) // 4 + (_WORD - len(HEADER)) // 4
        self._seconds, self._nanoseconds = as_slice(seconds), as_slice(seconds + 1)
        self._verify(message)

    def places(self, path: str) -> np.ndarray:
        """Indices (n,) int64 in `words` of all float64 in a field, as `position`, `pose.pose` or `transforms`."""
        below = (f"{path}.", f"{path}[")
        found = [place for name, place in self._places.items() if name == path or name.startswith(below)]
        if not found and path.partition(".")[0].partition("[")[0] not in self.message_type.get_fields_and_field_types():
            raise KeyError(f"{self.message_type.__name__} has no field {path!r}")
        return np.array(found, dtype=np.int64)

    def numbers(self, path: str) -> np.ndarray:
        """View (n,) float64 of all numbers in a field, to write to; they must be in a row."""
        known = self._views.get(path)
        if known is not None:
            return known
        places = self.places(path)
        first = int(places[0]) if len(places) else 0
        if not np.array_equal(places, np.arange(first, first + len(places))):
            raise ValueError(f"path: expected a field whose numbers are in a row, got {path!r}; use `places`")
        view = self._views[path] = self.words[first : first + len(places)]
        return view

    def set_stamp(self, stamp_ns: int) -> None:
        """Set every stamp in the message to a time [ns], which is kept exactly."""
        seconds, nanoseconds = divmod(stamp_ns, SECOND)
        if self._stamp is not None:
            _STAMP.pack_into(self._buffer, self._stamp, seconds, nanoseconds)
            return
        self._halves[self._seconds] = seconds
        self._halves[self._nanoseconds] = nanoseconds

    def tobytes(self) -> bytes:
        """The message as it is now, for `Publisher.publish`."""
        return self._data.tobytes()

    def _verify(self, message: Any) -> None:
        """Patch random numbers and a stamp, read the bytes as a typed message, compare with what was meant."""
        before = self._data.copy()
        rng = np.random.default_rng(0)
        typed, places = copy.deepcopy(message), list(self._places.values())
        values = rng.normal(size=len(places))
        self.words[places] = values
        self.set_stamp(1234567890 * SECOND + 987654321)
        _fill(typed, iter(values.tolist()), 1234567890, 987654321)
        if deserialize_message(self.tobytes(), self.message_type) != typed:
            raise RuntimeError(
                f"{self.message_type.__name__}: this middleware does not read plain CDR as it is written"
            )
        self._data[:] = before


def _fill(message: Any, values: Any, seconds: int, nanoseconds: int) -> None:
    """Give every float64 of a typed message the next value, and every time the same."""
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if kind == "double":
            setattr(message, name, next(values))
        elif kind == STAMP:
            value.sec, value.nanosec = seconds, nanoseconds
        elif kind.startswith(("double[", "sequence<double")):
            for index in range(len(value)):
                value[index] = next(values)
        elif "/" in kind:
            for element in value if isinstance(value, (list, tuple)) else (value,):
                _fill(element, values, seconds, nanoseconds)
