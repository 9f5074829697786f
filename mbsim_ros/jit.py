# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How every numba kernel of this package is compiled, and how one sees that it happens."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

from mbsim_ros.kernel_cache.cache import keep_compiled

OPTIONS: dict[str, Any] = {
    "nogil": True,
    # contract: fused multiply-add; nsz: the sign of zero is free; arcp: x/y may become x*(1/y); afn: library functions.
    # NaN and infinity keep their meaning and sums their order, so Taylor switches and branches near pi stay exact.
    "fastmath": {"contract", "nsz", "arcp", "afn"},
    # Dividing by zero gives inf or nan: a kernel has no exception path.
    "error_model": "numpy",
    # A third less to compile. Without numba's runtime a kernel that allocates does not compile.
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


class _CompileNotice(event.Listener):
    """Says which kernel is being compiled: the first run of a version takes seconds and should show why."""

    def __init__(self) -> None:
        self._depth = 0
        self._count = 0

    def on_start(self, event: Any) -> None:
        self._depth += 1
        dispatcher = event.data.get("dispatcher")
        if self._depth == 1 and dispatcher.py_func.__module__.startswith("mbsim_ros"):
            self._count += 1
            self._show(f"compiling kernel {self._count}, {dispatcher.py_func.__name__} (once per version) …")

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._show("")

    def _show(self, text: str) -> None:
        if sys.stderr is None or sys.stderr.closed:
            return
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{'mbsim: ' + text if text else ''}")
            sys.stderr.flush()
        elif self._count == 1 and text:
            print("mbsim: compiling kernels (once per version) …", file=sys.stderr, flush=True)


event.register("numba:compile", _CompileNotice())

_kernel = numba.njit(**OPTIONS)
# A call would pass each array as seven words on the stack.
_helper = numba.njit(**{**OPTIONS, "no_cpython_wrapper": True, "forceinline": True})


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on its first call; what was compiled is kept for the next run."""
    return keep_compiled(_kernel(function))


def helper(function: Callable[..., Any]) -> Any:
    """The same for a function that only kernels call: it becomes part of them."""
    return keep_compiled(_helper(function))


@helper
def cross(ax, ay, az, bx, by, bz):
    """Components of a x b, from and to scalars, so that no array is made."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
