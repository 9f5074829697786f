# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reads contacts out of the bytes of a visualization_msgs/MarkerArray.

A marker has forty fields, of which a viewer needs three; to make all of them as Python objects thirty times a second
would cost more than to draw the robot.
"""

from __future__ import annotations

import struct

import numpy as np
from visualization_msgs.msg import Marker

HEAD = 4  # bytes that say how the rest is encoded; alignment counts from after them
POSE_AND_SCALE = 10 * 8
COLOUR_AND_LIFETIME = 4 * 4 + 8


class _Walk:
    """A place in a serialized message that moves on field by field."""

    def __init__(self, data: bytes):
        self._order = "<" if data[1] & 1 else ">"
        self._data, self._at = memoryview(data)[HEAD:], 0
        self._count = struct.Struct(f"{self._order}I").unpack_from
        self._three = struct.Struct(f"{self._order}iii").unpack_from

    def skip(self, size: int, alignment: int = 1) -> None:
        """Over fields of a known size."""
        self._at += -self._at % alignment + size

    def count(self) -> int:
        """The length of a sequence or string."""
        self._at += -self._at % 4
        (found,) = self._count(self._data, self._at)
        self._at += 4
        return int(found)

    def skip_bytes(self) -> None:
        """Over a string, or a sequence of bytes."""
        size = self.count()  # which moves on, too
        self._at += size

    def three(self) -> tuple[int, int, int]:
        """Three int32."""
        self._at += -self._at % 4
        self._at += 12
        return self._three(self._data, self._at - 12)  # type: ignore[return-value]

    def numbers(self, kind: str, size: int, columns: int) -> np.ndarray:
        """A sequence of structures of numbers, (n, columns)."""
        count = self.count() * columns
        if not count:
            return np.zeros((0, columns))
        self._at += -self._at % size
        found = np.frombuffer(self._data, f"{self._order}{kind}{size}", count, self._at)
        self._at += count * size
        return found.reshape(-1, columns)


def read_contacts(data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (n, 3), colours (n, 3) uint8 and tips of the arrows (n, 3) of a message on `contacts`.

    An arrow belongs to the point it begins at: a point without an arrow has its tip at itself.
    """
    walk = _Walk(data)
    points, colours, arrows = np.zeros((0, 3)), np.zeros((0, 4)), {}
    for _ in range(walk.count()):
        kind, action, places, tints = _marker(walk)
        if kind == Marker.SPHERE_LIST and action == Marker.ADD:
            points, colours = np.concatenate([points, places]), np.concatenate([colours, tints])
        elif kind == Marker.ARROW and action == Marker.ADD and len(places) == 2:
            arrows[tuple(places[0].tolist())] = places[1]
    tips = np.array([arrows.get(tuple(point.tolist()), point) for point in points]).reshape(-1, 3)
    return points, np.round(255.0 * colours[:, :3]).astype(np.uint8), tips


def _marker(walk: _Walk) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Type, action, points (n, 3) and colours (m, 4) of one marker; ends where it ends."""
    walk.skip(8, 4)  # stamp
    walk.skip_bytes()  # frame
    walk.skip_bytes()  # namespace
    _, kind, action = walk.three()
    walk.skip(POSE_AND_SCALE, 8)
    walk.skip(COLOUR_AND_LIFETIME)
    walk.skip(1)  # frame_locked
    points, colours = walk.numbers("f", 8, 3), walk.numbers("f", 4, 4)
    walk.skip_bytes()  # texture_resource
    walk.skip(8, 4)  # texture: stamp, frame, format, data
    for _ in range(3):
        walk.skip_bytes()
    walk.numbers("f", 4, 2)  # uv_coordinates
    for _ in range(4):  # text, mesh_resource, name and data of mesh_file
        walk.skip_bytes()
    walk.skip(1)  # mesh_use_embedded_materials
    return kind, action, points, colours
