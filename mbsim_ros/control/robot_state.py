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
