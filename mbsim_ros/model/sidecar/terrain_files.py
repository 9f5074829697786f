# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Files that a `terrain` section names, tables and images: found beside it, or carried with a text of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from mbsim_ros.model.file_reading import OutsideFolder, is_file, read_bytes, resolved_inside
from mbsim_ros.model.problems import SidecarError, shortened
from mbsim_ros.model.sidecar.nodes import NodeReader
from mbsim_ros.model.sidecar.settings import TerrainFile


@dataclass(frozen=True)
class FileKind:
    """What a key of the section may name."""

    word: str
    endings: tuple[str, ...]
    max_bytes: int


TABLE = FileKind("table", (".csv", ".npy"), 64 * 1024 * 1024)
IMAGE = FileKind("image", (".png",), 16 * 1024 * 1024)


@dataclass(frozen=True)
class TerrainFiles:
    """Where the files of a section are: in the folder of the file that it stands in, or among what a bag carries."""

    folder: Path | None = None
    carried: Mapping[str, bytes] = field(default_factory=dict)  # by the names that the section has

    def read(self, reader: NodeReader, node: yaml.Node, kind: FileKind) -> tuple[Path, TerrainFile] | None:
        """Path and contents of the file that a node names. None, and a problem, where it cannot be had."""
        name = reader.text(node)
        if name is None:
            return None
        if Path(name).suffix not in kind.endings:
            hint = f"use a {' or '.join(kind.endings)} file"
            reader.error(node, f"unknown {kind.word} format", f"'{shortened(name)}'", hint)
            return None
        if name in self.carried:
            return Path(name), TerrainFile(name, self.carried[name])
        path = self._path(reader, node, kind.word, name)
        if path is None:
            return None
        try:
            return path, TerrainFile(name, read_bytes(path, kind.max_bytes, SidecarError, kind.word))
        except SidecarError as error:
            (problem,) = error.problems
            reader.error(node, problem.rule, f"'{shortened(name)}', {problem.value}", problem.hint)
            return None

    def _path(self, reader: NodeReader, node: yaml.Node, word: str, name: str) -> Path | None:
        """Path of a file; like a mesh it may not lead out of the folder of the file that names it."""
        if self.folder is None:
            hint = "text has no folder: load the file instead"
            reader.error(node, f"{word} not found", f"'{shortened(name)}'", hint)
            return None
        try:
            path = resolved_inside(self.folder / name, self.folder)
        except OutsideFolder:
            reader.error(node, f"{word} outside the folder", f"'{shortened(name)}'", "move it beside the sidecar")
            return None
        if not is_file(path):
            reader.error(node, f"{word} not found", f"'{shortened(name)}'", "check the path")
            return None
        return path
