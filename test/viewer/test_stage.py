# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What surrounds a robot in the scene: ground, contacts, balance, trail, camera, sliders."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from mbsim_ros.contact.terrain import floor, height_field, inclined_plane
from mbsim_ros.dynamics import centre_of_mass
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.sim.initial_states import named_state
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.viewer.drawing.picture import towards
from mbsim_ros.viewer.looking import Looking
from mbsim_ros.viewer.page.web_server import open_server
from mbsim_ros.viewer.scene.balance_scene import INSIDE, OUTSIDE, is_inside, support_polygon
from mbsim_ros.viewer.scene.ground_scene import draw_ground, height_at, surface, turn_from_z
from mbsim_ros.viewer.scene.robot_states import RobotStates
from mbsim_ros.viewer.scene.stage import Stage
from mbsim_ros.viewer.scene.trail import LENGTH, Trail

ROOT = Path(__file__).resolve().parents[2]
PENDULUM = ROOT / "urdf/double_pendulum.urdf"


def rotated(wxyz, vector):
    w, u = wxyz[0], np.array(wxyz[1:])
    return vector + 2 * np.cross(u, np.cross(u, vector) + w * np.array(vector))


def test_it_listens_on_loopback_only(server):
    assert server.get_host() == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", server.get_port())):
        pass  # who listens on all addresses is there, too


def test_a_port_in_use_is_not_taken_twice(server):
    second = open_server(port=server.get_port())
    assert second.get_port() != server.get_port()
    second.stop()


def test_height_fields_are_drawn_as_contact_feels_them(server, page):
    heights = np.array([[0.0, 0.1, 0.0], [0.2, 0.5, 0.1], [0.0, 0.1, 0.3], [0.1, 0.0, 0.0]])
    ground = height_field(heights, 0.5, origin=(-1.0, 2.0))
    for i, j in np.ndindex(4, 3):
        assert height_at(ground, -1.0 + 0.5 * j, 2.0 + 0.5 * i) == pytest.approx(heights[i, j], abs=1e-12)
    vertices, faces = surface(ground)
    assert faces.max() == len(vertices) - 1
    for x, y, z in vertices[::17].tolist():
        assert ground.gap((x, y, z)) == pytest.approx(0.0, abs=1e-6)
    across = vertices[faces]
    normals = np.cross(across[:, 1] - across[:, 0], across[:, 2] - across[:, 0])
    assert (normals[:, 2] > 0).all()
    draw_ground(server, ground)
    assert len(page.node("/world/around/ground")["props"]["vertices"]) == vertices.size


def test_inclined_planes_are_turned(server, page):
    ground = inclined_plane((0, 0, 0.3), (0.3, -0.2, 1.0))
    normal = ground.data[:3]
    np.testing.assert_allclose(rotated(turn_from_z(normal), [0.0, 0.0, 1.0]), normal, atol=1e-12)
    assert height_at(ground, 0.0, 0.0) == pytest.approx(0.3)
    draw_ground(server, ground)
    page.node("/world/around/ground")


def test_support_polygons():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.2, 0.7]])
    corners = support_polygon(square)
    assert {tuple(corner) for corner in corners} == {(0, 0), (1, 0), (1, 1), (0, 1)}
    assert is_inside(corners, np.array([0.3, 0.9]))
    assert not is_inside(corners, np.array([1.1, 0.5]))
    for count in (3, 5, 40):
        points = np.random.default_rng(count).normal(size=(count, 2))
        np.testing.assert_array_equal(
            _from_first(support_polygon(points)), _from_first(points[ConvexHull(points).vertices])
        )
    line = support_polygon(np.array([[0, 0], [1, 1], [0.5, 0.5]]))
    np.testing.assert_array_equal(line, [[0, 0], [1, 1]])
    assert not is_inside(line, np.array([0.5, 0.5]))
    assert len(support_polygon(np.zeros((0, 2)))) == 0


def _from_first(corners):
    """The same corners in the same order, from the leftmost on."""
    return np.roll(corners, -int(np.argmin(corners[:, 0])), axis=0)


