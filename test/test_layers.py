# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The architecture: imports point downward, nothing below nodes/ knows ROS, and nothing grows beyond what one reads."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mbsim_ros
from mbsim_ros.sim.above import HOMES, above

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs"))

from architecture_picture import LAYERS

PACKAGE = Path(mbsim_ros.__file__).parent

LARGEST_FOLDER = 20  # modules beside its __init__.py
MOST_ARGUMENTS = 16  # of a kernel; more are a named tuple

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

WITHOUT_ROS = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("rclpy", "ament_index_python") or name.split(".")[0].endswith("_msgs"):
            raise ModuleNotFoundError(f"{name} is blocked")
sys.meta_path.insert(0, Blocked())
import importlib
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def modules() -> list[str]:
    return ["mbsim_ros", *(info.name for info in pkgutil.walk_packages([str(PACKAGE)], "mbsim_ros."))]


def imported_layers(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == "mbsim_ros":
            names += [f"mbsim_ros.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("mbsim_ros."):
                yield name.split(".")[1]


def test_every_folder_has_its_layer():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders | {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")} == set(LEVEL)


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_downward(file):
    folder = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if folder in LEVEL:
        for layer in imported_layers(file):
            if layer in LEVEL:
                assert layer == folder or LEVEL[layer] > LEVEL[folder], f"{folder} imports {layer}, not below it"


def test_the_one_way_up_leads_where_it_says():
    for name, home in HOMES.items():
        assert LEVEL[home.split(".")[1]] < LEVEL["sim"]
        assert callable(above(name))


def test_everything_below_the_nodes_imports_without_ros():
    below = [name for name in modules() if not name.startswith("mbsim_ros.nodes") and name != "mbsim_ros.__main__"]
    assert len(below) > 10
    subprocess.run([sys.executable, "-c", WITHOUT_ROS, *below], check=True)


def test_the_blocking_works():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROS, "mbsim_ros.nodes.run_node"], capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "is blocked" in done.stderr


def definitions(kind: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, kind):
                yield f"{file.relative_to(PACKAGE)}:{node.lineno}", node


def test_a_class_name_exists_once():
    """So that a name in a traceback, a page or a search means one thing."""
    found: dict[str, list[str]] = {}
    for place, node in definitions(ast.ClassDef):
        found.setdefault(node.name, []).append(place)
    assert not {name: places for name, places in found.items() if len(places) > 1}


def test_no_kernel_has_too_many_arguments():
    kernels = [
        (place, node.name, len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs))
        for place, node in definitions(ast.FunctionDef)
        if any(isinstance(each, ast.Name) and each.id in ("kernel", "helper") for each in node.decorator_list)
    ]
    assert len(kernels) > 100
    assert not [each for each in kernels if each[2] > MOST_ARGUMENTS]


def test_no_folder_has_too_many_modules():
    sizes = {
        str(init.parent.relative_to(PACKAGE)): len(list(init.parent.glob("*.py"))) - 1
        for init in PACKAGE.rglob("__init__.py")
    }
    assert len(sizes) > 20
    assert not {folder: size for folder, size in sizes.items() if size > LARGEST_FOLDER}
