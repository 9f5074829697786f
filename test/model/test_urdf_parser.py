# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a sound URDF becomes."""

import copy
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.model.description import Box, Capsule, Cylinder, Limits, Material, Mimic, Origin, Sphere
from mbsim_ros.model.problems import UrdfError, UrdfWarning
from mbsim_ros.model.urdf.parser import parse_urdf

GOOD = Path(__file__).parent / "good"
LEG = GOOD / "leg.urdf"


@pytest.fixture(scope="module")
def leg():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return parse_urdf(LEG)


def test_names_and_tree(leg):
    assert leg.name == "leg" and leg.source == str(LEG) and leg.warnings == ()
    assert [link.name for link in leg.links] == ["base", "thigh", "shin", "wheel", "foot"]
    assert leg.root.name == "base"
    assert [joint.name for joint in leg.children_of("base")] == ["a_wheel", "z_hip"]
    assert leg.children_of(leg.link("foot")) == ()
    assert leg.xml == LEG.read_text()


def test_unknown_names_are_told(leg):
    with pytest.raises(KeyError, match="no joint named 'hip'; there are: a_wheel, ankle"):
        leg.joint("hip")
    with pytest.raises(KeyError, match="no link named 'hip'"):
        leg.children_of("hip")


def test_joints(leg):
    hip = leg.joint("z_hip")
    assert (hip.type, hip.parent, hip.child, hip.axis) == ("revolute", "base", "thigh", (0, 0, 1))
    assert hip.limits == Limits(-1.5, 1.5, 40, 10)
    assert (hip.damping, hip.friction, hip.rotor_inertia, hip.mimic) == (0.2, 0.1, 0, None)
    ankle = leg.joint("ankle")
    assert ankle.axis == (1, 0, 0)
    assert ankle.mimic == Mimic("knee", -0.05, 0.01)
    assert leg.joint("a_wheel").limits is None


def test_links(leg):
    base = leg.link("base")
    assert base.inertial.mass == 4
    np.testing.assert_array_equal(base.inertial.inertia, [[0.04, 0.001, 0], [0.001, 0.05, 0], [0, 0, 0.06]])
    assert base.inertial.origin == Origin((0.01, 0, 0), (0, 0, 0.5))
    assert base.visuals[0].geometry == Box((0.2, 0.1, 0.1)) and base.visuals[0].name == "body"
    assert base.visuals[0].material == Material("steel", (0.6, 0.6, 0.7, 1))
    assert base.collisions[0].geometry == Capsule(0.05, 0.2)
    assert leg.link("wheel").collisions[0].geometry == Cylinder(0.1, 0.02)
    assert leg.link("foot").collisions[0].geometry == Sphere(0.03)


def test_every_object_keeps_its_line(leg):
    lines = LEG.read_text().splitlines()
    hip, base = leg.joint("z_hip"), leg.link("base")
    for thing, tag in [
        (base, '<link name="base"'), (base.inertial, "<inertial"), (base.inertial.origin, "<origin"),
        (base.visuals[0], "<visual"), (base.visuals[0].geometry, "<box"), (base.visuals[0].material, "<material"),
        (base.collisions[0], "<collision"), (hip, '<joint name="z_hip"'), (hip.origin, "<origin"),
        (hip.limits, "<limit"), (leg.joint("ankle").mimic, "<mimic"),
    ]:  # fmt: skip
        assert tag in lines[thing.line - 1]


def test_origins_turn_about_fixed_axes():
    def about(axis, angle):
        c, s = np.cos(angle), np.sin(angle)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        R = np.eye(3)
        R[i, i] = R[j, j] = c
        R[j, i], R[i, j] = s, -s
        return R

    X = Origin((1, 2, 3), (0.1, 0.2, 0.3)).matrix()
    np.testing.assert_allclose(X[:3, :3], about(2, 0.3) @ about(1, 0.2) @ about(0, 0.1), atol=1e-15)
    np.testing.assert_array_equal(X[:, 3], [1, 2, 3, 1])


