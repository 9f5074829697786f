# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The cache of compiled kernels: never stale, never in the way."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import mbsim_ros

PACKAGE = Path(mbsim_ros.__file__).parent
SCRIPT = """
import numpy as np
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.dynamics.energy import kinetic_energy
print(kinetic_energy(load_urdf({urdf!r}), [0.3, 0.2], [1.0, 0.5]))
"""


def run(folder: Path, **changes: str | None) -> subprocess.CompletedProcess[str]:
    """Compute a kinetic energy with the package in this folder, away from the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1", **changes}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # it would not notice an edit of equal length in the same second
    code = SCRIPT.format(urdf=str(PACKAGE.parent / "urdf/double_pendulum.urdf"))
    kept = {name: value for name, value in environment.items() if value is not None}
    return subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True, cwd=folder)


@pytest.mark.slow
def test_an_edited_helper_is_noticed(tmp_path):
    """Numba alone would go on using what it compiled from the old helper, of dynamics or of model."""
    shutil.copytree(PACKAGE, tmp_path / "mbsim_ros", ignore=shutil.ignore_patterns("__pycache__"))
    changes = {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": str(tmp_path / "cache home")}
    before = float(run(tmp_path, **changes).stdout)
    assert before == float(run(tmp_path, **changes).stdout)
    placement = tmp_path / "mbsim_ros/dynamics/placement.py"
    original = placement.read_text()
    placement.write_text(original.replace("c, s = cosines[iq], sines[iq]", "c, s = sines[iq], cosines[iq]"))
    kinds = tmp_path / "mbsim_ros/model/joint_kinds.py"
    assert placement.read_text() != original
    turned = float(run(tmp_path, **changes).stdout)
    placement.write_text(original)
    assert abs(turned - before) > 1e-6  # the elbow bends elsewhere
    renumbered = kinds.read_text()
    kinds.write_text(renumbered.replace("REVOLUTE, PRISMATIC, SPHERICAL", "PRISMATIC, REVOLUTE, SPHERICAL"))
    again = run(tmp_path, **changes)
    assert float(again.stdout) == before, again.stderr  # consistent: every kernel was compiled anew


@pytest.mark.slow
def test_it_works_where_nothing_can_be_kept(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    done = run(PACKAGE.parent, XDG_CACHE_HOME=str(blocked / "x"), NUMBA_CACHE_DIR=None)
    assert done.returncode == 0, done.stderr


def test_a_relative_cache_home_is_ignored(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "XDG_CACHE_HOME": "relative", "HOME": str(home), "PYTHONPATH": str(PACKAGE.parent)}
    environment.pop("NUMBA_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", "import mbsim_ros.jit"], env=environment, cwd=tmp_path, check=True)
    assert not (tmp_path / "relative").exists()
    assert (home / ".cache/mbsim_ros").is_dir()


@pytest.mark.slow
def test_a_closed_stderr_is_no_obstacle(tmp_path):
    code = SCRIPT.format(urdf=str(PACKAGE.parent / "urdf/double_pendulum.urdf"))
    command = f"exec {sys.executable} -c '{code.replace(chr(39), chr(34))}' 2>&-"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0
    assert float(done.stdout) > 0.0


def test_a_hash_depends_on_what_a_file_imports_and_on_nothing_else(tmp_path):
    """Editing a controller compiles no integrator anew; a copy elsewhere needs no compilation at all."""
    shutil.copytree(PACKAGE, tmp_path / "mbsim_ros", ignore=shutil.ignore_patterns("__pycache__"))
    files = (
        "integrators/lie_variational/step_kernel.py",
        "control/balance/balance_kernel.py",
        "dynamics/kernels/energy_kernel.py",
    )
    before = hashes(tmp_path, files)
    assert before == hashes(PACKAGE.parent, files)
    for edited, changed in (
        ("control/balance/legs.py", ()),
        ("nodes/physics/node.py", ()),
        ("control/joints/linear_kernel.py", (1,)),
        ("integrators/lie_variational/midpoint_kernel.py", (0,)),
        ("integrators/layout.py", (0,)),
        ("integrators/lie_variational/arrays.py", ()),  # of what a kernel is given its types tell
        ("jit.py", (0, 1, 2)),
    ):
        with open(tmp_path / "mbsim_ros" / edited, "a") as file:
            file.write("# edited\n")
        after = hashes(tmp_path, files)
        assert [k for k in range(3) if after[k] != before[k]] == list(changed), edited
        before = after


def hashes(folder: Path, files: tuple[str, ...]) -> list[str]:
    """The hashes by which the package in this folder keeps what it compiled from these files."""
    spec = spec_from_file_location("sources", folder / "mbsim_ros/kernel_cache/sources.py")
    sources = module_from_spec(spec)
    spec.loader.exec_module(sources)  # anew: it remembers what it has read
    return [sources.source_hash(sources.PACKAGE / name) for name in files]


@pytest.mark.slow
def test_compiling_says_how_many_kernels_and_how_long_in_one_line(tmp_path):
    """A simulation is going to call its step kernel: what that takes is counted from the first kernel on."""
    expecting = "from mbsim_ros.compile_notice import NOTICE\nfrom mbsim_ros.integrators.lie_variational.step_kernel import steps_into\n"
    code = (
        expecting
        + "NOTICE.expect(steps_into)\n"
        + SCRIPT.format(urdf=str(PACKAGE.parent / "urdf/double_pendulum.urdf"))
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert any(tmp_path.rglob("*.nbc")), "NUMBA_CACHE_DIR is where they are kept"
    (line,) = done.stderr.splitlines()
    found = re.fullmatch(r"mbsim: compiling 1 of (\d+) kernels, about (\d+) (s|min) \(once per version\) …", line)
    assert found, line
    assert 100 < int(found[1]) < 300
    again = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert again.stderr == "", "nothing is compiled, nothing is said"
