# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Every scheme by its launch argument: it simulates a second of a robot of its kind, or is refused as its row says."""

from __future__ import annotations

import os

import numpy as np
import pytest

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats.cdr import joint_message
from mbsim_ros.bench.scheme_cells import SECONDS, cells_of, is_refusal, launch, robots_to_launch
from mbsim_ros.bench.suites.schemes import QUICK, summary
from mbsim_ros.integrators import registry

pytestmark = pytest.mark.ros
ROBOTS = {robot.name: robot for robot in robots_to_launch()}
REFUSALS = {
    ("walker", "rk4"): "contact of 8 points",
    ("walker", "lie_variational (order=4)"): "damping of AFL_f",
    ("double_pendulum", "shake"): "point masses on bars",
    ("arm", "energy_stable"): "planar chains",
    ("coupled_bodies", "quaternion_variational"): "springs",
}


def cell_of(robot, title):
    (found,) = (cell for cell in cells_of(ROBOTS[robot]) if cell.row.title == title)
    return found


def launched(cell, folder):
    return launch(cell, folder / "bag", domain=int(os.environ["ROS_DOMAIN_ID"]))


@pytest.mark.parametrize("name", registry.names())
def test_a_scheme_is_chosen_by_its_launch_argument(name, tmp_path):
    """On the first robot that it is for, in real processes; what was recorded ends with a state of 1 s."""
    cell = next(
        cell for robot in QUICK for cell in cells_of(ROBOTS[robot]) if cell.row.name == name and not cell.expected
    )
    done = launched(cell, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    bag = BagReader(tmp_path / "bag")
    *_, last = bag.messages(["/joint_states"])
    assert last.time == 1e9 * SECONDS
    state = joint_message(last.data)
    assert state.stamp == last.time and np.isfinite([*state.position, *state.velocity]).all()
    *_, setup = bag.messages(["/simulation_setup"])
    assert f'"integrator": "{name}"'.encode() in setup.data


@pytest.mark.parametrize("robot, title", REFUSALS)
def test_a_scheme_that_is_not_for_a_robot_is_refused_with_its_words(robot, title, tmp_path):
    cell = cell_of(robot, title)
    assert REFUSALS[robot, title] in cell.expected
    done = launched(cell, tmp_path)
    assert done.returncode != 0 and is_refusal(cell, done), done.stdout + done.stderr


def test_a_cell_that_does_otherwise_is_counted():
    from mbsim_ros.bench.scheme_cells import RAN, REFUSED, CellResult

    fits, refused = cell_of("double_pendulum", "rk4"), cell_of("walker", "rk4")
    good = summary([CellResult(fits, RAN), CellResult(refused, REFUSED)])
    assert [row[1:] for row in good.tables[0].rows] == [["●", "–"]] and good.goals[0].is_met
    bad = summary([CellResult(fits, REFUSED), CellResult(refused, RAN)])
    assert [row[1:] for row in bad.tables[0].rows] == [["?", "?"]] and bad.goals[0].measured == 2.0
