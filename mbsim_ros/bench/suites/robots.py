# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `robots`: fifty robots, none edited, let go on the floor for five seconds.

Not a matter of speed: floating robots stand, or fall and come to rest, and none is thrown up; fixed ones hold. Each is
made again from what a recording keeps of it, and has to move the same way, bit for bit, without its meshes. With
`--bags` each is launched, too, and the bag of its run replayed. What still moves in the end is watched until it rests.
Six that stand on their drives are timed (standing_robots.py).
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table
from mbsim_ros.bench.robot_bags import SAME, replayed
from mbsim_ros.bench.robot_data import MORE_ROBOTS, OTHER_ROBOTS, ROBOTS, find_robot, package_dirs
from mbsim_ros.bench.robots.standing import GROWING, MANY, STANDING, Stand, add_standing, standing, time_of
from mbsim_ros.bench.silence import silent_log
from mbsim_ros.contact.points import points_from
from mbsim_ros.dynamics.momentum import centre_of_mass
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.launcher.errors import SubstitutionError
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.sidecar.settings import with_sidecar
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.sim.drives.command_interface import CommandInterface
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.standing import gaps

SECONDS, QUICK_SECONDS, REPEATED = 5.0, 0.2, 0.2  # s; REPEATED: how much of it is computed again
RECORDED = 1.0  # s of a bag
LONGEST, STILL = 30.0, 3.0  # s: how long one that moves is looked at; who was slow for that long is at rest
LOOK = 20  # steps between two looks at a robot
LIFTED, RISEN, AT_REST, SAGGED = 0.01, 0.01, 0.02, 0.1  # m, m, m/s, rad or m: what a robot may do at most
QUICK_ROBOTS = ("solo12", "ur5")


@dataclass(frozen=True)
class Fall:
    """What became of a robot."""

    robot: str
    is_floating: bool = False
    dofs: int = 0
    mass: float = 0.0  # kg
    points: int = 0  # that can touch
    seconds: float = 0.0  # simulated
    lifted: float = 0.0  # m: how far its lowest point was above the floor at most
    risen: float = 0.0  # m: how far its centre of mass was above its start at most
    speed: float = 0.0  # m/s at the end: that of a point of its mass with its kinetic energy
    sagged: float = 0.0  # rad or m: how far a joint is from where it was held, at the end
    rested: float | None = 0.0  # s: since when it has been at rest; None: it was not, within LONGEST
    too_weak: str = ""  # which joints cannot carry what hangs on them
    repeats: bool = False
    bag: str = ""  # how its bag was replayed, if it was
    real_time_factor: float = 0.0
    error: str = ""

    @property
    def verdict(self) -> str:
        """What is wrong with it, or ""."""
        if self.error:
            return self.error
        found = [] if self.repeats else ["does not repeat"]
        found += [self.bag] if self.bag not in ("", SAME) else []
        if self.is_floating:
            found += [f"lifted {1e3 * self.lifted:.0f} mm"] if self.lifted > LIFTED else []
            found += [f"risen {1e3 * self.risen:.0f} mm"] if self.risen > RISEN else []
            found += [f"moves at {self.speed:.2g} m/s"] if self.speed > AT_REST else []
        elif self.sagged > SAGGED:
            found.append(f"sagged by {self.sagged:.2g}")
        return ", ".join(found)


def run(options: Options, progress: Progress) -> SuiteResult:
    """Let go of all robots there are, one after the other."""
    names = list(QUICK_ROBOTS) if options.quick else [*ROBOTS, *MORE_ROBOTS, *OTHER_ROBOTS, *own_robots()]
    paths = {name: own_robots().get(name) or find_robot(name) for name in names}
    timed = {name: path for name in STANDING if (path := paths.get(name)) is not None}
    progress.begin(len(names) + len(timed) + 1)
    falls = []
    for name, path in paths.items():
        progress.step(name)
        if path is not None:
            fall = let_go(name, path, QUICK_SECONDS if options.quick else SECONDS)
            falls.append(replace(fall, bag=replayed(path, RECORDED)) if options.bags else fall)
    missing = [name for name, path in paths.items() if path is None]
    result = summary(falls, missing)
    stands: list[Stand] = []
    for name, path in timed.items():
        progress.step(f"{name} stands")
        stands += time_of(name, {name: standing(path)}, options.quick).values()
    progress.step("more points")
    crowds: list[Stand] = []
    if GROWING in timed:
        crowded = {f"{times} times": standing(timed[GROWING], times) for times in MANY}
        crowds += time_of(GROWING, crowded, options.quick).values()
    add_standing(result, stands, crowds)
    return result


def own_robots() -> dict[str, Path]:
    """Two of this package, from its share or, where it is not installed, from the checkout."""
    try:
        folder = share_directory("mbsim_ros")
    except SubstitutionError:
        folder = Path(__file__).resolve().parents[3]
    return {name: folder / "urdf" / f"{name}.urdf.xacro" for name in ("walker", "biped")}


