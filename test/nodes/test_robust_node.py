# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a callback raises is answered and logged, and the node goes on: by construction, and in the nodes themselves."""

from __future__ import annotations

import time

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from physics_process import ROOT, Client, start_node, stop
from rcl_interfaces.msg import Parameter as ParameterMessage, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.context import Context
from rclpy.parameter import Parameter
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from mbsim_ros.nodes.robust_node import RobustNode
from mbsim_ros.nodes.transport.fast_loop import FastLoop

PATIENCE = 60.0  # s, until something must be wrong


class Bench:
    """A robust node with its loop, and what it heard."""

    def __init__(self):
        self.context = Context()
        rclpy.init(context=self.context)
        self.node = RobustNode("bench", context=self.context)
        self.heard: list[str] = []
        self.hot = self.node.create_subscription(String, "hot", lambda _: None, 20)
        self.cold = self.node.create_subscription(String, "cold", self._hear, 20)
        self.publishers = {name: self.node.create_publisher(String, name, 20) for name in ("hot", "cold")}
        self.loop = FastLoop(self.node, [(self.hot, self._hear)], on_failure=self.node.outlive)

    def _hear(self, message: String) -> None:
        if message.data == "bad":
            raise KeyError(message.data)
        self.heard.append(message.data)

    def wait_for(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, (self.heard, self.node.failures)
            self.loop.wait(0.1)

    def call(self, kind, name, request):
        client = self.node.create_client(kind, name)
        self.wait_for(client.service_is_ready)
        future = client.call_async(request)
        self.wait_for(future.done)
        return future.result()

    def close(self):
        self.loop.close()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def bench():
    made = Bench()
    yield made
    made.close()


@pytest.mark.parametrize("topic", ["hot", "cold"])
def test_a_message_that_cannot_be_handled_does_not_keep_others_from_being_heard(bench, topic):
    for word in ("before", "bad", "after"):
        bench.publishers[topic].publish(String(data=word))
    bench.wait_for(lambda: "after" in bench.heard)
    assert bench.heard == ["before", "after"]
    assert bench.node.failures == {f"topic '/{topic}'": 1}


def test_a_topic_that_could_not_be_read_once_is_read_again(bench):
    """Some middlewares raise where a message is not one of the type; rclpy then forgets the topic and its group."""
    bench.cold.msg_type = int  # nothing that can be taken
    bench.publishers["cold"].publish(String(data="lost"))
    bench.wait_for(lambda: bench.node.failures["topic '/cold'"])
    bench.cold.msg_type = String
    bench.publishers["cold"].publish(String(data="after"))
    bench.wait_for(lambda: "after" in bench.heard)


def test_timers_go_on(bench):
    ticks = []

    def tick():
        ticks.append(1 / (len(ticks) % 2))

    bench.node.create_timer(0.01, tick)
    ticks.append(0)
    bench.wait_for(lambda: sum(bench.node.failures.values()) >= 2 and len(ticks) >= 2)


def test_who_calls_a_service_is_told(bench):
    async def later(request, response):
        raise ArithmeticError("too late")

    def at_once(request, response):
        response.success = True
        return {}[request.data]

    bench.node.create_service(Trigger, "later", later)
    bench.node.create_service(SetBool, "at_once", at_once)
    for _ in range(2):
        answer = bench.call(Trigger, "later", Trigger.Request())
        assert (answer.success, answer.message) == (False, "ArithmeticError: too late")
        answer = bench.call(SetBool, "at_once", SetBool.Request(data=True))
        assert (answer.success, answer.message) == (False, "KeyError: True")
    assert bench.node.failures == {"service '/later'": 2, "service '/at_once'": 2}


def test_parameters_are_refused(bench):
    bench.node.declare_parameter("gain", 1.0)
    bench.node.add_on_set_parameters_callback(lambda changes: [][changes[0].name])
    good = Parameter("gain", value=2.0).to_parameter_msg()
    nonsense = ParameterMessage(name="gain", value=ParameterValue(type=99))
    for given, word in ((good, "TypeError"), (nonsense, "99")):
        (result,) = bench.call(SetParameters, "bench/set_parameters", SetParameters.Request(parameters=[given])).results
        assert not result.successful and word in result.reason
        request = SetParametersAtomically.Request(parameters=[given])
        result = bench.call(SetParametersAtomically, "bench/set_parameters_atomically", request).result
        assert not result.successful and word in result.reason
    assert bench.node.get_parameter("gain").value == 1.0


def test_the_physics_node_outlives_a_parameter_of_no_type():
    """Which rclpy itself cannot read: refused, counted, and time goes on."""
    robot = f"robot_file:={ROOT}/urdf/double_pendulum.urdf"
    physics = start_node("physics", robot, "sync:=async", "start:=run", "diagnostics_period:=0.1")
    client = Client()
    counted: dict[str, str] = {}

    def count(message):
        counted.update({value.key: value.value for status in message.status for value in status.values})

    client.create_subscription(DiagnosticArray, "/diagnostics", count, 10)
    try:
        client.wait_for_state()
        nonsense = ParameterMessage(name="real_time_factor", value=ParameterValue(type=99))
        request = SetParameters.Request(parameters=[nonsense])
        (result,) = client.call("physics/set_parameters", SetParameters, request).results
        assert not result.successful and "99" in result.reason
        client.spin_until(
            lambda: counted.get("failed: service '/physics/set_parameters'") == "1", f"its count, {counted}"
        )
        seen = len(client.states)
        client.spin_until(lambda: len(client.states) > seen, "the next state")
        assert client.call("pause").success
    finally:
        client.close()
        said = stop(physics)
    assert physics.returncode == 0, said
    assert "service '/physics/set_parameters' failed" in said
