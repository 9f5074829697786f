# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The nodes of biped.launch.xml in processes of their own, and a client that sees every one of their states."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from nav_msgs.msg import Odometry
from physics_process import ROOT, Client, stamp

from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.launcher.node_spec import InlineParameter, NodeSpec
from mbsim_ros.launcher.plan import plan_launch
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.nodes.controllers.state_synchronizer import StateSynchronizer

LAUNCH_FILE = ROOT / "launch/biped.launch.xml"
SECOND = 1_000_000_000


class Biped(Client):
    """Takes part in the lockstep with empty answers: the next state comes when this one has been seen.

    states_by_stamp: whole states by stamp [ns]; joints of several dofs are neutral in them.
    """

    def __init__(self, model: Model, nodes: dict[str, NodeSpec], folder: Path):
        super().__init__("/biped")
        self.model, self._nodes, self._folder = model, nodes, folder
        self._synchronizer = StateSynchronizer(model, ())
        self.states_by_stamp: dict[int, RobotState] = {}
        self.processes: list[subprocess.Popen] = []

    def start(self, name: str) -> subprocess.Popen:
        """Start a node as the launch file has it."""
        command = self._nodes[name].command_line(self._folder)
        environment = {**os.environ, **self._nodes[name].environment, "PYTHONUNBUFFERED": "1"}
        with (self._folder / f"{name}_{len(self.processes)}.log").open("w") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
        self.processes.append(process)
        return process

    def written(self) -> str:
        """What the nodes have written."""
        return "\n".join(log.read_text() for log in sorted(self._folder.glob("*.log")))

    def follow(self, condition, what: str, until: float) -> RobotState:
        """Let time go on until a state meets a condition; fails where none has until this stamp [s]."""
        answered = None
        while True:
            self.spin_until(lambda seen=answered: self._is_complete() and self.states[-1] is not seen, "the next state")
            answered = self.states[-1]
            state = self._joined(answered, self.odometry[-1])
            self.states_by_stamp[state.time] = state
            if condition(state):
                return state
            assert state.time < until * SECOND, f"waited until {until} s for {what}\n{self.written()}"
            self.answer(answered)
            del self.states[:-1], self.odometry[:-1]

    def _is_complete(self) -> bool:
        return bool(self.states and self.odometry) and stamp(self.states[-1]) == stamp(self.odometry[-1])

    def _joined(self, joints, odometry: Odometry) -> RobotState:
        self._synchronizer.add_odometry(odometry)
        state = self._synchronizer.add_joint_state(joints)
        assert state is not None
        return state


@contextlib.contextmanager
def biped_nodes(folder: Path, robot: str, lockstep_timeout: float, **arguments: str) -> Iterator[Biped]:
    """Physics and the controller of the launch file with these arguments, and the client beside them."""
    arguments = {"real_time_factor": "0.0", "lockstep_timeout": str(lockstep_timeout), **arguments}
    nodes = {node.name: node for node in plan_launch(LAUNCH_FILE, arguments).nodes if node.name}
    controller = "/biped/controller"  # of a robot alone, and of an entity of the scene of experiment 2
    participants = InlineParameter("lockstep_participants", [controller, "/biped/client"])
    nodes["physics"] = replace(nodes["physics"], parameters=(*nodes["physics"].parameters, participants))
    client = Biped(load_urdf(ROOT / f"urdf/{robot}.urdf.xacro"), nodes, folder)
    try:
        client.start("physics")
        client.start("controller")
        yield client
    finally:
        client.close()  # first: nobody shares memory with processes that are killed
        for process in client.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
