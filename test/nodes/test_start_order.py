# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Physics, a controller and a recorder, started in any order with seconds between them: nobody waits for ever."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from physics_process import PATIENCE, ROOT, Client, stamp, start_node

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.nodes.checks.soak_process import SoakProcess

BETWEEN = 2.0  # s
PERIOD = 2_000_000  # ns
STATES = 151  # 0.3 s

# robot, its controller, and orders: each of physics, controller and recorder comes first, in between and last
ROBOTS = {
    "arm": ("arm.urdf.xacro", "computed_torque", ("cpr", "prc")),
    "floating": ("biped.urdf.xacro", "joint_hold", ("rcp", "pcr")),
}


class Run:
    """The three processes of one order, in a domain of their own."""

    def __init__(self, robot: str, order: str, domain: int, folder: Path):
        file, controller, _ = ROBOTS[robot]
        self.order, self.bag = order, folder / order
        self._domain = domain
        self._started: dict[str, subprocess.Popen] = {}
        self._starts = {
            "p": lambda: start_node(
                "physics", f"robot_file:={ROOT}/urdf/{file}", "terrain:=none", "sync:=lockstep", "real_time_factor:=0.0",
                "duration:=0.3", f"lockstep_participants:=[{controller}, record]", "lockstep_timeout:=1000.0",
            ),
            "c": lambda: start_node(controller),
            "r": lambda: start_node("record", f"out:={self.bag}", "lockstep:=true"),
        }  # fmt: skip

    def start(self, which: str, monkeypatch) -> None:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(self._domain))
        self._started[which] = self._starts[which]()

    def wait(self) -> None:
        """Until physics is at its end; then everybody else."""
        assert self._started["p"].wait(PATIENCE) == 0
        for which in self._started:
            if which != "p":
                self._started[which].send_signal(signal.SIGINT)
        for which, process in self._started.items():
            written = process.communicate(timeout=PATIENCE)[0]
            assert process.returncode == 0, f"{self.order}, {which}: {written}"
            assert "no answer" not in written

    def end(self) -> None:
        for process in self._started.values():
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.mark.parametrize("robot", ROBOTS)
def test_any_order_with_seconds_between(robot, new_domain, monkeypatch, tmp_path):
    orders = ROBOTS[robot][2]
    runs = [Run(robot, order, new_domain(), tmp_path) for order in orders]
    try:
        for place in range(3):
            if place:
                time.sleep(BETWEEN)
            for run in runs:
                run.start(run.order[place], monkeypatch)
        for run in runs:
            run.wait()
    finally:
        for run in runs:
            run.end()
    states = [[*BagReader(run.bag).messages(["/joint_states"])] for run in runs]
    assert [m.time for m in states[0]] == [k * PERIOD for k in range(STATES)]
    assert all(others == states[0] for others in states[1:]), "the order does not show in the states"


def test_time_begins_when_everybody_has_been_there():
    """Long after its timeout, a participant that has never answered is not missing: it is waited for."""
    parameters = (
        f"robot_file:={ROOT}/urdf/arm.urdf.xacro", "sync:=lockstep", "real_time_factor:=0.0", "lockstep_timeout:=0.2",
        "lockstep_participants:=[client, other]",
    )  # fmt: skip
    physics = SoakProcess("physics", [word for parameter in parameters for word in ("-p", parameter)])
    client = Client()
    try:
        state = client.wait_for_state()

        def still_waits():
            client.answer(state, position=state.position)
            return physics.said("no answer from /other: waiting") >= 1

        client.spin_until(still_waits, "physics to wait for the other")
        assert {stamp(state) for state in client.states} == {0}

        def goes_on():
            for sender in ("/client", "/other"):
                client.answer(client.states[-1], sender=sender, position=state.position)
            return stamp(client.states[-1]) > 0

        client.spin_until(goes_on, "time to begin")
    finally:
        ended = physics.stop()
        client.close()
    assert ended
    assert physics.returncode == 0
