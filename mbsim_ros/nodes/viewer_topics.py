"""What a viewer hears: the newest state, contacts, coupling and diagnostics of one robot.

States come 500 times a second and more; of each topic only the newest message waits, as bytes, and is read when the
next picture is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class ViewerTopics:
    """Subscriptions of a viewer; what has come is in the attributes. `hot` are those that `take` looks at."""

    def __init__(self, node: Node):
        self.joint_states: bytes | None = None
        self.odometry: bytes | None = None
        self.contacts: bytes | None = None
        self.setup: str | None = None
        self.description: str | None = None
        self.coupling: str | None = None
        self.diagnostics: dict[str, str] | None = None
        self._physics = f"{node.get_namespace().rstrip('/')}/physics: "
        make: Callable[..., Any] = node.create_subscription
        self.hot: dict[str, Subscription[Any]] = {
            "joint_states": make(JointState, "joint_states", _unused, NEWEST, raw=True),
            "odometry": make(Odometry, "odom", _unused, NEWEST, raw=True),
            "contacts": make(MarkerArray, "contacts", _unused, NEWEST, raw=True),
        }
        make(String, "simulation_setup", lambda message: setattr(self, "setup", message.data), LATCHED)
        make(String, "robot_description", lambda message: setattr(self, "description", message.data), LATCHED)
        make(String, "coupling_state", lambda message: setattr(self, "coupling", message.data), LATCHED)
        make(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)

    def take(self) -> None:
        """Take the newest state and contacts, as bytes; what has not come anew stays as it is."""
        for name, subscription in self.hot.items():
            with subscription.handle:
                taken: Any = subscription.handle.take_message(subscription.msg_type, True)
            if taken is not None:
                setattr(self, name, taken[0])

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.startswith(self._physics):
                self.diagnostics = {"": status.message, **{entry.key: entry.value for entry in status.values}}


def _unused(_: Any) -> None:
    """Callback of a subscription whose messages are taken directly."""
