"""Looks at every state of a robot as it comes: whether time goes forward and all numbers are numbers."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from mbsim_ros.bags.cdr import joint_message
from mbsim_ros.bags.definitions import AT_ONCE
from mbsim_ros.bags.sim_time import stamp_at
from mbsim_ros.nodes.fast_loop import FastLoop

QUEUE = 5000  # messages that may wait for us
GATHER = 0.005  # s of wall time: messages are taken many at a time, which leaves the processor to the others


class Watcher:
    """Subscribes the states, commands and clock of a robot in a context of its own, and keeps count.

    states, commands: how many came; not_finite: states with a NaN or an infinity; backward: stamps before the one
    before them, of states or clock; position (n,): of the last state; moved: the furthest that a joint has been from
    where it was at `hold_still`.
    """

    def __init__(self, namespace: str):
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node("soak", namespace=namespace, context=self._context)
        self.states = self.commands = self.not_finite = self.backward = 0
        self.stamp, self._clock = -1, -1
        self.position = np.zeros(0)
        self.moved = 0.0
        self._still: np.ndarray | None = None
        latched = QoSProfile(depth=QUEUE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        make = self._node.create_subscription
        self._loop = FastLoop(self._node, [
            (make(JointState, "joint_states", _unused, latched, raw=True), self._on_state),
            (make(JointState, "joint_commands", _unused, QoSProfile(depth=QUEUE), raw=True), self._on_command),
            (make(Clock, "/clock", _unused, QoSProfile(depth=QUEUE), raw=True), self._on_clock),
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

    def hold_still(self, begins: bool) -> None:
        """From now on, or no longer, nothing is to move."""
        self._still = self.position if begins else None

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
        self.stamp, self.position = message.stamp, message.position
        if self._still is not None:
            self.moved = max(self.moved, float(np.abs(self.position - self._still).max()))

    def _on_command(self, _: bytes) -> None:
        self.commands += 1

    def _on_clock(self, data: bytes) -> None:
        now = stamp_at(data, AT_ONCE)
        self.backward += now < self._clock
        self._clock = now


def _unused(_: bytes) -> None:
    """Callback of a subscription whose messages are taken directly."""
