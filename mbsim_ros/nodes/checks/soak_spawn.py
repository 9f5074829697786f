# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The process of ``mbsim soak --spawn``: an entity comes and goes over ROS, over and over, beside an arm and a crate.

Time goes on by single steps. What the others do is compared with a simulation of this process into which nobody ever
came: every bit is to be the same. What physics has in memory is looked at all the while.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rich.console import Console
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import DeleteEntity, SpawnEntity
from std_srvs.srv import Trigger

from mbsim_ros.cli.parts.plain_table import print_table
from mbsim_ros.nodes.checks.soak_process import SoakProcess
from mbsim_ros.nodes.stamps import nanoseconds
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.scenes.entity_list import world_from
from mbsim_ros.sim.simulation import Simulation

ENTITIES = ["arm=arm", "crate=box@2,0,0.6,0.3,0.2,0.1"]
GUESTS = ("arm", "box", "walker")  # of the catalogue, in turn
STEPS = 2  # of the simulation in a control period
PATIENCE = 240.0  # s of wall time for an answer
ASK_AGAIN = 10.0  # s: an answer may be lost to a client that is new
SETTLED = 0.3  # of all cycles, after which memory has to stay: by then the history of latched topics is full
MOST_GROWTH = 10.0  # MB
STATES = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass
class SpawnFindings:
    """What came of it."""

    cycles: int = 0
    refused: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)  # MB, after every cycle
    spawning: list[float] = field(default_factory=list)  # s of wall time for an answer
    deleting: list[float] = field(default_factory=list)
    compared: int = 0  # states of the arm and of the crate
    different: int = 0  # of these, in any bit
    furthest: float = 0.0  # difference of a number
    ended_well: bool = True
    written: str = ""

    @property
    def growth(self) -> float:
        """MB between the time when all has been loaded, and the end."""
        first = int(SETTLED * len(self.memory))
        return self.memory[-1] - self.memory[first] if self.memory else 0.0

    def problems(self) -> list[str]:
        """What should not be."""
        found = self.refused[:3]
        if self.growth > MOST_GROWTH:
            found.append(f"physics grew by {self.growth:.1f} MB")
        if self.different or not self.compared:
            found.append(f"{self.different} of {self.compared} states of the others are not as without guests")
        if not self.ended_well or "Traceback" in self.written:
            found.append("physics did not end well")
        return found


class Host(Node):
    """Calls the services, and keeps what the entities that stay tell."""

    def __init__(self) -> None:
        super().__init__("soak_spawn")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)
        self.arm: dict[int, bytes] = {}  # stamp → numbers
        self.crate: dict[int, bytes] = {}
        self.create_subscription(JointState, "arm/joint_states", self._on_arm, STATES)
        self.create_subscription(Odometry, "crate/odom", self._on_crate, STATES)
        self._asked: dict[str, Any] = {}

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """The answer of a service; TimeoutError without one."""
        if name not in self._asked:
            self._asked[name] = self.create_client(kind, name)
        client = self._asked[name]
        end, asked, future = time.monotonic() + PATIENCE, 0.0, None
        while future is None or not future.done():
            if time.monotonic() > end:
                raise TimeoutError(f"no answer of {name} in {PATIENCE:g} s")
            if client.service_is_ready() and (future is None or time.monotonic() - asked > ASK_AGAIN):
                future, asked = client.call_async(request), time.monotonic()
            self._executor.spin_once(timeout_sec=0.05)
        return future.result()

    def wait_for(self, stamp: int) -> None:
        """Until the states of a stamp [ns] are here."""
        end = time.monotonic() + PATIENCE
        while not (stamp in self.arm and stamp in self.crate):
            if time.monotonic() > end:
                raise TimeoutError(f"no state of {stamp} ns in {PATIENCE:g} s")
            self._executor.spin_once(timeout_sec=0.05)

    def _on_arm(self, message: JointState) -> None:
        self.arm[nanoseconds(message.header.stamp)] = np.array([*message.position, *message.velocity]).tobytes()

    def _on_crate(self, message: Odometry) -> None:
        p, o = message.pose.pose.position, message.pose.pose.orientation
        v, w = message.twist.twist.linear, message.twist.twist.angular
        numbers = [p.x, p.y, p.z, o.x, o.y, o.z, o.w, v.x, v.y, v.z, w.x, w.y, w.z]
        self.crate[nanoseconds(message.header.stamp)] = np.array(numbers).tobytes()


