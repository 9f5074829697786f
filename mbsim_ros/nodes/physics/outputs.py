# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the physics node publishes: the state at every control instant, and now and then what one looks at."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String, UInt64

import mbsim_ros
from mbsim_ros.bags.setup import computed_with
from mbsim_ros.nodes.frames import BaseFrames, base_frames
from mbsim_ros.nodes.physics.diagnostics import Diagnostics
from mbsim_ros.nodes.physics.entities.interfaces import EntityInterfaces
from mbsim_ros.nodes.physics.robot_source import LATCHED
from mbsim_ros.nodes.publishers.contact_publisher import ContactPublisher
from mbsim_ros.nodes.publishers.joint_wrench_publisher import PARAMETER as JOINT_WRENCHES, JointWrenchPublisher
from mbsim_ros.nodes.publishers.state_publisher import STATES, StatePublisher
from mbsim_ros.nodes.publishers.view_state import ViewStatePublisher
from mbsim_ros.nodes.stamps import SECOND
from mbsim_ros.nodes.transport.patched_message import PatchedMessage
from mbsim_ros.nodes.transport.patched_topic import PatchedTopic
from mbsim_ros.nodes.transport.whole_state import WholeStatePublisher
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.drives.drive_table import PARTS

LAST_WAIT = 1.0  # s of wall time for listeners to get the last states: one that was killed never does


