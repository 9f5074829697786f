# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `growth`: how the time of a step grows with dofs, with points that touch, and with entities."""

from __future__ import annotations

import time
from dataclasses import dataclass

from mbsim_ros.bench.growth_cases import GROWTHS, Growth, touching_points
from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table
from mbsim_ros.bench.timing import Contender, Timing, growth_exponent, interleave
from mbsim_ros.sim.simulation import Simulation

LIMIT = 1.1  # of an exponent
BATCHES, QUICK_BATCHES = (11, 2e7), (3, 2e5)  # how many, and nanoseconds of each
FEWEST_STEPS = 5  # of a batch, so that its mean says something
LARGEST_WHEN_QUICK = 30


@dataclass(frozen=True)
class GrowthPoint:
    """One size: time of a step, CPU seconds to make the simulation, and points that touch."""

    size: int
    timing: Timing
    making: float
    touching: int


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure everything."""
    families = [(growth, _sizes(growth, options.quick)) for growth in GROWTHS]
    progress.begin(sum(len(sizes) for _, sizes in families))
    result = SuiteResult(notes=[
        "CPU time of this thread, medians of batches of steps of 1 ms; made: CPU s of model and Simulation(…)",
        "exponents: least squares of log time over log size, nothing subtracted; sizes of zero are not in a fit",
    ])  # fmt: skip
    for growth, sizes in families:
        points = []
        for size in sizes:
            progress.step(f"{growth.name}: {size} {growth.counted}")
            points.append(measure(growth, size, options.quick))
        _add(result, growth, points)
    return result


def measure(growth: Growth, size: int, quick: bool) -> GrowthPoint:
    """Make one and time its steps, going on where each batch ended."""
    begin = time.thread_time()
    sim = growth.make(size)
    making = time.thread_time() - begin
    sim.advance(growth.before)
    batches, batch_ns = QUICK_BATCHES if quick else BATCHES
    once = _step_ns(sim)
    contender = Contender(growth.name, sim.advance)
    timing = interleave([contender], batches, max(batch_ns, FEWEST_STEPS * once))[growth.name]
    touching = touching_points(sim)
    if touching != growth.touching(size):
        raise RuntimeError(f"{growth.name}, {size}: {touching} points touch, expected {growth.touching(size)}")
    return GrowthPoint(size, timing, making, touching)


def fits(points: list[GrowthPoint]) -> dict[str, float]:
    """Exponents over all sizes and over the upper decade."""
    times = {point.size: point.timing.median for point in points if point.size > 0}
    upper = {size: each for size, each in times.items() if size >= max(times) / 10.0}
    return {name: growth_exponent(part) for name, part in (("all", times), ("upper decade", upper)) if len(part) > 1}


def _sizes(growth: Growth, quick: bool) -> tuple[int, ...]:
    return tuple(size for size in growth.sizes if not quick or size <= LARGEST_WHEN_QUICK)


def _step_ns(sim: Simulation) -> float:
    begin = time.thread_time_ns()
    sim.advance(2)
    return (time.thread_time_ns() - begin) / 2.0


def _add(result: SuiteResult, growth: Growth, points: list[GrowthPoint]) -> None:
    """A table, records and goals of a family."""
    found = fits(points)
    told = ", ".join(f"{name} {value:.2f}" for name, value in found.items())
    table = Table(
        f"{growth.name}: exponent {told}", [growth.counted, "µs a step", "± %", "µs each", "touching", "made s"]
    )
    for point in points:
        time_us = point.timing.median / 1e3
        each = f"{time_us / point.size:.3g}" if point.size else ""
        spread = f"{50 * point.timing.spread:.0f}"
        table.rows.append([str(point.size), f"{time_us:.4g}", spread, each, str(point.touching), f"{point.making:.2f}"])
        result.measurements.append({
            "case": growth.name, "counted": growth.counted, "size": point.size, "median_us": time_us,
            "low_us": point.timing.low / 1e3, "high_us": point.timing.high / 1e3, "batches": point.timing.batches,
            "steps_per_batch": point.timing.calls, "touching": point.touching, "made_cpu_s": point.making,
        })  # fmt: skip
    result.tables.append(table)
    for name, value in found.items():
        what = f"{growth.name}, {name}: exponent of a step's time in {growth.counted}"
        result.goals.append(BenchGoal(what, value, LIMIT, False, ""))
