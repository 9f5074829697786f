# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One message of every recorded type, with values that tell mix-ups, and the bags that hold them."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Float64, Header, String, UInt64
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from mbsim_ros.nodes.transport.cdr import CdrWriter

SECOND = 1_000_000_000


def serialized(message: Any) -> bytes:
    """As it goes over the wire; rclpy's serialize_message leaves bytes between fields undefined and some after them."""
    writer = CdrWriter()
    writer.write(message)
    return bytes(writer.data)


def time_of(ns: int) -> Time:
    return Time(sec=ns // SECOND, nanosec=ns % SECOND)


def header(ns: int, frame: str = "") -> Header:
    return Header(stamp=time_of(ns), frame_id=frame)


def joint_state(ns: int, names: tuple[str, ...] = ("shoulder", "elbow"), frame: str = "", **arrays: Any) -> JointState:
    if not arrays:
        arrays = {
            "position": [0.1 + k + ns * 1e-9 for k in range(len(names))],
            "velocity": [-0.2 * k for k in range(len(names))],
            "effort": [],
        }
    return JointState(header=header(ns, frame), name=list(names), **arrays)


def odometry(ns: int) -> Odometry:
    message = Odometry(header=header(ns, "world"), child_frame_id="base")
    p, o = message.pose.pose.position, message.pose.pose.orientation
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = 1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9
    t = message.twist.twist
    t.linear.x, t.linear.y, t.linear.z, t.angular.x, t.angular.y, t.angular.z = 4.0, 5.0, 6.0, 7.0, 8.0, 9.0
    message.pose.covariance[0] = 0.5
    return message


def transform(ns: int, child: str) -> TransformStamped:
    message = TransformStamped(header=header(ns, "world"), child_frame_id=child)
    message.transform.translation.x = 0.25
    message.transform.rotation.w = 1.0
    return message


def wrench(ns: int, link: str) -> WrenchStamped:
    message = WrenchStamped(header=header(ns, link))
    message.wrench.force.x, message.wrench.torque.z = 1.5, -2.5
    return message


def velocity(ns: int) -> TwistStamped:
    message = TwistStamped(header=header(ns))
    message.twist.linear.x, message.twist.angular.z = 0.2, -0.1
    return message


def samples(ns: int) -> dict[str, Any]:
    """A message for every topic that is recorded."""
    status = DiagnosticStatus(level=b"\1", name="physics", values=[KeyValue(key="a", value="b")])
    return {
        "joint_states": joint_state(ns),
        "odom": odometry(ns),
        "motor_states": joint_state(ns, ("m",)),
        "joint_commands": joint_state(ns, frame="/arm/controller"),
        "motor_commands": joint_state(ns, (), position=[]),
        "coupling_command": String(data=f"normal@{ns}"),
        "wrench": wrench(ns, "tool"),
        "wrench_commands": MultiDOFJointState(
            header=header(ns, "/arm/controller"), joint_names=["tool"], wrench=[wrench(ns, "tool").wrench]
        ),
        "lyapunov": Float64(data=12.5),
        "cmd_vel": velocity(ns),
        "velocity_taken": velocity(ns),
        "coupling_state": String(data="normal"),
        "reset_epoch": UInt64(data=3),
        "robot_description": String(data="<robot name='ä'/>"),
        "simulation_setup": String(data="{}"),
        "simulation_journal": String(data="{}"),
        "lockstep_events": String(data="{}"),
        "/clock": Clock(clock=time_of(ns)),
        "/tf": TFMessage(transforms=[transform(ns, "a"), transform(ns, "b")]),
        "/tf_static": TFMessage(transforms=[]),
        "contacts": MarkerArray(markers=[Marker(header=header(ns, "world"), ns="foot", id=4)]),
        "/diagnostics": DiagnosticArray(header=header(ns), status=[status]),
    }
