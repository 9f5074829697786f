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
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.integrators.lie_variational.acceptance.balance_kernel import HARD, JUDGE_NEXT
from mbsim_ros.integrators.lie_variational.acceptance.divergence import diverged, ends_beyond_bounds, largest_turn
from mbsim_ros.integrators.lie_variational.acceptance.judge_kernel import EASY_JUMP, HARD_JUMP, judge_nodes
from mbsim_ros.integrators.lie_variational.acceptance.newton_kernel import newton_step_into
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
from mbsim_ros.integrators.lie_variational.step_kernel import steps_into

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational.integrator import LieVariational

LARGEST_NEWTON = 300  # independent velocities: its matrix is full
HALVINGS = 16  # the smallest part of a step is 1/65536 of it: what passes a singular pose is over in microseconds
MOST_TRIALS = 512  # parts of a step that are tried, taken or not: a simulation that crawls has to say so
# A step has to get on: from so many trials on at an eighth of the pace at least at which MOST_TRIALS would do.
FIRST_TRIALS, LEAST_PACE = 64, 0.125
MOST_TURN = 1.0e3  # rad that a joint may turn in a step for parts to be tried at all
CRAWLS = -5  # beside the reasons in solve_kernel for which a step is not taken: these were not enough
LEAST_SHARE = 4.0e-3  # of HARD_JUMP, that the smallest parts of a step may use
# Iterations, and part of the jump that is allowed: a part with fewer is followed by one twice as long.
EASY, LITTLE = 8, 0.25
_log = logging.getLogger(__name__)


def recover(integrator: LieVariational, failure: int) -> tuple[int, str]:
    """Take one step that the plain iteration did not; returns the iterations and which of `Counts` it belongs to.

    failure: why, as steps_into says. Raises SimulationDiverged; the state is then that before the step.
    """
    _forget_factors(integrator)
    before, memory = integrator.saved(), integrator.state.memory
    if memory[PARTS] == 0.0:
        judge = Judge(integrator)
        memory[HARD_SINCE] = integrator.step_count
        iterations = _take(integrator, 1) if failure == UNBALANCED else _by_newton(integrator)
        if judge.accepts(EASY_JUMP if failure == UNBALANCED and 0 < iterations <= HARD else HARD_JUMP, iterations):
            return iterations, "judged_steps" if failure == UNBALANCED else "newton_steps"
    hint = max(0, round(math.log2(memory[PARTS])) - 1) if memory[PARTS] > 0.0 else 0
    for allowed in (_by_length, _by_part):
        integrator.restore(before)
        _forget_factors(integrator)
        iterations, parts, judge = _in_parts(integrator, hint, allowed)
        if iterations > 0 or iterations == CRAWLS:
            break
    if iterations < 0:
        integrator.restore(before)
        _forget_factors(integrator)
        if iterations == IMPLAUSIBLE:
            raise ends_beyond_bounds(integrator)
        raise diverged(integrator, _why(iterations, judge))
    if len(parts) == 1:
        return iterations, "judged_steps"
    smallest = 2 ** max(parts)
    memory[PARTS], memory[LAST_STEP] = smallest, JUDGE_NEXT
    _log.info("t = %.6g s: taken in %d parts, the smallest 1/%d of the step", integrator.time, len(parts), smallest)
    return iterations, "halvings"


def _by_length(halvings: int) -> float:
    """The jump that is allowed of a part: in proportion to its length, so that the whole step keeps HARD_JUMP."""
    return HARD_JUMP * max(0.5**halvings, LEAST_SHARE)


def _by_part(_: int) -> float:
    """The same of every part: near a singular pose a jump over it may be had only so."""
    return HARD_JUMP


def _in_parts(
    integrator: LieVariational, halvings: int, allowed: Callable[[int], float]
) -> tuple[int, list[int], Judge]:
    """Take the step in parts, each halved until it is solved and in balance, and longer again where it is easy.

    halvings: of the first part. Returns the iterations, or a negative number where the step could not be taken, how
    often each part was halved, and the judge of the last one.
    """
    done, iterations, parts = 0, 0, list[int]()  # done: how much of the step, in parts of the smallest size
    if largest_turn(integrator)[1] > MOST_TURN:
        return CRAWLS, parts, Judge(integrator)
    for trial in range(MOST_TRIALS):
        if trial >= FIRST_TRIALS and done * MOST_TRIALS < LEAST_PACE * trial * 2**HALVINGS:
            break
        before, judge = integrator.saved(), Judge(integrator)
        taken = _take(integrator, 2**halvings, from_node=True)
        if judge.accepts(allowed(halvings), taken):
            length = 2 ** (HALVINGS - halvings)
            done, iterations = done + length, iterations + taken
            parts.append(halvings)
            if done == 2**HALVINGS:
                return iterations, parts, judge
            is_easy = taken <= EASY and judge.jump <= LITTLE * allowed(halvings)
            if is_easy and halvings > 0 and done % (2 * length) == 0:
                halvings -= 1
            continue
        integrator.restore(before)
        _forget_factors(integrator)
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
    """Compares the kinetic energy after a step with that before it and the work of the forces between."""

    def __init__(self, integrator: LieVariational):
        self._integrator = integrator
        memory = integrator.state.memory
        self._kinetic = integrator.kinetic_energy()
        self._work, self._gross = memory[NODE_WORK], memory[GROSS_WORK]
        self.jump = math.nan  # of the last step that was judged, of its energy
        self.is_out_of_balance = False

    def accepts(self, allowed: float, iterations: int) -> bool:
        """Whether the step that the integrator has taken, with so many iterations, < 0 if it has not, may stay."""
        self.is_out_of_balance = False
        if iterations < 0:
            return False
        try:
            kinetic = self._integrator.kinetic_energy()
        except ValueError:  # the mass matrix is singular there
            return False
        memory = self._integrator.state.memory
        self.jump, passes = judge_nodes(memory, self._kinetic, self._work, self._gross, kinetic, allowed)
        self.is_out_of_balance = not passes
        return bool(passes)


def _take(integrator: LieVariational, parts: int, from_node: bool = False) -> int:
    """One of so many parts of a step, of order 4 a whole composition; the iterations, or a negative number.

    from_node: the iteration begins with the velocity at the node, which the mean of a short part tends to.
    """
    if from_node:
        state, node_velocity = integrator.state, integrator.u
        for guess in (state.u, state.previous, state.earlier):
            guess[:] = node_velocity
    substeps = integrator._substeps / parts
    _, iterations, _, failure = steps_into(integrator._system, substeps, 0, 1, integrator.NO_TARGETS, 1, False)
    return int(failure) if failure < 0 else int(iterations)


def _by_newton(integrator: LieVariational) -> int:
    """Solve all substeps by Newton's method; returns the iterations, or a negative number where one is not solved."""
    nu = integrator.configuration.nu
    if nu > LARGEST_NEWTON:
        return NOT_CONVERGED
    total, scratch = 0, (np.empty((nu, nu)), np.empty(nu), np.empty(nu))
    for h in integrator._substeps:
        iterations = newton_step_into(integrator._system, float(h), *scratch)
        if iterations < 0:
            return int(iterations)
        total += iterations
    return total


def _forget_factors(integrator: LieVariational) -> None:
    """Clear what an iteration that failed has left, which may be no numbers; the step has already been taken back."""
    for array in integrator._system.matrix:
        if array is not None:
            array[...] = 0.0
