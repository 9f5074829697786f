"""Commands of a controller as messages: stamped with the state they answer, signed with the name of the node."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros.control.command import JointCommand
from mbsim_ros.nodes.stamps import SECOND

COMMANDS = QoSProfile(depth=10)
PARTS = ("position", "velocity", "effort")


class CommandPublisher:
    """Publishes on joint_commands, motor_commands and coupling_command; the messages are made once and reused.

    on_listener: called when somebody begins to listen to commands, who has missed those before.
    """

    def __init__(self, node: Node, on_listener: Callable[[], None]):
        self._joints = _CommandTopic(node, "joint_commands", on_listener)
        self._motors = _CommandTopic(node, "motor_commands", on_listener)
        self._couplings = node.create_publisher(String, "coupling_command", COMMANDS)
        self._coupling: str | None = None

    def publish(self, stamp: int, command: JointCommand) -> None:
        """Answer the state of this stamp [ns]: one message, of joints or of motors, and before it a new coupling."""
        of_joints = any(getattr(command, part) is not None for part in PARTS)
        if command.motor is not None and of_joints:
            raise ValueError(
                "command: expected efforts of motors or commands of joints, one answer per state, got both"
            )
        if command.coupling is not None and command.coupling != self._coupling:
            self._couplings.publish(String(data=f"{command.coupling}@{stamp}"))
        self._coupling = command.coupling
        if command.motor is not None:
            motors = tuple(command.motor)
            self._motors.publish(stamp, motors, None, None, np.array(list(command.motor.values()), dtype=float))
        else:
            names = command.names if of_joints else ()
            self._joints.publish(stamp, names, command.position, command.velocity, command.effort)


class _CommandTopic:
    """One topic, and its message: the arrays are written to in place as long as names and parts stay the same."""

    def __init__(self, node: Node, topic: str, on_listener: Callable[[], None]):
        events = PublisherEventCallbacks(matched=self._on_matched)
        self._publisher = node.create_publisher(JointState, topic, COMMANDS, event_callbacks=events)
        self._on_listener = on_listener
        self._listeners: int | None = None  # to the last command, None before the first
        self._message = JointState()
        self._message.header.frame_id = node.get_fully_qualified_name()
        self._shape: tuple[Any, ...] = ()
        self._views: list[np.ndarray | None] = [None, None, None]

    def publish(self, stamp: int, names: tuple[str, ...], *parts: np.ndarray | None) -> None:
        """Publish position, velocity and effort of these names; None for what is not commanded."""
        shape = (names, *(part is not None for part in parts))
        if shape != self._shape:
            self._reshape(shape, parts)
        for view, part in zip(self._views, parts, strict=True):
            if view is not None:
                view[:] = part
        time = self._message.header.stamp
        time.sec, time.nanosec = divmod(stamp, SECOND)
        self._listeners = self._publisher.get_subscription_count()
        self._publisher.publish(self._message)

    def _on_matched(self, _: Any) -> None:
        """Somebody came or left; the event may be older than the last command."""
        listeners = self._publisher.get_subscription_count()
        if self._listeners is not None:
            if listeners > self._listeners:
                self._on_listener()
            self._listeners = listeners

    def _reshape(self, shape: tuple[Any, ...], parts: tuple[np.ndarray | None, ...]) -> None:
        names = shape[0]
        self._message.name = list(names)
        for k, (name, part) in enumerate(zip(PARTS, parts, strict=True)):
            setattr(self._message, name, array("d", bytes(8 * len(names)) if part is not None else b""))
            self._views[k] = np.frombuffer(getattr(self._message, name)) if part is not None and names else None
        self._shape = shape
