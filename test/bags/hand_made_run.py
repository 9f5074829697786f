# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A run in lockstep, made by hand: the rule of the physics node written down a second time, recorded into a bag."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from message_samples import joint_state, odometry, serialized
from std_msgs.msg import String

from mbsim_ros import Simulation, __version__
from mbsim_ros.bags.bag_writer import BagWriter
from mbsim_ros.bags.setup import computed_with
from mbsim_ros.bags.topics import STANDARD
from mbsim_ros.fuzz.bags import PARAMETERS
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.drives.drive_table import Refusal

PERIOD = 2_000_000  # ns
STEPS = 2
ROOT = Path(__file__).resolve().parents[2]
PENDULUM = (ROOT / "urdf/double_pendulum.urdf").read_text()
SIDECAR = "couplings: {both: {motors: {winch: {shoulder: 1, elbow: -1}}}}\ninitial_states: {home: {joints: {shoulder: 0.4}}}\n"
HOPPER = """<robot name="hopper">
  <link name="body"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/>
    </inertial><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <joint name="tail" type="revolute"><parent link="body"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="5" velocity="10"/></joint>
  <link name="rod"><inertial><origin xyz="0.1 0 0"/><mass value="0.3"/>
    <inertia ixx="0.001" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""

Command = Mapping[str, float] | None


@dataclass
class HandMadeRun:
    """A simulation that is stepped by hand and writes down what a physics node and its recorder would."""

    writer: BagWriter
    sim: Simulation
    intake: CommandInterface
    stamp: int = 0
    states: list[tuple[int, np.ndarray]] = field(default_factory=list)

    def publish(self, topic: str, message: Any, time: int | None = None) -> None:
        self.writer.write(f"/arm/{topic}", self.stamp if time is None else time, serialized(message))

    def publish_state(self, again: bool = False) -> None:
        """again: of the same state, which a recorder keeps once; motor_states are kept as they come."""
        q, v = self.sim.q, self.sim.v
        self.publish("motor_states", joint_state(self.stamp, self.sim.motor_names, position=self.sim.motor_position))
        if again:
            return
        joints = [self.sim.model.joint(name) for name in self.sim.tau_names]
        position, velocity = q[[joint.iq for joint in joints]], v[[joint.iv for joint in joints]]
        effort = self.sim.efforts
        message = joint_state(self.stamp, self.sim.tau_names, position=position, velocity=velocity, effort=effort)
        if self.sim.model.is_floating:
            base = odometry(self.stamp)
            _set(base.pose.pose.position, q[:3])
            _set(base.pose.pose.orientation, q[3:7])
            _set(base.twist.twist.linear, v[:3])
            _set(base.twist.twist.angular, v[3:6])
            self.publish("odom", base)
        self.publish("joint_states", message)
        self.states.append((self.stamp, position))

    def answer(self, command: Command, sender: str = "/arm/controller", topic: str = "joint_commands") -> None:
        """Publish a command for the present state, and act on it."""
        names = tuple(command or ())
        efforts = [float(value) for value in (command or {}).values()]
        self.publish(topic, joint_state(self.stamp, names, sender, effort=efforts))
        board = self.intake.motors if topic == "motor_commands" else self.intake.joints
        read = board.read(names, [], [], efforts)
        assert not isinstance(read, Refusal), read
        read.apply()

    def advance(self) -> None:
        self.sim.advance(STEPS)
        self.stamp += PERIOD
        self.publish_state()

    def run(self, periods: int, controller: Callable[[Simulation], Command]) -> None:
        for _ in range(periods):
            self.answer(controller(self.sim))
            self.advance()

    def reset(self) -> None:
        self.sim.reset("home")
        self.stamp += 1_000_000_000
        self.intake.hold()
        self.publish_state()


def begin(
    folder: Path,
    robot: str = PENDULUM,
    sidecar: str = SIDECAR,
    *,
    machine: Any = None,
    more: Any = None,
    **changes: Any,
) -> HandMadeRun:
    """A new run in the namespace /arm, its first state published. more: of the setup."""
    from mbsim_ros.bags.setup import SimulationSetup

    parameters = {**PARAMETERS, **changes}
    words = {
        "robot_description": robot, "sidecar": sidecar, "parameters": parameters, "version": __version__,
        **(computed_with() if machine is None else machine), **(more or {}),
    }  # fmt: skip
    sim = SimulationSetup.from_json(json.dumps(words)).simulation()
    run = HandMadeRun(BagWriter(folder), sim, CommandInterface(sim))
    for topic in STANDARD:
        run.writer.add_topic("/arm/" + topic.name.strip("/"), topic.type, topic.quality)
    run.publish("simulation_setup", String(data=json.dumps(words)))
    run.intake.hold()
    run.publish_state()
    return run


def wavy(sim: Simulation) -> Command:
    """Efforts that make everything move."""
    return {name: float(np.sin(3.0 * sim.seconds + k) - 0.3 * sim.v[-1]) for k, name in enumerate(sim.tau_names)}


def _set(vector: Any, values: np.ndarray) -> None:
    for name, value in zip("xyzw", values, strict=False):
        setattr(vector, name, float(value))
