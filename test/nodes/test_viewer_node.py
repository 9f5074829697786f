# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The viewer beside a real simulation: what a page gets, and what its buttons do."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point
from physics_process import LATCHED, Client, stamp, start_node, stop
from rcl_interfaces.srv import GetParameters
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, String
from visualization_msgs.msg import Marker, MarkerArray, UVCoordinate

sys.path.append(str(Path(__file__).parents[1] / "viewer"))

from page_client import PATIENCE, page_of

from mbsim_ros.nodes.publishers.contact_publisher import COLOURS as MARKER_COLOURS
from mbsim_ros.nodes.viewer.contacts import read_contacts
from mbsim_ros.nodes.viewer.requests import _range
from mbsim_ros.nodes.viewer.rviz import command
from mbsim_ros.viewer.scene.contact_scene import COLOURS
from mbsim_ros.viewer.scene.scene_update import instance_colours

ROOT = Path(__file__).resolve().parents[2]
PERIOD = 2_000_000  # ns
WALKER = (f"robot_file:={ROOT}/urdf/walker.urdf.xacro", "coupling:=normal", "initial_state:=standing", "start:=run")
SHAPES = "/world/robot/shapes_0"


@pytest.fixture(scope="module")
def physics(shared_domain):
    """A walker that stands on its feet, nobody commanding it, in the namespace /w."""
    process = start_node("physics", *WALKER, "sync:=async", "diagnostics_period:=0.2", namespace="/w")
    client = Client("/w")
    yield client
    client.close()
    print(stop(process))


@pytest.fixture(scope="module")
def page(physics):
    process = start_node("viewer", "port:=18600", "open_browser:=false", namespace="/w")
    page = page_of(process)
    yield page
    page.close()
    said = stop(process)
    assert process.returncode == 0, said
    assert "Traceback" not in said


def answer(page, word):
    """What the simulation said to a button, once it has."""
    page.until(lambda: f"`{word}`: " in page.words(), f"an answer to {word}")
    return re.search(rf"`{word}`: (.*)", page.words())[1]


def test_a_walking_page(physics, page):
    page.node(SHAPES)
    page.until(lambda: re.search(r"t = [1-9]", page.words()), "the time of the simulation")
    page.until(lambda: "coupling **normal**" in page.words(), "the coupling")
    props = page.node("/world/marks/contacts/forces")["props"]
    page.until(lambda: props["batched_scales"].any(), "a force")
    is_seen = props["batched_scales"].reshape(-1, 3).any(axis=1)
    colours = props["batched_colors"].reshape(-1, 3)[is_seen]
    assert set(map(tuple, colours.tolist())) <= set(map(tuple, instance_colours([*COLOURS.values()]).tolist()))
    page.node("/world/marks/balance/support")
    plots = [entry for entry in page.gui.values() if entry["type"] == "GuiUplotMessage" and entry["props"]["visible"]]
    assert {plot["props"]["title"] for plot in plots} == {"Real-time factor", "Energy since the start"}
    for plot in plots:
        page.until(lambda plot=plot: len(plot["props"]["data"][0]) > 2, "a plot that grows")

    page.trigger("pause / play")
    asked = seconds(answer(page, "pause").removeprefix("paused at "))
    stands = lambda: len(physics.states) > 1 and stamp(physics.states[-1]) == stamp(physics.states[-2])  # noqa: E731
    physics.states.clear()
    physics.spin_until(stands, "the clock to stand")  # a state that stays is published again after a while
    paused = stamp(physics.states[-1])
    assert asked <= paused <= asked + PERIOD  # a period that had begun is ended
    page.until(lambda: f"t = {paused / 1e9:.2f} s" in page.words(), "the very last state in the view")
    page.until(lambda: page.has("play"), "a button that goes on")
    page.trigger("step")
    assert seconds(answer(page, "step").removeprefix("at ")) == paused + PERIOD
    physics.spin_until(lambda: stamp(physics.states[-1]) == paused + PERIOD, "one more state")
    page.set("time", "reset")
    assert "in state 'standing'" in answer(page, "reset")
    physics.spin_until(lambda: stamp(physics.states[-1]) >= paused + 1_000_000_000, "the state after the reset")
    page.press("play")
    assert answer(page, "resume") == "goes on"
    page.until(lambda: page.has("pause"), "a button that pauses")

    page.set("speed", "2")
    page.until(lambda: "`real_time_factor`: is 2" in page.words(), "the answer to another speed")
    names = ["real_time_factor"]
    values = physics.call("physics/get_parameters", GetParameters, GetParameters.Request(names=names))
    assert values.values[0].double_value == 2.0
    friction = page.gui[page.element("friction")]["props"]
    assert (friction["min"], friction["max"]) == (0.0, 2.0)


