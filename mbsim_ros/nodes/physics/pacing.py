# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Keeping simulated time in step with the wall clock: when the next state is due, and how fast it really goes."""

from __future__ import annotations

import time

FORGET = 0.5  # s behind after which time that was lost is not made up for
WINDOW = 1.0  # s over which the factor is measured


class Pace:
    """The wall time at which a simulated time is due. A factor of 0 means at once."""

    def __init__(self, factor: float):
        self.factor = factor
        self.measured = 0.0
        self.simulated = 0  # ns, and the wall time in which they went by [s], without pauses
        self.spent = 0.0
        self._wall = self._window_wall = self._noted_wall = time.monotonic()
        self._sim = self._window_sim = self._noted_sim = 0

    def restart(self, sim_ns: int) -> None:
        """Simulated time goes on from here, now."""
        self._wall = self._window_wall = self._noted_wall = time.monotonic()
        self._sim = self._window_sim = self._noted_sim = sim_ns

    def wait(self, sim_ns: int, factor: float | None = None) -> float:
        """Seconds until this simulated time is due; zero or less if it is. factor: instead of the pace's own."""
        factor = self.factor if factor is None else factor
        if factor <= 0.0:
            return 0.0
        left = self._wall + (sim_ns - self._sim) * 1e-9 / factor - time.monotonic()
        if left < -FORGET:
            self._wall, self._sim = time.monotonic(), sim_ns
        return left

    def note(self, sim_ns: int) -> None:
        """Measure: simulated time is here now."""
        wall = time.monotonic()
        if self.simulated:  # the first period begins when everybody is there, which takes as long as they take
            self.spent += wall - self._noted_wall
        self.simulated += sim_ns - self._noted_sim
        self._noted_sim, self._noted_wall = sim_ns, wall
        if wall - self._window_wall >= WINDOW:
            self.measured = (sim_ns - self._window_sim) * 1e-9 / (wall - self._window_wall)
            self._window_wall, self._window_sim = wall, sim_ns
