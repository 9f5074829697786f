# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A topic on which a controller answers: sent as bytes where they are there, and aware of who begins to listen."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher

from mbsim_ros.nodes.transport.cdr import HEADER
from mbsim_ros.nodes.transport.local_topics import LOCAL_TOPICS

ANSWERS_DEPTH = 10  # reliable


class AnswerTopic:
    """A topic of answers that says when somebody begins to listen, who has missed those before."""

    def __init__(self, node: Node, kind: type[Any], topic: str, on_listener: Callable[[], None]):
        events = PublisherEventCallbacks(matched=self._on_matched)
        self._publisher: Publisher = node.create_publisher(kind, topic, ANSWERS_DEPTH, event_callbacks=events)
        # What the publisher's own methods call, after looking at types and locks.
        self._publish_raw = self._publisher.handle.publish_raw
        self._count_listeners = self._publisher.handle.get_subscription_count
        self._name = self._publisher.topic_name
        self._on_listener = on_listener
        self._listeners: int | None = None  # to the last answer, None before the first

    def publish(self, message: object) -> None:
        """Publish an answer, typed or as bytes."""
        self._listeners = self._count_listeners()
        local = LOCAL_TOPICS.listeners(self._name)
        is_for_others = self._listeners > len(local)
        for queue in local:
            queue.give(message, is_only_source=False, comes_back=is_for_others)
        if local and not is_for_others:
            return
        if isinstance(message, bytes):
            self._publish_raw(message)
        else:
            self._publisher.publish(message)

    def _on_matched(self, _: object) -> None:
        """Somebody came or left; the event may be older than the last answer."""
        listeners = self._count_listeners()
        if self._listeners is not None:
            if listeners > self._listeners:
                self._on_listener()
            self._listeners = listeners


def string_bytes(text: str) -> bytes:
    """A std_msgs/String as bytes."""
    data = text.encode() + b"\0"
    return HEADER + struct.pack("=I", len(data)) + data
