# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `robots`: what it says of a robot that stands, of one that is thrown up, and of one that cannot be simulated."""

from dataclasses import replace

from mbsim_ros.bench.robot_bags import SAME
from mbsim_ros.bench.suites.robots import let_go, own_robots, summary

ROBOT = """<robot name="block"><link name="block"><inertial><mass value="{mass}"/>
<inertia ixx="{mass}" iyy="{mass}" izz="{mass}" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="block.obj"/></geometry></visual></link></robot>"""


def test_verdicts(tmp_path):
    mesh = tmp_path / "block.obj"
    mesh.write_text("".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)) + "f 1 2 3 4\n")
    path = tmp_path / "block.urdf"
    path.write_text(ROBOT.format(mass=1.0))
    stands = let_go("block", path, 0.1)
    assert stands.is_floating and stands.points == 8 and stands.repeats  # from its visual mesh, and without it
    assert stands.verdict == "" and stands.lifted == 0.0
    assert replace(stands, lifted=0.02, speed=1.0).verdict == "lifted 20 mm, moves at 1 m/s"
    assert replace(stands, bag="differs").verdict == "differs" and replace(stands, bag=SAME).verdict == ""
    path.write_text(ROBOT.format(mass=0.0))
    massless = let_go("ghost", path, 0.1)
    assert "Error" in massless.verdict or "Unsupported" in massless.verdict
    result = summary([stands, massless], ["upkie"])
    assert [goal.is_met for goal in result.goals] == [False]
    assert result.notes == ["not installed: upkie: pip install upkie_description"]
    recorded = summary([replace(stands, bag=SAME, too_weak="an arm is too weak", rested=None)], [])
    assert [goal.is_met for goal in recorded.goals] == [True, True] and recorded.notes == ["an arm is too weak"]
    assert "> 30" in recorded.tables[0].rows[0] and "bag" in recorded.tables[0].columns


def test_robots_of_this_package_are_there():
    assert all(path.is_file() for path in own_robots().values())
