# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `ensemble`: its walkers are those of the suite `steps`, and its goals are there."""

from __future__ import annotations

import numpy as np

from mbsim_ros.bench.result import NoProgress, Options
from mbsim_ros.bench.suites import ensemble
from mbsim_ros.bench.walker.ensembles import OurWalkers, make_walker, targets
from mbsim_ros.bench.walker.sides import OurWalker
from mbsim_ros.bench.walker.steps import CONTROL_STEPS, SETTLING


def test_a_member_walks_bit_for_bit_as_the_walker_of_the_suite_steps():
    alone = OurWalker()
    alone.reset(targets()[-1])
    alone.advance(SETTLING)
    alone.play(alone.table(targets()[:20], CONTROL_STEPS), CONTROL_STEPS)
    walkers = OurWalkers(2, 2, 20)
    walkers.run()
    assert walkers.ensemble.state().q[1].tobytes() == alone.integrator.q.tobytes()
    assert np.array_equal(walkers.ensemble.state().v[0], alone.integrator.v)
    assert make_walker().motor_names == walkers.ensemble.motor_names


def test_the_suite_has_its_goals(monkeypatch):
    monkeypatch.setattr(ensemble, "QUICK_MEMBERS", 4)
    result = ensemble.run(Options(quick=True), NoProgress())
    assert [goal.limit for goal in result.goals] == [1.85, 1e5, 1.05, 100.0]
    memory = result.goals[-1]
    assert memory.is_met and memory.measured > 20.0, "arrays of a member are counted"
    assert len(result.tables) == 2
