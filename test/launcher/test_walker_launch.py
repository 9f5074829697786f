# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arguments of walker.launch.xml: which ground, and who decides about the clutches."""

from __future__ import annotations

from pathlib import Path

import pytest

from mbsim_ros.launcher.errors import LaunchError
from mbsim_ros.launcher.plan import plan_launch

FILE = Path(__file__).resolve().parents[2] / "launch" / "walker.launch.xml"


def planned(**arguments):
    """Parameters of the nodes by name: {node: {parameter: value}}."""
    return {
        node.name: {entry.name: entry.value for entry in node.parameters if hasattr(entry, "value")}
        for node in plan_launch(FILE, arguments).nodes
    }


@pytest.mark.parametrize("terrain", ["flat", "plate", "rubble", "slope"])
def test_grounds(terrain):
    ground = planned(terrain=terrain)["physics"]["terrain"]
    assert Path(ground).name == f"terrain_{terrain}.yaml"
    assert Path(ground).is_file()


def test_an_unknown_ground_is_refused():
    with pytest.raises(LaunchError, match="terrain"):
        planned(terrain="moon")


def test_designs():
    """Lengths and legs go to the xacro; feet of all of them are lifted as far as asked."""
    nodes = planned(legs="6", femur="0.26")
    assert nodes["physics"]["xacro_args"] == "legs:=6 femur:=0.26 tibia:=0.4"
    nodes = planned()
    assert nodes["controller"]["lift_compensation"] == 1.0
    assert nodes["physics"]["xacro_args"] == "legs:=8 femur:=0.2 tibia:=0.4"


def test_on_rough_ground_the_gait_has_the_clutches_and_every_force():
    nodes = planned(rough="true")
    assert "clutch_manager" not in nodes
    assert nodes["controller"]["rough"] is True
    assert nodes["physics"]["contact_rate"] > 1000.0
    nodes = planned()
    assert "clutch_manager" in nodes
    assert nodes["controller"]["rough"] is False
