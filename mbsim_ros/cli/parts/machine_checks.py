# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What ``mbsim doctor`` looks at without starting anything."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from mbsim_ros.launcher import packages

PYTHON_VERSIONS = ((3, 10), (3, 13))  # oldest and newest supported
LIBRARIES = ("numpy", "scipy", "numba", "transforms3d", "lxml", "yaml", "rich")
MESSAGES = (
    "builtin_interfaces", "diagnostic_msgs", "geometry_msgs", "nav_msgs", "rosgraph_msgs", "sensor_msgs",
    "std_msgs", "std_srvs", "tf2_msgs", "trajectory_msgs", "visualization_msgs",
)  # fmt: skip
OPTIONAL_MESSAGES = ("simulation_interfaces",)
OPTIONAL_LIBRARIES = {  # what each is for
    "xacro": "to read .xacro files",
    "mcap": "for mbsim record and mbsim replay",
    "matplotlib": "for the figures of mbsim experiment",
    "viser": "for mbsim view",
}


@dataclass(frozen=True)
class Check:
    """One line of the table: what, how it is, and what to do about it."""

    what: str
    found: str
    verdict: str = "ok"  # "ok", "note" (works without it) or "missing"
    remedy: str = ""


def all_checks() -> list[Check]:
    """Every check that needs no running node."""
    return [
        _python(),
        *(_library(name) for name in LIBRARIES),
        *(_optional_library(name, purpose) for name, purpose in OPTIONAL_LIBRARIES.items()),
        _ros(),
        _packages("messages", MESSAGES, "missing"),
        _packages("standard simulation services", OPTIONAL_MESSAGES, "note"),
        _own_package(),
        _tool("C++ compiler", ("c++", "g++", "clang++")),
        _tool("cmake", ("cmake",)),
    ]


def report(checks: list[Check]) -> int:
    """Print the table; the exit code is 0 if nothing is missing."""
    missing = [check.what for check in checks if check.verdict == "missing"]
    try:
        _print_table(checks, missing)
    except ModuleNotFoundError:  # rich itself is missing
        for check in checks:
            print(f"{check.what:30} {check.verdict:8} {check.found}" + (f" → {check.remedy}" if check.remedy else ""))
        print(f"Not well: {', '.join(missing)}.")
    return 1 if missing else 0


def _print_table(checks: list[Check], missing: list[str]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    marks = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "missing": "[red]missing[/]"}
    table = Table("check", "found", "", show_edge=False)
    for check in checks:
        remedy = f"\n[dim]→ {escape(check.remedy)}[/]" if check.remedy else ""
        table.add_row(check.what, escape(check.found) + remedy, marks[check.verdict])
    console = Console(highlight=False)
    console.print(table)
    console.print(f"\n[red]Not well: {', '.join(missing)}.[/]" if missing else "\n[green]All is well.[/]")


def _python() -> Check:
    oldest, newest = PYTHON_VERSIONS
    fits = oldest <= sys.version_info[:2] <= newest
    found = f"{platform.python_version()} ({sys.executable})"
    wanted = f"use Python {oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    return Check("Python", found) if fits else Check("Python", found, "missing", wanted)


def _library(module: str) -> Check:
    if importlib.util.find_spec(module) is None:
        return Check(module, "not installed", "missing", f"pip install {module}, or rosdep install --from-paths .")
    return Check(module, _version("PyYAML" if module == "yaml" else module))


def _optional_library(module: str, purpose: str) -> Check:
    if importlib.util.find_spec(module) is None:
        return Check(module, "not installed", "note", f"pip install {module}, only needed {purpose}")
    return Check(module, _version(module))


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "version unknown"


def _ros() -> Check:
    if importlib.util.find_spec("rclpy") is None:
        return Check("rclpy", "not installed", "missing", "run ./mbsim doctor, or source a ROS 2 installation")
    distribution = os.environ.get("ROS_DISTRO")
    return Check("ROS 2", f"sourced: {distribution}" if distribution else f"wheels in {Path(sys.prefix).name}")


def _packages(what: str, names: tuple[str, ...], verdict: str) -> Check:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if not missing:
        return Check(what, f"{len(names)} package{'s' if len(names) > 1 else ''}")
    distribution = os.environ.get("ROS_DISTRO")
    apt = " ".join(f"ros-{distribution}-{name.replace('_', '-')}" for name in missing)
    remedy = (
        f"sudo apt install {apt}" if distribution else f"remove {Path(sys.prefix).name} and run ./mbsim doctor again"
    )
    return Check(what, f"no {', '.join(missing)}", verdict, remedy)


def _own_package() -> Check:
    try:
        return Check("ament index", str(packages.share_directory("mbsim_ros")))
    except packages.SubstitutionError as error:
        return Check("ament index", str(error), "missing", "start with ./mbsim, or build and source the workspace")


def _tool(what: str, names: tuple[str, ...]) -> Check:
    for name in names:
        path = shutil.which(name)
        if path is not None:
            said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            return Check(what, said.splitlines()[0] if said else path)
    return Check(what, "not found", "note", f"only needed to set up again: install {names[0]}")
