# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots that fly freely at random speeds: whether any state that a simulation gives out has made energy from nothing.

Without forces the kinetic energy stays what it was. Each run begins in a random state and goes on for some seconds; its
worst energy error is that of every single state. A run that cannot go on has to say so before the error is large, and
the dt that it proposes has to do.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mbsim_ros.bench.silence import silent_log
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.sim.simulation import Simulation

SPEEDS = (0.3, 1.0, 3.0, 6.0, 10.0)  # rad/s, root mean square of joints and of the base's rotation
STEPS = (0.001, 0.002, 0.004, 0.005, 0.01, 0.015, 0.02)  # s
SECONDS = 10.0
LARGEST_ERROR = 0.05  # of the energy, that a state may have which is given out
SLIDE = 0.1  # m/s of a sliding joint for 1 rad/s of the others: without stops a fast hand flings its fingers off anyway
SPREAD = 0.5  # rad that joints are off their neutral place at the start, at most; slides SLIDE times that, in m


@dataclass(frozen=True)
class Flight:
    """One run: what it was, and what came of it."""

    robot: str
    speed: float  # rad/s
    dt: float  # s
    seed: int
    worst: float = 0.0  # energy error of the worst state, a part of the energy
    ended: float | None = None  # s at which it could not go on, None if it went to the end
    message: str = ""
    proposed_dt: float | None = None
    in_parts: int = 0  # steps that were taken in parts
    steps: int = 0
    is_finite: bool = True

    @property
    def is_well(self) -> bool:
        """Whether no state that was given out has made or lost more energy than allowed."""
        return self.is_finite and self.worst <= LARGEST_ERROR


def plan(robots: Sequence[str], seed: int = 0) -> Iterator[Flight]:
    """All runs of these robots."""
    for number, robot in enumerate(robots):
        for i, speed in enumerate(SPEEDS):
            for k, dt in enumerate(STEPS):
                yield Flight(robot, speed, dt, ((seed * 1000 + number) * len(SPEEDS) + i) * len(STEPS) + k)


def load_floating(path: Path) -> Model:
    """A robot whose root floats, whatever its file is not perfect in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_urdf(path, base="floating")


def fly(model: Model, flight: Flight, seconds: float = SECONDS) -> Flight:
    """Run it; and where it ends early, once more with the dt that it proposes, which has to do."""
    with silent_log():
        done = _fly(model, flight, seconds)
        if done.ended is None or done.proposed_dt is None:
            return done
        again = _fly(model, replace(flight, dt=done.proposed_dt), seconds)
    if again.ended is not None or not again.is_well:
        message = f"{done.message} [and dt = {done.proposed_dt:g} s does not do: {again.message}]"
        return replace(done, message=message, worst=max(done.worst, again.worst), proposed_dt=None)
    return done


def _fly(model: Model, flight: Flight, seconds: float) -> Flight:
    sim = weightless(model, flight.dt)
    rng = np.random.default_rng(flight.seed)
    sim.reset(*random_start(rng, model, flight.speed))
    start = sim.energy().total
    worst, ended, error, finite = 0.0, None, None, True
    for _ in range(round(seconds / flight.dt)):
        try:
            sim.step()
        except SimulationDiverged as found:
            ended, error = sim.seconds, found
            break
        energy = sim.energy().total
        finite = finite and math.isfinite(energy) and bool(np.isfinite(sim.q).all())
        worst = max(worst, abs(energy - start) / start)
    return replace(
        flight, worst=worst, ended=ended, message="" if error is None else str(error), is_finite=finite,
        proposed_dt=None if error is None else error.proposed_dt, in_parts=sim.integrator.counts.halvings,
        steps=sim.integrator.step_count,
    )  # fmt: skip


def weightless(model: Model, dt: float) -> Simulation:
    """A simulation in which nothing acts on the robot: no weight, ground, stops, damping, friction or springs."""
    sim = Simulation(model, dt=dt, gravity=(0.0, 0.0, 0.0), terrain=False, springs=(), stops=False)
    sim.integrator.joints.damping[:] = 0.0
    sim.integrator.joints.friction[:] = 0.0
    return sim


def random_start(rng: np.random.Generator, model: Model, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Any orientation, joints off their neutral place, and velocities of this size; the base is at rest but turns."""
    q, v = model.neutral.copy(), rng.normal(size=model.nv) * speed
    for joint in model.joints:
        reach = SLIDE if joint.type == "prismatic" else 1.0
        if joint.iv >= 0:
            v[joint.iv : joint.iv + joint.nv] *= reach
        if joint.nq == 1 and joint.iq >= 0:
            q[joint.iq] += reach * rng.uniform(-SPREAD, SPREAD)
    orientation = rng.normal(size=4)
    q[3:7] = orientation / np.linalg.norm(orientation)
    v[:3] = 0.0
    return q, v
