# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A topic whose messages differ in numbers and stamps alone: serialised once, patched and sent as bytes."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile

from mbsim_ros.nodes.transport.local_topics import LOCAL_TOPICS
from mbsim_ros.nodes.transport.patched_message import PatchedMessage
from mbsim_ros.nodes.transport.topic_scope import TopicScope


class PatchedTopic:
    """A patched message and its publisher. `message` may be replaced by one of other names or sizes."""

    def __init__(self, node: Node | TopicScope, message: object, name: str, qos: QoSProfile | int):
        """message: typed, as PatchedMessage takes it."""
        self.message = PatchedMessage(message)
        self.publisher: Publisher = node.create_publisher(type(message), name, qos)
        self._name = self.publisher.topic_name
        self._publish = self.publisher.handle.publish_raw  # what Publisher.publish calls after looking at types

    def publish(self, stamp_ns: int) -> None:
        """Publish the message as it is now, with this stamp."""
        self.message.set_stamp(stamp_ns)
        data = self.message.tobytes()
        for queue in LOCAL_TOPICS.listeners(self._name):
            queue.give(data, is_only_source=True, comes_back=False)
        self._publish(data)

    @property
    def has_listeners(self) -> bool:
        """Whether anybody listens."""
        return self.publisher.get_subscription_count() > 0
