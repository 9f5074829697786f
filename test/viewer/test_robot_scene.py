# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots in the scene: every shape where its link is, as a page in a browser gets it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from trimesh import creation

from mbsim_ros.dynamics import link_poses
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.sim.initial_states import named_state
from mbsim_ros.viewer.drawing.shapes import BOX, CYLINDER, SPHERE, shapes_of, unit_mesh
from mbsim_ros.viewer.drawing.shapes_kernel import place_shapes_into
from mbsim_ros.viewer.scene.robot_scene import FREE, LOCKED, RobotScene
from mbsim_ros.viewer.scene.scene_update import instance_colours

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SHAPES = f"""<robot name="shapes">
  <link name="base">{INERTIA}
    <visual><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><geometry><box size="1 2 3"/></geometry>
      <material name="m"><color rgba="1 0.5 0 1"/></material></visual>
    <visual><geometry><sphere radius="0.7"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
    <origin xyz="0 0 1" rpy="0.3 0 0"/><axis xyz="0 1 0"/></joint>
  <link name="arm">{INERTIA}
    <collision><origin xyz="0 0 -1"/><geometry><cylinder radius="0.2" length="2"/></geometry></collision>
    <collision><geometry><mesh filename="part.stl" scale="0.5 0.5 2"/></geometry></collision></link>
</robot>"""
TRIANGLES = "solid s\n" + "".join(
    f"facet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n"
    for corners in ("vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n", "vertex 0 0 1\nvertex 1 0 1\nvertex 0 1 1\n")
)


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "part.stl").write_text(TRIANGLES + "endsolid s\n")
    (tmp_path / "shapes.urdf").write_text(SHAPES)
    return load_urdf(tmp_path / "shapes.urdf")


def drawn(page, number):
    props = page.node(f"/world/robot/shapes_{number}")["props"]
    return props["batched_positions"].reshape(-1, 3), props["batched_wxyzs"].reshape(-1, 4), props


def test_shapes_stand_where_their_links_are(server, page, robot):
    scene = RobotScene(server, robot)
    q = robot.neutral.copy()
    q[:7] = [1.0, -2.0, 0.5, *Rotation.from_rotvec([0.3, 0.8, -0.5]).as_quat()]
    q[7] = 0.9
    scene.place(q)
    poses = link_poses(robot, q)
    links = robot.description
    expected = [
        (0, poses["base"] @ links.link("base").visuals[0].origin.matrix(), (1, 2, 3)),
        (1, poses["base"], (0.7, 0.7, 0.7)),
        (2, poses["arm"] @ links.link("arm").collisions[0].origin.matrix(), (0.2, 0.2, 2)),
        (3, poses["arm"], (0.5, 0.5, 2)),
    ]
    page.until(lambda: "/world/robot/shapes_3" in page.nodes and drawn(page, 3)[0].any(), "the placed robot")
    for number, X, scale in expected:
        positions, quaternions, props = drawn(page, number)
        np.testing.assert_allclose(positions, [X[:3, 3]], atol=1e-6)
        R = Rotation.from_quat(quaternions[0, [1, 2, 3, 0]]).as_matrix()
        np.testing.assert_allclose(R, X[:3, :3], atol=1e-6)
        np.testing.assert_allclose(props["batched_scales"], scale, rtol=1e-6)
    assert drawn(page, 0)[2]["batched_colors"].tolist() == [255, 55, 0]  # the light of 255, 128, 0
    assert scene.problems == []


def test_bounds_hold_all_corners(server, robot):
    scene = RobotScene(server, robot)
    scene.place(robot.neutral)
    lowest, highest = scene.bounds()
    box = robot.description.link("base").visuals[0].origin.matrix()
    corners = [box[:3, :3] @ (0.5 * np.array(s) * (1, 2, 3)) + box[:3, 3] for s in np.ndindex(2, 2, 2)]
    assert (lowest <= np.min(corners, axis=0) + 1e-6).all()
    assert (highest >= np.max(corners, axis=0) - 1e-6).all()
    assert highest[2] - lowest[2] < 6.0


def test_a_mesh_that_cannot_be_read_is_named_and_the_rest_drawn(server, page, robot, tmp_path):
    (tmp_path / "part.stl").write_text("no mesh")
    scene = RobotScene(server, robot)
    scene.place(robot.neutral)
    assert len(scene.problems) == 1
    assert "part.stl" in scene.problems[0]
    page.node("/world/robot/shapes_2")
    assert "/world/robot/shapes_3" not in page.nodes


