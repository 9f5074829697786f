# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The steps of one robot, as recovery.py takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.acceptance import divergence
from mbsim_ros.integrators.lie_variational.acceptance.judge_kernel import HARD_JUMP
from mbsim_ros.integrators.lie_variational.acceptance.newton_kernel import newton_step_into
from mbsim_ros.integrators.lie_variational.solve_kernel import NOT_CONVERGED

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational.integrator import LieVariational

LARGEST_NEWTON = 300  # independent velocities: its matrix is full


class RobotSteps:
    """Steps of an integrator, of order 4 whole compositions."""

    def __init__(self, integrator: LieVariational):
        self._integrator = integrator

    @property
    def time(self) -> float:
        """Time before the step [s]."""
        return self._integrator.time

    @property
    def step_count(self) -> int:
        """How many steps there have been."""
        return self._integrator.step_count

    @property
    def memories(self) -> list[np.ndarray]:
        """The solver's memory."""
        return [self._integrator.state.memory]

    @property
    def hard_jump(self) -> float:
        """Part of its energy by which a step that was hard to solve may change it without a force."""
        return HARD_JUMP

    def saved(self) -> Mapping[str, np.ndarray]:
        """All that a step changes."""
        return self._integrator.saved()

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take back what `saved` gave."""
        self._integrator.restore(saved)

    def forget_factors(self) -> None:
        """Clear what an iteration that failed has left."""
        self._integrator.forget_factors()

    def kinetic_energies(self) -> list[float]:
        """Its kinetic energy [J] at the node."""
        return [self._integrator.kinetic_energy()]

    def take(self, parts: int, from_node: bool = False) -> int:
        """One of so many parts of a step; the iterations, or a negative number."""
        integrator = self._integrator
        integrator.last_parts = parts
        if from_node:
            integrator.guess_node_velocity()
        _, iterations, _, failure = integrator.take_steps(
            integrator._substeps / parts, 0, 1, integrator.NO_TARGETS, 1, False
        )
        return int(failure) if failure < 0 else int(iterations)

    def by_newton(self) -> int:
        """Solve all substeps by Newton's method; the iterations, or a negative number where one is not solved."""
        integrator, nu = self._integrator, self._integrator.configuration.nu
        # it does not know which clutches hold, and has no multipliers: such steps go in parts
        if nu > LARGEST_NEWTON or integrator.configuration.slipping or integrator.loops is not None:
            return NOT_CONVERGED
        total, scratch = 0, (np.empty((nu, nu)), np.empty(nu), np.empty(nu))
        for h in integrator._substeps:
            iterations = newton_step_into(integrator._system, float(h), *scratch)
            if iterations < 0:
                return int(iterations)
            total += iterations
        return total

    def largest_turn(self) -> float:
        """By which angle [rad] the joint turned in the last step that turned most."""
        return divergence.largest_turn(self._integrator)[1]

    def diverged(self, what: str) -> SimulationDiverged:
        """The error for the state before the step."""
        return divergence.diverged(self._integrator, what)

    def ends_beyond_bounds(self) -> SimulationDiverged:
        """The error for a step that has a solution, which no robot does."""
        return divergence.ends_beyond_bounds(self._integrator)
