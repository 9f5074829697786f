# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A recorded run in which entities came and went, and were driven by their own commands, is replayed bit for bit."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from physics_process import ROOT, stamp, start_node, stop

pytest.importorskip("simulation_interfaces")

from sensor_msgs.msg import JointState
from test_spawning import BALL, OK, Spawner

from mbsim_ros.bags.replay import replay

pytestmark = pytest.mark.ros


@pytest.mark.parametrize("late", [False, True], ids=["from the start", "from the middle"])
def test_spawns_are_replayed(tmp_path, late):
    """late: the recorder comes when there are other entities than at the start."""
    client = Spawner()
    physics = start_node(
        "physics", "entities:=['arm=arm', 'box=box@3,0,1']", "sync:=async", "real_time_factor:=0.5",
        "command_timeout:=0.3",
    )  # fmt: skip
    bag = tmp_path / "bag"
    command = [sys.executable, "-m", "mbsim_ros", "record", "--out", str(bag)]
    record = None if late else subprocess.Popen(command, cwd=ROOT)
    commands = client.create_publisher(JointState, "arm/joint_commands", 10)
    guests = client.create_publisher(JointState, "guest/joint_commands", 10)

    def run_for(seconds: float, publisher, name: str, position: float) -> None:
        """Command a joint for this simulated time."""
        end = stamp(client.states[-1]) + seconds * 1e9

        def is_there() -> bool:
            publisher.publish(JointState(name=[name], position=[position]))
            return stamp(client.states[-1]) >= end

        client.spin_until(is_there, f"{seconds} s")

    try:
        client.wait_for_state()
        if not late:
            client.spin_until(lambda: client.count_subscribers("simulation_journal"), "the recorder")
        run_for(0.1, commands, "elbow", 0.4)
        assert client.spawn("guest", "arm", xyz=(0.0, 2.0, 0.0)).result.result == OK
        run_for(0.2, guests, "elbow", -0.3)
        if late:
            record = subprocess.Popen(command, cwd=ROOT)
            client.spin_until(lambda: client.count_subscribers("simulation_journal"), "the recorder")
            run_for(1.0, guests, "elbow", -0.3)
        assert client.spawn(text=BALL, xyz=(0.0, 2.0, 2.0)).result.result == OK
        run_for(0.2, commands, "waist", 0.5)
        assert client.delete("box").result == OK
        run_for(0.5, guests, "waist", 0.2)  # meanwhile nobody commands the first arm: it holds
        assert client.delete("guest").result == OK
        run_for(0.2, commands, "waist", 0.0)
        assert client.call("reset").success
        run_for(0.2, commands, "waist", 0.3)
    finally:
        said = stop(physics)
        if record is not None:
            record.send_signal(signal.SIGINT)
            record.wait(60)
        client.close()
    assert physics.returncode == 0, said
    assert "no command of 'guest'" in said or "no command of 'arm'" in said
    (report,) = replay(bag)
    assert report.is_same, report.difference
    assert report.tolerance == 0.0, report.notes
    assert report.states > 200  # a recorder on a busy machine misses the first ones
    assert report.resets == 1
