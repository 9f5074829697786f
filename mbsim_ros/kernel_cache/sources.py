# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The hash of a source file and of all files of this package that it imports.

Numba looks only at the file a kernel stands in; an edit of a helper elsewhere would leave the old code in use. With
this hash a kernel is compiled anew when its file or one that it imports, directly or not, has changed, and only then:
editing a controller does not compile the integrator again. Neither paths nor times of files count, so a checkout, an
installed package and a copy of them share what has been compiled.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numba

PACKAGE = Path(__file__).parents[1]

_NAMES = r"(\([^)]*\)|[^\n]*)"
_IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+(mbsim_ros[\w.]*)[ \t]+import[ \t]+{_NAMES}|import[ \t]+(mbsim_ros[\w.]*))", re.M
)

_FAMILY = re.compile(r"""modules_of\(\s*["'](mbsim_ros[\w.]*)["']""")  # every file of a folder, see families.py


@cache
def source_hash(file: Path) -> str:
    """Hash of a source file and of all files of this package that it imports, directly or not."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for name, content in sorted((plain_name(each), _content_hash(each)) for each in _needed(file)):
        digest.update(f"{name} {content}\n".encode())
    return digest.hexdigest()[:16]


def plain_name(file: Path) -> str:
    """A name for what belongs to a source file, the same wherever the package is."""
    return "-".join(file.relative_to(PACKAGE).with_suffix("").parts if file.is_relative_to(PACKAGE) else [file.stem])


def _needed(file: Path) -> set[Path]:
    """The file and what it imports, directly or not. What a kernel is given is told by its types."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += _imports(each)
    return found


@cache
def _imports(file: Path) -> tuple[Path, ...]:
    """Files of this package that a file imports."""
    return tuple(sorted(set(_imported_files(_content(file)))))


def _imported_files(content: str) -> Iterator[Path]:
    for family in _FAMILY.findall(content):
        added = getattr(sys.modules.get(family), "__path__", [])[1:]  # folders of others, who add members
        for folder in (PACKAGE.joinpath(*family.split(".")[1:]), *map(Path, added)):
            yield from sorted(folder.glob("*.py"))
    for package, names, module in _IMPORT.findall(content):
        base = PACKAGE.joinpath(*(package or module).split(".")[1:])
        for name in re.findall(r"\w+", names.split("#")[0] if "(" not in names else names):
            if (base / f"{name}.py").is_file():
                yield base / f"{name}.py"
        if base.with_suffix(".py").is_file():
            yield base.with_suffix(".py")
        elif (base / "__init__.py").is_file() and base != PACKAGE:
            yield base / "__init__.py"


@cache
def _content_hash(file: Path) -> str:
    return hashlib.sha256(_content(file).encode()).hexdigest()


@cache
def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8")
