# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a controller sees of its robot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


class RobotState(Protocol):
    """Anything with time [ns], q (nq,) and v (nv,) in the model's layout; the state of a `Simulation` is one."""

    @property
    def time(self) -> int:
        """Time [ns]."""

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,)."""

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,), those of a floating base in its own axes."""


@dataclass(frozen=True)
class MeasuredState:
    """A state as it was measured, or received."""

    time: int  # ns
    q: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
