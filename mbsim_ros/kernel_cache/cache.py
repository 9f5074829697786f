# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where the compiled forms of a kernel are kept: a file for each signature, in a folder for each version of its source.

The folder is named by the hash of all sources that the kernel's file imports, the file by the hash of all that the
types of its arguments are and of the machine that it was compiled for. A file that is damaged, or of which anything
cannot be understood, is as good as none: the kernel is compiled again and the file is written anew.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

from numba.core import compiler
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from mbsim_ros.kernel_cache.place import cache_home, make_private
from mbsim_ros.kernel_cache.signatures import signature_hash
from mbsim_ros.kernel_cache.sources import plain_name, source_hash

KEPT_VERSIONS = 3  # of each source file, beside the present one
DIGEST = 32  # bytes of SHA-256 before what is kept


class KernelCache:
    """The compiled forms of one kernel. The methods are those that numba calls."""

    def __init__(self, function: Any, home: Path):
        source = Path(inspect.getfile(function))
        self._folder = home / f"{plain_name(source)[:100]}-{source_hash(source)}"
        name = "".join(letter for letter in function.__qualname__ if letter.isalnum() or letter in "._")
        self._stem = f"{name[:100]}-{function.__code__.co_firstlineno}"
        self._code = _code_hash(function)

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """What was compiled for these types, or None."""
        # Not refreshed, as numba would: that loads all that can be compiled, scipy's linear algebra with it, and takes
        # longer than everything else at the start of a program. What is compiled already needs none of it.
        try:
            kept = self._file(signature, target_context.codegen()).read_bytes()
            if hashlib.sha256(kept[DIGEST:]).digest() != kept[:DIGEST]:
                return None
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(kept[DIGEST:]))
        except Exception:  # whatever it is: to compile it again is the remedy
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled for these types, if it can be kept."""
        if compiled.library.has_dynamic_globals or compiled.lifted:
            return
        content = dumps(compiled._reduce())
        file = self._file(signature, compiled.codegen)
        try:
            self._make_folder()
            beside = file.with_name(f"{file.name}.{os.getpid()}")
            try:
                beside.write_bytes(hashlib.sha256(content).digest() + content)
                beside.replace(file)
            finally:
                beside.unlink(missing_ok=True)
        except OSError:  # a full disk costs time at the next start, nothing else
            pass

    def flush(self) -> None:
        """Forget what was compiled."""
        for file in self._folder.glob(f"{self._stem}.*.nbc"):
            file.unlink(missing_ok=True)

    @property
    def has_any(self) -> bool:
        """Whether something was compiled of it before, for whatever types."""
        return any(self._folder.glob(f"{self._stem}.*.nbc"))

    def _file(self, signature: Any, codegen: Any) -> Path:
        about = f"{signature_hash(signature)} {codegen.magic_tuple()} {self._code}"
        return self._folder / f"{self._stem}.{hashlib.sha256(about.encode()).hexdigest()[:32]}.nbc"

    def _make_folder(self) -> None:
        if not self._folder.is_dir():
            make_private(self._folder)
            _remove_old(self._folder)


def keep_compiled(kernel: Any) -> Any:
    """Let a kernel find what was compiled before, and keep what is compiled from now on; returns it."""
    home = cache_home()
    if home is None or not isinstance(kernel, Dispatcher):  # it is a plain function where numba is turned off
        return kernel
    if os.path.isfile(inspect.getfile(kernel.py_func)):  # not typed in
        kernel._cache = KernelCache(kernel.py_func, home)  # type: ignore[attr-defined]
    return kernel


def is_kept(kernel: Dispatcher) -> bool:
    """Whether a kernel is likely to be found compiled."""
    kept = kernel._cache  # type: ignore[attr-defined]
    return isinstance(kept, KernelCache) and kept.has_any


def _code_hash(function: Any) -> str:
    """Hash of a function's own code and of what it has from around it; kernels there count by their sources."""
    digest = hashlib.sha256(function.__code__.co_code)
    for cell in function.__closure__ or ():
        held = cell.cell_contents
        if isinstance(held, Dispatcher):
            inner = held.py_func
            file = Path(inspect.getfile(inner))
            digest.update(f"{plain_name(file)} {source_hash(file)} {inner.__qualname__} {_code_hash(inner)}".encode())
        else:
            digest.update(dumps(held))
    return digest.hexdigest()


def _remove_old(folder: Path) -> None:
    """Remove what was compiled from old versions of a file."""
    stem = folder.name.rpartition("-")[0]
    others = [each for each in folder.parent.glob(f"{stem}-{'[0-9a-f]' * 16}") if each != folder]
    for old in sorted(others, key=lambda each: each.stat().st_mtime)[:-KEPT_VERSIONS]:
        shutil.rmtree(old, ignore_errors=True)
