# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""walker.launch.xml in processes of its own, its bags, and the same walk without ROS to compare with."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from physics_process import PATIENCE, ns
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message

from mbsim_ros import Simulation
from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats.cdr import joint_message, odometry_message
from mbsim_ros.control.walker.gait import WalkerGait, WalkerGaitParameters

sys.path.append(str(Path(__file__).parents[1] / "control"))
from walker_runs import roll_pitch_yaw, swing_clearance, walker

SECOND = 1_000_000_000
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class Launched:
    """A launched walker: `wait` for its end, or `end` it; both return what its nodes wrote."""

    def __init__(self, *arguments: str):
        given = [f"lockstep_timeout:={PATIENCE}", "real_time_factor:=0.0", *arguments]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mbsim_ros", "launch", "walker", *given],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> str:
        written = self._process.communicate(timeout=2.5 * PATIENCE)[0]
        assert self._process.returncode == 0, written
        return written

    def end(self) -> str:
        if self.runs:
            self._process.send_signal(signal.SIGINT)
        return self.wait()

    def kill(self) -> None:
        if self.runs:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.communicate(timeout=20.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.communicate()


@contextlib.contextmanager
def launched(*arguments: str) -> Iterator[Launched]:
    """`mbsim launch walker` with these arguments, as fast as it can; nothing of it is left afterwards."""
    walker = Launched(*arguments)
    try:
        yield walker
    finally:
        walker.kill()


class Driver(Node):
    """Sends velocities to the walker, and looks at its odometry and at what it took."""

    def __init__(self, name: str = "driver") -> None:
        self._own_context = Context()
        rclpy.init(context=self._own_context)
        super().__init__(name, namespace="walker", context=self._own_context)
        self._executor = SingleThreadedExecutor(context=self._own_context)
        self._executor.add_node(self)
        self.time = -1.0  # s, of the newest odometry
        self._velocities: Any = None
        self.taken: list[float] = []  # s, of the state at which each velocity acted
        self.speeds: list[float] = []  # m/s, of these
        self.create_subscription(Odometry, "odom", self._on_odometry, NEWEST)
        self.create_subscription(TwistStamped, "velocity_taken", self._on_taken, 100)

    def _on_odometry(self, message: Odometry) -> None:
        self.time = ns(message.header.stamp) / SECOND

    def _on_taken(self, message: TwistStamped) -> None:
        self.taken.append(ns(message.header.stamp) / SECOND)
        self.speeds.append(message.twist.linear.x)

    @property
    def velocities(self) -> Any:
        """The publisher of cmd_vel, once there is to be one: a process has one type for each topic."""
        if self._velocities is None:
            self._velocities = self.create_publisher(TwistStamped, "cmd_vel", 100)
        return self._velocities

    def is_heard(self) -> bool:
        """Whether controller and recorder listen, and this node to the controller."""
        return self.velocities.get_subscription_count() >= 2 and self.count_publishers("velocity_taken") >= 1

    def drive(self, forward: float, turn: float = 0.0, rise: float = 0.0) -> None:
        """Ask for a velocity; its stamp is zero: it acts when it comes."""
        message = TwistStamped()
        message.twist.linear.x, message.twist.angular.z, message.twist.linear.z = forward, turn, rise
        self.velocities.publish(message)

    def drive_for(self, duration: float, forward: float, turn: float = 0.0) -> None:
        """Ask for a velocity again and again, until the walker took it, however late, and kept it this long [s]."""
        known = len(self.taken)

        def has_kept_it() -> bool:
            self.drive(forward, turn)
            return len(self.taken) > known and self.time >= self.taken[-1] + duration

        self.wait_until(has_kept_it, f"{duration} s of a velocity", between=0.02)

    def wait_until(self, condition: Any, what: str, between: float = 0.01) -> None:
        """Serve callbacks now and then, sparing the processor, until the condition holds."""
        end = time.monotonic() + 2.0 * PATIENCE
        while not condition():
            assert time.monotonic() < end, f"waited {2.0 * PATIENCE:g} s for {what}, it is {self.time:g} s"
            for _ in range(20):  # one callback each
                self._executor.spin_once(timeout_sec=0.0)
            time.sleep(between)

    def close(self) -> None:
        self._executor.shutdown()
        self.destroy_node()
        rclpy.shutdown(context=self._own_context)


@dataclass
class RecordedWalk:
    """What a bag says: stamps (n,) [ns], q (n, 24), v (n, 23), and velocities (time [s], forward, turn, rise)."""

    stamps: np.ndarray
    q: np.ndarray
    v: np.ndarray
    asked: list[tuple[float, float, float, float]]


def recorded(bag: Path) -> RecordedWalk:
    """The walk in a bag."""
    reader = BagReader(bag)
    joints = [joint_message(m.data) for m in reader.messages(["/walker/joint_states"])]
    bases = {b.stamp: b for b in (odometry_message(m.data) for m in reader.messages(["/walker/odom"]))}
    joints = [j for j in joints if j.stamp in bases]  # of the last instant one of the two may have got lost
    asked = []
    for message in reader.messages(["/walker/velocity_taken"]):
        taken = deserialize_message(message.data, TwistStamped)
        at = ns(taken.header.stamp) / SECOND
        asked.append((at, taken.twist.linear.x, taken.twist.angular.z, taken.twist.linear.z))
    return RecordedWalk(
        np.array([j.stamp for j in joints]),
        np.array([np.concatenate([bases[j.stamp].pose, j.position]) for j in joints]),
        np.array([np.concatenate([bases[j.stamp].twist, j.velocity]) for j in joints]),
        asked,
    )


@dataclass
class PlainWalk:
    """The same walk by Simulation and WalkerGait alone, at every control instant: t (n,), q (n, 24), v (n, 23)."""

    gait: WalkerGait
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    clearance: list[float]  # [m] of the lowest swinging foot during its stroke

    @property
    def angles(self) -> np.ndarray:
        """Roll, pitch and yaw (n, 3)."""
        return np.unwrap(np.array([roll_pitch_yaw(q) for q in self.q]), axis=0)

    def row(self, time: float) -> int:
        """Of the control instant at or after a time [s]."""
        return int(np.searchsorted(self.t, time - 1e-9))


def walk_without_ros(found: RecordedWalk) -> PlainWalk:
    """Walk with the recorded velocities, without ROS."""
    period = int(found.stamps[1] - found.stamps[0])
    sim = Simulation(walker(), coupling="normal")
    gait, asked = WalkerGait(walker(), WalkerGaitParameters(lift_compensation=1.0)), list(found.asked)  # as launched
    t, q, v, clearance = [], [], [], []

    def controller(sim):
        while asked and sim.seconds >= asked[0][0] - 1e-9:
            gait.ask(*asked.pop(0)[1:])
        state = sim.state()
        t.append(sim.seconds)
        q.append(state.q)
        v.append(state.v)
        command = gait.update(sim.seconds, state)
        clearance.extend(swing_clearance(sim, gait))
        return command

    sim.run((found.stamps[-1] + period) / 1e9, controller, control_period=period / 1e9)
    return PlainWalk(gait, np.array(t), np.array(q), np.array(v), clearance)


def first_difference(found: RecordedWalk, walked: PlainWalk) -> str:
    """Where a recorded walk is not this one, bit for bit; "" if it is."""
    rows = found.stamps // (found.stamps[1] - found.stamps[0])
    differs = (found.q != walked.q[rows]).any(axis=1) | (found.v != walked.v[rows]).any(axis=1)
    if not differs.any():
        return ""
    k = int(differs.argmax())
    apart = [np.abs(a[k] - b[rows[k]]).max() for a, b in ((found.q, walked.q), (found.v, walked.v))]
    return f"at {found.stamps[k]} ns positions are {apart[0]:.3g} and velocities {apart[1]:.3g} apart"
