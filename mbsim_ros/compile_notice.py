# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Says that kernels are compiled, how many there are and how long it takes: the first run of a version takes a minute.

It is known which functions a kernel calls, and so which of them have yet to be compiled. The time is estimated from
the length of their bytecode. Of the walker's 140 functions the model explains 95 % of the variance; the machine's speed
is taken from those that are done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import cache
from types import CodeType
from typing import Any

from numba.core import event
from numba.core.dispatcher import Dispatcher

from mbsim_ros.kernel_cache.cache import is_kept
from mbsim_ros.status import is_listened_to, tell_status

OWN, INLINED, OPTIMISED = 1.5e-4, 2.5e-5, 7.5e-5  # s for a byte: of itself, of all it calls as helper and as kernel
WORTH_A_WORD = 3.0  # s; less is over before it is read
REFRESH = 0.3  # s between two updates of a terminal's line
REPEAT = 30.0  # s until a second line where there is no terminal, and twice as long until each further one


class CompileNotice(event.Listener):
    """One line on a terminal that is written over, a note to a launch, or a line now and then."""

    def __init__(self) -> None:
        self._expected: set[Dispatcher] = set()  # what is called from Python, or will be
        self._depth = self._done = 0
        self._worked = 0.0  # s by the model, of what is done
        self._spent = 0.0  # s of wall time, of the outermost kernels that are done
        self._began = self._looked = self._again = 0.0
        self._pause = REPEAT
        self._is_shown = False

    def expect(self, kernel: Any) -> None:
        """Count this kernel from the beginning: it will be called."""
        if isinstance(kernel, Dispatcher) and not (kernel.overloads or is_kept(kernel)):
            self._expected.add(kernel)

    def on_start(self, event: Any) -> None:
        """A function begins to be compiled, maybe inside of another."""
        kernel = event.data.get("dispatcher")
        self._depth += 1
        if self._depth == 1:
            self._began = time.monotonic()
            self._expected.add(kernel)
        if self._depth == 1 or time.monotonic() - self._looked >= REFRESH:
            self._looked = time.monotonic()
            self._show()

    def on_end(self, event: Any) -> None:
        """It is compiled."""
        kernel = event.data.get("dispatcher")
        self._depth -= 1
        self._done += 1
        self._worked += _cost(kernel)
        if self._depth == 0:
            self._spent += time.monotonic() - self._began
            self._expected = {each for each in self._expected - {kernel} if not (each.overloads or is_kept(each))}
            self._clear()

    def _show(self) -> None:
        missing = {each for kernel in self._expected for each in _below(kernel) if not each.overloads}
        spent = self._spent + time.monotonic() - self._began
        speed = (spent + 1.0) / (self._worked + 1.0)  # one second as the model has it, or the first would tell too much
        left = speed * sum(map(_cost, missing))
        if self._is_shown or left >= WORTH_A_WORD:
            count = self._done + max(1, len(missing))
            self._write(f"compiling {min(self._done + 1, count)} of {count} kernels, about {_rounded(left)}")

    def _write(self, text: str) -> None:
        if tell_status(text):
            self._is_shown = True
        elif sys.stderr is None or sys.stderr.closed:
            return
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\033[Kmbsim: {text} (once per version) …")
            sys.stderr.flush()
            self._is_shown = True
        elif not self._is_shown or time.monotonic() >= self._again:
            self._again, self._pause, self._is_shown = time.monotonic() + self._pause, 2.0 * self._pause, True
            print(f"mbsim: {text} (once per version) …", file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if not self._is_shown:
            return
        self._is_shown = bool(self._expected)  # more is to come
        if is_listened_to():
            if not self._is_shown:
                tell_status("")
        elif sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _called(kernel: Dispatcher) -> list[Dispatcher]:
    given = kernel.py_func.__globals__
    named = (given.get(name) for name in set(_names(kernel.py_func.__code__)))
    return [each for each in named if isinstance(each, Dispatcher)]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


@cache
def _below(kernel: Dispatcher) -> frozenset[Dispatcher]:
    """A function and all of ours that it calls, directly or not."""
    found: set[Dispatcher] = set()
    waiting = [kernel]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += _called(each)
    return frozenset(found)


@cache
def _cost(kernel: Dispatcher) -> float:
    """Seconds to compile a function by the model, with what it is made of and without what has to be compiled first."""
    size = sum(len(each.py_func.__code__.co_code) for each in _below(kernel))
    is_helper = kernel.targetoptions.get("no_cpython_wrapper", False)
    return OWN * len(kernel.py_func.__code__.co_code) + (INLINED if is_helper else OPTIMISED) * size


def _rounded(seconds: float) -> str:
    """As an estimate is told: 5 s, 10 s, …, 1 min, 2 min."""
    return f"{max(1, round(seconds / 5.0)) * 5} s" if seconds < 57.5 else f"{round(seconds / 60.0)} min"


NOTICE = CompileNotice()
event.register("numba:compile", NOTICE)
