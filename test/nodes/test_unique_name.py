# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""There is one physics node of a name: the second is refused and told who is first, unless that one is dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
import rclpy
from physics_process import PATIENCE, ROOT, Client, start_node, stop
from rclpy.node import Node

from mbsim_ros.nodes.run_node import BAD_INPUT
from mbsim_ros.nodes.unique_name import NameTaken, claim_name, refuse_if_in_graph

ARM = f"robot_file:={ROOT}/urdf/arm.urdf.xacro"


@pytest.fixture
def client():
    client = Client("left")
    yield client
    client.close()


@pytest.fixture
def make_node(ros_domain):
    """Makes nodes, each with a participant of its own."""
    made = []

    def make(**options):
        context = rclpy.Context()
        rclpy.init(context=context)
        made.append((Node("physics", context=context, **options), context))
        return made[-1][0]

    yield make
    for node, context in made:
        node.destroy_node()
        context.try_shutdown()


def test_the_second_physics_is_refused_and_a_dead_one_replaced_at_once(client):
    first = start_node("physics", ARM, "start:=run", namespace="/left")
    try:
        client.wait_for_state()
        second = start_node("physics", ARM, "start:=run", namespace="/left")
        written = second.communicate(timeout=PATIENCE)[0]
        assert second.returncode == BAD_INPUT
        domain = os.environ["ROS_DOMAIN_ID"]
        assert f"a node named '/left/physics' in ROS domain {domain} already (pid {first.pid} on " in written
        assert "Traceback" not in written

        client.states.clear()
        client.spin_until(lambda: client.states, "the first to go on")
        first.send_signal(signal.SIGKILL)
        first.wait()
        client.states.clear()
        first = start_node("physics", ARM, "start:=run", namespace="/left")
        client.spin_until(lambda: client.states or first.poll() is not None, "the next one")
        assert first.poll() is None
    finally:
        stop(first)


def test_names_are_apart_by_namespace_and_domain(make_node, new_domain, monkeypatch):
    first = claim_name(make_node())
    other = claim_name(make_node(namespace="other"))
    monkeypatch.setenv("ROS_DOMAIN_ID", str(new_domain()))
    elsewhere = claim_name(make_node())
    long = "/".join(["namespace"] * 20)
    longer = [claim_name(make_node(namespace=f"{long}/{end}")) for end in "ab"]
    assert None not in (first, other, elsewhere, *longer)
    with pytest.raises(NameTaken, match=rf"'/physics' in ROS domain \d+ already \(pid {os.getpid()} on "):
        claim_name(make_node())
    elsewhere.close()
    claim_name(make_node()).close()


ANSWERING = """
import rclpy
rclpy.init()
rclpy.spin(rclpy.create_node("physics"))
"""


def test_one_of_another_host_is_known_by_the_graph_and_only_if_it_answers(make_node):
    """It has not the socket, which is of this host."""
    other = subprocess.Popen([sys.executable, "-c", ANSWERING])
    try:
        node = make_node()
        client = Client()
        client.spin_until(lambda: node.get_fully_qualified_node_names().count("/physics") == 2, "the other one")
        client.close()
        with pytest.raises(NameTaken, match="seen over the network"):
            refuse_if_in_graph(node)
        other.send_signal(signal.SIGSTOP)  # as good as dead
        refuse_if_in_graph(node)
    finally:
        other.kill()
        other.wait()
    refuse_if_in_graph(node)  # the graph may still have it
