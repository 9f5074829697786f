# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Postures from the SRDF that lies beside a URDF: MoveIt and Pinocchio keep named states of joints there."""

from __future__ import annotations

from pathlib import Path

from mbsim_ros.model.description import SINGLE_AXIS_TYPES, RobotDescription
from mbsim_ros.model.file_reading import is_file
from mbsim_ros.model.problems import UrdfError
from mbsim_ros.model.urdf.xml_source import read_xml

# The first of these that there is becomes `home`.
UPRIGHT = ("standing", "half_sitting", "home", "ready", "default", "straight_standing")


def find_srdf(robot: RobotDescription) -> Path | None:
    """The SRDF of a robot: of its name or its file's, beside the file or in the `srdf` folder next to its folder."""
    file = Path(robot.source)
    names = dict.fromkeys(
        (file.name.removesuffix(".xacro").removesuffix(".urdf"), robot.name, robot.name.removesuffix("_description"))
    )
    places = (file.parent, file.parent.parent / "srdf", file.parent / "srdf")
    found = (place / f"{name}.srdf" for name in names if name and "/" not in name for place in places)
    return next((path for path in found if is_file(path)), None)


def postures(robot: RobotDescription, srdf: Path) -> dict[str, dict[str, float]]:
    """Its named states, each with the joints of one axis that the robot has; none where the file cannot be read."""
    try:
        source = read_xml(str(srdf))
    except UrdfError:
        return {}
    axes = {joint.name: joint for joint in robot.joints if joint.type in SINGLE_AXIS_TYPES and joint.mimic is None}
    found: dict[str, dict[str, float]] = {}
    for state in source.root.iter("group_state"):
        values = found.setdefault(state.get("name", ""), {})
        for joint in state.iter("joint"):
            try:
                value = float(joint.get("value", ""))
            except ValueError:  # of several numbers: the pose of the root
                continue
            limits = axes[joint.get("name", "")].limits if joint.get("name") in axes else None
            if limits is not None and limits.lower < limits.upper:
                values[joint.get("name", "")] = min(max(value, limits.lower), limits.upper)
    return found


def upright(robot: RobotDescription) -> tuple[str, dict[str, float]]:
    """The posture to start in and its name there, or nothing."""
    srdf = find_srdf(robot)
    known = {} if srdf is None else postures(robot, srdf)
    name = next((name for name in UPRIGHT if known.get(name)), "")
    return (f"{name} of {srdf.name}", known[name]) if name and srdf is not None else ("", {})
