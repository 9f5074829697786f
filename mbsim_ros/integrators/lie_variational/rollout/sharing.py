# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What many robots made alike have in common, and who takes steps for them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from mbsim_ros.integrators.lie_variational.arrays import System

WRITTEN = ("parameters",)  # of contact: friction changes while a robot moves, though no kernel writes it


class StepPlayer(Protocol):
    """Who takes the steps of a robot in place of its own `take_steps`."""

    def take_steps(self, first: int, last: int, in_parts: bool) -> tuple[int, int, int, int]:
        """Steps first … last − 1, as steps_into returns them; in_parts: none, for the next is taken in parts."""


def share_constants(system: System, other: System) -> System:
    """The system with arrays of the other in place of its own where they are equal and not to be written to."""
    return _shared("", system, other)  # type: ignore[no-any-return]


def _shared(name: str, own: Any, other: Any) -> Any:
    if isinstance(own, np.ndarray):
        is_constant = not own.flags.writeable and not other.flags.writeable and name not in WRITTEN
        return other if is_constant and own.shape == other.shape and np.array_equal(own, other) else own
    if isinstance(own, tuple) and type(own) is type(other):
        return type(own)(*(_shared(*each) for each in zip(own._fields, own, other, strict=True)))  # type: ignore[attr-defined]
    return own
