# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Angles of a walker's five motors as targets of the columns that the coupling in force has.

The gait thinks in the angles of the plain transmission. A coupling may leave motors or legs out, or drive femurs the
other way, and where it was engaged fixes what its motors count from: r = r₀ + D x. `Transmission` finds r₀ from one
state, and from then on the x that brings the joints to where the gait wants them. Where legs disagree, because one was
engaged at another angle than the others, the majority decides.
"""

from __future__ import annotations

import statistics

import numpy as np

from mbsim_ros.control.walker.geometry import WalkerGeometry
from mbsim_ros.coupling.configuration import CouplingConfiguration, named
from mbsim_ros.model.model import Model


class Transmission:
    """Between the five motors of the gait and the columns of a coupling."""

    def __init__(self, model: Model, geometry: WalkerGeometry):
        """model: the walker of this geometry; its sidecar names the couplings."""
        self._geometry = geometry
        self.couplings = named(model)
        self._place = {joint.name: joint.iv - 6 for joint in model.joints}
        self.coupling = ""
        self.motors: tuple[str, ...] = ()
        self._gain: list[float] = []
        self._zero: list[float] = []
        self._from: list[int] = []
        self.has_all = False  # whether the coupling has all five motors

    def anchor(self, coupling: str, q: np.ndarray, motor_position: np.ndarray | None) -> None:
        """Note what the motors count from: q (nq,) and positions of the columns but the base's at one instant.

        motor_position: None if the motors count from the joints' zeros.
        """
        if coupling not in self.couplings:
            known = ", ".join(self.couplings) or "none"
            raise ValueError(f"coupling: expected one of the sidecar's ({known}), got {coupling!r}")
        configuration = self.couplings[coupling]
        D = configuration.D[6:, 6:]
        r = np.asarray(q, dtype=float)[7:]
        offset = np.zeros(len(r)) if motor_position is None else r - D @ np.asarray(motor_position, dtype=float)
        self.coupling = coupling
        self.motors = tuple(motor for motor in self._geometry.motors if motor in configuration.motors)
        self.has_all = len(self.motors) == len(self._geometry.motors)
        self._gain, self._zero, self._from = [], [], []
        for motor in self.motors:
            column = configuration.column_of(motor) - 6
            signs, zeros = self._legs_of(motor, configuration, D, column, offset)
            self._gain.append(1.0 / statistics.median(signs))
            self._zero.append(statistics.median(zeros))
            self._from.append(self._geometry.motors.index(motor))

    def _legs_of(
        self, motor: str, configuration: CouplingConfiguration, D: np.ndarray, column: int, offset: np.ndarray
    ) -> tuple[list[float], list[float]]:
        """For each leg that it drives how the gait's angle follows the motor's, and the angle at the motor's zero."""
        if motor == self._geometry.waist:
            waist = self._place[self._geometry.waist_joint]
            return [float(D[waist, column])], [float(offset[waist])]
        frame = next(each for each in self._geometry.frames if motor in (each.femurs, each.shins))
        signs, zeros = [], []
        for leg in frame.legs:
            f, t = self._place[leg.femur], self._place[leg.shin]
            if motor == frame.femurs and D[f, column] != 0.0:
                signs.append(leg.lowers * float(D[f, column]))
                zeros.append(leg.lowers * float(offset[f]))
            elif motor == frame.shins and D[t, column] != 0.0:
                signs.append(leg.swings * float(D[t, column]))
                zeros.append(leg.swings * float(offset[t] + offset[f]))  # from the frame, N (29)
        if not signs:
            raise ValueError(f"coupling '{configuration.name}': motor '{motor}' drives no leg of frame {frame.name}")
        return signs, zeros

    def to_columns(self, angles: list[float], rates: list[float]) -> tuple[list[float], list[float]]:
        """Positions and velocities of `motors` for angles and rates of the gait's five."""
        positions = [
            gain * (angles[k] - zero) for gain, zero, k in zip(self._gain, self._zero, self._from, strict=True)
        ]
        return positions, [gain * rates[k] for gain, k in zip(self._gain, self._from, strict=True)]

    def table(self, targets: np.ndarray) -> np.ndarray:
        """The same for many: targets (n, 2, 5) of the gait's motors as (n, 2, columns of D), zero for the base."""
        configuration = self.couplings[self.coupling]
        rows = np.zeros((len(targets), 2, configuration.nu))
        for motor, gain, zero, k in zip(self.motors, self._gain, self._zero, self._from, strict=True):
            column = configuration.column_of(motor)
            rows[:, 0, column] = gain * (targets[:, 0, k] - zero)
            rows[:, 1, column] = gain * targets[:, 1, k]
        return rows

    def zero(self, motor: str) -> float:
        """The gait's angle of a motor at the motor's own zero, in the coupling in force; 0 for one it does not have."""
        return self._zero[self.motors.index(motor)] if motor in self.motors else 0.0

    def angles(self, q: np.ndarray) -> list[float]:
        """The gait's five angles at q (nq,), by the majority of the legs."""
        r = np.asarray(q, dtype=float)[7:]
        found = [float(r[self._place[self._geometry.waist_joint]])]
        for frame in self._geometry.frames:
            femurs = [float(r[self._place[leg.femur]]) for leg in frame.legs]
            shins = [float(r[self._place[leg.shin]]) for leg in frame.legs]
            found.append(statistics.median(leg.lowers * femur for leg, femur in zip(frame.legs, femurs, strict=True)))
            found.append(
                statistics.median(
                    leg.swings * (femur + shin) for leg, femur, shin in zip(frame.legs, femurs, shins, strict=True)
                )
            )
        return found
