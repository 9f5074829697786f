# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How every numba kernel of this package is compiled."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numba

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


# By its name: what is shown meanwhile is no part of what a kernel is made of, and may change without compiling it anew.
importlib.import_module("mbsim_ros.compile_notice")

_kernel = numba.njit(**OPTIONS)
# A call would pass each array as seven words on the stack.
_helper = numba.njit(**{**OPTIONS, "no_cpython_wrapper": True, "forceinline": True})


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on its first call; what was compiled is kept for the next run."""
    return keep_compiled(_kernel(function))


def helper(function: Callable[..., Any]) -> Any:
    """The same for a function that only kernels call: it becomes part of them."""
    return keep_compiled(_helper(function))


def inlined(function: Callable[..., Any]) -> Any:
    """For a function that leads to many others: it becomes part of its caller before anything is compiled.

    A helper is compiled and optimised by itself first, with all that it calls, and once more in its caller: of several
    that call each other every level costs as much as all below it.
    """
    return numba.njit(**{**OPTIONS, "inline": "always"})(function)


@helper
def cross(ax, ay, az, bx, by, bz):
    """Components of a x b, from and to scalars, so that no array is made."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
