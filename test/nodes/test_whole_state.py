# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""whole_state: what is written is what is read, bit for bit, and what is no state of the robot is refused."""

from __future__ import annotations

import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.nodes.physics.robot_source import LATCHED
from mbsim_ros.nodes.transport.whole_state import TOPIC, WholeStatePublisher, WholeStateReader, entry_names

STAMP = 1_234_567_891_234


@pytest.fixture
def node(fast_discovery):
    context = Context()
    rclpy.init(context=context)
    made = Node("whole", context=context)
    yield made
    made.destroy_node()
    rclpy.shutdown(context=context)


def several_kinds():
    """A fixed base with a ball joint between two hinges."""
    builder = ModelBuilder("kinds").link("world")
    parent = "world"
    for name, kind in (("hip", "continuous"), ("ball", "spherical"), ("knee", "continuous")):
        builder.link(name, mass=1.0, box=(0.1, 0.1, 0.3))
        builder.joint(f"{name}_joint", kind, parent, name, axis=(0, 1, 0))
        parent = name
    return builder.build()


def sent(node, publisher, *state):
    """The bytes that a publisher sends."""
    caught = []
    publisher._topic._publish = caught.append
    publisher.publish(STAMP, *state)
    return caught[0]


def test_the_walker_arrives_as_it_is_in_every_coupling(node):
    model = load_urdf("urdf/walker.urdf.xacro")
    sim = Simulation(model, coupling="normal")
    sim.run(0.05)
    publisher = WholeStatePublisher(node, model, LATCHED, sim.link_forces.links)
    reader = WholeStateReader(model)
    for coupling in ("normal", "hold", "turn"):
        sim.couple(coupling)
        publisher.begin_coupling(coupling, sim.motor_names)
        given = sim.state()
        found = reader.read(sent(node, publisher, given, sim.motor_efforts))
        assert (found.time, found.coupling, found.is_floating) == (STAMP, coupling, True)
        for name in ("q", "v", "motor_position", "motor_velocity", "effort", "contact_values"):
            np.testing.assert_array_equal(getattr(found, name), getattr(given, name))
        assert found.contact_links == given.contact_links and len(given.contacts) == 8
        assert found.q.flags.writeable and found.v.flags.writeable


def test_velocities_stand_by_the_names_of_their_joints(node):
    model = several_kinds()
    assert entry_names(model) == ["hip_joint", *(f"ball_joint/q{axis}" for axis in "xyzw"), "knee_joint"]
    q, v = np.array([0.1, 0.0, 0.6, 0.0, 0.8, 0.2]), np.arange(1.0, 6.0)
    given = RobotState(0, q, v, effort=np.array([7.0, 8.0]))
    data = sent(node, WholeStatePublisher(node, model, LATCHED), given)
    message = deserialize_message(data, JointState)
    assert list(message.velocity) == [1.0, 2.0, 3.0, 4.0, 0.0, 5.0]
    found = WholeStateReader(model).read(data)
    np.testing.assert_array_equal(found.q, q)
    np.testing.assert_array_equal(found.v, v)
    np.testing.assert_array_equal(found.effort, [7.0, 8.0])
    assert list(message.effort) == [7.0, 0.0, 0.0, 0.0, 0.0, 8.0]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda m: m.name.reverse(), "another order"),
        (lambda m: m.name.__setitem__(0, "elbow"), "none for hip_joint"),
        (lambda m: m.velocity.pop(), "6, 5 and 6"),
        (lambda m: m.name.__setitem__(5, "contact/foot/x"), "none for knee_joint"),
        (lambda m: m.position.__setitem__(2, float("nan")), "finite"),
    ],
)
def test_what_is_no_state_of_the_robot_is_refused(change, word):
    model = several_kinds()
    message = JointState(name=entry_names(model), position=[0.0] * 6, velocity=[0.0] * 6, effort=[0.0] * 6)
    change(message)
    with pytest.raises(ValueError, match=word):
        WholeStateReader(model).read(serialize_message(message))
    assert TOPIC == "whole_state"
