# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The times and values that are read from serialized messages, against rclpy's own serialisation."""

from __future__ import annotations

import numpy as np
import pytest
from message_samples import SECOND, joint_state, odometry, samples, transform, wrench
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from mbsim_ros.bags.formats.cdr import joint_message, odometry_message, string_message, wrench_message
from mbsim_ros.bags.formats.definitions import stamp_offset
from mbsim_ros.bags.sim_time import SimTime
from mbsim_ros.bags.topics import STANDARD, Topic

TOPICS = {topic.name: topic for topic in STANDARD}
WALL = 1_700_000_000 * SECOND


def test_stamped_messages_have_their_stamps_as_time():
    for ns in (0, 1, 2 * SECOND + 3):
        clock = SimTime()
        for name in ("joint_states", "odom", "motor_states", "/clock", "/tf"):
            assert clock.reader(TOPICS[name])(serialize_message(samples(ns)[name])) == ns
        assert clock.now == ns


def test_messages_without_stamp_have_the_time_that_is():
    clock = SimTime()
    state = clock.reader(TOPICS["joint_states"])
    robot = clock.reader(TOPICS["robot_description"])
    data = serialize_message(String(data="x"))
    assert robot(data) is None
    state(serialize_message(joint_state(5)))
    assert robot(data) == 5
    assert clock.reader(TOPICS["/tf"])(serialize_message(TFMessage())) == 5
    state(serialize_message(joint_state(9)))
    state(serialize_message(joint_state(3)))
    assert clock.reader(TOPICS["coupling_state"])(data) == 9, "time does not go back"
    assert robot(data) == 5, "it is about the whole run"
    assert clock.reader(TOPICS["/tf_static"])(serialize_message(samples(0)["/tf"])) == 5


@pytest.mark.parametrize("stamp", [0, 7 * SECOND, 11 * SECOND])
def test_stamps_of_answers_are_their_times(stamp):
    clock = SimTime()
    clock.reader(TOPICS["/clock"])(serialize_message(samples(10 * SECOND)["/clock"]))
    assert clock.reader(TOPICS["joint_commands"])(serialize_message(joint_state(stamp, frame="/a"))) == stamp
    assert clock.reader(TOPICS["coupling_command"])(serialize_message(String(data=f"a@{stamp}"))) == stamp
    assert clock.now == 10 * SECOND


@pytest.mark.parametrize(("stamp", "frame"), [(0, ""), (WALL, ""), (WALL, "/a")])
def test_stamps_that_are_no_simulated_time_are_not_believed(stamp, frame):
    clock = SimTime()
    clock.reader(TOPICS["/clock"])(serialize_message(samples(10 * SECOND)["/clock"]))
    assert clock.reader(TOPICS["joint_commands"])(serialize_message(joint_state(stamp, frame=frame))) == 10 * SECOND
    assert clock.reader(TOPICS["coupling_command"])(serialize_message(String(data=f"a@{WALL}"))) == 10 * SECOND
    assert clock.reader(TOPICS["wrench"])(serialize_message(wrench(stamp, "tool"))) == 10 * SECOND


def test_coupling_command_without_stamp():
    clock = SimTime()
    clock.reader(TOPICS["/clock"])(serialize_message(samples(4)["/clock"]))
    for text in ("normal", "", "123", "a@b", "@"):
        assert clock.reader(TOPICS["coupling_command"])(serialize_message(String(data=text))) == 4


def test_where_stamps_are():
    assert stamp_offset("sensor_msgs/msg/JointState") == 4
    assert stamp_offset("builtin_interfaces/msg/Time") == 4
    assert stamp_offset("visualization_msgs/msg/MarkerArray") == 8
    assert stamp_offset("std_msgs/msg/Float64MultiArray") is None
    assert stamp_offset("std_msgs/msg/Empty") is None
    assert stamp_offset("geometry_msgs/msg/Polygon") is None
    assert SimTime().reader(Topic("a", "geometry_msgs/msg/Polygon"))(b"\0\1\0\0") is None


@pytest.mark.parametrize("names", [(), ("a",), ("ab", "c"), ("shoulder", "elbow", "ünder")])
@pytest.mark.parametrize("frame", ["", "x", "abc", "/arm/node"])
@pytest.mark.parametrize("parts", [("position",), ("velocity", "effort"), ("position", "velocity", "effort"), ()])
def test_joint_states_are_read_as_they_were_written(names, frame, parts):
    rng = np.random.default_rng(len(names) + len(frame))
    given = {part: rng.normal(size=len(names)) for part in parts}
    message = joint_state(3 * SECOND + 7, names, frame, position=[])
    for part, values in given.items():
        setattr(message, part, values)
    found = joint_message(serialize_message(message))
    assert (found.stamp, found.frame_id, found.names) == (3 * SECOND + 7, frame, names)
    for part in ("position", "velocity", "effort"):
        assert getattr(found, part).tobytes() == given.get(part, np.empty(0)).tobytes()


def test_other_messages_are_read_as_they_were_written():
    found = odometry_message(serialize_message(odometry(9)))
    assert (found.stamp, found.frame_id, found.child_frame_id) == (9, "world", "base")
    assert found.pose.tolist() == [1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9]
    assert found.twist.tolist() == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    push = wrench_message(serialize_message(wrench(8, "tool")))
    assert (push.stamp, push.frame_id) == (8, "tool")
    assert (push.force.tolist(), push.torque.tolist()) == ([1.5, 0.0, 0.0], [0.0, 0.0, -2.5])
    assert string_message(serialize_message(String(data="ä€"))) == "ä€"
    clock = SimTime()
    assert clock.reader(TOPICS["/tf"])(serialize_message(TFMessage(transforms=[transform(6, "a")]))) == 6