def test_contacts_come_and_go_and_balance_is_shown(server, page, walker):
    q = named_state(walker, "home")[0]
    stage = Stage(server, walker, floor(), q)
    feet = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]], dtype=float)
    green = np.tile([26, 191, 51], (4, 1)).astype(np.uint8)
    tips = feet + np.array([0, 0, 0.2])
    tips[3] = feet[3]  # no force there
    stage.contacts.show(feet, green, tips)
    stage.show_balance(q, feet)
    points, forces = page.node("/world/marks/contacts/points"), page.node("/world/marks/contacts/forces")
    page.until(lambda: of(points, "batched_positions")[:4].tolist() == feet.tolist(), "the contacts")
    page.until(lambda: of(forces, "batched_scales")[0, 2] == pytest.approx(0.2), "an arrow as long as its force")
    assert seen(points) == [0, 1, 2, 3]
    assert seen(forces) == [0, 1, 2]
    gone = q.copy()
    gone[0] += 2.0
    stage.place(gone)  # the view goes along: what is not on the robot is left behind, in the same message as the robot
    page.until(lambda: of(points, "batched_positions")[0, 0] == feet[0, 0] - 2.0, "marks that stay in the world")
    stage.place(q)
    page.until(lambda: of(points, "batched_positions")[0, 0] == feet[0, 0], "and come back")
    support = page.node("/world/marks/balance/support")["props"]
    page.until(lambda: support["points"].any(), "the support polygon")
    edges = support["points"].reshape(-1, 2, 3)
    assert {tuple(edge) for edge in edges[:4, 0, :2].tolist()} == {(1, 1), (-1, 1), (-1, -1), (1, -1)}
    assert np.ptp(edges[4:], axis=1).max() == 0.0
    centre = page.node("/world/marks/balance/centre_of_mass")["props"]["batched_positions"]
    np.testing.assert_allclose(centre[:3], centre_of_mass(walker, q), atol=1e-6)
    assert support["colors"].tolist() == list(INSIDE)
    stage.contacts.show(feet[:1], green[:1], tips[:1])
    stage.show_balance(q, feet + np.array([5, 0, 0]))
    support = page.nodes["/world/marks/balance/support"]["props"]
    page.until(
        lambda: seen(points) == seen(forces) == [0] and support["colors"].tolist() == list(OUTSIDE),
        "one contact, and a robot that is not above its feet",
    )
    many = np.tile(feet, (5, 1))
    stage.contacts.show(many, np.tile(green, (5, 1)), many + np.array([0.3, 0.0, -0.4]))
    page.until(
        lambda: len(seen(page.node("/world/marks/contacts/forces"))) == 20, "more contacts than there was room for"
    )
    forces = page.nodes["/world/marks/contacts/forces"]
    pointed = [rotated(wxyz, [0.0, 0.0, 1.0]) for wxyz in of(forces, "batched_wxyzs")[:20]]
    np.testing.assert_allclose(pointed, np.tile([0.6, 0.0, -0.8], (20, 1)), atol=1e-6)
    np.testing.assert_allclose(of(forces, "batched_scales")[:20, 2], 0.5, rtol=1e-6)
    stage.contacts.show(feet[:1], green[:1], feet[:1] - np.array([0.0, 0.0, 0.1]))
    page.until(lambda: seen(page.nodes["/world/marks/contacts/forces"]) == [0], "an arrow that points down")
    down = of(page.nodes["/world/marks/contacts/forces"], "batched_wxyzs")[0]
    np.testing.assert_allclose(rotated(down, [0.0, 0.0, 1.0]), [0.0, 0.0, -1.0], atol=1e-6)
    stage.contacts.show(feet[:0], green[:0], tips[:0])
    stage.show_balance(q, feet[:0])
    page.until(lambda: seen(page.nodes["/world/marks/contacts/points"]) == [], "no contacts")
    page.until(lambda: page.nodes["/world/marks/balance/support"].get("visible") is False, "no support")


def of(node, name):
    return node["props"][name].reshape(-1, {"batched_wxyzs": 4}.get(name, 3))


def seen(node):
    """Numbers of the instances that have a size."""
    return np.flatnonzero(of(node, "batched_scales").any(axis=1)).tolist()


def test_the_world_moves_below_a_robot_that_is_followed(server, page, walker):
    q = named_state(walker, "home")[0]
    stage = Stage(server, walker, floor(), q)
    q[:2] += [3.0, -1.0]
    stage.place(q)
    page.until(lambda: page.node("/world/around").get("position") == [-3.0, 1.0, 0.0], "the world to move")
    stage.follow = False
    stage.place(q)
    page.until(lambda: page.node("/world/around").get("position") == [0.0, 0.0, 0.0], "the world to stay")