def test_a_robot_without_shapes_is_a_stick_figure():
    bare = load_urdf(
        f'<robot name="bare"><link name="a">{INERTIA}</link><link name="b">{INERTIA}</link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<origin xyz="0.3 0 -0.4"/><axis xyz="0 1 0"/></joint></robot>'
    )
    shapes = shapes_of(bare)
    assert [shape.kind for shape in shapes] == [SPHERE, SPHERE, CYLINDER]
    rod = shapes[2]
    ends = [rod.X_LS @ [0, 0, z * rod.scale[2], 1] for z in (-0.5, 0.5)]
    np.testing.assert_allclose([end[:3] for end in ends], [[0, 0, 0], [0.3, 0, -0.4]], atol=1e-12)
    assert np.linalg.det(rod.X_LS[:3, :3]) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [BOX, CYLINDER, SPHERE, ("capsule", 0.2, 1.0)])
def test_unit_meshes_are_centred_and_of_unit_size(kind):
    mesh = unit_mesh(kind)
    size = {BOX: (0.5, 0.5, 0.5), CYLINDER: (1, 1, 0.5), SPHERE: (1, 1, 1)}.get(kind, (0.2, 0.2, 0.7))
    np.testing.assert_allclose(mesh.vertices.max(axis=0), size, atol=0.01)
    np.testing.assert_allclose(mesh.vertices.min(axis=0), np.negative(size), atol=0.01)


def test_a_mirrored_mesh_is_lit_from_outside(server, page, tmp_path):
    creation.box((1.0, 2.0, 3.0)).export(tmp_path / "box.stl")
    shapes = [
        f'<visual><geometry><mesh filename="box.stl" scale="1 {sign} 1"/></geometry></visual>' for sign in (1, -1)
    ]
    path = tmp_path / "pair.urdf"
    path.write_text(f'<robot name="pair"><link name="a">{INERTIA}{"".join(shapes)}</link></robot>')
    RobotScene(server, load_urdf(path))
    for number in (0, 1):
        props = page.node(f"/world/robot/shapes_{number}")["props"]
        corners = props["vertices"].reshape(-1, 3)[props["faces"].reshape(-1, 3)]
        outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert (np.einsum("ij,ij->i", outward, corners.mean(axis=1)) > 0).all()
        assert (props["batched_scales"] > 0).all()


def test_couplings_colour_the_legs(server, page, walker):
    scene = RobotScene(server, walker)
    scene.place(named_state(walker, "home")[0])
    assert set(scene.show_coupling("normal").values()) == {"driven"}
    released = scene.show_coupling("AFL_released")
    assert {joint for joint, state in released.items() if state == "free"} == {"AFL_f", "AFL_t"}
    child = {joint.name: joint.child_link for joint in walker.joints}
    row = walker.link_names.index(child["AFL_t"])
    number, place = next(
        (number, place) for number, group in enumerate(scene._groups)
        for place, shape in enumerate(group.shapes) if shape.link == row
    )  # fmt: skip
    seen = lambda given: instance_colours(given).tolist()  # noqa: E731
    colour = lambda: drawn(page, number)[2]["batched_colors"].reshape(-1, 3)[place].tolist()  # noqa: E731
    page.until(lambda: colour() == seen(FREE), "the colour of a free leg")
    assert set(scene.show_coupling("hold").values()) == {"locked"}
    page.until(lambda: colour() == seen(LOCKED), "the colour of a braked leg")
    assert scene.show_coupling("no such coupling") == {}
    page.until(lambda: colour() == seen(scene._groups[number].shapes[place].colour), "its own colour")


def test_quaternions_of_rotations():
    given = Rotation.concatenate([
        Rotation.random(200, random_state=7), Rotation.identity(1), Rotation.from_rotvec(np.pi * np.eye(3)),
        Rotation.from_rotvec(1e-9 * np.eye(3)), Rotation.from_rotvec((np.pi - 1e-9) * np.eye(3)),
    ])  # fmt: skip
    count = len(given)
    rows = np.concatenate([np.eye(3).ravel(), np.zeros(3)])[None, :]
    found, positions = np.empty((count, 4)), np.empty((count, 3))
    links = np.zeros(count, dtype=np.int64)
    place_shapes_into(rows, links, given.as_matrix(), np.zeros((count, 3)), positions, found)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(Rotation.from_quat(found[:, [1, 2, 3, 0]]).as_matrix(), given.as_matrix(), atol=1e-12)
