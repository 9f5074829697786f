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
from types import SimpleNamespace
from typing import Any

import numpy as np

from mbsim_ros.contact.contact_kernel import DEPTH, FORCE, NORMAL
from mbsim_ros.control.walker.gait import WalkerGait
from mbsim_ros.control.walker.legs import LEGS, MOTORS, legs
from mbsim_ros.control.walker.parameters import WalkerGaitParameters
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain

PERIOD = 2  # steps between two commands
GRAVITY = 9.81
CARRIES = 5.0  # N, from which on a foot carries
Velocity = tuple[float, float, float]  # time [s], forward [m/s], turn [rad/s]
Clutching = Callable[[float, Simulation, Any], bool]  # time, simulation, state; whether the coupling was changed


@functools.cache
def walker() -> Model:
    """The walker of walker.launch.xml."""
    return load_urdf(share_directory("mbsim_ros") / "urdf" / "walker.urdf.xacro")


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
    gait, waiting = WalkerGait(walker(), WalkerGaitParameters(rough=rough)), sorted(asked)
    rows: list[tuple[Any, ...]] = []
    for _ in range(round(seconds / (PERIOD * sim.dt)) + 1):
        while waiting and sim.seconds >= waiting[0][0] - 1e-9:
            gait.ask(*waiting.pop(0)[1:])
        state = seen(sim)
        if clutching is not None and clutching(sim.seconds, sim, state):
            state = seen(sim)
        # as its node, the gait feels the ground only where it is rough
        felt = state if rough else SimpleNamespace(**{**vars(state), "foot_forces": None})
        command = gait.update(sim.seconds, felt)
        sim.drive_motors(
            position=dict(zip(command.names, command.position, strict=True)),
            velocity=dict(zip(command.names, command.velocity, strict=True)),
        )
        if command.coupling is not None and command.coupling != sim.coupling.name:
            sim.couple(command.coupling)
        row = sim.seconds, state.q[:3], roll_pitch_yaw(state.q), list(state.foot_forces.values()), foot_gaps(sim)
        stance = "" if gait.step is None else gait.step.stance
        rows.append((*row, *_advance(sim), _swinging(gait), sim.coupling.name, stance))
    *arrays, couplings, stances = zip(*rows, strict=True)
    t, base, angles, forces, gaps, torques, power, swings = (np.array(each) for each in arrays)
    angles[:, 2] = np.unwrap(angles[:, 2])
    return Walk(sim, t, base, angles, forces, gaps, torques, power, swings, list(couplings), list(stances))


def seen(sim: Simulation) -> Any:
    """What gait and clutches see of a simulation."""
    results = sim.engine.contacts.results[_rows_of_feet()]
    forces = (results[:, FORCE : FORCE + 3] * results[:, NORMAL : NORMAL + 3]).sum(axis=1)
    u, v = sim.velocities()
    return SimpleNamespace(
        q=sim.q, v=v, motor_position=sim.motor_position, motor_velocity=u, coupling=sim.coupling.name,
        foot_forces=dict(zip(LEGS, forces.tolist(), strict=True)),
    )  # fmt: skip


def foot_gaps(sim: Simulation) -> np.ndarray:
    """Heights of the feet above the ground (8,) [m]."""
    return np.asarray(-sim.engine.contacts.results[_rows_of_feet(), DEPTH])


@functools.cache
def _rows_of_feet() -> np.ndarray:
    """Of the points of contact, in the order of `LEGS`."""
    links = list(Simulation(walker(), coupling="normal").scene.points.links)  # type: ignore[union-attr]
    return np.array([links.index(f"{leg}_tibia") for leg in LEGS])


def _advance(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """One control period: mean torques and mean power of the drives (5,) each, in the order of `MOTORS`.

    Step by step as the scheme has it, with positions at the middle and the mean rate of a step: while feet touch down
    a torque changes much within one period.
    """
    assert sim.model.sidecar is not None
    names = [motor for motor in MOTORS if motor in sim.coupling.motors]
    columns = [sim.motor_names.index(motor) for motor in names]
    kp, kd = (np.array([getattr(sim.model.sidecar.gains[motor], gain) for motor in names]) for gain in ("kp", "kd"))
    drives, first = sim.engine.motors, sim.coupling.nu - len(sim.motor_names)
    places = first + np.array(columns, dtype=int)
    torques, power = np.full(len(MOTORS), np.nan), np.zeros(len(MOTORS))
    at = [MOTORS.index(motor) for motor in names]
    torques[at] = 0.0
    x = sim.motor_position[columns]
    for _ in range(PERIOD):
        sim.advance(1)
        x_next = sim.motor_position[columns]
        rate = (x_next - x) / sim.dt
        torque = kp * (drives.position[places] - 0.5 * (x + x_next)) + kd * (drives.velocity[places] - rate)
        torques[at] += torque / PERIOD
        power[at] += torque * rate / PERIOD
        x = x_next
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
