# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Every broken URDF is refused and every imperfect one loaded, with the right words at the right line."""

from pathlib import Path

import pytest

from mbsim_ros.model.problems import UrdfError, UrdfWarning
from mbsim_ros.model.urdf.parser import parse_urdf

FOLDER = Path(__file__).parent

# File -> every problem it must report: line, and how the message goes on after the name of the link or joint.
BROKEN = {
    "axis_nan": [(13, 'not a finite number, axis xyz="nan 0 1"')],
    "axis_not_a_number": [(13, 'not a finite number, axis xyz="x y z"')],
    "axis_of_two_numbers": [(13, 'wrong count of numbers, axis xyz="0 1"')],
    "box_negative": [(24, 'negative size, box size="1 -1 1"')],
    "box_of_two_numbers": [(24, 'wrong count of numbers, box size="1 1"')],
    "box_without_size": [(24, "missing number, <box> has no size")],
    "capsule_without_radius": [(24, "missing number, <capsule> has no radius")],
    "child_with_empty_link": [(11, "empty child link, <child>")],
    "closed_kinematic_chain": [(45, "two parents, also the child of joint 'b' in line 39")],
    "continuous_limit_without_effort": [(14, "missing number, <limit> has no effort")],
    "cylinder_negative": [(24, 'negative size, cylinder radius="-0.1"')],
    "cylinder_without_length": [(24, "missing number, <cylinder> has no length")],
    "damping_not_a_number": [(15, 'not a finite number, dynamics damping="little"')],
    "duplicate_joint": [(29, "duplicate joint name, first in line 9")],
    "duplicate_link": [(23, "duplicate link name, first in line 16")],
    "empty_file": [(1, "is empty")],
    "inertia_absurd": [(20, "absurd inertia, 1e+18 kg m²")],
    "inertia_huge_product": [(20, "inertia not positive semidefinite, principal moments -0.04 0.001 0.06")],
    "inertia_nan": [(20, 'not a finite number, inertia iyz="nan"')],
    "inertia_negative_moment": [(20, "inertia not positive semidefinite, principal moments -0.01 0.001 0.01")],
    "inertia_without_ixx": [(20, "missing number, <inertia> has no ixx")],
    "inertia_without_products": [
        (20, "missing number, <inertia> has no ixy"),
        (20, "missing number, <inertia> has no ixz"),
        (20, "missing number, <inertia> has no iyz"),
    ],
    "inertial_empty": [
        (17, "inertial without mass, <inertial> has no <mass>"),
        (17, "inertial without inertia, <inertial> has no <inertia>"),
    ],
    "inertial_without_mass": [(17, "inertial without mass, <inertial> has no <mass>")],
    "infinite_limit": [(14, 'not a finite number, limit lower="-inf"')],
    "joint_without_child": [(9, "joint without child, <joint> has no <child>")],
    "joint_without_name": [(9, "missing joint name, <joint>")],
    "joint_without_parent": [(9, "joint without parent, <joint> has no <parent>")],
    "joint_without_type": [(9, "missing joint type, <joint>")],
    "limit_decimal_comma": [(14, 'not a finite number, limit lower="-1,5"')],
    "limit_without_effort": [(14, "missing number, <limit> has no effort")],
    "limit_without_velocity": [(14, "missing number, <limit> has no velocity")],
    "link_with_empty_name": [(23, "empty link name, <link>")],
    "link_without_name": [(23, "missing link name, <link>")],
    "loop_of_two": [(39, "closes a loop, lower > hand > lower")],
    "loop_without_root": [(23, "closes a loop, base > upper > base")],
    "lower_above_upper": [(14, "lower limit above upper limit, 1 > -1")],
    "many_problems": [
        (5, "negative mass, -2 kg"),
        (12, 'wrong count of numbers, origin xyz="0 0"'),
        (13, 'zero axis, axis xyz="0 0 0"'),
        (20, 'not a finite number, inertia ixx="x"'),
    ],
    "mass_absurd": [(19, "absurd mass, 1e+30 kg")],
    "mass_as_text": [(19, "missing number, <mass> has no value")],
    "mass_nan": [(19, 'not a finite number, mass value="NaN"')],
    "mass_without_inertia": [(17, "mass without inertia, <inertial> has no <inertia>")],
    "mass_without_value": [(19, "missing number, <mass> has no value")],
    "mesh_scale_of_two_numbers": [(24, 'wrong count of numbers, mesh scale="1 1"')],
    "mesh_without_filename": [(24, "missing mesh file name, <mesh>")],
    "mimic_circle": [(15, "joints mimic each other in a circle, shoulder > elbow > shoulder")],
    "mimic_itself": [(15, "mimics itself, 'shoulder'")],
    "mimic_multiplier_not_a_number": [(15, 'not a finite number, mimic multiplier="1:2"')],
    "mimic_of_fixed": [(15, "mimics a joint without one axis, 'elbow' is fixed")],
    "mimic_of_floating": [(15, "mimics a joint without one axis, 'elbow' is floating")],
    "mimic_on_planar": [(15, "mimic on a joint without one axis, planar")],
    "mimic_without_joint": [(15, "missing mimicked joint, <mimic>")],
    "misspelt_joint_type": [(9, "unknown joint type, 'Revolute'")],
    "negative_damping": [(15, "negative damping, -0.1")],
    "negative_effort": [(14, "negative effort limit, -10")],
    "negative_friction": [(15, "negative friction, -1")],
    "negative_mass": [(19, "negative mass, -1 kg")],
    "negative_velocity": [(14, "negative velocity limit, -5")],
    "not_xml": [(1, "not XML, starts with 'robot: name: arm'")],
    "only_declaration": [(2, "not well-formed XML")],
    "only_white_space": [(1, "is empty")],
    "origin_absurd": [(12, 'absurd length, origin xyz="0 0 1e20"')],
    "origin_absurd_angle": [(12, 'absurd angle, origin rpy="0 0 1e15"')],
    "origin_empty": [(12, 'wrong count of numbers, origin xyz=""')],
    "origin_hexadecimal": [(12, 'not a finite number, origin xyz="0 0 0x10"')],
    "origin_nan": [(12, 'not a finite number, origin rpy="0 nan 0"')],
    "origin_of_four_numbers": [(12, 'wrong count of numbers, origin xyz="0 0 0.1 1"')],
    "origin_of_two_numbers": [(12, 'wrong count of numbers, origin xyz="0 0.1"')],
    "origin_overflow": [(12, 'not a finite number, origin xyz="0 0 1e400"')],
    "origin_two_rotations": [(12, "two rotations, origin has rpy and quat_xyzw")],
    "origin_underscore": [(12, 'not a finite number, origin xyz="0 0 1_0"')],
    "origin_with_commas": [(12, 'not a finite number, origin xyz="0, 0, 0.1"')],
    "origin_with_unit": [(12, 'not a finite number, origin xyz="0 0 100mm"')],
    "origin_xacro": [(12, 'not a finite number, origin xyz="0 0 ${height}"')],
    "origin_zero_quaternion": [(12, 'quaternion has no direction, quat_xyzw="0 0 0 0"')],
    "parent_without_link": [(10, "missing parent link, <parent>")],
    "prismatic_without_limits": [(9, "prismatic joint without limits, <joint> has no <limit>")],
    "revolute_without_limits": [(9, "revolute joint without limits, <joint> has no <limit>")],
    "robot_with_empty_name": [(2, "empty robot name, <robot>")],
    "robot_without_links": [(1, "no links")],
    "robot_without_name": [(2, "missing robot name, <robot>")],
    "root_is_sdf": [(2, "not a robot, the root tag is <sdf>")],
    "root_is_something_else": [(1, "not a robot, the root tag is <html>")],
    "self_joint": [(29, "joins a link to itself, 'lower'")],
    "sphere_absurd": [(24, 'absurd length, sphere radius="1e30"')],
    "sphere_not_a_number": [(24, 'not a finite number, sphere radius="big"')],
    "sphere_without_radius": [(24, "missing number, <sphere> has no radius")],
    "three_roots": [(23, "second root, 'base' has no parent either"), (29, "second root, 'base' has no parent either")],
    "two_parents": [(25, "two parents, also the child of joint 'shoulder' in line 9")],
    "two_roots": [(23, "second root, 'base' has no parent either")],
    "unknown_child": [(11, "unknown child link, 'forearm'")],
    "unknown_joint_type": [(9, "unknown joint type, 'hinge'")],
    "unknown_parent": [(10, "unknown parent link, 'bace'")],
    "xml_ampersand": [(16, "not well-formed XML")],
    "xml_attribute_twice": [(19, "not well-formed XML")],
    "xml_control_character": [(19, "not well-formed XML")],
    "xml_doctype": [(2, "DOCTYPE and entities are refused, <!DOCTYPE robot")],
    "xml_internal_entity": [(2, "DOCTYPE and entities are refused, <!DOCTYPE robot")],
    "xml_not_utf8": [(16, "not utf-8 text, byte 0xe9")],
    "xml_tag_not_closed": [(22, "not well-formed XML")],
    "xml_text_after_robot": [(24, "not well-formed XML")],
    "xml_truncated": [(15, "not well-formed XML")],
    "xml_two_robots": [(24, "not well-formed XML")],
    "xml_unknown_encoding": [(1, "unknown text encoding, klingon")],
    "xml_unknown_entity": [(9, "not well-formed XML")],
    "xml_unquoted_attribute": [(19, "not well-formed XML")],
    "zero_axis": [(13, 'zero axis, axis xyz="0 0 0"')],
}

