# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where a body should be: a pose to hold, the way from one to the next, and a swing about it, with its derivatives."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from transforms3d.quaternions import axangle2quat, qconjugate, qmult, quat2axangle

from mbsim_ros.control.balance.desired_wrench_kernel import (
    POSITION,
    PUSH,
    QUATERNION,
    SET_POINT_SIZE,
    TURN,
    TURN_RATE,
    VELOCITY,
)


class PoseMotion:
    """A pose in the world that moves: `at(t)` gives its place, its turn and their first two derivatives.

    It steps to a pose, or goes there in a given time along a line and about an axis that stay, with the least jerk
    (10 s³ − 15 s⁴ + 6 s⁵), and may swing: by amplitude (3,) [m] and turn (3,) [rad], each times sin(2π f t), begun
    gently within the first period. All in world axes; quaternions are (w, x, y, z).
    """

    def __init__(self, position: ArrayLike, quaternion: ArrayLike):
        self._out = np.zeros(SET_POINT_SIZE)
        self._start = self._end = 0.0
        self._from = self._to = np.array(position, dtype=float)
        self._from_turn = self._to_turn = _unit(quaternion)
        self._axis, self._angle = np.array([1.0, 0.0, 0.0]), 0.0
        self._amplitude, self._turn, self._frequency = np.zeros(3), np.zeros(3), 0.0
        self._swing_start = 0.0

    @property
    def goal(self) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) and quaternion (4,) where it ends, without the swing."""
        return self._to, self._to_turn

    def go_to(self, t: float, position: ArrayLike, quaternion: ArrayLike, duration: float = 0.0) -> None:
        """From t [s] on be at this pose (duration 0), or go there from where the motion, less its swing, is at t."""
        where, turn, *_ = self._way(t)
        self._to, self._to_turn = np.array(position, dtype=float), _unit(quaternion)
        self._from, self._from_turn = (where, turn) if duration > 0.0 else (self._to, self._to_turn)
        self._start, self._end = t, t + duration
        relative = qmult(self._to_turn, qconjugate(self._from_turn))
        self._axis, self._angle = quat2axangle(relative if relative[0] >= 0.0 else -relative)

    def swing(self, t: float, amplitude: ArrayLike, turn: ArrayLike, frequency: float) -> None:
        """From t [s] on swing about the pose; frequency [Hz] 0 for not at all."""
        self._amplitude, self._turn = np.array(amplitude, dtype=float), np.array(turn, dtype=float)
        self._frequency, self._swing_start = frequency, t

    def at(self, t: float) -> np.ndarray:
        """(19,), valid till asked again: place, its two derivatives, quaternion, angular velocity and acceleration."""
        out = self._out
        if self._frequency == 0.0 and t >= self._end:
            out[:] = 0.0
            out[POSITION : POSITION + 3], out[QUATERNION : QUATERNION + 4] = self._to, self._to_turn
            return out
        where, turn, rate, push, spin, spin_rate = self._way(t)
        if self._frequency > 0.0:
            s, ds, dds = self._wave(t - self._swing_start)
            where, rate, push = where + s * self._amplitude, rate + ds * self._amplitude, push + dds * self._amplitude
            angle = float(np.linalg.norm(self._turn))
            if angle > 0.0:
                # R = exp(s a) R_way: ω = ṡ a + exp(s a) ω_way, and its derivative
                more = axangle2quat(self._turn, s * angle)
                turn = qmult(more, turn)
                carried, own = _turned(more, spin), ds * self._turn
                spin_rate = dds * self._turn + _turned(more, spin_rate) + np.cross(own, carried)
                spin = own + carried
        out[POSITION : POSITION + 3], out[VELOCITY : VELOCITY + 3], out[PUSH : PUSH + 3] = where, rate, push
        out[QUATERNION : QUATERNION + 4] = turn
        out[TURN : TURN + 3], out[TURN_RATE : TURN_RATE + 3] = spin, spin_rate
        return out

    def _way(self, t: float) -> tuple[np.ndarray, ...]:
        """Pose and derivatives without the swing."""
        duration = self._end - self._start
        if t >= self._end or duration <= 0.0:
            none = np.zeros(3)
            return self._to, self._to_turn, none, none, none, none
        x = max(0.0, (t - self._start) / duration)
        s = x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)
        ds = 30.0 * x * x * (1.0 - x) ** 2 / duration
        dds = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / duration**2
        way, axis = self._to - self._from, self._angle * self._axis
        turn = qmult(axangle2quat(self._axis, s * self._angle), self._from_turn)
        return self._from + s * way, turn, ds * way, dds * way, ds * axis, dds * axis

    def _wave(self, t: float) -> tuple[float, float, float]:
        """g(t) sin(2π f t) and derivatives, where g goes from 0 to 1 within the first period."""
        w = 2.0 * math.pi * self._frequency
        sine, cosine = math.sin(w * t), math.cos(w * t)
        x = self._frequency * t
        if x >= 1.0:
            return sine, w * cosine, -w * w * sine
        f = self._frequency
        g, dg, ddg = (
            x * x * x * (10 - 15 * x + 6 * x * x),
            30 * f * (x * (1 - x)) ** 2,
            60 * f * f * x * (1 - x) * (1 - 2 * x),
        )
        return g * sine, dg * sine + g * w * cosine, ddg * sine + 2 * dg * w * cosine - g * w * w * sine


def _unit(quaternion: ArrayLike) -> np.ndarray:
    given = np.array(quaternion, dtype=float)
    size = float(np.linalg.norm(given))
    if given.shape != (4,) or not 1e-6 < size < math.inf:
        raise ValueError(f"quaternion: expected four numbers (w, x, y, z), not all zero, got {quaternion!r}")
    return given / size


def _turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    twice = 2.0 * np.cross(quaternion[1:], vector)
    return np.asarray(vector + quaternion[0] * twice + np.cross(quaternion[1:], twice))
