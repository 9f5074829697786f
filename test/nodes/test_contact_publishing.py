# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contacts as messages: markers where points touch, wrenches that add up to what holds the robot."""

from __future__ import annotations

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from topic_listener import listening, wait_for_match
from visualization_msgs.msg import Marker, MarkerArray

from mbsim_ros import Simulation
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.dynamics import centre_of_mass, link_poses
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.nodes.frames import frame_name, topic_name
from mbsim_ros.nodes.publishers.contact_publisher import COLOURS, ContactPublisher
from mbsim_ros.sim.surroundings.link_wrenches import LinkWrenches

STAMP = 12_345_678_901
FEET = ("front-foot", "rear.foot")


def sledge():
    """A body that floats, on two boxes with four corners each, whose names no topic may have."""
    builder = ModelBuilder("sledge").link("body", mass=3.0, box=(0.6, 0.2, 0.1))
    for foot, x in zip(FEET, (0.25, -0.15), strict=True):
        builder.link(foot, mass=0.5, box=(0.1, 0.3, 0.1), collision=True)
        builder.joint(f"{foot}_joint", "fixed", "body", foot, xyz=(x, 0.02, -0.1), rpy=(0, 0, 0.3))
    return builder.build()


@pytest.fixture
def node(ros_domain):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("physics", namespace="/sledge", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


@pytest.fixture
def resting():
    """The sledge after it came to rest on the floor."""
    sim = Simulation(sledge(), contact={"max_penetration": 0.001, "damping_ratio": 1.0, "friction": 0.8})
    sim.reset(q=[1.0, 2.0, 0.1503, 0.0, 0.0, np.sin(0.4), np.cos(0.4)], v=np.zeros(6))
    sim.run(1.5)
    return sim


def test_markers_and_wrenches_arrive_in_another_process(node, resting, tmp_path):
    publisher = ContactPublisher(node, resting.model, frame_prefix="sledge/")
    publisher.publish(0, resting)  # makes the topics of the links
    wrench_topics = [f"/sledge/contact_wrench/{topic_name(foot)}" for foot in FEET]
    topics = {"/sledge/contacts": (MarkerArray, False), **dict.fromkeys(wrench_topics, (WrenchStamped, False))}
    with listening(tmp_path / "heard", topics) as listener:
        wait_for_match(node, topics)
        publisher.publish(STAMP, resting)
        heard = dict(listener.heard(3))
    check_markers(heard["/sledge/contacts"]["markers"], resting)
    check_wrenches({foot: heard[topic] for foot, topic in zip(FEET, wrench_topics, strict=True)}, resting)


def check_markers(markers, sim):
    touching = [report for report in sim.contacts() if report.is_touching]
    assert len(touching) == 8
    assert markers[0]["action"] == Marker.DELETEALL
    spheres, *arrows = markers[1:]
    assert spheres["type"] == Marker.SPHERE_LIST
    assert {marker["type"] for marker in arrows} == {Marker.ARROW}
    assert {marker["header"]["frame_id"] for marker in markers} == {"world"}
    assert {(m["header"]["stamp"]["sec"], m["header"]["stamp"]["nanosec"]) for m in markers} == {(12, 345_678_901)}
    assert len({(marker["ns"], marker["id"]) for marker in markers[1:]}) == 1 + 8
    scale = 0.5 / (9.81 * sim.model.mass)
    for report, point, colour, arrow in zip(touching, spheres["points"], spheres["colors"], arrows, strict=True):
        assert list(point.values()) == report.position.tolist()
        assert colour["g"] == pytest.approx(COLOURS[report.mode].g)
        tail, head = (np.array(list(end.values())) for end in arrow["points"])
        np.testing.assert_allclose(head - tail, scale * report.force, atol=1e-12)


def check_wrenches(messages, sim):
    """Together they hold the weight, and have no moment about the centre of mass."""
    poses, centre = link_poses(sim.model, sim.q), centre_of_mass(sim.model, sim.q)
    force, moment = np.zeros(3), np.zeros(3)
    for foot, message in messages.items():
        assert message["header"]["frame_id"] == f"sledge/{foot}"
        assert message["header"]["stamp"] == {"sec": 12, "nanosec": 345_678_901}
        f = poses[foot][:3, :3] @ list(message["wrench"]["force"].values())
        t = poses[foot][:3, :3] @ list(message["wrench"]["torque"].values())
        assert f[2] > 1.0
        force += f
        moment += t + np.cross(poses[foot][:3, 3] - centre, f)
    np.testing.assert_allclose(force, [0.0, 0.0, 9.81 * sim.model.mass], atol=1e-3)
    np.testing.assert_allclose(moment, 0.0, atol=1e-3)


def test_bodies_that_touch_each_other_feel_opposite_forces():
    builder = ModelBuilder("blocks").link("world")
    for name, z, width in (("lower", 0.0, 0.4), ("upper", 0.1995, 0.2)):
        builder.link(name, mass=1.0, box=(width, width, 0.2), collision=True)
        builder.joint(f"{name}_slide", "floating", "world", name, xyz=(0, 0, z))
    sim = Simulation(builder.build(), terrain=False, body_contact=[("lower", "upper")])
    sim.step()
    found = LinkWrenches(sim)
    wrenches = dict(zip(found.links, found.at(sim.q), strict=True))
    assert wrenches["upper"][2] > 0.0
    assert wrenches["lower"][2] == pytest.approx(-wrenches["upper"][2])


def test_nothing_is_computed_where_nobody_listens(node, resting):
    publisher = ContactPublisher(node, resting.model)
    publisher.publish(0, resting)
    asked = []

    class Watched:
        @property
        def q(self):  # which the wrenches need
            asked.append("q")
            return resting.q

        def contacts(self):
            asked.append("contacts")
            return resting.contacts()

    publisher.publish(1, Watched())
    assert not asked


def test_every_mode_that_touches_has_a_colour_of_its_own():
    assert set(COLOURS) == set(ContactMode) - {ContactMode.NO_CONTACT}
    assert len({(c.r, c.g, c.b) for c in COLOURS.values()}) == len(COLOURS)


@pytest.mark.parametrize(
    ("link", "topic"), [("foot", "foot"), ("foot-1.a b", "foot_1_a_b"), ("1st", "_1st"), ("fuß", "fu_")]
)
def test_names_of_topics(link, topic):
    assert topic_name(link) == topic


def test_names_of_frames():
    assert frame_name("foot") == "foot"
    assert frame_name("foot", "left/") == "left/foot"
    assert frame_name("foot", "/left/") == "left/foot"
