# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots of an ensemble with a task: episodes that begin, advance and end; what both kinds of environment share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbsim_ros.ensemble.ensemble import Ensemble
from mbsim_ros.learning.task import Task
from mbsim_ros.sim.simulation import Simulation


class Episodes:
    """n episodes at once. The same seed gives the same episodes, bit for bit, on any number of threads."""

    def __init__(self, task: Task, n: int, threads: int | None):
        self.task = task
        self.ensemble = Ensemble(lambda _: task.make(), n, threads=threads)
        self._start = self.ensemble.peek(0).snapshot()  # all are made alike
        self.goals: np.ndarray = np.zeros((n, 0))
        self.steps = np.zeros(n, dtype=np.int64)

    def begin(self, members: Iterable[int], rngs: list[np.random.Generator]) -> None:
        """Begin new episodes of some members, each with the generator of its own."""
        for i in members:
            goals: list[np.ndarray] = []

            def start(sim: Simulation, rng: np.random.Generator = rngs[i], found: list[np.ndarray] = goals) -> None:
                sim.restore(self._start)
                found.append(np.asarray(self.task.reset(sim, rng), dtype=float))

            self.ensemble.restart(i, start)
            if self.goals.shape[1] != len(goals[0]):
                self.goals = np.zeros((len(self.ensemble), len(goals[0])))
            self.goals[i] = goals[0]
            self.steps[i] = 0

    def observe(self) -> np.ndarray:
        """Observations (n, observations) as Gymnasium wants them: float32."""
        seen = self.task.observe(self.ensemble.state(), self.goals)
        return np.asarray(seen, dtype=np.float32)

    def advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Observations, rewards, terminated and truncated (n, …) after one step of the environment."""
        n = len(self.ensemble)
        actions = np.clip(np.asarray(actions, dtype=float).reshape(n, self.task.actions), -1.0, 1.0)
        said = self.task.command(self.ensemble.state(), actions)
        rows = {name: np.asarray(values, dtype=float)[..., None, :] for name, values in said.items()}
        self.ensemble.rollout(
            rows.get("positions"), velocities=rows.get("velocities"), efforts=rows.get("efforts"),
            period=self.task.period,
        )  # fmt: skip
        self.steps += 1
        state = self.ensemble.state()
        reward, ends = self.task.judge(state, actions, self.goals)
        return self.observe(), np.asarray(reward, dtype=float), ends | state.failed, self.steps >= self.task.limit
