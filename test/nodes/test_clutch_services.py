# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Services of the clutch manager: a request that waits keeps nobody else from being answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from physics_process import Client, start_node, stop
from rcl_interfaces.srv import GetParameters
from std_srvs.srv import SetBool, Trigger

ROOT = Path(__file__).resolve().parents[2]
SIDECAR = f"sidecar:={ROOT}/config/walker.mbsim.yaml"


@pytest.fixture
def walker():
    """A walker whose clutches are looked after, in the namespace /w."""
    physics = start_node(
        "physics", f"robot_file:={ROOT}/urdf/walker.urdf.xacro", SIDECAR, "coupling:=normal",
        "initial_state:=standing", namespace="/w",
    )  # fmt: skip
    clutches = start_node("clutch_manager", SIDECAR, namespace="/w")
    client = Client("/w")
    yield client
    client.close()
    print(stop(clutches), stop(physics))


def test_a_request_that_waits_keeps_nobody_from_being_answered(walker):
    request = walker.create_client(SetBool, "clutch/hold")
    walker.spin_until(request.service_is_ready, "the services of the couplings")
    walker.call("pause", Trigger)
    waits = request.call_async(SetBool.Request(data=True))
    parameters = GetParameters.Request(names=["patience"])
    for _ in range(20):  # of which the first may come before the request
        answer = walker.call("clutch_manager/get_parameters", GetParameters, parameters)
        assert answer.values[0].double_value == 3.0
    assert not waits.done()  # time stands still: nothing is decided
    walker.call("resume", Trigger)
    walker.spin_until(waits.done, "the answer to the request")
    assert waits.result().success, waits.result().message
