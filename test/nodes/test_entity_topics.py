# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities of a scene have topics of their own: each is commanded and read as if it were alone."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from physics_process import LATCHED, ROOT, Client, stamp, start_node, stop
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mbsim_ros import load_urdf

pytestmark = pytest.mark.ros

ARMS = "entities:=['left=arm@0,0.5,0', 'right=arm@0,-0.5,0', 'crate=box@2,0,1']"
OWN = ("joint_states", "joint_commands", "robot_description", "coupling_state", "wrench", "whole_state")


class Entity:
    """What one entity tells, and its commands."""

    def __init__(self, client: Client, name: str):
        self.states: list[JointState] = []
        self.odometry: list[Odometry] = []
        self.texts: list[str] = []
        self.couplings: list[str] = []
        client.create_subscription(JointState, f"{name}/joint_states", self.states.append, LATCHED)
        client.create_subscription(Odometry, f"{name}/odom", self.odometry.append, LATCHED)
        client.create_subscription(String, f"{name}/robot_description", lambda m: self.texts.append(m.data), LATCHED)
        client.create_subscription(String, f"{name}/coupling_state", lambda m: self.couplings.append(m.data), LATCHED)
        self.commands = client.create_publisher(JointState, f"{name}/joint_commands", 100)
        self.wrench = client.create_publisher(WrenchStamped, f"{name}/wrench", 10)
        self.coupling_command = client.create_publisher(String, f"{name}/coupling_command", 10)


@pytest.fixture
def client():
    made = Client()
    yield made
    made.close()


def listening(client: Client, *entities: Entity) -> bool:
    """Whether physics hears all of their commands."""
    return all(client.count_subscribers(each.commands.topic_name) for each in entities)


def test_each_is_driven_by_its_own_commands(client):
    left, right, crate = (Entity(client, name) for name in ("left", "right", "crate"))
    physics = start_node("physics", ARMS, "sync:=async", "real_time_factor:=0.0", "command_timeout:=0.0")
    try:
        client.wait_for_state()
        client.spin_until(lambda: left.states and right.states and left.texts, "states of both arms")
        client.spin_until(lambda: listening(client, left, right), "who listens to commands")
        topics = {name for name, _ in client.get_topic_names_and_types()}
        assert {f"/left/{name}" for name in OWN} <= topics
        own = load_urdf(left.texts[-1], found_meshes={})
        assert list(left.states[-1].name) == list(own.joint_names)
        assert stamp(left.states[-1]) == 0, "it holds until the first command"

        # One command moves one arm, in its own words; the other one stays where it was held.
        target = [0.3, 0.2, 0.1, 0.0, 0.0, 0.0]
        left.commands.publish(JointState(name=left.states[-1].name, position=target))
        client.spin_until(lambda: stamp(client.states[-1]) > 2_000_000_000, "two seconds")
        assert np.allclose(left.states[-1].position, target, atol=0.03)
        assert np.allclose(right.states[-1].position, right.states[0].position, atol=0.03)

        # What it tells is what the scene tells of it.
        client.call("pause")
        newest = stamp(client.states[-1])
        client.spin_until(lambda: stamp(left.states[-1]) >= stamp(client.states[-1]) > newest - 1, "the last states")
        scene = dict(zip(client.states[-1].name, client.states[-1].position, strict=True))
        if stamp(left.states[-1]) == stamp(client.states[-1]):
            assert [scene[f"left/{name}"] for name in left.states[-1].name] == list(left.states[-1].position)

        assert not crate.states and "/crate/joint_states" not in {
            name for name, _ in client.get_publisher_names_and_types_by_node("physics", "/")
        }
    finally:
        said = stop(physics)
    assert physics.returncode == 0, said
    assert "Traceback" not in said


def test_bodies_have_topics_where_they_are_asked_for(client):
    crate = Entity(client, "crate")
    physics = start_node(
        "physics", ARMS, "entity_topics:=all", "sync:=async", "start:=run", "real_time_factor:=1.0", "terrain:=none"
    )
    try:
        client.spin_until(lambda: crate.odometry and crate.texts, "its odometry")
        first = crate.odometry[-1]
        assert (first.header.frame_id, first.child_frame_id) == ("world", "crate/box")
        push = WrenchStamped()
        push.header.frame_id, push.wrench.force.x = "box", 50.0

        def has_moved() -> bool:
            crate.wrench.publish(push)
            return crate.odometry[-1].pose.pose.position.x > 2.001

        client.spin_until(has_moved, "it to move")
        published = {name for name, _ in client.get_publisher_names_and_types_by_node("physics", "/")}
        assert "/crate/joint_states" not in published
        assert "/left/joint_states" in published
    finally:
        said = stop(physics)
    assert physics.returncode == 0, said


def test_controllers_of_one_robot_drive_entities_in_lockstep(client):
    """Unchanged nodes in the namespaces of two entities; both walk or hold, and the run ends by itself."""
    walker, arm = Entity(client, "walker"), Entity(client, "arm")
    nodes = [
        start_node(
            "physics", "entities:=['walker=walker', 'arm=arm@0,3,0']", "sync:=lockstep", "coupling:=walker/normal",
            "lockstep_participants:=['walker/walker_controller', 'arm/joint_hold']", "real_time_factor:=0.0",
            "duration:=0.4",
        )
    ]  # fmt: skip
    try:
        client.spin_until(lambda: walker.couplings and walker.odometry and arm.states, "their first states")
        nodes += [
            start_node("walker_controller", f"sidecar:={ROOT}/config/walker.mbsim.yaml", namespace="/walker"),
            start_node("joint_hold", namespace="/arm"),
        ]
        client.spin_until(lambda: nodes[0].poll() is not None, "the end of the run")
    finally:
        said = [stop(node) for node in nodes]
    assert nodes[0].returncode == 0, said
    assert "refused commands: none" in said[0]
    assert walker.couplings[-1] == "normal"
    assert walker.odometry[-1].child_frame_id == "walker/top"
    assert stamp(arm.states[-1]) > 0


def test_couplings_of_entities_change_one_by_one(client):
    """Two walkers have one D; each changes its own part of it, and is told so."""
    one, two = Entity(client, "one"), Entity(client, "two")
    physics = start_node(
        "physics", "entities:=['one=walker', 'two=walker@0,3,0.6']", "sync:=async", "start:=run", "command_timeout:=0.0"
    )
    try:
        client.spin_until(lambda: one.couplings and two.couplings, "their couplings")
        assert (one.couplings[-1], two.couplings[-1]) == ("identity", "identity")
        client.spin_until(lambda: client.count_subscribers("two/coupling_command"), "who listens")
        one.coupling_command.publish(String(data="normal"))
        client.spin_until(lambda: one.couplings[-1] == "normal", "the first")
        two.coupling_command.publish(String(data="turn"))
        client.spin_until(lambda: two.couplings[-1] == "turn", "the second")
        assert one.couplings[-1] == "normal"
        two.coupling_command.publish(String(data="nothing"))
        one.coupling_command.publish(String(data="hold"))
        client.spin_until(lambda: one.couplings[-1] == "hold", "another")
        assert two.couplings[-1] == "turn"
    finally:
        said = stop(physics)
    assert "unknown coupling" in said
    assert "Traceback" not in said
