# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Environments of Gymnasium: its own checks pass, seeds repeat, many robots do as one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from mbsim_ros.learning.envs import RobotEnv, RobotVectorEnv
from mbsim_ros.learning.tasks import ArmReaches, BipedBalances, WalkerFollows

pytest.importorskip("gymnasium", reason="an extra")

TASKS = (ArmReaches, BipedBalances, WalkerFollows)


@pytest.mark.parametrize("task", TASKS)
def test_gymnasium_finds_nothing_wrong(task):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spaces without bounds
        check_env(RobotEnv(task()), skip_render_check=True)


@pytest.mark.parametrize("task", TASKS)
def test_members_do_as_one_alone_with_the_same_seed(task):
    many, one = RobotVectorEnv(task(), 3, threads=2), RobotEnv(task())
    actions = np.random.default_rng(2).uniform(-1.0, 1.0, (4, 3, many.single_action_space.shape[0])).astype(np.float32)
    for _ in range(2):  # the second time from wherever the first has ended
        seen, _ = many.reset(seed=5)
        alone, _ = one.reset(seed=6)
        assert np.array_equal(seen[1], alone)
        for each in actions:
            seen, rewards, ends, _, _ = many.step(each)
            alone, reward, is_end, _, _ = one.step(each[1])
            assert np.array_equal(seen[1], alone)
            assert (rewards[1], ends[1]) == (reward, is_end)
    assert not np.array_equal(seen[0], seen[1]), "other seeds, other episodes"


def test_an_episode_that_is_over_begins_anew_with_the_next_step():
    task = ArmReaches()
    task.limit = 2
    env = RobotVectorEnv(task, 2, threads=1)
    env.reset(seed=1)
    still = np.zeros((2, task.actions), dtype=np.float32)
    assert not env.step(still)[3].any()
    assert env.step(still)[3].all()
    _, reward, _, truncated, _ = env.step(still)
    assert (reward == 0.0).all() and not truncated.any()
    assert not env.step(still)[3].any() and env.step(still)[3].all()


def test_the_arm_reaches_further_when_it_goes_there():
    """A goal in joint space is told to the motors: the hand gets nearer."""
    env = RobotEnv(ArmReaches())
    env.reset(seed=3)
    goal = np.random.default_rng(0).uniform(-0.5, 0.5, 6).astype(np.float32)
    task = env._episodes.task
    env._episodes.goals[0] = task._hand((task.home + goal)[None])[0]
    first = env.step(0.0 * goal)[1]
    for _ in range(50):
        last = env.step(goal)[1]
    assert last > -0.05 > first
