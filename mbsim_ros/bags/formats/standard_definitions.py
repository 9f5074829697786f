# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Definitions of the messages that a recording of Python is written as, for programs that run where ROS is not.

The fields alone, in the words of common_interfaces; a test holds them and the hashes against the installed packages.
"""

from __future__ import annotations

from mbsim_ros.bags.formats.definitions import SEPARATOR, DefinitionMissing, definition, type_hash

_FIELDS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1",
    "geometry_msgs/Pose": "Point position\nQuaternion orientation",
    "geometry_msgs/PoseWithCovariance": "Pose pose\nfloat64[36] covariance",
    "geometry_msgs/Twist": "Vector3  linear\nVector3  angular",
    "geometry_msgs/TwistWithCovariance": "Twist twist\nfloat64[36] covariance",
    "geometry_msgs/Transform": "Vector3 translation\nQuaternion rotation",
    "geometry_msgs/TransformStamped": "std_msgs/Header header\nstring child_frame_id\nTransform transform",
}
_TIME = ("builtin_interfaces/Time",)
_HEADER = ("std_msgs/Header", *_TIME)
_ARRAYS = "float64[] position\nfloat64[] velocity\nfloat64[] effort"

# Type: fields, what they contain in the order in which rosbag2 lists it, hash.
STANDARD: dict[str, tuple[str, tuple[str, ...], str]] = {
    "std_msgs/msg/String": (
        "string data", (), "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
    ),
    "sensor_msgs/msg/JointState": (
        f"std_msgs/Header header\nstring[] name\n{_ARRAYS}", _HEADER,
        "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e",
    ),
    "nav_msgs/msg/Odometry": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
        "geometry_msgs/TwistWithCovariance twist",
        (
            "geometry_msgs/PoseWithCovariance", "geometry_msgs/Pose", "geometry_msgs/Point",
            "geometry_msgs/Quaternion", "geometry_msgs/TwistWithCovariance", "geometry_msgs/Twist",
            "geometry_msgs/Vector3", *_HEADER,
        ),
        "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0",
    ),
    "rosgraph_msgs/msg/Clock": (
        "builtin_interfaces/Time clock", _TIME,
        "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564",
    ),
    "tf2_msgs/msg/TFMessage": (
        "geometry_msgs/TransformStamped[] transforms",
        (
            "geometry_msgs/TransformStamped", "geometry_msgs/Transform", "geometry_msgs/Quaternion",
            "geometry_msgs/Vector3", *_HEADER,
        ),
        "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    ),
}  # fmt: skip


def installed_or_standard(message_type: str) -> tuple[str, str]:
    """Definition and hash of one of these types: as installed, or those that stand here."""
    try:
        return definition(message_type), type_hash(message_type)
    except DefinitionMissing:
        return standard_definition(message_type), STANDARD[message_type][2]


def standard_definition(message_type: str) -> str:
    """The text of a type and of all types inside it, as rosbag2 joins them."""
    fields, parts, _ = STANDARD[message_type]
    return "".join([fields, *(f"\n{SEPARATOR}\nMSG: {part}\n{_FIELDS[part]}" for part in parts)])
