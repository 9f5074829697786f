"""Where compiled kernels are kept: in a folder per source file, named by a hash of all sources that the file imports.

Numba looks only at the file a kernel stands in; an edit of a helper elsewhere would leave the old code in use. Here a
kernel is compiled anew when its file or one that it imports, directly or not, has changed, and only then: editing a
controller does not compile the integrator again. Neither paths nor times of files count, so a checkout, an installed
package and a copy of them share what has been compiled.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

PACKAGE = Path(__file__).parent
KEPT_VERSIONS = 3  # of each source file, beside the present one

_NAMES = r"(\([^)]*\)|[^\n]*)"
_IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+(mbsim_ros[\w.]*)[ \t]+import[ \t]+{_NAMES}|import[ \t]+(mbsim_ros[\w.]*))", re.M
)


class SourceLocator:
    """Tells numba the folder of one function's compiled code. The methods are those that numba calls."""

    def __init__(self, function: Any, file: Path):
        self._line = function.__code__.co_firstlineno
        self._folder = cache_home() / f"{_plain_name(file)}-{source_hash(file)}"

    @classmethod
    def from_function(cls, function: Any, file: str) -> SourceLocator | None:
        """The locator of a function of this package or one that uses it, or None: then numba decides."""
        source = Path(file)
        if not source.is_file() or not (source.is_relative_to(PACKAGE) or _imports(source)):
            return None
        locator = cls(function, source)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator

    def ensure_cache_path(self) -> None:
        """Make the folder; OSError where nothing can be written."""
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            _remove_old(self._folder)
        tempfile.TemporaryFile(dir=self._folder).close()

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """What must be equal for compiled code to be used: nothing, since the folder's name says it all."""
        return ""

    def get_disambiguator(self) -> str:
        """Tells functions of the same name in one file apart."""
        return str(self._line)


def use_source_hashes() -> bool:
    """Make numba keep kernels as the head of this file says; returns whether they can be kept at all."""
    if SourceLocator not in caching.CacheImpl._locator_classes:
        caching.CacheImpl._locator_classes = [SourceLocator, *caching.CacheImpl._locator_classes]
    try:
        home = cache_home()
        home.mkdir(parents=True, exist_ok=True)
        return os.access(home, os.W_OK)
    except (OSError, RuntimeError):  # nowhere to write, or nobody's home: keep nothing rather than something stale
        return False


@cache
def cache_home() -> Path:
    """Where the folders are: the user's choice for numba or for caches, or the usual place."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return (folder if folder.is_absolute() else Path.home() / ".cache") / "mbsim_ros"


@cache
def source_hash(file: Path) -> str:
    """Hash of a source file and of all files of this package that it imports, directly or not."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for name, content in sorted((_plain_name(each), _content(each)) for each in _needed(file)):
        digest.update(f"{name} {len(content)} {content}".encode())
    return digest.hexdigest()[:16]


def _needed(file: Path) -> set[Path]:
    """The file, what it imports, and the named tuples that kernels take: a kernel need not import what it is given."""
    found: set[Path] = set()
    waiting = [file, *PACKAGE.glob("*/arrays.py")]
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
def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _plain_name(file: Path) -> str:
    """A name for a folder, the same wherever the package is."""
    return "-".join(file.relative_to(PACKAGE).with_suffix("").parts if file.is_relative_to(PACKAGE) else [file.stem])


def _remove_old(folder: Path) -> None:
    """Remove what was compiled from old versions of a file."""
    stem = folder.name.rpartition("-")[0]
    others = [each for each in folder.parent.glob(f"{stem}-{'[0-9a-f]' * 16}") if each != folder]
    for old in sorted(others, key=lambda each: each.stat().st_mtime)[:-KEPT_VERSIONS]:
        shutil.rmtree(old, ignore_errors=True)