# File -> every imperfection it must load with.
IMPERFECT = {
    "axis_not_unit": [(13, 'axis not a unit vector, axis xyz="0 1 1" of length 1.41421')],
    "bad_colour": [(24, 'unusable colour, rgba="255 200 0 1"')],
    "double_hyphen_in_comment": [(23, "sloppy XML")],
    "flat_box": [(24, 'shape without size, box size="1 1 0"')],
    "frame_without_inertial": [(23, "link without inertial")],
    "future_version": [(2, "unknown URDF version, '3.0'")],
    "heavy": [(19, "implausible mass, 1e+06 kg")],
    "inertia_in_other_units": [(20, "inertia too large for its mass, 1 kg with a radius of gyration of 200 m")],
    "inertia_slightly_indefinite": [(20, "inertia not positive semidefinite, principal moments -0.002 0.001 0.022")],
    "inertia_without_mass": [(20, "inertia without mass, principal moments 0.001 0.01 0.01")],
    "limits_in_degrees": [(14, "limits look like degrees, -90 … 90")],
    "mass_twice": [(20, "tag given twice, <mass>")],
    "massless_subtree": [(24, "movable joint carries no mass, below link 'tip'")],
    "material_twice": [(24, "material defined twice, first in line 23")],
    "mesh_outside": [(24, "mesh outside the robot's folders, ../../../../../../../../etc/passwd")],
    "mesh_over_http": [(24, "mesh address not supported, http://example.com/arm.stl")],
    "mimic_on_fixed": [(15, "mimic on a fixed joint, 'elbow'")],
    "mimic_unknown": [(15, "mimics an unknown joint, 'elbow'")],
    "missing_mesh": [(24, "mesh not found, meshes/arm.stl")],
    "misspelt_tag": [(14, "unknown tag, joint/dinamics")],
    "no_travel": [(14, "no travel between the limits, lower = upper = 0")],
    "origin_far_away": [(12, 'implausible length, origin xyz="0 0 100000"')],
    "origin_in_degrees": [(12, 'angle beyond a full turn, origin rpy="0 0 90"')],
    "point_mass": [(20, "mass without inertia, 1 kg")],
    "quaternion_in_old_version": [(12, 'quat_xyzw ignored, quat_xyzw="0 0 0 1"')],
    "quaternion_not_unit": [(12, "quaternion not unit, length 2")],
    "shape_without_geometry": [(22, "shape without geometry, <visual>")],
    "triangle_rule": [(20, "inertia breaks the triangle rule, principal moments 0.01 0.01 0.05")],
    "triangle_rule_with_box": [(20, "inertia breaks the triangle rule, principal moments 0.01 0.01 0.05")],
    "two_geometries": [(25, "tag given twice, several shapes in <geometry>")],
    "undeclared_prefix": [(23, "sloppy XML"), (23, "unknown tag, xacro:property")],
    "unknown_attribute": [(14, 'unknown attribute, joint/limit soft="1"')],
    "unknown_geometry": [(22, "shape without geometry, <visual>"), (24, "unknown tag, link/visual/geometry/cone")],
    "unknown_material": [(24, "unknown material, 'gold'")],
    "unknown_package": [(24, "package of a mesh not found, package://no_such_package/arm.stl")],
    "unknown_tag": [(11, "unknown tag, joint/colour")],
    "zero_effort": [(14, 'effort limit of zero, limit effort="0"')],
    "zero_velocity": [(14, 'velocity limit of zero, limit velocity="0"')],
}


