# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Stamps of messages as whole nanoseconds, and back."""

from __future__ import annotations

from builtin_interfaces.msg import Time

SECOND = 1_000_000_000


def nanoseconds(stamp: Time) -> int:
    """A stamp as nanoseconds."""
    return int(stamp.sec) * SECOND + int(stamp.nanosec)


def stamp_of(ns: int) -> Time:
    """Nanoseconds as a stamp."""
    return Time(sec=ns // SECOND, nanosec=ns % SECOND)


def seconds_text(ns: int) -> str:
    """Nanoseconds as seconds in words, without loss: `1.002 s`."""
    whole, part = divmod(ns, SECOND)
    return f"{whole}.{part:09d}".rstrip("0").rstrip(".") + " s"
