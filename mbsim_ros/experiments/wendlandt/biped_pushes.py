# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What W's biped survives: the largest push for every direction, found by pushing a standing robot ever harder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.dynamics import link_pose
from mbsim_ros.experiments.experiment import Progress
from mbsim_ros.experiments.figures import COLOURS, PRINTED, panels
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.experiments.wendlandt.biped_runs import CONTROL_PERIOD, controller_for
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.snapshots.snapshot import Snapshot

MIDDLE = (-0.035, 0.0, 1.08)  # m: the centre of pressure is then at the middle of the soles
PUSH_LASTS = 0.1  # s
WATCHED_FOR = 3.0  # s after a push
COARSE, FINE = 4.0, 0.5  # N s: steps upwards, and how well the limit is found
MOST = 60.0  # N s
DIRECTIONS = np.linspace(0.0, np.pi, 9)  # rad from forward to the left; the robot is symmetric
AT_REST = 1e-3  # m, m/s


class PushedBiped:
    """The biped at rest over the middle of its soles, to be pushed again and again."""

    def __init__(self, **parameters: Any):
        self._parameters = {"position": MIDDLE, "rpy": (0.0, 0.0, 0.0), **parameters}
        self._sim = Simulation(document_robot("biped"))
        self._sim.reset("standing")
        first = controller_for(self._sim.model, **self._parameters, move_time=0.5)
        self._sim.run(2.0, first, control_period=CONTROL_PERIOD)
        self._standing: Snapshot = self._sim.snapshot()

    def survives(self, impulse: float, direction: float, lasts: float = PUSH_LASTS) -> bool:
        """Whether it comes to rest at its set point after a push at its centre of mass [N s], from forward [rad]."""
        sim = self._sim
        sim.restore(self._standing)
        controller = controller_for(sim.model, **self._parameters)
        R = link_pose(sim.model, sim.q, "base_link")[:3, :3]
        force = impulse / lasts * np.array([np.cos(direction), np.sin(direction), 0.0])
        try:
            sim.push("base_link", force=R.T @ force)
            sim.run(lasts, controller, control_period=CONTROL_PERIOD)
            sim.push("base_link", None)
            for _ in range(round(WATCHED_FOR / 0.1)):
                sim.run(0.1, controller, control_period=CONTROL_PERIOD)
                if controller.has_fallen:
                    return False
                if np.linalg.norm(controller.position_error) < AT_REST and np.linalg.norm(sim.v) < AT_REST:
                    return True
        except SimulationDiverged:  # thrown about so that no step can be solved
            return False
        finally:
            sim.push("base_link", None)
        return False

    def largest_push(self, direction: float, lasts: float = PUSH_LASTS) -> float:
        """The largest impulse that is survived [N s], found to FINE: all that are smaller by COARSE steps were, too."""
        low = 0.0
        while low < MOST and self.survives(low + COARSE, direction, lasts):
            low += COARSE
        high = low + COARSE
        while high - low > FINE:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.survives(middle, direction, lasts) else (low, middle)
        return low


def push_map(
    parameters: Mapping[str, object], progress: Progress, begin: float, end: float, what: str,
    lasts: float = PUSH_LASTS,
) -> np.ndarray:  # fmt: skip
    """The largest survived impulse (DIRECTIONS,) [N s] of pushes that last so long [s]; progress from begin to end."""
    biped = PushedBiped(**parameters)
    found = []
    for k, direction in enumerate(DIRECTIONS):
        progress(begin + (end - begin) * k / len(DIRECTIONS), f"pushes, {what}")
        found.append(biped.largest_push(float(direction), lasts))
    return np.array(found)


def push_figure(maps: Mapping[str, np.ndarray]) -> Figure:
    """The maps by name, as a polar plot with forward upwards."""
    title = "The largest push that it survives [N s], by direction"
    figure, axes = panels(1, 1, title=title, size=(8.5, 8.0), subplot_kw={"projection": "polar"})
    axis = axes[0, 0]
    axis.set_theta_zero_location("N")
    round_the_clock = np.concatenate([DIRECTIONS, 2.0 * np.pi - DIRECTIONS[-2::-1]])
    for k, (name, found) in enumerate(maps.items()):
        axis.plot(round_the_clock, np.concatenate([found, found[-2::-1]]), "-o", color=COLOURS[k], label=name)
    circle = np.linspace(0.0, 2.0 * np.pi, 181)
    axis.plot(circle, np.full_like(circle, 15.0), **PRINTED, label="15 N s")
    names = ("forward", "", "left", "", "backward", "", "right", "")
    axis.set_thetagrids(np.arange(0, 360, 45), names)
    axis.tick_params(axis="x", pad=14)
    axis.set_rlabel_position(157.5)
    figure.legend(loc="outside lower center", ncols=len(maps) + 1, frameon=False)
    return figure
