# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Motions for joints to follow: position, velocity and acceleration as functions of time."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.jit import kernel


class SetPoint(NamedTuple):
    """Where the joints should be, each (n,)."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class Trajectory(Protocol):
    """A motion that begins at t = 0 [s]."""

    def at(self, t: float) -> SetPoint:
        """The set point at t."""


class Hold:
    """A position for good."""

    def __init__(self, position: np.ndarray):
        still = np.zeros(len(position))
        self._set_point = SetPoint(np.array(position, dtype=float), still, still)

    def at(self, t: float) -> SetPoint:
        """The set point at t."""
        return self._set_point


class Step:
    """A position, and from a time on another that is `size` (n,) away; the velocity between them is not asked for."""

    def __init__(self, position: np.ndarray, size: np.ndarray, time: float):
        self._before, self._after, self._time = Hold(position), Hold(position + size), time

    def at(self, t: float) -> SetPoint:
        """The set point at t."""
        return (self._before if t < self._time else self._after).at(t)


class Sine:
    """centre + s(t) amplitude sin(2π frequency t), where s goes from 0 to 1 in `ramp` seconds: it starts at rest.

    centre and amplitude are (n,), frequency [Hz] is (n,) or one for all. With ramp = 0 it starts at full speed.
    """

    def __init__(self, centre: np.ndarray, amplitude: np.ndarray, frequency: np.ndarray | float, ramp: float = 0.0):
        self._centre, self._amplitude = np.array(centre, dtype=float), np.array(amplitude, dtype=float)
        self._rate = np.full(len(self._centre), 2.0 * np.pi) * frequency
        self._ramp = ramp

    def at(self, t: float) -> SetPoint:
        """The set point at t."""
        s, ds, dds = 1.0, 0.0, 0.0
        if t < self._ramp:
            s, ds, dds = smooth_step(t / self._ramp)
            ds, dds = ds / self._ramp, dds / self._ramp**2
        found = np.empty((3, len(self._centre)))
        sine_into(t, self._centre, self._amplitude, self._rate, s, ds, dds, found)
        return SetPoint(found[0], found[1], found[2])


class Waypoints:
    """Quintics through positions (k, n) at increasing times (k,), at rest before the first and after the last.

    On the way it passes a waypoint without acceleration, with the mean speed of the two stretches that meet there; a
    joint that turns round there, or pauses, does so at rest. Velocity and acceleration are continuous.
    """

    def __init__(self, times: ArrayLike, positions: ArrayLike):
        times, positions = np.array(times, dtype=float), np.array(positions, dtype=float)
        if times.ndim != 1 or len(times) < 2 or positions.ndim != 2 or len(positions) != len(times):
            raise ValueError(
                f"times, positions: expected (k,) and (k, n) with k > 1, got {times.shape} and {positions.shape}"
            )
        if not (np.diff(times) > 0.0).all():
            raise ValueError(f"times: expected increasing ones, got {times.tolist()}")
        slopes = np.diff(positions, axis=0) / np.diff(times)[:, None]
        velocities = np.zeros_like(positions)
        velocities[1:-1] = np.where(slopes[1:] * slopes[:-1] > 0.0, 0.5 * (slopes[1:] + slopes[:-1]), 0.0)
        nodes = np.stack([positions, velocities, np.zeros_like(positions)], axis=1)
        self._first, self._last = times[0], times[-1]
        from scipy.interpolate import BPoly  # here, for other trajectories not to wait for it

        self._position = BPoly.from_derivatives(times, nodes)
        self._velocity, self._acceleration = self._position.derivative(1), self._position.derivative(2)

    def at(self, t: float) -> SetPoint:
        """The set point at t."""
        at = min(max(t, self._first), self._last)
        return SetPoint(self._position(at), self._velocity(at), self._acceleration(at))


class TimedPoints:
    """Positions (k, n) at increasing times (k,), with velocities and accelerations (k, n) where these are given.

    Between two points each joint is on the polynomial of least degree that has what both say: a straight line, a cubic
    with velocities, a quintic with accelerations, too. At rest before the first point and after the last.
    """

    def __init__(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
    ):
        self.times, self.positions = np.array(times, dtype=float), np.array(positions, dtype=float)
        said = [self.positions]
        for values in (velocities, accelerations):
            if values is None:
                break
            said.append(np.array(values, dtype=float))
        for name, values in zip(("positions", "velocities", "accelerations"), said, strict=False):
            if values.ndim != 2 or len(values) != len(self.times) or values.shape != self.positions.shape:
                wanted = (len(self.times), self.positions.shape[-1])
                raise ValueError(f"{name}: expected {wanted} for {len(self.times)} times, got {values.shape}")
        if len(self.times) < 2 or not (np.diff(self.times) > 0.0).all():
            raise ValueError(f"times: expected two or more that increase, got {self.times.tolist()}")
        from scipy.interpolate import BPoly  # here, for other trajectories not to wait for it

        self._position = BPoly.from_derivatives(self.times, np.stack(said, axis=1))
        self._velocity, self._acceleration = self._position.derivative(1), self._position.derivative(2)

    def at(self, t: float) -> SetPoint:
        """The set point at t."""
        still = np.zeros(self.positions.shape[1])
        if t < self.times[0]:
            return SetPoint(self.positions[0].copy(), still, still)
        if t >= self.times[-1]:
            return SetPoint(self.positions[-1].copy(), still, still)
        return SetPoint(self._position(t), self._velocity(t), self._acceleration(t))


@kernel
def sine_into(t, centre, amplitude, rate, s, ds, dds, found):
    """Set points (3, n) of sines whose amplitude has the factor s with the derivatives ds and dds now."""
    for i in range(centre.shape[0]):
        w = rate[i]
        A, B = amplitude[i] * math.sin(w * t), amplitude[i] * math.cos(w * t)
        found[0, i] = centre[i] + s * A
        found[1, i] = ds * A + s * w * B
        found[2, i] = dds * A + 2.0 * ds * w * B - s * w * w * A


def smooth_step(x: float) -> tuple[float, float, float]:
    """The quintic from 0 at x = 0 to 1 at x = 1, with no velocity or acceleration at both, and its two derivatives."""
    return (
        x**3 * (10.0 - 15.0 * x + 6.0 * x * x),
        30.0 * x * x * (1.0 - x) ** 2,
        60.0 * x * (1.0 - x) * (1.0 - 2.0 * x),
    )