def test_a_page_pushes_looks_back_and_reads(physics, page):
    page.until(lambda: re.search(r"t = [1-9]", page.words()), "the time of the simulation")
    moved = lambda: abs(physics.odometry[-1].twist.twist.linear.y) > 0.02  # noqa: E731
    physics.spin_until(lambda: physics.odometry, "odometry")
    assert not moved()
    page.element("push")  # the folder; the button has the same name
    buttons = [uuid for uuid, entry in page.gui.items() if entry["type"] == "GuiButtonMessage"]
    push = next(uuid for uuid in buttons if page.gui[uuid]["props"]["label"] == "push")
    page._send({"type": "GuiUpdateMessage", "uuid": push, "updates": {"value": True}})
    assert "N on top" in answer(page, "push")
    physics.spin_until(moved, "the robot to give way")

    work = outside_work(physics)
    taken = page.node(SHAPES)["props"]["batched_positions"][:3].tolist()
    page.drag(SHAPES, "start", [float("nan")] * 3, taken)  # not as a browser does it
    page.drag(SHAPES, "start", taken, taken, instance_index=10_000)
    page.drag(SHAPES, "start", taken, taken)
    page.drag(SHAPES, "update", taken, [taken[0], taken[1], taken[2] + 0.3])
    page.until(lambda: re.search(r"`drag`: [1-9]", page.words()), "a force")
    end = time.monotonic() + PATIENCE
    while abs(outside_work(physics) - work) < 0.1:
        assert time.monotonic() < end, "the ledger says nothing of the drag"
        page.take(0.0)
    page.drag(SHAPES, "end", taken, taken)
    page.until(lambda: "`drag`: 0 N" in page.words(), "the end of the force")

    page.click(SHAPES)
    page.until(lambda: re.search(r"position [-0-9., ]+ m", page.words()), "the pose of a link")
    page.set("inertia", True)
    page.node("/world/inertia/shapes_0")
    page.set("look back [s]", -0.5)
    page.until(lambda: "looking back" in page.words(), "what was half a second ago")
    then = re.search(r"t = ([0-9.]+) s", page.words())[1]
    ahead = stamp(physics.states[-1]) + 500_000_000
    physics.spin_until(lambda: stamp(physics.states[-1]) > ahead, "a simulation that goes on meanwhile")
    page.take(0.5)
    assert re.search(r"t = ([0-9.]+) s", page.words())[1] == then
    page.press("back to now")
    page.until(lambda: "looking back" not in page.words(), "what happens now")


def seconds(text):
    """Nanoseconds of a time in words."""
    return round(1e9 * float(text.removesuffix(" s")))


def outside_work(physics):
    """As the ledger says next [J]."""
    heard = []
    subscription = physics.create_subscription(DiagnosticArray, "/diagnostics", heard.append, 10)
    physics.spin_until(lambda: heard, "diagnostics")
    physics.destroy_subscription(subscription)
    return float({entry.key: entry.value for entry in heard[-1].status[0].values}["ledger external_work [J]"])


