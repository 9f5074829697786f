# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From a URDF or xacro file to a `RobotDescription`, or to every reason why not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from mbsim_ros.model.description import Joint, Link, Material, RobotDescription
from mbsim_ros.model.problems import Problem, UrdfError, shortened, warn_grouped
from mbsim_ros.model.urdf.element_reader import ElementReader
from mbsim_ros.model.urdf.joints import parse_joint
from mbsim_ros.model.urdf.links import parse_link, parse_material
from mbsim_ros.model.urdf.mesh_paths import MeshResolver
from mbsim_ros.model.urdf.rules import check_mass, check_names, check_tree, without_lost_mimics
from mbsim_ros.model.urdf.tag_table import count_tags
from mbsim_ros.model.urdf.xacro_source import LINES_NOTE, expand_xacro, is_xacro
from mbsim_ros.model.urdf.xml_source import XmlSource, looks_like_xml, parse_xml, read_xml

Item = TypeVar("Item")


def parse_urdf(
    path_or_xml: str | bytes | os.PathLike,
    *,
    strict: bool = False,
    package_dirs: Iterable[str | os.PathLike] = (),
    allow_outside: bool = False,
    xacro_args: Mapping[str, object] | None = None,
    found_meshes: Mapping[str, str] | None = None,
    tell: bool = True,
) -> RobotDescription:
    """Read a `.urdf`, a `.xacro` or XML text (anything that starts with '<').

    Raises one `UrdfError` with every problem of the file; imperfections are kept in `.warnings` and, if `tell`, issued
    as one `UrdfWarning`, or refused like errors if `strict`. Meshes are looked for in the file's folder and package, in
    `package_dirs` and in known ROS packages, and nowhere else unless `allow_outside`. `xacro_args` go to xacro.
    `found_meshes` is for a text that another process has published: where it found meshes, by their names as written;
    with it, even empty, `file://` may name mesh files anywhere.
    """
    source, note = _read(path_or_xml, xacro_args)
    problems = list(source.warnings)
    meshes = MeshResolver(source.folder, tuple(package_dirs), allow_outside, found_meshes)
    robot = _parse_robot(source, meshes, problems)
    errors = [problem for problem in problems if strict or problem.severity == "error"]
    if errors or robot is None:
        tolerable = [] if strict else [problem for problem in problems if problem.severity != "error"]
        raise UrdfError(errors, tolerable, note)
    if tell:
        warn_grouped(robot.warnings, note)
    return robot


def _read(path_or_xml: str | bytes | os.PathLike, xacro_args: Mapping[str, object] | None) -> tuple[XmlSource, str]:
    """Return the document, and a remark about its line numbers where there is one."""
    if not isinstance(path_or_xml, (str, bytes, os.PathLike)):
        raise TypeError(f"parse_urdf takes a path or XML text, not {type(path_or_xml).__name__}")
    path: str | bytes = os.fspath(path_or_xml)
    if isinstance(path, bytes) or looks_like_xml(path) or not is_xacro(path):
        source = read_xml(path)
        if xacro_args:
            hint = "name a .xacro file or drop xacro_args"
            raise UrdfError([Problem(source.file, 0, "file", "", "not a .xacro file", "xacro_args given", hint)])
        return source, ""
    text = expand_xacro(str(path), xacro_args)
    return parse_xml(text, str(path), Path(path).absolute().parent), LINES_NOTE.format(file=path)


def _parse_robot(source: XmlSource, meshes: MeshResolver, problems: list[Problem]) -> RobotDescription | None:
    """Return the robot, None if it has errors; what is wrong is added to `problems`."""
    reader = ElementReader(source, problems, "robot", source.root.get("name", ""))
    if not _check_root(reader, source):
        return None
    name = reader.text(source.root, "name", "robot name")
    materials = _materials(reader)
    links = [parse_link(reader, element, materials, meshes) for element in reader.children(source.root, "link")]
    joints = [parse_joint(reader, element) for element in reader.children(source.root, "joint")]
    if not links:
        reader.error(source.root, "no links", "", "a robot has at least one <link>")
    base = _base(reader)
    used, ignored, unknown = count_tags(source)
    problems += unknown
    problems += _check_whole(source.file, links, joints)
    if name is None or any(problem.severity == "error" for problem in problems):
        return None
    return replace(_finished(source, name, links, joints, problems, used, ignored), base=base)


def _check_root(reader: ElementReader, source: XmlSource) -> bool:
    tag = source.tag(source.root)
    if tag != "robot":
        kind = {"sdf": "this is an SDF file", "mujoco": "this is a MuJoCo file", "launch": "this is a launch file"}
        hint = kind.get(tag, "a URDF holds one <robot> element")
        reader.error(source.root, "not a robot", f"the root tag is <{shortened(tag)}>", hint)
        return False
    version = source.root.get("version")
    if version is not None and not re.fullmatch(r"1(\.[0-9]+){0,2}", version.strip()):
        reader.warn(source.root, "unknown URDF version", f"'{shortened(version)}'", "it is read as version 1.0")
    return True


def _materials(reader: ElementReader) -> dict[str, Material]:
    """Materials defined below <robot>; links may use them and add their own."""
    materials: dict[str, Material] = {}
    for element in reader.children(reader.source.root, "material"):
        name = element.get("name", "")
        here = reader.within("material", name)
        if name in materials:
            value = f"first in line {materials[name].line}"
            here.warn(element, "material defined twice", value, "the first is used")
        parse_material(here, element, materials)
    return materials


def _check_whole(file: str, links: list[Link | None], joints: list[Joint | None]) -> list[Problem]:
    """Check names and the tree; a tree with a hole in it would only be blamed for what was reported already."""
    known_links, known_joints = _known(links), _known(joints)
    problems = check_names(file, known_links, known_joints)
    sound = not any(problem.severity == "error" for problem in problems)
    if sound and known_links and len(known_links) == len(links) and len(known_joints) == len(joints):
        problems += check_tree(file, known_links, known_joints)
    return problems


def _finished(
    source: XmlSource, name: str, links: list[Link | None], joints: list[Joint | None], problems: list[Problem],
    used: dict[str, int], ignored: dict[str, int],
) -> RobotDescription:  # fmt: skip
    moving = without_lost_mimics(_known(joints))
    bare = RobotDescription(name, tuple(_known(links)), tuple(moving), source.file)
    problems += check_mass(bare)
    problems.sort(key=lambda problem: problem.line)
    return replace(bare, warnings=tuple(problems), xml=source.text, used_tags=used, ignored_tags=ignored)


def _base(reader: ElementReader) -> str | None:
    """What <mbsim base="…"/>, which `to_urdf` writes, says of the root."""
    said = None
    for element in reader.children(reader.source.root, "mbsim"):
        said = element.get("base")
        if said not in (None, "floating", "fixed"):
            reader.error(element, "neither floating nor fixed", f"base '{shortened(said)}'", "write one of them")
    return said


def _known(items: list[Item | None]) -> list[Item]:
    return [item for item in items if item is not None]
