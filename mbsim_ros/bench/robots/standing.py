# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots of others that stand on their drives: how many times real time at 1 ms, and what more points would cost.

The time is that of the thread, median over batches. For the growth the same robot has many times as many points that
can touch, all inside of links that are in the air: it moves the same way, and as many points touch.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from mbsim_ros.bench.result import BenchGoal, SuiteResult, Table
from mbsim_ros.bench.robot_data import package_dirs
from mbsim_ros.bench.silence import silent_log
from mbsim_ros.bench.timing import Contender, Timing, growth_exponent, interleave
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.contact.points import ContactPoints, points_from
from mbsim_ros.model.model import Model
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.simulation import Simulation

DT = 1e-3
STANDING = {"talos": 20.0, "g1": 15.0, "solo12": 15.0, "hyq": 15.0, "anymal_c": 15.0, "go2": 15.0}  # × real time
GROWING, MANY = "talos", (1, 4, 16)  # times as many points as it has
GROWTH = 0.1  # exponent of the time over all points
SETTLING, BATCH = 1.0, 50  # s, steps
BATCHES, BATCH_NS, QUICK_NS = 15, 20e6, 1e6


@dataclass(frozen=True)
class Stand:
    """How fast a robot stands."""

    robot: str
    dofs: int
    points: int  # that can touch
    touching: int
    iterations: float  # of a step
    step: float  # µs

    @property
    def real_time_factor(self) -> float:
        """Simulated time over that of the thread."""
        return 1e6 * DT / self.step


def standing(path: Path, crowd: int = 1) -> Simulation:
    """A robot that has come to rest on its drives, with so many times as many points."""
    with warnings.catch_warnings(), silent_log():
        warnings.simplefilter("ignore")
        sim = Simulation(path, DT, terrain="flat", package_dirs=package_dirs(path))
        if crowd > 1 and sim.scene.points is not None:
            points = crowded(sim.model, sim.scene.points, touching_links(sim), crowd)
            sim = Simulation(sim.model, DT, terrain="flat", contact_points=points)
        CommandInterface(sim).hold()
        sim.advance(round(SETTLING / DT))
    return sim


def touching_links(sim: Simulation) -> set[str]:
    """Links that touch the ground where the robot stands."""
    CommandInterface(sim).hold()
    sim.advance(round(SETTLING / DT))
    points = sim.scene.points
    modes = sim.integrator.contacts.modes
    return set() if points is None else {points.links[i] for i in np.flatnonzero(modes != NO_CONTACT)}


def crowded(model: Model, points: ContactPoints, but: set[str], times: int) -> ContactPoints:
    """So many times as many points: those that are new are in the middle between two of a link that is not in `but`."""
    rows, rng = points.rows(), np.random.default_rng(0)
    inside = [
        members for link in dict.fromkeys(points.links) if link not in but and len(members := points.of_link(link))
    ]
    new = []
    for k in range((times - 1) * len(points)):
        a, b = rng.choice(inside[k % len(inside)], 2)
        place = 0.5 * (points.geometry[a, :3] + points.geometry[b, :3])
        new.append((points.links[a], f"inside {k}", *place.tolist(), 0.0))
    return points_from(model, [*rows, *new])


def time_of(name: str, sims: dict[str, Simulation], quick: bool) -> dict[str, Stand]:
    """Time a step of each, in turns."""
    before = {key: (sim.integrator.counts.iterations, sim.integrator.step_count) for key, sim in sims.items()}
    contenders = [Contender(key, _steps(sim), BATCH) for key, sim in sims.items()]
    timed = interleave(contenders, 3 if quick else BATCHES, QUICK_NS if quick else BATCH_NS)
    return {key: _stand(name, sim, timed[key], before[key]) for key, sim in sims.items()}


def _steps(sim: Simulation):  # type: ignore[no-untyped-def]
    def run(rounds: int) -> None:
        for _ in range(rounds):
            sim.advance(BATCH)

    return run


def _stand(name: str, sim: Simulation, timing: Timing, before: tuple[int, int]) -> Stand:
    integrator = sim.integrator
    iterations = (integrator.counts.iterations - before[0]) / max(integrator.step_count - before[1], 1)
    points = 0 if sim.scene.points is None else len(sim.scene.points)
    touching = int((integrator.contacts.modes != NO_CONTACT).sum())
    return Stand(name, sim.model.nv, points, touching, iterations, 1e-3 * timing.median)


def add_standing(result: SuiteResult, stands: list[Stand], crowds: list[Stand]) -> None:
    """Add tables and goals of what was timed to those of the suite."""
    result.measurements += [{**asdict(each), "real_time_factor": each.real_time_factor} for each in (*stands, *crowds)]
    heads = ["robot", "dofs", "points", "touching", "iterations", "µs a step", "× real time"]
    for title, rows in (("Standing on drives, 1 ms", stands), ("The same robot with more points", crowds)):
        table = Table(title, heads)
        for each in rows:
            table.rows.append([
                each.robot, str(each.dofs), str(each.points), str(each.touching), f"{each.iterations:.1f}",
                f"{each.step:.1f}", f"{each.real_time_factor:.3g}",
            ])  # fmt: skip
        if rows:
            result.tables.append(table)
    for each in stands:
        limit = STANDING[each.robot]
        result.goals.append(BenchGoal(f"{each.robot} stands, real time", each.real_time_factor, limit, at_least=True))
    if len(crowds) > 1:
        exponent = growth_exponent({each.points: each.step for each in crowds})
        what = f"{crowds[0].robot} stands, growth with points in the air"
        result.goals.append(BenchGoal(what, exponent, GROWTH, at_least=False, unit=""))
