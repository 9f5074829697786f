# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""joint_wrench/<joint>: what a process that listens hears is what the simulation says, in the child link's frame."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from topic_listener import listening, wait_for_match

from mbsim_ros import Simulation
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.nodes.publishers.joint_wrench_publisher import JointWrenchPublisher

STAMP = 12_345_678_901


@pytest.fixture
def node(ros_domain):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("physics", namespace="/arm", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


def arm(**options):
    builder = ModelBuilder("arm").link("world")
    for number, parent in enumerate(("world", "link_1")):
        name = f"link_{number + 1}"
        builder.link(name, mass=1.0, com=(0, 0, -0.2), box=(0.1, 0.1, 0.4))
        builder.joint(f"joint-{number + 1}", "continuous", parent, name, xyz=(0.1, 0, -0.4), axis=(0, 1, 0))
    return Simulation(builder.build("fixed"), terrain=False, **options)


def test_wrenches_of_joints_arrive_in_another_process(node, tmp_path):
    sim = arm()
    sim.reset(q=[0.4, -0.2], v=[1.0, 0.0])
    publisher = JointWrenchPublisher(node, sim, ["joint-2"], frame_prefix="left/")
    publisher.publish(0, sim)  # nobody listens
    topics = {"/arm/joint_wrench/joint_2": (WrenchStamped, False)}
    with listening(tmp_path / "heard", topics) as listener:
        wait_for_match(node, topics)
        sim.advance(20)
        publisher.publish(STAMP, sim)
        publisher.repeat(STAMP)
        (_, heard), (_, again) = listener.heard(2)
    assert heard == again
    assert heard["header"] == {"stamp": {"sec": 12, "nanosec": 345_678_901}, "frame_id": "left/link_2"}
    numbers = [*heard["wrench"]["force"].values(), *heard["wrench"]["torque"].values()]
    assert numbers == sim.joint_wrenches()["joint-2"].tolist()
    assert np.linalg.norm(numbers) > 5.0
    assert [name for name, _ in node.get_topic_names_and_types() if "joint_wrench" in name] == list(topics)


def test_what_cannot_be_published_is_refused_before_time_begins():
    node = SimpleNamespace()  # none of it is touched
    with pytest.raises(ValueError, match=r"joint_wrench_joints.*'joint-3'.*joint-2"):
        JointWrenchPublisher(node, arm(), ["joint-1", "joint-3"])
    with pytest.raises(ValueError, match=r"joint_wrench_joints: integrator 'rk4'"):
        JointWrenchPublisher(node, arm(integrator="rk4", stops=False), ["all"])
