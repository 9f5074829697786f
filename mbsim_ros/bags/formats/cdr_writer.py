# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The few messages that a recording of Python is written as, serialized (CDR) without ROS. The reverse of cdr.py."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import numpy as np

from mbsim_ros.bags.formats.cdr import HEAD
from mbsim_ros.bags.sim_time import SECOND

LITTLE = bytes([0, 1, 0, 0])  # plain CDR, the lowest byte first


class MessageBytes:
    """Writes values one after the other; `data` has the bytes."""

    def __init__(self) -> None:
        self.data = bytearray(LITTLE)

    def header(self, stamp: int, frame: str) -> MessageBytes:
        """A std_msgs/Header with a stamp [ns]."""
        return self.stamp(stamp).string(frame)

    def stamp(self, stamp: int) -> MessageBytes:
        """A builtin_interfaces/Time."""
        return self._put("iI", 4, stamp // SECOND, stamp % SECOND)

    def count(self, count: int) -> MessageBytes:
        """The length of a sequence."""
        return self._put("I", 4, count)

    def string(self, text: str) -> MessageBytes:
        """A string, which ends with a zero byte."""
        encoded = text.encode() + b"\0"
        self.count(len(encoded))
        self.data += encoded
        return self

    def doubles(self, values: np.ndarray, *, counted: bool = False) -> MessageBytes:
        """An array of float64, with its length before it where it is a sequence."""
        if counted:
            self.count(len(values))
        if len(values):
            self._align(8)
            self.data += np.ascontiguousarray(values, "<f8").tobytes()
        return self

    def _put(self, form: str, size: int, *values: int) -> MessageBytes:
        self._align(size)
        self.data += struct.pack("<" + form, *values)
        return self

    def _align(self, size: int) -> None:
        self.data += bytes(-(len(self.data) - HEAD) % size)


def joint_state(
    stamp: int, names: Sequence[str], position: np.ndarray, velocity: np.ndarray, effort: np.ndarray
) -> bytes:
    """A sensor_msgs/JointState; arrays may be empty."""
    cdr = MessageBytes().header(stamp, "").count(len(names))
    for name in names:
        cdr.string(name)
    for values in (position, velocity, effort):
        cdr.doubles(values, counted=True)
    return bytes(cdr.data)


def odometry(stamp: int, frame: str, child: str, pose: np.ndarray, twist: np.ndarray, variance: float) -> bytes:
    """A nav_msgs/Odometry: pose (x y z, qx qy qz qw), twist (linear, angular), each number with this variance."""
    covariance = (variance * np.eye(6)).ravel()
    cdr = MessageBytes().header(stamp, frame).string(child)
    return bytes(cdr.doubles(pose).doubles(covariance).doubles(twist).doubles(covariance).data)


def string(text: str) -> bytes:
    """A std_msgs/String."""
    return bytes(MessageBytes().string(text).data)


def clock(stamp: int) -> bytes:
    """A rosgraph_msgs/Clock."""
    return bytes(MessageBytes().stamp(stamp).data)


def transforms(stamp: int, entries: Iterable[tuple[str, str, np.ndarray]]) -> bytes:
    """A tf2_msgs/TFMessage of parent, child and x y z, qx qy qz qw (7,)."""
    listed = list(entries)
    cdr = MessageBytes().count(len(listed))
    for parent, child, placed in listed:
        cdr.header(stamp, parent).string(child).doubles(placed)
    return bytes(cdr.data)
