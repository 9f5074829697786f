# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Velocities that are asked for: which act at a state, and the stop when no more of them come. No ROS, no clock.

What is decided depends on the stamps of states and on what had come by then. Every decision is a velocity that a gait
is asked for at a state: who asks for the same at the same states walks the same walk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

Velocity: TypeAlias = tuple[float, float, float]  # forward [m/s], turn [rad/s], rise

SECOND = 1_000_000_000
FAR = 10 * SECOND  # ns between a stamp and the state's from which on the stamp is of another clock
MOST = 1000  # velocities that wait
STOP: Velocity = (0.0, 0.0, 0.0)


class VelocityQueue:
    """Give it velocities with `add`; `due` says at every state which of them act."""

    def __init__(self, timeout: float, warn: Callable[[str], object]):
        """timeout: simulated time [s] after which a velocity that is not asked for again ends; 0: never.

        warn: hears once of stamps of another clock, and once of a velocity that has ended.
        """
        self._timeout, self._warn = round(timeout * SECOND), warn
        self._waiting: deque[tuple[int, Velocity]] = deque(maxlen=MOST)  # the newest stay: a stop is among them
        self._in_force: Velocity | None = None
        self._taken_at = 0  # ns
        self._has_said_far = self._has_said_ended = False

    def add(self, stamp: int, velocity: Velocity) -> None:
        """One that acts from the first state at or after this stamp [ns] on; at once where the stamp is far off."""
        self._waiting.append((stamp, velocity))

    def due(self, now: int) -> list[Velocity]:
        """What is asked for at the state of this stamp [ns], in order; one that is in force already is not repeated."""
        found = [velocity for velocity in self._take(now) if self._is_new(velocity)]
        self._taken_at = min(self._taken_at, now)  # another run, from the beginning
        if 0 < self._timeout < now - self._taken_at and self._in_force is not None and any(self._in_force[:2]):
            self._in_force = STOP
            self._say_ended()
            found.append(STOP)
        return found

    def _take(self, now: int) -> list[Velocity]:
        """Those that act now, the earlier first."""
        if not self._waiting:
            return []
        ready, waiting = [], []
        for stamp, velocity in self._waiting:
            is_far = stamp != 0 and abs(stamp - now) > FAR
            if is_far:
                self._say_far(stamp, now)
            if stamp == 0 or is_far:  # one without a stamp is of now, too, and comes after what is late
                ready.append((now, velocity))
            elif stamp <= now:
                ready.append((stamp, velocity))
            else:
                waiting.append((stamp, velocity))
        if ready:
            self._waiting = deque(waiting, MOST)
            self._taken_at = now
        return [velocity for _, velocity in sorted(ready, key=lambda entry: entry[0])]

    def _is_new(self, velocity: Velocity) -> bool:
        is_new, self._in_force = velocity != self._in_force, velocity
        return is_new

    def _say_far(self, stamp: int, now: int) -> None:
        if not self._has_said_far:
            self._has_said_far = True
            self._warn(
                f"a velocity is stamped {stamp / SECOND:.3f} s while simulated time is {now / SECOND:.3f} s: it acts "
                "at once, as all do whose stamps are of another clock; with use_sim_time publishers go by this one"
            )

    def _say_ended(self) -> None:
        if not self._has_said_ended:
            self._has_said_ended = True
            self._warn(f"no velocity for {self._timeout / SECOND:g} s of simulated time: stops, see cmd_vel_timeout")
