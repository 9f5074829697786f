# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker without ROS: a gait that is asked for velocities at their times, in a `Simulation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from mbsim_ros.control.command import Command
from mbsim_ros.control.controller import Controller
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.gait import WalkerGait

PERIOD = 0.002  # [s] of control
SECOND = 1_000_000_000  # ns
Asked = tuple[float, float, float, float]  # time [s], forward, turn, rise: see WalkerGait.ask


class Runs(Protocol):
    """What is needed of a `Simulation`, which is above the controllers."""

    def run(self, seconds: float, controller: Controller, *, control_period: float) -> object:
        """Advance with a controller."""


Simulated = TypeVar("Simulated", bound=Runs)


class AskedGait:
    """A gait, and velocities that it is asked for, each at the first instant at or after its time."""

    def __init__(self, gait: WalkerGait, asked: Iterable[Asked]):
        self._gait, self.control_period = gait, gait.control_period
        self._due = sorted((round(time * SECOND), velocity) for time, *velocity in asked)

    def update(self, t: float, state: RobotState) -> Command:
        """The gait's command for the state at t [s]."""
        self._ask(t)
        return self._gait.update(t, state)

    def is_under_way(self, coupling: str) -> bool:
        """Whether the gait is."""
        return self._gait.is_under_way(coupling)

    def ahead(self, times: Sequence[float]) -> np.ndarray:
        """The gait's targets, up to when it is asked for the next velocity."""
        self._ask(times[0])
        end = next((k for k, t in enumerate(times) if self._is_due(t)), len(times))
        return self._gait.ahead(times[:end])

    def _ask(self, t: float) -> None:
        while self._is_due(t):
            self._gait.ask(*self._due.pop(0)[1])

    def _is_due(self, t: float) -> bool:
        return bool(self._due) and self._due[0][0] <= round(t * SECOND)


def walk(
    sim: Simulated, gait: WalkerGait, seconds: float, asked: Iterable[Asked] = (), *, period: float = PERIOD,
    each: Callable[[Simulated], None] | None = None, every: int = 50,
) -> None:  # fmt: skip
    """`Simulation.run` with velocities that are asked for at their times, on from wherever simulation and gait are.

    each(sim) is called at every `every`-th control instant, before that instant's command.
    """
    controller, periods = AskedGait(gait, asked), round(seconds / period)
    for done in range(0, periods, every):
        if each is not None:
            each(sim)
        sim.run(min(every, periods - done) * period, controller, control_period=period)
