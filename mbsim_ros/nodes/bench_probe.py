"""Node of ``mbsim bench ros``: answers states as fast as it can, or publishes them, and prints what it took as JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from mbsim_ros.model.loading import load_urdf
from mbsim_ros.nodes.fast_loop import FastLoop
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.state_publisher import StatePublisher

PARAMETERS = (
    Parameter("measure", "fast", "Answer with the fast loop or an executor, or publish.",
              choices=("fast", "executor", "publishing")),
    Parameter("rounds", 3000, "How many.", 1, 10_000_000),
    Parameter("robot_file", "", "For publishing: the robot."),
)  # fmt: skip
WARM_UP = 200
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class BenchProbe(Node):
    """Holds all joints where the first state has them, round after round."""

    def __init__(self) -> None:
        super().__init__("bench_probe")
        self.values = declare(self, PARAMETERS)
        self._count = 0
        self._began = (0.0, 0)
        self._command = JointState()
        self._commands = self.create_publisher(JointState, "joint_commands", 10)

    def measure(self) -> None:
        """Do what the parameter says."""
        if self.values["measure"] == "publishing":
            self._publish()
            return
        fast = self.values["measure"] == "fast"
        callback: Any = (lambda _: None) if fast else self._on_state
        subscription = self.create_subscription(JointState, "joint_states", callback, LATCHED)
        if not fast:
            rclpy.spin(self)
            return
        loop = FastLoop(self, [(subscription, self._on_state)])
        while rclpy.ok():
            loop.wait(0.2)

    def _on_state(self, state: JointState) -> None:
        if not self._command.name:
            self._command.name, self._command.position = list(state.name), state.position
            self._command.header.frame_id = self.get_fully_qualified_name()
        self._command.header.stamp = state.header.stamp
        self._commands.publish(self._command)
        self._count += 1
        now = state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec
        if self._count == WARM_UP:
            self._began = (time.monotonic(), now)
        elif self._count == WARM_UP + self.values["rounds"]:
            wall, sim = time.monotonic() - self._began[0], (now - self._began[1]) * 1e-9
            print(json.dumps({"rounds_per_second": self.values["rounds"] / wall, "real_time_factor": sim / wall}))
            rclpy.try_shutdown()

    def _publish(self) -> None:
        model, rounds = load_urdf(self.values["robot_file"]), self.values["rounds"]
        publisher = StatePublisher(self, model)
        q, v = model.neutral.copy(), np.zeros(model.nv)
        effort = np.zeros(sum(joint.nv == 1 and joint.iv >= 0 for joint in model.joints))
        for k in range(WARM_UP):
            publisher.publish(k, q, v, effort)
        began = time.process_time_ns()
        for k in range(rounds):
            publisher.publish(WARM_UP + k, q, v, effort)
        print(json.dumps({"microseconds": (time.process_time_ns() - began) / rounds / 1e3}))


def main() -> int:
    """The node's process."""
    return run_node(BenchProbe, BenchProbe.measure)


if __name__ == "__main__":
    sys.exit(main())
