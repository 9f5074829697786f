# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a node waits for, said once: to its launch, which shows all nodes on one line, or in its log."""

from __future__ import annotations

import time

from rclpy.node import Node

from mbsim_ros.status import tell_status

PATIENCE = 5.0  # s of wall time after which it is worth a line in the log


class Waiting:
    """What a node waits for. `look` says so when it is time to."""

    def __init__(self, node: Node):
        self._node = node
        self._what = self._logged = ""
        self._since = time.monotonic()
        self.is_shown = False  # whether a launch shows it

    def look(self, what: str, *, log: bool = True) -> None:
        """It waits for this now, "" for nothing. To be called now and then; log: whether nobody else says so."""
        if what != self._what:
            self._what, self._since = what, time.monotonic()
            self.is_shown = tell_status(f"waiting for {what}" if what else "")
        if what and log and not self.is_shown and what != self._logged and time.monotonic() - self._since >= PATIENCE:
            self._logged = what
            self._node.get_logger().info(f"waiting for {what}")
