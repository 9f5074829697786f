# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The forces under the feet of a robot, from the topics contact_wrench/<foot>."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile

from mbsim_ros.dynamics.kinematics import link_pose_rows
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.frames import topic_name
from mbsim_ros.nodes.transport.fast_loop import Handler
from mbsim_ros.nodes.transport.raw_reader import RawReader

WRENCHES = QoSProfile(depth=10)


class FootForces:
    """Keeps the last force under each foot with its stamp. `handlers` are for the node's FastLoop."""

    def __init__(self, node: Node, complain: Callable[[str, str], None], on_complete: Callable[[], None]):
        """complain(cause, detail) hears of bytes that are no wrench; on_complete of forces of all feet of one stamp."""
        self._node, self._complain, self._on_complete = node, complain, on_complete
        self._reader = RawReader(WrenchStamped)
        self.feet: tuple[str, ...] = ()  # links, once the robot is known
        self._forces = np.zeros((0, 3))  # [N] in the axes of the links
        self._stamps: list[int] = []  # [ns]
        self.handlers: list[Handler] = []

    def watch(self, feet: tuple[str, ...]) -> None:
        """Listen to the forces on these links from now on, in place of others."""
        if feet == self.feet:
            return
        old, self.handlers = self.handlers, []
        self.feet, self._forces, self._stamps = feet, np.zeros((len(feet), 3)), [-1] * len(feet)
        for k, foot in enumerate(feet):
            topic = f"contact_wrench/{topic_name(foot)}"
            subscription = self._node.create_subscription(WrenchStamped, topic, lambda _: None, WRENCHES, raw=True)
            self.handlers.append((subscription, functools.partial(self._on_wrench, k)))
        for subscription, _ in old:
            self._node.destroy_subscription(subscription)

    def between(self, first: int, last: int) -> np.ndarray | None:
        """The last forces (n, 3) on the feet in their axes [N], if all have one with a stamp in this range [ns]."""
        if not self.feet:
            return self._forces
        return self._forces.copy() if first <= min(self._stamps) and max(self._stamps) <= last else None

    def _on_wrench(self, foot: int, message: bytes) -> None:
        try:
            reading = self._reader.read(message)
        except ValueError as error:
            self._complain("bad wrench", str(error))
            return
        self._forces[foot], self._stamps[foot] = reading.numbers("wrench.force"), reading.stamp
        if min(self._stamps) == reading.stamp:
            self._on_complete()


def in_world(model: Model, q: np.ndarray, feet: tuple[str, ...], forces: np.ndarray) -> np.ndarray:
    """Forces (n, 3) on links as a RobotState has contacts (n, 6): in the world, at the origins of the links."""
    poses = link_pose_rows(model, q)[_rows_of(model, feet)]
    turned = np.einsum("kij,kj->ki", poses[:, :9].reshape(-1, 3, 3), forces)
    return np.hstack([turned, poses[:, 9:]])


@functools.lru_cache(maxsize=1)
def _rows_of(model: Model, feet: tuple[str, ...]) -> list[int]:
    return [model.link_names.index(foot) for foot in feet]
