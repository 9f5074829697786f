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
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.integrators.balance_kernel import FLOOR, GATHERED, HARD, JUDGE_NEXT
from mbsim_ros.integrators.divergence import diverged, ends_beyond_bounds
from mbsim_ros.integrators.newton_kernel import newton_step_into
from mbsim_ros.integrators.solve_kernel import (
    GROSS_WORK,
    HARD_SINCE,
    IMPLAUSIBLE,
    LAST_STEP,
    NODE_WORK,
    NOT_CONVERGED,
    PARTS,
    PEAK_KINETIC,
    RESIDUE,
    START_KINETIC,
    TERMS,
    UNBALANCED,
)
from mbsim_ros.integrators.step_kernel import steps_into

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational import LieVariational

LARGEST_NEWTON = 300  # independent velocities: its matrix is full
HALVINGS = 10
# What a step may change the kinetic energy by beyond the work of its forces, of that energy and that work: a step that
# the iteration solved with ease, where the error of a long step swings to and fro, and one that was hard to solve.
EASY_JUMP, HARD_JUMP = 1.0e-2, 3.0e-4
MOST_GATHERED = 0.045  # of the largest kinetic energy and all work: the error that a run may gather
_log = logging.getLogger(__name__)


def recover(integrator: LieVariational, failure: int) -> tuple[int, str]:
    """Take one step that the plain iteration did not; returns the iterations and which of `Counts` it belongs to.

    failure: why, as steps_into says. Raises SimulationDiverged; the state is then that before the step.
    """
    _forget_factors(integrator)
    judge = Judge(integrator)
    before, memory = integrator.saved(), integrator.state.memory
    if memory[PARTS] == 0.0:
        memory[HARD_SINCE] = integrator.step_count
        iterations = _in_one(integrator) if failure == UNBALANCED else _by_newton(integrator)
        if judge.accepts(EASY_JUMP if failure == UNBALANCED and 0 < iterations <= HARD else HARD_JUMP, iterations):
            return iterations, "judged_steps" if failure == UNBALANCED else "newton_steps"
    parts_before = memory[PARTS]
    first = round(math.log2(parts_before)) - 1 if parts_before > 0.0 else 1  # fewer than the last step took
    node_velocity = integrator.u
    for halving in range(first, HALVINGS + 1):
        integrator.restore(before)
        parts = 2**halving
        for guess in (integrator.state.u, integrator.state.previous, integrator.state.earlier):
            guess[:] = node_velocity  # what the mean velocity of a short part tends to
        iterations = _in_parts(integrator, parts)
        if judge.accepts(HARD_JUMP, iterations):
            if parts == 1:
                return iterations, "judged_steps"
            memory[PARTS], memory[LAST_STEP] = parts, JUDGE_NEXT
            _log.info("t = %.6g s: the step was taken in %d parts", integrator.time, parts)
            return iterations, "halvings"
    integrator.restore(before)
    _forget_factors(integrator)
    if iterations == IMPLAUSIBLE:
        raise ends_beyond_bounds(integrator)
    raise diverged(integrator, judge.jump if judge.is_out_of_balance else math.nan)


class Judge:
    """Compares the kinetic energy after a step with that before it and the work of the forces between."""

    def __init__(self, integrator: LieVariational):
        self._integrator = integrator
        memory = integrator.state.memory
        self._kinetic = integrator.kinetic_energy()
        self._work, self._gross, self._gathered = memory[NODE_WORK], memory[GROSS_WORK], abs(memory[RESIDUE])
        self.jump = math.nan  # of the last step that was judged, of its energy
        self.is_out_of_balance = False

    def accepts(self, allowed: float, iterations: int) -> bool:
        """Whether the step that the integrator has taken, with so many iterations, < 0 if it has not, may stay."""
        self.is_out_of_balance = False
        if iterations < 0:
            return False
        memory = self._integrator.state.memory
        try:
            kinetic = self._integrator.kinetic_energy()
        except ValueError:  # the mass matrix is singular there
            return False
        floor = FLOOR * memory[TERMS]
        left = kinetic - self._kinetic - (memory[NODE_WORK] - self._work)
        self.jump = abs(left) / (self._kinetic + (memory[GROSS_WORK] - self._gross) + floor)
        gathered = kinetic - memory[START_KINETIC] - memory[NODE_WORK]
        all_energy = memory[PEAK_KINETIC] + memory[GROSS_WORK] + floor
        if self._gathered > GATHERED * all_energy:
            allowed = min(allowed, HARD_JUMP)
        self.is_out_of_balance = not (
            self.jump <= allowed and abs(gathered) <= max(MOST_GATHERED * all_energy, self._gathered)
        )
        if not self.is_out_of_balance:
            memory[RESIDUE], memory[PARTS] = gathered, 0.0
        return not self.is_out_of_balance


def _in_one(integrator: LieVariational) -> int:
    """The step as the plain iteration finds it, unjudged; its iterations, or a negative number."""
    return _in_parts(integrator, 1)


def _in_parts(integrator: LieVariational, parts: int) -> int:
    """The step in equal parts, of order 4 each a whole composition; the iterations, or a negative number."""
    substeps = integrator._substeps / parts
    _, iterations, failure = steps_into(integrator._system, substeps, 0, parts, integrator.NO_TARGETS, 1, False)
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
