# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Contact points from collision shapes, meshes and sidecars."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest
from scipy.optimize import nnls

from mbsim_ros.contact.mesh_points import (
    MeshUnreadable,
    hull_vertices,
    mesh_points,
    read_vertices,
    support_points,
)
from mbsim_ros.contact.points import ContactWarning, contact_points
from mbsim_ros.dynamics import forward_kinematics
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.sidecar.settings import upright
from mbsim_ros.model.urdf.writer import to_urdf

URDF = """<robot name="r">
 <link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.4 0.6"/></geometry></collision></link>
 <link name="leg"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  {leg}</link>
 <link name="foot"><inertial><mass value="0.1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 -0.05" rpy="1.5707963267948966 0 0"/>
   <geometry>{foot}</geometry></collision></link>
 <joint name="hip" type="revolute"><parent link="base"/><child link="leg"/><origin xyz="0.1 0 0" rpy="0.3 0 0"/>
   <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
 <joint name="ankle" type="fixed"><parent link="leg"/><child link="foot"/><origin xyz="0 0 -0.5"/></joint>
</robot>"""


def robot(foot='<sphere radius="0.04"/>', leg="", **options):
    return load_urdf(URDF.format(foot=foot, leg=leg), base="floating", **options)


def world_places(model, points, q):
    X = forward_kinematics(model, q).X_WB[points.bodies]
    return np.einsum("nij,nj->ni", X[:, :3, :3], points.geometry[:, :3]) + X[:, :3, 3]


def test_box_and_sphere_stand_where_the_links_are():
    model = robot()
    points = contact_points(model)
    assert points.links == ("base",) * 8 + ("foot",)
    q = model.neutral.copy()
    q[:3], q[7] = (1.0, 2.0, 3.0), 0.4
    places = world_places(model, points, q)
    corners = {(x, y, z) for x in (0.9, 1.1) for y in (1.8, 2.2) for z in (2.8, 3.4)}
    assert {tuple(np.round(place, 12)) for place in places[:8]} == corners
    X_WF = forward_kinematics(model, q).link_pose("foot")
    np.testing.assert_allclose(places[8], X_WF[:3, :3] @ [0, 0, -0.05] + X_WF[:3, 3], atol=1e-15)
    assert points.geometry[8, 3] == 0.04
    assert points.of_link("foot") == [8]
    assert points.labels[0] == "box corner 0"


def test_arrays_cannot_be_changed():
    points = contact_points(robot())
    with pytest.raises(ValueError, match="read-only"):
        points.geometry[0, 0] = 1.0


def test_cylinder_and_capsule():
    model = robot('<cylinder radius="0.03" length="0.2"/>')
    points = contact_points(model, ["foot"], rim_points=6)
    places = world_places(model, points, model.neutral)
    X_WF = forward_kinematics(model, model.neutral).link_pose("foot")
    local = (places - X_WF[:3, 3]) @ X_WF[:3, :3]
    assert len(points) == 12
    np.testing.assert_allclose(np.abs(local[:, 1]), 0.1, atol=1e-15)  # its axis lies along y of the foot
    np.testing.assert_allclose(np.hypot(local[:, 0], local[:, 2] + 0.05), 0.03, atol=1e-15)
    capsule = contact_points(robot('<capsule radius="0.03" length="0.2"/>'), ["foot"])
    assert len(capsule) == 2
    np.testing.assert_array_equal(capsule.geometry[:, 3], 0.03)


def test_points_of_a_sidecar_replace_those_of_the_link(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(foot='<sphere radius="0.04"/>', leg=""))
    (tmp_path / "r.mbsim.yaml").write_text("contact: {points: {foot: [[0, 0, -0.1], [0.1, 0, -0.1]], base: []}}\n")
    model = load_urdf(path, base="floating", sidecar=tmp_path / "r.mbsim.yaml")
    points = contact_points(model)
    assert points.links == ("foot", "foot")
    X_WF = forward_kinematics(model, model.neutral).link_pose("foot")
    np.testing.assert_allclose(
        world_places(model, points, model.neutral)[1], X_WF[:3, :3] @ [0.1, 0, -0.1] + X_WF[:3, 3], atol=1e-15
    )


def test_links_fixed_to_the_world_have_no_points():
    text = URDF.format(foot='<sphere radius="0.04"/>', leg="").replace('"base"', '"world"')
    points = contact_points(load_urdf(text))
    assert set(points.links) == {"foot"}


def test_bad_arguments():
    with pytest.raises(KeyError, match="no link named 'hand'"):
        contact_points(robot(), ["hand"])
    with pytest.raises(ValueError, match="rim_points"):
        contact_points(robot(), rim_points=2)


