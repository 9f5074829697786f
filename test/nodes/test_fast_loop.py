# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The fast loop: hot messages in order, everything else of the node as an executor would serve it."""

from __future__ import annotations

import threading
import time

import pytest
import rclpy
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from std_srvs.srv import Trigger

from mbsim_ros.nodes.transport.fast_loop import FastLoop

PATIENCE = 60.0  # s, until something must be wrong


class Bench:
    """A node with two hot topics and publishers to them, and what was heard."""

    def __init__(self):
        self.context = Context()
        rclpy.init(context=self.context)
        self.node = Node("bench", context=self.context)
        self.heard: list[tuple[str, str]] = []
        self.publishers = {name: self.node.create_publisher(String, name, 20) for name in ("first", "second", "other")}
        self.hot = {
            name: self.node.create_subscription(String, name, _never, QoSProfile(depth=20))
            for name in ("first", "second")
        }
        self.loop = FastLoop(self.node, [(self.hot[name], self.noting(name)) for name in ("first", "second")])

    def noting(self, name):
        return lambda message: self.heard.append((name, message.data))

    def send(self, name, *words):
        for word in words:
            self.publishers[name].publish(String(data=word))

    def wait_for(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"heard only {self.heard}"
            self.loop.wait(0.1)

    def close(self):
        if self.context.ok():
            self.loop.close()
            self.node.destroy_node()
            rclpy.shutdown(context=self.context)


def _never(_):
    raise AssertionError("the subscription's own callback was called")


@pytest.fixture
def bench():
    made = Bench()
    yield made
    made.close()


def test_all_messages_come_in_order_topic_by_topic(bench):
    bench.send("second", "c", "d")
    bench.send("first", "a", "b")
    time.sleep(0.5)  # all are there before the loop looks
    assert bench.loop.wait(1.0)
    assert bench.heard == [("first", "a"), ("first", "b"), ("second", "c"), ("second", "d")]


def test_it_waits_no_longer_than_told_and_says_whether_there_was_something(bench):
    bench.loop.serve()
    begin = time.monotonic()
    assert not bench.loop.wait(0.15)
    assert time.monotonic() - begin >= 0.15
    assert not bench.loop.wait(0.0)
    bench.send("first", "a")
    assert bench.loop.wait(PATIENCE)
    assert bench.heard == [("first", "a")]


def test_services_timers_guards_and_other_topics_are_served_too(bench):
    ticks, guarded = [], []
    bench.node.create_timer(0.02, lambda: ticks.append(time.monotonic()))
    bench.node.create_guard_condition(lambda: guarded.append(True)).trigger()
    bench.node.create_subscription(String, "other", bench.noting("other"), 10)
    bench.node.create_service(Trigger, "act", lambda _, answer: Trigger.Response(success=True, message="done"))
    client = bench.node.create_client(Trigger, "act")
    bench.wait_for(client.service_is_ready)
    future = client.call_async(Trigger.Request())
    bench.send("other", "x")
    bench.wait_for(lambda: future.done() and len(ticks) > 5 and ("other", "x") in bench.heard)
    assert guarded == [True]
    assert future.result().message == "done"


def test_the_rest_is_served_while_hot_messages_pour_in(bench):
    ticks = []
    bench.node.create_timer(0.01, lambda: ticks.append(time.monotonic()))
    bench.loop.serve()
    end = time.monotonic() + PATIENCE
    sent = 0
    while len(ticks) < 5:
        assert time.monotonic() < end
        bench.send("first", str(sent))
        sent += 1
        bench.wait_for(lambda sent=sent: len(bench.heard) == sent)
    assert bench.heard == [("first", str(k)) for k in range(sent)]


def test_what_a_handler_raises_comes_out(bench):
    loop_of = bench.loop
    bench.node.create_timer(0.01, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        loop_of.wait(PATIENCE)


def test_a_subscription_that_is_destroyed_lives_until_the_loop_is_closed(bench):
    bench.send("first", "a")
    bench.wait_for(lambda: bench.heard)
    bench.node.destroy_subscription(bench.hot["first"])
    bench.send("first", "b")
    bench.wait_for(lambda: ("first", "b") in bench.heard)
    bench.loop.close()
    with pytest.raises(InvalidHandle), bench.hot["first"].handle:
        pass


def test_slack_topics_are_served_while_hot_messages_pour_in_and_when_they_are_silent(bench):
    bench.loop.close()
    hot, slack = ([(bench.hot[name], bench.noting(name))] for name in ("first", "second"))
    bench.loop = FastLoop(bench.node, hot, slack)
    bench.send("second", "a")
    bench.wait_for(lambda: ("second", "a") in bench.heard)
    bench.send("second", "b")
    end = time.monotonic() + PATIENCE
    while ("second", "b") not in bench.heard:
        assert time.monotonic() < end, "a slack topic was not served"
        bench.send("first", "x")
        bench.loop.wait(0.1)


def test_a_shutdown_ends_the_waiting(bench):
    timer = threading.Timer(0.2, lambda: rclpy.shutdown(context=bench.context))
    timer.start()
    with pytest.raises(ExternalShutdownException):
        while True:
            bench.loop.wait()
    with pytest.raises(ExternalShutdownException):
        bench.loop.wait(0.1)
    timer.join()


def test_the_node_can_be_spun_again_afterwards(bench):
    bench.loop.close()
    ticks = []
    bench.node.create_timer(0.01, lambda: ticks.append(True))
    executor = rclpy.executors.SingleThreadedExecutor(context=bench.context)
    executor.add_node(bench.node)
    while not ticks:
        executor.spin_once(timeout_sec=1.0)
    executor.shutdown()
