# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Physics, a controller and the recorder in lockstep over DDS: equal records, and a replay with equal bits."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.replay import replay
from mbsim_ros.cli.main import main

pytestmark = pytest.mark.ros

ROBOT = Path(__file__).resolve().parents[2] / "urdf/double_pendulum.urdf"
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
STATES = 301  # 0.6 s


class Controller(Node):
    """Answers every state with efforts that depend on it."""

    def __init__(self, context: rclpy.Context):
        super().__init__("controller", context=context, namespace="arm")
        self._commands = self.create_publisher(JointState, "joint_commands", 10)
        self.create_subscription(JointState, "joint_states", self._on_state, LATCHED)

    def _on_state(self, state: JointState) -> None:
        command = JointState(name=state.name)
        command.header.stamp = state.header.stamp
        command.header.frame_id = "/arm/controller"
        command.effort = [math.sin(3.0 * q) - 0.2 * v for q, v in zip(state.position, state.velocity, strict=True)]
        self._commands.publish(command)


@pytest.fixture
def load() -> Iterator[None]:
    """Two processes that compute for nothing."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


def run(folder: Path, domain: int) -> Path:
    """One run of the three, recorded."""
    parameters = {
        "robot_file": str(ROBOT), "sync": "lockstep", "lockstep_participants": "[controller, record]",
        "real_time_factor": "0.0", "duration": "0.6", "lockstep_timeout": "100.0",
    }  # fmt: skip
    options = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    physics = subprocess.Popen(
        [sys.executable, "-m", "mbsim_ros.nodes.physics.node", "--ros-args", "-r", "__ns:=/arm", *options]
    )
    record = subprocess.Popen(
        [sys.executable, "-m", "mbsim_ros", "record", "--namespace", "arm", "--lockstep", "--out", str(folder)]
    )
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(Controller(context))
    try:
        while physics.poll() is None:
            executor.spin_once(0.05)
        assert physics.returncode == 0
        record.send_signal(signal.SIGINT)
        assert record.wait(60) == 0
    finally:
        for process in (physics, record):
            process.kill()
            process.wait()
        rclpy.shutdown(context=context)
    return folder


def test_runs_are_equal_and_replay_gives_equal_bits(tmp_path, ros_domain, request, capsys):
    idle = run(tmp_path / "idle", ros_domain)
    request.getfixturevalue("load")
    loaded = run(tmp_path / "loaded", ros_domain)
    first, second = ([*BagReader(bag).messages(["/arm/joint_states"])] for bag in (idle, loaded))
    assert [m.time for m in first] == [k * 2_000_000 for k in range(STATES)]
    assert first == second
    assert len({m.data for m in first}) == STATES, "it moves"

    (report,) = replay(loaded)
    assert report.is_same, report.difference
    assert (report.states, report.tolerance, report.notes) == (STATES, 0.0, [])
    assert main(["replay", str(idle)]) == 0
    assert "same: every number, bit for bit" in capsys.readouterr().out
    assert {"robot_description", "parameters", "version"} <= BagReader(idle).metadata["/arm/simulation_setup"].keys()
