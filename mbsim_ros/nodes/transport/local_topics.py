# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Topics between nodes of one process: a message goes from hand to hand, beside the middleware.

Whoever publishes gives the message to every subscription of this process at once. A state has one source, so that a
subscription that was given one does not look at what the middleware brings of it. Commands may come from elsewhere,
too: those are sent through the middleware only where somebody else listens, and what then comes back is left out once
for each time that it was sent. A process with a single node has none of this.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.serialization import deserialize_message

MOST_ECHOES = 1000  # that are still to come back; more are not believed to come


class LocalQueue:
    """What has been given to one subscription, and not been taken yet."""

    def __init__(self, subscription: Any):
        self._type, self._is_raw = subscription.msg_type, subscription.raw
        self._given: deque[Any] = deque()
        self._echoes: deque[Any] = deque(maxlen=MOST_ECHOES)
        self._has_only_source = False

    def give(self, message: Any, is_only_source: bool, comes_back: bool) -> None:
        """Give it a message, typed or as bytes; comes_back: whether the middleware brings it, too."""
        if isinstance(message, bytes) and not self._is_raw:
            message = deserialize_message(message, self._type)
        self._has_only_source |= is_only_source
        if is_only_source and self._given:  # the newest state is what counts
            self._given.clear()
        self._given.append(message)
        if comes_back:
            self._echoes.append(message)

    def taker(self, take: Callable[[], Any]) -> Callable[[], Any]:
        """A function that gives the next message, from here or as `take` brings it, or None."""
        given = self._given

        def next_message() -> Any:
            if given:
                return given.popleft()
            if self._has_only_source:
                return None
            message = take()
            while message is not None and self._echoes and self._is_echo(message):
                message = take()
            return message

        return next_message

    def _is_echo(self, message: Any) -> bool:
        for place, sent in enumerate(self._echoes):
            # a serialiser may leave bytes behind the end
            if message == sent or (self._is_raw and message[: len(sent)] == sent):
                del self._echoes[place]
                return True
        return False


class LocalTopics:
    """The subscriptions of this process by topic, once it has several nodes."""

    def __init__(self) -> None:
        self._queues: dict[str, dict[Any, LocalQueue]] = {}
        self._is_open = False

    def open(self) -> None:
        """This process has several nodes from now on."""
        self._is_open = True

    def queue_of(self, subscription: Any) -> LocalQueue | None:
        """The queue of a subscription, None in a process with one node alone."""
        if not self._is_open:
            return None
        queues = self._queues.setdefault(subscription.topic_name, {})
        return queues.setdefault(subscription, LocalQueue(subscription))

    def forget(self, subscription: Any) -> None:
        """A subscription is not listened to any more; it may have been destroyed."""
        for queues in self._queues.values():
            queues.pop(subscription, None)

    def listeners(self, topic: str) -> list[LocalQueue]:
        """The queues of all who listen to a topic in this process."""
        queues = self._queues.get(topic)
        return list(queues.values()) if queues else []


LOCAL_TOPICS = LocalTopics()
