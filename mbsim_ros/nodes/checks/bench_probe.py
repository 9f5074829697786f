# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of ``mbsim bench ros``: answers states as fast as it can, or publishes them, and prints what it took as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from mbsim_ros.control.command import JOINTS, Command
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.publishers.command_publisher import CommandPublisher
from mbsim_ros.nodes.publishers.state_publisher import StatePublisher
from mbsim_ros.nodes.run_node import run_node
from mbsim_ros.nodes.stamps import nanoseconds, stamp_of
from mbsim_ros.nodes.transport.fast_loop import FastLoop
from mbsim_ros.nodes.transport.patched_message import PatchedMessage
from mbsim_ros.nodes.transport.raw_reader import RawReader

PARAMETERS = (
    Parameter("measure", "fast", "Answer states, or give them without a robot, with our loop or with an executor.",
              choices=("fast", "executor", "give_fast", "give_executor", "publishing")),
    Parameter("rounds", 3000, "How many.", 1, 10_000_000),
    Parameter("robot_file", "", "For publishing: the robot."),
)  # fmt: skip
WARM_UP = 200
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


GIVEN_JOINTS = 17  # as many as the walker has
PERIOD = 2_000_000  # ns between the states that are given


class BenchProbe(Node):
    """Holds all joints where the first state has them, round after round; or is the robot, without physics."""

    def __init__(self) -> None:
        super().__init__("bench_probe")
        self.values = declare(self, PARAMETERS)
        self._count = 0
        self._began = (0.0, 0)
        self._reader = RawReader(JointState)
        self._held: tuple[tuple[str, ...], np.ndarray] | None = None
        self._command = JointState()

    def measure(self) -> None:
        """Do what the parameter says."""
        if self.values["measure"] == "publishing":
            self._publish()
            return
        if self.values["measure"] in ("give_fast", "give_executor"):
            self._give_states(fast=self.values["measure"] == "give_fast")
            return
        if self.values["measure"] == "executor":
            self._publisher = self.create_publisher(JointState, "joint_commands", 10)
            self.create_subscription(JointState, "joint_states", self._on_state, LATCHED)
            rclpy.spin(self)
            return
        self._commands = CommandPublisher(self, lambda: None, (JOINTS,))
        self._loop("joint_states", LATCHED, self._on_bytes)

    def _loop(self, topic: str, qos: QoSProfile | int, handler: Callable[[bytes], None]) -> None:
        """Hand the bytes of a topic's messages on until the node is shut down."""
        subscription = self.create_subscription(JointState, topic, handler, qos, raw=True)
        loop = FastLoop(self, [(subscription, handler)])
        while rclpy.ok():
            loop.wait(0.2)

    def _give_states(self, fast: bool) -> None:
        """Publish a state, and the next when the answer to it is there: lockstep, and nothing else."""
        state = JointState(name=[f"joint_{k}" for k in range(GIVEN_JOINTS)])
        state.position = state.velocity = state.effort = [0.0] * GIVEN_JOINTS
        publisher = self.create_publisher(JointState, "joint_states", LATCHED)
        patched = PatchedMessage(state)
        now = 0

        def give() -> None:
            if fast:
                patched.set_stamp(now)
                publisher.publish(patched.tobytes())
            else:
                state.header.stamp = stamp_of(now)
                publisher.publish(state)

        def on_answer(stamp: int) -> None:
            nonlocal now
            if stamp == now:
                now += PERIOD
                give()

        self.create_timer(1.0, give)  # for whom the first did not reach
        give()
        if fast:
            self._loop("joint_commands", 10, lambda data: on_answer(self._reader.read(data).stamp))
        else:
            self.create_subscription(
                JointState, "joint_commands", lambda answer: on_answer(nanoseconds(answer.header.stamp)), 10
            )
            rclpy.spin(self)

    def _on_bytes(self, data: bytes) -> None:
        """As our controllers do it."""
        state = self._reader.read(data)
        if self._held is None:
            self._held = tuple(state.message.name), state.numbers("position").copy()
        self._commands.publish(state.stamp, Command(self._held[0], position=self._held[1]))
        self._count_round(state.stamp)

    def _on_state(self, state: JointState) -> None:
        """As rclpy's examples do it."""
        if not self._command.name:
            self._command.name, self._command.position = list(state.name), state.position
            self._command.header.frame_id = self.get_fully_qualified_name()
        self._command.header.stamp = state.header.stamp
        self._publisher.publish(self._command)
        self._count_round(nanoseconds(state.header.stamp))

    def _count_round(self, now: int) -> None:
        self._count += 1
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
