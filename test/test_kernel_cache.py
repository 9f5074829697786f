# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What is kept of compiled kernels: told apart by all that their arguments are, a miss when damaged, and private."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from numba.core import types
from numba.core.dispatcher import Dispatcher

import mbsim_ros
from mbsim_ros import Simulation
from mbsim_ros.kernel_cache.signatures import type_hash

ROBOTS = Path(mbsim_ros.__file__).parents[1] / "urdf"
PAIR = """
from typing import NamedTuple

class Pair(NamedTuple):
    {first}: float
    {second}: float
"""
KERNEL = """
from mbsim_ros.jit import kernel

@kernel
def first(pair):
    return pair.first
"""
ASK = """
from pair import Pair
from read import first
print(first(Pair(first=1.0, second=2.0)), sum(first.stats.cache_hits.values()))
"""


@pytest.fixture
def ask(tmp_path):
    """Runs a kernel that takes a named tuple of another file; gives its answer and how often the cache had it."""

    def ask(fields: str = "first second", **changes: str) -> tuple[float, int]:
        names = fields.split()
        (tmp_path / "pair.py").write_text(PAIR.format(first=names[0], second=names[1]))
        (tmp_path / "read.py").write_text(KERNEL)
        home = {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": f"{ROBOTS.parent}:{tmp_path}"}
        done = subprocess.run(
            [sys.executable, "-c", ASK], env={**os.environ, **home, "PYTHONDONTWRITEBYTECODE": "1", **changes},
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answer, hits = done.stdout.split()
        assert not changes or "kept" in done.stderr, done.stderr
        return float(answer), int(hits)

    return ask


@pytest.mark.slow
def test_fields_that_changed_places_are_noticed(ask):
    assert ask() == (1.0, 0)
    assert ask() == (1.0, 1)
    assert ask("second first") == (1.0, 0)  # 2.0 is what the old code would give
    assert ask() == (1.0, 1)  # what was compiled before is still there


def test_every_named_tuple_that_kernels_take_is_told_by_its_fields():
    """Whatever they are and wherever they are defined: found by looking at what the kernels have been called with."""
    Simulation(ROBOTS / "walker.urdf.xacro", coupling="normal").step()
    Simulation(ROBOTS / "arm.urdf.xacro", integrator="quaternion_variational").step()
    found = {each for kernel in kernels() for signature in kernel.overloads for each in named_tuples(signature)}
    assert {"Tree", "State", "System", "MaximalTree", "MaximalSystem"} <= {
        each.instance_class.__name__ for each in found
    }
    swaps = 0
    for each in found:
        for i, k in combinations(range(len(each.fields)), 2):
            if each[i] == each[k]:
                other = types.NamedTuple(tuple(each), swapped(each.instance_class, i, k))
                assert type_hash(other) != type_hash(each), (each.instance_class, i, k)
                assert type_hash(types.Tuple([other])) != type_hash(types.Tuple([each]))
                swaps += 1
    assert swaps > 100


def kernels() -> Iterator[Dispatcher]:
    for name, module in list(sys.modules.items()):
        if name.startswith("mbsim_ros."):
            yield from (value for value in vars(module).values() if isinstance(value, Dispatcher))


def named_tuples(found: Any) -> Iterator[types.NamedTuple]:
    if isinstance(found, types.BaseNamedTuple):
        yield found
    if isinstance(found, (tuple, types.BaseTuple)):
        for each in found:
            yield from named_tuples(each)


def swapped(given: type, i: int, k: int) -> type:
    """The class with two fields in each other's place, of the same name and module."""
    fields = list(given._fields)
    fields[i], fields[k] = fields[k], fields[i]
    made = namedtuple(given.__name__, fields, module=given.__module__)
    made.__qualname__ = given.__qualname__
    return made


@pytest.mark.slow
def test_what_is_damaged_is_compiled_again(ask, tmp_path):
    assert ask() == (1.0, 0)
    (file,) = (tmp_path / "kept").rglob("*first*.nbc")
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-1] + b"!"):
        file.write_bytes(damaged)
        assert ask() == (1.0, 0)
        assert file.read_bytes() != damaged
    assert ask() == (1.0, 1)
    file.unlink()
    file.mkdir()  # nothing can be written here, either
    assert ask() == (1.0, 0)


@pytest.mark.slow
def test_it_is_private_or_not_used(ask, tmp_path):
    """What is found there is run: code that others put there must not be."""
    assert ask() == (1.0, 0)
    home = tmp_path / "kept"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    home.chmod(0o777)
    assert ask(PYTHONWARNINGS="default") == (1.0, 0)  # with a warning that names the folder
    home.chmod(0o700)
    assert ask() == (1.0, 1)


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_used(ask, tmp_path):
    assert ask() == (1.0, 0)
    os.chown(tmp_path / "kept", 12345, 12345)
    assert ask(PYTHONWARNINGS="default") == (1.0, 0)
