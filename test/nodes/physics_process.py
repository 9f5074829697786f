# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A physics node in a process of its own, and a client node in this one that talks to it over DDS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

ROOT = Path(__file__).resolve().parents[2]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PATIENCE = 240.0  # s, for a cold start on a busy machine: the kernels are compiled
ASK_AGAIN = 20.0  # s without an answer of a service


def start_node(name: str, *parameters: str, namespace: str = "", remap: tuple[str, ...] = ()) -> subprocess.Popen:
    """Start a node of the package; parameters as `name:=value`."""
    command = [sys.executable, str(ROOT / "libexec" / name), "--ros-args"]
    for parameter in parameters:
        command += ["-p", parameter]
    if namespace:
        command += ["-r", f"__ns:={namespace}"]
    for rule in remap:
        command += ["-r", rule]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def stop(process: subprocess.Popen) -> str:
    """End a node as ctrl-C does; returns what it wrote."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


class Client(Node):
    """Receives states and sends commands; `spin_until` is how tests wait."""

    def __init__(self, namespace: str = ""):
        self._own_context = Context()
        rclpy.init(context=self._own_context)
        super().__init__("client", namespace=namespace, context=self._own_context)
        self._executor = SingleThreadedExecutor(context=self._own_context)
        self._executor.add_node(self)
        self.states: list[JointState] = []
        self.odometry: list[Odometry] = []
        self.clocks: list[int] = []
        self.create_subscription(JointState, "joint_states", self.states.append, LATCHED)
        self.create_subscription(Odometry, "odom", self.odometry.append, LATCHED)
        self.create_subscription(Clock, "/clock", lambda m: self.clocks.append(ns(m.clock)), 1000)
        self.commands = self.create_publisher(JointState, "joint_commands", 100)
        self.motor_commands = self.create_publisher(JointState, "motor_commands", 100)

    def spin_until(self, condition: Any, what: str, patience: float = PATIENCE) -> None:
        """Serve callbacks until the condition holds; fails with what was waited for."""
        end = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < end, f"waited {patience} s for {what}"
            self._executor.spin_once(timeout_sec=0.05)

    def wait_for_state(self) -> JointState:
        """The newest state, once there is one."""
        self.spin_until(lambda: self.states, "the first state")
        return self.states[-1]

    def answer(self, state: JointState, sender: str = "", **parts: Any) -> None:
        """Answer a state with a command for all joints; parts: position, velocity, effort; sender: if not this node."""
        message = JointState(name=list(state.name) if parts else [])
        message.header.stamp, message.header.frame_id = state.header.stamp, sender or self.get_fully_qualified_name()
        for part, values in parts.items():
            setattr(message, part, np.asarray(values, dtype=float).tolist())
        self.commands.publish(message)

    def lockstep(self, rounds: int, **parts: Any) -> list[JointState]:
        """Answer this many states, each the same; returns the states that were answered.

        A state that comes again is answered again: physics repeats it when the answer went out before the two had
        found each other.
        """
        answered: list[JointState] = []
        newest = None
        while len(answered) < rounds:
            self.spin_until(lambda seen=newest: self.states and self.states[-1] is not seen, "the next state")
            newest = self.states[-1]
            if not answered or stamp(newest) > stamp(answered[-1]):
                answered.append(newest)
            self.answer(newest, **parts)
        return answered

    def call(self, name: str, kind: Any = Trigger, request: Any = None) -> Any:
        """Call a service of the simulation.

        Fast DDS lets an answer go that it has for a client whom the server has not discovered in 100 ms, which a busy
        machine takes for one that is new; nobody hears of it. Who is not answered asks again, as a user would.
        """
        client = self.create_client(kind, name)
        self.spin_until(client.service_is_ready, f"the service {name}")
        end = time.monotonic() + PATIENCE
        future, asked = None, 0.0
        while future is None or not future.done():
            if future is None or time.monotonic() - asked > ASK_AGAIN:
                assert time.monotonic() < end, f"waited {PATIENCE} s for the answer of {name}"
                future, asked = client.call_async(kind.Request() if request is None else request), time.monotonic()
            self._executor.spin_once(timeout_sec=0.05)
        self.destroy_client(client)
        return future.result()

    def close(self) -> None:
        """End the client."""
        self._executor.shutdown()
        self.destroy_node()
        rclpy.shutdown(context=self._own_context)


def ns(time_message: Any) -> int:
    """A stamp in nanoseconds."""
    return time_message.sec * 1_000_000_000 + time_message.nanosec


def stamp(message: Any) -> int:
    """The stamp of a message with a header [ns]."""
    return ns(message.header.stamp)
