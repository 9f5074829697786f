# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The visco-elastic controller in a process of its own holds a body that physics drops, as it does without ROS."""

from __future__ import annotations

import numpy as np
import pytest
from physics_process import Client, stamp, start_node, stop

from mbsim_ros import Simulation
from mbsim_ros.control.viscoelastic.controller import ViscoelasticController, ViscoelasticParameters
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.urdf.writer import to_urdf

PLACE, ATTITUDE = (0.2, -0.1, 0.3), (0.0, 0.0, 0.4)
SECOND = 1_000_000_000
END = SECOND  # ns


def body():
    return ModelBuilder("trunk").link("trunk", mass=41.0, com=(0.1, 0.0, 0.05), inertia=(10.0, 8.0, 8.4))


def alone(steps):
    """The same without ROS: q after so many periods of 2 ms."""
    model = body().build("floating")
    sim = Simulation(model, dt=1e-3, terrain=False)
    controller = ViscoelasticController(model, ViscoelasticParameters(position=PLACE, angles=ATTITUDE))
    sim.run(2e-3 * steps, controller=controller, control_period=2e-3)
    return sim.q


def test_it_holds_a_body_over_ros(tmp_path):
    file = tmp_path / "trunk.urdf"
    file.write_text(to_urdf(body().description()))
    physics = start_node(
        "physics", f"robot_file:={file}", "base:=floating", "terrain:=none", "sync:=lockstep", "real_time_factor:=0.0",
        "lockstep_timeout:=1000.0", "lockstep_participants:=[wrench]",
    )  # fmt: skip
    controller = start_node("viscoelastic_controller", f"position:={list(PLACE)}", f"angles:={list(ATTITUDE)}")
    client = Client()
    try:
        client.spin_until(lambda: client.odometry and stamp(client.odometry[-1]) >= END, "a simulated second", 240.0)
        last = client.odometry[-1]
    finally:
        client.close()
        written = stop(controller) + stop(physics)
    assert "refused a command" not in written and "refused commands: none" in written
    p, r = last.pose.pose.position, last.pose.pose.orientation
    found = np.array([p.x, p.y, p.z, r.x, r.y, r.z, r.w])
    expected = alone(stamp(last) // 2_000_000)
    assert (found == expected).all()
    c, s = np.cos(0.4), np.sin(0.4)
    assert found[:3] == pytest.approx(np.array(PLACE) - [0.1 * c, 0.1 * s, 0.05], abs=0.05)
