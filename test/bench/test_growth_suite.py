# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `growth`: what it measures is what it says, and its exponents are those of known curves."""

from __future__ import annotations

import pytest

from mbsim_ros.bench.growth_cases import GROWTHS, touching_points
from mbsim_ros.bench.result import NoProgress, Options
from mbsim_ros.bench.suites import growth
from mbsim_ros.bench.timing import Timing


def curve(time):
    sizes = (0, 1, 3, 10, 30, 100, 300, 1000)
    return [growth.GrowthPoint(n, Timing(time(n), time(n), time(n), 1, 1), 0.0, 0) for n in sizes]


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.1, 2.0])
def test_the_exponent_of_a_power_is_found(exponent):
    found = growth.fits(curve(lambda n: 7.0 * n**exponent + (n == 0)))
    assert found == {"all": pytest.approx(exponent), "upper decade": pytest.approx(exponent)}


def test_what_grows_late_shows_in_the_upper_decade():
    """A square that begins small: 100 n + n² has the slopes (100 + 2 n)/(100 + n), 1 at first and 1.9 at 1,000."""
    found = growth.fits(curve(lambda n: 100.0 * n + n * n))
    assert found["all"] < 1.4 < 1.6 < found["upper decade"] < 1.9


@pytest.mark.parametrize("family", GROWTHS, ids=lambda family: family.name)
def test_a_simulation_is_of_its_size_and_touches_as_often_as_it_says(family):
    sim = family.make(10)
    sim.advance(family.before)
    assert touching_points(sim) == family.touching(10)
    size = {"dofs": sim.model.nv, "contacts": touching_points(sim), "entities": len(sim.entities or ())}
    assert size[family.counted] == 10


def test_the_suite_has_a_goal_for_every_family():
    result = growth.run(Options(quick=True), NoProgress())
    assert len(result.tables) == len(GROWTHS)
    for family in GROWTHS:
        goals = [goal for goal in result.goals if goal.what.startswith(family.name)]
        assert [goal.limit for goal in goals] == [1.1, 1.1]
