# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Publishes what joints carry, as a force-torque sensor in each of them would: joint_wrench/<joint>."""

from __future__ import annotations

from collections.abc import Iterable

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from std_msgs.msg import Header

from mbsim_ros.integrators.driven import NO_JOINT_WRENCHES
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.nodes.frames import frame_name, topic_name
from mbsim_ros.nodes.transport.patched_topic import PatchedTopic
from mbsim_ros.sim.simulation import Simulation

ALL = "all"
PARAMETER = "joint_wrench_joints"


class JointWrenchPublisher:
    """Publishes joint_wrench/<joint> (WrenchStamped) with every state, where somebody listens.

    The wrench of the last step that the parent exerts on the child, at the child's origin in its axes, which
    `header.frame_id` names.
    """

    def __init__(self, node: Node, sim: Simulation, joints: Iterable[str], frame_prefix: str = ""):
        """joints: names, or `all`; ValueError for those that there are not, and with a scheme that cannot tell."""
        self._node, self._prefix = node, frame_prefix
        self._asked = [name for name in joints if name]
        self._topics: dict[str, tuple[int, PatchedTopic]] = {}  # by joint, with its place among all
        known = sim.model.joint_names
        for name in self._asked:
            if name != ALL and name not in known:
                hint = did_you_mean(name, known, f"there are {', '.join(known) or 'none'}", 0)
                fixed = " that moves" if name in sim.model.joint_frames else ""
                raise ValueError(f"{PARAMETER}: expected `all` or names of joints, no joint{fixed} is {name!r}: {hint}")
        if self._asked and not sim.capabilities.joint_wrenches:
            raise ValueError(f"{PARAMETER}: integrator '{sim.capabilities.title}': {NO_JOINT_WRENCHES}")
        self.read_model(sim.model)

    def read_model(self, model: Model) -> None:
        """From now on this is the robot; of joints that stay the topic stays, of those that are gone it goes."""
        wanted = model.joint_names if ALL in self._asked else tuple(dict.fromkeys(self._asked))
        places = {name: place for place, name in enumerate(model.joint_names) if name in wanted}
        before, self._topics = self._topics, {}
        for name, (_, topic) in before.items():
            if name not in places:
                self._node.destroy_publisher(topic.publisher)
        for name, place in places.items():
            frame = frame_name(model.joint(name).child_link, self._prefix)
            topic = before[name][1] if name in before else self._topic(name, frame)
            self._topics[name] = place, topic

    def publish(self, stamp_ns: int, sim: Simulation) -> None:
        """Publish the wrenches of the last step at a time [ns]."""
        wanted = [each for each in self._topics.values() if each[1].has_listeners]
        if not wanted:
            return
        try:
            wrenches = sim.joint_wrench_rows()
        except ValueError:  # after a step that failed: nothing is known, and nothing is said
            return
        for place, topic in wanted:
            topic.message.numbers("wrench")[:] = wrenches[place]
            topic.publish(stamp_ns)

    def repeat(self, stamp_ns: int) -> None:
        """What was published last once more."""
        for _, topic in self._topics.values():
            if topic.has_listeners:
                topic.publish(stamp_ns)

    def _topic(self, joint: str, frame: str) -> PatchedTopic:
        name = "/".join(topic_name(part) for part in joint.split("/"))
        taken = {topic.publisher.topic_name for _, topic in self._topics.values()}
        while any(each.endswith(f"joint_wrench/{name}") for each in taken):  # as of hip-1 and hip.1
            name += "_"
        return PatchedTopic(self._node, WrenchStamped(header=Header(frame_id=frame)), f"joint_wrench/{name}", 10)
