# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a launch file sees while it is evaluated: variables, environment, namespace, parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Context:
    """State of the evaluation. A scoped group saves and restores its four changeable parts."""

    variables: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    namespace: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()  # of <set_parameter>, in order
    has_outer_parameters: bool = False  # are there parameters that were set outside of the present group?

    files: list[Path] = field(default_factory=list)  # the launch file and the includes that lead here
    files_after_other_folder: set[Path] = field(default_factory=set)  # those that included one from another folder
    variables_read: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """The launch file being evaluated."""
        return self.files[-1]

    @property
    def directory(self) -> Path:
        """Folder of the launch file being evaluated, ``$(dirname)``."""
        return self.files[-1].parent

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What a group changes ends with the group."""
        saved = dict(self.variables), dict(self.environment), self.namespace, self.parameters, self.has_outer_parameters
        self.has_outer_parameters = bool(self.parameters)
        try:
            yield
        finally:
            self.variables, self.environment, self.namespace, self.parameters, self.has_outer_parameters = saved

    @contextmanager
    def inside(self, file: Path) -> Iterator[None]:
        """Evaluate an included file; ``$(dirname)`` is its folder meanwhile."""
        self.files.append(file)
        try:
            yield
        finally:
            self.files.pop()
            if self.files and file.parent != self.directory:
                self.files_after_other_folder.add(self.file)
