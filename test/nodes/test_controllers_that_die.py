# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Controllers that are killed while they work, and come back: physics holds the robot, says who is missing, goes on."""

from __future__ import annotations

from mbsim_ros.nodes.checks.soak_run import BACK, MISSING, SoakFindings, soak

KILLS = 3  # `mbsim soak` does a hundred


def test_a_controller_killed_at_random_moments():
    """kill -9, three times: time stays monotonic, nothing leaves the finite numbers, the arm does not fall."""
    told: list[int] = []
    found = soak(KILLS, 3, told.append)
    assert not found.problems(KILLS), f"{found}\n{found.written}"
    assert (found.kills, found.named, found.resumed) == (KILLS, KILLS, KILLS + 1)
    assert told == list(range(1, KILLS + 1))
    assert found.written.count(MISSING) >= KILLS
    assert found.written.count(BACK) >= KILLS
    assert found.states > 100 * KILLS, "it was looked at"


def test_what_is_not_well_is_told():
    """Every kind of failure, as `mbsim soak` prints it."""
    well = SoakFindings(kills=3, named=3, resumed=4, states=1000, moved=0.1, simulated=2.0)
    assert well.problems(3) == []
    assert well.problems(4) == ["3 kills, not 4"]
    ill = SoakFindings(
        kills=3, named=2, resumed=3, not_finite=1, backward=2, moved=0.9, stuck=["physics did not end"]
    )  # fmt: skip
    assert ill.problems(3) == [
        "not named 1 times", "resumed 3 times, not 4", "1 states that are not finite", "2 stamps that go back",
        "moved 0.90 rad where it was to hold", "physics did not end",
    ]  # fmt: skip
