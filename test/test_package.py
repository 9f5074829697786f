# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The package as ROS and pip see it: metadata, installation into a clean prefix, colcon."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from lxml import etree

import mbsim_ros
from mbsim_ros.executables import MODULES

ROOT = Path(__file__).resolve().parents[1]
NODES = sorted(path.name for path in (ROOT / "libexec").iterdir() if path.name != "node_stub")


@pytest.fixture(scope="module")
def manifest() -> etree._Element:
    return etree.parse(ROOT / "package.xml").getroot()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of what git tracks (and would track), so that builds leave nothing in the checkout."""
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    copy = tmp_path / "ws" / "src" / "mbsim_ros"
    for name in files.rstrip("\0").split("\0"):
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    return copy


def test_versions_agree(manifest):
    assert manifest.findtext("version") == mbsim_ros.__version__
    assert f"## {mbsim_ros.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (mbsim_ros.__version__, manifest.findtext("license"))


def test_manifest_is_that_of_an_ament_python_package(manifest):
    assert manifest.get("format") == "3"
    assert manifest.findtext("name") == "mbsim_ros"
    assert manifest.findtext("license") == "Apache-2.0"
    assert manifest.findtext("export/build_type") == "ament_python"
    from catkin_pkg.package import parse_package  # colcon's own reader

    parse_package(str(ROOT / "package.xml")).validate()


def test_every_source_file_has_the_notice_that_ament_copyright_looks_for():
    """Copyright, then the licence in its words; how the lines are broken does not matter to it."""
    licence = " ".join((ROOT / "mbsim_ros/__init__.py").read_text().partition("\n\n")[0].replace("#", " ").split())
    assert licence.startswith("Copyright 2026 ") and licence.endswith("limitations under the License.")
    files = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    without = [
        name for name in files.split()
        if name != "setup.py"  # of a package: not looked at
        and licence not in " ".join((ROOT / name).read_text().partition('"""')[0].replace("#", " ").split())
    ]  # fmt: skip
    assert not without, "ament_copyright --add-missing 'mbsim_ros maintainers' apache2 adds it"
    assert (ROOT / "CONTRIBUTING.md").is_file() and (ROOT / "LICENSE").is_file()


def test_every_import_of_the_package_is_declared(manifest):
    """What is imported unconditionally must have a rosdep key in the manifest."""
    keys = {element.text for element in manifest.iter("exec_depend")}
    key_of = {
        "yaml": "python3-yaml",
        "cycler": "python3-matplotlib",  # of which it is a part
        "llvmlite": "python3-numba",  # as is this
        **{m: f"python3-{m}" for m in ("numpy", "scipy", "numba", "lxml", "rich", "transforms3d", "matplotlib")},
    }
    imported = set()
    for file in (ROOT / "mbsim_ros").rglob("*.py"):
        for statement in ast.parse(file.read_text()).body:
            if isinstance(statement, ast.ImportFrom):
                imported.add((statement.module or "").partition(".")[0])
            elif isinstance(statement, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in statement.names}
    outside = imported - set(sys.stdlib_module_names) - {"mbsim_ros"}
    assert outside
    assert {key_of.get(module, module) for module in outside} <= keys


def test_every_executable_is_a_module_and_every_node_module_an_executable():
    found = {
        ".".join(path.relative_to(ROOT / "mbsim_ros").with_suffix("").parts)
        for path in (ROOT / "mbsim_ros/nodes").rglob("*.py")
        if '__name__ == "__main__"' in path.read_text() and path.name != "__main__.py"
    }
    assert set(MODULES.values()) == found and len(MODULES) == len(found)
    assert set(NODES) == set(MODULES)


def check_prefix(prefix: Path, python_path: Path) -> None:
    """Does the ament index of the prefix lead to launch files, configuration, robots and executables that run?"""
    share = prefix / "share/mbsim_ros"
    assert (prefix / "share/ament_index/resource_index/packages/mbsim_ros").is_file()
    for folder in ("launch", "config", "urdf", "rviz", "examples", "docs"):
        expected = sorted(path.name for path in (ROOT / folder).iterdir() if path.is_file())
        assert sorted(path.name for path in (share / folder).iterdir() if path.is_file()) == expected
    assert (share / "docs/pictures/walker.png").is_file()
    executables = {path.name for path in (prefix / "lib/mbsim_ros").iterdir()}
    assert set(NODES) <= executables
    environment = {
        **os.environ,
        "AMENT_PREFIX_PATH": f"{prefix}{os.pathsep}{os.environ['AMENT_PREFIX_PATH']}",
        "PYTHONPATH": str(python_path),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    script = "import ament_index_python as a; print(a.get_package_share_directory('mbsim_ros'))"
    found = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(share)
    launcher = "import sys, mbsim_ros; from mbsim_ros.cli.main import main; print(mbsim_ros.__file__); sys.exit(main())"
    launch = subprocess.run(
        [sys.executable, "-c", launcher, "launch", "doctor", "round_trips:=20"],
        env=environment, capture_output=True, text=True, cwd=prefix,
    )  # fmt: skip
    assert launch.returncode == 0, launch.stdout + launch.stderr
    assert launch.stdout.startswith(str(python_path)), "the installed package runs, not the checkout"
    assert "round trips per second" in launch.stdout


@pytest.mark.slow
def test_pip_installs_into_a_clean_prefix(source, tmp_path):
    prefix = tmp_path / "prefix"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index",
         "--ignore-installed", "--prefix", prefix, source],
        check=True,
    )  # fmt: skip
    site = next(prefix.glob("lib/python*/site-packages"))
    check_prefix(prefix, site)
    assert (prefix / "bin/mbsim").is_file()


@pytest.mark.slow
def test_a_wheel_built_from_the_sdist_has_the_executables(source, tmp_path):
    """An sdist holds copies where the checkout has links."""
    build = "import sys, setuptools.build_meta as b; print(b.build_sdist(sys.argv[1])); "
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=source, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", tmp_path, unpacked],
        check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        stubs = {Path(name).name for name in content.namelist() if "/lib/mbsim_ros/" in name}
        assert stubs == set(NODES)
        assert any(name.endswith("bench/robots/walker_sized.urdf") for name in content.namelist())


@pytest.mark.slow
def test_colcon_builds_a_workspace_with_only_this_package(source):
    workspace = source.parents[1]
    done = subprocess.run(
        ["colcon", "build", "--event-handlers", "console_direct+"], cwd=workspace, capture_output=True, text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 package finished" in done.stdout
    assert [path.name for path in (workspace / "install").iterdir() if path.is_dir()] == ["mbsim_ros"]  # no interfaces
    prefix = workspace / "install/mbsim_ros"
    check_prefix(prefix, next(prefix.glob("lib/python*/site-packages")))
    assert (prefix / "lib/mbsim_ros/mbsim").is_file()
