# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Opening files that users name: ordinary, readable and of bounded size, or one sentence that says why not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mbsim_ros.model.problems import Problem, ProblemError, shortened


class OutsideFolder(ValueError):
    """A name in a file that leads out of the folders which the file may use."""


def resolved_inside(path: Path, *folders: Path) -> Path:
    """Where a path leads, symbolic links followed; OutsideFolder where that is in none of these folders.

    For names that stand in files: a file that somebody has sent must not name /etc/passwd, nor ../../.bashrc.
    """
    try:
        found = path.resolve()
        inside = any(found.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError):  # name too long, a null character, a loop of symbolic links
        raise OutsideFolder(f"{shortened(str(path))!r} is not a usable path") from None
    if not inside:
        raise OutsideFolder(f"{shortened(str(path))!r} leads out of the folder")
    return found


def checked_path(path: str | os.PathLike, max_bytes: int, refused: type[ProblemError], kind: str, start: str) -> Path:
    """Return the path of an ordinary file of acceptable size.

    Raises `refused`. `kind` names what is expected (a URDF), `start` how its text would be recognised.
    """
    if isinstance(path, str) and ("\n" in path or "\0" in path or not path.strip() or len(path) > 4096):
        raise _refusal(refused, "<text>", f"neither a path nor {kind} text", repr(shortened(path)), start)
    path = Path(path)
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refusal(refused, str(path), "cannot be read", reason, "check the path") from None
    if stat.S_ISDIR(status.st_mode):
        raise _refusal(refused, str(path), "is a folder", "", f"name the {kind} file in it")
    if not stat.S_ISREG(status.st_mode):  # a pipe would block, /dev/zero never ends
        raise _refusal(refused, str(path), "is not an ordinary file", "", f"name a {kind} file")
    if status.st_size > max_bytes:
        raise too_large(refused, str(path), status.st_size, max_bytes, kind)
    return path


def read_bytes(path: Path, max_bytes: int, refused: type[ProblemError], kind: str) -> bytes:
    """Contents of a file that passed `checked_path`, refused if it grew meanwhile."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise _refusal(refused, str(path), "cannot be read", reason, "check its permissions") from None
    if len(data) > max_bytes:
        raise too_large(refused, str(path), len(data), max_bytes, kind)
    return data


def too_large(refused: type[ProblemError], file: str, size: int, max_bytes: int, kind: str) -> ProblemError:
    """Return the refusal of a file beyond its size limit."""
    value = f"{size / 2**20:.3g} MiB, the limit is {max_bytes / 2**20:.3g} MiB"
    hint = "keep meshes and tables in files of their own"
    return _refusal(refused, file, f"too large for a {kind} file", value, hint)


def _refusal(refused: type[ProblemError], file: str, rule: str, value: str, hint: str) -> ProblemError:
    return refused([Problem(file, 0, "file", "", rule, value, hint)])


def is_file(path: Path) -> bool:
    """Whether there is such a file; False also for names that no file can have and places one may not look at."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
