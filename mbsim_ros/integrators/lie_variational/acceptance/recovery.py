# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""When a step is not solved, or not to be trusted: other means, smaller parts, and a judgement by the energy.

The quasi-Newton iteration, Newton's method and a step in parts all may find a root of the equations that is none of the
motion's (balance_kernel). Whatever was found is taken only if the kinetic energy changed by what the forces worked.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.acceptance.balance_kernel import HARD, JUDGE_NEXT
from mbsim_ros.integrators.lie_variational.acceptance.judge_kernel import EASY_JUMP, judge_nodes
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    GROSS_WORK,
    HARD_SINCE,
    IMPLAUSIBLE,
    LAST_STEP,
    NODE_WORK,
    NOT_CONVERGED,
    PARTS,
    UNBALANCED,
)

HALVINGS = 16  # the smallest part of a step is 1/65536 of it: what passes a singular pose is over in microseconds
MOST_TRIALS = 512  # parts of a step that are tried, taken or not: a simulation that crawls has to say so
# A step has to get on: from so many trials on at an eighth of the pace at least at which MOST_TRIALS would do.
FIRST_TRIALS, LEAST_PACE = 64, 0.125
MOST_TURN = 1.0e3  # rad that a joint may turn in a step for parts to be tried at all
CRAWLS = -5  # beside the reasons in solve_kernel for which a step is not taken: these were not enough
LEAST_SHARE = 4.0e-3  # of the jump that is allowed, that the smallest parts of a step may use
# Iterations, and part of the jump that is allowed: a part with fewer is followed by one twice as long.
EASY, LITTLE = 8, 0.25
_log = logging.getLogger(__name__)


class Steps(Protocol):
    """What takes steps that may fail: a robot (robot_steps.py), or an island of a scene (scene/island_steps.py)."""

    @property
    def time(self) -> float:
        """Time before the step [s]."""

    @property
    def step_count(self) -> int:
        """How many steps there have been."""

    @property
    def memories(self) -> list[np.ndarray]:
        """The solver's memory (MEMORY,) of each tree that takes part."""

    @property
    def hard_jump(self) -> float:
        """Part of its energy by which a step that was hard to solve may change it without a force."""

    def saved(self) -> Any:
        """All that a step changes."""

    def restore(self, saved: Any) -> None:
        """Take back what `saved` gave."""

    def forget_factors(self) -> None:
        """Clear what an iteration that failed has left, which may be no numbers; the step has been taken back."""

    def kinetic_energies(self) -> list[float]:
        """Of each tree [J], at the node; ValueError where a mass matrix is singular."""

    def take(self, parts: int, from_node: bool = False) -> int:
        """One of so many parts of a step; the iterations, or a negative number.

        from_node: the iteration begins with the velocity at the node, which the mean of a short part tends to.
        """

    def by_newton(self) -> int:
        """The step by Newton's method; the iterations, or a negative number."""

    def largest_turn(self) -> float:
        """By which angle [rad] the joint turned in the last step that turned most."""

    def diverged(self, what: str) -> SimulationDiverged:
        """The error for the state before the step; what: why it was not taken."""

    def ends_beyond_bounds(self) -> SimulationDiverged:
        """The error for a step that has a solution, which no robot does."""


def recover(steps: Steps, failure: int) -> tuple[int, str]:
    """Take one step that the plain iteration did not; returns the iterations and which of `Counts` it belongs to.

    failure: why, as steps_into says. Raises SimulationDiverged; the state is then that before the step.
    """
    steps.forget_factors()
    before, memories = steps.saved(), steps.memories
    in_parts = max(float(memory[PARTS]) for memory in memories)
    if in_parts == 0.0:
        judge = Judge(steps)
        for memory in memories:
            memory[HARD_SINCE] = steps.step_count
        iterations = steps.take(1) if failure == UNBALANCED else steps.by_newton()
        is_easy = failure == UNBALANCED and 0 < iterations <= HARD
        if judge.accepts(EASY_JUMP if is_easy else steps.hard_jump, iterations):
            return iterations, "judged_steps" if failure == UNBALANCED else "newton_steps"
    hint = max(0, round(math.log2(in_parts)) - 1) if in_parts > 0.0 else 0
    for share in (_by_length, _by_part):
        steps.restore(before)
        steps.forget_factors()
        iterations, parts, judge = _in_parts(steps, hint, share)
        if iterations > 0 or iterations == CRAWLS:
            break
    if iterations < 0:
        steps.restore(before)
        steps.forget_factors()
        if iterations == IMPLAUSIBLE:
            raise steps.ends_beyond_bounds()
        raise steps.diverged(_why(iterations, judge))
    if len(parts) == 1:
        return iterations, "judged_steps"
    smallest = 2 ** max(parts)
    for memory in memories:
        memory[PARTS], memory[LAST_STEP] = smallest, JUDGE_NEXT
    _log.info("t = %.6g s: taken in %d parts, the smallest 1/%d of the step", steps.time, len(parts), smallest)
    return iterations, "halvings"


