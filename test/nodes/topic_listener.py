# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A process that subscribes to topics with typed messages and writes each as a line of JSON, and the tests' hold on it."""

from __future__ import annotations

import contextlib
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

WAIT = 100.0  # s, until something must be wrong


class Listener:
    """What another process heard, in the order in which it came: (topic, message as nested dicts)."""

    def __init__(self, file: Path, process: subprocess.Popen):
        self._file, self._process = file, process

    def heard(self, count: int) -> list[tuple[str, dict]]:
        """All messages, once there are at least this many."""
        until = time.monotonic() + WAIT
        while True:
            lines = [json.loads(line) for line in self._file.read_text().split("\n")[:-1]]
            if len(lines) >= count:
                return [(topic, message) for topic, message in lines]
            assert self._process.poll() is None, "the listener ended"
            assert time.monotonic() < until, f"{len(lines)} messages came, not {count}: {[line[0] for line in lines]}"
            time.sleep(0.02)


@contextlib.contextmanager
def listening(file: Path, topics: dict[str, tuple[type, bool]]):
    """A Listener to topics by name: message type, and whether to ask for what was published before."""
    file.touch()
    given = {name: [kind.__module__, kind.__name__, latched] for name, (kind, latched) in topics.items()}
    process = subprocess.Popen([sys.executable, __file__, str(file), json.dumps(given)])
    try:
        yield Listener(file, process)
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_match(node, topics):
    """Wait until every publisher of the node on one of the topics has a subscriber."""
    until = time.monotonic() + WAIT
    while missing := [
        p.topic_name for p in node.publishers if p.topic_name in topics and not p.get_subscription_count()
    ]:
        assert time.monotonic() < until, f"nobody listens to {missing}"
        time.sleep(0.02)


def plain(value):
    """A message, or a part of one, as dicts, lists and numbers."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, (str, int, float)):
        return value
    return [plain(element) for element in (value.tolist() if hasattr(value, "tolist") else value)]


def main() -> None:
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from rclpy.qos import DurabilityPolicy, QoSProfile

    rclpy.init()
    node = rclpy.create_node("listener")
    with open(sys.argv[1], "a", buffering=1) as file:
        for topic, (module, kind, latched) in json.loads(sys.argv[2]).items():
            durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
            node.create_subscription(
                getattr(importlib.import_module(module), kind), topic,
                lambda message, topic=topic: file.write(json.dumps([topic, plain(message)]) + "\n"),
                QoSProfile(depth=1000, durability=durability),
            )  # fmt: skip
        with contextlib.suppress(ExternalShutdownException, KeyboardInterrupt):
            rclpy.spin(node)
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
