# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the physics node tells of itself: the journal that a replay follows, and events of lockstep for people.

Both are there for whoever records. Nobody listens to the journal: nothing is noted, and it costs nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rclpy.event_handler import PublisherEventCallbacks
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from mbsim_ros.bags.journal import COMMANDS, GO, KEYFRAME, SET, STATE, Entry, journal_text, keyframe
from mbsim_ros.bags.topics import EVENTS_DEPTH, EVENTS_TOPIC, JOURNAL_DEPTH, JOURNAL_TOPIC

if TYPE_CHECKING:
    from mbsim_ros.nodes.physics.node import Physics

GATHER = 0.05  # s of wall time for which entries wait for others to be sent with them
LARGEST = 32_000  # bytes of commands in a message, about: one datagram
SMALL = 100  # bytes, about, of an entry that is no command
SURELY = 1.0  # s of wall time after which a new listener gets a second keyframe: it may have missed the first
KEYFRAMES = 10.0  # s of wall time between keyframes, for listeners who have lost something


class Journal:
    """Notes what acts on the simulation, and publishes it. `physics` is asked for the present."""

    def __init__(self, physics: Physics):
        self._physics = physics
        matched = PublisherEventCallbacks(matched=self._on_matched)
        self.publisher: Publisher = physics.create_publisher(
            String, JOURNAL_TOPIC, QoSProfile(depth=JOURNAL_DEPTH), event_callbacks=matched
        )
        self._entries: list[Entry] = []
        self._size = self._sequence = self._listeners = 0
        self._has_acted = False  # whether something has since a state was published
        self._keyframe_due = self._flush_due = float("inf")  # s of wall time

    def note(self, kind: str, value: object = None) -> None:
        """Something acts from the present state on; commands as bytes. A function is asked for its value if needed."""
        self._has_acted = True
        if self._listeners:
            self._append(kind, value() if callable(value) else value)

    def published(self, with_period: bool) -> None:
        """A state has been published, after a control period or for another reason."""
        if self._listeners:
            self._append(GO if with_period else STATE)
        self._has_acted = False

    def note_set(self) -> None:
        """The simulation has been set to what no command leads to."""
        self._has_acted = True
        if self._listeners:
            self._append(SET, self._keyframe())

    def want_keyframe(self) -> None:
        """As soon as may be, for somebody who has missed something."""
        self._keyframe_due = 0.0

    def look(self) -> None:
        """Publish what has waited long enough. A keyframe is taken only where a state has just been published."""
        now = time.monotonic()
        if now >= self._keyframe_due and not self._has_acted:
            self._keyframe_due = now + KEYFRAMES
            if self._listeners:
                self._append(KEYFRAME, self._keyframe())
                self.flush()
        elif self._entries and (now >= self._flush_due or self._size > LARGEST):
            self.flush()

    def flush(self) -> None:
        """Publish what has been noted."""
        if self._entries:
            self.publisher.publish(String(data=journal_text(self._sequence, self._entries)))
            self._sequence += 1
            self._entries, self._size = [], 0

    def _append(self, kind: str, value: Any = None) -> None:
        if not self._entries:
            self._flush_due = time.monotonic() + GATHER
        self._entries.append(Entry(self._physics.stamp, kind, value))
        self._size += len(value) if kind in COMMANDS else SMALL

    def _keyframe(self) -> dict[str, object]:
        physics = self._physics
        specs = {} if physics.scene is None else physics.scene.specs
        entities = [(name, spec.digest) for name, spec in specs.items()]
        return keyframe(physics.intake, physics.values["friction"], entities)

    def _on_matched(self, _: object) -> None:
        """Somebody came or left."""
        before, self._listeners = self._listeners, self.publisher.get_subscription_count()
        if self._listeners > before:
            if before == 0:  # what happened meanwhile was not noted: a gap that a reader sees
                self._sequence += 1
                self._entries, self._size = [], 0
            self._keyframe_due = 0.0
            self.look()
            self._keyframe_due = min(self._keyframe_due, time.monotonic() + SURELY)


class Events:
    """lockstep_events: who is missing, who is back, and what the joints do meanwhile, with the stamps at which."""

    def __init__(self, physics: Physics):
        self._physics = physics
        latched = QoSProfile(depth=EVENTS_DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.publisher: Publisher = physics.create_publisher(String, EVENTS_TOPIC, latched)
        self._sequence = 0

    def tell(self, event: str, who: Iterable[str] = (), **more: object) -> None:
        """Publish an event of the present state."""
        words = {
            "sequence": self._sequence, "stamp_ns": self._physics.stamp, "event": event, "who": list(who), **more
        }  # fmt: skip
        self._sequence += 1
        self.publisher.publish(String(data=json.dumps(words)))