def test_quaternions_of_version_1_2():
    body = '<link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/>{}</joint>'
    text = f'<robot name="r" version="1.2">{body}</robot>'
    with pytest.warns(UrdfWarning):
        turned = parse_urdf(text.format('<origin quat_xyzw="0.1 -0.2 0.3 0.9273618495495703"/>')).joint("j").origin
    x, y, z, w = 0.1, -0.2, 0.3, 0.9273618495495703
    expected = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    np.testing.assert_allclose(turned.matrix()[:3, :3], expected, atol=1e-14)


def test_tags_are_counted(leg):
    assert leg.used_tags["link"] == 5 and leg.used_tags["joint/limit"] == 3
    assert leg.ignored_tags == {"gazebo": 1, "joint/safety_controller": 1, "transmission": 1}


def test_a_description_cannot_be_changed(leg):
    with pytest.raises(AttributeError):
        leg.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        leg.link("base").inertial.inertia[0, 0] = 1


def test_the_same_robot_from_text_bytes_and_path(leg):
    text = LEG.read_text()
    for source in (text, text.encode(), "\n \t" + text, "\ufeff" + text, text.encode("utf-8-sig"), str(LEG)):
        assert parse_urdf(source) == leg
    assert parse_urdf(text.replace("utf-8", "utf-16").encode("utf-16")) == leg
    assert parse_urdf(text.replace("utf-8", "iso-8859-1").encode("latin-1")).xml == text
    assert hash(parse_urdf(text).links) == hash(leg.links)
    assert pickle.loads(pickle.dumps(leg)) == leg and copy.deepcopy(leg) == leg


def test_a_default_namespace_changes_nothing(leg):
    text = LEG.read_text().replace('<robot name="leg"', '<robot xmlns="http://www.ros.org" xmlns:x="u:x" name="leg"')
    assert parse_urdf(text) == leg


def test_lines_count_from_the_top_of_the_file_and_beyond_65535():
    with pytest.raises(UrdfError) as caught:
        parse_urdf("\n\n" + '<robot name="r">\n<link/>\n' + "\n" * 70_000 + "<link/></robot>")
    assert [problem.line for problem in caught.value.problems] == [4, 70_005]


def test_every_joint_type_and_the_default_axis():
    kinds = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
    rest = '<parent link="world"/><child link="{0}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    links = "".join(f'<link name="{kind}"/>' for kind in kinds)
    joints = "".join(f'<joint name="{kind}" type="{kind}">{rest.format(kind)}' for kind in kinds)
    with pytest.warns(UrdfWarning):
        robot = parse_urdf(f'<robot name="r"><link name="world"/>{links}{joints}</robot>')
    assert [joint.type for joint in robot.joints] == list(kinds)
    assert {joint.axis for joint in robot.joints} == {(1.0, 0.0, 0.0)}
    assert [joint.limits is not None for joint in robot.joints] == [True] * 3 + [False] * 4


def test_a_lost_mimic_joint_moves_by_itself():
    with pytest.warns(UrdfWarning):
        robot = parse_urdf(Path(__file__).parent / "imperfect" / "mimic_unknown.urdf")
    assert robot.joint("shoulder").mimic is None


def test_an_error_also_tells_what_would_have_been_a_warning():
    with pytest.raises(UrdfError) as caught:
        parse_urdf('<robot name="r"><link name="a"/><link name="a"/><oddity/></robot>')
    assert [problem.rule for problem in caught.value.problems] == ["duplicate link name"]
    assert [problem.rule for problem in caught.value.warnings] == ["unknown tag"]


def test_a_warning_is_grouped_by_rule():
    frame = '<link name="f{0}"/><joint name="j{0}" type="fixed"><parent link="world"/><child link="f{0}"/></joint>'
    links = "".join(frame.format(i) for i in range(10))
    with pytest.warns(UrdfWarning) as caught:
        parse_urdf(f'<robot name="r"><link name="world"/>{links}</robot>')
    assert str(caught[0].message).splitlines() == [
        "<xml text>: loaded with 10 imperfections",
        "  link without inertial (10): it counts as a frame without mass",
        "    line 1: link 'f0'", "    line 1: link 'f1'", "    line 1: link 'f2'", "    line 1: link 'f3'",
        "    … and 6 more",
    ]  # fmt: skip
