# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A node in a process of its own, whose words are read while it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

from mbsim_ros.executables import module_of

TO_END = 20.0  # s that an interrupted node may take to end


class SoakProcess:
    """A node of the package as a process; `said` tells how often it has written something."""

    def __init__(self, module: str, arguments: Sequence[str]):
        """module: of mbsim_ros.nodes; arguments: what follows --ros-args."""
        self.module = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", module_of(module), "--ros-args", *arguments],
            env={**os.environ, "PYTHONUNBUFFERED": "1"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
        )  # fmt: skip
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def returncode(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._process.poll()

    @property
    def written(self) -> str:
        """All that it has written."""
        return "".join(self._lines)

    @property
    def memory(self) -> float:
        """What it has in memory [MB]; 0 when it has ended."""
        try:
            with open(f"/proc/{self._process.pid}/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        except (OSError, IndexError):
            return 0.0

    def said(self, words: str) -> int:
        """How many of its lines have these words."""
        return sum(words in line for line in list(self._lines))

    def signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def stop(self) -> bool:
        """End it as ctrl-C does; whether it did, or had to be killed."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(TO_END)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        self._reader.join()
        return True

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line)
