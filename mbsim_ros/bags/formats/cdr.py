# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The few serialized messages (CDR) that a replay reads, taken apart without ROS."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from mbsim_ros.bags.sim_time import SECOND

HEAD = 4  # bytes that say how the rest is encoded; alignment counts from after them


@dataclass(frozen=True, eq=False)
class JointMessage:
    """A sensor_msgs/JointState: arrays (n,) or empty, in the order of the names."""

    stamp: int  # ns
    frame_id: str
    names: tuple[str, ...]
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


@dataclass(frozen=True, eq=False)
class OdometryMessage:
    """A nav_msgs/Odometry without its covariances: pose (x y z, qx qy qz qw), twist (linear, angular)."""

    stamp: int  # ns
    frame_id: str
    child_frame_id: str
    pose: np.ndarray
    twist: np.ndarray


@dataclass(frozen=True, eq=False)
class WrenchMessage:
    """A geometry_msgs/WrenchStamped: force and torque (3,)."""

    stamp: int  # ns
    frame_id: str
    force: np.ndarray
    torque: np.ndarray


@dataclass(frozen=True, eq=False)
class WrenchesMessage:
    """A sensor_msgs/MultiDOFJointState with wrenches (n, 6) on links, force first."""

    stamp: int  # ns
    frame_id: str
    links: tuple[str, ...]
    wrenches: np.ndarray


class CdrReader:
    """Reads a serialized message value by value. Raises ValueError where the bytes are none."""

    def __init__(self, data: bytes):
        if len(data) < HEAD:
            raise ValueError(f"a message of {len(data)} bytes: it is cut off")
        self._data, self._at = data, HEAD
        self._order = "<" if data[1] & 1 else ">"

    def stamp(self) -> int:
        """A builtin_interfaces/Time in nanoseconds."""
        seconds, nanoseconds = self._take("iI", 4)
        return int(seconds * SECOND + nanoseconds)

    def string(self) -> str:
        """A string, which ends with a zero byte."""
        (size,) = self._take("I", 4)
        if size > len(self._data) - self._at:
            raise ValueError(f"a text of {size} bytes in a message that has {len(self._data)}: it is cut off")
        text = self._data[self._at : self._at + max(size - 1, 0)]
        self._at += size
        try:
            return bytes(text).decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"a text of {size} bytes that is none: {error}") from None

    def strings(self) -> tuple[str, ...]:
        """A sequence of strings."""
        (count,) = self._take("I", 4)
        return tuple(self.string() for _ in range(count))

    def doubles(self, count: int | None = None) -> np.ndarray:
        """An array of float64, of this length or with the length before it."""
        if count is None:
            (count,) = self._take("I", 4)
        if not count:
            return np.empty(0)
        self._align(8)
        if 8 * count > len(self._data) - self._at:
            raise ValueError(f"{count} numbers in a message of {len(self._data)} bytes: it is cut off")
        values = np.frombuffer(self._data, self._order + "f8", count, self._at).astype(float)
        self._at += 8 * count
        return values

    def rows(self, size: int) -> np.ndarray:
        """A sequence of entries of so many float64 each, (n, size)."""
        (count,) = self._take("I", 4)
        return self.doubles(size * count).reshape(-1, size)

    def _take(self, form: str, size: int) -> tuple[int, ...]:
        self._align(size)
        try:
            values = struct.unpack_from(self._order + form, self._data, self._at)
        except struct.error:
            raise ValueError(f"a message of {len(self._data)} bytes: it is cut off") from None
        self._at += struct.calcsize(self._order + form)
        return values

    def _align(self, size: int) -> None:
        self._at += -(self._at - HEAD) % size


def joint_message(data: bytes) -> JointMessage:
    """A JointState from its bytes."""
    cdr = CdrReader(data)
    return JointMessage(cdr.stamp(), cdr.string(), cdr.strings(), cdr.doubles(), cdr.doubles(), cdr.doubles())


def odometry_message(data: bytes) -> OdometryMessage:
    """An Odometry from its bytes."""
    cdr = CdrReader(data)
    stamp, frame, child = cdr.stamp(), cdr.string(), cdr.string()
    pose = cdr.doubles(7)
    cdr.doubles(36)
    return OdometryMessage(stamp, frame, child, pose, cdr.doubles(6))


def wrench_message(data: bytes) -> WrenchMessage:
    """A WrenchStamped from its bytes."""
    cdr = CdrReader(data)
    return WrenchMessage(cdr.stamp(), cdr.string(), cdr.doubles(3), cdr.doubles(3))


def wrenches_message(data: bytes) -> WrenchesMessage:
    """A MultiDOFJointState from its bytes; transforms and twists are passed over."""
    cdr = CdrReader(data)
    stamp, frame, links = cdr.stamp(), cdr.string(), cdr.strings()
    for size in (7, 6):  # translation and rotation; linear and angular
        cdr.rows(size)
    wrenches = cdr.rows(6)
    if len(wrenches) != len(links):
        raise ValueError(f"{len(wrenches)} wrenches for {len(links)} links")
    return WrenchesMessage(stamp, frame, links, wrenches)


def string_message(data: bytes) -> str:
    """The text of a std_msgs/String."""
    return CdrReader(data).string()