def write_sphere_stl(path, binary):
    rng = np.random.default_rng(0)
    vertices = rng.normal(size=(300, 3))
    vertices /= np.linalg.norm(vertices, axis=1)[:, None]
    vertices[0] = 0.0  # inside
    triangles = vertices.reshape(100, 3, 3)
    if binary:
        body = b"".join(struct.pack("<12fH", 0, 0, 1, *triangle.ravel(), 0) for triangle in triangles)
        path.write_bytes(b"solid of sorts".ljust(80) + struct.pack("<I", len(triangles)) + body)
    else:
        lines = [f"vertex {x} {y} {z}" for x, y, z in vertices.tolist()]
        path.write_text("solid s\n" + "\n".join(lines) + "\nendsolid s\n")
    return vertices


@pytest.mark.parametrize("binary", [True, False])
def test_stl(tmp_path, binary):
    vertices = write_sphere_stl(tmp_path / "m.STL", binary)
    np.testing.assert_allclose(read_vertices(tmp_path / "m.STL"), vertices, atol=1e-7)
    points = mesh_points(tmp_path / "m.STL", (2.0, 1.0, 1.0), 20)
    assert len(points) == 20
    np.testing.assert_allclose(np.linalg.norm(points * [0.5, 1.0, 1.0], axis=1), 1.0, atol=1e-6)
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2) + 9.0 * np.eye(20)
    assert gaps.min() > 0.3  # spread out


def test_obj_and_flat_meshes(tmp_path):
    (tmp_path / "m.obj").write_text("# flat\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvn 0 0 1\nf 1 2 3\n")
    assert len(mesh_points(tmp_path / "m.obj")) == 4


@pytest.mark.parametrize(
    "name, content", [("m.dae", b"x"), ("m.obj", b""), ("m.obj", b"v 1 2\n"), ("m.obj", b"v a b c\n"), ("m.stl", b"v"), ("m.obj", b"v nan 0 0\n"), ("gone.stl", None)]
)  # fmt: skip
def test_unreadable_meshes(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(MeshUnreadable):
        mesh_points(tmp_path / name)


def test_a_foot_is_its_ball_or_its_sole(tmp_path):
    """The hip is turned by 0.3 about x: only in the home state, turned further, the foot's lowest edge is another."""
    sidecar = tmp_path / "r.mbsim.yaml"
    sidecar.write_text("feet: [foot]")
    assert contact_points(robot(sidecar=sidecar)).links.count("foot") == 1
    write_sphere_stl(tmp_path / "m.stl", True)
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(foot='<mesh filename="m.stl" scale="0.1 0.1 0.1"/>', leg=""))
    ball = contact_points(load_urdf(path, base="floating"), ["foot"])
    assert ball.labels == ("mesh ball",)
    np.testing.assert_allclose(ball.geometry[0, 3], 0.1, rtol=1e-2)
    for turn, lowest in (("[0, 0, 0]", -1.0), ("[-0.6, 0, 0]", 1.0)):
        sidecar.write_text(f"feet: ['fo+t']\ninitial_states: {{home: {{base: {{rpy: {turn}}}}}}}")
        model = robot(foot='<box size="0.2 0.1 0.3"/>', sidecar=sidecar)
        points = contact_points(model, ["foot"])
        assert len(points) == 2
        foot = model.frame("foot")
        places = (points.geometry[:, :3] - foot.X_BF[:3, 3]) @ foot.X_BF[:3, :3]
        np.testing.assert_allclose(np.sort(places[:, 0]), [-0.1, 0.1], atol=1e-12)
        np.testing.assert_allclose(places[:, 1], lowest * 0.15, atol=1e-12)  # the box lies on its side


def test_what_is_no_foot_touches_too_but_not_in_its_stead(tmp_path):
    """A robot that falls lies on the ground; a shank does not stand beside the foot that is fixed to it."""
    sidecar = tmp_path / "r.mbsim.yaml"
    sidecar.write_text("feet: [foot]")
    shank = '<collision><origin xyz="0 0 -0.26"/><geometry><box size="0.05 0.05 0.6"/></geometry></collision>'
    model = robot(leg=shank, sidecar=sidecar)
    points = contact_points(model)
    assert (points.links.count("base"), points.links.count("leg"), points.links.count("foot")) == (8, 4, 1)
    leg = model.frame("leg")
    places = points.geometry[[link == "leg" for link in points.links], :3]
    np.testing.assert_allclose(((places - leg.X_BF[:3, 3]) @ leg.X_BF[:3, :3])[:, 2], 0.04)  # at the hip


def test_a_mesh_gives_points_or_a_warning(tmp_path):
    write_sphere_stl(tmp_path / "m.stl", True)
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(foot='<mesh filename="m.stl" scale="0.1 0.1 0.1"/>', leg=""))
    points = contact_points(load_urdf(path, base="floating"), ["foot"], mesh_limit=10)
    assert len(points) == 10
    (tmp_path / "m.stl").unlink()
    with pytest.warns(UserWarning):
        model = load_urdf(path, base="floating")
    with pytest.warns(ContactWarning, match="link 'foot': no contact points from mesh 'm.stl'.*contact.points"):
        assert len(contact_points(model, ["foot"])) == 0