class Outputs:
    """All publishers of the physics node."""

    def __init__(self, node: Node, intake: CommandInterface, values: Mapping[str, Any], description: str | None):
        """description: URDF text to publish; None where it came from the topic."""
        self._node, self._intake, self._sim, self._values = node, intake, intake.sim, values
        self.entities: EntityInterfaces | None = None  # of a scene
        prefix, frames = values["frame_prefix"], self._frames()
        self._state = StatePublisher(
            node, self._sim.model, frames=frames, frame_prefix=prefix, publish_tf=values["publish_tf"],
            publish_clock=values["clock"] == "publish",
        )  # fmt: skip
        self._view = ViewStatePublisher(node, self._sim.model)
        self.contacts = ContactPublisher(node, self._sim.model, frame=frames.at_rest, frame_prefix=prefix)
        self._joint_wrenches = JointWrenchPublisher(node, self._sim, values[JOINT_WRENCHES], prefix)
        self.contact_rate = values["contact_rate"]
        self._next_contacts, self._last_contacts = 0, -1
        self._whole = WholeStatePublisher(node, self._sim.model, LATCHED, self._sim.link_forces.links)
        self._motor_states = PatchedTopic(node, JointState(), "motor_states", STATES)
        self._coupling_state = node.create_publisher(String, "coupling_state", LATCHED)
        self._epoch = node.create_publisher(UInt64, "reset_epoch", LATCHED)
        self._setup = node.create_publisher(String, "simulation_setup", LATCHED)
        self.diagnostics = Diagnostics(node, self._sim)
        self._coupling = ""
        self._has_couplings = bool(self._sim.couplings or self._sim.coupling.motors)
        self._motor_parts: tuple[np.ndarray, ...] = ()
        self._description: Publisher | None = None
        if description is not None:
            self._description = node.create_publisher(String, "robot_description", LATCHED)
            self._description.publish(String(data=description))

    def read_model(self, description: str) -> None:
        """The entities of the scene are others: so are the names of all that is published of it, on the same topics."""
        sim = self._sim
        self._state.read_model(sim.model, self._frames())
        self._view.read_model(sim.model)
        self.contacts.read_model(sim.model)
        self._joint_wrenches.read_model(sim.model)
        self._whole.read_model(sim.model, sim.link_forces.links)
        self._has_couplings = bool(sim.couplings or sim.coupling.motors)
        self._begin_coupling()
        if self._description is not None:
            self._description.publish(String(data=description))
        if self.entities is not None:
            self.entities.read_scene()

    def _frames(self) -> BaseFrames:
        values = self._values
        return base_frames(self._sim.model, values["world_frame"], values["odom_frame"], values["frame_prefix"])

    def publish_setup(self, setup: dict[str, object]) -> None:
        """Say, latched, all that it takes to run this simulation again, and on what it ran."""
        whole = {**setup, "version": mbsim_ros.__version__, **computed_with()}
        self._setup.publish(String(data=json.dumps(whole, sort_keys=True)))

    def publish_epoch(self, epoch: int) -> None:
        """Say how often the simulation has been reset."""
        self._epoch.publish(UInt64(data=epoch))

    def publish_state(self, stamp: int) -> None:
        """The state of this instant [ns]; whole_state first, joint_states after all that one may read with it."""
        self._publish_state(stamp, None)

    def publish_change(self, stamp: int, added: str) -> None:
        """The state of this instant once more, with other entities; of entities only that which has come, or "".

        Nothing has moved: whoever drives another entity, and has answered, is not asked again.
        """
        self._publish_state(stamp, added)

    def _publish_state(self, stamp: int, only: str | None) -> None:
        """only: of which entity the state is published beside that of the scene; None for all of them."""
        sim = self._sim
        if sim.coupling.name != self._coupling:
            self._begin_coupling()
        state = sim.state()
        efforts = sim.motor_efforts_at(state.motor_velocity) if self._has_couplings else None
        if self.entities is not None and only is None:
            self.entities.publish(stamp, state, efforts)
        elif self.entities is not None and only:
            self.entities.publish_one(only, stamp, state, efforts)
        if efforts is None:
            self._whole.publish(stamp, state)
        else:
            self._whole.publish(stamp, state, efforts)
            position, velocity, effort = self._motor_parts
            position[:], velocity[:], effort[:] = state.motor_position, state.motor_velocity, efforts
            self._motor_states.publish(stamp)
        if self.contact_rate > 0.0 and (stamp >= self._next_contacts or stamp == self._last_contacts):
            self._last_contacts = stamp  # a state that is published again comes with its contacts
            self._next_contacts = stamp + round(SECOND / self.contact_rate)
            self.contacts.publish(stamp, sim)
        self._joint_wrenches.publish(stamp, sim)
        self._state.publish(stamp, state.q, state.v, state.effort)
        self._view.has_news = True

    def repeat_state(self, stamp: int) -> None:
        """The state that was published last once more, bit for bit, whatever has begun to act since."""
        if self.entities is not None:
            self.entities.repeat(stamp)
        self._whole.repeat(stamp)
        if self._has_couplings:
            self._motor_states.publish(stamp)
        if stamp == self._last_contacts:
            self.contacts.publish(stamp, self._sim)
        self._joint_wrenches.repeat(stamp)
        self._state.repeat(stamp)

    def wait_until_received(self, *more: Publisher) -> None:
        """Wait a while until whoever listens has the last states."""
        end = time.monotonic() + LAST_WAIT
        of_entities = () if self.entities is None else self.entities.publishers
        for publisher in (*self._state.publishers, self._motor_states.publisher, *of_entities, *more):
            left = max(0.0, end - time.monotonic())
            publisher.wait_for_all_acked(Duration(seconds=left))

    def publish_view(self, stamp: int) -> None:
        """The state for those who look, if it is new and time for it."""
        self._view.publish(stamp, self._sim.q)

    def _begin_coupling(self) -> None:
        coupling = self._sim.coupling
        self._coupling = coupling.name
        # one that came as text may be the first that this robot has
        self._has_couplings |= bool(coupling.motors or coupling.locked)
        names = list(self._sim.motor_names)
        zeros = [0.0] * len(names)
        message = JointState(name=names, position=zeros, velocity=zeros, effort=zeros)
        message.header.frame_id = self._coupling
        patched = self._motor_states.message = PatchedMessage(message)
        self._motor_parts = tuple(patched.numbers(part) for part in PARTS)
        self._whole.begin_coupling(self._coupling, names if self._has_couplings else ())
        self._coupling_state.publish(String(data=self._coupling))
