# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `steps`: one step of the variational integrator on the walker and on chains, beside MuJoCo if asked."""

from __future__ import annotations

from collections.abc import Callable

from mbsim_ros.bench import chain_steps, energy_steps
from mbsim_ros.bench.peers import mujoco as mujoco_peer
from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult
from mbsim_ros.bench.step_cases import Effort, StepCase
from mbsim_ros.bench.walker import steps as walker_steps

# our step over MuJoCo's fastest
STANDING_LIMIT, WALKING_LIMIT, LANDING_LIMIT, FREE_LIMIT = 0.3, 0.45, 0.5, 0.5

WALKER_CASES: dict[str, tuple[Callable[[Effort], StepCase], float]] = {
    "walker standing": (walker_steps.standing, STANDING_LIMIT),
    "walker walking": (walker_steps.walking, WALKING_LIMIT),
    "walker landing": (walker_steps.landing, LANDING_LIMIT),
    "walker falling": (lambda effort: walker_steps.free(effort, weightless=False), FREE_LIMIT),
    "walker weightless": (lambda effort: walker_steps.free(effort, weightless=True), FREE_LIMIT),
}


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure everything."""
    effort = Effort(options.peers and mujoco_peer.is_installed(), options.quick)
    sizes = chain_steps.QUICK_SIZES if options.quick else chain_steps.SIZES
    motions = energy_steps.motions() if effort.peers else []
    progress.begin(len(WALKER_CASES) + len(sizes) + len(motions))
    result = SuiteResult(notes=_notes(options, effort))
    for name, (measure, limit) in WALKER_CASES.items():
        progress.step(name)
        case = measure(effort)
        result.tables.append(case.table())
        result.measurements += case.records()
        result.goals += _walker_goals(case, limit)
    chains = []
    for n in sizes:
        progress.step(f"chain {n}")
        chains.append(chain_steps.measure(n, effort))
        result.measurements += chains[-1].records()
    result.tables.append(chain_steps.table(chains))
    result.goals += chain_steps.goals(chains)
    races = []
    for motion in motions:
        progress.step(f"order 4 and more, {motion.name} chain")
        races += energy_steps.race(motion, effort)
    if races:
        result.tables.append(energy_steps.table(races))
        result.measurements += [race.record() for race in races]
        result.goals += energy_steps.goals(races)
    return result


def _walker_goals(case: StepCase, limit: float) -> list[BenchGoal]:
    """Against the fastest of all setups, and against the fastest integrator with the default solver."""
    peer, default = case.fastest_peer, case.fastest_default
    if peer is None or default is None:
        return []
    goals = [BenchGoal(f"{case.name}: our step over MuJoCo's fastest", case.ratio(peer), limit, False)]
    if default != peer:
        what = f"{case.name}: our step over MuJoCo's fastest with its default solver"
        goals.append(BenchGoal(what, case.ratio(default), limit, False))
    return goals


def _notes(options: Options, effort: Effort) -> list[str]:
    notes = [
        "µs of one thread's CPU time per step of 1 ms: median ± half the quartiles' distance; below 1 ours is faster"
    ]
    if options.peers and not effort.peers:
        notes.append("peers skipped: pip install mujoco")
    if options.quick:
        notes.append("--quick: a few short batches, too few to judge goals by")
    notes.append(
        f"walking: a table of targets, a row every {walker_steps.CONTROL_STEPS} steps, played in one compiled call a "
        "cycle on both sides: ours `follow`, MuJoCo's `mujoco.rollout`"
    )
    if effort.peers:
        notes.append(f"MuJoCo {mujoco_peer.version()}: * its fastest; settings that are not named are its defaults")
        notes.append("ours has five motors; MuJoCo drives on all 17 joints, or (coupled) five and equality constraints")
    return notes
