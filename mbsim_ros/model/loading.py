# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`load_urdf`: from a file or a text to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.catalogue import is_name, ready_robot
from mbsim_ros.model.mjcf import is_mjcf, read_mjcf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import UrdfError, warn_grouped
from mbsim_ros.model.sidecar.parser import find_sidecar, load_sidecar, parse_sidecar
from mbsim_ros.model.sidecar.settings import with_sidecar
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.xml_source import looks_like_xml


def load_urdf(
    path_or_xml: str | Path,
    base: str = "auto",
    *,
    strict: bool = False,
    sidecar: str | Path | None = None,
    package_dirs: Sequence[str | Path] = (),
    allow_outside: bool = False,
    xacro_args: Mapping[str, str] | None = None,
    found_meshes: Mapping[str, str] | None = None,
) -> Model:
    """Load a robot from a .urdf, .xacro or MJCF file, from their text, or by its name in `mbsim robots`.

    base: "floating", "fixed" or "auto": as sidecar or file say; else a root link named `world` and that of an arm are
    fixed, any other floats (`model.base_choice` says why).
    strict: refuse what is loaded with a warning otherwise.
    package_dirs: packages, or folders of packages, in which `package://` is looked up before anywhere else.
    found_meshes: of a text that a simulation has published (also {}): its file:// addresses may name meshes anywhere.
    sidecar: the robot's .mbsim.yaml; None looks beside the file and in a `config` folder next to its folder.
    Raises UrdfError or SidecarError with every problem of the file; nothing is half-loaded.
    """
    is_tried = False  # a robot of others with a sidecar of ours: nobody here can change its file
    if is_name(path_or_xml):
        ready = ready_robot(str(path_or_xml))
        is_tried = ready.sidecar is not None
        path_or_xml, sidecar = str(ready.file), ready.sidecar if sidecar is None else sidecar
    if is_mjcf(path_or_xml):
        return _from_mjcf(path_or_xml, base, strict, sidecar)
    robot = parse_urdf(
        path_or_xml, strict=strict, package_dirs=package_dirs, allow_outside=allow_outside, xacro_args=xacro_args,
        found_meshes=found_meshes, tell=not is_tried,
    )  # fmt: skip
    found = Path(sidecar) if sidecar is not None else None
    if found is None and not looks_like_xml(path_or_xml):
        found = find_sidecar(robot.source)
    if found is None:
        return make_model(robot, base)
    settings = load_sidecar(found, robot)
    return make_model(with_sidecar(robot, settings), base, settings)


def _from_mjcf(path_or_xml: str | Path, base: str, strict: bool, sidecar: str | Path | None) -> Model:
    """A robot of MuJoCo's format. Sections of a sidecar stand in place of those that its file gives."""
    robot, text = read_mjcf(path_or_xml)
    if strict and robot.warnings:
        raise UrdfError(list(robot.warnings))
    warn_grouped(robot.warnings)
    found = Path(sidecar) if sidecar is not None else None
    if found is None and not looks_like_xml(path_or_xml):
        found = find_sidecar(Path(robot.source).with_suffix(".urdf"))
    if found is not None:
        given = load_sidecar(found, robot)
        text = yaml.safe_dump({**yaml.safe_load(text), **yaml.safe_load(given.text)}, sort_keys=False)
    folder = None if found is None else found.absolute().parent
    settings = parse_sidecar(text, robot, file=str(found or robot.source), folder=folder)
    return make_model(with_sidecar(robot, settings), base, settings)
