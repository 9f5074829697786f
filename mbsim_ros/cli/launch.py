# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Run a launch file: each node is a process of its own, Ctrl-C ends them all (twice: at once).

NAME is one of the package's launch files, or a robot of `mbsim robots`, which runs `simulate robot:=NAME`; FILE is the
path of any launch file. Arguments of the file follow as name:=value.
Nodes are for this host alone unless --network or ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET opens them to others.
The exit code is 0 if no node failed. `ros2 launch mbsim_ros NAME.launch.xml` runs the same file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from mbsim_ros.cli.parts.network import add_network_option, open_if_asked
from mbsim_ros.launcher.errors import LaunchError, SubstitutionError
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.launcher.plan import find_launch_file, launch_names, list_arguments, plan_launch
from mbsim_ros.launcher.runner import run as run_plan
from mbsim_ros.model.problems import UrdfError


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim launch``."""
    parser.epilog = f"launch files of this package: {', '.join(_names()) or 'none found'}"
    parser.add_argument("file", metavar="NAME|FILE", help="name of a launch file of this package, or a path")
    parser.add_argument("arguments", metavar="name:=value", nargs="*", default=[], help="arguments of the launch file")
    parser.add_argument("-s", "--show-args", action="store_true", help="show the arguments the file has, and end")
    add_network_option(parser)
    options = parser.parse_intermixed_args(arguments)
    open_if_asked(options)
    if os.environ.get("CI"):  # nobody looks there
        os.environ.setdefault("MBSIM_VIEW", "false")
    try:
        file, robot = file_and_robot(options.file)
        if options.show_args:
            _show_arguments(file)
            return 0
        plan = plan_launch(file, {**robot, **_parse_arguments(parser, options.arguments)})
    except LaunchError as error:
        print(f"mbsim launch: {error}", file=sys.stderr)
        return 2
    if find_spec("rclpy") is None:
        print(
            f"mbsim launch: nodes need ROS 2, and {sys.executable} has no rclpy: source a ROS 2 (Jazzy or Kilted), or "
            "pip install 'mbsim_ros[ros]', or run ./mbsim launch in a checkout. Simulation, mbsim check, view and plot "
            "work without it.",
            file=sys.stderr,
        )
        return 2
    return run_plan(plan)


def file_and_robot(name: str) -> tuple[Path, dict[str, str]]:
    """The launch file of a name, or the one for any robot and the robot of that name."""
    from mbsim_ros.model.catalogue import names, ready_robot

    if name in _names() or name not in names():
        try:
            return find_launch_file(name), {}
        except LaunchError as error:
            more = "" if "/" in name else ", nor a robot of that name (see `mbsim robots`)"
            raise LaunchError(f"{error}{more}") from None
    try:
        ready_robot(name)
    except UrdfError as error:
        raise LaunchError(str(error)) from None
    return find_launch_file("simulate"), {"robot": name}


def _names() -> list[str]:
    try:
        return launch_names(share_directory("mbsim_ros") / "launch")
    except SubstitutionError:
        return []


def _parse_arguments(parser: argparse.ArgumentParser, texts: Sequence[str]) -> dict[str, str]:
    values = {}
    for text in texts:
        name, separator, value = text.partition(":=")
        if not separator or not name:
            parser.error(f"'{text}' is not of the form name:=value")
        values[name] = value
    return values


def _show_arguments(file: Path) -> None:
    found = list_arguments(file)
    print(f"Arguments of {file.name}:" if found else f"{file.name} has no arguments.")
    for argument in found:
        default = "must be given" if argument.default is None else f"default: '{argument.default}'"
        print(f"\n  {argument.name}:=…  ({default})")
        if argument.description:
            print(f"      {argument.description}")
        if argument.choices:
            print(f"      one of: {', '.join(argument.choices)}")
