# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Starts RViz in the namespace of a robot where it is installed, and says so where it is not.

A file of its own because the launch files must work without RViz: nothing else stops where it is missing.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import rclpy
import yaml
from rclpy.node import Node

from mbsim_ros.nodes.frames import frame_name
from mbsim_ros.nodes.parameters import Parameter, declare

PROGRAM = "rviz2"
WORLD = "world"  # the fixed frame in the files of displays
PARAMETERS = (
    Parameter("config", "", "File of displays, whose topics are relative to the namespace."),
    Parameter("frame_prefix", "", "Prefix of the robot's frames.", constraints="Such as `left/`, or empty."),
    Parameter("world_frame", "world", "The world's frame.", constraints="Name of a frame; empty: odom_frame."),
    Parameter("odom_frame", "odom", "Frame that a floating base moves in.", constraints="Name of a frame."),
)


def command(config: str, namespace: str) -> list[str]:
    """The command line of RViz with a file of displays, whose topics are relative to the namespace."""
    words = [PROGRAM, *(["-d", config] if config else []), "--ros-args", "-p", "use_sim_time:=true"]
    return [*words, "-r", f"__ns:={namespace}"] if namespace != "/" else words


def with_frames(config: str, world_frame: str, frame_prefix: str) -> str:
    """A file with the same displays for a robot whose frames have a prefix, in this world; the same file if it serves.

    ValueError if RViz cannot: it puts a slash between the prefix and the name of a link.
    """
    if not config or (not frame_prefix and world_frame == WORLD):
        return config
    if frame_prefix and not frame_prefix.endswith("/"):
        raise ValueError(f"frame_prefix: expected one that ends with a slash, as RViz needs it, got {frame_prefix!r}")
    settings: dict[str, Any] = yaml.safe_load(Path(config).read_text())
    manager = settings["Visualization Manager"]
    for display in manager["Displays"]:
        if display["Class"] == "rviz_default_plugins/RobotModel":
            display["TF Prefix"] = frame_name("", frame_prefix).removesuffix("/")
    view = manager["Views"]["Current"]
    of_world = view["Target Frame"] == WORLD
    view["Target Frame"] = frame_name(world_frame) if of_world else frame_name(view["Target Frame"], frame_prefix)
    manager["Global Options"]["Fixed Frame"] = frame_name(world_frame)
    handle, name = tempfile.mkstemp(prefix="mbsim_", suffix=".rviz")
    with os.fdopen(handle, "w") as file:
        yaml.safe_dump(settings, file, sort_keys=False)
    return name


def main() -> int:
    """Become RViz; 0 where there is none, since the simulation does not need it."""
    rclpy.init()
    node = Node("rviz")
    values = declare(node, PARAMETERS)
    namespace, log = node.get_namespace(), node.get_logger()
    found, config = shutil.which(PROGRAM), values["config"]
    if found is None:
        log.warning(f"{PROGRAM} is not installed here: the web view (view:=true) shows the robot, too")
    else:
        try:
            prefix = values["frame_prefix"]
            config = with_frames(config, values["world_frame"] or frame_name(values["odom_frame"], prefix), prefix)
        except ValueError as error:
            log.warning(f"{error}: RViz shows no robot")
    node.destroy_node()
    rclpy.try_shutdown()
    if found is None:
        return 0
    return os.execv(found, command(config, namespace))


if __name__ == "__main__":
    sys.exit(main())
