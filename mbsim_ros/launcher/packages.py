# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where packages are: the ament index, read directly so that no ROS import is needed."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from mbsim_ros.launcher.errors import SubstitutionError

INDEX = "share/ament_index/resource_index/packages"


def prefixes(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """The ament prefixes in the order in which they are searched."""
    return [Path(prefix) for prefix in environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix]


def add_own_prefix() -> None:
    """Let this process and what it starts find this package where pip has put it, after all that is sourced."""
    own = Path(sys.prefix)
    if (own / INDEX / "mbsim_ros").is_file() and own not in prefixes():
        os.environ["AMENT_PREFIX_PATH"] = os.pathsep.join(map(str, [*prefixes(), own]))


def package_prefix(package: str, environment: Mapping[str, str] = os.environ) -> Path:
    """The prefix a package is installed in."""
    if not package or "/" in package:
        raise SubstitutionError(f"'{package}' is not the name of a package")
    searched = prefixes(environment)
    for prefix in searched:
        if (prefix / INDEX / package).is_file():
            return prefix
    close = difflib.get_close_matches(package, package_names(environment), n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    where = ", ".join(str(prefix) for prefix in searched) or "nowhere: AMENT_PREFIX_PATH is empty"
    raise SubstitutionError(f"package '{package}' is not installed{hint} (searched {where})")


def package_names(environment: Mapping[str, str] = os.environ) -> list[str]:
    """All packages in the index, sorted."""
    found: set[str] = set()
    for prefix in prefixes(environment):
        index = prefix / INDEX
        if index.is_dir():
            found.update(entry.name for entry in index.iterdir())
    return sorted(found)


def share_directory(package: str, environment: Mapping[str, str] = os.environ) -> Path:
    """A package's share folder: launch files, configuration, robots."""
    return package_prefix(package, environment) / "share" / package


def find_executable(package: str, executable: str, environment: Mapping[str, str] = os.environ) -> Path:
    """An executable of a package, where ``ros2 run`` looks: ``lib/<package>/<executable>``."""
    folder = package_prefix(package, environment) / "lib" / package
    path = folder / executable
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    if executable in names and path.is_file() and os.access(path, os.X_OK):
        return path
    has = ", ".join(names) or "none"
    raise SubstitutionError(f"package '{package}' has no executable '{executable}' (it has: {has})")