def test_any_robot_by_its_joint_states():
    """Without a simulation of ours: what robot_state_publisher lives on is enough."""
    robot = Client("/real")
    description = robot.create_publisher(String, "robot_description", LATCHED)
    description.publish(String(data=(ROOT / "urdf/double_pendulum.urdf").read_text()))
    states = robot.create_publisher(JointState, "joint_states", LATCHED)
    process = start_node("viewer", "port:=18600", "open_browser:=false", namespace="/real")
    page = page_of(process)
    robot.spin_until(lambda: states.get_subscription_count() == 2, "the viewer")  # the robot itself hears, too
    wanted = [-0.5 * np.sin(0.5), 0, 2.2 - 0.5 * np.cos(0.5)]

    def is_placed():
        states.publish(JointState(name=["elbow", "shoulder"], position=[0.0, 0.5]))
        shown = page.nodes.get(SHAPES, {"props": {}})["props"].get("batched_positions", np.zeros(6))
        return np.allclose(shown.reshape(-1, 3)[0], wanted, atol=1e-6)

    page.until(is_placed, "the pendulum where its joints are")
    page.close()
    robot.close()
    assert "Traceback" not in stop(process)


def test_rviz_says_where_it_is_not_installed(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    process = start_node("rviz", "config:=x.rviz")
    said = process.communicate(timeout=100)[0]
    assert process.returncode == 0
    assert "rviz2 is not installed here" in said
    assert command("x.rviz", "/w")[-2:] == ["-r", "__ns:=/w"]


def test_colours_are_those_of_the_markers():
    for mode, marker in MARKER_COLOURS.items():
        np.testing.assert_allclose(COLOURS[mode], 255 * np.array([marker.r, marker.g, marker.b]), atol=0.51)


def test_contacts_are_read_from_bytes():
    """Against rclpy's own serialisation, with all the fields filled that a viewer passes over."""
    rng = np.random.default_rng(3)
    point = lambda values: Point(x=values[0], y=values[1], z=values[2])  # noqa: E731
    places, tips = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    markers = [Marker(action=Marker.DELETEALL, ns="x" * 5)]
    spheres = Marker(
        type=Marker.SPHERE_LIST, ns="points", text="some text", mesh_resource="file:///a", frame_locked=True
    )
    spheres.points = [point(place) for place in places]
    spheres.colors = [ColorRGBA(r=0.1 * k, g=1.0, b=0.5, a=1.0) for k in range(5)]
    spheres.texture.data, spheres.texture.format = [1, 2, 3], "png"
    spheres.uv_coordinates = [UVCoordinate(u=0.5, v=0.25)] * 3
    spheres.mesh_file.filename, spheres.mesh_file.data = "part.stl", [7] * 9
    spheres.header.frame_id, spheres.texture_resource = "world", "t"
    markers.append(spheres)
    for k in (0, 2, 3):
        markers.append(Marker(type=Marker.ARROW, ns="forces", id=k, points=[point(places[k]), point(tips[k])]))
    found, colours, ends = read_contacts(serialize_message(MarkerArray(markers=markers)))
    np.testing.assert_array_equal(found, places)
    np.testing.assert_allclose(colours, [[25.5 * k, 255, 127.5] for k in range(5)], atol=0.51)
    np.testing.assert_array_equal(ends[[0, 2, 3]], tips[[0, 2, 3]])
    np.testing.assert_array_equal(ends[[1, 4]], places[[1, 4]])
    empty = read_contacts(serialize_message(MarkerArray(markers=markers[:1])))
    assert [part.shape for part in empty] == [(0, 3)] * 3


def test_ranges_without_ends_are_narrowed():
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    wide = ParameterDescriptor(floating_point_range=[FloatingPointRange(from_value=0.0, to_value=1e6)])
    assert _range(wide, 5.0) == (0.0, 50.0)
    assert _range(ParameterDescriptor(integer_range=[IntegerRange(from_value=2, to_value=4)]), 3) == (2, 4)
    lower, upper = _range(ParameterDescriptor(), -7.0)
    assert lower == -70.0
    assert upper == 70.0