def soak_spawn(cycles: int, progress: Callable[[int], None] = lambda _: None) -> SpawnFindings:
    """Let guests come and go this often; rclpy is initialised by the caller."""
    found, host = SpawnFindings(), Host()
    physics = SoakProcess("physics", _arguments())
    try:
        host.call(Trigger, "pause", Trigger.Request())
        host.wait_for(0)
        for cycle in range(cycles):
            come, leave = _request(GUESTS[cycle % len(GUESTS)]), DeleteEntity.Request(entity="guest")
            _timed(found, found.spawning, partial(host.call, SpawnEntity, "spawn_entity", come))
            host.call(Trigger, "step", Trigger.Request())
            _timed(found, found.deleting, partial(host.call, DeleteEntity, "delete_entity", leave))
            host.call(Trigger, "step", Trigger.Request())
            found.memory.append(physics.memory)
            found.cycles += 1
            progress(found.cycles)
        host.wait_for(2 * cycles * STEPS * 1_000_000)
        _compare(found, host)
    finally:
        found.ended_well = physics.stop() and physics.returncode == 0
        found.written = physics.written
        host.destroy_node()
    return found


def _arguments() -> list[str]:
    given = ("sync:=async", "real_time_factor:=0.0", "entity_topics:=all", f"entities:={json.dumps(ENTITIES)}")
    return [word for parameter in given for word in ("-p", parameter)]


def _request(guest: str) -> SpawnEntity.Request:
    request = SpawnEntity.Request(name="guest")
    getattr(request, "entity_resource", request).uri = guest  # 2.x, 1.x
    request.initial_pose.pose.position.y, request.initial_pose.pose.position.z = 20.0, 1.0
    return request


def _timed(found: SpawnFindings, spent: list[float], call: Callable[[], Any]) -> None:
    begin = time.monotonic()
    answer = call()
    spent.append(time.monotonic() - begin)
    if answer.result.result != Result.RESULT_OK:
        found.refused.append(answer.result.error_message)


def _compare(found: SpawnFindings, host: Host) -> None:
    """With the same scene in which nobody came: every number of every stamp."""
    world = world_from({"entities": ENTITIES})
    assert world is not None
    sim = Simulation(world)
    CommandInterface(sim).hold()
    for stamp in range(0, max(host.arm) + 1, STEPS * sim.dt_ns):
        while sim.time < stamp:
            sim.advance(STEPS)
        for name, told in (("arm", host.arm), ("crate", host.crate)):
            entity = sim.entity(name)
            own = np.concatenate([entity.q, entity.v])
            if stamp in told:
                found.compared += 1
                found.different += told[stamp] != own.tobytes()
                found.furthest = max(found.furthest, float(np.abs(np.frombuffer(told[stamp]) - own).max()))


def main() -> int:
    """Argument: how often. The exit code is 0 if all is well."""
    cycles = int(json.loads(sys.argv[1]))
    console = Console(highlight=False)
    rclpy.init()
    try:
        found = soak_spawn(cycles)
    finally:
        rclpy.try_shutdown()
    first = int(SETTLED * len(found.memory))
    rows = (
        ("entities that came and went", str(found.cycles)),
        ("memory of physics at first [MB]", f"{found.memory[0]:.1f}"),
        (f"after {first} of them, and at the end [MB]", f"{found.memory[first]:.1f}, {found.memory[-1]:.1f}"),
        ("a spawn, median [ms]", f"{1e3 * float(np.median(found.spawning)):.1f}"),
        ("a delete, median [ms]", f"{1e3 * float(np.median(found.deleting)):.1f}"),
        ("states of the others that were compared", str(found.compared)),
        ("of these different in any bit", str(found.different)),
        ("by at most", f"{found.furthest:.3g}"),
    )
    print_table(console, "soak --spawn", ("", ">"), [(row, "") for row in rows])
    problems = found.problems()
    console.print(f"[red]Not well: {'; '.join(problems)}.[/]" if problems else "[green]All is well.[/]")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
