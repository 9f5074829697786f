# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Couplings that no sidecar has, over ROS: while the walker walks, with a clutch that slips, and from the bag again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from clutch_client import ClutchClient
from walker_processes import launched, recorded

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats.cdr import joint_message
from mbsim_ros.bags.replay import replay
from mbsim_ros.coupling.configuration import named

SLOW = "control_period:=0.008"


def other_gears(model) -> str:
    """The walker's normal coupling with other ratios, and a clutch between a femur and its motor."""
    motors = {motor: dict(ratios) for motor, ratios in model.sidecar.couplings["normal"].motors.items()}
    motors["waist"] = {"body": 0.5}
    motors["femur_A"] = {joint: 0.8 * ratio for joint, ratio in motors["femur_A"].items()}
    given = {"motors": motors, "torque_limit": {"AFL_f": 150.0}}
    return json.dumps(given, separators=(",", ":"))


@pytest.fixture
def client(fast_discovery):
    client = ClutchClient()
    yield client
    client.close()


def test_any_coupling_while_it_walks(tmp_path, client):
    """It goes on walking with gears that were sent to it, and back; the bag gives every bit again."""
    from walker_runs import walker

    text = other_gears(walker())
    name, bag = named(walker())[text].name, tmp_path / "bag"
    with launched(SLOW, "forward:=0.22", "record:=true", f"bag:={bag}") as launch:
        client.wait_until(lambda: client.time > 1.0 and client.is_connected(), "the walker to walk")
        client.wait_until(lambda: client.coupling == name or client.ask_again(f"{text} hard"), "the other gears")
        begin = client.time
        client.wait_until(lambda: client.time > begin + 1.8, "a cycle with them")
        end = client.time
        client.wait_until(lambda: client.coupling == "normal" or client.ask_again("normal hard"), "the old ones")
        client.wait_until(lambda: client.time > end + 0.3, "some time with these")
        launch.end()
    found = recorded(bag)
    t = found.stamps / 1e9
    first, last = np.searchsorted(t, [begin, end])
    assert (found.q[last, 0] - found.q[first, 0]) / (t[last] - t[first]) > 0.15  # it walks on
    motors = [joint_message(message.data) for message in BagReader(bag).messages(["/walker/motor_states"])]
    given = {m.stamp: m for m in motors if m.frame_id == name}
    model = walker()
    waist, slip = (next(iter(given.values())).names.index(each) for each in ("waist", "AFL_f/slip"))
    rows = [k for k, stamp in enumerate(found.stamps.tolist()) if stamp in given]
    assert len(rows) > 200
    body = model.joint("body").iv
    for k in rows:
        motor = given[int(found.stamps[k])]
        assert abs(found.v[k, body] - 0.5 * motor.velocity[waist]) < 1e-12
        assert abs(motor.effort[slip]) <= 150.0 * (1 + 1e-8)
    (report,) = replay(bag)
    assert (report.is_same, report.tolerance, report.notes) == (True, 0.0, [])
