# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Energy error against CPU time: our schemes of order 4 and more beside RK4, on a chain of three frictionless links.

All run for 100 s from the same state; every 0.05 s the energy of (q, v) is taken by `mbsim_ros.dynamics.energy` on all
sides, and its largest distance from the start is the error. For each step of an RK4, MuJoCo's and our own baseline,
each of ours takes the largest of a ladder of steps with no more error than that; the fastest of them is in the race.
CPU time is that of the whole run, without the energies.

The hanging `chain(3)` is released at rest from the horizontal; the free one tumbles without gravity, gently, which is
kind to RK4. 2 ms is MuJoCo's default step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from mbsim_ros.bench.peers.mujoco import MujocoRobot, Settings, specification
from mbsim_ros.bench.result import BenchGoal, Table
from mbsim_ros.bench.step_cases import Effort
from mbsim_ros.bench.timing import Contender, interleave
from mbsim_ros.dynamics import energy
from mbsim_ros.integrators.baselines.integrator import Rk4
from mbsim_ros.integrators.composition import SUBSTEPS
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.gauss.integrator import Gauss
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.assembly.builder import chain
from mbsim_ros.model.model import Model

DURATION, QUICK_DURATION, SAMPLE = 100.0, 2.0, 0.05  # s
LADDER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50)  # our steps in a sample
LIMIT = 0.8  # our CPU time over RK4's
RUNS = 5


@dataclass(frozen=True)
class Motion:
    """A chain, where it starts, the gravity, and the steps of RK4 that are looked at."""

    name: str
    model: Model
    q: np.ndarray
    v: np.ndarray
    gravity: tuple[float, float, float]
    peer_steps: tuple[float, ...]


class Side(Protocol):
    """What steps a model: an integrator of ours, or a peer."""

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,)."""

    @property
    def v(self) -> np.ndarray:
        """Velocity (nv,)."""

    def reset(self, q: np.ndarray, v: np.ndarray) -> None:
        """Start there."""

    def step(self, *, steps: int) -> None:
        """Go on."""


class OurSide(Side, Protocol):
    """One that solves its steps."""

    iterations: int


Making = Callable[[Motion, float], Side]

OURS: dict[str, Callable[[Motion, float], OurSide]] = {
    "lie_variational, order 4": lambda m, dt: LieVariational(m.model, dt, order=4, gravity=m.gravity),
    "gauss, order 6": lambda m, dt: Gauss(m.model, dt, order=6, gravity=m.gravity),
    "gauss, order 8": lambda m, dt: Gauss(m.model, dt, order=8, gravity=m.gravity),
}
SOLVES = {"lie_variational, order 4": len(SUBSTEPS[4])}  # in a step, where there are more than one
PEERS: dict[str, Making] = {
    "MuJoCo RK4": lambda m, dt: MujocoRobot(m.model, specification(m.model, dt, m.gravity), Settings("RK4")),
    "our rk4": lambda m, dt: Rk4(m.model, dt, gravity=m.gravity),
}


@dataclass(frozen=True)
class Race:
    """The fastest of ours against an RK4 at one of its steps: errors [J] and CPU seconds of the whole run.

    Where none of ours has as little error, `scheme` is empty and its time infinite.
    """

    motion: str
    duration: float
    peer: str
    peer_step: float
    peer_error: float
    peer_seconds: float
    scheme: str = ""
    step: float = math.nan
    error: float = math.inf
    seconds: float = math.inf
    iterations: float = math.nan  # per solve

    @property
    def ratio(self) -> float:
        """Our CPU time over the peer's."""
        return self.seconds / self.peer_seconds

    def record(self) -> dict[str, object]:
        """For the results file."""
        return {
            "case": f"order 4, {self.motion}", "duration_s": self.duration, "contender": self.scheme,
            "dt_s": self.step, "max_energy_error_J": self.error, "cpu_s": self.seconds,
            "iterations_per_solve": self.iterations, "peer": self.peer, "peer_dt_s": self.peer_step,
            "peer_max_energy_error_J": self.peer_error, "peer_cpu_s": self.peer_seconds,
        }  # fmt: skip


