# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`PlanarScheme`: state, time and failure of the schemes for planar chains; subclasses have the scheme."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.joint_arrays import make_joints
from mbsim_ros.integrators.layout import LEDGER_COLUMNS
from mbsim_ros.integrators.planar.chain import PlanarChain, planar_chain
from mbsim_ros.model.model import Model


class PlanarScheme:
    """A scheme of fixed step dt on a planar chain; q and v are angles and rates of the joints, (n,)."""

    columns: tuple[str, ...] = ()  # of what `trace` returns

    def __init__(self, chain: PlanarChain | Model, dt: float):
        self.chain = chain if isinstance(chain, PlanarChain) else planar_chain(chain)
        self.gravity = self.chain.gravity.copy()
        self.dt = float(dt)
        if not 0.0 < self.dt < np.inf:
            raise ValueError(f"dt: expected a positive number, got {dt!r}")
        n = len(self.chain)
        self.joints, self.ledger, self._effort = make_joints(n), np.zeros(LEDGER_COLUMNS), np.zeros(n)
        self.step_count = self.iterations = 0
        self._begin(np.zeros(n), np.zeros(n))

    @property
    def model(self) -> Model:
        """The robot."""
        return self.chain.model

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.step_count * self.dt

    @property
    def q(self) -> np.ndarray:
        """Angles of the joints (n,), full turns counted."""
        raise NotImplementedError

    @property
    def v(self) -> np.ndarray:
        """Rates of the joints (n,) at the present time."""
        raise NotImplementedError

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J] at the present time."""
        return self.chain.joint_energies(self.q, self.v)

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from angles q (n,) and rates v (n,)."""
        model = self.chain.model
        angles, rates = check.configuration(model, q).copy(), check.velocity(model, v).copy()
        self.step_count = self.iterations = 0
        self.ledger[:] = 0.0
        self._begin(angles, rates)

    def step(self, steps: int = 1, *, tau: ArrayLike | None = None) -> None:
        """Advance by steps of dt under efforts tau (n,) of the joints.

        Raises SimulationDiverged where a step cannot be solved, with the state before it.
        """
        self._effort[:] = 0.0 if tau is None else check.effort(self.model, tau)
        self._advance(steps, np.empty((0, len(self.columns))))

    def trace(self, steps: int) -> dict[str, np.ndarray]:
        """Advance by steps of dt and return what `columns` names, after each step, (steps,) each."""
        self._effort[:] = 0.0
        record = np.empty((operator.index(steps), len(self.columns)))
        self._advance(steps, record)
        return {name: record[:, k] for k, name in enumerate(self.columns)}

    def _advance(self, steps: int, record: np.ndarray) -> None:
        steps = operator.index(steps)
        if steps < 0:
            raise ValueError(f"steps: expected a number that is not negative, got {steps}")
        self._follow_gravity()
        done, self.iterations = self._run(steps, record)
        self.step_count += done
        if done < steps:
            raise SimulationDiverged(
                f"t = {self.time:.6g} s: the step has no solution that Newton's method finds with dt = {self.dt:g} s "
                f"(largest joint rate {np.abs(self.v).max():.3g} rad/s); try a smaller dt"
            )

    def motion_and_weight(self) -> tuple[float, float]:
        """Kinetic energy, and potential energy of the weight [J], without that of springs."""
        self._follow_gravity()
        d, rate = self._directions()
        kinetic, _ = self.chain.energies(d, rate)
        return kinetic, self.chain.weight_energy(d)

    @property
    def residual(self) -> float:
        """The last correction of Newton's method in the last step [rad]; what it left is about its square."""
        return float(np.abs(self._correction()).max())

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state, complex ones as pairs of numbers."""
        raise NotImplementedError

    @property
    def _forces(self) -> tuple[np.ndarray, ...]:
        """What the kernels take of the joints' forces."""
        return self.joints, self._effort, self.chain.sign, self.ledger

    def _follow_gravity(self) -> None:
        if not np.array_equal(self.gravity, self.chain.gravity):
            self.chain = self.chain.under(self.gravity)

    def _directions(self) -> tuple[np.ndarray, np.ndarray]:
        """Directions of the links and their rates (n,), complex."""
        d = np.exp(1j * self.chain.absolute(self.q))
        return d, 1j * self.chain.absolute(self.v) * d

    def _correction(self) -> np.ndarray:
        """The last corrections of the links' angles (n,)."""
        raise NotImplementedError

    def _begin(self, q: np.ndarray, v: np.ndarray) -> None:
        """Set the state of the scheme from angles and rates of the joints."""
        raise NotImplementedError

    def _run(self, steps: int, record: np.ndarray) -> tuple[int, int]:
        """Take steps in a compiled loop; returns how many were done, and the Newton iterations."""
        raise NotImplementedError


def with_turns(wrapped: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Angles that are exact up to full turns, with the turns of angles that are only nearly right."""
    return wrapped + 2.0 * np.pi * np.round((counted - wrapped) / (2.0 * np.pi))
