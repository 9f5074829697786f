# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The steps of an island of a scene, as acceptance/recovery.py takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.lie_variational.acceptance import divergence
from mbsim_ros.integrators.lie_variational.acceptance.judge_kernel import EASY_JUMP, HARD_JUMP
from mbsim_ros.integrators.lie_variational.integrator import LieVariational
from mbsim_ros.integrators.lie_variational.scene.step_kernel import scene_steps_into
from mbsim_ros.integrators.lie_variational.solve_kernel import NOT_CONVERGED

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational.scene.integrator import LieVariationalScene

Saved = tuple[list[dict[str, np.ndarray]], list[np.ndarray], np.ndarray]


class IslandSteps:
    """Steps of the parts with these numbers; the others stand still meanwhile."""

    def __init__(self, scene: LieVariationalScene, members: np.ndarray):
        self._scene = scene
        self._parts: list[LieVariational] = [scene.parts[t] for t in members]
        self._moving = np.zeros(len(scene.parts), dtype=bool)
        self._moving[members] = True
        self._is_touching = bool(scene.touching_parts()[members].any())

    @property
    def time(self) -> float:
        """Time before the step [s]."""
        return self._scene.time

    @property
    def step_count(self) -> int:
        """How many steps there have been."""
        return self._scene.step_count

    @property
    def memories(self) -> list[np.ndarray]:
        """The solver's memory of each member."""
        return [part.state.memory for part in self._parts]

    @property
    def hard_jump(self) -> float:
        """What a hard step may change the energy by: where bodies meet that is the error of a contact in one step."""
        return EASY_JUMP if self._is_touching else HARD_JUMP

    def saved(self) -> Saved:
        """All that a step changes: the members, and the points between shapes, of which others change none."""
        touches = self._scene.arrays.touches
        count = int(touches.now.counts[0])
        points = [touches.now.counts.copy(), *(array[:count].copy() for array in touches.now[1:])]
        return [part.saved() for part in self._parts], points, touches.energies.copy()

    def restore(self, saved: Saved) -> None:
        """Take back what `saved` gave."""
        parts, (counts, *points), energies = saved
        for part, own in zip(self._parts, parts, strict=True):
            part.restore(own)
        touches = self._scene.arrays.touches
        touches.now.counts[:] = counts
        for array, kept in zip(touches.now[1:], points, strict=True):
            array[: len(kept)] = kept
        touches.energies[:] = energies

    def forget_factors(self) -> None:
        """Clear what an iteration that failed has left."""
        for part in self._parts:
            part.forget_factors()

    def kinetic_energies(self) -> list[float]:
        """Of each member [J], at the node."""
        return [part.kinetic_energy() for part in self._parts]

    def take(self, parts: int, from_node: bool = False) -> int:
        """One of so many parts of a step; the iterations, or a negative number."""
        for part in self._parts:
            part.last_parts = parts
            if from_node:
                part.guess_node_velocity()
        arrays = self._scene.arrays
        _, iterations, _, failed = scene_steps_into(
            self._scene.kind,
            self._scene.scene_kind,
            self._scene.scene_row,
            self._scene.dt / parts,
            0,
            1,
            self._moving,
            False,
        )
        return int(arrays.islands.failure[self._moving].min()) if failed else int(iterations)

    def by_newton(self) -> int:
        """Not for islands: they are taken in parts at once."""
        return NOT_CONVERGED

    def largest_turn(self) -> float:
        """By which angle [rad] the joint turned in the last step that turned most."""
        return max(divergence.largest_turn(part)[1] for part in self._parts)

    def diverged(self, what: str) -> SimulationDiverged:
        """The error for the state before the step, of the member that turns fastest."""
        return divergence.diverged(self._fastest(), what)

    def ends_beyond_bounds(self) -> SimulationDiverged:
        """The error for a step that has a solution, which no robot does."""
        return divergence.ends_beyond_bounds(self._fastest())

    def _fastest(self) -> LieVariational:
        part = max(self._parts, key=lambda each: divergence.largest_turn(each)[1])
        part.step_count = self.step_count
        return part
