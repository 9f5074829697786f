# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Diagnostics only inform: whatever fails there is told and the run goes on. And nothing absurd is published."""

from __future__ import annotations

import re

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from physics_process import Client, start_node, stop
from sensor_msgs.msg import JointState

from mbsim_ros import Simulation
from mbsim_ros.integrators.state_bounds import FASTEST, FURTHEST
from mbsim_ros.model.assembly.builder import chain
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.nodes.physics.diagnostics import Diagnostics

LIMIT = 2.0  # N m, of joint_1; nobody knows that of joint_4


@pytest.fixture
def client():
    client = Client()
    yield client
    client.close()


def told(statuses):
    return {pair.key: pair.value for pair in statuses[-1].values} if statuses else {}


def test_a_part_that_fails_is_told_once_in_the_log_and_costs_no_other(client, capfd):
    """The ledger fails as it would where a joint has lost its inertia."""
    sim, heard = Simulation(chain(2)), []
    client.create_subscription(DiagnosticArray, "/diagnostics", lambda m: heard.extend(m.status), 10)
    diagnostics = Diagnostics(client, sim)
    client.spin_until(lambda: client.count_subscribers("/diagnostics"), "the subscription")

    def fail():
        raise ValueError("no such energy")

    sim.ledger = fail
    for _ in range(3):
        diagnostics.publish(0, DiagnosticStatus.OK, "runs", {"time [s]": 0.5})
    client.spin_until(lambda: len(heard) >= 3, "three diagnoses")
    assert heard[-1].level == DiagnosticStatus.WARN and heard[-1].message == "runs; not known: ledger"
    found = told(heard)
    assert found["ledger failed"] == "ValueError: no such energy"
    assert found["time [s]"] == "0.5" and found["residual"] == "0" and "step bound [s]" in found
    assert capfd.readouterr().err.count("no such energy") == 1
    del sim.ledger
    diagnostics.publish(0, DiagnosticStatus.OK, "runs", {})
    client.spin_until(lambda: len(heard) >= 4, "the diagnosis after it")
    assert heard[-1].message == "runs" and "ledger total [J]" not in told(heard) and "ledger kinetic [J]" in told(heard)


@pytest.fixture
def standing_chain(tmp_path):
    """A floating chain whose velocity is rounding, where the step bound once ended the node; weak in joint_1."""
    text = to_urdf(chain(5, base="floating").description)
    for joint, limit in (("joint_1", LIMIT), ("joint_4", 0.0)):
        text = re.sub(rf'(name="{joint}".*?effort=")[^"]*', rf"\g<1>{limit}", text, flags=re.DOTALL)
    (tmp_path / "chain.urdf").write_text(text)
    sidecar = "initial_states: {home: {joints: {joint_1: 0}, velocities: {joint_3: 1.0e-15}}}\n"
    (tmp_path / "chain.mbsim.yaml").write_text(sidecar)
    process = start_node(
        "physics", f"robot_file:={tmp_path}/chain.urdf", "diagnostics_period:=0.05", "real_time_factor:=0.0",
        "dt:=0.001", "control_period:=0.004",
    )  # fmt: skip
    yield process
    if process.poll() is None:
        stop(process)


def test_a_node_that_stands_and_is_then_driven_beyond_sense(client, standing_chain):
    """In one process: the step bound is told, a motor's limit holds, and a state beyond sense is not published."""
    heard, motors = [], []
    client.create_subscription(DiagnosticArray, "/diagnostics", lambda m: heard.extend(m.status), 10)
    client.create_subscription(JointState, "motor_states", motors.append, 10)
    client.spin_until(lambda: "step bound [s]" in told(heard) or standing_chain.poll() is not None, "the step bound")
    assert standing_chain.poll() is None, standing_chain.communicate()[0]
    assert told(heard)["step bound is"] == "estimate, free motion only"

    before = client.wait_for_state()
    client.motor_commands.publish(JointState(name=["joint_1"], effort=[1e9]))
    client.spin_until(lambda: len(client.states) > 20, "states under the motor")
    joint = list(before.name).index("joint_1")
    # a rod of 1 kg and 1 m: no faster than its inertia of at least 1/12 kg m² lets the limit make it
    for state in client.states:
        passed = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        assert abs(state.velocity[joint]) <= 60 * LIMIT * passed + 1e-9

    client.motor_commands.publish(JointState(name=["joint_4"], effort=[1e30]))
    client.spin_until(lambda: "smaller efforts" in heard[-1].message, "the failure")
    for state in (*client.states, *motors):
        for part, bound in (("position", FURTHEST), ("velocity", FASTEST)):
            assert np.abs(getattr(state, part)).max(initial=0.0) <= bound
    assert client.call("reset").success
    text = stop(standing_chain)
    assert "Traceback" not in text and "paused, reset to go on" in text
