# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The choice of a trajectory by parameters, the same for every controller that follows one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbsim_ros.control.controller import per_joint
from mbsim_ros.control.joints.trajectories import Hold, Sine, Step, Trajectory, Waypoints
from mbsim_ros.control.parameters import ValidatedParameters, parameter

TRAJECTORIES = ("hold", "step", "sine", "waypoints")


@dataclass(frozen=True)
class SetPointParameters(ValidatedParameters):
    """What the joints are to follow. Arrays are in the order of the model's joints, or one number for all of them."""

    trajectory: str = parameter("hold", "What the joints follow.", choices=TRAJECTORIES)
    position: tuple[float, ...] = parameter(
        (), "Where they hold, step from or swing about; empty: where they are at the first update.", "rad, m"
    )
    amplitude: tuple[float, ...] = parameter((0.2,), "Of the sine; the size of the step.", "rad, m")
    frequency: tuple[float, ...] = parameter((0.25,), "Of the sine.", "Hz", lower=0.0, upper=100.0)
    ramp: float = parameter(1.0, "Time in which the sine grows; when the step comes.", "s", lower=0.0, upper=1000.0)
    waypoints: tuple[float, ...] = parameter((), "Positions on the way, one whole set after the other.", "rad, m")
    times: tuple[float, ...] = parameter((), "Of the waypoints, from the start, increasing.", "s", lower=0.0)

    def make(self, start: np.ndarray) -> Trajectory:
        """The trajectory of joints that are at start (n,) now; ValueError if the arrays do not go with them."""
        n = len(start)
        origin = per_joint("position", self.position, n) if self.position else start
        amplitude, frequency = per_joint("amplitude", self.amplitude, n), per_joint("frequency", self.frequency, n)
        if self.trajectory == "step":
            return Step(origin, amplitude, self.ramp)
        if self.trajectory == "sine":
            return Sine(origin, amplitude, frequency, self.ramp)
        if self.trajectory == "waypoints":
            return self._through_waypoints(start)
        return Hold(origin)

    def _through_waypoints(self, start: np.ndarray) -> Trajectory:
        n, k = len(start), len(self.times)
        if k == 0 or len(self.waypoints) != k * n:
            raise ValueError(
                f"waypoints: expected {n} numbers for each of the {k} times (at least one), got {len(self.waypoints)}"
            )
        if self.times[0] <= 0.0:
            raise ValueError(f"times: expected the first after the start, at which the robot is, got {self.times[0]:g}")
        positions = np.vstack([start, np.reshape(self.waypoints, (k, n))])
        return Waypoints((0.0, *self.times), positions)
