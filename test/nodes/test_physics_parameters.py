# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The parameters of the physics node: described, ranged, changed while it runs or refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from physics_process import LATCHED, ROOT, Client, start_node, stop
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from std_msgs.msg import String

from mbsim_ros.nodes.physics.parameters import PARAMETERS

WALKER = (f"robot_file:={ROOT}/urdf/walker.urdf.xacro", f"sidecar:={ROOT}/config/walker.mbsim.yaml")


@pytest.fixture
def client():
    client = Client()
    yield client
    client.close()


@pytest.fixture
def walker():
    process = start_node(
        "physics", *WALKER, "coupling:=normal", "start:=run", "diagnostics_period:=0.1", "real_time_factor:=1"
    )
    yield process
    if process.poll() is None:
        stop(process)


def refusal(client, **values):
    """Set parameters one after the other; the reason of the first that is refused, or ""."""
    request = SetParameters.Request(parameters=[Parameter(n, value=v).to_parameter_msg() for n, v in values.items()])
    results = client.call("physics/set_parameters", SetParameters, request).results
    return next((result.reason for result in results if not result.successful), "")


def values_of(client, *names):
    request = GetParameters.Request(names=names)
    return client.call("physics/get_parameters", GetParameters, request).values


def test_parameters_of_a_running_walker(client, walker):
    """In one process, which takes seconds to start: descriptors, live changes, refusals, the step bound."""
    couplings, diagnoses = [], []
    client.create_subscription(String, "coupling_state", lambda m: couplings.append(m.data), LATCHED)
    client.create_subscription(DiagnosticArray, "/diagnostics", lambda m: diagnoses.extend(m.status), 10)
    client.wait_for_state()

    names = [entry.name for entry in PARAMETERS]
    request = DescribeParameters.Request(names=names)
    for entry, about in zip(
        PARAMETERS, client.call("physics/describe_parameters", DescribeParameters, request).descriptors, strict=True
    ):
        assert about.name == entry.name
        assert len(about.description) > 10
        assert about.floating_point_range or about.integer_range or about.additional_constraints, entry.name
        assert about.read_only is not entry.live

    for name in (entry.name for entry in PARAMETERS if not entry.live):
        (value,) = values_of(client, name)
        message = SetParameters.Request()
        message.parameters.append(Parameter(name, value="x").to_parameter_msg())
        message.parameters[0].value = value  # even if it is what it is already
        (result,) = client.call("physics/set_parameters", SetParameters, message).results
        assert not result.successful
        assert "read-only" in result.reason and name in result.reason

    client.spin_until(lambda: couplings == ["normal"], "the first coupling")
    for wrong, reason in (
        ({"gravity": [0.0, 0.0]}, "gravity: expected three finite numbers, got [0.0, 0.0]"),
        ({"gravity": [0.0, 0.0, float("nan")]}, "gravity: expected three finite numbers"),
        ({"friction": 1000.0}, "friction"),
        ({"friction": float("nan")}, "friction"),
        ({"coupling": "nrmal"}, "coupling: no coupling named 'nrmal': did you mean 'normal'?"),
        ({"coupling": ""}, "coupling: no coupling named '': the sidecar has normal"),
        ({"on_timeout": "wait"}, "on_timeout: expected one of 'hold', 'damp', 'zero', got 'wait'"),
        ({"real_time_factor": -1.0}, "real_time_factor"),
        ({"contact_rate": "often"}, "Wrong parameter type"),
    ):
        assert reason in refusal(client, **wrong), wrong

    assert refusal(client, friction=0.3, gravity=[0.0, 0.0, -1.6], diagnostics_period=0.2, contact_rate=5.0) == ""
    assert [value.double_value for value in values_of(client, "friction", "contact_rate")] == [0.3, 5.0]
    assert refusal(client, gravity=[0, 0, -2], contact_rate=5, real_time_factor=1) == ""  # whole numbers do, too
    gravity, rate = values_of(client, "gravity", "contact_rate")
    assert (list(gravity.double_array_value), rate.double_value) == ([0.0, 0.0, -2.0], 5.0)
    assert refusal(client, coupling="turn") == ""
    client.spin_until(lambda: couplings[-1] == "turn", "the coupling that was asked for")
    assert refusal(client, coupling="normal", friction=-1.0) == ""
    client.spin_until(lambda: couplings == ["normal", "turn", "normal"], "the coupling before")

    atomic = SetParametersAtomically.Request(
        parameters=[
            Parameter("friction", value=0.5).to_parameter_msg(),
            Parameter("coupling", value="no").to_parameter_msg(),
        ]
    )
    assert not client.call("physics/set_parameters_atomically", SetParametersAtomically, atomic).result.successful
    assert values_of(client, "friction")[0].double_value == -1.0

    def told():
        return {pair.key: pair.value for status in diagnoses[-1:] for pair in status.values}

    client.spin_until(lambda: "step bound [s]" in told(), "the step bound")
    assert 0.01 < float(told()["step bound [s]"]) < 100.0
    assert told()["step bound is"] == "estimate, free motion only"
    client.spin_until(lambda: told()["coupling"] == "normal", "diagnostics from after the change")
    assert np.isfinite(client.states[-1].position).all()
    assert "Traceback" not in stop(walker)


def test_friction_of_what_touches_nothing_is_refused(client):
    arm = start_node("physics", f"robot_file:={ROOT}/urdf/arm.urdf.xacro", "start:=run")
    try:
        client.wait_for_state()
        assert "friction: expected a robot that touches something, got 'arm'" in refusal(client, friction=0.5)
        assert "use_sim_time: expected false" in refusal(client, use_sim_time=True)
        assert "coupling: no coupling named 'normal': the sidecar has none" in refusal(client, coupling="normal")
    finally:
        stop(arm)
