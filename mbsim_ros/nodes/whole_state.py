# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""All that a controller reads of one instant, in one message: the topic whole_state (JointState).

joint_states, odom and motor_states say the same in the types that everybody knows. A controller in lockstep that takes
these waits for three deliveries, and each of them wakes its process once more; with this topic it is one.

Names are those of the entries of q, as `base/x` … `base/qw` of a floating base, `elbow`, `neck/qx`, then `motor/<name>`
for every column of D but the base's. Velocities stand where their joint's positions begin; a joint that has fewer of
them than positions has zeros in the rest. The frame_id is the coupling in force.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from mbsim_ros.dynamics.arguments import all_finite
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.patched_message import PatchedMessage
from mbsim_ros.nodes.patched_topic import PatchedTopic
from mbsim_ros.nodes.raw_reader import RawReader
from mbsim_ros.sim.names import as_slice

TOPIC = "whole_state"
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


class WholeStatePublisher:
    """Publishes whole_state."""

    def __init__(self, node: Node, model: Model, qos: QoSProfile):
        self._topic = PatchedTopic(node, JointState(), TOPIC, qos)
        self._nq, self._names, self._rates = model.nq, entry_names(model), rate_places(model)
        self.begin_coupling("", ())

    def begin_coupling(self, name: str, motors: Sequence[str]) -> None:
        """From now on this coupling is in force, and these are the columns of D but the base's."""
        names = [*self._names, *(f"motor/{motor}" for motor in motors)]
        message = JointState(name=names, position=[0.0] * len(names), velocity=[0.0] * len(names))
        message.header.frame_id = name
        patched = self._topic.message = PatchedMessage(message)
        self._position, self._velocity = patched.numbers("position"), patched.numbers("velocity")

    def publish(self, stamp: int, q: np.ndarray, v: np.ndarray, motors: np.ndarray, rates: np.ndarray) -> None:
        """Publish q (nq,), v (nv,), and positions and rates of the motors, at a time [ns]."""
        nq = self._nq
        self._position[:nq], self._position[nq:] = q, motors
        self._velocity[self._rates], self._velocity[nq:] = v, rates
        self._topic.publish(stamp)

    def repeat(self, stamp: int) -> None:
        """Publish the last message once more."""
        self._topic.publish(stamp)


class WholeState(NamedTuple):
    """One message: its time [ns], q (nq,), v (nv,), positions and rates of the motors, the coupling in force."""

    time: int
    q: np.ndarray
    v: np.ndarray
    motor_position: np.ndarray
    motor_velocity: np.ndarray
    coupling: str


class WholeStateReader:
    """Reads whole_state of a robot."""

    def __init__(self, model: Model):
        self._model = model
        self._names, self._rates = entry_names(model), rate_places(model)
        self._reader = RawReader(JointState)
        self._known: JointState | None = None  # the last layout that was checked

    def read(self, data: bytes) -> WholeState:
        """The state; ValueError if this is none of the robot."""
        reading, nq = self._reader.read(data), self._model.nq
        message = reading.message
        if message is not self._known:
            self._check(message)
            self._known = message
        position, velocity = reading.numbers("position"), reading.numbers("velocity")
        if not (all_finite(position) and all_finite(velocity)):
            raise ValueError("expected finite numbers, got a state with some that are not")
        q, v = position[:nq].copy(), velocity[self._rates].copy()  # the message itself is read-only
        return WholeState(reading.stamp, q, v, position[nq:], velocity[nq:], message.header.frame_id)

    def _check(self, message: JointState) -> None:
        names, wanted = list(message.name), self._names
        if names[: len(wanted)] != wanted:
            strange = next((name for name in wanted if name not in names), "another order")
            raise ValueError(f"{TOPIC}: expected the entries of q of '{self._model.name}', got none for {strange}")
        if not len(names) == len(message.position) == len(message.velocity):
            raise ValueError(
                f"{TOPIC}: expected {len(names)} positions and velocities, got {len(message.position)} and "
                f"{len(message.velocity)}"
            )
