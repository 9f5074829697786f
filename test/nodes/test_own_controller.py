# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A controller of a user's own, swapped in by one launch argument: in lockstep, in a process of its own, and as without ROS."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from physics_process import Client, stop

from mbsim_ros import Simulation

ROOT = Path(__file__).resolve().parents[2]
PERIOD = 0.002  # s
OWN = '''"""Every joint swings about where it was found."""
from dataclasses import dataclass

import numpy as np

from mbsim_ros.control.command import JointCommand
from mbsim_ros.control.controller import driven_joints
from mbsim_ros.control.parameters import Checked, parameter
from mbsim_ros.nodes.controller_node import run_controller

@dataclass(frozen=True)
class SwingParameters(Checked):
    amplitude: float = parameter(0.3, "How far the joints swing.", "rad")

class Swing:
    Parameters = SwingParameters
    def __init__(self, model, parameters=None):
        self._names, self._at = zip(*((joint.name, joint.iq) for joint in driven_joints(model)))
        self.configure(parameters or SwingParameters())
        self.reset()
    def configure(self, parameters):
        self.parameters = parameters
    def reset(self):
        self._middle = None
    def update(self, t, state):
        self._middle = state.q[list(self._at)] if self._middle is None else self._middle
        return JointCommand(self._names, position=self._middle + self.parameters.amplitude * np.sin(np.pi * t))
if __name__ == "__main__":
    raise SystemExit(run_controller("controller", Swing))
'''


def launch(*arguments, cwd, prefix=""):
    command = [sys.executable, "-m", "mbsim_ros", "launch", "arm", "view:=false", "real_time_factor:=0.0", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}
    environment["AMENT_PREFIX_PATH"] = f"{prefix}{os.pathsep}{os.environ['AMENT_PREFIX_PATH']}"
    return subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def by_file(folder):
    """The arguments for a file that lies anywhere."""
    return ["controller:=python_file", "controller_file:=my_controller.py"]


def by_package(folder):
    """The arguments for a package that is installed in a prefix, as colcon does it."""
    index = folder / "install/share/ament_index/resource_index/packages"
    index.mkdir(parents=True)
    (index / "my_robot").touch()
    executable = folder / "install/lib/my_robot/swing"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!{sys.executable}\n{OWN}")
    executable.chmod(0o755)
    return ["controller_package:=my_robot", "controller:=swing"]


@pytest.mark.parametrize("named", [by_file, by_package])
def test_it_drives_the_arm_in_lockstep(named, tmp_path):
    assert len(OWN.splitlines()) <= 30
    (tmp_path / "my_controller.py").write_text(OWN)
    sim = Simulation(ROOT / "urdf/arm.urdf.xacro")
    robot = Client("/arm")
    has_moved = lambda: robot.states and np.abs(robot.states[-1].position - sim.q).min() > 0.05  # noqa: E731
    process = launch(*named(tmp_path), cwd=tmp_path, prefix=tmp_path / "install")
    try:
        robot.spin_until(has_moved, "every joint to move")
        state, nodes = robot.states[-1], robot.get_node_names_and_namespaces
        robot.spin_until(lambda: ("controller", "/arm") in nodes(), "its node")
    finally:
        said = stop(process)
        robot.close()
    assert "Traceback" not in said, said
    assert "no answer" not in said
    own = runpy.run_path(str(tmp_path / "my_controller.py"))["Swing"]
    sim.run(seconds(state), own(sim.model), control_period=PERIOD)
    np.testing.assert_allclose(state.position, sim.q, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("controller:=python_file",), "controller_file: expected the path of a Python file, got ''"),
        (("controller:=python_file", "controller_file:=nowhere.py"), "got 'nowhere.py'"),
        (("controller_package:=nobodys",), "package 'nobodys' is not installed"),
    ],
)
def test_what_is_wrong_is_said(given, said, tmp_path):
    """A controller that ends leaves the arm on hold; here the run is given an end so that all of it does."""
    process = launch(*given, "duration:=0.01", cwd=tmp_path)
    try:
        words = ""
        for line in process.stdout:
            words += line
            if said in line:
                break
        assert said in words
    finally:
        stop(process)


def test_one_that_cannot_be_made_for_a_fault_of_its_own_ends_with_its_traceback(tmp_path):
    """What a callback raises is outlived; without a controller there would be nothing to go on with."""
    (tmp_path / "own.py").write_text(OWN.replace("self.reset()\n    def", "self.reset(now=True)\n    def", 1))
    process = launch("controller:=python_file", "controller_file:=own.py", cwd=tmp_path)
    said = ""
    for line in process.stdout:
        said += line
        if "[launch] controller failed" in line:
            break
    stop(process)
    assert "the controller cannot be made" in said
    assert "TypeError: Swing.reset() got an unexpected keyword argument 'now'" in said
    assert "[launch] controller failed with code 1" in said
