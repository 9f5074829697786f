# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Task`: what a robot is to learn, in five functions on arrays of all members."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mbsim_ros.ensemble.trajectories import EnsembleState
from mbsim_ros.sim.simulation import Simulation


class Task(Protocol):
    """A robot, what it sees and does, and what is good; n members are asked at once, one in `RobotEnv`.

    Every member has goals (k,), drawn at its reset: where to go, how fast. All numbers are finite and in SI units.
    """

    period: int  # steps of the simulation for one of the environment
    limit: int  # steps of the environment until an episode is cut off (truncated)
    observations: int  # how many numbers an observation has
    actions: int  # how many an action has, each within −1 … 1

    def make(self) -> Simulation:
        """The robot in its world, driven as it is at the beginning of an episode."""

    def reset(self, sim: Simulation, rng: np.random.Generator) -> np.ndarray:
        """Put a robot as `make` gave it into the start of an episode; returns its goals (k,)."""

    def command(self, state: EnsembleState, actions: np.ndarray) -> dict[str, np.ndarray]:
        """What actions (n, actions) mean: positions, velocities, efforts of the motors (n, nm), by these names."""

    def observe(self, state: EnsembleState, goals: np.ndarray) -> np.ndarray:
        """What is seen (n, observations) of members with goals (n, k)."""

    def judge(self, state: EnsembleState, actions: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The reward (n,) of a step that led to this state, and whether the episode ends here (n,)."""
