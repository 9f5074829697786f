# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is compiled before a launch is what the launch needs, and takes only what is installed first."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mbsim_ros.cli.parts.compile_ahead import DEFAULTS, physics_parameters
from mbsim_ros.launcher.plan import find_launch_file, plan_launch

ROOT = Path(__file__).resolve().parents[2]

# Of all that is installed only what requirements/core.txt brings; numba is stubbed by nothing: it is there.
WITHOUT_THE_REST = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"rclpy", "rcl_interfaces", "rich", "matplotlib", "PIL", "mcap", "viser", "trimesh"}:
            raise ModuleNotFoundError(f"{name} is blocked")
sys.meta_path.insert(0, Blocked())
from mbsim_ros.cli.parts.compile_ahead import compile_for_launch
sys.exit(compile_for_launch(sys.argv[1:]) != 1)
"""


def test_the_defaults_are_those_of_the_physics_node():
    from mbsim_ros.nodes.physics.parameters import PARAMETERS

    declared = {each.name: each.default for each in PARAMETERS}
    assert {name: declared[name] for name in DEFAULTS} == DEFAULTS


def test_the_parameters_are_those_of_the_launch():
    nodes = plan_launch(find_launch_file("walker"), {"dt": "0.002", "coupling": "free", "view": "false"}).nodes
    (physics,) = (node for node in nodes if node.label == "physics")
    values = physics_parameters(physics)
    assert (values["dt"], values["coupling"], values["order"]) == (0.002, "free", 2)
    assert values["robot_file"].endswith("walker.urdf.xacro") and "legs:=8" in values["xacro_args"]
    assert set(values) == set(DEFAULTS)


@pytest.mark.slow
def test_a_launch_compiles_with_what_is_installed_first():
    command = [sys.executable, "-c", WITHOUT_THE_REST, "walker", "duration:=2"]
    subprocess.run(command, check=True, cwd=ROOT)


def test_what_is_installed_first_is_what_the_package_asks_for():
    asked = set(re.findall(r'^\s+"([^"]+)",', (ROOT / "setup.py").read_text(), re.MULTILINE))
    lines = (ROOT / "requirements/core.txt").read_text().splitlines()
    first = {line for line in lines if line and not line.startswith(("#", "setuptools"))}
    assert first <= asked
