# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Looks at every state of a robot as it comes: whether time goes forward and all numbers are numbers."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from mbsim_ros.bags.formats.cdr import joint_message, odometry_message
from mbsim_ros.bags.formats.definitions import AT_ONCE
from mbsim_ros.bags.sim_time import stamp_at
from mbsim_ros.nodes.stamps import nanoseconds
from mbsim_ros.nodes.transport.fast_loop import FastLoop

QUEUE = 5000  # messages that may wait for us
GATHER = 0.005  # s of wall time: messages are taken many at a time, which leaves the processor to the others


class Watcher:
    """Subscribes the states, commands and clock of a robot in a context of its own, and keeps count.

    states, commands: how many came; not_finite: states with a NaN or an infinity; backward: stamps before the one
    before them, of states or clock; stamp: of the last state [ns].
    """

    def __init__(self, namespace: str):
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node("soak", namespace=namespace, context=self._context)
        self.states = self.commands = self.not_finite = self.backward = 0
        self.stamp, self._clock = -1, -1
        self._positions: list[tuple[int, np.ndarray]] = []  # stamp and position of the states since the last look
        self.ledger: dict[str, float] = {}  # the last that was told [J]
        self.place: np.ndarray | None = None  # of a floating base on the ground (2,) [m], the last that was told
        self._told: list[tuple[int, bool]] = []  # stamps at which physics said whether somebody is missing
        self._physics = f"{namespace}/physics: simulation"
        latched = QoSProfile(depth=QUEUE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._pushes = self._node.create_publisher(WrenchStamped, "wrench", 10)
        self._parameters: Any = self._node.create_client(SetParameters, "physics/set_parameters")
        self._reset: Any = self._node.create_client(Trigger, "reset")
        make = self._node.create_subscription
        self._loop = FastLoop(self._node, [
            (make(JointState, "joint_states", _unused, latched, raw=True), self._on_state),
            (make(JointState, "joint_commands", _unused, QoSProfile(depth=QUEUE), raw=True), self._on_command),
            (make(Clock, "/clock", _unused, QoSProfile(depth=QUEUE), raw=True), self._on_clock),
            (make(Odometry, "odom", _unused, QoSProfile(depth=1), raw=True), self._on_odometry),
            (make(DiagnosticArray, "/diagnostics", _unused, QoSProfile(depth=QUEUE)), self._on_diagnosis),
        ])  # fmt: skip

    def wait(self, condition: Callable[[], bool], patience: float) -> bool:
        """Take messages until the condition holds; whether it did within this wall time [s]."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                return False
            self._loop.wait(0.05)
            time.sleep(GATHER)
        return True

    def watch(self, seconds: float) -> None:
        """Take messages for this wall time [s]."""
        self.wait(lambda: False, seconds)

    def strayed(self) -> float:
        """How far a joint went while physics held it since the last look, from where it was when that was said first.

        By stamps: the messages themselves may have waited for us, each topic for another time.
        """
        furthest, start = 0.0, None
        for (begin, held), (end, still_held) in itertools.pairwise(self._told):
            if not (held and still_held):
                start = None
                continue
            for position in (position for stamp, position in self._positions if begin <= stamp <= end):
                start = position if start is None else start
                furthest = max(furthest, float(np.abs(position - start).max()))
        self._positions, self._told = [], []
        return furthest

    def meddle(self, what: str, much: float) -> None:
        """Push a link, change friction or reset, without waiting for anything."""
        if what == "push":
            push = WrenchStamped()
            push.header.frame_id, push.wrench.force.y = "top", 40.0 * much
            self._pushes.publish(push)
        elif what == "friction":
            value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=much)
            request = SetParameters.Request(parameters=[Parameter(name="friction", value=value)])
            self._parameters.call_async(request)
        else:
            self._reset.call_async(Trigger.Request())

    def close(self) -> None:
        """Leave."""
        self._loop.close()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _on_state(self, data: bytes) -> None:
        message = joint_message(data)
        numbers = np.concatenate((message.position, message.velocity, message.effort))
        self.states += 1
        self.not_finite += not np.isfinite(numbers).all()
        self.backward += message.stamp < self.stamp
        self.stamp = message.stamp
        self._positions.append((message.stamp, message.position))

    def _on_odometry(self, data: bytes) -> None:
        self.place = odometry_message(data).pose[:2]

    def _on_command(self, _: bytes) -> None:
        self.commands += 1

    def _on_diagnosis(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == self._physics:
                self.ledger = {
                    entry.key.removeprefix("ledger ").removesuffix(" [J]"): float(entry.value)
                    for entry in status.values
                    if entry.key.startswith("ledger ")
                }
                self._told.append((nanoseconds(message.header.stamp), status.message.startswith("no answer from")))

    def _on_clock(self, data: bytes) -> None:
        now = stamp_at(data, AT_ONCE)
        self.backward += now < self._clock
        self._clock = now


def _unused(_: bytes) -> None:
    """Callback of a subscription whose messages are taken directly."""
