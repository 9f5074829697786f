# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Blocks of all speeds thrown at W's biped: up to which it recovers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Progress
from mbsim_ros.experiments.figures import COLOURS, PRINTED, label, panels
from mbsim_ros.experiments.wendlandt.biped_runs import BLOCK, CONTROL_PERIOD, begin_experiment, of_biped
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.sim.simulation import Simulation

PUBLISHED_SPEED = 4.5  # m/s
SPEEDS = (1.5, 3.0, 4.5, 5.25, 6.0, 6.75, 7.5, 9.0, 10.5)  # m/s
UPWARD = 0.2  # m/s, as published
RECOVERED = 1e-2  # m
WATCHED_FOR = 3.0  # s


@dataclass(frozen=True)
class Hit:
    """What became of one throw."""

    speed: float  # m/s
    way: float  # m: the farthest that the body was from its set point once the block was there
    recovered: bool


def throw(speed: float, **parameters: Any) -> Hit:
    """Experiment 2 with a block of another speed."""
    _, sim, controller = begin_experiment(2, **parameters)
    sim.reset(sim.q, with_block_speed(sim, speed))
    way = 0.0
    try:
        for _ in range(round(WATCHED_FOR / 0.01)):
            sim.run(0.01, of_biped(sim, controller), control_period=CONTROL_PERIOD)
            if sim.seconds > 0.4:  # the set point itself is reached by then
                way = max(way, float(np.linalg.norm(controller.position_error)))
            if controller.has_fallen:
                return Hit(speed, way, False)
    except SimulationDiverged:
        return Hit(speed, way, False)
    return Hit(speed, way, bool(np.linalg.norm(controller.position_error) < RECOVERED))


def with_block_speed(sim: Simulation, speed: float) -> np.ndarray:
    """Velocities (nv,) of now, but the block flies forward at this speed [m/s] and upward as published."""
    assert sim.entities is not None
    changed = sim.v
    changed[sim.entities[BLOCK].in_v[:3]] = speed, 0.0, UPWARD  # its axes are those of the world
    return changed


def sweep(
    parameters: Mapping[str, object], progress: Progress, begin: float, end: float, what: str,
    speeds: Sequence[float] = SPEEDS,
) -> list[Hit]:  # fmt: skip
    """All speeds [m/s], from slow to fast; progress goes from begin to end."""
    hits = []
    for k, speed in enumerate(sorted(speeds)):
        progress(begin + (end - begin) * k / len(speeds), f"block at {speed:g} m/s, {what}")
        hits.append(throw(speed, **parameters))
    return hits


def fastest_survived(hits: list[Hit]) -> float:
    """The largest speed up to which all were survived [m/s], 0 if not even the first."""
    fastest = 0.0
    for hit in hits:
        if not hit.recovered:
            break
        fastest = hit.speed
    return fastest


def sweep_figure(sweeps: Mapping[str, list[Hit]]) -> Figure:
    """How far the body is driven from its set point, and who falls."""
    figure, axes = panels(1, 1, title="Experiment 2 with other speeds of the block", size=(9.5, 5.2))
    axis = axes[0, 0]
    for k, (name, hits) in enumerate(sweeps.items()):
        stood = [hit for hit in hits if hit.recovered]
        fell = [hit.speed for hit in hits if not hit.recovered]
        axis.plot([hit.speed for hit in stood], [1e3 * hit.way for hit in stood], "-o", color=COLOURS[k], label=name)
        level = 0.97 - 0.06 * k
        axis.plot(
            fell, [level] * len(fell), "x", markersize=9, markeredgewidth=2.5, color=COLOURS[k],
            transform=axis.get_xaxis_transform(), label=f"{name}: falls",
        )  # fmt: skip
    axis.axvline(PUBLISHED_SPEED, **PRINTED, label="published")
    axis.set_ylim(0.0, 1.2 * axis.get_ylim()[1])  # room for those who fall
    label(axis, "speed of the block [m/s]", "error after 0.4 s, at most [mm]", loc="lower right")
    return figure
