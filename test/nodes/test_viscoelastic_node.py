# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The visco-elastic controller in a process of its own holds bodies in lockstep as it does without ROS; v is drawn."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from physics_process import LATCHED, ROOT, Client, stamp, start_node, stop
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

sys.path.append(str(Path(__file__).parents[1] / "viewer"))

from page_client import page_of

from mbsim_ros import Simulation
from mbsim_ros.control.viscoelastic.controller import ViscoelasticController, ViscoelasticParameters
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.urdf.writer import to_urdf

PLACE, ATTITUDE = (0.2, -0.1, 0.3), (0.0, 0.0, 0.4)
DAMPING = (200.0, 200.0, 140.0)
SECOND = 1_000_000_000
END = SECOND  # ns


def body():
    return ModelBuilder("trunk").link("trunk", mass=41.0, com=(0.1, 0.0, 0.05), inertia=(10.0, 8.0, 8.4))


def alone(steps):
    """The same without ROS: q after so many periods of 2 ms."""
    model = body().build("floating")
    sim = Simulation(model, dt=1e-3, terrain=False)
    wanted = ViscoelasticParameters(position=PLACE, angles=ATTITUDE, LTa=DAMPING)
    controller = ViscoelasticController(model, wanted)
    sim.run(2e-3 * steps, controller=controller, control_period=2e-3)
    return sim.q


def test_it_holds_a_body_over_ros(tmp_path):
    file = tmp_path / "trunk.urdf"
    file.write_text(to_urdf(body().description()))
    physics = start_node(
        "physics", f"robot_file:={file}", "base:=floating", "terrain:=none", "sync:=lockstep", "real_time_factor:=0.0",
        "lockstep_timeout:=1000.0", "lockstep_participants:=[wrench]",
    )  # fmt: skip
    controller = start_node(
        "viscoelastic_controller", f"position:={list(PLACE)}", f"angles:={list(ATTITUDE)}", f"LTa:={list(DAMPING)}"
    )  # fmt: skip
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


COUPLING = (
    "{coupling: {from: {link: body_1, point: [0, 0, -0.42]}, to: {link: body_2, point: [0, 0, -0.42]}, "
    "stiffness: 2000, damping: 200}}"
)
BODIES = (f"robot_file:={ROOT}/urdf/coupled_bodies.urdf.xacro", f"sidecar:={ROOT}/config/separate_bodies.mbsim.yaml")


def test_two_bodies_in_lockstep_with_v_in_the_viewer():
    """As `launch simulate controller:=viscoelastic_controller` starts them: nobody names participants."""
    physics = start_node("physics", *BODIES, "gravity:=[0.0, 0.0, 0.0]", "sync:=lockstep", "lockstep_timeout:=1000.0")
    controller = start_node("viscoelastic_controller", "gravity:=0.0", "whole_state:=true", f"elements:='{COUPLING}'")
    viewer = start_node("viewer", "port:=18620", "open_browser:=false")
    client, values, states = Client(), [], []
    client.create_subscription(Float64, "lyapunov", lambda message: values.append(message.data), 1000)
    client.create_subscription(JointState, "whole_state", states.append, LATCHED)
    page = page_of(viewer)
    try:
        client.spin_until(
            lambda: len(values) > 50 and stamp(states[-1]) >= SECOND // 5, "0.2 simulated seconds and v", 240.0
        )  # fmt: skip
        last = states[-1]
        page.until(lambda: len(drawn(page)) > 3, "v in the viewer")
        assert (np.diff(drawn(page)) <= 0.0).all()
    finally:
        page.close()
        client.close()
        written = stop(viewer) + stop(controller) + stop(physics)
    assert "refused commands: none" in written and "Traceback" not in written
    assert (np.diff(values) <= 0.0).all()  # a state that came again has the same v
    model = document_robot("coupled_bodies")
    sim = Simulation(model, 1e-3, gravity=(0, 0, 0), springs=())
    alone = ViscoelasticController(model, ViscoelasticParameters(gravity=0.0, elements=COUPLING))
    sim.run(stamp(last) / SECOND, controller=alone, control_period=2e-3)
    assert last.position[: model.nq].tolist() == sim.q.tolist()


def drawn(page):
    """Values of v that the page shows, in order."""
    plots = [entry["props"] for entry in page.gui.values() if entry["type"] == "GuiUplotMessage"]
    return next(
        (list(each["data"][1]) for each in plots if each["title"] == "Lyapunov function v" and each["visible"]), []
    )


def test_a_push_that_is_meant_as_an_answer_is_told_what_to_do():
    physics = start_node("physics", *BODIES, "sync:=lockstep")
    client, said = Client(), ""
    pushes = client.create_publisher(WrenchStamped, "wrench", 10)
    push = WrenchStamped()
    push.header.frame_id, push.wrench.force.x = "body_1", 1.0
    try:
        client.spin_until(lambda: pushes.get_subscription_count() > 0, "physics")
        pushes.publish(push)
        while "is no answer" not in said and physics.poll() is None:
            said = physics.stdout.readline()
    finally:
        client.close()
        stop(physics)
    assert "physics waits for any controller" in said and "lockstep_participants: [wrench]" in said
