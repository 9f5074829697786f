# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The record node in a process of its own, over real DDS."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
from message_samples import SECOND, joint_state, serialized, time_of
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosbags.highlevel import AnyReader
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.recovery import recover
from mbsim_ros.nodes.recording.node import MOST_EARLY, Record

pytestmark = pytest.mark.ros

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
KEPT = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # nothing is overwritten before it is read
PERIOD = 2_000_000  # ns
SETUP = {"version": "0.0", "parameters": {"dt": 0.001}}


def spin_until(condition: Callable[[], bool], what: str, spin: Callable[[], object], seconds: float = 100.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for: {what}"
        spin()


class Source:
    """What a physics node publishes, made by hand, and the answers it gets."""

    def __init__(self, domain: int):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node("source", context=self.context, namespace="arm")
        self.clock = self.node.create_publisher(Clock, "/clock", KEPT)
        self.state = self.node.create_publisher(JointState, "joint_states", KEPT)
        self.command = self.node.create_publisher(JointState, "joint_commands", KEPT)
        self.robot = self.node.create_publisher(String, "robot_description", LATCHED)
        self.setup = self.node.create_publisher(String, "simulation_setup", LATCHED)
        self.robot.publish(String(data="<robot/>"))
        self.setup.publish(String(data=json.dumps(SETUP)))
        self.answers: list[JointState] = []
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def wait_for_reader(self) -> None:
        publishers = (self.clock, self.state, self.command, self.robot, self.setup)

        def matched():
            return all(publisher.get_subscription_count() for publisher in publishers)

        spin_until(matched, "the recorder's subscriptions", lambda: time.sleep(0.02))

    def publish(self, first: int, last: int, pause: float = 0.001) -> None:
        for k in range(first, last):
            ns = k * PERIOD
            self.clock.publish(Clock(clock=time_of(ns)))
            self.state.publish(serialized(joint_state(ns)))
            self.command.publish(serialized(joint_state(ns, frame="/arm/controller")))
            time.sleep(pause)
        for publisher in (self.clock, self.state, self.command):  # all are with the reader before anything ends it
            assert publisher.wait_for_all_acked(Duration(seconds=100))

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def source(ros_domain) -> Iterator[Source]:
    made = Source(ros_domain)
    yield made
    made.close()


@pytest.fixture
def record(tmp_path) -> Iterator[Callable[..., subprocess.Popen]]:
    started: list[subprocess.Popen] = []

    def start(*options: str, out: str = "bag", largest: int | None = None) -> subprocess.Popen:
        """largest: bytes that a file of it may have, in place of a disk that is full."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

        command = [sys.executable, "-m", "mbsim_ros", "record", "--namespace", "arm", "--out", out, *options]
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=None if largest is None else limit,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def written(bag: Path) -> int:
    """How many messages are in the file by now."""
    return sum(1 for _ in BagReader(bag).messages()) if bag.is_dir() and any(bag.glob("*.mcap")) else 0


def test_records_what_is_published_and_closes_at_sigint(source, record, tmp_path):
    process = record()
    source.wait_for_reader()
    source.publish(0, 500)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)  # impatience does no harm
    said, complaints = process.communicate()
    assert process.returncode == 0, complaints
    assert "/arm/joint_states 500" in said

    bag = BagReader(tmp_path / "bag")
    assert bag.complete
    for topic, frame in (("/arm/joint_states", ""), ("/arm/joint_commands", "/arm/controller")):
        found = [(m.time, m.data) for m in bag.messages([topic])]
        assert found == [(k * PERIOD, serialized(joint_state(k * PERIOD, frame=frame))) for k in range(500)]
    assert [m.time for m in bag.messages(["/clock"])] == [k * PERIOD for k in range(500)]
    assert [m.time for m in bag.messages(["/arm/robot_description"])] == [0], "latched: at the first simulated time"
    assert bag.metadata["/arm/simulation_setup"] == {"version": "0.0", "parameters": json.dumps({"dt": 0.001})}
    with AnyReader([tmp_path / "bag"]) as reader:
        texts = {
            c.topic: reader.deserialize(data, c.msgtype) for c, _, data in reader.messages() if "String" in c.msgtype
        }
    assert texts["/arm/robot_description"].data == "<robot/>"
    assert json.loads(texts["/arm/simulation_setup"].data) == SETUP


def test_after_a_kill_everything_but_the_last_second_is_there(source, record, tmp_path):
    process = record("--topics", "joint_states", "joint_commands", "clock", "robot_description", "simulation_setup")
    source.wait_for_reader()
    source.publish(0, 300)
    spin_until(lambda: written(tmp_path / "bag") >= 902, "300 states in the file", lambda: time.sleep(0.2))
    source.publish(300, 310)
    process.kill()
    process.wait()
    bag = BagReader(tmp_path / "bag")
    assert not bag.complete
    assert [m.time for m in bag.messages(["/arm/joint_states"])][:300] == [k * PERIOD for k in range(300)]
    assert recover(tmp_path / "bag") >= 902
    with AnyReader([tmp_path / "bag"]) as reader:
        assert reader.message_count >= 902


def test_lockstep_recorder_answers_every_state_and_ends_after_its_duration(source, record, tmp_path):
    source.node.create_subscription(JointState, "joint_commands", source.answers.append, 100)
    process = record("--lockstep", "--duration", "0.1")
    source.wait_for_reader()
    for k in range(52):
        source.state.publish(serialized(joint_state(k * PERIOD)))
        if k == 20:
            source.state.publish(serialized(joint_state(k * PERIOD)))  # again: answered again, but one state
            spin_until(lambda: len(source.answers) > 20, "the first of two", lambda: source.executor.spin_once(0.1))
            spin_until(lambda: len(source.answers) > 21, "the second", lambda: source.executor.spin_once(0.1))
            assert source.answers.pop().header == source.answers[-1].header
        if k <= 50:
            spin_until(lambda: len(source.answers) > k, f"answer {k}", lambda: source.executor.spin_once(0.1))  # noqa: B023
    assert process.wait(60) == 0
    for k, answer in enumerate(source.answers[:51]):
        assert (answer.header.stamp, answer.header.frame_id) == (time_of(k * PERIOD), "/arm/record")
        assert not answer.name
    times = [m.time for m in BagReader(tmp_path / "bag").messages(["/arm/joint_states"])]
    assert times == [k * PERIOD for k in range(51)]
    assert times[-1] == SECOND // 10


def test_a_full_disk_ends_the_recording_and_not_the_lockstep(source, record, tmp_path):
    """One sentence with the remedy, a bag with what came before, and answers to every state all the same."""
    source.node.create_subscription(JointState, "joint_commands", source.answers.append, 100)
    process = record("--lockstep", "--compression", "none", largest=300_000)
    source.wait_for_reader()
    for k in range(3000):
        if k == 300:
            spin_until(lambda: written(tmp_path / "bag") >= 300, "300 states in the file", lambda: time.sleep(0.1))
        source.state.publish(serialized(joint_state(k * PERIOD)))
        spin_until(lambda: len(source.answers) > k, f"answer {k}", lambda: source.executor.spin_once(0.1))  # noqa: B023
    process.send_signal(signal.SIGINT)
    complaints = process.communicate()[1]
    assert process.returncode == 1
    assert complaints.count("recording ended: [Errno 27] File too large") == 1, complaints
    assert f"mbsim record --recover {tmp_path / 'bag'}" in complaints and "Traceback" not in complaints
    times = [m.time for m in BagReader(tmp_path / "bag").messages(["/arm/joint_states"])]
    assert times == [k * PERIOD for k in range(len(times))]
    assert len(times) >= 300
    assert recover(tmp_path / "bag") >= len(times)


def test_sigterm_before_the_first_message_leaves_an_empty_bag(record, tmp_path):
    process = record()
    spin_until((tmp_path / "bag/metadata.yaml").exists, "the bag", lambda: time.sleep(0.05))
    time.sleep(0.3)
    process.terminate()
    assert process.wait(60) == 0
    assert BagReader(tmp_path / "bag").complete


def test_what_cannot_be_recorded_is_said(record, tmp_path):
    (tmp_path / "there").mkdir()
    process = record(out="there")
    assert "exists already" in process.communicate()[1]
    assert process.returncode == 2
    process = record("--topics", "temperature")
    assert "write temperature:package/msg/Type" in process.communicate()[1]
    assert process.returncode == 2
    process = record("--topics", "temperature:no_msgs/msg/Temperature")
    assert "'no_msgs/msg/Temperature' is not installed" in process.communicate()[1]
    assert process.returncode == 2
    assert os.listdir(tmp_path) == ["there"]


def test_what_comes_before_anything_tells_the_time_does_not_pile_up(tmp_path):
    rclpy.init(args=["--ros-args", "-p", f"out:={tmp_path}/bag"])
    node = Record()
    try:
        for _ in range(MOST_EARLY + 5):
            node._on_message("/wrench", lambda _: None, b"")
        assert node.lost == {"/wrench": 5}
    finally:
        node.close()
        node.destroy_node()
        rclpy.try_shutdown()
