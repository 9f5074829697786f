# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The folder of compiled kernels: the user's own, where nobody else can put code that we would run."""

from __future__ import annotations

import os
import stat
import warnings
from functools import cache
from pathlib import Path

PRIVATE = 0o700


@cache
def cache_home() -> Path | None:
    """Where compiled kernels are kept; None where nothing can be, with a warning where that is a danger.

    It is the user's choice for numba or for caches, or the usual place. Compiled code is run as it is found, so a
    folder that others can write to is not used.
    """
    try:
        home = _chosen()
        make_private(home)
        status = home.stat()
    except (OSError, RuntimeError):  # nowhere to write, or nobody's home: keep nothing rather than something stale
        return None
    why = _danger(status)
    if why:
        remedy = f"chmod 700 {home}" if status.st_uid == os.getuid() else "set NUMBA_CACHE_DIR to a folder of your own"
        text = f"{home} is not used for compiled kernels, which takes time at each start: {why}; {remedy}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return None
    return home if os.access(home, os.W_OK | os.X_OK) else None


def make_private(folder: Path) -> None:
    """Make a folder for this user alone, and those above it as usual; one that is there stays as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=PRIVATE, exist_ok=True)


def _chosen() -> Path:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return (folder if folder.is_absolute() else Path.home() / ".cache") / "mbsim_ros"


def _danger(status: os.stat_result) -> str:
    if status.st_uid != os.getuid():
        return f"it belongs to user {status.st_uid}, and this is user {os.getuid()}"
    return "everybody may write to it" if status.st_mode & stat.S_IWOTH else ""