def test_trails_are_bounded(server, page):
    trail = Trail(server, "way", (0, 0, 0), stride=0.5)
    way = [np.array([0.4 * k, 0.0, 0.0]) for k in range(3 * LENGTH)]
    longer = sum(map(trail.add, way))
    assert longer == len(way) // 2  # every second point is far enough
    page.until(
        lambda: (
            page.node("/world/around/trails/way")["props"]["points"].reshape(-1, 3)[:, 0].max() > 0.4 * (len(way) - 3)
        ),
        "the end of the way",
    )
    pieces = page.nodes["/world/around/trails/way"]["props"]["points"].reshape(-1, 2, 3)
    assert len(pieces) == LENGTH
    np.testing.assert_allclose(np.ptp(pieces, axis=1)[:, 0], 0.8, atol=1e-4)
    trail.clear()
    page.until(lambda: not page.nodes["/world/around/trails/way"]["props"]["points"].any(), "no trail")


def test_sliders_move_a_robot_that_is_only_looked_at(server, page):
    looking = Looking(server, load_urdf(PENDULUM), shown=["joint axes"])
    page.node("/world/robot/shapes_0")
    page.node("/world/joint_axes/shapes_0")
    page.set("shoulder [rad]", 0.5)
    wanted = [-0.5 * np.sin(0.5), 0, 2.2 - 0.5 * np.cos(0.5)]

    def upper_rod():
        return page.nodes["/world/robot/shapes_0"]["props"]["batched_positions"].reshape(2, 3)[0]

    page.until(lambda: np.allclose(upper_rod(), wanted, atol=1e-6), "the pendulum to move")
    assert looking.q.tolist() == [0.5, 0.0]
    looking.go_to("home")
    assert looking.q.tolist() == [0.0, 0.0]


def test_a_floating_robot_without_a_place_stands_on_the_ground(server):
    """Where a simulation starts it: its feet as deep in the floor as its weight presses them."""
    model = load_urdf(ROOT / "mbsim_ros/bench/robots/walker_sized.urdf")
    looking = Looking(server, model)
    assert looking.q.tolist() == Simulation(model, terrain="flat").q.tolist()
    assert -0.001 < looking.stage.robot.bounds()[0][2] < 0.0


def test_states_by_name(walker):
    states = RobotStates(walker, walker.neutral)
    places = {joint.name: joint.iq for joint in walker.joints}
    states.joints(["AFL_t", "unknown", "body"], np.array([0.1, 7.0, -0.2]))
    states.base(np.array([1.0, 2.0, 3.0, 0.0, 0.0, 2.0, 0.0]))
    assert states.q[places["AFL_t"]] == 0.1
    assert states.q[places["body"]] == -0.2
    assert states.q[:7].tolist() == [1, 2, 3, 0, 0, 1, 0]
    kept = states.q.copy()
    states.joints(["AFL_t", "body"], np.array([np.nan, 0.0]))
    states.joints(["AFL_t", "body"], np.array([0.0]))
    states.base(np.full(7, np.inf))
    states.base(np.zeros(7))
    np.testing.assert_array_equal(states.q, kept)


def test_cameras_look_where_they_should():
    position, target = np.array([3.0, -2.0, 1.0]), np.array([0.5, 0.5, 0.2])
    wxyz = towards(position, target)
    ahead = (target - position) / np.linalg.norm(target - position)
    np.testing.assert_allclose(rotated(wxyz, [0.0, 0.0, 1.0]), ahead, atol=1e-12)
    assert rotated(wxyz, [1.0, 0.0, 0.0])[2] == pytest.approx(0.0, abs=1e-12)
    assert rotated(wxyz, [0.0, 1.0, 0.0])[2] < 0.0


@pytest.mark.parametrize("aspect", [0.5, 1.0, 1.8])
def test_a_robot_fills_the_picture_and_no_corner_is_cut_off(server, walker, aspect):
    q = named_state(walker, "home")[0]
    stage = Stage(server, walker, None, q)
    camera = SimpleNamespace()
    stage._aim(camera, aspect)
    position, look_at = np.array(camera.position), np.array(camera.look_at)
    X = Rotation.from_quat(towards(position, look_at)[[1, 2, 3, 0]]).as_matrix()
    right, down, ahead = ((stage.robot.corners() - position) @ X).T
    half = np.tan(0.5 * camera.fov)
    filled = max(np.abs(right / ahead).max() / half / aspect, np.abs(down / ahead).max() / half)
    assert 0.7 < filled < 0.9
