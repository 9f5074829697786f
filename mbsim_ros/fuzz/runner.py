# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Runs the cases of a family in several processes, and goes on after those that crash or hang."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mbsim_ros.fuzz.families import worker_of

HANG = 60.0  # s of the processor for one case: the first of its kind may compile
PREPARATION = 600.0  # s of the processor before the first case
STUCK = 900.0  # s of wall time for one case, where it does not compute
LOOK = 0.1  # s between two looks at the processes
GROWTH = 64 << 20  # bytes that a process may grow after its first cases


@dataclass
class Findings:
    """What came of the cases of a family."""

    name: str
    cases: int = 0
    accepted: int = 0
    seconds: float = 0.0
    failures: list[tuple[int, str]] = field(default_factory=list)  # number of the case, what was seen
    memory: list[tuple[int, int]] = field(default_factory=list)  # of each process at first and at last [bytes]

    @property
    def growth(self) -> int:
        """The most that a process grew [bytes]."""
        return max((last - first for first, last in self.memory), default=0)

    @property
    def is_well(self) -> bool:
        """No case failed, and memory stayed flat."""
        return not self.failures and self.growth <= GROWTH


def fuzz(
    name: str, seed: int, numbers: range, processes: int, progress: Callable[[int], None] = lambda _: None
) -> Findings:
    """Run these cases of a family; progress is told how many are done."""
    found, start = Findings(name, len(numbers)), time.monotonic()
    shares = [numbers[k::processes] for k in range(processes)]
    workers = [_Worker(name, seed, share, found) for share in shares if share]
    try:
        while [worker for worker in workers if worker.look()]:  # each is looked at
            progress(sum(worker.done for worker in workers))
            time.sleep(LOOK)
    finally:
        for worker in workers:
            worker.end()
    found.seconds = time.monotonic() - start
    found.failures.sort()
    return found


class _Worker:
    """One process at a time, with the cases that are left."""

    def __init__(self, name: str, seed: int, numbers: range, found: Findings):
        self._name, self._seed, self._numbers, self._found = name, seed, numbers, found
        self.done = 0  # cases
        self._start()

    def look(self) -> bool:
        """Take what it tells, and start another where it crashed or hangs; whether there is more to do."""
        ended = self._process.poll() is not None  # before what it told last is taken
        self._take()
        if self._told_all:
            return False
        if ended:
            self._go_on(f"the process ended with {self._process.returncode}")
        elif self._hangs():
            self._go_on("it hangs")
        return self.done < len(self._numbers)

    def end(self) -> None:
        """End the process, and those that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _start(self) -> None:
        left = self._numbers[self.done :]
        words = (self._name, self._seed, left.start, left.stop, left.step)
        self._process = subprocess.Popen(
            [sys.executable, "-m", worker_of(self._name), *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._rest = b""
        self._at: int | None = None  # number of the present case
        self._told_all = False
        self._since, self._used = time.monotonic(), 0.0

    def _take(self) -> None:
        """Read what it has told."""
        assert self._process.stdout is not None
        *lines, self._rest = (self._rest + (self._process.stdout.read() or b"")).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if isinstance(said, int):
                self._at, self.done = said, self._numbers.index(said)
                self._since, self._used = time.monotonic(), self._processor_time()
            elif "failed" in said:
                self._found.failures.append((said["failed"], said["text"]))
            else:
                self._told_all, self.done = True, len(self._numbers)
                self._found.accepted += said["accepted"]
                self._found.memory.append(tuple(said["memory"]))

    def _hangs(self) -> bool:
        limit = PREPARATION if self._at is None else HANG
        return self._processor_time() - self._used > limit or time.monotonic() - self._since > STUCK

    def _go_on(self, why: str) -> None:
        """Note the present case as failed, and go on with the next in another process."""
        self.end()
        if self._at is None:
            raise RuntimeError(f"fuzz of {self._name}: no case was begun: {why}")
        self._found.failures.append((self._at, why))
        self.done = self._numbers.index(self._at) + 1
        if self.done < len(self._numbers):
            self._start()

    def _processor_time(self) -> float:
        try:
            words = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
