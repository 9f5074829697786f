# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arrays of all parts of a scene side by side in one block of memory.

A part has some seventy small arrays. Made one by one they lie between all else that Python makes, on twice as many
pages as they would fill, and a processor that goes through a thousand parts waits for the addresses of pages more than
for numbers. In one block they are in the order in which a step comes by, and the block may have large pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbsim_ros.integrators.lie_variational.arrays import ContactArrays, System, Work
from mbsim_ros.integrators.lie_variational.integrator import LieVariational

ALIGNMENT = 16  # bytes, as of memory that is allocated
# What stays where it is: of all parts, of the scene's own arrays, or not read in steps.
STAYING: dict[type, set[str]] = {
    System: {"scheme"},
    ContactArrays: {"data", "grid", "parameters"},
    Work: {"rows", "twists", "wrenches", "node"},
}


def pack_parts(parts: Sequence[LieVariational]) -> None:
    """Move the arrays of parts that have not been moved yet to a block of their own; what is in them stays."""
    parts = [part for part in parts if not part.is_packed]
    # as bytes that are not cleared: numpy asks for large pages for those
    block, at = np.empty(sum(_size(part.system) for part in parts), dtype=np.uint8), [0]
    for part in parts:
        part.place_arrays(_moved(part.system, block, at))


def _size(arrays: Any) -> int:
    """Bytes that the arrays of a named tuple take in a block, nested ones included."""
    total = 0
    for name, value in zip(arrays._fields, arrays, strict=True):
        if name in STAYING.get(type(arrays), ()):
            continue
        if isinstance(value, np.ndarray):
            total += _rounded(value.nbytes)
        elif isinstance(value, tuple):
            total += _size(value)
    return total


def _moved(arrays: Any, block: np.ndarray, at: list[int]) -> Any:
    """The same named tuple with its arrays in the block from at[0] on, which moves on."""
    moved: dict[str, Any] = {}
    for name, value in zip(arrays._fields, arrays, strict=True):
        if name in STAYING.get(type(arrays), ()):
            continue
        if isinstance(value, np.ndarray) and value.nbytes > 0:
            moved[name] = own = np.ndarray(value.shape, value.dtype, block, at[0])
            own[...] = value
            own.setflags(write=value.flags.writeable)
            at[0] += _rounded(value.nbytes)
        elif isinstance(value, tuple):
            moved[name] = _moved(value, block, at)
    return arrays._replace(**moved)


def _rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
