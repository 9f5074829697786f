# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Two robots in two namespaces with one clock: each does what it would do alone, bit for bit, whatever the other does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from physics_process import LATCHED, PATIENCE, ROOT, Client, stamp
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from mbsim_ros import load_urdf
from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats.cdr import joint_message
from mbsim_ros.control import ComputedTorque, ComputedTorqueParameters, JointHold, RobotState
from mbsim_ros.nodes.physics.parameters import PARAMETERS
from mbsim_ros.nodes.physics.simulation_setup import make_simulation
from mbsim_ros.sim.drives.command_interface import CommandInterface

PERIOD, STEPS = 2_000_000, 2  # ns, and steps in it
SECOND = 1_000_000_000
# as config/arm_sine.yaml has it
SINE = ComputedTorqueParameters(
    trajectory="sine", amplitude=(0.6, 0.3, 0.4, 0.4, 0.3, 0.8), frequency=(0.25, 0.25, 0.5, 0.5, 0.25, 0.5),
    effort_held_for=0.002,
)  # fmt: skip


def alone(make_controller, states):
    """The arm and its controller without ROS: position, velocity and effort of every state, as bytes."""
    model = load_urdf(ROOT / "urdf/arm.urdf.xacro")
    sim = make_simulation(model, {entry.name: entry.default for entry in PARAMETERS})
    intake, controller = CommandInterface(sim), make_controller(model)
    intake.hold()
    found = []
    for k in range(states):
        q, v = sim.q, sim.v
        found.append((q.tobytes(), v.tobytes(), sim.efforts.tobytes()))
        command = controller.update(k * PERIOD / SECOND, RobotState(k * PERIOD, q, v))
        parts = [[] if part is None else part for part in (command.position, command.velocity, command.effort)]
        intake.joints.read(command.names, *parts).apply()
        sim.advance(STEPS)
    return found


def recorded(bag, topic):
    """Stamps and states of a bag."""
    messages = [joint_message(message.data) for message in BagReader(bag).messages([topic])]
    states = [(m.position.tobytes(), m.velocity.tobytes(), m.effort.tobytes()) for m in messages]
    return [m.stamp for m in messages], states


@pytest.fixture
def client():
    client = Client()
    yield client
    client.close()


def test_two_arms_do_not_disturb_each_other(client, tmp_path):
    """The left one owns the clock and is reset in the middle; the right one holds still and goes by that clock."""
    heard = {name: [] for name in ("left", "right")}
    for name, states in heard.items():
        client.create_subscription(JointState, f"/{name}/joint_states", lambda m, s=states: s.append(stamp(m)), LATCHED)
    frames = set()
    client.create_subscription(TFMessage, "/tf", lambda m: frames.update(t.child_frame_id for t in m.transforms), 100)
    command = ["launch", str(ROOT / "launch/two_arms.launch.xml"), "right_controller:=joint_hold", "record:=true"]
    launch = subprocess.Popen(
        [sys.executable, "-m", "mbsim_ros", *command, f"bag:={tmp_path}/bag"], env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        client.spin_until(lambda: all(s and s[-1] >= 0.3 * SECOND for s in heard.values()), f"both, heard {heard}")
        assert client.count_publishers("/clock") == 1
        assert client.call("/left/reset").success
        reset_at = heard["left"][-1]
        client.spin_until(lambda: heard["left"][-1] > reset_at + 1.2 * SECOND, "the left arm after its reset")
        client.spin_until(lambda: heard["right"][-1] > reset_at + 1.2 * SECOND, "the right arm at the same time")
    finally:
        launch.send_signal(signal.SIGINT)
        written = launch.communicate(timeout=PATIENCE)[0]
    assert launch.returncode == 0, written
    assert all(np.diff(client.clocks) >= 0)
    assert {name.partition("/")[0] for name in frames} == {"left", "right"}

    stamps, states = recorded(tmp_path / "bag_left", "/left/joint_states")
    jumps = np.flatnonzero(np.diff(stamps) != PERIOD)
    assert [stamps[k + 1] - stamps[k] for k in jumps] == [SECOND], "the reset, and nothing else"
    before, after = states[: jumps[0] + 1], states[jumps[0] + 1 :]
    assert before == alone(lambda model: ComputedTorque(model, SINE), len(before))
    assert after[0] == before[0]

    stamps, states = recorded(tmp_path / "bag_right", "/right/joint_states")
    assert stamps == [k * PERIOD for k in range(len(stamps))], "no stamp of the right arm is left out"
    assert len(states) > 600
    assert states == alone(JointHold, len(states))
    assert states[100] != before[100]
