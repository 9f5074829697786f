# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Publishes a robot's state: /clock, TF, odom and joint_states, all stamped with the same simulated time."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from numpy.typing import ArrayLike
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from mbsim_ros.bags.topics import STATES_DEPTH
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.lie import quaternion
from mbsim_ros.model.model import IQ, IV, Model
from mbsim_ros.nodes.frames import BaseFrames, base_frames, frame_name
from mbsim_ros.nodes.transport.patched_message import PatchedMessage
from mbsim_ros.nodes.transport.patched_topic import PatchedTopic
from mbsim_ros.nodes.transport.topic_scope import TopicScope
from mbsim_ros.sim.clock import SECOND
from mbsim_ros.sim.joint_transforms import joint_transforms, joint_transforms_into
from mbsim_ros.sim.names import as_slice

try:
    from tf2_msgs.msg import TFMessage
except ModuleNotFoundError:  # ROS 2 from the Python package index lacks it; ./mbsim builds it
    TFMessage = None

TF_CHOICES = ("all", "base", "none")
END_OF_TIME = 2**31 * SECOND  # what a stamp holds
# Of each of six numbers of pose and twist [m², rad², and per s²]: they are exact, but filters cannot divide by zero.
VARIANCE = 1e-9

# Latched, for who comes late, and so many that a reader may be slow for a while and still get every state.
STATES = QoSProfile(
    depth=STATES_DEPTH, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
STREAM = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
TF_STREAM = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)  # as tf2's broadcaster


