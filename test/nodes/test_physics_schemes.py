# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""The physics node with schemes that have efforts only: commanded in lockstep, it moves bit for bit as in Python."""

from __future__ import annotations

import numpy as np
import pytest
from physics_process import ROOT, Client, start_node, stop

from mbsim_ros import Simulation

ROUNDS = 40

# A point mass on a bar without mass, on two hinges that cross.
POINT = """<robot name="point"><link name="world"/><link name="cross"/>
<joint name="roll" type="continuous"><parent link="world"/><child link="cross"/><origin xyz="0 0 2"/>
  <axis xyz="1 0 0"/></joint>
<link name="bar"><inertial><origin xyz="0 0 -1"/><mass value="2"/>
  <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
<joint name="pitch" type="continuous"><parent link="cross"/><child link="bar"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("integrator", ["energy_stable", "rattle"])
def test_efforts_move_a_robot_as_in_python(integrator, tmp_path):
    robot, effort = f"{ROOT}/urdf/double_pendulum.urdf", [3.0, -1.0]
    if integrator == "rattle":
        robot = str(tmp_path / "point.urdf")
        (tmp_path / "point.urdf").write_text(POINT)
    process = start_node(
        "physics", f"robot_file:={robot}", "sync:=lockstep", "real_time_factor:=0.0", f"integrator:={integrator}"
    )
    client = Client()
    try:
        last = client.lockstep(ROUNDS, effort=effort)[-1]
    finally:
        written = stop(process)
        client.close()
    assert "Traceback" not in written
    sim = Simulation(robot, integrator=integrator)
    for _ in range(ROUNDS - 1):  # the last state was answered, and not waited for
        sim.advance(2, effort)
    assert np.abs(sim.q).max() > 0.004
    assert np.array_equal(last.position, sim.q) and np.array_equal(last.velocity, sim.v)
