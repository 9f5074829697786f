# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `dynamics`: the functions of mbsim_ros.dynamics on robots and chains, beside Pinocchio if asked."""

from __future__ import annotations

from mbsim_ros.bench.cases import RobotCase, all_cases
from mbsim_ros.bench.peers import pinocchio as pinocchio_peer
from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table
from mbsim_ros.bench.timing import Timing, growth_exponent, interleave, speed_up
from mbsim_ros.bench.works import COMPILED, PINOCCHIO, PUBLIC, WORKS, Peer, Setting, TimedFunction

# (batches, nanoseconds per batch)
FULL, QUICK = (31, 3_000_000), (3, 20_000)
# The compiled loop against Pinocchio called from Python, and the public call against it.
FASTER = {"inverse_dynamics": 4.0, "forward_dynamics": 3.0, "mass_matrix": 1.0}
SLOWEST_PUBLIC_CALL = 3.0
WITH_GOALS = ("walker", "ANYmal", "Talos", "chain 100")
GROWING, GROWTH_FROM, GROWTH_LIMIT = ("inverse_dynamics", "forward_dynamics"), 10, 1.05

Timings = dict[tuple[str, str], dict[str, Timing]]  # (function, case) → contender → time


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure everything."""
    cases, notes = all_cases(options.quick)
    with_peers = options.peers and pinocchio_peer.is_installed()
    if options.peers and not with_peers:
        notes.append("peers skipped: pip install pin")
    batches = QUICK if options.quick else FULL
    timings = _measure(cases, with_peers, batches, progress)
    notes.append("µs of one thread's CPU time per call: median ± half the quartiles' distance; × is peer over ours")
    if options.quick:
        notes.append("--quick: a few short batches, too few to judge goals by")
    if with_peers:
        notes.append(f"Pinocchio is called from Python; above {pinocchio_peer.LARGEST} dofs it needs too much memory")
        notes.append("mimic joints are taken as free joints on both sides")
    return SuiteResult(
        [_table(work, cases, timings) for work in WORKS],
        _records(cases, timings),
        [*_ratio_goals(cases, timings), *_growth_goals(cases, timings)],
        notes,
    )


def _measure(cases: list[RobotCase], with_peers: bool, batches: tuple[int, float], progress: Progress) -> Timings:
    jobs = [(case, work) for case in cases for work in WORKS if case.model.nv <= work.largest]
    progress.begin(len(jobs))
    timings: Timings = {}
    setting, peer = None, None
    for case, work in jobs:
        progress.step(f"{case.name}: {work.name}")
        if setting is None or setting.model is not case.model:
            setting = Setting(case.model)
            peer = _peer(case, setting) if with_peers else None
        contenders = [work.compiled(setting), work.public(setting)]
        if peer is not None and work.pinocchio is not None:
            contenders.append(work.pinocchio(peer))
        timings[work.name, case.name] = interleave(contenders, *batches)
    return timings


def _peer(case: RobotCase, setting: Setting) -> Peer | None:
    if case.model.nv > pinocchio_peer.LARGEST:
        return None
    model = case.model
    if case.urdf is None:
        q = [pinocchio_peer.configuration(model, q) for q in setting.q]
        return Peer(pinocchio_peer.from_model(model), q, setting)
    q = [model.q_to_pinocchio(q) for q in setting.q]
    return Peer(pinocchio_peer.load_urdf(case.urdf, model.is_floating), q, setting)


def _table(work: TimedFunction, cases: list[RobotCase], timings: Timings) -> Table:
    """A row per case: dofs, times, and the ratios where there is a peer."""
    table = Table(work.name, ["", "dofs", "compiled", "± %", "public", "± %", "Pinocchio", "± %", "×", "× public"])
    for case in cases:
        times = timings.get((work.name, case.name))
        if times is None:
            continue
        row = [case.name, str(case.model.nv)]
        for name in (COMPILED, PUBLIC, PINOCCHIO):
            time = times.get(name)
            row += ["", ""] if time is None else [f"{time.median / 1e3:.3g}", f"{50 * time.spread:.0f}"]
        peer = times.get(PINOCCHIO)
        row += ["", ""] if peer is None else [f"{speed_up(times[name], peer):.2f}" for name in (COMPILED, PUBLIC)]
        table.rows.append(row)
    return table


def _records(cases: list[RobotCase], timings: Timings) -> list[dict]:
    dofs = {case.name: case.model.nv for case in cases}
    return [
        {
            "function": function, "case": case, "dofs": dofs[case], "contender": contender,
            "median_us": time.median / 1e3, "low_us": time.low / 1e3, "high_us": time.high / 1e3,
            "batches": time.batches, "calls_per_batch": time.calls,
        }
        for (function, case), times in timings.items()
        for contender, time in times.items()
    ]  # fmt: skip


def _ratio_goals(cases: list[RobotCase], timings: Timings) -> list[BenchGoal]:
    goals = []
    for function, limit in FASTER.items():
        for case in (case.name for case in cases if case.name in WITH_GOALS):
            times = timings.get((function, case), {})
            if PINOCCHIO in times:
                faster = speed_up(times[COMPILED], times[PINOCCHIO])
                slower = 1.0 / speed_up(times[PUBLIC], times[PINOCCHIO])
                what = f"{function}, {case}"
                goals.append(BenchGoal(f"{what}: faster than Pinocchio", faster, limit, True))
                goals.append(BenchGoal(f"{what}: public call over Pinocchio's", slower, SLOWEST_PUBLIC_CALL, False))
    return goals


def _growth_goals(cases: list[RobotCase], timings: Timings) -> list[BenchGoal]:
    sizes = {case.model.nv: case.name for case in cases if case.is_chain and case.model.nv >= GROWTH_FROM}
    goals = []
    for function in GROWING:
        times = {n: timings[function, name][COMPILED].median for n, name in sizes.items()}
        if len(times) > 1:
            what = f"{function}: growth exponent, chains of {min(times)} to {max(times)}"
            goals.append(BenchGoal(what, growth_exponent(times), GROWTH_LIMIT, False, "in n"))
    return goals
