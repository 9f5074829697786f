# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""All that a controller reads of one instant, in one message: the topic whole_state (JointState).

joint_states, odom, motor_states and contact_wrench/<link> say the same in the types that everybody knows. A controller
in lockstep that takes these waits for many deliveries, and each of them wakes its process once more; with this topic it
is one.

Names are those of the entries of q, as `base/x` … `base/qw` of a floating base, `elbow`, `neck/qx`, then `motor/<name>`
for every column of D but the base's, then `contact/<link>/x`, `y`, `z` for every link on which forces of contact may
act. Velocities and efforts stand where their joint's positions begin; a joint that has fewer of them than positions has
zeros in the rest. Of a contact the effort is the force on the link and the position is its centre, both in the world.
The frame_id is the coupling in force.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from mbsim_ros.control.controller import driven_joints
from mbsim_ros.control.robot_state import NOTHING, RobotState
from mbsim_ros.dynamics.arguments import all_finite
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.transport.patched_message import PatchedMessage
from mbsim_ros.nodes.transport.patched_topic import PatchedTopic
from mbsim_ros.nodes.transport.raw_reader import RawReader
from mbsim_ros.nodes.transport.topic_scope import TopicScope
from mbsim_ros.sim.names import as_slice

TOPIC = "whole_state"
MOTOR, CONTACT = "motor/", "contact/"  # before the names of entries that are not of q
BASE_RATES = 6
ROTATION = ("/qx", "/qy", "/qz", "/qw")
POSE = ("/x", "/y", "/z", *ROTATION)
ENTRIES = {1: ("",), 3: ("/x", "/y", "/angle"), 4: ROTATION, 7: POSE}  # of a joint with as many positions


def entry_names(model: Model) -> list[str]:
    """The names of all entries of q."""
    names = [f"base{entry}" for entry in POSE] if model.is_floating else []
    for joint in model.joints:
        if joint.iq >= 0:  # those of a mimic joint are its leader's
            names += [f"{joint.name}{entry}" for entry in ENTRIES[joint.nq]]
    return names


def rate_places(model: Model) -> slice | np.ndarray:
    """Where each of the velocities (nv,) stands in the message."""
    places = list(range(BASE_RATES)) if model.is_floating else []
    for joint in model.joints:
        if joint.iv >= 0:
            places += range(joint.iq, joint.iq + joint.nv)
    return as_slice(np.array(places, dtype=np.int64))


def effort_places(model: Model) -> slice | np.ndarray:
    """Where the efforts of the driven joints stand in the message."""
    return as_slice(np.array([joint.iq for joint in driven_joints(model)], dtype=np.int64))


class WholeStatePublisher:
    """Publishes whole_state."""

    def __init__(self, node: Node | TopicScope, model: Model, qos: QoSProfile, links: Sequence[str] = ()):
        """links: those on which forces of contact may act."""
        self._topic = PatchedTopic(node, JointState(), TOPIC, qos)
        self.read_model(model, links)

    def read_model(self, model: Model, links: Sequence[str] = ()) -> None:
        """From now on this is the robot, and these are its links that may touch something."""
        self._nq, self._names, self._rates = model.nq, entry_names(model), rate_places(model)
        self._driven = effort_places(model)
        self._contacts = [f"{CONTACT}{link}/{axis}" for link in links for axis in "xyz"]
        self.begin_coupling("", ())

    def begin_coupling(self, name: str, motors: Sequence[str]) -> None:
        """From now on this coupling is in force, and these are the columns of D but the base's."""
        names = [*self._names, *(f"{MOTOR}{motor}" for motor in motors), *self._contacts]
        zeros = [0.0] * len(names)
        message = JointState(name=names, position=zeros, velocity=zeros, effort=zeros)
        message.header.frame_id = name
        patched = self._topic.message = PatchedMessage(message)
        self._position, self._velocity = patched.numbers("position"), patched.numbers("velocity")
        self._effort = patched.numbers("effort")
        self._motors = slice(self._nq, self._nq + len(motors))

    def publish(self, stamp: int, state: RobotState, motor_effort: np.ndarray = NOTHING) -> None:
        """Publish a state at a time [ns]; motors are there where `begin_coupling` told of them."""
        motors = self._motors
        self._position[: self._nq], self._velocity[self._rates] = state.q, state.v
        self._effort[self._driven] = state.effort
        if motors.stop > motors.start:
            self._position[motors], self._velocity[motors] = state.motor_position, state.motor_velocity
            self._effort[motors] = motor_effort
        if state.contact_values is not None and self._contacts:
            self._effort[motors.stop :] = state.contact_values[:, :3].ravel()
            self._position[motors.stop :] = state.contact_values[:, 3:].ravel()
        self._topic.publish(stamp)

    def repeat(self, stamp: int) -> None:
        """Publish the last message once more."""
        self._topic.publish(stamp)


class WholeStateReader:
    """Reads whole_state of a robot."""

    def __init__(self, model: Model):
        self._model = model
        self._names, self._rates, self._driven = entry_names(model), rate_places(model), effort_places(model)
        self._links: tuple[str, ...] = ()
        self._first_contact = 0
        self._reader = RawReader(JointState)
        self._known: JointState | None = None  # the last layout that was checked

    def read(self, data: bytes) -> RobotState:
        """The state; ValueError if this is none of the robot."""
        reading, nq = self._reader.read(data), self._model.nq
        message = reading.message
        if message is not self._known:
            self._check(message)
            self._known = message
        position, velocity, effort = (reading.numbers(part) for part in ("position", "velocity", "effort"))
        if not (all_finite(position) and all_finite(velocity) and all_finite(effort)):
            raise ValueError("expected finite numbers, got a state with some that are not")
        q, v = position[:nq].copy(), velocity[self._rates].copy()  # the message itself is read-only
        motors, places = slice(nq, self._first_contact), slice(self._first_contact, None)
        forces, centres = effort[places].reshape(-1, 3), position[places].reshape(-1, 3)
        return RobotState(
            reading.stamp, q, v, position[motors], velocity[motors], message.header.frame_id,
            effort[self._driven].copy(), self._model.is_floating, self._links, np.hstack([forces, centres]),
        )  # fmt: skip

    def _check(self, message: JointState) -> None:
        names, wanted = list(message.name), self._names
        if names[: len(wanted)] != wanted:
            strange = next((name for name in wanted if name not in names), "another order")
            raise ValueError(f"{TOPIC}: expected the entries of q of '{self._model.name}', got none for {strange}")
        sizes = [len(part) for part in (message.position, message.velocity, message.effort)]
        if sizes != [len(names)] * 3:
            raise ValueError(
                f"{TOPIC}: expected {len(names)} positions, velocities and efforts, got {sizes[0]}, {sizes[1]} and "
                f"{sizes[2]}"
            )
        contacts = [name for name in names[len(wanted) :] if name.startswith(CONTACT)]
        self._links = tuple(name.removeprefix(CONTACT).removesuffix("/x") for name in contacts[::3])
        self._first_contact = len(names) - len(contacts)
        if contacts != [f"{CONTACT}{link}/{axis}" for link in self._links for axis in "xyz"]:
            raise ValueError(f"{TOPIC}: expected three entries for every contact, got {', '.join(contacts)}")
