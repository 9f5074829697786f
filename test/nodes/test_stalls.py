# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Processes that stand still for a while: nobody is called missing who is not, and who only looks on stops nobody."""

from __future__ import annotations

import json
import signal
import time

import pytest
import rclpy
from physics_process import ROOT, Client, stamp, start_node, stop
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

ARM = f"robot_file:={ROOT}/urdf/arm.urdf.xacro"
LOCKSTEP = (ARM, "sync:=lockstep", "real_time_factor:=0.0")
TARGET = [0.2, 0.5, 1.0, 0.2, 0.1, 0.3]
EVENTS = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def client():
    client = Client()
    client.events = []
    client.create_subscription(String, "lockstep_events", lambda m: client.events.append(json.loads(m.data)), EVENTS)
    yield client
    client.close()


def test_a_physics_node_that_was_stopped_blames_nobody(client):
    """It looks into its queue, and gives everybody the full time again."""
    process = start_node("physics", *LOCKSTEP, "lockstep_timeout:=0.5", "lockstep_participants:=[client]")
    try:
        for _ in range(3):
            client.lockstep(50, position=TARGET)
            process.send_signal(signal.SIGSTOP)
            client.answer(client.states[-1], position=TARGET)
            time.sleep(1.2)  # longer than the timeout
            process.send_signal(signal.SIGCONT)
        client.lockstep(50, position=TARGET)
    finally:
        written = stop(process)
    assert "no answer" not in written
    assert client.events == []


def test_who_only_looks_on_does_not_take_the_robot_away(client):
    """An observer that is silent is named and left out; the controller drives on; it comes back and is waited for."""
    process = start_node("physics", *LOCKSTEP, "lockstep_timeout:=0.5", "lockstep_participants:=[client, looker]")
    kinds = lambda: [event["event"] for event in client.events]  # noqa: E731
    try:

        def both():
            client.answer(client.states[-1], sender="/looker")
            client.answer(client.states[-1], position=TARGET)

        def rounds(answer, until, what):
            seen = None

            def go():
                nonlocal seen
                if client.states and client.states[-1] is not seen:
                    seen = client.states[-1]
                    answer()
                return until()

            client.spin_until(go, what)

        rounds(both, lambda: client.states and stamp(client.states[-1]) >= 100_000_000, "0.1 s together")
        alone = lambda: client.answer(client.states[-1], position=TARGET)  # noqa: E731
        rounds(alone, lambda: stamp(client.states[-1]) >= 400_000_000, "0.4 s without the one who looks")
        assert kinds() == ["missing"]
        assert client.events[0]["who"] == ["/looker"] and client.events[0]["stamp_ns"] >= 100_000_000
        rounds(both, lambda: "back" in kinds(), "the one who looks to be back")
        left = stamp(client.states[-1])
        rounds(alone, lambda: kinds().count("missing") == 2, "it to be waited for again, and missed again")
        assert stamp(client.states[-1]) >= left
    finally:
        written = stop(process)
    assert "no answer from /looker: going on without it until it is back" in written
    assert "hold until" not in written
    assert [event["sequence"] for event in client.events] == list(range(len(client.events)))


def test_who_is_waited_for_is_named_soon_whatever_the_timeout(client):
    process = start_node("physics", *LOCKSTEP, "lockstep_timeout:=1000.0", "lockstep_participants:=[client]")
    try:
        client.lockstep(20, position=TARGET)
        client.spin_until(lambda: client.events, "physics to say whom it waits for")
        client.lockstep(2, position=TARGET)
    finally:
        written = stop(process)
    assert client.events[0]["event"] == "waiting" and client.events[0]["who"] == ["/client"]
    assert "waiting for /client (its last answer was to the state at 0.0" in written


def test_the_end_waits_for_who_looks_on_also_while_the_robot_holds(client):
    """A recorder that stands still when the run ends, after a controller was lost, still gets the last state."""
    parameters = ("lockstep_timeout:=0.3", "lockstep_participants:=[client, looker]", "duration:=0.6")
    looker = rclpy.create_node("looker", context=client.context)
    process = start_node("physics", *LOCKSTEP, *parameters)
    try:
        seen = set()

        def both_answer_for_a_while():
            for state in client.states:
                if stamp(state) not in seen and stamp(state) <= 50_000_000:
                    seen.add(stamp(state))
                    client.answer(state, sender="/looker")
                    client.answer(state, position=TARGET)
            return client.states and stamp(client.states[-1]) >= 600_000_000

        client.spin_until(both_answer_for_a_while, "the end, on hold, without either")
        time.sleep(1.8)  # longer than states are waited for that nobody answers
        assert process.poll() is None
        client.answer(client.states[-1], sender="/looker")
        client.spin_until(lambda: process.poll() is not None, "the end of physics, with the last state answered")
    finally:
        looker.destroy_node()
        written = stop(process)
    assert process.returncode == 0
    assert "no answer from /client, /looker: hold until it is back" in written