def distance_to_hull(points, place):
    """Distance of a place to the convex hull of points (n, 3), by non-negative least squares with weights that sum to 1."""
    weights = nnls(np.vstack([points.T, 1e3 * np.ones(len(points))]), np.array([*place, 1e3]))[0]
    return np.linalg.norm(points.T @ weights / weights.sum() - place)


@pytest.mark.parametrize("form", ["ellipsoid", "rounded box", "cone"])
def test_few_points_of_a_mesh_reach_as_far_as_all_of_it(form):
    rng = np.random.default_rng(3)
    on_sphere = rng.normal(size=(800, 3))
    on_sphere /= np.linalg.norm(on_sphere, axis=1)[:, None]
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    forms = {
        "ellipsoid": on_sphere * [0.2, 0.1, 0.05],
        "rounded box": 0.02 * on_sphere + rng.choice([-1.0, 1.0], (800, 3)) * [0.15, 0.1, 0.05],
        "cone": np.vstack([np.column_stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.0 * angle]), [[0, 0, 0.3]]]),
    }
    hull = hull_vertices(forms[form])
    size = np.ptp(hull, axis=0).max()
    chosen = support_points(hull, 64)
    short = max(distance_to_hull(chosen, place) for place in hull)
    assert len(chosen) <= 64 < len(hull)
    assert short < 0.03 * size
    assert len(support_points(hull, 4)) == 4
    np.testing.assert_array_equal(support_points(hull, 64), chosen)


def test_the_sidecar_says_how_many_points_a_mesh_has(tmp_path):
    write_sphere_stl(tmp_path / "m.stl", True)
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(foot='<mesh filename="m.stl" scale="0.1 0.1 0.1"/>', leg=""))
    sidecar = tmp_path / "r.mbsim.yaml"
    for text, count in (("{}", 64), ("{mesh_points: 12}", 12)):
        sidecar.write_text(f"contact: {text}")
        points = contact_points(load_urdf(path, base="floating"))
        assert points.links.count("foot") == count
    sidecar.write_text("contact: {mesh_points: 2.5}")
    with pytest.raises(ValueError, match="not a number of points.*2.5.*whole number from 4 to 1000"):
        load_urdf(path, base="floating")


def test_a_floating_robot_without_collision_shapes_touches_with_what_is_seen():
    """Real files have them for eyes alone: a robot that floats must not fall through the floor for that."""
    text = URDF.format(foot='<sphere radius="0.04"/>', leg="")
    seen = text.replace("collision>", "visual>")
    with pytest.warns(ContactWarning, match="'r' has no collision shapes: it touches with its visual shapes"):
        points = contact_points(load_urdf(seen, base="floating"))
    np.testing.assert_array_equal(points.geometry, contact_points(robot()).geometry)
    assert points.links == ("base",) * 8 + ("foot",)
    with pytest.warns(ContactWarning, match="the origins of its links"):
        bare = contact_points(load_urdf(re.sub("<collision>.*?</collision>", "", text, flags=re.S), base="floating"))
    assert bare.links == ("base", "leg", "foot")
    lost = re.sub("<geometry>.*?</geometry>", '<geometry><mesh filename="lost.stl"/></geometry>', text, flags=re.S)
    with (
        pytest.warns(UserWarning, match="mesh not found"),
        pytest.warns(ContactWarning, match="mesh 'lost.stl' was not found"),
    ):
        assert len(contact_points(load_urdf(lost, base="floating"))) == 3
    assert len(contact_points(load_urdf(seen, base="fixed"))) == 0


def test_collada_meshes_with_y_up_are_turned_where_the_sidecar_says_so(tmp_path):
    """A mesh 0.2 high along its y: from its link's origin upwards once it is turned; published, it is not turned again."""
    triangles = "0 0 0  0.1 0 0  0 0.2 0"
    (tmp_path / "m.dae").write_text(
        f'<COLLADA><library_geometries><geometry id="g"><mesh><source id="s"><float_array>{triangles}</float_array>'
        '</source><vertices id="v"><input semantic="POSITION" source="#s"/></vertices><triangles>'
        '<input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry>'
        "</library_geometries></COLLADA>"
    )
    path, sidecar = tmp_path / "r.urdf", tmp_path / "r.mbsim.yaml"
    path.write_text(URDF.format(foot='<mesh filename="m.dae"/>', leg="").replace('rpy="1.5707963267948966 0 0"', ""))
    sidecar.write_text("mesh_up_axis: y")
    model = load_urdf(path, base="floating")
    foot = contact_points(model, ["foot"]).geometry[:, :3] - contact_points(model, ["foot"]).geometry[0, :3]
    np.testing.assert_allclose(
        foot @ model.frame("foot").X_BF[:3, :3], [[0, 0, 0], [0, 0, 0.2], [0.1, 0, 0]], atol=1e-12
    )
    text = to_urdf(upright(model.description, model.sidecar), for_ros=True)
    again = load_urdf(text, base="floating", sidecar=sidecar, found_meshes={})
    np.testing.assert_allclose(contact_points(again).geometry, contact_points(model).geometry, atol=1e-12)
