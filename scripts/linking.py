# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""This package in an ament prefix, as links into the checkout, so that edits are live."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = "mbsim_ros"
LINKED = ("launch", "config", "urdf", "rviz", "examples", "docs", "package.xml")  # of share/mbsim_ros


def link_package(prefix: Path, root: Path) -> None:
    """Put the checkout in a folder into an ament prefix: index entry, shared folders, executables of the nodes."""
    index = prefix / "share/ament_index/resource_index/packages"
    share, executables = prefix / "share" / PACKAGE, prefix / "lib" / PACKAGE
    for folder in (index, share, executables):
        folder.mkdir(parents=True, exist_ok=True)
    (index / PACKAGE).touch()
    for name in LINKED:
        _link(share / name, root / name)
    wanted = {path.name: path for path in (root / "libexec").iterdir() if path.name != "node_stub"}
    for old in executables.iterdir():
        if old.name not in wanted:
            old.unlink(missing_ok=True)
    for name, path in wanted.items():
        _link(executables / name, path)


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and os.readlink(link) == str(target):
        return
    temporary = link.with_name(f".{link.name}.{os.getpid()}")
    temporary.symlink_to(target)
    temporary.replace(link)  # in one step: another process may be looking
