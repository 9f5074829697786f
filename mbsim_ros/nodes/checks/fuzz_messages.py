# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hostile messages and service calls to a walker that runs: physics, its controller and its clutches, each a process.

`python -m mbsim_ros.nodes.checks.fuzz_messages messages SEED FIRST END STEP` tells what comes of them as
mbsim_ros.fuzz.worker does. A case fails where a node ends or writes a traceback, a state is not finite, a stamp goes
back, a service does not answer, or time stands still though it was asked to go on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import rclpy
from geometry_msgs.msg import TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from mbsim_ros.fuzz.worker import SETTLED, teller
from mbsim_ros.nodes.checks.hostile_message import hostile_bytes, hostile_message, hostile_parameter
from mbsim_ros.nodes.checks.soak_watcher import Watcher

PATIENCE = 120.0  # s: a first start on a busy machine compiles
ASK_AGAIN = 25.0  # s without an answer
TOGETHER = 20  # cases between two looks at the nodes
TOPICS = {
    "joint_commands": JointState, "motor_commands": JointState, "coupling_command": String, "wrench": WrenchStamped,
    "cmd_vel": TwistStamped, "clutch_request": String, "whole_state": JointState, "motor_states": JointState,
    "odom": Odometry, "coupling_state": String,
}  # fmt: skip
NODES = ("physics", "controller", "clutch_manager")  # as the launch file calls them
SOUND = {"real_time_factor": 1.0, "lockstep_timeout": 2.0, "friction": -1.0, "gravity": [0.0, 0.0, -9.81]}
WRONG = "Traceback (most recent call last)"


