# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker on a plate over ROS: forces under the feet in lockstep, couplings from the gait, the walk of no ROS."""

from __future__ import annotations

import numpy as np
import pytest
from physics_process import ROOT, Client, ns, stamp, start_node, stop
from std_msgs.msg import String

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.control.walker.gait import WalkerGait, WalkerGaitParameters
from mbsim_ros.control.walker.walk import walk
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain

PERIOD, SECONDS = 0.004, 1.4
LAST = 1_396_000_000  # ns
# One quick step, with its left front foot on the plate.
PLATE = "terrain: {type: heightfield, spacing: 0.02, origin: [0.52, -0.01], heights: [[0, 0], [0, 0.03]]}"
QUICK = {"rough": True, "rough_step_time": 0.6, "lowering_speed": 0.2, "preload_time": 0.05}
FORWARD = 0.2


@pytest.fixture
def terrain(tmp_path):
    file = tmp_path / "plate.yaml"
    file.write_text(PLATE)
    return str(file)


def without_ros(terrain, design):
    """q of every control instant by stamp [ns]."""
    model = load_urdf(ROOT / "urdf" / "walker.urdf.xacro", xacro_args=design)
    sim = Simulation(model, coupling="normal", terrain=chosen_terrain(terrain))
    found = {}
    gait = WalkerGait(sim.model, WalkerGaitParameters(**QUICK))
    walk(
        sim, gait, SECONDS, [(0.0, FORWARD, 0.0, 0.0)], period=PERIOD, every=1,
        each=lambda sim: found.setdefault(sim.time, sim.q),
    )  # fmt: skip
    return found


@pytest.mark.parametrize("design", [{}, {"legs": 6, "femur": 0.26}], ids=["the paper's", "six legs"])
def test_a_step_onto_a_plate_is_the_step_without_ros(terrain, design):
    expected = without_ros(terrain, design)
    client = Client("walker")
    couplings = []
    client.create_subscription(String, "coupling_state", lambda message: couplings.append(message.data), 100)
    parameters = [f"{name}:={str(value).lower()}" for name, value in QUICK.items()]
    sidecar = f"sidecar:={ROOT / 'config' / 'walker.mbsim.yaml'}"
    gait = start_node(
        "walker_controller", *parameters, sidecar, f"forward:={FORWARD}", namespace="/walker",
        remap=("__node:=controller",),
    )  # fmt: skip
    physics = start_node(
        "physics", f"robot_file:={ROOT / 'urdf' / 'walker.urdf.xacro'}", f"terrain:={terrain}", "sync:=lockstep",
        f"xacro_args:='{' '.join(f'{name}:={value}' for name, value in design.items())}'",
        "lockstep_participants:=[controller, coupling, client]", "coupling:=normal", "real_time_factor:=0.0",
        f"control_period:={PERIOD}", "contact_rate:=10000.0", "lockstep_timeout:=100.0", namespace="/walker",
    )  # fmt: skip
    try:
        newest = None
        while newest is None or stamp(newest) < LAST:
            client.spin_until(lambda seen=newest: client.states and client.states[-1] is not seen, "the next state")
            newest = client.states[-1]
            client.answer(newest)  # with nothing: the walk waits until this state has been seen
        client.spin_until(lambda: stamp(client.odometry[-1]) >= LAST, "the last odometry")
    finally:
        said = stop(physics) + stop(gait)
        client.close()
    joints = {stamp(message): message for message in client.states}
    bases = {ns(message.header.stamp): message for message in client.odometry}
    both = sorted(set(joints) & set(bases) & set(expected))
    assert len(both) > 0.9 * len(expected), said
    assert both[-1] >= LAST - 20_000_000  # the client keeps the newest only: one of the last may be lost to it
    for time in both:
        p, o = bases[time].pose.pose.position, bases[time].pose.pose.orientation
        q = np.array([p.x, p.y, p.z, o.x, o.y, o.z, o.w, *joints[time].position])
        np.testing.assert_array_equal(q, expected[time], err_msg=f"at {time} ns")
    assert ("braked_BFC" if design else "braked_BFL") in couplings, said
    assert couplings[-1] == "normal"
