# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A command that runs beside the steps of the set-up and that nothing depends on: if it fails, things take longer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

from progress import Step

MARK, LISTENER = "\x1fmbsim status ", "MBSIM_LAUNCH"  # how a process tells what it does: mbsim_ros/status.py


class Beside:
    """Begins at most once, is waited for at the end, and is ended with the block that it belongs to."""

    def __init__(self, what: str, command: list[str], environment: dict[str, str]):
        self.what = what
        self._command, self._environment = command, {**environment, LISTENER: str(os.getpid())}
        self._process: subprocess.Popen[str] | None = None
        self._status = self._last = ""
        self._began = 0.0

    def __enter__(self) -> Beside:
        return self

    def begin(self) -> None:
        """Start it, unless that was done, or there is nothing to do."""
        if self._process is not None or not self._command:
            return
        self._began = time.monotonic()
        # It holds the lock as long as it lives, and lives no longer than the other end of its input: see set_up.py.
        self._process = subprocess.Popen(
            self._command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True, close_fds=False, text=True, errors="replace",
        )  # fmt: skip
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()
        Step.beside = self._now
        if not sys.stderr.isatty():
            print(f"  {self.what}, beside what follows …", file=sys.stderr, flush=True)

    def finish(self) -> None:
        """Wait until it has ended, and say how that went."""
        if self._process is None:
            return
        step = Step(self.what)
        while self._process.poll() is None:
            step.show(time.monotonic() - self._began, "")
            time.sleep(0.1)
        step.clear()
        if self._process.returncode == 0:
            print(f"  {self.what}: done in {time.monotonic() - self._began:.0f} s", file=sys.stderr, flush=True)
        else:
            self._reader.join(timeout=1.0)
            why = f" ({self._last})" if self._last else ""
            print(f"  {self.what}: not done{why}; they are compiled when they are used", file=sys.stderr, flush=True)

    def __exit__(self, *error: object) -> None:
        Step.beside = str
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _now(self) -> str:
        return "" if self._process is None or self._process.poll() is not None else self._status

    def _listen(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        for line in self._process.stderr:
            if line.startswith(MARK.rstrip()):
                self._status = line[len(MARK) :].strip()
            elif line.strip():
                self._last = line.strip()
