# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Walks of the eight-legged walker without ROS, and what is measured of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbsim_ros.contact.layout import DEPTH, FORCE, NORMAL
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.walker.gait import WalkerGait
from mbsim_ros.control.walker.legs import LEGS, MOTORS, legs
from mbsim_ros.control.walker.parameters import WalkerGaitParameters
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.model.model import Model
from mbsim_ros.sim.run_loop import act
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain

PERIOD = 2  # steps between two commands
GRAVITY = 9.81
CARRIES = 5.0  # N, from which on a foot carries
Velocity = tuple[float, float, float]  # time [s], forward [m/s], turn [rad/s]
Clutching = Callable[[float, Simulation, RobotState], bool]  # time, simulation, state; whether the coupling was changed


def walker() -> Model:
    """The walker of walker.launch.xml."""
    return document_robot("walker")


@dataclass
class Walk:
    """A walk at its n control instants, every second step."""

    sim: Simulation  # at the end
    t: np.ndarray  # (n,) [s]
    base: np.ndarray  # (n, 3) [m]
    angles: np.ndarray  # (n, 3) roll, pitch, yaw [rad]
    forces: np.ndarray  # (n, 8) under the feet of `LEGS`, normal [N]
    gaps: np.ndarray  # (n, 8) of the feet above the ground [m]
    torques: np.ndarray  # (n, 5) of `MOTORS`, mean over the period [N m]; NaN where the coupling has no such motor
    power: np.ndarray  # (n, 5) of `MOTORS`, mean over the period [W]
    swinging: np.ndarray  # (n, 8) whether a foot moves on, fully lifted
    couplings: list[str]  # (n,) in force
    stance: list[str]  # (n,) the frame whose feet stand by the gait's plan, "" between steps

    @property
    def roll_pitch(self) -> float:
        """Largest angle from level [rad]."""
        return float(np.abs(self.angles[:, :2]).max())

    @property
    def clearance(self) -> float:
        """Smallest height of a foot while it moves on, fully lifted [m]."""
        return float(self.gaps[self.swinging].min())

    @property
    def all_carry(self) -> float:
        """Share of the time in steps in which all four feet of the frame that stands carry."""
        carries = self.forces >= CARRIES
        chosen = [
            carries[k, [leg in legs(frame) for leg in LEGS]].all() for k, frame in enumerate(self.stance) if frame
        ]
        return float(np.mean(chosen))

    def between(self, begin: float, end: float) -> slice:
        """The instants between two times [s]."""
        return slice(*(int(np.searchsorted(self.t, time - 1e-9)) for time in (begin, end)))

    def speed(self, begin: float, end: float) -> float:
        """Mean velocity ahead between two times [m/s]."""
        part = self.between(begin, end)
        return float((self.base[part.stop, 0] - self.base[part.start, 0]) / (self.t[part.stop] - self.t[part.start]))

    def turn_rate(self, begin: float, end: float) -> float:
        """Mean turn between two times [rad/s]."""
        part = self.between(begin, end)
        return float(
            (self.angles[part.stop, 2] - self.angles[part.start, 2]) / (self.t[part.stop] - self.t[part.start])
        )

    def cost_of_transport(self, begin: float, end: float) -> tuple[float, float]:
        """Work of the motors per weight and way, without units: net, and positive work alone (no recovery)."""
        part = self.between(begin, end)
        way = abs(self.base[part.stop, 0] - self.base[part.start, 0])
        dt = float(self.t[1] - self.t[0])
        power = self.power[part]
        weight = self.sim.model.mass * GRAVITY
        return tuple(float(work * dt / (weight * way)) for work in (power.sum(), power.clip(min=0.0).sum()))  # type: ignore[return-value]


def walk(
    seconds: float, asked: Sequence[Velocity], clutching: Clutching | None = None, *, terrain: str = "flat",
    rough: bool = False,
) -> Walk:  # fmt: skip
    """Walk from `home` with velocities asked for at their times.

    terrain: of config/terrain_….yaml; rough: whether each leg is braked at its own touch-down.
    """
    ground = chosen_terrain(str(share_directory("mbsim_ros") / "config" / f"terrain_{terrain}.yaml"))
    sim = Simulation(walker(), coupling="normal", terrain=ground)
    walking = Walking(WalkerGait(walker(), WalkerGaitParameters(rough=rough)), asked, clutching)
    periods = round(seconds / (PERIOD * sim.dt)) + 1
    sim.run(periods * PERIOD * sim.dt, walking, progress=False)
    walking.note_step(sim)
    *arrays, couplings, stances = zip(*walking.rows, strict=True)
    t, base, angles, forces, gaps, swings = (np.array(each) for each in arrays)
    torques, power = np.array(walking.torques) / PERIOD, np.array(walking.power) / PERIOD
    angles[:, 2] = np.unwrap(angles[:, 2])
    return Walk(sim, t, base, angles, forces, gaps, torques, power, swings, list(couplings), list(stances))


