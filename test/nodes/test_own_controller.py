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
import warnings
from pathlib import Path

import numpy as np
import pytest
from physics_process import PATIENCE, Client, stop

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.bench.robot_data import find_robot
from mbsim_ros.control.plain import completed
from mbsim_ros.nodes.controllers.controller_node import warmed_up

ROOT = Path(__file__).resolve().parents[2]
PERIOD = 0.002  # s
OWN = '''"""Every joint swings about where it was found."""
from dataclasses import dataclass

import numpy as np

from mbsim_ros.control.command import JointCommand
from mbsim_ros.control.controller import driven_joints
from mbsim_ros.control.parameters import ValidatedParameters, parameter
from mbsim_ros.nodes.controllers.controller_node import run_controller

@dataclass(frozen=True)
class SwingParameters(ValidatedParameters):
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


SIX_LINES = """class Slow:
    def update(self, t, state):
        n = len(state.effort)
        load = sum(contact.force[2] for contact in state.contacts.values())
        height = state.base_pose[2, 3] - 0.1 * state.base_twist[2]
        return -0.1 * state.v[-n:] - 0.1 * state.effort - 0.01 * height - 1e-3 * load
"""


def launch(*arguments, cwd, prefix="", robot="arm"):
    command = [sys.executable, "-m", "mbsim_ros", "launch", robot, "view:=false", "real_time_factor:=0.0", *arguments]
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


@pytest.mark.parametrize("robot", ["arm", "solo12", "go2"])
def test_a_class_with_update_alone(robot, tmp_path):
    """Six lines, over ROS and without it, for any robot: the same states with base and contacts, the same motion."""
    assert len(SIX_LINES.splitlines()) == 6
    (tmp_path / "six.py").write_text(SIX_LINES)
    path = ROOT / "urdf/arm.urdf.xacro" if robot == "arm" else find_robot(robot)
    ground = None if robot == "arm" else "flat"
    if path is None:
        pytest.skip("example-robot-data is not installed")
    client, given = Client("/six"), ["controller:=python_file", "controller_file:=six.py"]
    given.append(f"terrain:={ground or 'auto'}")
    process = launch(f"robot:={path}", "namespace:=/six", *given, cwd=tmp_path, robot="simulate")
    try:
        client.spin_until(lambda: client.states and seconds(client.states[-1]) > 0.1, "0.1 s")
        state = client.states[-1]
    finally:
        said = stop(process)
        client.close()
    assert "Traceback" not in said, said
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulation(path, terrain=ground)
    sim.run(seconds(state), runpy.run_path(str(tmp_path / "six.py"))["Slow"](), control_period=PERIOD)
    np.testing.assert_array_equal(state.position, sim.q[-len(state.position) :])
    assert ground is None or sim.state().contacts


def test_one_that_raises_ends_the_launch_with_its_reason(tmp_path):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n    def update(self, t, state):\n        return [1 / (t < 0.05)] * 6\n"
    )
    process = launch("controller:=python_file", "controller_file:=bad.py", cwd=tmp_path)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, said
    reason = "the controller failed at t = 0.05 s: ZeroDivisionError: division by zero (bad.py:3)"
    assert any(line.endswith(reason) for line in said.splitlines() if "said last" in line), said
    last = said.splitlines()[-1]
    assert last.startswith("[launch] ended because controller failed: ") and last.endswith(reason), said


def test_what_fails_with_the_made_up_state_of_the_start_fails_again_with_a_real_one():
    """A mistake that shows in the first update only is not lost in the update for nobody."""

    class Once:
        begun = False

        def reset(self):
            pass

        def update(self, t, state):
            if not self.begun:
                self.begun = True
                self.planer.plan(t)

    model = load_urdf(ROOT / "urdf/arm.urdf.xacro")
    controller, failure = warmed_up(lambda: completed(Once)(model), model)
    assert isinstance(failure, AttributeError)
    with pytest.raises(AttributeError, match="planer"):
        controller.update(0.0, Simulation(model).state())
    Once.begun = True
    assert warmed_up(lambda: completed(Once)(model), model)[1] is None


def test_a_file_without_a_controller_is_told_so(tmp_path):
    (tmp_path / "none.py").write_text("class Nothing:\n    pass\n")
    process = launch("controller:=python_file", "controller_file:=none.py", cwd=tmp_path)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "expected one class with a method update(t, state), found none" in said
