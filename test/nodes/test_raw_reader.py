# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Messages read from their bytes: the same as typed ones, whatever came before."""

from __future__ import annotations

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from mbsim_ros.nodes.stamps import nanoseconds
from mbsim_ros.nodes.transport.raw_reader import KNOWN_LAYOUTS, LONGEST, RawReader, reading_of

PARTS = ("position", "velocity", "effort")


def random_state(rng) -> JointState:
    """A JointState of any shape; few different ones, so that shapes come again."""
    n = int(rng.integers(0, 6))
    message = JointState(name=[f"joint{'_' * int(rng.integers(3))}{k}" for k in range(n)])
    message.header.frame_id = str(rng.choice(["", "/arm/controller", "ä"]))
    message.header.stamp.sec, message.header.stamp.nanosec = int(rng.integers(-5, 5)), int(rng.integers(0, 10**9))
    for part in PARTS:
        setattr(message, part, rng.normal(size=int(rng.choice([0, n]))).tolist())
    return message


def test_every_number_name_and_stamp_is_that_of_the_typed_message():
    rng = np.random.default_rng(1)
    reader = RawReader(JointState)
    for _ in range(3000):
        typed = random_state(rng)
        for given in (reader.read(serialize_message(typed)), reading_of(typed)):
            assert given.stamp == nanoseconds(typed.header.stamp)
            assert given.message.name == typed.name and given.message.header.frame_id == typed.header.frame_id
            for part in PARTS:
                assert given.numbers(part).tolist() == list(getattr(typed, part))


def test_a_message_of_the_same_size_with_another_name_is_not_taken_for_the_last():
    reader = RawReader(JointState)
    for name in ("left", "rite", "left"):
        given = reader.read(serialize_message(JointState(name=[name], position=[1.0])))
        assert given.message.name == [name]


def test_names_are_the_same_object_while_they_stay_the_same():
    """Who looks up places of names need not do it again."""
    reader = RawReader(JointState)
    first, second = (reader.read(serialize_message(JointState(name=["a"], position=[x]))) for x in (1.0, 2.0))
    assert first.message.name is second.message.name
    assert (first.numbers("position")[0], second.numbers("position")[0]) == (1.0, 2.0)


def test_pose_and_twist_of_an_odometry():
    odometry = Odometry()
    odometry.pose.pose.position.x, odometry.pose.pose.orientation.w = 1.0, 0.5
    odometry.twist.twist.angular.z = 3.0
    given = RawReader(Odometry).read(serialize_message(odometry))
    assert given.numbers("pose.pose").tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]
    assert given.numbers("twist.twist").tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 3.0]


def test_more_shapes_than_are_remembered_are_read_all_the_same():
    reader = RawReader(JointState)
    for _ in range(2):
        for n in range(2 * KNOWN_LAYOUTS):
            data = serialize_message(JointState(name=["x" * n], position=[float(n)]))
            assert reader.read(data).numbers("position").tolist() == [float(n)]


@pytest.mark.parametrize("data", [b"", b"\0\1\0\0", b"\0\1\0\0" + b"\xff" * 40, bytes(LONGEST + 1)])
def test_what_is_no_message_is_refused(data):
    with pytest.raises(ValueError, match="expected a JointState"):
        RawReader(JointState).read(data)