def main() -> None:
    """Run the cases that the arguments name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seed, numbers = int(sys.argv[2]), range(*map(int, sys.argv[3:6]))
    tell = teller()
    with tempfile.TemporaryDirectory(prefix="mbsim_fuzz_") as folder:
        target = Target(Path(folder) / "log")
        try:
            _attack(target, seed, numbers, tell)
        finally:
            target.close()


def _attack(target: Target, seed: int, numbers: range, tell: Any) -> None:
    settled = 0
    target.wait_for_states()
    for place, number in enumerate(numbers):
        tell(number)
        for problem in target.hurt(Random(f"{seed} messages {number}")):
            tell({"failed": number, "text": problem})
        if (place + 1) % TOGETHER == 0 or place + 1 == len(numbers):
            for problem in target.problems():
                tell({"failed": number, "text": f"{problem}\n(in the last {TOGETHER} cases)"})
            if not target.runs:
                target.start()
                target.wait_for_states()
        if place <= max(SETTLED * len(numbers), TOGETHER):
            settled = target.memory()
    tell({"accepted": target.answered, "memory": [settled, target.memory()]})


class Target:
    """A launched walker, and a node that talks to it."""

    def __init__(self, log: Path):
        self._log = log
        self.answered = 0  # service calls
        self._space = f"/fuzz_{os.getpid()}"
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node("hostile", namespace=self._space, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # whoever listens gets it
        client: Any = self._node.create_client
        self._publishers = {name: self._node.create_publisher(kind, name, latched) for name, kind in TOPICS.items()}
        self._clients = {name: client(Trigger, name) for name in ("pause", "step", "resume", "reset")}
        self._clutches = [client(SetBool, f"clutch/{name}") for name in ("normal", "hold", "turn")]
        self._parameters = [client(SetParameters, f"{name}/set_parameters") for name in NODES]
        self._standard = [client(kind, name) for name, kind in _standard_services()]
        self._watcher = Watcher(self._space)
        self.start()

    def start(self) -> None:
        """Launch it."""
        words = (f"namespace:={self._space.strip('/')}", "view:=false", "lockstep_timeout:=2.0")
        self._stream = open(self._log, "wb")
        self._read = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mbsim_ros", "launch", "walker", *words], stdin=subprocess.DEVNULL,
            stdout=self._stream, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip

    @property
    def runs(self) -> bool:
        """Whether all nodes live: a launch ends when one does."""
        return self._process.poll() is None

    def wait_for_states(self) -> bool:
        """Whether states come, within our patience."""
        before = self._watcher.states
        return self._watcher.wait(lambda: self._watcher.states > before + 3, PATIENCE)

    def hurt(self, random: Random) -> Iterator[str]:
        """One case; yields what was wrong about the answer."""
        way = random.random()
        if way < 0.6:
            name = random.choice(sorted(TOPICS))
            self._publishers[name].publish(hostile_message(TOPICS[name], random, self._watcher.stamp))
        elif way < 0.75:
            self._publishers[random.choice(sorted(TOPICS))].publish(hostile_bytes(random))
        elif way < 0.85:
            request = SetParameters.Request(parameters=[hostile_parameter(random) for _ in range(random.randint(0, 3))])
            yield from self._called(random.choice(self._parameters), request)
        elif way < 0.9:
            yield from self._called(random.choice(list(self._clients.values())), Trigger.Request())
        elif way < 0.92:
            random.choice(self._clutches).call_async(SetBool.Request(data=random.random() < 0.5))  # may take its time
        elif self._standard:
            client = random.choice(self._standard)
            yield from self._called(client, hostile_message(client.srv_type.Request, random, self._watcher.stamp))
        self._executor.spin_once(timeout_sec=0.0)

    def problems(self) -> Iterator[str]:
        """What is wrong now, after things were set right as any user could."""
        sound = [_parameter(name, value) for name, value in SOUND.items()]
        if self.runs:
            yield from self._called(self._parameters[0], SetParameters.Request(parameters=sound))
            yield from self._called(self._clients["reset"], Trigger.Request())
            yield from self._called(self._clients["resume"], Trigger.Request())
            if not self.wait_for_states():
                yield f"no state for {PATIENCE:g} s"
        if not self.runs:
            yield f"the launch ended with {self._process.returncode}:\n{self._written()[-3000:]}"
        watcher = self._watcher
        for count, what in ((watcher.not_finite, "states are not finite"), (watcher.backward, "stamps went back")):
            if count:
                yield f"{count} {what}"
        watcher.not_finite = watcher.backward = 0
        new = self._written()[self._read :]
        self._read += len(new)
        if WRONG in new:
            yield new[new.index(WRONG) :][:3000]

    def memory(self) -> int:
        """Bytes in memory of the nodes."""
        pages = 0
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                if int(status.read_text().rpartition(")")[2].split()[1]) == self._process.pid:  # its parent
                    pages += int((status.parent / "statm").read_text().split()[1])
            except (OSError, ValueError, IndexError):
                continue
        return pages * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        """End everything."""
        if self.runs:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(30.0)
            except subprocess.TimeoutExpired:
                pass  # who started us ends it with us
        self._stream.close()
        self._watcher.close()
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _called(self, client: Any, request: Any) -> Iterator[str]:
        """Call a service and wait for its answer; Fast DDS may lose one on a busy machine: then it is asked again."""
        asked = time.monotonic()
        future, end = client.call_async(request), asked + PATIENCE
        while not future.done() and time.monotonic() < end and self.runs:
            if time.monotonic() > asked + ASK_AGAIN:
                future, asked = client.call_async(request), time.monotonic()
            self._executor.spin_once(timeout_sec=0.05)
            self._watcher.watch(0.0)
        self.answered += future.done()
        if not future.done() and self.runs:
            yield f"no answer from {client.srv_name} for {PATIENCE:g} s: {str(request)[:500]}"

    def _written(self) -> str:
        return self._log.read_text(errors="replace")


def _parameter(name: str, value: Any) -> Parameter:
    if isinstance(value, list):
        return Parameter(name=name, value=ParameterValue(type=8, double_array_value=value))
    return Parameter(name=name, value=ParameterValue(type=3, double_value=value))


def _standard_services() -> list[tuple[str, Any]]:
    """Names and types of the standard services, where they are installed; none that make time stand still for long."""
    try:
        from simulation_interfaces import srv
    except ImportError:
        return []
    return [
        ("get_simulator_features", srv.GetSimulatorFeatures), ("get_simulation_state", srv.GetSimulationState),
        ("set_simulation_state", srv.SetSimulationState), ("reset_simulation", srv.ResetSimulation),
        ("get_entities", srv.GetEntities), ("get_entity_state", srv.GetEntityState),
        ("set_entity_state", srv.SetEntityState),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
