# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Steps of hanging chains that swing gently: how the time grows with the number of links.

`chain(n)`, rods of 1 m and 1 kg on alternating x and y axes, without damping. At s = (i + ½)/n along the chain joint i
starts at (π/2)(A/n) cos(π s/2), so that the chain bends by A/2 about each axis, mostly near its top, and turns
with √(g/n l) times that: about the speed of the slowest swing of a chain of this length at this amplitude. The chain is
then left to itself; every batch goes on where the last one ended.
"""

from __future__ import annotations

import math

import numpy as np

from mbsim_ros.bench.peers.mujoco import MujocoRobot, Settings, specification
from mbsim_ros.bench.result import BenchGoal, Table
from mbsim_ros.bench.step_cases import OURS, Effort, StepCase
from mbsim_ros.bench.timing import Contender, growth_exponent, interleave
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.model.assembly.builder import chain

DT = 1e-3
SIZES, QUICK_SIZES = (10, 30, 100, 300, 1000), (10, 30)
AMPLITUDE, GRAVITY = 0.3, 9.81
EXPONENT_LIMIT, LONGEST_LIMIT = 1.1, 600.0  # in n; µs at 1000 links
PEER_LIMIT = 0.5  # our step over MuJoCo's, with up to 30 links: with more its cost grows with n²
# MuJoCo's step grows with n²: beyond this size only its fastest integrator is run, and in fewer batches.
LARGE, FEW_BATCHES = 300, 5


def swinging(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles and rates (n,) at the start."""
    s = (np.arange(n) + 0.5) / n
    q = 0.5 * math.pi * AMPLITUDE / n * np.cos(0.5 * math.pi * s)
    return q, math.sqrt(GRAVITY / n) * q


def measure(n: int, effort: Effort) -> StepCase:
    """One chain on both sides. Without damping and contact MuJoCo has integrators to choose from, nothing else."""
    model, (q, v) = chain(n), swinging(n)
    integrator = LieVariational(model, DT)
    sides: dict[str, LieVariational | MujocoRobot] = {OURS: integrator}
    if effort.peers:
        for scheme in ("Euler", "implicitfast") if n < LARGE else ("Euler",):
            sides[f"MuJoCo {scheme}"] = MujocoRobot(model, specification(model, DT), Settings(scheme))
    for side in sides.values():
        side.reset(q, v)
    contenders = [_stepping(name, side) for name, side in sides.items()]
    batches, batch_ns = effort.batches
    # A long chain's batch has enough steps for their mean to say something.
    timings = interleave(contenders, FEW_BATCHES if n > LARGE else batches, batch_ns * max(1.0, n / 100.0))
    before, steps = integrator.q.copy(), max(20, 2000 // n)
    integrator.step(steps=steps)
    moved = {"largest angle": float(np.abs(integrator.q).max()), "moved": float(np.abs(integrator.q - before).max())}
    return StepCase(f"chain {n}", n, timings, integrator.iterations / steps, {OURS: moved})


def _stepping(name: str, side: LieVariational | MujocoRobot) -> Contender:
    def run(rounds: int) -> None:
        side.step(steps=rounds)

    return Contender(name, run)


def goals(cases: list[StepCase]) -> list[BenchGoal]:
    """Growth over all sizes, the time of the longest chain, and MuJoCo's of short ones."""
    times = {case.dofs: case.ours.median for case in cases}
    what = f"chains of {min(times)} to {max(times)}: growth exponent"
    found = [BenchGoal(what, growth_exponent(times), EXPONENT_LIMIT, False, "in n")]
    if 1000 in times:
        found.append(BenchGoal("chain 1000: our step", times[1000] / 1e3, LONGEST_LIMIT, False, "µs"))
    for case in cases:
        if case.fastest_peer is not None and case.dofs in QUICK_SIZES:
            what = f"{case.name}: our step over MuJoCo's fastest"
            found.append(BenchGoal(what, case.ratio(case.fastest_peer), PEER_LIMIT, False))
    return found


def table(cases: list[StepCase]) -> Table:
    """A row per chain."""
    result = Table("chains", ["", "ours µs", "± %", "iterations", "MuJoCo µs", "± %", "ours over it"])
    for case in cases:
        row = [case.name, f"{case.ours.median / 1e3:.3g}", f"{50 * case.ours.spread:.0f}", f"{case.iterations:.2f}"]
        peer = case.fastest_peer
        if peer is not None:
            time = case.timings[peer]
            row += [f"{time.median / 1e3:.3g}", f"{50 * time.spread:.0f}", f"{case.ratio(peer):.3g}"]
        result.rows.append(row + [""] * (len(result.columns) - len(row)))
    return result
