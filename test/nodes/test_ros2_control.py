# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arm as hardware of ros2_control: a node with the topics, QoS and stamps of topic_based_ros2_control drives it."""

from __future__ import annotations

import time

import numpy as np
from lxml import etree
from physics_process import Client, stop
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from test_own_controller import launch

from mbsim_ros.nodes.physics.robot_source import LATCHED

THRESHOLD = 1e-5  # rad, below which TopicBasedSystem::write sends nothing


class TopicBasedSystem:
    """`read` and `write` of the hardware component, for joints with the command interface position."""

    def __init__(self, node, hardware):
        topics = {param.get("name"): param.text for param in hardware.iter("param")}
        self.joints = [joint.get("name") for joint in hardware.iter("joint")]
        self.state = dict.fromkeys(self.joints, 0.0)
        self.sent = 0
        self._node, self._latest = node, None
        self._commands = node.create_publisher(JointState, topics["joint_commands_topic"], QoSProfile(depth=1))
        node.create_subscription(JointState, topics["joint_states_topic"], self._on_state, qos_profile_sensor_data)

    def read(self):
        if self._latest is not None:
            self.state.update(zip(self._latest.name, self._latest.position, strict=True))
        return self._latest is not None

    def write(self, command):
        if sum(abs(self.state[name] - command[name]) for name in self.joints) <= THRESHOLD:
            return
        message = JointState(name=self.joints, position=[command[name] for name in self.joints])
        message.header.stamp = self._node.get_clock().now().to_msg()  # of the wall: it has no use_sim_time
        self._commands.publish(message)
        self.sent += 1

    def _on_state(self, message):
        self._latest = message


def test_the_arm_is_driven_as_the_hardware_of_a_controller_manager(tmp_path):
    client, descriptions = Client("/arm"), []
    client.create_subscription(String, "robot_description", descriptions.append, LATCHED)
    process = launch("controller_manager:=false", cwd=tmp_path, robot="ros2_control")
    try:
        client.spin_until(lambda: descriptions, "the description, which tells the controller manager of its hardware")
        tag = etree.fromstring(descriptions[0].data.encode()).find("ros2_control")
        assert tag.find("hardware/plugin").text == "topic_based_ros2_control/TopicBasedSystem"
        system = TopicBasedSystem(client, tag)
        client.spin_until(system.read, "a state by best effort")
        goal = {name: value + 0.2 for name, value in system.state.items()}
        begin, start = time.monotonic(), dict(system.state)

        def is_there():
            """One cycle of the controller manager: read, update, write; a straight line of half a second of wall time."""
            system.read()
            way = min(1.0, (time.monotonic() - begin) / 0.5)
            system.write({name: start[name] + way * (goal[name] - start[name]) for name in goal})
            reached = np.array([system.state[name] - goal[name] for name in goal])
            return way == 1.0 and np.abs(reached).max() < 0.03  # the drives give way to the weight

        client.spin_until(is_there, "the arm at its goal")
        assert system.sent > 5
    finally:
        said = stop(process)
        client.close()
    assert "refused a command" not in said and "no command for" not in said, said
