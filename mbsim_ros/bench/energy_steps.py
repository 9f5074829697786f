# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Energy error against CPU time: our order-4 composition beside MuJoCo's RK4 on a frictionless chain of three links.

Both run for 100 s from the same state; every 0.05 s the energy of (q, v) is taken by `mbsim_ros.dynamics.energy` on
both sides, and its largest distance from the start is the error. For each of MuJoCo's steps, ours is the largest of a
ladder of steps with no more error than that. CPU time is that of the whole run, without the energies.

The goal is judged on the hanging `chain(3)`, released at rest from the horizontal, with MuJoCo at 2 ms, its default
step. Gentler motions are kinder to RK4, as the free chain shows, which tumbles without gravity; it has no goal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mbsim_ros.bench.peers.mujoco import MujocoRobot, Settings, specification
from mbsim_ros.bench.result import BenchGoal, Table
from mbsim_ros.bench.step_cases import OURS, Effort
from mbsim_ros.bench.timing import Contender, interleave
from mbsim_ros.dynamics import energy
from mbsim_ros.integrators.composition import SUBSTEPS
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.assembly.builder import chain
from mbsim_ros.model.model import Model

DURATION, QUICK_DURATION, SAMPLE = 100.0, 2.0, 0.05  # s
LADDER = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50)  # our steps in a sample
JUDGED_STEP = 0.002  # s, of MuJoCo
RUNS = 5


@dataclass(frozen=True)
class Motion:
    """A chain, where it starts, the gravity, and the steps of MuJoCo that are looked at."""

    name: str
    model: Model
    q: np.ndarray
    v: np.ndarray
    gravity: tuple[float, float, float]
    peer_steps: tuple[float, ...]


@dataclass(frozen=True)
class Race:
    """Ours against MuJoCo at one of its steps: errors [J] and CPU seconds of the whole run."""

    motion: str
    duration: float
    peer_step: float
    peer_error: float
    peer_seconds: float
    step: float
    error: float
    seconds: float
    iterations: float  # per substep

    def record(self) -> dict[str, object]:
        """For the results file."""
        return {
            "case": f"order 4, {self.motion}", "duration_s": self.duration, "contender": OURS, "dt_s": self.step,
            "max_energy_error_J": self.error, "cpu_s": self.seconds, "iterations_per_substep": self.iterations,
            "peer": "MuJoCo RK4", "peer_dt_s": self.peer_step, "peer_max_energy_error_J": self.peer_error,
            "peer_cpu_s": self.peer_seconds,
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
    """One motion, at every step of MuJoCo; a step whose error ours does not reach is left out."""
    duration = QUICK_DURATION if effort.quick else DURATION
    errors: dict[int, float] = {}

    def error(k: int) -> float:
        if k not in errors:
            errors[k] = energy_error(motion, _ours(motion, SAMPLE / k), k, duration)
        return errors[k]

    found = []
    for peer_step in motion.peer_steps[:1] if effort.quick else motion.peer_steps:
        per_sample = round(SAMPLE / peer_step)
        peer_error = energy_error(motion, _peer(motion, peer_step), per_sample, duration)
        k = next((k for k in LADDER if error(k) <= peer_error), None)
        if k is None:
            continue
        ours, peer = _ours(motion, SAMPLE / k), _peer(motion, peer_step)
        contenders = [
            _whole_run(OURS, ours, motion, round(duration / SAMPLE) * k),
            _whole_run("peer", peer, motion, round(duration / SAMPLE) * per_sample),
        ]
        timings = interleave(contenders, 1 if effort.quick else RUNS, 1.0)
        iterations = ours.iterations / (round(duration / SAMPLE) * k * len(SUBSTEPS[4]))
        found.append(
            Race(
                motion.name, duration, peer_step, peer_error, timings["peer"].median / 1e9, SAMPLE / k, error(k),
                timings[OURS].median / 1e9, iterations,
            )
        )  # fmt: skip
    return found


def goals(races: list[Race]) -> list[BenchGoal]:
    """CPU time at no more error, where it is judged."""
    what = "order 4, hanging chain of 3: our CPU over MuJoCo RK4's, no more error"
    return [
        BenchGoal(what, each.seconds / each.peer_seconds, 1.0, False)
        for each in races
        if each.motion == "hanging" and each.peer_step == JUDGED_STEP
    ]


def table(races: list[Race]) -> Table:
    """A row per race."""
    columns = ["", "MuJoCo RK4 ms", "error J", "CPU s", "our ms", "error J", "CPU s", "iterations", "ours over it"]
    result = Table("order 4: largest energy error and CPU time", columns)
    for each in races:
        result.rows.append(
            [
                f"{each.motion}, {each.duration:g} s", f"{1e3 * each.peer_step:.3g}", f"{each.peer_error:.2g}",
                f"{each.peer_seconds:.3g}", f"{1e3 * each.step:.3g}", f"{each.error:.2g}", f"{each.seconds:.3g}",
                f"{each.iterations:.2f}", f"{each.seconds / each.peer_seconds:.2f}",
            ]
        )  # fmt: skip
    return result


def _ours(motion: Motion, dt: float) -> LieVariational:
    return LieVariational(motion.model, dt, order=4, gravity=motion.gravity)


def _peer(motion: Motion, dt: float) -> MujocoRobot:
    return MujocoRobot(motion.model, specification(motion.model, dt, motion.gravity), Settings("RK4"))


class Side(Protocol):
    """What steps a model: an integrator of ours, or the peer."""

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
