# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The forces under the walker's feet, from the topics contact_wrench/<leg>_tibia."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile

from mbsim_ros.control.walker.legs import LEGS
from mbsim_ros.nodes.transport.raw_reader import RawReader

WRENCHES = QoSProfile(depth=10)


class FootForces:
    """Keeps the last force under each foot with its stamp. `handlers` are for the node's FastLoop."""

    def __init__(self, node: Node, complain: Callable[[str, str], None], on_complete: Callable[[], None]):
        """complain(cause, detail) hears of bytes that are no wrench; on_complete of forces of all feet of one stamp."""
        self._complain, self._on_complete = complain, on_complete
        self._reader = RawReader(WrenchStamped)
        self._forces: dict[str, float] = {}  # by leg [N]
        self._stamps = dict.fromkeys(LEGS, -1)  # [ns]
        self.handlers: list[Any] = []
        for leg in LEGS:
            topic = f"contact_wrench/{leg}_tibia"
            subscription = node.create_subscription(WrenchStamped, topic, lambda _: None, WRENCHES, raw=True)
            self.handlers.append((subscription, functools.partial(self._on_wrench, leg)))

    def between(self, first: int, last: int) -> dict[str, float] | None:
        """The last forces by leg [N], if every foot has one with a stamp in this range [ns]."""
        stamps = self._stamps.values()
        return dict(self._forces) if first <= min(stamps) and max(stamps) <= last else None

    def _on_wrench(self, leg: str, message: bytes) -> None:
        try:
            reading = self._reader.read(message)
        except ValueError as error:
            self._complain("bad wrench", str(error))
            return
        force = reading.numbers("wrench.force")
        self._forces[leg], self._stamps[leg] = math.sqrt(float(force @ force)), reading.stamp
        if min(self._stamps.values()) == reading.stamp:
            self._on_complete()
