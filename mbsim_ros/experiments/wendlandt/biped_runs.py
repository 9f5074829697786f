# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Runs of W's biped under its balance controller, with all that W's figures show, in W's axes: X backward, Y right."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbsim_ros.control.balance.workspace_balance import WorkspaceBalance, WorkspaceBalanceParameters
from mbsim_ros.control.command import JointCommand
from mbsim_ros.control.controller import Controller, driven_joints
from mbsim_ros.dynamics import link_pose
from mbsim_ros.dynamics.robot_state import RobotState
from mbsim_ros.experiments.robots import document_robot, document_world
from mbsim_ros.model.model import Model
from mbsim_ros.sim.recording.recorder import Recorder
from mbsim_ros.sim.run_loop import ControllerLike
from mbsim_ros.sim.simulation import Simulation

CONTROL_PERIOD = 0.002  # s, W: 500 Hz
CONTACTS_FOR = 1.0  # s: how long contacts are watched; all stand still then
TO_W = np.array([-1.0, -1.0, 1.0])  # W's biped looks towards −X: half a turn about z
BIPED, BLOCK = "biped", "block"  # entities of experiment 2
FEET = ("left_foot", "right_foot")
# W section 4.3, with x forward: (−1, 0, 110) cm and 15° about −X; (−1, 0, 114) cm and 15° about −Y.
SET_POINTS: dict[int, dict[str, tuple[float, ...]]] = {
    1: {"position": (0.01, 0.0, 1.10), "rpy": (float(np.deg2rad(15.0)), 0.0, 0.0)},
    2: {"position": (0.01, 0.0, 1.14), "rpy": (0.0, float(np.deg2rad(15.0)), 0.0)},
}
LEG_JOINTS = ("hip_x", "hip_y", "hip_z", "knee", "ankle_x", "ankle_y")  # W's joints 2 to 7, and 8 to 13


def controller_for(model: Model, **parameters: Any) -> WorkspaceBalance:
    """The balance controller; everything that is not given is as published."""
    return WorkspaceBalance(model, WorkspaceBalanceParameters(**parameters))


@dataclass(frozen=True, eq=False)
class BipedRun:
    """A run of an experiment: rows at every control instant, contacts after every step of the first second.

    Vectors are in W's axes.
    """

    model: Model
    seconds: np.ndarray  # (n,)
    q: np.ndarray  # (n, nq), in our axes
    angles: np.ndarray  # (n, 2, 6) rad: of the left and the right leg
    torques: np.ndarray  # (n, 2, 6) N m
    position: np.ndarray  # (n, 3) m, of the centre of mass of the central body
    orientation: np.ndarray  # (n, 4), its quaternion (w, x, y, z)
    position_error: np.ndarray  # (n, 3) m
    orientation_error: np.ndarray  # (n, 4)
    force: np.ndarray  # (n, 3) N, desired, in axes of the central body
    torque: np.ndarray  # (n, 3) N m
    contact_seconds: np.ndarray  # (m,)
    modes: np.ndarray  # (m, 2, 4) of the corners of the soles: front left, front right, back left, back right
    depths: np.ndarray  # (m, 2, 4) m, below zero above the ground
    block_force: np.ndarray  # (m, 3) N, of the block on the central body
    block_q: np.ndarray  # (n, 7) of the block, in our axes; (n, 0) without one

    @property
    def turn(self) -> np.ndarray:
        """(n,) Angle of the orientation error [rad]."""
        vector = np.linalg.norm(self.orientation_error[:, 1:], axis=1)
        return np.asarray(2.0 * np.arctan2(vector, np.abs(self.orientation_error[:, 0])))


class Watched:
    """A controller whose errors, wrenches and efforts are kept, and where the block is."""

    def __init__(self, controller: WorkspaceBalance, sim: Simulation):
        self._controller, self._sim = controller, sim
        self.rows: list[tuple[np.ndarray, ...]] = []

    def update(self, t: float, state: RobotState) -> JointCommand:
        """The command of the controller."""
        command = self._controller.update(t, state)
        c = self._controller
        assert command.effort is not None
        block = self._sim.entity(BLOCK).q if self._sim.entities is not None else np.zeros(0)
        self.rows.append((state.q, command.effort, c.position_error, c.orientation_error, c.desired_wrench, block))
        return command


