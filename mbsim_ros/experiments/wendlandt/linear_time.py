# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W 5.4: the time of a step by Algorithm 5.1 against the number of links, a dense solve, and a closed loop."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import PRINTED, label, panels
from mbsim_ros.experiments.parameters import ExperimentParameter
from mbsim_ros.experiments.timing import MACHINE, cpu_seconds, this_machine
from mbsim_ros.integrators.maximal.equations_kernel import equations_into
from mbsim_ros.integrators.maximal.integrator import QuaternionVariational
from mbsim_ros.integrators.maximal.loop_closures import LoopClosures
from mbsim_ros.integrators.maximal.sparse_solver import SparseSystem
from mbsim_ros.integrators.maximal.step_kernel import EXTRAPOLATE, begin
from mbsim_ros.integrators.maximal.tree_solver_kernel import solve_tree
from mbsim_ros.linalg.dense_kernel import solve_pivoting
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import Attachment, Closure

TITLE = "Steps in linear time, and a closed loop"
SOURCE = "W 5.4, Algorithm 5.1"
LINKS = (5, 10, 20, 50, 100, 200, 500)
DENSE = (5, 10, 20, 50)  # where the whole matrix is solved as well
STEP = 1e-3
LINKAGE_STEP, LINKAGE_SECONDS = 0.02, 100.0
CLOSED = (-0.3, -0.3973, -1.2547)  # about: reset closes the loop
Y_AXIS = (0.0, 1.0, 0.0)
ROUNDS = 6  # of which the median counts
PARAMETERS = (
    ExperimentParameter("links", LINKS, "", 2, 2000, "of the chains"),
    ExperimentParameter("h", STEP, "s", 1e-5, 5e-3, "step of the chains", is_free=True),
    ExperimentParameter("duration", LINKAGE_SECONDS, "s", 1.0, 10000.0, "of the four-bar linkage", is_free=True),
)


def chain(links: int) -> Model:
    """Rods of 20 cm that hang from the world by hinges about x and y in turn."""
    builder = ModelBuilder(f"chain_{links}").link("world")
    parent = "world"
    for number in range(links):
        name, at = f"rod_{number}", (0.0, 0.0, -0.2 if number else 0.0)
        builder.link(name, mass=0.3, com=(0.0, 0.0, -0.1), inertia=(1.1e-3, 1.1e-3, 1e-4))
        builder.joint(f"hinge_{number}", "continuous", parent, name, xyz=at, axis=((1, 0, 0), (0, 1, 0))[number % 2])
        parent = name
    return builder.build("fixed")


def moving(links: int, h: float = STEP) -> QuaternionVariational:
    """A chain that has fallen for some steps."""
    integrator = QuaternionVariational(chain(links), h)
    integrator.reset(0.5 * np.cos(np.arange(links)), np.zeros(links))
    integrator.step(steps=5)
    return integrator


