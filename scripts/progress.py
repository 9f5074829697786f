# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One step of the set-up: a command with a live line of progress, and a sentence when it fails."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping


class StepFailed(Exception):
    """A step that did not work; the text is one sentence that says what to do."""


class Step:
    """Runs a command and shows how far it is: one live line on a terminal, two plain lines elsewhere."""

    beside: Callable[[], str] = str  # what else goes on meanwhile, or ""

    def __init__(self, what: str):
        self.what = what
        self._live = sys.stderr.isatty()

    def run(
        self, command: list[str], environment: dict[str, str] | None = None, remedies: Mapping[str, str] | None = None
    ) -> None:
        """Run the command; raise StepFailed with the remedy whose key occurs in the output."""
        begin = time.monotonic()
        if not self._live:
            print(f"  {self.what} …", file=sys.stderr, flush=True)
        # A group of its own: when the set-up is interrupted, compilers and downloads end with it.
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, close_fds=False, text=True, errors="replace",
        )  # fmt: skip
        output: deque[str] = deque(maxlen=400)
        try:
            assert process.stdout is not None
            for line in process.stdout:
                output.append(line.rstrip())
                self.show(time.monotonic() - begin, line.strip())
            process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        seconds = time.monotonic() - begin
        if process.returncode != 0:
            self.clear()
            raise StepFailed(self._explain(list(output), remedies or {}))
        self.clear()
        print(f"  {self.what}: done in {seconds:.0f} s", file=sys.stderr, flush=True)

    def show(self, seconds: float, line: str) -> None:
        """Write the live line, where there is one."""
        if self._live:
            width = shutil.get_terminal_size().columns
            also = Step.beside()
            also = f" | {also}" if also else ""
            text = f"  {self.what} {seconds:4.0f} s  {line}"[: max(0, width - 1 - len(also))] + also
            text = text[: width - 1]
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the live line away."""
        if self._live:
            sys.stderr.write("\r\033[K")

    def _explain(self, output: list[str], remedies: Mapping[str, str]) -> str:
        common = {"No space left": "the disk is full: the environment takes about 2 GB"}
        for sign, remedy in {**common, **remedies}.items():
            if any(sign in line for line in output):
                return f"{remedy}, then run this again."
        said = "\n".join(f"    {line}" for line in output[-15:])
        return f"the step '{self.what}' failed; its last words were:\n{said}"
