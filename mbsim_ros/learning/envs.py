# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Environments of Gymnasium for any task: `RobotEnv` with one robot, `RobotVectorEnv` with n on all cores."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mbsim_ros.learning.episodes import Episodes
from mbsim_ros.learning.task import Task

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space

    Env: Any = gymnasium.Env
    BatchedEnv: Any = VectorEnv
except ModuleNotFoundError:  # an extra, which only who makes an environment needs
    Env = BatchedEnv = object
    gymnasium = None  # type: ignore[assignment]

    class AutoresetMode:  # type: ignore[no-redef]
        """As Gymnasium has it."""

        NEXT_STEP = "NextStep"


class RobotEnv(Env):  # type: ignore[misc]
    """One robot with a task. Actions are −1 … 1, observations float32; the simulation's own numbers are in `info`."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, task: Task):
        self.observation_space, self.action_space = _spaces(task)
        self.render_mode = None
        self._episodes = Episodes(task, 1, 1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Begin an episode; one with a seed is the same as every other with it."""
        super().reset(seed=seed)
        self._episodes.begin([0], [self.np_random])
        return self._episodes.observe()[0], self._info()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        """One step of the task."""
        seen, reward, ends, is_over = self._episodes.advance(np.asarray(action)[None])
        return seen[0], float(reward[0]), bool(ends[0]), bool(is_over[0]), self._info()

    def close(self) -> None:
        """End its threads."""
        self._episodes.ensemble.close()

    def _info(self) -> dict[str, Any]:
        failures = self._episodes.ensemble.failures
        return {"failure": failures[0].reason if failures else ""}


class RobotVectorEnv(BatchedEnv):  # type: ignore[misc]
    """n robots with a task, in one call a step; an episode that ended begins anew with the next step."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task, num_envs: int, threads: int | None = None):
        self.single_observation_space, self.single_action_space = _spaces(task)
        self.num_envs = num_envs
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.render_mode = None
        self._episodes = Episodes(task, num_envs, threads)
        self._rngs = [np.random.default_rng() for _ in range(num_envs)]
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        """Begin all episodes; member i has the seed seed + i, or seed[i], as `RobotEnv` with it."""
        seeds = (
            [None if seed is None else seed + i for i in range(self.num_envs)] if not isinstance(seed, list) else seed
        )
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: expected one, or a list of {self.num_envs}, got {len(seeds)}")
        for i, each in enumerate(seeds):
            if each is not None:
                self._rngs[i] = gymnasium.utils.seeding.np_random(each)[0]
        self._episodes.begin(range(self.num_envs), self._rngs)
        self._over[:] = False
        return self._episodes.observe(), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """One step of all; what begins anew takes none, has the reward 0 and its first observation."""
        fresh = self._over.copy()
        seen, reward, ends, is_over = self._episodes.advance(actions)
        if fresh.any():
            self._episodes.begin(np.flatnonzero(fresh).tolist(), self._rngs)
            seen[fresh] = self._episodes.observe()[fresh]
            reward[fresh], ends[fresh], is_over[fresh] = 0.0, False, False
        self._over = ends | is_over
        return seen, reward, ends, is_over, {}

    def close_extras(self, **_: Any) -> None:
        """End its threads."""
        self._episodes.ensemble.close()


def _spaces(task: Task) -> tuple[Any, Any]:
    """Of observations and actions."""
    if gymnasium is None:
        raise ModuleNotFoundError("environments need Gymnasium: pip install 'mbsim_ros[learning]'")
    box = gymnasium.spaces.Box
    return box(-np.inf, np.inf, (task.observations,), np.float32), box(-1.0, 1.0, (task.actions,), np.float32)
