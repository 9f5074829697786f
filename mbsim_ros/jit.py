"""How every numba kernel of this package is compiled, where the result is kept, and how one sees that it happens."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numba
from numba.core import event

OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    # contract: fused multiply-add; nsz: the sign of zero is free; arcp: x/y may become x*(1/y); afn: library functions.
    # NaN and infinity keep their meaning and sums their order, so Taylor switches and branches near pi stay exact.
    "fastmath": {"contract", "nsz", "arcp", "afn"},
    # Dividing by zero gives inf or nan: a kernel has no exception path.
    "error_model": "numpy",
    # A third less to compile. Without numba's runtime a kernel that allocates does not compile.
    "no_cfunc_wrapper": True,
    "_nrt": False,
}

# Folders of the package without kernels, on which no kernel depends: editing a node compiles nothing anew.
WITHOUT_KERNELS = ("bags", "cli", "launcher", "nodes")
KEPT_CACHES = 3  # of different versions of the sources, beside the present one


def _cache_folder() -> Path:
    """Folder of the compiled kernels, named by a hash of all sources that kernels may depend on.

    Numba looks only at the file a kernel stands in; an edit of a helper elsewhere would leave the old code in use.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for file in sorted(package.rglob("*.py")):
        if file.relative_to(package).parts[0] not in WITHOUT_KERNELS:
            digest.update(file.read_bytes())
    return _cache_home() / f"kernels-{digest.hexdigest()[:16]}"


def _cache_home() -> Path:
    """Where the folders of all versions are: the user's choice for numba or for caches, or the usual place."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "mbsim_ros"


def _use_cache_folder() -> None:
    """Tell numba where to keep compiled kernels; remove those of old sources."""
    try:
        folder = _cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        others = sorted((f for f in folder.parent.glob("kernels-*") if f != folder), key=lambda f: f.stat().st_mtime)
        for old in others[:-KEPT_CACHES]:
            shutil.rmtree(old, ignore_errors=True)
    except (OSError, RuntimeError):  # nowhere to write, or nobody's home: keep nothing rather than something stale
        OPTIONS["cache"] = False
        return
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]


class _CompileNotice(event.Listener):
    """Says which kernel is being compiled: the first run of a version takes seconds and should show why."""

    def __init__(self) -> None:
        self._depth = 0
        self._count = 0

    def on_start(self, event: Any) -> None:
        self._depth += 1
        dispatcher = event.data.get("dispatcher")
        if self._depth == 1 and dispatcher.py_func.__module__.startswith("mbsim_ros"):
            self._count += 1
            self._show(f"compiling kernel {self._count}, {dispatcher.py_func.__name__} (once per version) …")

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._show("")

    def _show(self, text: str) -> None:
        if sys.stderr is None or sys.stderr.closed:
            return
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{'mbsim: ' + text if text else ''}")
            sys.stderr.flush()
        elif self._count == 1 and text:
            print("mbsim: compiling kernels (once per version) …", file=sys.stderr, flush=True)


_use_cache_folder()
event.register("numba:compile", _CompileNotice())

kernel = numba.njit(**OPTIONS)
# A call would pass each array as seven words on the stack.
helper = numba.njit(**{**OPTIONS, "no_cpython_wrapper": True, "forceinline": True})


@helper
def cross(ax, ay, az, bx, by, bz):
    """Components of a x b, from and to scalars, so that no array is made."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
