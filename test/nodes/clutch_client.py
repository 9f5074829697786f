# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A node that asks for couplings of the walker and notes what becomes of it."""

from __future__ import annotations

import json
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from physics_process import LATCHED
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from std_srvs.srv import SetBool
from walker_processes import Driver

EVERYTHING = QoSProfile(depth=1000)


class ClutchClient(Driver):
    """Requests in, events out; `booked` is the last clutch loss of the ledger with its time: (s, J)."""

    def __init__(self) -> None:
        self.poses: list[list[float]] = []  # of the base, at the instants that came through
        self.events: list[dict[str, Any]] = []
        self.coupling = ""
        self.booked: tuple[float, float] | None = None
        self._asked_at = 0.0
        super().__init__()
        self._requests = self.create_publisher(String, "clutch_request", EVERYTHING)
        self.create_subscription(String, "clutch_state", lambda m: self.events.append(json.loads(m.data)), EVERYTHING)
        self.create_subscription(String, "coupling_state", self._on_coupling, LATCHED)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)

    @property
    def q(self) -> list[float]:
        return self.poses[-1]

    def _on_odometry(self, message: Odometry) -> None:
        super()._on_odometry(message)
        p, o = message.pose.pose.position, message.pose.pose.orientation
        self.poses.append([p.x, p.y, p.z, o.x, o.y, o.z, o.w])

    def _on_coupling(self, message: String) -> None:
        self.coupling = message.data

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {entry.key: entry.value for entry in status.values}
            if "ledger clutch_loss [J]" in values:
                self.booked = float(values["time [s]"]), float(values["ledger clutch_loss [J]"])

    def is_connected(self) -> bool:
        return self._requests.get_subscription_count() > 0

    def ask(self, request: str) -> None:
        self._requests.publish(String(data=request))

    def ask_again(self, request: str) -> bool:
        """Ask, but not more often than every tenth of a simulated second; False, to be asked again."""
        if self.time - self._asked_at > 0.1:
            self._asked_at = self.time
            self.ask(request)
        return False

    def call(self, coupling: str, *, soft: bool) -> SetBool.Response:
        """Ask by service."""
        client = self.create_client(SetBool, f"clutch/{coupling}")
        self.wait_until(client.service_is_ready, f"the service clutch/{coupling}")
        future = client.call_async(SetBool.Request(data=soft))
        self.wait_until(future.done, "the answer of the clutch manager")
        return future.result()
