# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How contenders are timed: in turns (A B A B …), so that a slow moment of the machine falls on all of them."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Clock = Callable[[], int]  # nanoseconds


@dataclass(frozen=True)
class Contender:
    """Something to time: `run(rounds)` makes `rounds * calls_per_round` calls."""

    name: str
    run: Callable[[int], None]
    calls_per_round: int = 1


@dataclass(frozen=True)
class Timing:
    """Time per call in nanoseconds: median and quartiles over the batches."""

    median: float
    low: float
    high: float
    batches: int
    calls: int  # per batch

    @staticmethod
    def of(samples: Sequence[float], calls: int) -> Timing:
        """Summary of the times per call of all batches."""
        if len(samples) == 1:
            return Timing(samples[0], samples[0], samples[0], 1, calls)
        low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
        return Timing(median, low, high, len(samples), calls)

    @property
    def spread(self) -> float:
        """Distance of the quartiles, as a share of the median."""
        return (self.high - self.low) / self.median if self.median > 0.0 else 0.0


def interleave(
    contenders: Sequence[Contender], batches: int, batch_ns: float, clock: Clock = time.thread_time_ns
) -> dict[str, Timing]:
    """Time the contenders in turns, each batch lasting about `batch_ns`.

    The default clock counts this thread's CPU time: what other processes take does not count.
    """
    rounds = {each.name: _rounds_for(each, batch_ns, clock) for each in contenders}
    samples: dict[str, list[float]] = {each.name: [] for each in contenders}
    for _ in range(batches):
        for each in contenders:
            calls = rounds[each.name] * each.calls_per_round
            samples[each.name].append(_time(each, rounds[each.name], clock) / calls)
    return {each.name: Timing.of(samples[each.name], rounds[each.name] * each.calls_per_round) for each in contenders}


def speed_up(ours: Timing, peer: Timing) -> float:
    """How many times faster than the peer: ratio of the medians."""
    return peer.median / ours.median


def growth_exponent(times: Mapping[int, float]) -> float:
    """Exponent k of t = c nᵏ, by least squares of log t over log n."""
    if len(times) < 2:
        raise ValueError(f"times: expected at least two sizes, got {len(times)}")
    x, y = [math.log(n) for n in times], [math.log(t) for t in times.values()]
    return statistics.linear_regression(x, y).slope


def _rounds_for(contender: Contender, batch_ns: float, clock: Clock) -> int:
    """Rounds that last about `batch_ns`. The first round is not counted: it fills caches and compiles."""
    contender.run(1)
    rounds = 1
    while (taken := _time(contender, rounds, clock)) < 0.1 * batch_ns:
        rounds *= 2 if taken <= 0 else max(2, min(16, round(0.2 * batch_ns / taken)))
    return max(1, round(rounds * batch_ns / taken))


def _time(contender: Contender, rounds: int, clock: Clock) -> int:
    begin = clock()
    contender.run(rounds)
    return clock() - begin
