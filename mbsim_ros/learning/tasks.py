# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Tasks for robots that come with the package: the arm reaches, the biped balances, the walker follows a velocity."""

from __future__ import annotations

import numpy as np

from mbsim_ros.dynamics.kinematics import link_pose
from mbsim_ros.ensemble.trajectories import EnsembleState
from mbsim_ros.sim.simulation import Simulation


class HoldsPositions:
    """What these tasks share: motors that hold positions about those of the start, moved by an action by `reach`."""

    robot = ""
    coupling: str | None = None
    period, limit = 20, 500
    reach = 0.5  # rad that an action of 1 moves a motor from its place
    spread = 0.02  # rad by which a start differs from home

    def __init__(self) -> None:
        sim = self.make()
        self.home = sim.motor_position
        self.model, self.height = sim.model, float(sim.q[2])
        self.actions = len(self.home)
        self.observations = self.observe(_state_of(sim), np.zeros((1, self.goals))).shape[1]

    goals = 0

    def make(self) -> Simulation:
        """The robot at home, holding."""
        sim = Simulation(self.robot, coupling=self.coupling)
        sim.drive_motors(position=sim.motor_position, velocity=np.zeros(len(sim.motor_names)))
        return sim

    def reset(self, sim: Simulation, rng: np.random.Generator) -> np.ndarray:
        """Begin near home, at rest; goals follow."""
        sim.randomise(rng, self.spread)
        return self.draw(rng)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Goals of an episode."""
        return np.zeros(self.goals)

    def command(self, state: EnsembleState, actions: np.ndarray) -> dict[str, np.ndarray]:
        """Positions about home."""
        return {"positions": self.home + self.reach * actions}

    def observe(self, state: EnsembleState, goals: np.ndarray) -> np.ndarray:
        """Pose (without where it is on the ground), velocities, motors, goals."""
        q = state.q[:, 2:] if self.model.is_floating else state.q
        return np.concatenate([q, state.v, state.motor_position - self.home, goals], axis=1)


class ArmReaches(HoldsPositions):
    """The hand of the arm is to be at a point that it can reach."""

    robot, goals, limit, reach, spread = "arm", 3, 100, 1.0, 0.2

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Where the hand is when the joints are within half of what actions can do."""
        q = self.home + rng.uniform(-0.5, 0.5, len(self.home)) * self.reach
        return self._hand(q[None])[0]

    def observe(self, state: EnsembleState, goals: np.ndarray) -> np.ndarray:
        """The way from the hand to the goal, besides."""
        return np.concatenate([super().observe(state, goals), goals - self._hand(state.q)], axis=1)

    def judge(self, state: EnsembleState, actions: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearer and the slower, the better; it never ends early."""
        away = np.linalg.norm(goals - self._hand(state.q), axis=1)
        return -away - 0.001 * (state.v**2).sum(axis=1), np.zeros(len(away), dtype=bool)

    def _hand(self, q: np.ndarray) -> np.ndarray:
        return np.array([link_pose(self.model, each, "hand")[:3, 3] for each in q])


class BipedBalances(HoldsPositions):
    """The biped is to stay upright where it stands."""

    robot, reach, period, spread = "biped", 0.3, 10, 0.005

    def judge(self, state: EnsembleState, actions: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """1 a step while it is upright, less for motion and for large actions; it ends when it has fallen."""
        fallen = (state.q[:, 2] < 0.7 * self.height) | (_tilt(state.q) > 0.7)
        return 1.0 - 0.01 * (state.v**2).sum(axis=1) - 0.01 * (actions**2).sum(axis=1), fallen


class WalkerFollows(HoldsPositions):
    """The walker is to move with a velocity ahead [m/s] and to turn with a rate [rad/s], as with cmd_vel."""

    robot, coupling, goals, reach, spread = "walker", "normal", 2, 0.5, 0.0

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Velocities that its gait reaches."""
        return rng.uniform([-0.2, -0.2], [0.2, 0.2])

    def judge(self, state: EnsembleState, actions: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Nearness of both velocities, in the body's axes; it ends when it has fallen."""
        off = ((state.v[:, 0] - goals[:, 0]) / 0.1) ** 2 + ((state.v[:, 5] - goals[:, 1]) / 0.2) ** 2
        return np.exp(-off), (state.q[:, 2] < 0.6 * self.height) | (_tilt(state.q) > 0.7)


def _tilt(q: np.ndarray) -> np.ndarray:
    """How far the base leans [rad], of q (n, nq) with a quaternion (x, y, z, w)."""
    return 2.0 * np.arcsin(np.clip(np.hypot(q[:, 3], q[:, 4]), 0.0, 1.0))


def _state_of(sim: Simulation) -> EnsembleState:
    rates, v = sim.velocities()
    rows = (sim.q[None], v[None], sim.motor_position[None], rates[None])
    return EnsembleState(np.array([sim.seconds]), *rows, np.zeros(1, dtype=bool))
