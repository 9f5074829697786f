# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The executable `python_file`: runs a controller of one's own from its file, where a launch file wants an executable.

    mbsim launch arm controller:=python_file controller_file:=my_controller.py

The file is run as by `python my_controller.py`, with the ROS arguments of the launch file. It either ends with
`run_controller("controller", MyController)`, or has one class with `update(t, state)`, which is run as it is. A
controller that is installed in a package needs no such thing: controller_package:=my_package controller:=my_executable.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

FILE = "MBSIM_CONTROLLER_FILE"  # environment: a launch file cannot give an argument that may be empty
BAD_INPUT = 2  # exit code


def main() -> int:
    """Run the file; returns the exit code where there is none to run."""
    given = os.environ.get(FILE, "")
    file = Path(given).expanduser()
    if not given or not file.is_file():
        wanted = f"controller_file: expected the path of a Python file, got '{given}'"
        print(f"{wanted}; a path that does not begin with / counts from {Path.cwd()}", file=sys.stderr, flush=True)
        return BAD_INPUT
    sys.argv[0] = str(file)
    sys.path.insert(0, str(file.resolve().parent))  # what lies beside it can be imported, as with `python FILE`
    found = [
        each
        for each in runpy.run_path(str(file), run_name="__main__").values()
        if isinstance(each, type) and each.__module__ == "__main__" and callable(getattr(each, "update", None))
    ]
    if len(found) != 1:
        names = ", ".join(each.__name__ for each in found) or "none"
        print(f"{file}: expected one class with a method update(t, state), found {names}", file=sys.stderr, flush=True)
        return BAD_INPUT
    from mbsim_ros.control.plain import completed
    from mbsim_ros.nodes.controllers.controller_node import run_controller

    return run_controller("controller", completed(found[0]))


if __name__ == "__main__":
    sys.exit(main())
