# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Families: the modules of a folder of which kernels choose one by its number, so that a new member is a new file.

A kernel that calls them is made of all of them, and is compiled anew when one comes, goes or changes: what stands in
`modules_of("…")` counts as an import of every module there (see sources.py).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def modules_of(package: str, first: str) -> dict[str, ModuleType]:
    """The modules of a package by their names, the first one first, the others by the alphabet."""
    home = importlib.import_module(package)
    names = sorted((info.name for info in pkgutil.iter_modules(home.__path__)), key=lambda name: (name != first, name))
    return {name: importlib.import_module(f"{package}.{name}") for name in names}


def chosen_by_number(family: Mapping[str, ModuleType], either: Callable[[int, ModuleType, Any], Any], none: Any) -> Any:
    """A kernel that does what the member with a number does.

    either(number, member, others) makes a kernel that does what the member does for its number, and calls the kernel
    `others` for all else; `none` is what there is for no number. The first member is asked for first.
    """
    chosen = none
    for number, member in reversed(list(enumerate(family.values()))):
        chosen = either(number, member, chosen)
    return chosen
