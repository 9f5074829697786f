# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""A body that is to go through poses with given velocities and accelerations, at given times."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.control.balance.desired_wrench_kernel import (
    POSITION,
    PUSH,
    QUATERNION,
    SET_POINT_SIZE,
    TURN,
    TURN_RATE,
    VELOCITY,
)
from mbsim_ros.control.joints.trajectories import TimedPoints
from mbsim_ros.lie import quaternion, so3

GOES_ON = 0.1  # s after the last point
DIFFERENCE = 1e-5  # s, for the derivative of dexp along a motion


@dataclass(eq=False)
class PosePoints:
    """k points in the world: times [s] from the start, places (k, 3), quaternions (w, x, y, z) (k, 4).

    velocities, accelerations (k, 6): linear first, zeros for none. start: when it begins [s], None: with the next
    state.
    """

    times: np.ndarray
    places: np.ndarray
    turns: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray
    start: float | None = None

    def __post_init__(self) -> None:
        k = len(self.times)
        if k == 0 or self.times[0] < 0.0 or not (np.diff(self.times) > 0.0).all():
            raise ValueError(f"time_from_start: expected times that increase from 0, got {self.times.tolist()}")
        for what, width in (("places", 3), ("turns", 4), ("velocities", 6), ("accelerations", 6)):
            values = np.array(getattr(self, what), dtype=float)
            if values.shape != (k, width) or not np.isfinite(values).all():
                raise ValueError(f"{what}: expected finite numbers of shape {(k, width)}, got shape {values.shape}")
            setattr(self, what, values)
        sizes = np.linalg.norm(self.turns, axis=1)
        if not (sizes > 1e-6).all():
            raise ValueError("rotation: expected quaternions, got one without length")
        self.turns = self.turns / sizes[:, None]


class PoseTrajectory:
    """From a set point (19,) at t [s] through the points: quintics between two of them, that have what both say.

    Places are quintics in the world; a turn is exp(φ) R of the point before it, with a quintic φ, so that poses, and
    their first two derivatives, are those of the points. After the last one it goes on with that one's velocity and
    acceleration for 0.1 s, as points that are sent one by one want it, and then holds the pose where it is, at rest.
    """

    def __init__(self, points: PosePoints, t: float, set_point: ArrayLike):
        start = t if points.start is None else points.start
        now = np.array(set_point, dtype=float)
        late = max(0.0, t - start)
        left = points.times > late
        self._out = np.zeros(SET_POINT_SIZE)
        knots = [(late, now)]
        for k in np.flatnonzero(left):
            knots.append((float(points.times[k]), _set_point(points, int(k))))
        if points.times[0] <= late:  # one that is wanted by now is where it begins
            knots[0] = (late, _set_point(points, int(np.flatnonzero(~left)[-1])))
        self._start, self._times = start, np.array([time for time, _ in knots])
        self._last = knots[-1][1]
        self._ways = [_Way(a, b) for a, b in pairwise(knots)]

    @property
    def goal(self) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) and quaternion (4,) where it ends."""
        end = self._beyond(GOES_ON)
        return end[POSITION : POSITION + 3].copy(), end[QUATERNION : QUATERNION + 4].copy()

    def is_over(self, t: float) -> bool:
        """Whether only its last pose is left at t [s]."""
        return t - self._start >= self._times[-1] + GOES_ON

    def at(self, t: float) -> np.ndarray:
        """(19,), valid till asked again: place, its two derivatives, quaternion, angular velocity and acceleration."""
        past = t - self._start
        if past >= self._times[-1] or not self._ways:
            return self._beyond(max(0.0, past - self._times[-1]))
        number = min(max(int(np.searchsorted(self._times, past, side="right")) - 1, 0), len(self._ways) - 1)
        self._ways[number].write(past, self._out)
        return self._out

    def _beyond(self, late: float) -> np.ndarray:
        """So long [s] after the last point: for a while it goes on as that says, then it is at rest."""
        out, last, s = self._out, self._last, min(late, GOES_ON)
        out[:] = last
        out[POSITION : POSITION + 3] += s * last[VELOCITY : VELOCITY + 3] + 0.5 * s * s * last[PUSH : PUSH + 3]
        turn = s * last[TURN : TURN + 3] + 0.5 * s * s * last[TURN_RATE : TURN_RATE + 3]
        if turn.any():
            out[QUATERNION : QUATERNION + 4] = quaternion.multiply(
                quaternion.exp(turn), last[QUATERNION : QUATERNION + 4]
            )
        out[VELOCITY : VELOCITY + 3] += s * last[PUSH : PUSH + 3]
        out[TURN : TURN + 3] += s * last[TURN_RATE : TURN_RATE + 3]
        if late >= GOES_ON:
            for first in (VELOCITY, PUSH, TURN, TURN_RATE):
                out[first : first + 3] = 0.0
        return out


class _Way:
    """From one set point to the next."""

    def __init__(self, begin: tuple[float, np.ndarray], end: tuple[float, np.ndarray]):
        (first, a), (last, b) = begin, end
        self._R = quaternion.to_matrix(a[QUATERNION : QUATERNION + 4])
        phi = so3.log(quaternion.to_matrix(b[QUATERNION : QUATERNION + 4]) @ self._R.T)
        rate = so3.dexp_inv(phi) @ b[TURN : TURN + 3]  # ω = dexp(φ) φ'
        push = so3.dexp_inv(phi) @ (b[TURN_RATE : TURN_RATE + 3] - _dexp_rate(phi, rate) @ rate)
        times = (first, last)
        self._place = TimedPoints(
            times,
            *([a[k : k + 3], b[k : k + 3]] for k in (POSITION, VELOCITY, PUSH)),
        )
        self._turn = TimedPoints(
            times, [np.zeros(3), phi], [a[TURN : TURN + 3], rate], [a[TURN_RATE : TURN_RATE + 3], push]
        )

    def write(self, t: float, out: np.ndarray) -> None:
        """Write the set point at t."""
        place, turn = self._place.at(t), self._turn.at(t)
        for first, value in zip((POSITION, VELOCITY, PUSH), place, strict=True):
            out[first : first + 3] = value
        out[QUATERNION : QUATERNION + 4] = quaternion.from_matrix(so3.exp(turn.position) @ self._R)
        D = so3.dexp(turn.position)
        out[TURN : TURN + 3] = D @ turn.velocity
        out[TURN_RATE : TURN_RATE + 3] = (
            D @ turn.acceleration + _dexp_rate(turn.position, turn.velocity) @ turn.velocity
        )


def _dexp_rate(phi: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """The derivative of dexp(φ) by time."""
    step = DIFFERENCE * rate
    return (so3.dexp(phi + step) - so3.dexp(phi - step)) / (2.0 * DIFFERENCE)


def _set_point(points: PosePoints, k: int) -> np.ndarray:
    out = np.zeros(SET_POINT_SIZE)
    out[POSITION : POSITION + 3], out[QUATERNION : QUATERNION + 4] = points.places[k], points.turns[k]
    out[VELOCITY : VELOCITY + 3], out[TURN : TURN + 3] = points.velocities[k, :3], points.velocities[k, 3:]
    out[PUSH : PUSH + 3], out[TURN_RATE : TURN_RATE + 3] = points.accelerations[k, :3], points.accelerations[k, 3:]
    return out
