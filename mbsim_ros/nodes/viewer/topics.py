# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a viewer hears: the newest state, contacts, coupling and diagnostics of one robot.

Of each hot topic only the newest message waits, as bytes, and is taken when a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from visualization_msgs.msg import MarkerArray

from mbsim_ros.nodes.frames import topic_name
from mbsim_ros.nodes.publishers.view_state import TOPIC as VIEW_STATE

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class ViewerTopics:
    """Subscriptions of a viewer; what has come on the slow ones is in the attributes, `take` gives the hot ones."""

    def __init__(self, node: Node):
        self.setup: str | None = None
        self.description: str | None = None
        self.coupling: str | None = None
        self.diagnostics: dict[str, str] | None = None
        self.lyapunov: float | None = None  # J: v of a controller that tells it
        self._physics = f"{node.get_namespace().rstrip('/')}/physics: "
        self._make: Callable[..., Subscription[Any]] = node.create_subscription
        self._node = node
        self._watched: str | None = None
        self._on_wrench: Subscription[Any] | None = None
        self.wrench: np.ndarray | None = None  # (6,) at the link's origin in its axes
        self.hot: dict[str, Subscription[Any]] = {}
        self._make(String, "simulation_setup", lambda message: setattr(self, "setup", message.data), LATCHED)
        self._make(String, "robot_description", lambda message: setattr(self, "description", message.data), LATCHED)
        self._make(String, "coupling_state", lambda message: setattr(self, "coupling", message.data), LATCHED)
        self._make(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._make(Float64, "lyapunov", lambda message: setattr(self, "lyapunov", message.data), NEWEST)

    def listen(self, *, to_simulation: bool) -> None:
        """Begin to hear the state: of a simulation of ours, or of any robot by its joint_states and odom."""
        kinds = {VIEW_STATE: JointState} if to_simulation else {"joint_states": JointState, "odom": Odometry}
        for name, kind in {**kinds, "contacts": MarkerArray}.items():
            qos = LATCHED if name == VIEW_STATE else NEWEST
            self.hot[name] = self._make(kind, name, _unused, qos, raw=True)

    def watch_wrench(self, link: str | None) -> None:
        """Hear the wrench of the contacts of one link, in `wrench` once it came; None ends it."""
        if link == self._watched:
            return
        if self._on_wrench is not None:
            self._node.destroy_subscription(self._on_wrench)
        self._watched, self.wrench, self._on_wrench = link, None, None
        if link is not None:
            name = f"contact_wrench/{topic_name(link)}"
            self._on_wrench = self._make(WrenchStamped, name, self._take_wrench, NEWEST)

    def _take_wrench(self, message: WrenchStamped) -> None:
        f, t = message.wrench.force, message.wrench.torque
        self.wrench = np.array([f.x, f.y, f.z, t.x, t.y, t.z])

    def take(self, name: str) -> bytes | None:
        """The newest message on a hot topic; None where none has come since the last was taken."""
        subscription = self.hot.get(name)
        if subscription is None:
            return None
        with subscription.handle:
            taken: Any = subscription.handle.take_message(subscription.msg_type, True)
        return None if taken is None else taken[0]  # type: ignore[no-any-return]

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.startswith(self._physics):
                self.diagnostics = {"": status.message, **{entry.key: entry.value for entry in status.values}}


def _unused(_: object) -> None:
    """Callback of a subscription whose messages are taken directly."""