class StatePublisher:
    """Publishes joint_states and odom (relative names, latched), /tf, /tf_static and /clock.

    frames: what the links hang on. A floating base moves in odom, on /tf, and odom is at the origin of the world for
        good, on /tf_static; so is a fixed base, unless its root link already has the name of the world frame.
    frame_prefix: put before the name of every link, as robot_state_publisher does.
    publish_tf: "all" joints, "base" where a robot_state_publisher does the joints, or "none".
    publish_clock: whether this robot owns /clock.
    publish_joints: False for a body that has none and whose joint_states nobody waits for.

    joint_states has every joint of one dof, mimic joints included; joints of several dofs are in TF alone. odom is
    published for floating bases only: base pose in odom, twist in the base's own axes.
    """

    def __init__(
        self, node: Node | TopicScope, model: Model, *, frames: BaseFrames | None = None, frame_prefix: str = "",
        publish_tf: str = "all", publish_clock: bool = True, publish_joints: bool = True,
    ):  # fmt: skip
        if publish_tf not in TF_CHOICES:
            raise ValueError(f"publish_tf: expected one of {', '.join(TF_CHOICES)}, got {publish_tf!r}")
        self._node, self._prefix = node, frame_prefix
        self._last_stamp, self._has_stamp = 0, False
        self._clock = PatchedTopic(node, Clock(), "/clock", STREAM) if publish_clock else None
        if TFMessage is None and publish_tf != "none":
            publish_tf = "none"
            node.get_logger().warning("tf2_msgs is not installed: no transforms are published")
        self._publish_tf, self._publish_joints = publish_tf, publish_joints
        self._tf: PatchedTopic | None = None
        self._static: Publisher | None = None
        self._odometry: PatchedTopic | None = None
        self._joint_states: PatchedTopic | None = None
        self.read_model(model, base_frames(model, "world", "odom", frame_prefix) if frames is None else frames)

    def read_model(self, model: Model, frames: BaseFrames) -> None:
        """From now on this is the robot, with its joints and frames, on the same topics; what never moves is told."""
        self._model, self._frames = model, frames
        self._make_transforms()
        self._make_odometry()
        if self._publish_joints:
            self._make_joint_states()

    def publish(self, stamp_ns: int, q: ArrayLike, v: ArrayLike, effort: ArrayLike) -> None:
        """Publish the state q (nq,), v (nv,) at a time [ns].

        Controllers answer to joint_states, so what they read with it goes out before, and TF after it: it is computed
        while they work.

        effort: of the joints that `Simulation.tau_names` lists; a mimic joint has 0, its leader bears the load.
        A stamp may come again (a robot on hold): then everything is published again except TF, where a stamp is
        unique. It may not be earlier than the last: time never goes back.
        """
        if not self._last_stamp <= stamp_ns < END_OF_TIME:
            raise ValueError(f"stamp_ns: expected {self._last_stamp} … {END_OF_TIME - 1}, got {stamp_ns}")
        q = check.vector("q", q, self._model.nq)
        v = check.vector("v", v, self._model.nv)
        effort = check.vector("effort", effort, self._n_driven if self._publish_joints else 0)
        q_tree = self._model.tree_q(q)
        if self._clock is not None:
            self._clock.publish(stamp_ns)
        if self._odometry is not None:
            self._pose[:] = q[:7]
            self._twist[:] = v[:6]
            self._odometry.publish(stamp_ns)
        if self._joint_states is not None:
            self._position[:] = q_tree[self._places_q]
            self._velocity[:] = self._model.tree_v(v)[self._places_v]
            self._effort[self._driven] = effort
            self._joint_states.publish(stamp_ns)
        if self._tf is not None and self._has_moving and (stamp_ns > self._last_stamp or not self._has_stamp):
            joint_transforms_into(*self._transforms, q_tree, self._tf_starts, self._tf.message.words)
            self._tf.publish(stamp_ns)
        self._last_stamp, self._has_stamp = stamp_ns, True

    def repeat(self, stamp_ns: int) -> None:
        """Publish the last state once more, with its stamp; not TF, where a stamp is unique."""
        for topic in (self._clock, self._odometry, self._joint_states):
            if topic is not None:
                topic.publish(stamp_ns)

    @property
    def publishers(self) -> list[Publisher]:
        """Of the state's topics."""
        topics = (self._clock, self._odometry, self._joint_states, self._tf)
        return [topic.publisher for topic in topics if topic is not None]

    def _make_transforms(self) -> None:
        model, description, publish_tf = self._model, self._model.description, self._publish_tf
        joints = model.joints if publish_tf == "all" else ()
        with_base = model.is_floating and publish_tf != "none"
        self._transforms = joint_transforms(model, joints, with_base)
        moving = [_transform(self._frames.odom, self._frames.root)] if with_base else []
        moving += [self._joint_transform(joint.name) for joint in joints]
        self._has_moving = bool(moving)  # a scene may lose all that moves, and get something again
        if moving:
            self._tf = self._topic(self._tf, TFMessage(transforms=moving), "/tf", TF_STREAM)
            self._tf_starts = self._tf.message.places("transforms").reshape(-1, 7)[:, 0].copy()
        still = [_transform(*pair) for pair in self._frames.still] if publish_tf != "none" else []
        if publish_tf == "all":
            for joint in description.joints:
                if joint.type == "fixed":
                    still.append(_placed(self._joint_transform(joint.name), joint.origin.matrix()))
        if still and self._static is None:
            self._static = self._node.create_publisher(TFMessage, "/tf_static", LATCHED)
        if self._static is not None:
            self._static.publish(TFMessage(transforms=still))

    def _topic(self, made: PatchedTopic | None, message: object, name: str, qos: QoSProfile) -> PatchedTopic:
        """A topic with this message: a new one, or that which was made already."""
        if made is None:
            return PatchedTopic(self._node, message, name, qos)
        made.message = PatchedMessage(message)
        return made

    def _joint_transform(self, joint: str) -> TransformStamped:
        given = self._model.description.joint(joint)
        return _transform(frame_name(given.parent, self._prefix), frame_name(given.child, self._prefix))

    def _make_odometry(self) -> None:
        if self._model.is_floating:
            message = Odometry(child_frame_id=self._frames.root)
            message.header.frame_id = self._frames.odom
            message.pose.covariance[::7] = message.twist.covariance[::7] = np.full(6, VARIANCE)  # the diagonals
            self._odometry = self._topic(self._odometry, message, "odom", STATES)
            self._pose = self._odometry.message.numbers("pose.pose")
            self._twist = self._odometry.message.numbers("twist.twist")

    def _make_joint_states(self) -> None:
        joints = [joint for joint in self._model.joints if joint.nv == 1]
        rows = self._model.topology[[joint.body for joint in joints]]
        self._places_q, self._places_v = as_slice(rows[:, IQ]), as_slice(rows[:, IV])
        driven = np.array([place for place, joint in enumerate(joints) if joint.iv >= 0], dtype=np.int64)
        self._n_driven = len(driven)
        self._driven = as_slice(driven)
        zeros = [0.0] * len(joints)
        names = [joint.name for joint in joints]
        message = JointState(name=names, position=zeros, velocity=zeros, effort=zeros)
        self._joint_states = self._topic(self._joint_states, message, "joint_states", STATES)
        self._position = self._joint_states.message.numbers("position")
        self._velocity = self._joint_states.message.numbers("velocity")
        self._effort = self._joint_states.message.numbers("effort")


def _transform(parent: str, child: str) -> TransformStamped:
    """The identity from a frame to another."""
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    transform.transform.rotation.w = 1.0
    return transform


def _placed(transform: TransformStamped, X_PC: np.ndarray) -> TransformStamped:
    """The transform with the pose X_PC (4, 4)."""
    t, r = transform.transform.translation, transform.transform.rotation
    t.x, t.y, t.z = X_PC[:3, 3].tolist()
    r.w, r.x, r.y, r.z = quaternion.from_matrix(X_PC[:3, :3]).tolist()
    return transform
