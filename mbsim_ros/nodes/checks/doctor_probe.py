# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of ``mbsim doctor``: sends JointStates, checks that they come back unchanged, measures how fast."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path

import rclpy
from ament_index_python.packages import get_package_share_path
from rclpy.node import Node
from rclpy.utilities import get_rmw_implementation_identifier
from sensor_msgs.msg import JointState

from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.run_node import run_node

PARAMETERS = (
    Parameter("joints", ["shoulder", "elbow"], "Names of the joints in a message."),
    Parameter("round_trips", 1000, "How many messages go there and back."),
    Parameter("result", "", "File that takes the result as JSON; none if empty."),
    Parameter("timeout", 20.0, "Wall time [s] after which it gives up."),
)
WARM_UP = 50  # round trips before the clock starts: discovery and first allocations are not what is measured


class DoctorProbe(Node):
    """Plays ping-pong with doctor_echo and writes what it found to the file ``result``."""

    def __init__(self) -> None:
        super().__init__("doctor_probe")
        values = declare(self, PARAMETERS)
        self._joints: list[str] = values["joints"]
        self._round_trips: int = values["round_trips"]
        self._result: str = values["result"]
        self._timeout: float = values["timeout"]
        self.exit_code = 1
        self._count = 0
        self._started = 0.0
        self._ping = self.create_publisher(JointState, "ping", 10)
        self.create_subscription(JointState, "pong", self._on_pong, 10)
        self._deadline = time.monotonic() + self._timeout
        self._start_timer = self.create_timer(0.02, self._start_when_matched)
        self.create_timer(0.2, self._give_up_when_late)

    def _start_when_matched(self) -> None:
        """Say the first message until it is answered: the echo may know of this node's listening a moment later."""
        if self._count:
            self._start_timer.cancel()
        elif self._ping.get_subscription_count() and self.count_publishers("pong"):
            self._ping.publish(self._message(0))

    def _give_up_when_late(self) -> None:
        if time.monotonic() > self._deadline:
            matched = bool(self._ping.get_subscription_count())
            what = f"{self._count} answers came" if matched else "doctor_echo was not discovered"
            self.get_logger().error(f"gave up: {what}")
            rclpy.try_shutdown()

    def _message(self, count: int) -> JointState:
        """The message number count; its numbers are such that a mix-up would be seen."""
        message = JointState(name=self._joints)
        message.header.stamp.sec = count
        message.position = [math.sin(count + index) for index in range(len(self._joints))]
        return message

    def _on_pong(self, message: JointState) -> None:
        if self._count and message == self._message(0):
            return  # the first one once more
        if message != self._message(self._count):
            self.get_logger().error(f"message {self._count} came back changed: {message}")
            rclpy.try_shutdown()
            return
        self._count += 1
        self._deadline = time.monotonic() + self._timeout
        if self._count == WARM_UP:
            self._started = time.perf_counter()
        if self._count == WARM_UP + self._round_trips:
            self._finish(time.perf_counter() - self._started)
        else:
            self._ping.publish(self._message(self._count))

    def _finish(self, seconds: float) -> None:
        found = {
            "rclpy": _package_version("rclpy"),
            "rmw": get_rmw_implementation_identifier(),
            "domain": int(os.environ.get("ROS_DOMAIN_ID") or 0),
            "round_trips": self._round_trips,
            "per_second": self._round_trips / seconds,
        }
        if self._result:
            Path(self._result).write_text(json.dumps(found))
        self.get_logger().info(f"{found['per_second']:.0f} round trips per second")
        self.exit_code = 0
        rclpy.try_shutdown()


def _package_version(package: str) -> str:
    """Version from the package's manifest, which wheels and ROS installations both have."""
    manifest = (get_package_share_path(package) / "package.xml").read_text()
    return manifest.partition("<version>")[2].partition("</version>")[0]


if __name__ == "__main__":
    sys.exit(run_node(DoctorProbe))
