# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A process that runs cases one after another and tells what came of them; it may crash or hang.

`python -m mbsim_ros.fuzz.worker FAMILY SEED FIRST END STEP` writes a line for each thing that it tells: the number of
the case that begins, a failed one, and at the end its memory and how many cases were accepted.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from mbsim_ros.fuzz.families import case, makers
from mbsim_ros.fuzz.verdict import ACCEPTED, FAILED, judged

MEMORY = 2 << 30  # bytes of address space that a case may take beside what the process had before
SETTLED = 0.1  # of its cases after which a process has all that it needs for good

AT_LEAST = 300  # cases before that


def main() -> None:
    """Run the cases that the arguments name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this ends it
    name, seed, numbers = sys.argv[1], int(sys.argv[2]), range(*map(int, sys.argv[3:6]))
    tell = teller()
    accepted, settled = 0, 0
    with tempfile.TemporaryDirectory(prefix="mbsim_fuzz_") as folder:
        maker = makers(name, Path(folder))
        _limit_memory()
        for place, number in enumerate(numbers):
            tell(number)
            verdict = judged(case(maker, name, seed, number).run)
            accepted += verdict.kind == ACCEPTED
            if verdict.kind == FAILED:
                tell({"failed": number, "text": verdict.text})
            if place <= max(SETTLED * len(numbers), AT_LEAST):
                settled = memory()
    tell({"accepted": accepted, "memory": [settled, memory()]})


def memory() -> int:
    """Bytes of this process that are in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def teller() -> Callable[[object], object]:
    """What writes a line to standard output, to which nothing else goes from now on."""
    out, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return lambda said: os.write(out, json.dumps(said).encode() + b"\n")


def _limit_memory() -> None:
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
