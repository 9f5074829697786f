# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node that records a simulation into a bag: serialized messages as they come, at their simulated times."""

from __future__ import annotations

import contextlib
import importlib
import json
import signal
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from mbsim_ros.bags.bag_writer import COMPRESSIONS, BagWriter
from mbsim_ros.bags.formats.cdr import string_message, wrenches_message
from mbsim_ros.bags.formats.definitions import AT_ONCE
from mbsim_ros.bags.sim_time import SECOND, SimTime, stamp_at
from mbsim_ros.bags.topics import JOURNAL_TOPIC, ODOMETRY_TOPIC, SETUP_TOPIC, STANDARD, STATE_TOPIC, Topic, chosen_topic
from mbsim_ros.nodes.parameters import Parameter, declare
from mbsim_ros.nodes.physics.lockstep import COUPLING, WRENCH, qualified
from mbsim_ros.nodes.recording.recorder_answers import RecorderAnswers
from mbsim_ros.nodes.run_node import BAD_INPUT
from mbsim_ros.nodes.transport.fast_loop import FastLoop
from mbsim_ros.nodes.transport.raw_reader import RawReader
from mbsim_ros.status import tell_summary

QUEUE = 5000  # messages of a topic that may wait for us: seconds of a fast simulation
GATHER = 0.005  # s of wall time: messages are taken many at a time, which leaves the processor to the simulation
MOST_EARLY = 1000  # messages that wait for the first that tells the time
FLUSH_PERIOD = 1.0  # s of wall time: what a kill may lose
LAST_LOOK = 1.0  # s of wall time to take what is waiting at the end, should messages never cease
NEEDED = {SETUP_TOPIC, "joint_commands", "motor_commands", "wrench_commands", "coupling_command", "wrench"}
PATIENCE = 0.1  # s of wall time without messages after which signals are looked at
FAILED = 1  # exit code
NAMED_BY = "mbsim_%Y_%m_%d-%H_%M_%S"

PARAMETERS = (
    Parameter(
        "out", "", "Folder of the bag; empty: named by date and time.", constraints="A folder that does not exist."
    ),
    Parameter(
        "topics", [topic.name for topic in STANDARD], "Topics to record.",
        constraints="Each `name`, or `name:package/msg/Type`.",
    ),
    Parameter("more_topics", [""], "Topics to record besides those.", constraints="As `topics`."),
    Parameter("compression", "zstd", "Of the bag.", choices=COMPRESSIONS),
    Parameter(
        "lockstep", False,
        "Answer every state with an empty command, so that none is lost; list this node in lockstep_participants.",
    ),
    Parameter("duration", 0.0, "Simulated time to record [s]; 0: until ended.", 0.0, 1e9),
)  # fmt: skip


