# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Modules that pages once named by another path: importing them by that still works, and says where they are."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "control.walker.clutch_logic": "control.clutches.logic",
    "control.walker_gait": "control.walker.gait",
    "control.walker_walk": "control.walker.walk",
    "control.workspace_balance": "control.balance.workspace_balance",
    "model.builder": "model.assembly.builder",
    "model.sidecar_parser": "model.sidecar.parser",
    "model.urdf_parser": "model.urdf.parser",
    "model.urdf_writer": "model.urdf.writer",
    "nodes.controller_node": "nodes.controllers.controller_node",
    "nodes.lockstep": "nodes.physics.lockstep",
    "sim.recorder": "sim.recording.recorder",
    "sim.snapshot": "sim.snapshots.snapshot",
    "sim.terrain_parameter": "sim.surroundings.terrain_parameter",
}


class _Alias(Loader):
    """Gives the module that has moved, under its old name as well."""

    def __init__(self, target: str):
        self._target = target

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        warnings.warn(f"{spec.name} is {self._target} now", DeprecationWarning, stacklevel=4)
        module = importlib.import_module(self._target)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It has run already; what the import has written into it is put right."""
        module.__spec__ = self._spec


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        new = MOVED.get(fullname.removeprefix("mbsim_ros.")) if fullname.startswith("mbsim_ros.") else None
        return None if new is None else ModuleSpec(fullname, _Alias(f"mbsim_ros.{new}"))


def keep_old_names() -> None:
    """Let old paths be imported, once per process."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
