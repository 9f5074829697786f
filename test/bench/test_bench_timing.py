# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arithmetic of the benchmarks, on clocks and contenders that are made up."""

from __future__ import annotations

import pytest

from mbsim_ros.bench.result import BenchGoal
from mbsim_ros.bench.timing import Contender, Timing, growth_exponent, interleave, speed_up


class Machine:
    """A clock that moves only when a contender runs, and a record of who ran."""

    def __init__(self):
        self.now = 0
        self.ran = []

    def clock(self):
        return self.now

    def contender(self, name, nanoseconds, calls_per_round=1):
        """Each call takes a fixed time, or the next of a list for each run."""
        times = iter(nanoseconds) if isinstance(nanoseconds, list) else None

        def run(rounds):
            self.ran.append((name, rounds))
            self.now += (next(times) if times else nanoseconds) * rounds * calls_per_round

        return Contender(name, run, calls_per_round)


def test_time_per_call_and_ratio():
    machine = Machine()
    ours, peer = machine.contender("ours", 250, calls_per_round=4), machine.contender("peer", 1000)
    times = interleave([ours, peer], batches=5, batch_ns=1e6, clock=machine.clock)
    assert times["ours"].median == 250
    assert times["peer"].median == 1000
    assert times["ours"].spread == 0
    assert speed_up(times["ours"], times["peer"]) == 4.0
    assert speed_up(times["peer"], times["ours"]) == 0.25


def test_batches_alternate_and_last_as_long_as_asked():
    machine = Machine()
    contenders = [machine.contender("a", 100), machine.contender("b", 7000)]
    times = interleave(contenders, batches=3, batch_ns=1e6, clock=machine.clock)
    assert [name for name, _ in machine.ran[-6:]] == ["a", "b", "a", "b", "a", "b"]
    assert times["a"].calls == 10_000
    assert times["b"].calls == 143
    assert times["a"].batches == 3


def test_a_slow_contender_still_runs_once_per_batch():
    machine = Machine()
    times = interleave([machine.contender("slow", 10**9)], batches=2, batch_ns=1e6, clock=machine.clock)
    assert times["slow"].calls == 1
    assert times["slow"].median == 10**9


def test_a_clock_too_coarse_to_see_one_call():
    machine = Machine()
    coarse = interleave([machine.contender("a", 100)], 2, 1e6, clock=lambda: machine.now // 16_000 * 16_000)
    assert coarse["a"].median == pytest.approx(100, rel=0.1)


def test_the_median_ignores_one_slow_batch():
    times = Timing.of([10.0, 11.0, 500.0, 9.0, 10.0], calls=1)
    assert (times.median, times.low, times.high) == (10.0, 10.0, 11.0)
    assert times.spread == pytest.approx(0.1)
    assert Timing.of([3.0], calls=1).median == 3.0


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5, 2.0])
def test_growth_exponent(exponent):
    assert growth_exponent({n: 3.0 * n**exponent for n in (10, 30, 100, 1000)}) == pytest.approx(exponent)


def test_growth_needs_two_sizes():
    with pytest.raises(ValueError, match="at least two sizes, got 1"):
        growth_exponent({10: 1.0})


def test_goals_are_met_on_their_side_of_the_limit():
    assert BenchGoal("ratio", 4.2, 4.0, at_least=True).is_met
    assert not BenchGoal("ratio", 3.9, 4.0, at_least=True).is_met
    assert BenchGoal("time", 0.4, 0.5, at_least=False).is_met
    assert not BenchGoal("time", 0.6, 0.5, at_least=False).is_met
    assert BenchGoal("time", 0.6, 0.5, at_least=False, unit="s").as_json() == {
        "what": "time", "measured": 0.6, "limit": 0.5, "at_least": False, "unit": "s", "met": False,
    }  # fmt: skip
