# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""CPU time of what experiments compute, so that other load of the machine does not count."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

MACHINE = "machine of our CPU times"  # a parameter of results that have some
WORDS = ("CPU time", "computing time")  # that keys of times begin with: they are compared, not met or missed


def cpu_seconds(call: Callable[[], object], rounds: int = 5) -> float:
    """Median of the CPU time of this thread [s] over some calls; the first, which may compile, does not count."""
    call()
    return statistics.median(_once(call) for _ in range(rounds))


def _once(call: Callable[[], object]) -> float:
    begun = time.thread_time()
    call()
    return time.thread_time() - begun


def is_time(key: str) -> bool:
    """Whether values of this key are times of computing."""
    return key.startswith(WORDS)


def this_machine() -> str:
    """The name of the processor, one thread of which was used."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()}, one thread"
    except OSError:
        pass  # not Linux
    return platform.processor() or "unknown"
