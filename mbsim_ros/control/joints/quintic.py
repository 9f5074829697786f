# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Motion from any state to rest along a polynomial of degree five: positions, speeds and accelerations never jump."""

from __future__ import annotations


class Quintic:
    """From (position, velocity, acceleration) at time `begin` to rest at `end_position` at time `end`; then it stays.

    Before `begin` it stays at its first position, so a motion that begins from rest may be planned ahead.
    """

    __slots__ = ("_c", "begin", "duration", "end", "end_position")

    def __init__(
        self, begin: float, end: float, position: float, end_position: float, velocity: float = 0.0,
        acceleration: float = 0.0,
    ):  # fmt: skip
        if not end > begin:
            raise ValueError(f"end: expected a time after begin = {begin:g} s, got {end:g} s")
        self.begin, self.end, self.duration, self.end_position = begin, end, end - begin, end_position
        T = self.duration
        v, a = velocity * T, 0.5 * acceleration * T * T
        d = end_position - position - v - a  # what the last three coefficients add up to
        self._c = (
            position, v, a, 10.0 * d + 4.0 * v + 7.0 * a, -15.0 * d - 7.0 * v - 12.0 * a, 6.0 * d + 3.0 * v + 5.0 * a,
        )  # fmt: skip

    @classmethod
    def rest(cls, position: float) -> Quintic:
        """No motion, at any time."""
        return cls(-1.0, 0.0, position, position)

    def at(self, time: float) -> tuple[float, float]:
        """Position and velocity."""
        s = (time - self.begin) / self.duration
        c0, c1, c2, c3, c4, c5 = self._c
        if s >= 1.0:
            return self.end_position, 0.0
        if s <= 0.0:
            return c0, (c1 / self.duration if s == 0.0 else 0.0)
        position = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        rate = c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
        return position, rate / self.duration

    def acceleration(self, time: float) -> float:
        """Second derivative."""
        s = (time - self.begin) / self.duration
        if not 0.0 <= s < 1.0:
            return 0.0
        _, _, c2, c3, c4, c5 = self._c
        return (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / self.duration**2

    @property
    def row(self) -> tuple[float, ...]:
        """As kernels take it (9,): begin, duration, end position and the six coefficients."""
        return (self.begin, self.duration, self.end_position, *self._c)

    def towards(self, time: float, end_position: float) -> Quintic:
        """The motion that leaves this one at `time` without a jump and comes to rest elsewhere, at the same time."""
        if time <= self.begin:
            return Quintic(self.begin, self.end, self._c[0], end_position)
        return Quintic(time, self.end, self.at(time)[0], end_position, self.at(time)[1], self.acceleration(time))

    @property
    def is_still(self) -> bool:
        """Whether it never moves."""
        return not any(self._c[1:])

    def turns_back(self, samples: int = 20) -> bool:
        """Whether it moves both ways."""
        speeds = [self.at(self.begin + self.duration * k / samples)[1] for k in range(samples)]
        return min(speeds) < -1e-9 and max(speeds) > 1e-9

    def largest_acceleration(self, samples: int = 20) -> float:
        """The largest magnitude of its acceleration, sampled."""
        return max(abs(self.acceleration(self.begin + self.duration * k / samples)) for k in range(samples))