def _by_length(halvings: int) -> float:
    """The share of the allowed jump that a part may make: as its length, so that the whole step makes no more."""
    return max(0.5**halvings, LEAST_SHARE)


def _by_part(_: int) -> float:
    """The same of every part: near a singular pose a jump over it may be had only so."""
    return 1.0


def _in_parts(steps: Steps, halvings: int, share: Callable[[int], float]) -> tuple[int, list[int], Judge]:
    """Take the step in parts, each halved until it is solved and in balance, and longer again where it is easy.

    halvings: of the first part. Returns the iterations, or a negative number where the step could not be taken, how
    often each part was halved, and the judge of the last one.
    """
    done, iterations, parts = 0, 0, list[int]()  # done: how much of the step, in parts of the smallest size
    if steps.largest_turn() > MOST_TURN:
        return CRAWLS, parts, Judge(steps)
    for trial in range(MOST_TRIALS):
        if trial >= FIRST_TRIALS and done * MOST_TRIALS < LEAST_PACE * trial * 2**HALVINGS:
            break
        before, judge = steps.saved(), Judge(steps)
        taken = steps.take(2**halvings, from_node=True)
        allowed = steps.hard_jump * share(halvings)
        if judge.accepts(allowed, taken):
            length = 2 ** (HALVINGS - halvings)
            done, iterations = done + length, iterations + taken
            parts.append(halvings)
            if done == 2**HALVINGS:
                return iterations, parts, judge
            is_easy = taken <= EASY and judge.jump <= LITTLE * allowed
            if is_easy and halvings > 0 and done % (2 * length) == 0:
                halvings -= 1
            continue
        steps.restore(before)
        steps.forget_factors()
        if halvings == HALVINGS:
            return min(taken, NOT_CONVERGED), parts, judge
        halvings += 1
    return CRAWLS, parts, judge


def _why(failure: int, judge: Judge) -> str:
    """What is wrong with the last part that was tried."""
    if failure == CRAWLS:
        return f"it would take more than {MOST_TRIALS} parts"
    if judge.is_out_of_balance:
        changes = f"changes the energy by {judge.jump:.3g} of itself without a force"
        return f"every solution found, also in parts of it, {changes}"
    return "no solution was found, not even in parts of it"


class Judge:
    """Compares the kinetic energy of each tree after a step with that before it and the work of the forces between."""

    def __init__(self, steps: Steps):
        self._steps = steps
        self._before = [
            (kinetic, float(memory[NODE_WORK]), float(memory[GROSS_WORK]))
            for kinetic, memory in zip(steps.kinetic_energies(), steps.memories, strict=True)
        ]
        self.jump = math.nan  # the largest of the last step that was judged, of the energy of a tree
        self.is_out_of_balance = False

    def accepts(self, allowed: float, iterations: int) -> bool:
        """Whether the step that was taken, with so many iterations, < 0 if it was not, may stay."""
        self.is_out_of_balance = False
        if iterations < 0:
            return False
        try:
            after = self._steps.kinetic_energies()
        except ValueError:  # a mass matrix is singular there
            return False
        found = [
            judge_nodes(memory, *before, kinetic, allowed)
            for memory, before, kinetic in zip(self._steps.memories, self._before, after, strict=True)
        ]
        self.jump = float(np.max([jump for jump, _ in found]))
        passes = all(each for _, each in found)
        self.is_out_of_balance = not passes
        return passes
