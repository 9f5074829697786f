# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Patched bytes are what the middleware would have made of the typed message."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from mbsim_ros.nodes.transport.cdr import CdrWriter
from mbsim_ros.nodes.transport.patched_message import PatchedMessage

SECOND = 1_000_000_000
STAMPS = [0, 1, 999_999_999, SECOND, 1234 * SECOND + 567_891_234, (2**31 - 1) * SECOND + 999_999_999]


def random_message(kind, rng):
    """A message whose strings and arrays have random lengths, all numbers zero."""

    def name():
        return "".join(rng.choice(list("abcdü"), rng.integers(0, 12)))

    if kind is JointState:
        n = rng.integers(0, 6)
        message = JointState(name=[name() for _ in range(n)], position=[0.0] * n, effort=[0.0] * n)
        message.velocity = [0.0] * (n if rng.random() < 0.5 else 0)
    elif kind is TFMessage:
        message = TFMessage(transforms=[TransformStamped(child_frame_id=name()) for _ in range(rng.integers(0, 5))])
        for transform in message.transforms:
            transform.header.frame_id = name()
    else:
        message = kind()
        if kind is Odometry:
            message.header.frame_id, message.child_frame_id = name(), name()
    return message


def set_typed(message, values, stamp):
    """Set the numbers of a typed message, field by field in the order of its definition."""
    seconds, nanoseconds = divmod(stamp, SECOND)
    headers = [t.header for t in message.transforms] if isinstance(message, TFMessage) else [message]
    for holder in headers:
        time = holder.clock if isinstance(message, Clock) else getattr(holder, "header", holder).stamp
        time.sec, time.nanosec = seconds, nanoseconds
    values = iter(values)
    if isinstance(message, JointState):
        for field in (message.position, message.velocity, message.effort):
            field[:] = type(field)("d", [next(values) for _ in field])
    elif isinstance(message, TFMessage):
        for t in message.transforms:
            t.transform.translation.x, t.transform.translation.y, t.transform.translation.z = (
                next(values) for _ in range(3)
            )
            r = t.transform.rotation
            r.x, r.y, r.z, r.w = (next(values) for _ in range(4))
    elif isinstance(message, Odometry):
        p, r = message.pose.pose.position, message.pose.pose.orientation
        p.x, p.y, p.z, r.x, r.y, r.z, r.w = (next(values) for _ in range(7))
        message.pose.covariance = np.array([next(values) for _ in range(36)])
        v, w = message.twist.twist.linear, message.twist.twist.angular
        v.x, v.y, v.z, w.x, w.y, w.z = (next(values) for _ in range(6))
        message.twist.covariance = np.array([next(values) for _ in range(36)])


FIELDS = {
    JointState: ("position", "velocity", "effort"), TFMessage: ("transforms",), Odometry: ("pose", "twist"), Clock: (),
}  # fmt: skip


@pytest.mark.parametrize("kind", FIELDS)
def test_patched_bytes_are_those_of_the_typed_message(kind):
    rng = np.random.default_rng(3)
    for stamp in STAMPS * 4:
        message = random_message(kind, rng)
        patched = PatchedMessage(message)
        places = np.concatenate([np.zeros(0, int), *(patched.places(field) for field in FIELDS[kind])])
        values = rng.normal(size=len(places)) * 10.0 ** rng.integers(-300, 300, len(places))
        patched.words[places] = values
        patched.set_stamp(stamp)
        set_typed(message, values.tolist(), stamp)
        assert deserialize_message(patched.tobytes(), kind) == message
        writer = CdrWriter()
        writer.write(message)
        ours, theirs = bytearray(patched.tobytes()), bytearray(serialize_message(message))
        for place in writer.filling:  # what the middleware leaves there is undefined
            assert ours[place] == 0
            theirs[place] = 0
        # it also adds undefined bytes at the end where an empty sequence of float64 made its estimate too large
        assert ours == theirs[: len(ours)]
        assert len(theirs) <= len(ours) + 8 * 2


def test_patching_starts_from_the_given_message_and_leaves_it_alone():
    message = JointState(name=["a", "b"], position=[1.0, 2.0])
    message.header.stamp.sec = 7
    patched = PatchedMessage(message)
    assert deserialize_message(patched.tobytes(), JointState) == message
    patched.numbers("position")[:] = 5.0
    assert message.position.tolist() == [1.0, 2.0]
    assert patched.tobytes() != PatchedMessage(message).tobytes()


def test_fields_that_are_not_there_or_not_in_a_row_are_refused():
    patched = PatchedMessage(TFMessage(transforms=[TransformStamped(), TransformStamped()]))
    with pytest.raises(KeyError, match="TFMessage has no field 'position'"):
        patched.places("position")
    with pytest.raises(ValueError, match="in a row.*'transforms'"):
        patched.numbers("transforms")
    assert len(patched.numbers("transforms[1]")) == 7
    assert len(PatchedMessage(String(data="no numbers")).numbers("data")) == 0