def test_the_tables_cover_the_folders():
    assert {path.stem for path in (FOLDER / "broken").iterdir()} == set(BROKEN)
    assert {path.stem for path in (FOLDER / "imperfect").iterdir()} == set(IMPERFECT)
    assert len(BROKEN) >= 70 and len(IMPERFECT) >= 12


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_with_every_problem(name):
    path = FOLDER / "broken" / f"{name}.urdf"
    with pytest.raises(UrdfError) as caught:
        parse_urdf(path)
    _assert_reported(path, caught.value.problems, BROKEN[name], "error")
    for problem in caught.value.problems:
        assert str(problem) in str(caught.value)


@pytest.mark.parametrize("name", IMPERFECT)
def test_an_imperfect_file_loads_with_one_warning(name):
    path = FOLDER / "imperfect" / f"{name}.urdf"
    with pytest.warns(UrdfWarning) as caught:
        robot = parse_urdf(path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    _assert_reported(path, robot.warnings, IMPERFECT[name], "warning")
    for problem in robot.warnings:
        assert problem.rule in str(caught[0].message)


@pytest.mark.parametrize("name", IMPERFECT)
def test_an_imperfect_file_is_refused_if_strict(name):
    path = FOLDER / "imperfect" / f"{name}.urdf"
    with pytest.raises(UrdfError) as caught:
        parse_urdf(path, strict=True)
    _assert_reported(path, caught.value.problems, IMPERFECT[name], "warning")


def _assert_reported(path, problems, expected, severity):
    found = [str(problem) for problem in problems]
    assert len(found) == len(expected), "\n".join(found)
    for problem, text, (line, words) in zip(problems, found, expected, strict=True):
        assert problem.severity == severity
        assert text.startswith(f"{path}:{line}: "), text
        assert f": {words}" in text, text