def run(
    progress: Progress, *, links: tuple[int, ...] = LINKS, h: float = STEP, duration: float = LINKAGE_SECONDS
) -> Outcome:
    """Chains of 5 to 500 links, then a four-bar linkage for 100 s."""
    seconds, iterations, differences, dense = [], [], [], []
    numbers = sorted(set(links))
    solved = [number for number in numbers if number <= max(DENSE)]
    for place, number in enumerate(numbers):
        progress(0.4 * place / len(numbers), f"{number} links")
        integrator = moving(number, h)
        if number in solved:
            difference, solve = against_dense(integrator)
            differences.append(difference)
            dense.append(solve)
        steps = max(2, 2000 // number)
        seconds.append(cpu_seconds(lambda of=integrator, steps=steps: of.step(steps=steps), ROUNDS) / steps)  # type: ignore[misc]
        iterations.append(integrator.iterations / steps)
    progress(0.4, "four-bar linkage")
    closure, energies = linkage_for(duration)
    progress(1.0, "done")
    linkage = f"four-bar linkage, {duration:g} s"
    metrics: dict[str, object] = {
        "links": numbers,
        "time of a step [µs]": [1e6 * each for each in seconds],
        "time of a step and link [µs]": [1e6 * each / n for each, n in zip(seconds, numbers, strict=True)],
        "Newton steps in a step": iterations,
    }
    if len(numbers) > 1:
        metrics["exponent of the growth"] = float(np.polyfit(np.log(numbers), np.log(seconds), 1)[0])
    metrics |= {
        "links with a dense solve": solved,
        "largest relative difference to a dense solve": differences,
        "time of one dense solve [µs]": [1e6 * each for each in dense],
        f"{linkage}: largest opening of the loop [m]": closure,
        f"{linkage}: energy at start, least, most [J]": energies,
    }
    parameters = {"h [s]": h, "rod [m]": 0.2, "mass of a rod [kg]": 0.3, MACHINE: this_machine()}
    notes = [
        "A hinge has five constraints, every body seven coordinates and the constraint of its quaternion.",
        "W prints no times of this algorithm, but that its cost is linear in the number of links. Times are CPU times "
        "of one thread, medians of six counts.",
    ]
    printed = {"exponent of the growth": 1.0} if len(numbers) > 1 else {}
    where = dict.fromkeys(printed, "5, item 3 (“linear-time computational cost for tree-structures”), and 5.4")
    return Outcome(parameters, metrics, printed, notes, {"time": _figure(numbers, seconds, solved, dense)}, where)


def against_dense(integrator: QuaternionVariational) -> tuple[float, float]:
    """Largest relative difference of a Newton step by Algorithm 5.1 to numpy's dense one; CPU time [s] of one."""
    system = integrator.system
    begin(system, integrator.dt, EXTRAPOLATE)
    system.work.X_next[1:] += 1e-3 * np.random.default_rng(0).normal(size=(integrator.model.n_bodies, 7))
    equations_into(system, integrator.dt)
    whole = SparseSystem(system, LoopClosures(integrator.model, ()))
    none = (np.zeros((0, 7)), np.zeros((0, 7)))
    matrix, right = whole.matrix(none, none).toarray(), whole.right_side(np.zeros(0))
    expected = np.linalg.solve(matrix, right)
    spent = cpu_seconds(lambda: solve_pivoting(len(right), matrix.copy(), right.copy(), 0.0), ROUNDS)
    kept, before = system.state.multipliers.copy(), system.work.X_next.copy()
    solve_tree(system, 1.0)
    found = np.zeros_like(expected)
    for i, first in enumerate(whole.first[:-1]):
        rows = whole.first[i + 1] - first - 7
        found[first : first + 7] = system.work.X_next[i + 1] - before[i + 1]
        found[first + 7 : first + 7 + rows] = (system.state.multipliers - kept)[i, :rows]
    system.state.multipliers[:] = kept
    return float(np.abs(found - expected).max() / np.abs(expected).max()), spent


def linkage_for(seconds: float) -> tuple[float, list[float]]:
    """Let a four-bar linkage swing: how far its loop opened [m], and the energy at the start, its least and most."""
    lengths = {"crank": 0.2, "coupler": 0.5, "rocker": 0.4}
    builder = ModelBuilder("four_bar").link("world")
    for name, length in lengths.items():
        builder.link(name, mass=length, com=(0.5 * length, 0.0, 0.0), box=(length, 0.03, 0.03))
    builder.joint("a", "continuous", "world", "crank", axis=(0, 1, 0))
    builder.joint("b", "continuous", "crank", "coupler", xyz=(0.2, 0, 0), axis=(0, 1, 0))
    builder.joint("d", "continuous", "world", "rocker", xyz=(0.45, 0, 0), axis=(0, 1, 0))
    pin = Closure("pin", (Attachment("coupler", (0.5, 0, 0)), Attachment("rocker", (0.4, 0, 0))), (Y_AXIS, Y_AXIS))
    linkage = QuaternionVariational(builder.build("fixed"), LINKAGE_STEP, closures=[pin])
    linkage.reset(CLOSED, [-1.0, 0.0, 0.0])
    energies, opened = [sum(linkage.energies())], linkage.closure_error()
    for _ in range(round(seconds / LINKAGE_STEP / 5)):
        linkage.step(steps=5)
        opened = max(opened, linkage.closure_error())
        energies.append(sum(linkage.energies()))
    return opened, [energies[0], min(energies), max(energies)]


def _figure(links: list[int], seconds: list[float], solved: list[int], dense: list[float]) -> Figure:
    figure, axes = panels(1, title="Time against the number of links", size=(8.5, 5.4))
    axis = axes[0, 0]
    axis.loglog(links, [1e6 * each for each in seconds], "o-", label="a step")
    axis.loglog(solved, [1e6 * each for each in dense], "s-", label="one dense solve of W (5.13)")
    start = 1e6 * seconds[0] / links[0]
    axis.loglog(links, [start * n for n in links], **PRINTED, label="linear")
    axis.set_xticks(links, [str(n) for n in links])
    axis.minorticks_off()
    label(axis, "links", "CPU time [µs]", loc="upper left")
    return figure
