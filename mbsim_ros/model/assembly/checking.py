# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Everything there is to say about a robot's file, or its sidecar, without stopping at the first problem."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.assembly.plausibility import LinkMass, link_masses
from mbsim_ros.model.catalogue import is_name, ready_robot
from mbsim_ros.model.description import RobotDescription
from mbsim_ros.model.file_reading import is_file
from mbsim_ros.model.mjcf import is_mjcf, read_mjcf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import Problem, SidecarError, UrdfError
from mbsim_ros.model.sidecar.parser import SUFFIX, find_sidecar, load_sidecar
from mbsim_ros.model.sidecar.settings import Sidecar, with_sidecar
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.xacro_source import LINES_NOTE, is_xacro

_ROBOT_ENDINGS = (".urdf", ".urdf.xacro", ".xacro")


@dataclass(frozen=True)
class FileCheck:
    """What was found; `robot`, `model` and `sidecar` are None where they could not be read or do not exist."""

    file: str
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    note: str = ""
    robot: RobotDescription | None = None
    model: Model | None = None
    masses: tuple[LinkMass, ...] = ()
    sidecar_file: str = ""
    sidecar: Sidecar | None = None
    sidecar_note: str = ""

    def is_fine(self, strict: bool = False) -> bool:
        """Whether the file can be used; `strict` allows no warnings."""
        return not self.errors and not (strict and self.warnings)


def check_file(
    path: str | Path,
    *,
    base: str = "auto",
    package_dirs: Sequence[str | Path] = (),
    sidecar: str | Path | None = None,
    xacro_args: Mapping[str, str] | None = None,
) -> FileCheck:
    """Check a robot by name, a .urdf or .xacro with its sidecar, or a .mbsim.yaml with the robot beside it.

    A bad file raises nothing: what is wrong with it is in the result.
    """
    if str(path).endswith((".yaml", ".yml")):
        return _check_sidecar_file(Path(path), package_dirs, xacro_args)
    if is_name(path):
        try:
            ready = ready_robot(str(path))
        except UrdfError as error:
            return FileCheck(str(path), error.problems)
        path, sidecar = str(ready.file), ready.sidecar if sidecar is None else sidecar
    found = _check_robot(path, package_dirs, xacro_args)
    # A sidecar is looked for beside the file even if the file is broken: its own mistakes are worth knowing, too.
    place = Path(sidecar) if sidecar is not None else find_sidecar(path)
    if place is not None:
        found = _with_sidecar(found, place)
    if found.robot is None:
        return found
    robot = found.robot if found.sidecar is None else with_sidecar(found.robot, found.sidecar)
    return replace(found, robot=robot, model=make_model(robot, base, found.sidecar), masses=link_masses(robot))


def find_robot(sidecar: Path) -> Path | None:
    """Return the robot of a sidecar: the same name beside it, or in the `urdf` folder next to its folder."""
    name = _robot_name(sidecar)
    folder = sidecar.absolute().parent
    places = (folder, folder.parent, folder.parent / "urdf")
    candidates = [place / (name + ending) for place in places for ending in _ROBOT_ENDINGS]
    return next((path for path in candidates if is_file(path)), None)


def _check_robot(
    path: str | Path, package_dirs: Sequence[str | Path], xacro_args: Mapping[str, str] | None
) -> FileCheck:
    uses_xacro = is_xacro(path)
    note = LINES_NOTE.format(file=path) if uses_xacro else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the description has them
            if is_mjcf(path):
                robot, _ = read_mjcf(path)
            else:
                robot = parse_urdf(path, package_dirs=package_dirs, xacro_args=xacro_args if uses_xacro else None)
    except UrdfError as error:
        tolerable = sorted(error.warnings, key=lambda problem: problem.line)
        return FileCheck(str(path), error.problems, tuple(tolerable), error.note)
    return FileCheck(str(path), warnings=robot.warnings, note=note, robot=robot)


def _with_sidecar(found: FileCheck, place: Path) -> FileCheck:
    note = "" if found.robot else "names in it were not checked, as the robot could not be read"
    try:
        sidecar = load_sidecar(place, found.robot)
    except SidecarError as error:
        return replace(found, errors=found.errors + error.problems, sidecar_file=str(place), sidecar_note=note)
    return replace(found, sidecar_file=str(place), sidecar=sidecar, sidecar_note=note)


def _check_sidecar_file(
    path: Path, package_dirs: Sequence[str | Path], xacro_args: Mapping[str, str] | None
) -> FileCheck:
    """Check a sidecar alone; its robot only lends the names."""
    place = find_robot(path)
    robot = None if place is None else _check_robot(place, package_dirs, xacro_args).robot
    found = _with_sidecar(FileCheck(str(path), robot=robot), path)
    if robot is not None:
        note = f"names were checked against {place}"
    else:
        why = f"no {_robot_name(path)}.urdf lies beside it" if place is None else f"{place} could not be read"
        note = f"names were not checked: {why}"
    return replace(found, robot=None, sidecar_note=note)


def _robot_name(sidecar: Path) -> str:
    return sidecar.name.removesuffix(SUFFIX).removesuffix(".yaml").removesuffix(".yml")