def motions() -> list[Motion]:
    """The hanging chain and the free one."""
    free = chain(3, base="floating")
    bent = free.neutral.copy()
    bent[7:] = 0.3, -0.4
    tumbling = np.array([0.1, 0.0, 0.05, 0.3, 0.5, -0.2, 0.5, -0.4])
    horizontal = np.array([0.5 * math.pi, 0.1, 0.1])
    return [
        Motion("hanging", chain(3), horizontal, np.zeros(3), (0.0, 0.0, -9.81), (0.002, 0.005, 0.01)),
        Motion("free", free, bent, tumbling, (0.0, 0.0, 0.0), (0.01, 0.02)),
    ]


def race(motion: Motion, effort: Effort) -> list[Race]:
    """One motion, at every step of every RK4."""
    duration = QUICK_DURATION if effort.quick else DURATION
    errors: dict[tuple[str, int], float] = {}

    def error(scheme: str, k: int) -> float:
        if (scheme, k) not in errors:
            errors[scheme, k] = energy_error(motion, OURS[scheme](motion, SAMPLE / k), k, duration)
        return errors[scheme, k]

    found = []
    for peer_step in motion.peer_steps[:1] if effort.quick else motion.peer_steps:
        for peer, make_peer in PEERS.items():
            per_sample = round(SAMPLE / peer_step)
            peer_error = energy_error(motion, make_peer(motion, peer_step), per_sample, duration)
            steps = {name: next((k for k in LADDER if error(name, k) <= peer_error), 0) for name in OURS}
            ours = {name: OURS[name](motion, SAMPLE / k) for name, k in steps.items() if k > 0}
            samples = round(duration / SAMPLE)
            contenders = [_whole_run(peer, make_peer(motion, peer_step), motion, samples * per_sample)]
            contenders += [_whole_run(name, side, motion, samples * steps[name]) for name, side in ours.items()]
            timings = interleave(contenders, 1 if effort.quick else RUNS, 1.0)
            run = Race(motion.name, duration, peer, peer_step, peer_error, timings[peer].median / 1e9)
            if ours:
                name = min(ours, key=lambda name: timings[name].median)
                k = steps[name]
                run = replace(
                    run, scheme=name, step=SAMPLE / k, error=error(name, k), seconds=timings[name].median / 1e9,
                    iterations=ours[name].iterations / (samples * k * SOLVES.get(name, 1)),
                )  # fmt: skip
            found.append(run)
    return found


def goals(races: list[Race]) -> list[BenchGoal]:
    """CPU time at no more error."""
    return [
        BenchGoal(
            f"order 4 and more, {each.motion} chain of 3: our CPU over that of {each.peer} at "
            f"{1e3 * each.peer_step:.3g} ms, no more error", each.ratio, LIMIT, False,
        )
        for each in races
    ]  # fmt: skip


def table(races: list[Race]) -> Table:
    """A row per race."""
    columns = ["", "peer", "its ms", "error J", "CPU s", "ours", "ms", "error J", "CPU s", "iterations", "ours over it"]
    result = Table("order 4 and more: largest energy error and CPU time", columns)
    for each in races:
        result.rows.append(
            [
                f"{each.motion}, {each.duration:g} s", each.peer, f"{1e3 * each.peer_step:.3g}",
                f"{each.peer_error:.2g}", f"{each.peer_seconds:.3g}", each.scheme, f"{1e3 * each.step:.3g}",
                f"{each.error:.2g}", f"{each.seconds:.3g}", f"{each.iterations:.2f}", f"{each.ratio:.2f}",
            ]
        )  # fmt: skip
    return result


def energy_error(motion: Motion, side: Side, per_sample: int, duration: float) -> float:
    """Largest |E − E(0)| [J] at the samples of a run [s], infinite if it diverges; `per_sample` steps between two."""
    side.reset(motion.q, motion.v)
    start, largest = _energy(motion, side), 0.0
    for _ in range(round(duration / SAMPLE)):
        try:
            side.step(steps=per_sample)
        except SimulationDiverged:
            return math.inf
        largest = max(largest, abs(_energy(motion, side) - start))
    return largest


def _energy(motion: Motion, side: Side) -> float:
    return float(energy(motion.model, side.q, side.v, gravity=motion.gravity).total)


def _whole_run(name: str, side: Side, motion: Motion, steps: int) -> Contender:
    def run(rounds: int) -> None:
        for _ in range(rounds):
            side.reset(motion.q, motion.v)
            side.step(steps=steps)

    return Contender(name, run)
