"""Joint states and odometry of one stamp, joined to a state of the model."""

from __future__ import annotations

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from mbsim_ros.control.robot_state import MeasuredState
from mbsim_ros.dynamics.arguments import all_finite
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.stamps import nanoseconds

BASE_Q, BASE_V = 7, 6  # entries of a floating base


class BadState(ValueError):
    """A message that is no state of the robot; the text says why."""


class StatePairs:
    """Takes messages in any order and says when a JointState and the Odometry of its stamp are both there.

    A fixed base needs no odometry. Joints that mimic others are not read, more joints than the model's are ignored.
    """

    def __init__(self, model: Model):
        """ValueError if the model has joints that joint_states cannot tell of."""
        several = [joint.name for joint in model.joints if joint.nv > 1]
        if several:
            raise ValueError(
                f"model: expected joints of one dof, which joint_states has, got '{model.name}' with "
                f"{', '.join(several)}"
            )
        self._model = model
        self._joints = [joint for joint in model.joints if joint.iv >= 0]
        self._at_q = np.array([joint.iq for joint in self._joints], dtype=np.int64)
        self._at_v = np.array([joint.iv for joint in self._joints], dtype=np.int64)
        self._names: list[str] = []
        self._places = np.zeros(0, dtype=np.int64)  # of the model's joints in the message
        self._joint_state: JointState | None = None
        self._odometry: Odometry | None = None

    def add_joint_state(self, message: JointState) -> MeasuredState | None:
        """The state, if this message completes one."""
        self._joint_state = message
        return self._joined()

    def add_odometry(self, message: Odometry) -> MeasuredState | None:
        """The state, if this message completes one."""
        self._odometry = message
        return self._joined()

    def _joined(self) -> MeasuredState | None:
        joints, odometry = self._joint_state, self._odometry
        if joints is None:
            return None
        if self._model.is_floating and (odometry is None or odometry.header.stamp != joints.header.stamp):
            return None
        self._joint_state = None  # a state is given once, also if its odometry comes again
        q, v = self._model.neutral.copy(), np.zeros(self._model.nv)
        if self._model.is_floating:
            assert odometry is not None
            _read_base(odometry, q, v)
        self._read_joints(joints, q, v)
        if not (all_finite(q) and all_finite(v)):
            raise BadState("expected finite numbers, got a state with some that are not")
        return MeasuredState(nanoseconds(joints.header.stamp), q, v)

    def _read_joints(self, message: JointState, q: np.ndarray, v: np.ndarray) -> None:
        if message.name != self._names:
            missing = [joint.name for joint in self._joints if joint.name not in message.name]
            if missing:
                raise BadState(f"joint_states: expected all joints of '{self._model.name}', got none for {missing[0]}")
            self._places = np.array([message.name.index(joint.name) for joint in self._joints], dtype=np.int64)
            self._names = list(message.name)
        n = len(self._names)
        if len(message.position) != n or len(message.velocity) != n:
            raise BadState(
                f"joint_states: expected {n} positions and velocities, got {len(message.position)} and "
                f"{len(message.velocity)}"
            )
        q[self._at_q] = np.asarray(message.position)[self._places]
        v[self._at_v] = np.asarray(message.velocity)[self._places]


def _read_base(message: Odometry, q: np.ndarray, v: np.ndarray) -> None:
    """Pose and twist of the base; the twist is in the child's frame, as the model's velocities are."""
    pose, twist = message.pose.pose, message.twist.twist
    p, o = pose.position, pose.orientation
    q[:BASE_Q] = (p.x, p.y, p.z, o.x, o.y, o.z, o.w)
    v[:BASE_V] = (
        twist.linear.x, twist.linear.y, twist.linear.z, twist.angular.x, twist.angular.y, twist.angular.z
    )  # fmt: skip