def let_go(name: str, path: Path, seconds: float = SECONDS) -> Fall:
    """Hold the joints of a robot where they are, and see what becomes of it."""
    fall = Fall(name)
    with warnings.catch_warnings(), silent_log():
        warnings.simplefilter("ignore")
        try:
            sim = Simulation(path, terrain="flat", package_dirs=package_dirs(path))
            fall = _fallen(fall, sim, seconds)
            sim.reset()
            return replace(fall, repeats=_end_of(sim) == _end_of(made_again(sim)))
        except (ValueError, SimulationDiverged) as error:
            return replace(fall, error=f"{type(error).__name__}: {error}"[:200])


def made_again(sim: Simulation) -> Simulation:
    """The same simulation from what a recording keeps of it: texts, and no mesh."""
    robot, sidecar = parse_urdf(to_urdf(sim.model.description)), sim.model.sidecar
    base = "floating" if sim.model.is_floating else "fixed"
    again = make_model(robot if sidecar is None else with_sidecar(robot, sidecar), base, sidecar)
    rows = [] if sim.scene.points is None else json.loads(json.dumps(sim.scene.points.rows()))
    return Simulation(again, terrain="flat", contact_points=points_from(again, rows))


def _end_of(sim: Simulation) -> bytes:
    CommandInterface(sim).hold()
    sim.advance(round(REPEATED / sim.dt))
    return sim.q.tobytes() + sim.v.tobytes()


def _fallen(fall: Fall, sim: Simulation, seconds: float) -> Fall:
    model = sim.model
    fall = replace(fall, is_floating=model.is_floating, dofs=model.nv, mass=model.mass)
    fall = replace(fall, points=0 if sim.scene.points is None else len(sim.scene.points))
    CommandInterface(sim).hold()
    fall = replace(fall, too_weak=sim.weakness())
    start, first, lifted, risen, moves = sim.q, float(centre_of_mass(model, sim.q)[2]), 0.0, 0.0, 0.0
    begin = time.perf_counter()
    while sim.seconds < seconds:
        sim.advance(LOOK)
        lifted = max(lifted, float(gaps(model, sim.scene, sim.q).min(initial=np.inf)) if fall.points else 0.0)
        risen = max(risen, float(centre_of_mass(model, sim.q)[2]) - first)
        moves = sim.seconds if _speed(sim) > AT_REST else moves
    factor = sim.seconds / (time.perf_counter() - begin)
    moved = np.abs(sim.q - start)[7 if model.is_floating else 0 :]
    fall = replace(
        fall, seconds=sim.seconds, lifted=lifted, risen=risen, sagged=float(moved.max(initial=0.0)), speed=_speed(sim),
        real_time_factor=factor,
    )  # fmt: skip
    return replace(fall, rested=_rest(sim, moves))


def _speed(sim: Simulation) -> float:
    return float(np.sqrt(2.0 * sim.energy().kinetic / sim.model.mass))


def _rest(sim: Simulation, moves: float) -> float | None:
    """When a robot that moved last at `moves` [s] comes to rest, given as much time as it may need."""
    if moves == 0.0:
        return moves
    while sim.seconds - moves < STILL and sim.seconds < LONGEST:
        sim.advance(LOOK)
        moves = sim.seconds if _speed(sim) > AT_REST else moves
    return moves if sim.seconds - moves >= STILL else None


def summary(falls: list[Fall], missing: list[str]) -> SuiteResult:
    """A table of all robots and the goals."""
    result = SuiteResult(measurements=[{**asdict(fall), "verdict": fall.verdict} for fall in falls])
    with_bags = any(fall.bag for fall in falls)
    heads = ["robot", "base", "dofs", "kg", "points", "lifted mm", "risen mm", "end m/s", "rests at s", "held to",
             "repeats", *(["bag"] if with_bags else []), "× real time", ""]  # fmt: skip
    table = Table(f"{SECONDS:g} s on the floor, joints held", heads)
    for fall in falls:
        table.rows.append([
            fall.robot, "floats" if fall.is_floating else "fixed", str(fall.dofs), f"{fall.mass:.3g}", str(fall.points),
            f"{1e3 * fall.lifted:.1f}", f"{1e3 * fall.risen:.1f}", f"{fall.speed:.1e}",
            f"> {LONGEST:g}" if fall.rested is None else f"{fall.rested:.1f}", f"{fall.sagged:.2g}",
            "yes" if fall.repeats else "no", *(["yes" if fall.bag == SAME else "no"] if with_bags else []),
            f"{fall.real_time_factor:.2g}", fall.verdict,
        ])  # fmt: skip
    result.tables.append(table)
    well = sum(not fall.verdict for fall in falls)
    result.goals.append(
        BenchGoal("robots that stand, rest or hold, and repeat", well, len(falls), at_least=True, unit="")
    )
    if with_bags:
        same = sum(fall.bag == SAME for fall in falls)
        result.goals.append(BenchGoal("bags that replay bit for bit", same, len(falls), at_least=True, unit=""))
    result.notes += [fall.too_weak for fall in falls if fall.too_weak]
    packages = sorted({OTHER_ROBOTS[name][0] if name in OTHER_ROBOTS else "example-robot-data" for name in missing})
    if missing:
        result.notes.append(f"not installed: {', '.join(missing)}: pip install {' '.join(packages)}")
    return result