class Walking:
    """A gait as it is asked at every step: commands at every control instant, and what is measured in between."""

    def __init__(self, gait: WalkerGait, asked: Sequence[Velocity], clutching: Clutching | None):
        self._gait, self._waiting, self._clutching = gait, sorted(asked), clutching
        self.rows: list[tuple[object, ...]] = []
        self.torques: list[np.ndarray] = []  # sums over the steps of each period
        self.power: list[np.ndarray] = []
        self._steps = 0
        self._drives: _Drives | None = None

    def __call__(self, sim: Simulation) -> None:
        """Note what the last step did; at a control instant, ask the gait and do as it says."""
        self.note_step(sim)
        if self._steps % PERIOD == 0:
            self._command(sim)
        self._steps += 1

    def note_step(self, sim: Simulation) -> None:
        """Torques and power of the drives in the last step, if there was one."""
        if self._drives is not None:
            torque, power = self._drives.after_step(sim)
            self.torques[-1] += torque
            self.power[-1] += power

    def _command(self, sim: Simulation) -> None:
        gait = self._gait
        while self._waiting and sim.seconds >= self._waiting[0][0] - 1e-9:
            gait.ask(*self._waiting.pop(0)[1:])
        state = sim.state()
        if self._clutching is not None and self._clutching(sim.seconds, sim, state):
            state = sim.state()
        act(sim, gait.update(sim.seconds, state))
        row = sim.seconds, state.q[:3], roll_pitch_yaw(state.q), normal_forces(sim), foot_gaps(sim), _swinging(gait)
        self.rows.append((*row, sim.coupling.name, "" if gait.step is None else gait.step.stance))
        self._drives = _Drives(sim)
        self.torques.append(np.where(self._drives.is_there, 0.0, np.nan))
        self.power.append(np.zeros(len(MOTORS)))


def normal_forces(sim: Simulation) -> np.ndarray:
    """Normal forces under the feet (8,) [N], in the order of `LEGS`."""
    results = sim.integrator.contacts.results[_rows_of_feet()]
    return np.asarray((results[:, FORCE : FORCE + 3] * results[:, NORMAL : NORMAL + 3]).sum(axis=1))


def foot_gaps(sim: Simulation) -> np.ndarray:
    """Heights of the feet above the ground (8,) [m]."""
    return np.asarray(-sim.integrator.contacts.results[_rows_of_feet(), DEPTH])


@functools.cache
def _rows_of_feet() -> np.ndarray:
    """Of the points of contact, in the order of `LEGS`."""
    links = list(Simulation(walker(), coupling="normal").scene.points.links)  # type: ignore[union-attr]
    return np.array([links.index(f"{leg}_tibia") for leg in LEGS])


class _Drives:
    """The motors' drives over one control period.

    Step by step as the scheme has it, with positions at the middle and the mean rate of a step: while feet touch down
    a torque changes much within one period.
    """

    def __init__(self, sim: Simulation):
        assert sim.model.sidecar is not None
        names = [motor for motor in MOTORS if motor in sim.coupling.motors]
        self._columns = [sim.motor_names.index(motor) for motor in names]
        gains = [sim.model.sidecar.gains[motor] for motor in names]
        self._kp, self._kd = np.array([each.kp for each in gains]), np.array([each.kd for each in gains])
        first = sim.coupling.nu - len(sim.motor_names)
        self._places = first + np.array(self._columns, dtype=int)
        self._at = [MOTORS.index(motor) for motor in names]
        self.is_there = np.isin(MOTORS, names)  # (5,) whether the coupling has this motor
        self._x = sim.motor_position[self._columns]

    def after_step(self, sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
        """Torques and power (5,) of the step that was taken, in the order of `MOTORS`."""
        drives, x, self._x = sim.integrator.motors, self._x, sim.motor_position[self._columns]
        rate = (self._x - x) / sim.dt
        position, velocity = drives.position[self._places], drives.velocity[self._places]
        torque = self._kp * (position - 0.5 * (x + self._x)) + self._kd * (velocity - rate)
        torques, power = np.zeros(len(MOTORS)), np.zeros(len(MOTORS))
        torques[self._at], power[self._at] = torque, torque * rate
        return torques, power


def roll_pitch_yaw(q: np.ndarray) -> tuple[float, float, float]:
    """Of the base [rad]."""
    x, y, z, w = q[3:7]
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return roll, math.asin(2 * (w * y - z * x)), math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def _swinging(gait: WalkerGait) -> list[bool]:
    """Which feet move on, fully lifted, by the gait's plan."""
    step = gait.step
    if step is None:
        return [False] * len(LEGS)
    begin, end = max(step.up.end, step.waist.begin), min(step.down.begin, step.waist.end)
    moves = begin <= gait.gait_time <= end and not (step.waist.is_still and step.reach[step.swing].is_still)
    return [moves and leg in legs(step.swing) for leg in LEGS]
