# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Gains and loads that change over ROS while a robot runs, and a bag of it that replays bit for bit."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest
from physics_process import PATIENCE, ROOT, Client, stamp, start_node, stop
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from std_msgs.msg import String

from mbsim_ros.bags.journal import KEYFRAME
from mbsim_ros.bags.replay import replay

HEAVY = "hand 3.0 0 0 0.1"


@pytest.fixture
def client():
    client = Client("/robot")
    yield client
    client.close()


def robot(name):
    return f"robot_file:={ROOT}/urdf/{name}.urdf.xacro", f"sidecar:={ROOT}/config/{name}.mbsim.yaml"


def record(folder, *options):
    command = [sys.executable, "-m", "mbsim_ros", "record", "--namespace", "robot", "--out", str(folder), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def change(client, **values):
    """Set parameters; the first reason of a refusal, or ""."""
    given = [Parameter(name.replace("__", "."), value=value).to_parameter_msg() for name, value in values.items()]
    request = SetParameters.Request(parameters=given)
    results = client.call("physics/set_parameters", SetParameters, request).results
    return next((result.reason for result in results if not result.successful), "")


def finish(physics, recorder):
    """End both; what physics and the recorder said."""
    said = stop(physics)
    recorder.send_signal(signal.SIGINT)
    return said, recorder.communicate(timeout=PATIENCE)[0]


def replayed(folder, *, from_the_start=True):
    """The report; one that runs free has begun before the recorder knows its journal, sooner or later."""
    (report,) = replay(folder)
    assert report.is_same, report.difference
    assert report.tolerance == 0.0
    if from_the_start:
        assert (report.untold, report.notes) == (0, []), report
    return report


def test_an_arm_in_lockstep(client, tmp_path):
    """Two answer, and parameters change between the two answers: the command that waits acts with the new gains."""
    physics = start_node(
        "physics", *robot("arm"), "sync:=lockstep", "real_time_factor:=0.0", "lockstep_timeout:=100.0",
        "lockstep_participants:=[client, late, record]", "gains.elbow.kp:=400.0", namespace="/robot",
    )  # fmt: skip
    recorder = record(tmp_path / "bag", "--lockstep")

    def rounds(number, **changes):
        """Hold the first position; change parameters in the first round, while the late one has not answered."""
        for _ in range(number):
            state = client.states[-1]
            client.answer(state, position=start.position)
            if changes:
                assert change(client, **changes) == ""
                changes = {}
            client.answer(state, sender="/robot/late")
            client.spin_until(lambda old=state: stamp(client.states[-1]) > stamp(old), "the next state")
        return np.array(client.states[-1].position)

    try:
        start = client.wait_for_state()
        elbow = list(start.name).index("elbow")
        held = rounds(100)
        soft = rounds(100, gains__elbow__kp=40.0, gains__elbow__kd=5.0)
        loaded = rounds(100, payload=[HEAVY])
        again = rounds(100, payload=[""], gains__elbow__kp=400.0, gains__elbow__kd=50.0)
        for wrong, reason in (
            ({"gains__elbow__kp": 0.0}, "gains.elbow.kp: expected above 0"),
            ({"gains__elbow__kd": -1.0}, "gains.elbow.kd"),
            ({"payload": ["hnd 1"]}, "no such link: did you mean 'hand'"),
            ({"payload": ["hand one"]}, "mass: expected a finite number"),
        ):
            assert reason in change(client, **wrong), wrong
        names = ["payload", "gains.elbow.kp", "gains.elbow.kd"]
        values = client.call("physics/get_parameters", GetParameters, GetParameters.Request(names=names)).values
    finally:
        said, recorded = finish(physics, recorder)
    assert "Traceback" not in said + recorded, said + recorded
    assert [list(values[0].string_array_value), *(value.double_value for value in values[1:])] == [[""], 400.0, 50.0]
    sag = [abs(each[elbow] - start.position[elbow]) for each in (held, soft, loaded, again)]
    assert sag[0] < sag[1] < sag[2], "softer it gives way, and more so under the load"
    assert replayed(tmp_path / "bag").states >= 400


def test_a_floating_robot_that_runs_free(client, tmp_path):
    """It stands on the ground; the load presses it down, and stays where it is through a reset."""
    physics = start_node("physics", *robot("walker"), "terrain:=flat", "start:=run", namespace="/robot")
    keyframes = []
    client.create_subscription(
        String, "simulation_journal", lambda message: KEYFRAME in message.data and keyframes.append(message), 1000
    )
    # Each new listener brings two keyframes: after two for this client, two more say that the recorder is known.
    client.spin_until(lambda: len(keyframes) >= 2, "the journal")
    recorder = record(tmp_path / "bag")

    def height():
        return client.odometry[-1].pose.pose.position.z

    def run_for(seconds):
        end = stamp(client.states[-1]) + seconds * 1e9
        client.spin_until(lambda: stamp(client.states[-1]) > end, f"{seconds} s")

    try:
        client.wait_for_state()
        client.spin_until(lambda: len(keyframes) >= 4, "the recorder")
        run_for(0.3)
        link, before = client.odometry[-1].child_frame_id, height()
        assert change(client, payload=[f"{link} 20.0"]) == ""
        run_for(0.3)
        loaded = height()
        assert client.call("reset").success
        run_for(0.3)
        assert change(client, payload=[""]) == ""
        run_for(0.3)
    finally:
        said, recorded = finish(physics, recorder)
    assert "Traceback" not in said + recorded, said + recorded
    assert loaded < before - 1e-4
    assert replayed(tmp_path / "bag", from_the_start=False).states > 100
