# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Publishes contacts: markers to look at, and the wrench on every link that can touch something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import Point, Vector3, WrenchStamped
from rclpy.node import Node
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.frames import frame_name, topic_name
from mbsim_ros.nodes.stamps import stamp_of
from mbsim_ros.nodes.transport.patched_topic import PatchedTopic
from mbsim_ros.nodes.transport.topic_scope import TopicScope
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.contacts import ContactReport
from mbsim_ros.sim.surroundings.link_wrenches import LinkWrenches

WEIGHT_LENGTH = 0.5  # m, of the arrow for a force as large as the robot's weight
SPHERE = 0.02  # m, diameter
ARROW = Vector3(x=0.01, y=0.02, z=0.0)  # m, diameters of shaft and head
COLOURS = {
    ContactMode.SLIDING: ColorRGBA(r=1.0, g=0.55, b=0.0, a=1.0),
    ContactMode.SLIDING_TO_STICKING: ColorRGBA(r=0.8, g=0.9, b=0.1, a=1.0),
    ContactMode.STICKING: ColorRGBA(r=0.1, g=0.75, b=0.2, a=1.0),
    ContactMode.STICKING_TO_SLIDING: ColorRGBA(r=0.9, g=0.15, b=0.1, a=1.0),
    ContactMode.NEGATIVE_NORMAL_FORCE: ColorRGBA(r=0.2, g=0.4, b=1.0, a=1.0),
}


class ContactPublisher:
    """Publishes contacts (MarkerArray) and contact_wrench/<link> (WrenchStamped), where somebody listens.

    Markers are in `frame`, which is at rest in the world: a sphere at every point that touches, coloured by its mode,
    and an arrow for its force. Wrenches are the sum over a link's contacts, on the link, at its origin and in its axes;
    a link that another touches feels the opposite force. All as the last step had them.

    force_scale: length of the arrows [m/N]; by default the robot's weight is half a metre.
    """

    def __init__(
        self, node: Node, model: Model, *, frame: str = "world", frame_prefix: str = "",
        force_scale: float | None = None,
    ):  # fmt: skip
        self._node, self._model = node, model
        self._frame = frame
        self._prefix = frame_prefix
        self._force_scale = WEIGHT_LENGTH / (9.81 * model.mass) if force_scale is None else force_scale
        self._markers = node.create_publisher(MarkerArray, "contacts", 10)
        self._wrenches: LinkWrenches | None = None
        self._topics = {"": WrenchTopics(node, frame_prefix)}  # of all links, and of the links of entities

    def read_model(self, model: Model) -> None:
        """From now on this is the robot; topics of links that stay are not made anew."""
        self._model, self._wrenches = model, None
        self._force_scale = WEIGHT_LENGTH / (9.81 * model.mass)

    def add_entity(self, name: str, scope: TopicScope) -> None:
        """Publish wrenches of the links of an entity on topics of its own as well."""
        self._topics[name] = WrenchTopics(scope, self._prefix, f"{name}/")
        self._wrenches = None

    def remove_entity(self, name: str) -> None:
        """Of an entity that is there no longer; its topics go with their scope."""
        self._topics.pop(name, None)

    def publish(self, stamp_ns: int, sim: Simulation) -> None:
        """Publish the contacts of a Simulation at a time [ns]; the topics of the links are made at the first call."""
        if self._wrenches is None:
            self._wrenches = LinkWrenches(sim)
            for topics in self._topics.values():
                topics.read_links(self._wrenches.links)
        if self._markers.get_subscription_count():
            header = Header(stamp=stamp_of(stamp_ns), frame_id=self._frame)
            self._markers.publish(self._marker_array(header, sim.contacts()))
        wanted = [each for topics in self._topics.values() for each in topics.wanted()]
        if wanted:
            wrenches = self._wrenches.at(sim.q)
            for place, topic in wanted:
                topic.message.numbers("wrench")[:] = wrenches[place]
                topic.publish(stamp_ns)

    def _marker_array(self, header: Header, reports: Sequence[ContactReport]) -> MarkerArray:
        """Everything anew: a viewer that missed a message shows nothing that has gone."""
        markers = [Marker(header=header, action=Marker.DELETEALL)]
        touching = [(number, report) for number, report in enumerate(reports) if report.is_touching]
        if touching:
            spheres = Marker(header=header, ns="points", type=Marker.SPHERE_LIST, action=Marker.ADD)
            spheres.scale = Vector3(x=SPHERE, y=SPHERE, z=SPHERE)
            spheres.points = [_point(report.position) for _, report in touching]
            spheres.colors = [COLOURS[report.mode] for _, report in touching]
            markers.append(spheres)
        for number, report in touching:
            if report.force.any():  # an arrow without length is an error to RViz
                arrow = Marker(header=header, ns="forces", id=number, type=Marker.ARROW, action=Marker.ADD)
                arrow.scale, arrow.color = ARROW, COLOURS[report.mode]
                arrow.points = [_point(report.position), _point(report.position + self._force_scale * report.force)]
                markers.append(arrow)
        return MarkerArray(markers=markers)


class WrenchTopics:
    """contact_wrench/<link> of links whose names begin with a prefix, without it: one per link that can touch."""

    def __init__(self, node: Node | TopicScope, frame_prefix: str, link_prefix: str = ""):
        self._node, self._frame_prefix, self._link_prefix = node, frame_prefix, link_prefix
        self._topics: dict[str, tuple[int, PatchedTopic]] = {}  # by link, with its place among all

    def read_links(self, links: Sequence[str]) -> None:
        """These links can touch something, in this order; of those that had a topic already it stays."""
        before, self._topics = self._topics, {}
        for link, (_, topic) in before.items():
            if link not in links:
                self._node.destroy_publisher(topic.publisher)
        kept = {link: topic for link, (_, topic) in before.items() if link in links}
        taken = {topic.publisher.topic_name for topic in kept.values()}
        for place, link in enumerate(links):
            if not link.startswith(self._link_prefix):
                continue
            if link not in kept:
                name = topic_name(link.removeprefix(self._link_prefix))
                while any(each.endswith(f"contact_wrench/{name}") for each in taken):  # as of foot-1 and foot.1
                    name += "_"
                message = WrenchStamped(header=Header(frame_id=frame_name(link, self._frame_prefix)))
                kept[link] = PatchedTopic(self._node, message, f"contact_wrench/{name}", 10)
                taken.add(kept[link].publisher.topic_name)
            self._topics[link] = place, kept[link]

    def wanted(self) -> list[tuple[int, PatchedTopic]]:
        """Topics that somebody listens to, with the places of their links."""
        return [(place, topic) for place, topic in self._topics.values() if topic.has_listeners]


def _point(position: np.ndarray) -> Point:
    x, y, z = position.tolist()
    return Point(x=x, y=y, z=z)
