# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`import mbsim_ros`: the public names are there, and nothing heavy is loaded before they are used."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import mbsim_ros
from mbsim_ros.moved import MOVED

HEAVY = ("numba", "lxml", "numpy", "scipy", "yaml", "rich", "transforms3d", "rclpy")


def loaded_after(statement: str) -> set[str]:
    script = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    return set(
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    )


def test_the_import_alone_loads_nothing_heavy():
    loaded = loaded_after("import mbsim_ros")
    assert not loaded & set(HEAVY)
    assert {name for name in loaded if name.startswith("mbsim_ros")} == {"mbsim_ros", "mbsim_ros.moved"}
    assert len(loaded) < 60


def test_errors_and_models_do_without_numba():
    assert "numba" not in loaded_after("from mbsim_ros import Model, ModelBuilder, SidecarError, UrdfError, load_urdf")


@pytest.mark.parametrize("old", MOVED)
def test_a_module_that_has_moved_is_found_by_its_old_name(old):
    with pytest.warns(DeprecationWarning, match=f"mbsim_ros.{old} is mbsim_ros.{MOVED[old]} now"):
        sys.modules.pop(f"mbsim_ros.{old}", None)
        found = importlib.import_module(f"mbsim_ros.{old}")
    assert found is importlib.import_module(f"mbsim_ros.{MOVED[old]}")
    assert found.__spec__.name == f"mbsim_ros.{MOVED[old]}"


def test_every_public_name_exists():
    for name in mbsim_ros.__all__:
        assert getattr(mbsim_ros, name) is not None
        assert name in dir(mbsim_ros)
    assert mbsim_ros.load_urdf is mbsim_ros.load_urdf
    assert issubclass(mbsim_ros.UrdfError, ValueError) and issubclass(mbsim_ros.SidecarError, ValueError)
    assert mbsim_ros.dynamics.__name__ == "mbsim_ros.dynamics"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'mbsim_ros' has no attribute 'Simulator'"):
        mbsim_ros.Simulator  # noqa: B018
    with pytest.raises(ImportError):
        from mbsim_ros import nothing  # noqa: F401


def test_a_model_in_three_lines():
    from mbsim_ros import ModelBuilder

    assert ModelBuilder("stone").link("stone", mass=1, sphere=0.1).build().nv == 6
