# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a measurement was made on: without it a number means nothing."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

PEERS = {"pinocchio": "pin", "example-robot-data": "example-robot-data"}  # name → distribution


def facts() -> dict[str, object]:
    """CPU, cores and the versions of everything that makes or runs the compiled code."""
    import llvmlite.binding
    import numba
    import numpy

    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "llvm": ".".join(str(part) for part in llvmlite.binding.llvm_version_info),
        "peers": {name: version for name, source in PEERS.items() if (version := _version(source))},
    }


def cpu_model() -> str:
    """Name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or "unknown"


def commit() -> str | None:
    """Commit of the source checkout, with a `+` if files were changed since; None outside a checkout."""
    here = Path(__file__).parent
    try:
        head = _git(here, "rev-parse", "HEAD")
        return head + ("+" if _git(here, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def now() -> str:
    """The date and time, UTC."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
