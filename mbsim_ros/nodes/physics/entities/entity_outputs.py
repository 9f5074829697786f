# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What an entity of a scene publishes in its namespace: its state under its own names, as if it were alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.dynamics.robot_state import NOTHING, RobotState
from mbsim_ros.model.sidecar.settings import upright
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.nodes.frames import BaseFrames, frame_name
from mbsim_ros.nodes.physics.robot_source import LATCHED
from mbsim_ros.nodes.publishers.state_publisher import STATES, StatePublisher
from mbsim_ros.nodes.transport.patched_message import PatchedMessage
from mbsim_ros.nodes.transport.patched_topic import PatchedTopic
from mbsim_ros.nodes.transport.topic_scope import TopicScope
from mbsim_ros.nodes.transport.whole_state import WholeStatePublisher
from mbsim_ros.sim.drives.drive_table import PARTS
from mbsim_ros.sim.entities import Entity
from mbsim_ros.sim.scenes.entity_view import EntityView
from mbsim_ros.sim.simulation import Simulation


class EntityOutputs:
    """joint_states, odom, whole_state, motor_states, coupling_state and robot_description of one entity.

    A body without joints has odom and robot_description, one that is fixed as well robot_description alone.
    """

    def __init__(self, scope: TopicScope, sim: Simulation, entity: Entity, world: str, frame_prefix: str):
        """world: the frame that the scene's links hang on."""
        model, sidecar = entity.model, entity.model.sidecar
        self.name, self._view = entity.name, EntityView(sim, entity.name)
        self._is_robot = bool(model.joints)
        self._has_couplings = sidecar is not None and bool(sidecar.couplings)
        root = frame_name(f"{self._view.prefix}{model.description.root.name}", frame_prefix)
        self._state = StatePublisher(
            scope, model, frames=BaseFrames(world, world, root), frame_prefix=f"{frame_prefix}{self._view.prefix}",
            publish_tf="none", publish_clock=False, publish_joints=self._is_robot,
        )  # fmt: skip
        self._whole: WholeStatePublisher | None = None
        self._motor_states: PatchedTopic | None = None
        if self._is_robot:
            self._whole = WholeStatePublisher(scope, model, LATCHED)
            self._coupling_state = scope.create_publisher(String, "coupling_state", LATCHED)
        if self._has_couplings:
            self._motor_states = PatchedTopic(scope, JointState(), "motor_states", STATES)
        self._description = scope.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=to_urdf(upright(model.description, sidecar), for_ros=True)))
        self._own_coupling: str | None = None
        self.read_scene()

    def read_scene(self) -> None:
        """Find out where the entity's numbers are: at the start, and when entities came or went."""
        self._view.read_scene()
        if self._whole is not None:
            self._whole.read_model(self._view.model, self._view.links)

    def publish(self, stamp: int, state: RobotState, motor_efforts: np.ndarray | None) -> None:
        """Its part of the state of the scene at a time [ns]; efforts of all columns of D where there are couplings."""
        view = self._view
        is_other = view.read_coupling(state.coupling)
        own = view.of(state)
        if self._whole is not None:
            if is_other:
                self._begin_coupling(self._whole)
            if not self._has_couplings:  # then nobody is told of columns
                own = replace(own, motor_position=NOTHING, motor_velocity=NOTHING)
            if self._motor_states is not None and motor_efforts is not None:
                efforts = motor_efforts[view.columns]
                self._whole.publish(stamp, own, efforts)
                position, velocity, last = self._motor_parts
                position[:], velocity[:], last[:] = own.motor_position, own.motor_velocity, efforts
                self._motor_states.publish(stamp)
            else:
                self._whole.publish(stamp, own)
        self._state.publish(stamp, own.q, own.v, own.effort)

    def repeat(self, stamp: int) -> None:
        """The last state once more."""
        if self._whole is not None:
            self._whole.repeat(stamp)
        if self._motor_states is not None:
            self._motor_states.publish(stamp)
        self._state.repeat(stamp)

    @property
    def publishers(self) -> list[Publisher]:
        """Of its state."""
        return self._state.publishers

    def _begin_coupling(self, whole: WholeStatePublisher) -> None:
        """Another coupling of the scene is in force: the columns are others, also where its own coupling stays."""
        names, own = list(self._view.motor_names), self._view.coupling
        if self._motor_states is not None:
            zeros = [0.0] * len(names)
            message = JointState(name=names, position=zeros, velocity=zeros, effort=zeros)
            message.header.frame_id = own
            patched = self._motor_states.message = PatchedMessage(message)
            self._motor_parts = tuple(patched.numbers(part) for part in PARTS)
        whole.begin_coupling(own, names if self._has_couplings else ())
        if own != self._own_coupling:
            self._own_coupling = own
            self._coupling_state.publish(String(data=own))
