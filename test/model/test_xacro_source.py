# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Xacro files: expanded with their arguments, or refused with the file that is to blame."""

import sys

import pytest

from mbsim_ros.model.problems import UrdfError
from mbsim_ros.model.urdf.parser import parse_urdf

pytest.importorskip("xacro")

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
LINK = """  <xacro:arg name="mass" default="1"/>
  <xacro:property name="m" value="$(arg mass)"/>
  <xacro:macro name="body" params="name">
    <link name="${name}">
      <inertial>
        <mass value="${m * 2}"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
      </inertial>
    </link>
  </xacro:macro>
"""


def _write(folder, body, name="robot.urdf.xacro"):
    path = folder / name
    path.write_text(HEAD + body + "</robot>\n")
    return path


def test_a_xacro_file_is_expanded_with_its_arguments(tmp_path):
    path = _write(tmp_path, LINK + '<xacro:body name="base"/>\n')
    assert parse_urdf(path).link("base").inertial.mass == 2
    robot = parse_urdf(str(path), xacro_args={"mass": 2.5})
    assert robot.link("base").inertial.mass == 5
    assert robot.source == str(path) and "xacro:macro" not in robot.xml


def test_problems_of_the_expanded_robot_say_what_their_lines_mean(tmp_path):
    path = _write(tmp_path, LINK + '<xacro:body name="base"/>\n')
    with pytest.raises(UrdfError, match=r"(?s)negative mass, -2 kg.*lines count in the output of `xacro ") as caught:
        parse_urdf(path, xacro_args={"mass": -1})
    expanded = caught.value.problems[0].line
    assert expanded > 4  # after the banner that xacro writes


@pytest.mark.parametrize(
    "body, words",
    [
        ("<link name='${undefined}'/>", "cannot be expanded, name 'undefined' is not defined"),
        ("<link name='${1 +}'/>", "cannot be expanded"),
        ("<xacro:include filename='missing.xacro'/>", "cannot be expanded, No such file"),
        ("<xacro:missing_macro/>", "cannot be expanded, .*missing_macro"),
        ("<link name='$(find no_such_package)'/>", "cannot be expanded"),
        ("<link name='$(arg nothing)'/>", "cannot be expanded"),
        ("<xacro:macro name='m' params=''><xacro:m/></xacro:macro><xacro:m/>", "cannot be expanded"),
        ("<xacro:include filename='broken.xacro'/>", "broken.xacro:3: xacro: cannot be expanded"),
        ("<link>", "robot.urdf.xacro:2: xml: not well-formed XML"),
    ],
)
def test_failures_name_the_file(tmp_path, body, words):
    (tmp_path / "broken.xacro").write_text("<robot>\n<link>\n</robot>")
    path = _write(tmp_path, body)
    with pytest.raises(UrdfError, match=words):
        parse_urdf(path)


def test_entities_are_refused_before_xacro_sees_them(tmp_path):
    path = tmp_path / "bomb.xacro"
    path.write_text('<!DOCTYPE robot [<!ENTITY a "b">]>' + HEAD + "</robot>")
    with pytest.raises(UrdfError, match="DOCTYPE and entities are refused"):
        parse_urdf(path)


def test_arguments_without_a_xacro_file_are_refused():
    with pytest.raises(UrdfError, match="not a .xacro file, xacro_args given"):
        parse_urdf('<robot name="r"><link name="a"/></robot>', xacro_args={"a": 1})


def test_a_missing_xacro_library_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(UrdfError, match="the xacro library is missing, pip install xacro"):
        parse_urdf(_write(tmp_path, ""))
