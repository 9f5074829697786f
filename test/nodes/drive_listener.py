# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A robot for `mbsim drive`: notes the velocities that it is sent, and publishes odometry."""

from __future__ import annotations

import time
from typing import Any

import rclpy
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node


class DriveListener(Node):
    """Velocities are (forward, turn, rise)."""

    def __init__(self, namespace: str):
        self._own_context = Context()
        rclpy.init(context=self._own_context)
        super().__init__("robot", namespace=namespace, context=self._own_context)
        self._executor = SingleThreadedExecutor(context=self._own_context)
        self._executor.add_node(self)
        self.velocities: list[tuple[float, float, float]] = []
        self.stamps: list[float] = []
        self._odometry = self.create_publisher(Odometry, "odom", 1)
        self._subscription = self.create_subscription(TwistStamped, "cmd_vel", self._on_velocity, 1000)

    @property
    def last(self) -> tuple[float, float, float]:
        return self.velocities[-1] if self.velocities else (0.0, 0.0, 0.0)

    def _on_velocity(self, message: TwistStamped) -> None:
        twist, stamp = message.twist, message.header.stamp
        self.velocities.append((twist.linear.x, twist.angular.z, twist.linear.z))
        self.stamps.append(stamp.sec + 1e-9 * stamp.nanosec)

    def is_matched(self) -> bool:
        return self._odometry.get_subscription_count() > 0 and self.count_publishers("cmd_vel") > 0

    def publish_odometry(self, stamp: float, forward: float) -> None:
        message = Odometry()
        message.header.stamp.sec, message.header.stamp.nanosec = int(stamp), round(stamp % 1.0 * 1e9)
        message.pose.pose.orientation.w = 1.0
        message.twist.twist.linear.x = forward
        self._odometry.publish(message)

    def wait_until(self, condition: Any, what: str, patience: float) -> None:
        end = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < end, f"waited {patience:g} s for {what}, the last velocity is {self.last}"
            self._executor.spin_once(timeout_sec=0.02)

    def close(self) -> None:
        self._executor.shutdown()
        self.destroy_node()
        rclpy.shutdown(context=self._own_context)
