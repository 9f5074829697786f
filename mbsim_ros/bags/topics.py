# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is recorded by default: the topics of a simulation with their types and qualities of service."""

from __future__ import annotations

from dataclasses import dataclass

SETUP_TOPIC, STATE_TOPIC, ODOMETRY_TOPIC = "simulation_setup", "joint_states", "odom"
JOURNAL_TOPIC, EVENTS_TOPIC = "simulation_journal", "lockstep_events"
JOURNAL_DEPTH, EVENTS_DEPTH = 500, 100  # messages
STATES_DEPTH = 1000  # states that a reader may be behind with before one is lost to it
JOINT_STATE, STRING = "sensor_msgs/msg/JointState", "std_msgs/msg/String"
TELL = "tell"  # they tell the simulated time
ANSWER = "answer"  # made by others: of the state that is answered, or anything
WHOLE = "whole"  # none that matters: the message is about the whole run
IGNORED = "ignored"  # by physics, which acts when the message comes
INFINITE = {"sec": 9223372036, "nsec": 854775807}  # as rosbag2 writes a deadline that there is not


@dataclass(frozen=True)
class Quality:
    """The quality of service of a publisher, as far as it matters to a recording."""

    latched: bool = False  # transient local: who comes late gets the last message
    depth: int = 10
    reliable: bool = True

    def profile(self) -> dict[str, object]:
        """As rosbag2 writes it since Jazzy (metadata version 9)."""
        return {
            "history": "keep_last",
            "depth": self.depth,
            "reliability": "reliable" if self.reliable else "best_effort",
            "durability": "transient_local" if self.latched else "volatile",
            "deadline": dict(INFINITE),
            "lifespan": dict(INFINITE),
            "liveliness": "automatic",
            "liveliness_lease_duration": dict(INFINITE),
            "avoid_ros_namespace_conventions": False,
        }


@dataclass(frozen=True)
class Topic:
    """A topic to record, and what the stamps on it are."""

    name: str  # relative to the namespace, or absolute
    type: str
    quality: Quality = Quality()
    stamps: str = TELL


LATCHED, STREAM = Quality(latched=True, depth=1), Quality()
STATES = Quality(latched=True, depth=STATES_DEPTH)

STANDARD = (
    Topic(STATE_TOPIC, JOINT_STATE, STATES),
    Topic(ODOMETRY_TOPIC, "nav_msgs/msg/Odometry", STATES),
    Topic("motor_states", JOINT_STATE, STATES),
    Topic("joint_commands", JOINT_STATE, STREAM, ANSWER),
    Topic("motor_commands", JOINT_STATE, STREAM, ANSWER),
    Topic("wrench_commands", "sensor_msgs/msg/MultiDOFJointState", STREAM, ANSWER),
    Topic("coupling_command", STRING, STREAM, ANSWER),
    Topic("wrench", "geometry_msgs/msg/WrenchStamped", STREAM, IGNORED),
    Topic("cmd_vel", "geometry_msgs/msg/TwistStamped", STREAM, ANSWER),
    Topic("velocity_taken", "geometry_msgs/msg/TwistStamped", STREAM),
    Topic("coupling_state", STRING, LATCHED),
    Topic("reset_epoch", "std_msgs/msg/UInt64", LATCHED),
    Topic("robot_description", STRING, LATCHED, WHOLE),
    Topic(SETUP_TOPIC, STRING, LATCHED, WHOLE),
    Topic(JOURNAL_TOPIC, STRING, Quality(depth=JOURNAL_DEPTH), IGNORED),
    Topic(EVENTS_TOPIC, STRING, Quality(latched=True, depth=EVENTS_DEPTH), IGNORED),
    Topic("/clock", "rosgraph_msgs/msg/Clock", STREAM),
    Topic("/tf", "tf2_msgs/msg/TFMessage", Quality(depth=100)),
    Topic("/tf_static", "tf2_msgs/msg/TFMessage", LATCHED, WHOLE),
)
OPTIONAL = (
    Topic("contacts", "visualization_msgs/msg/MarkerArray", STREAM),
    Topic("lyapunov", "std_msgs/msg/Float64", STREAM),
    Topic("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", STREAM),
)
_KNOWN = {topic.name: topic for topic in (*STANDARD, *OPTIONAL)}
_WRENCHES = ("contact_wrench/", "joint_wrench/")  # one topic for each link, for each joint


def chosen_topic(text: str) -> Topic:
    """The topic of an entry ``name`` or ``name:package/msg/Type``. Raises ValueError where the type is not known."""
    name, _, given = text.strip().partition(":")
    known = _KNOWN.get(name) or _KNOWN.get(name.rpartition("/")[2]) or _KNOWN.get("/" + name)
    if not name:
        raise ValueError(f"topics: expected name or name:package/msg/Type, got '{text}'")
    if known and given in ("", known.type):
        absolute = name if name.startswith("/") or not known.name.startswith("/") else known.name
        return Topic(absolute, known.type, known.quality, known.stamps)
    if given:
        return Topic(name, given)
    if any(name.rpartition(each)[1] for each in _WRENCHES):
        return Topic(name, "geometry_msgs/msg/WrenchStamped")
    raise ValueError(f"topics: the type of '{name}' is not known here: write {name}:package/msg/Type")
