# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Threads that share the members of an ensemble among them: whoever is free takes the next few.

Which thread advances a member changes nothing of its motion: threads share nothing but constants, and what one keeps
for its work has no meaning from one member to the next.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.rollout.robot_rollout import RolloutMemory, make_memory

CHUNKS = 16  # that each thread takes of the members, about: few enough to cost nothing, enough to end together


class Lane:
    """What one thread has for itself: memory for the steps of robots, by their size."""

    def __init__(self) -> None:
        self._memory: dict[object, RolloutMemory] = {}

    def memory_for(self, key: object, integrator: LieVariational) -> RolloutMemory:
        """Memory for robots of this key."""
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = make_memory(integrator)
        return found


class Lanes:
    """So many threads, which live as long as this."""

    def __init__(self, threads: int | None):
        self.threads = usable_cores() if threads is None else _positive("threads", threads)
        self._lanes = [Lane() for _ in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads - 1, "ensemble") if self.threads > 1 else None

    @property
    def first(self) -> Lane:
        """The lane of the thread that calls `run`."""
        return self._lanes[0]

    def run(self, count: int, task: Callable[[Lane, int], None]) -> None:
        """task(lane, i) for each i below count, each once; an exception ends what has not begun and is raised."""
        size = max(1, count // (CHUNKS * self.threads))
        starts, lock, errors = iter(range(0, count, size)), threading.Lock(), []  # type: ignore[var-annotated]

        def work(lane: Lane) -> None:
            try:
                while not errors:
                    with lock:
                        first = next(starts, count)
                    if first >= count:
                        return
                    for i in range(first, min(count, first + size)):
                        task(lane, i)
            except BaseException as error:  # of any thread, also a ctrl-C in the first
                errors.append(error)

        others = [] if self._pool is None or count < 2 else [self._pool.submit(work, lane) for lane in self._lanes[1:]]
        work(self._lanes[0])
        for each in others:
            each.result()
        if errors:
            raise errors[0]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _positive(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name}: expected a whole number of at least 1, got {value!r}")
    return value
