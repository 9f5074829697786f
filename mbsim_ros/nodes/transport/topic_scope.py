# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Topics of a node in a namespace below it, which come and go together."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node


class TopicScope:
    """Makes publishers and subscriptions as a node does, with names relative to `namespace`, and destroys them all."""

    def __init__(self, node: Node, namespace: str):
        """namespace: relative to that of the node, or absolute."""
        self._node = node
        self.namespace = namespace.rstrip("/")
        self._publishers: list[Any] = []
        self._subscriptions: list[Any] = []

    def create_publisher(self, message_type: Any, topic: str, qos: Any, **options: Any) -> Any:
        """As that of rclpy's Node."""
        made = self._node.create_publisher(message_type, self.within(topic), qos, **options)
        self._publishers.append(made)
        return made

    def create_subscription(self, message_type: Any, topic: str, callback: Any, qos: Any, **options: Any) -> Any:
        """As that of rclpy's Node."""
        made = self._node.create_subscription(message_type, self.within(topic), callback, qos, **options)
        self._subscriptions.append(made)
        return made

    def destroy_publisher(self, publisher: Any) -> bool:
        """As that of rclpy's Node."""
        self._publishers.remove(publisher)
        return self._node.destroy_publisher(publisher)

    def get_logger(self) -> Any:
        """As that of rclpy's Node."""
        return self._node.get_logger()

    def within(self, topic: str) -> str:
        """The name of a topic for the node: absolute ones stay."""
        return topic if topic.startswith("/") else f"{self.namespace}/{topic}"

    def close(self) -> None:
        """Destroy all that was made here; nobody may use it any longer."""
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._publishers, self._subscriptions = [], []


def forget_destroyed(node: Node) -> None:
    """Let go of what was destroyed: a callback group of rclpy keeps a weak reference to all that it ever had."""
    group = node.default_callback_group
    group.entities = {reference for reference in group.entities if reference() is not None}