def run_experiment(number: int, seconds: float = 3.0, **parameters: Any) -> BipedRun:
    """Experiment 1 or 2 of W section 4.3."""
    model, sim, controller = begin_experiment(number, **parameters)
    watched = Watched(controller, sim)
    recorder = Recorder(("contact_modes", "penetrations", "link_forces"))
    driving = of_biped(sim, watched)
    recording = sim.run(CONTACTS_FOR, driving, control_period=CONTROL_PERIOD, record=recorder)
    assert recording is not None
    sim.run(seconds - CONTACTS_FOR, driving, control_period=CONTROL_PERIOD)
    watched.update(sim.seconds, sim.state() if sim.entities is None else sim.entity(BIPED).state())
    columns = zip(*watched.rows, strict=True)
    q, efforts, position_error, orientation_error, wrench, block_q = (np.array(column) for column in columns)
    legs = [[f"{side}_{joint}" for joint in LEG_JOINTS] for side in ("left", "right")]
    in_q = np.array([[model.joint(name).iq for name in names] for names in legs])
    driven = [joint.name for joint in driven_joints(model)]
    in_tau = np.array([[driven.index(name) for name in names] for names in legs])
    soles, body = _contact_places(sim)
    return BipedRun(
        model, CONTROL_PERIOD * np.arange(len(q)), q, q[:, in_q], efforts[:, in_tau], q[:, :3] * TO_W,
        quaternion_in_w(q[:, [6, 3, 4, 5]]), position_error * TO_W, quaternion_in_w(orientation_error),
        wrench[:, :3] * TO_W, wrench[:, 3:] * TO_W, recording.seconds, recording["contact_modes"][:, soles],
        recording["penetrations"][:, soles], recording["link_forces"][:, body] * TO_W, block_q,
    )  # fmt: skip


def begin_experiment(number: int, **parameters: Any) -> tuple[Model, Simulation, WorkspaceBalance]:
    """The biped, the simulation of it or of a scene, in the stated initial state, and the controller."""
    sim = Simulation(document_robot("biped") if number == 1 else document_world("biped_and_block"))
    model = sim.model if sim.entities is None else sim.entity(BIPED).model
    return model, sim, controller_for(model, **SET_POINTS[number], **parameters)


def of_biped(sim: Simulation, controller: Controller) -> ControllerLike:
    """A controller of the biped, as `Simulation.run` takes it of a robot alone or of a scene."""
    return controller if sim.entities is None else {BIPED: controller}


def computing_time(number: int, seconds: float = 3.0) -> tuple[float, float]:
    """CPU time [s] of a whole run and of one update of the controller, without anything that watches."""
    _, sim, controller = begin_experiment(number)
    sim.run(0.01, of_biped(sim, controller), control_period=CONTROL_PERIOD)  # what is to be compiled is, then
    _, sim, controller = begin_experiment(number)
    begin = time.process_time()
    sim.run(seconds, of_biped(sim, controller), control_period=CONTROL_PERIOD)
    whole = time.process_time() - begin
    state, updates = sim.state() if sim.entities is None else sim.entity(BIPED).state(), 500
    begin = time.process_time()
    for k in range(updates):
        controller.update(seconds + CONTROL_PERIOD * k, state)
    return whole, (time.process_time() - begin) / updates


def quaternion_in_w(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions (n, 4) in W's axes, with a scalar part that is not negative."""
    turned = quaternions * np.array([1.0, *TO_W])
    return np.asarray(turned * np.where(turned[:, :1] < 0.0, -1.0, 1.0))


def feet_of(model: Model, q: np.ndarray) -> np.ndarray:
    """Places (2, 3) of the feet in the world [m]."""
    return np.array([link_pose(model, q, foot)[:3, 3] for foot in FEET])


def _contact_places(sim: Simulation) -> tuple[np.ndarray, int]:
    """Where the corners of the soles (2, 4) are among the contacts, and the central body among the links."""
    prefix = "" if sim.entities is None else f"{BIPED}/"
    ground = {(report.link, report.label): i for i, report in enumerate(sim.contacts()) if not report.other}
    soles = [[ground[f"{prefix}{foot}", f"point {corner}"] for corner in range(4)] for foot in FEET]
    return np.array(soles), sim.link_forces.links.index(f"{prefix}base_link")
