# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Lowering the feet of one frame on ground that is not flat: each femur is braked where its own foot has touched down.

The femurs of a frame have one motor, so they turn alike. What makes their feet stand at different heights is a
brake: a leg whose foot feels the ground is taken off the motor (N 26: its row of D loses the entry, so D has the same
columns and one joint less on one of them) while the motor goes on to lower the others. When all have touched down the
motor takes all of them again; what each is apart from the others then, r − D x, stays through the stroke and
the next swing, until that leg touches down elsewhere. The last leg needs no brake: the motor itself stands still.

Between the first touch-down and the last the other frame carries the robot, so the new feet hardly carry anything
yet. A preload, all of them pushed down together, loads them before the other frame lifts its feet: then their contacts
are compressed by more than the legs differ, and all carry.

A tilt of the body is taken out by footholds: a leg under the low side is braked a little later than it touches.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import combinations

import numpy as np

from mbsim_ros.control.joints.quintic import Quintic
from mbsim_ros.control.walker.geometry import WalkerGeometry, WalkingFrame
from mbsim_ros.control.walker.parameters import WalkerGaitParameters
from mbsim_ros.coupling.configuration import CouplingConfiguration

RAMP = 0.05  # [s] in which lowering picks up speed


class BrakedCouplings:
    """Names of the couplings in which femurs are braked, by the legs of a frame that they brake.

    Such a coupling is known by what it does: it locks femurs of one frame, takes their legs off the motor of that
    frame's femurs, and changes nothing else of the coupling with all motors.
    """

    def __init__(self, geometry: WalkerGeometry, couplings: Mapping[str, CouplingConfiguration]):
        self._geometry = geometry
        self.all_driven = geometry.coupling
        self._names = {frozenset[str](): geometry.coupling}
        for name, coupling in couplings.items():
            legs = _braked_legs(geometry, couplings[geometry.coupling], coupling)
            if legs:
                self._names.setdefault(legs, name)

    def name(self, legs: Collection[str]) -> str:
        """The coupling in which the femurs of these legs, and no others, are braked."""
        return self._names[frozenset(legs)]

    def missing(self) -> list[tuple[str, ...]]:
        """Sets of legs that a landing may have to brake, and for which there is no coupling."""
        found = []
        for frame in self._geometry.frames:
            names = [leg.name for leg in frame.legs]
            for count in range(1, len(names)):
                found += [legs for legs in combinations(names, count) if frozenset(legs) not in self._names]
        return found


def _braked_legs(
    geometry: WalkerGeometry, whole: CouplingConfiguration, coupling: CouplingConfiguration
) -> frozenset[str]:
    """The legs whose femurs this coupling brakes; none where it does anything else."""
    legs = {leg.femur: (leg, frame) for frame in geometry.frames for leg in frame.legs}
    if not coupling.locked or coupling.motors != whole.motors or not set(coupling.locked) <= set(legs):
        return frozenset()
    D = whole.D
    for femur in coupling.locked:
        leg, frame = legs[femur]
        rows = [coupling.model.joint(name).iv for name in (leg.femur, leg.shin)]
        D[rows, whole.column_of(frame.femurs)] = 0.0
    is_same = coupling.column_names == whole.column_names and bool((coupling.D == D).all())
    return frozenset(legs[femur][0].name for femur in coupling.locked) if is_same else frozenset()


class Landing:
    """Lowers the feet of a frame; `angle` and `rate` are the targets of its femur motor, `coupling` is wanted.

    angle counts as the gait does at the present coupling: `shift` says that it counts from elsewhere.
    """

    def __init__(
        self, frame: WalkingFrame, braked: BrakedCouplings, angle: float, lowest: float, tilt: tuple[float, float],
        p: WalkerGaitParameters,
    ):  # fmt: skip
        """angle: of the femur motor where it begins; lowest: how far the feet may go [m]; tilt: roll and pitch."""
        self.frame, self.angle, self.rate, self.coupling = frame, angle, 0.0, braked.all_driven
        self._p, self._couplings, self._lowest = p, braked, lowest
        self._time = self._way = 0.0  # [s, m] since it began
        self._touched: dict[str, float] = {}  # leg → way at its touch-down
        self._later = later_braking(frame, tilt, p)
        self._preload: Quintic | None = None
        self.is_done = False

    @property
    def touched(self) -> tuple[str, ...]:
        """Legs that have touched down so far."""
        return tuple(self._touched)

    def shift(self, by: float) -> None:
        """The motor's angle counts from elsewhere, as after a leg has been braked."""
        self.angle += by

    def update(self, dt: float, coupling: str, forces: Mapping[str, float]) -> None:
        """Go on by dt [s], with this coupling in force and these forces under the feet [N]."""
        self._time += dt
        if self._preload is None:
            self._lower(dt, forces)
        else:
            self._push(dt, coupling)

    def _lower(self, dt: float, forces: Mapping[str, float]) -> None:
        moved = dt * self.rate
        self.angle += moved
        self._way += moved * self.frame.femur * math.cos(self.angle)
        for leg in self.frame.legs:
            if leg.name not in self._touched and forces.get(leg.name, 0.0) >= self._p.touch_force:
                self._touched[leg.name] = self._way
        stands = tuple(leg for leg, way in self._touched.items() if self._way - way >= self._later[leg])
        if len(stands) == len(self._later) or self._way >= self._lowest:
            self.coupling, self.rate = self._couplings.all_driven, 0.0
            self._preload = Quintic(0.0, self._p.preload_time, 0.0, self._p.preload)
            self._time = 0.0
            return
        self.coupling = self._couplings.name(stands)
        self.rate = self._p.lowering_speed * min(1.0, self._time / RAMP) / (self.frame.femur * math.cos(self.angle))

    def _push(self, dt: float, coupling: str) -> None:
        assert self._preload is not None
        if coupling != self._couplings.all_driven:  # the motor does not have all legs yet
            self._time, self.rate = 0.0, 0.0
            return
        self.angle += dt * self.rate
        _, speed = self._preload.at(self._time)
        self.rate = speed / (self.frame.femur * math.cos(self.angle))
        self.is_done = self._time >= self._preload.end


def later_braking(frame: WalkingFrame, tilt: tuple[float, float], p: WalkerGaitParameters) -> dict[str, float]:
    """How much further each leg is lowered after its touch-down to take out a tilt, roll and pitch [rad], by leg [m].

    A turn of the body by −roll and −pitch raises its point (x, y) by −roll y + pitch x.
    """
    roll, pitch = tilt
    raised = {leg.name: p.levelling * (-roll * leg.y + pitch * leg.x) for leg in frame.legs}
    least = min(raised.values())
    return {leg: min(way - least, p.largest_levelling) for leg, way in raised.items()}


def tilt(q: np.ndarray) -> tuple[float, float]:
    """Roll and pitch of the base at q (nq,) [rad]."""
    x, y, z, w = (float(value) for value in q[3:7])
    return math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)), math.asin(2.0 * (w * y - z * x))