class Record(Node):
    """Subscribes its topics and writes what comes; times are those of the simulation, never of the wall."""

    def __init__(self) -> None:
        super().__init__("record")
        values = declare(self, PARAMETERS)
        self.in_lockstep: bool = values["lockstep"]
        self._duration: float = values["duration"]
        topics, more = values["topics"], values["more_topics"]
        chosen = {topic.name: topic for topic in map(chosen_topic, [*topics, *filter(None, more)])}
        types = {topic.type: _imported(topic.type) for topic in chosen.values()}
        self.writer = BagWriter(values["out"] or datetime.now().strftime(NAMED_BY), compression=values["compression"])
        self.failure = ""  # why nothing is recorded any more
        self.lost: Counter[str] = Counter()
        self._time = SimTime()
        self._early: list[Callable[[], None]] = []  # what came before anything told the time
        self._end_at: int | None = None  # ns: the last stamp that is recorded, once the end is wanted
        self._journal = b""  # its last message
        self._last: dict[str, bytes] = {}  # of the topics that may repeat themselves
        self._reader = RawReader(JointState)
        self._recorded = {self.resolve_topic_name(name) for name in chosen}
        self.answers = RecorderAnswers(self) if self.in_lockstep else None
        self.handlers: list[tuple[Subscription[Any], Callable[[bytes], None]]] = [
            self._subscribe(topic, types[topic.type]) for topic in chosen.values()
        ]
        if self.answers is not None:
            self.answers.has_journal = JOURNAL_TOPIC not in chosen
            if not set(chosen) >= NEEDED:
                self.answers.expect([])  # commands are not recorded, or nobody would tell whose are
        self.get_logger().info(f"recording {len(chosen)} topics into {self.writer.folder}")

    @property
    def finished(self) -> bool:
        """Whether the wanted duration is recorded, or nothing can be; who takes part goes on answering all the same."""
        if self.failure:
            return not self.in_lockstep
        return self._time.now is not None and self._is_after_the_end(self._time.now)

    def end_here(self) -> None:
        """Record nothing that comes after this instant, but still what physics tells of how it came about."""
        self._end_at = self._time.now

    @property
    def is_told(self) -> bool:
        """Whether the journal, if there is one, has come as far as the states."""
        if not self._journal or self._end_at is None:
            return True
        try:
            return bool(json.loads(string_message(self._journal))["entries"][-1][0] >= self._end_at)
        except (ValueError, KeyError, IndexError, TypeError):
            return True  # not ours

    def close(self) -> None:
        """Complete the bag and say what is in it."""
        if self._time.begin is None:
            self._time.begin = self._time.now = 0  # nothing ever told the time
        self._write_early()
        if not self.failure:
            try:
                self.writer.close()
            except OSError as error:
                self._fail(error)
        counts = {topic.name: topic.count for topic in self.writer.summary.topics.values() if topic.count}
        said = ", ".join(f"{name} {count}" for name, count in counts.items()) or "no messages"
        if not tell_summary(self.failure or f"the bag is {self.writer.folder}, {sum(counts.values())} messages"):
            print(f"[record] {self.writer.folder}: {said}", flush=True)
        if self.lost:
            lost = ", ".join(f"{name} {count}" for name, count in self.lost.items())
            print(f"[record] messages lost on the way: {lost}", file=sys.stderr, flush=True)

    def _subscribe(self, topic: Topic, message_class: type) -> tuple[Subscription[Any], Callable[[bytes], None]]:
        durability = DurabilityPolicy.TRANSIENT_LOCAL if topic.quality.latched else DurabilityPolicy.VOLATILE
        reliability = ReliabilityPolicy.RELIABLE if topic.quality.reliable else ReliabilityPolicy.BEST_EFFORT
        qos = QoSProfile(depth=QUEUE, durability=durability, reliability=reliability)
        name = self.resolve_topic_name(topic.name)
        self.writer.add_topic(name, topic.type, topic.quality)
        events = SubscriptionEventCallbacks(message_lost=partial(self._note_loss, name))
        subscription = self.create_subscription(
            message_class, name, _never_called, qos, raw=True, event_callbacks=events
        )
        special: dict[str, Callable[..., None]] = {
            SETUP_TOPIC: self._on_setup, STATE_TOPIC: self._on_state, ODOMETRY_TOPIC: self._on_odometry,
            "joint_commands": self._on_command, "motor_commands": self._on_command,
            "wrench_commands": self._on_wrench_command,
            "coupling_command": partial(self._on_other_answer, COUPLING),
            "wrench": partial(self._on_other_answer, WRENCH), JOURNAL_TOPIC: self._on_journal,
        }  # fmt: skip
        handler = special.get(topic.name.rpartition("/")[2], self._on_message)
        return subscription, partial(handler, name, self._time.reader(topic))

    def _on_message(self, topic: str, time_of: Callable[[bytes], int | None], data: bytes) -> None:
        stamp = time_of(data)
        if stamp is None:
            if len(self._early) < MOST_EARLY:
                self._early.append(partial(self._on_message, topic, time_of, data))
            else:
                self.lost[topic] += 1
            return
        if self._early:
            self._write_early()
        if self.failure or self._is_after_the_end(stamp):
            return
        if self._end_at is not None and stamp > self._end_at:
            if data is not self._journal:
                return
            stamp = self._end_at
        try:
            self.writer.write(topic, stamp, data)
        except (OSError, ValueError, OverflowError, struct.error) as error:
            self._fail(error)

    def flush(self) -> None:
        """Hand everything to the operating system."""
        if not self.failure:
            try:
                self.writer.flush()
            except OSError as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Keep what there is, say so once, and do not stand in the way of those who go on."""
        folder = self.writer.folder
        kept = f"What came before is in {folder}"
        self.failure = f"recording ended: {error}. {kept}: make room, then `mbsim record --recover {folder}`"
        self.get_logger().error(self.failure)
        with contextlib.suppress(OSError):
            self.writer.abandon()

    def _on_odometry(self, topic: str, time_of: Callable[[bytes], int | None], data: bytes) -> None:
        """Physics publishes a state again for whom it may not have reached: that is one state, whatever the load."""
        if data != self._last.get(topic):
            self._last[topic] = data
            self._on_message(topic, time_of, data)

    def _on_state(self, topic: str, time_of: Callable[[bytes], int | None], data: bytes) -> None:
        self._on_odometry(topic, time_of, data)
        if self.answers is not None and topic == self.resolve_topic_name(STATE_TOPIC):  # not of entities of a scene
            self.answers.on_state(stamp_at(data, AT_ONCE))

    def _on_command(self, topic: str, time_of: Callable[[bytes], int | None], data: bytes) -> None:
        """Of joints or motors: it says who sent it."""
        self._on_message(topic, time_of, data)
        if self.answers is not None:
            with contextlib.suppress(ValueError):  # no command: recorded as it is
                self.answers.hear(self._reader.read(data).message.header.frame_id)

    def _on_wrench_command(self, topic: str, time_of: Callable[[bytes], int | None], data: bytes) -> None:
        """Of links: it says who sent it, and is an answer on `wrench`, too."""
        self._on_message(topic, time_of, data)
        if self.answers is not None:
            with contextlib.suppress(ValueError):
                self.answers.hear(wrenches_message(data).frame_id)
                self.answers.hear(WRENCH)

    def _on_other_answer(
        self, participant: str, topic: str, time_of: Callable[[bytes], int | None], data: bytes
    ) -> None:
        """On a topic whose answers do not say who sent them."""
        self._on_message(topic, time_of, data)
        if self.answers is not None:
            self.answers.hear(participant)

    def _on_journal(self, topic: str, time_of: Callable[[bytes], int | None], data: bytes) -> None:
        """What acted on the simulation: from its first message on the run can be computed again."""
        self._journal = data
        self._on_message(topic, time_of, data)
        if self.answers is not None:
            self.answers.has_journal = True

    def _on_setup(self, topic: str, time_of: Callable[[bytes], int | None], data: bytes) -> None:
        """Keep the setup of the simulation also where readers of MCAP files find it without reading messages."""
        self._on_message(topic, time_of, data)
        try:
            setup = json.loads(string_message(data))
            if self.answers is not None:
                names = setup.get("parameters", {}).get("lockstep_participants", [])
                entities = [str(entity["name"]) for entity in setup.get("entities", ())]
                self.answers.expect(name for name in names if not self._is_apart(name, entities))
            words = {name: value if isinstance(value, str) else json.dumps(value) for name, value in setup.items()}
        except (ValueError, AttributeError, TypeError, KeyError):
            self.get_logger().warning(f"{topic} is not the setup of a simulation: it is recorded as it is")
            return
        if not self.failure:
            self.writer.add_metadata(topic, words)

    def _is_apart(self, participant: str, entities: list[str]) -> bool:
        """Whether one drives an entity of a scene, whose commands are not recorded: it will not be heard."""
        whole = qualified(participant, self.get_namespace())
        below = [self.resolve_topic_name(entity) for entity in entities]
        own = [name for name in below if whole.startswith(f"{name}/")]
        return any(f"{name}/joint_commands" not in self._recorded for name in own)

    def _write_early(self) -> None:
        early, self._early = self._early, []
        for write in early:
            write()

    def _is_after_the_end(self, stamp: int) -> bool:
        begin = self._time.begin
        return self._duration > 0.0 and begin is not None and stamp - begin > self._duration * SECOND

    def _note_loss(self, topic: str, event: Any) -> None:
        self.lost[topic] += event.total_count_change


def main() -> int:
    """Record until SIGINT, SIGTERM or the wanted duration; the bag is complete afterwards."""
    ended: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.append(number))  # rclpy lives until the last message is written
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Record()
    except (ValueError, OSError) as error:
        print(f"record: {error}", file=sys.stderr)
        rclpy.try_shutdown()
        return BAD_INPUT
    loop = FastLoop(node, node.handlers)
    try:
        flush_due = time.monotonic() + FLUSH_PERIOD
        while not ended and not node.finished:
            if loop.wait(PATIENCE) and not node.in_lockstep:
                time.sleep(GATHER)
            if node.answers is not None:
                node.answers.look()
            if time.monotonic() > flush_due:
                node.flush()
                flush_due = time.monotonic() + FLUSH_PERIOD
        last = time.monotonic() + LAST_LOOK
        while loop.wait(0.0) and time.monotonic() < last and not node.finished:
            pass  # what had come when the end was wanted
        node.end_here()
        while not node.is_told and time.monotonic() < last:
            loop.wait(PATIENCE)
    except ExternalShutdownException:
        pass
    finally:
        node.close()
        loop.close()
        node.destroy_node()
        rclpy.try_shutdown()
    return FAILED if node.failure else 0


def _imported(message_type: str) -> type:
    """The class of a message type. Raises ValueError where it is not installed."""
    package, _, name = message_type.partition("/msg/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), name)  # type: ignore[no-any-return]
    except (ImportError, AttributeError, ValueError):
        raise ValueError(f"topics: the message type '{message_type}' is not installed here") from None


def _never_called(data: bytes) -> None:
    """FastLoop takes the messages itself."""


if __name__ == "__main__":
    sys.exit(main())
