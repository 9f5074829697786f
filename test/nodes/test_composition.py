# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Nodes of one process: what they compute is that of separate processes, bit for bit, and others see the same topics."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from mbsim_ros.bench.mbsim_process import run_mbsim
from mbsim_ros.cli.parts.run_hashes import launched
from mbsim_ros.nodes.composition.address import COMPOSE, addresses
from mbsim_ros.nodes.transport.local_topics import LocalQueue, LocalTopics

CONTROLLER = """
class Hold:
    def update(self, t, state):
        return {"waist": 0.3, "elbow": -0.2}
"""


class Words:
    """What a queue knows of a subscription."""

    msg_type, topic_name = String, "/words"

    def __init__(self, raw=True):
        self.raw = raw


def queue(raw=True):
    return LocalQueue(Words(raw))


def test_what_was_given_comes_first_and_its_echo_not_at_all():
    words, arrived = queue(), [b"mine", b"theirs"]
    take = words.taker(lambda: arrived.pop(0) if arrived else None)
    words.give(b"mine", is_only_source=False, comes_back=True)
    assert [take(), take(), take()] == [b"mine", b"theirs", None]


def test_the_same_words_from_elsewhere_are_heard():
    """As often as it was sent an echo is left out, and no more often."""
    words, arrived = queue(), [b"normal@0", b"normal@0"]
    take = words.taker(lambda: arrived.pop(0) if arrived else None)
    words.give(b"normal@0", is_only_source=False, comes_back=True)
    assert [take(), take(), take()] == [b"normal@0", b"normal@0", None]
    words.give(b"normal@0", is_only_source=False, comes_back=False)  # nobody else listened
    arrived.append(b"normal@0")
    assert [take(), take(), take()] == [b"normal@0", b"normal@0", None]


def test_an_echo_may_have_bytes_behind_its_end_and_typed_ones_are_compared_as_such():
    words, arrived = queue(), [b"mine\0\0"]
    take = words.taker(lambda: arrived.pop(0) if arrived else None)
    words.give(b"mine", is_only_source=False, comes_back=True)
    assert [take(), take()] == [b"mine", None]
    typed, arrived = queue(raw=False), [String(data="a")]
    take = typed.taker(lambda: arrived.pop(0) if arrived else None)
    typed.give(serialize_message(String(data="a")), is_only_source=False, comes_back=True)
    assert [take(), take()] == [String(data="a"), None]


def test_of_states_the_newest_counts_and_the_middleware_is_not_asked():
    states, asked = queue(), []
    take = states.taker(lambda: asked.append(True))
    take()
    assert asked == [True]  # before the first: it may have the last state of before
    states.give(b"1", is_only_source=True, comes_back=False)
    states.give(b"2", is_only_source=True, comes_back=False)
    assert [take(), take(), asked] == [b"2", None, [True]]


def test_a_process_of_one_node_has_no_queues():
    topics, subscription = LocalTopics(), Words()
    assert topics.queue_of(subscription) is None
    topics.open()
    assert topics.listeners("/words") == []
    mine = topics.queue_of(subscription)
    assert topics.listeners("/words") == [mine] == [topics.queue_of(subscription)]
    topics.forget(subscription)
    assert topics.listeners("/words") == []


def test_a_host_is_looked_for_in_the_namespaces_above():
    ends = [each.rsplit("/", 2)[-2:] for each in addresses(["--ros-args", "-r", "__ns:=/lab/biped"])]
    assert [end[-1] for end in ends] == ["biped", "lab", ""]


@pytest.mark.parametrize("robot", ["walker", "biped"])
def test_composed_nodes_publish_the_same_bytes(robot):
    assert launched(robot, 0.4, "compose:=true") == launched(robot, 0.4)


def test_a_controller_that_is_a_file_is_composed_and_its_exit_code_is_told(tmp_path):
    (tmp_path / "hold.py").write_text(CONTROLLER)
    words = ("launch", "simulate", "robot:=arm", "controller:=python_file", "view:=false", "compose:=true",
             "real_time_factor:=0.0", "duration:=0.2")  # fmt: skip
    done = run_mbsim(*words, f"controller_file:={tmp_path / 'hold.py'}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "simulated 0.2 s" in done.stdout + done.stderr
    failed = run_mbsim(*words, f"controller_file:={tmp_path / 'missing.py'}")
    assert failed.returncode != 0
    assert "expected the path of a Python file" in failed.stdout + failed.stderr


def test_a_guest_waits_for_its_host_and_ends_at_once_when_told():
    code = "import sys; from mbsim_ros.nodes.composition.guest import join; sys.exit(join('walker_controller', []))"
    guest = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, COMPOSE: "true"})
    time.sleep(1.0)
    assert guest.poll() is None
    guest.terminate()
    assert guest.wait(10.0) == 0
