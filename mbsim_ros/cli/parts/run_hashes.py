# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Runs whose every bit is hashed: a change that is to change no behaviour leaves all of these hashes as they were.

A hash holds for one machine and one version of numpy and LLVM: other processors round sines otherwise. So none is kept
in the repository; `mbsim hashes` makes the table before a change and compares after it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.formats.cdr import JointMessage, joint_message, odometry_message
from mbsim_ros.bags.recorded_run import recorded_runs
from mbsim_ros.experiments.experiment import available, find
from mbsim_ros.experiments.writing import plain
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.sim.simulation import Simulation

TIMED = ("CPU", "computing time", "[µs]", "exponent")  # words of an experiment's numbers that differ between runs

Run = Callable[[], str]


def runs(seconds: float, with_ros: bool, experiments: Iterable[str]) -> dict[str, Run]:
    """The table's runs by their names; `seconds` is how long each robot is simulated."""
    table: dict[str, Run] = {
        f"box drop, {name}": partial(box_drop, name, seconds) for name in ("lie_variational", "quaternion_variational")
    }
    table["arm, drives"] = partial(arm, seconds)
    table["walker, clutch events"] = partial(clutch_events, seconds)
    if with_ros:
        for robot in ("walker", "biped", "arm"):
            table[f"{robot} over ROS"] = partial(launched, robot, seconds)
    table.update({f"experiment {name}": partial(experiment, name) for name in experiments})
    return table


def all_runs() -> dict[str, Run]:
    """The whole table: ten seconds of each robot, also over ROS, and every experiment."""
    return runs(10.0, True, available())


def box_drop(integrator: str, seconds: float) -> str:
    """W's box, thrown on the floor."""
    box = ModelBuilder("box").link("box", mass=70.0, box=(0.3, 0.4, 0.2), collision=True).build("floating")
    sim = Simulation(box, integrator=integrator, terrain="flat")
    sim.reset([0.0, 0.0, 0.4, 0.28, 0.0, 0.0, 0.96], [2.0, 0.0, -0.04, 1.0, -2.0, 0.5])
    return _hash_of_run(sim, seconds)


def arm(seconds: float) -> str:
    """The arm, pulled by drives to a posture and pushed."""
    sim = Simulation(_shipped("arm"))
    sim.drive(position={name: 0.3 * (-1) ** k for k, name in enumerate(sim.tau_names)})
    sim.push(sim.model.link_names[-1], force=(3.0, -2.0, 1.0))
    return _hash_of_run(sim, seconds)


def clutch_events(seconds: float) -> str:
    """The walker on its feet, with clutches and brakes that close and open while it strokes."""
    sim = Simulation(_shipped("walker"), coupling="normal")
    found = hashlib.sha256()
    for k, coupling in enumerate(("turn", "hold", "normal", "femurs_reversed")):
        sim.drive_motors(velocity=dict.fromkeys(sim.motor_names, 0.5 * (-1) ** k))
        found.update(_hash_of_run(sim, seconds / 4).encode())
        engagement = sim.couple(coupling)
        _add(found, engagement.loss, *engagement.joint_impulses.values())
    return found.hexdigest()


def experiment(name: str) -> str:
    """The numbers of an experiment as its JSON file has them, without those that time the machine."""
    outcome = find(name).run(lambda share, what: None)
    numbers = {key: value for key, value in plain(outcome.metrics).items() if not any(w in key for w in TIMED)}
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()


def launched(robot: str, seconds: float, *more: str) -> str:
    """A launched robot with its controllers in other processes: states and commands of its bag.

    more: arguments of the launch file.
    """
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / "bag"
        words = ("view:=false", "real_time_factor:=0.0", f"duration:={seconds}", "record:=true", f"bag:={bag}")
        command = [sys.executable, "-m", "mbsim_ros", "launch", robot, *words, *more]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = done.stdout[-2000:] + done.stderr[-2000:]
            raise RuntimeError(f"launch {robot} ended with {done.returncode}:\n{said}")
        (run,) = recorded_runs(BagReader(bag))
    found = hashlib.sha256()
    for stamp, messages in sorted(run.states.items()):
        _add(found, stamp, *_numbers(joint_message(messages[0])))
    for stamp, messages in sorted(run.odometry.items()):
        odometry = odometry_message(messages[0])
        _add(found, stamp, odometry.pose, odometry.twist)
    for stamp, commands in sorted(run.commands.items()):
        # Which of two answers to a state is first is chance, and who comes late is told a state again.
        answers = {message.frame_id: _numbers(message) for _, message in commands}
        _add(found, stamp, *(each for _, answer in sorted(answers.items()) for each in answer))
    return found.hexdigest()


def _numbers(message: JointMessage) -> tuple[np.ndarray, ...]:
    return message.position, message.velocity, message.effort


def _hash_of_run(sim: Simulation, seconds: float) -> str:
    """Of q, v and energies of every step, and of the ledger at the end."""
    recording = sim.run(seconds, record=("q", "v", "energy"), progress=False)
    assert recording is not None
    ledger = sim.ledger()
    found = hashlib.sha256()
    _add(found, recording["q"], recording["v"], recording["energy"], *vars(ledger).values())
    return found.hexdigest()


def _add(found: hashlib._Hash, *values: object) -> None:
    for value in values:
        found.update(np.ascontiguousarray(value, dtype=float).tobytes())


def _shipped(name: str) -> Path:
    return share_directory("mbsim_ros") / "urdf" / f"{name}.urdf.xacro"
