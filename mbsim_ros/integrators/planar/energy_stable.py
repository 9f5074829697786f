# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`EnergyStable`: the energy-stable scheme of G 3 for planar chains with springs."""

from __future__ import annotations

import operator

import numpy as np

from mbsim_ros.integrators.planar.chain import PlanarChain
from mbsim_ros.integrators.planar.energy_stable_kernel import NUMBERS, RESIDUAL, VECTORS, energy_stable_steps_into
from mbsim_ros.integrators.planar.scheme import PlanarScheme, with_turns
from mbsim_ros.model.model import Model

MOST_POINTS = 12


class EnergyStable(PlanarScheme):
    """The state is the directions of the links and their rates, both complex (n,), all constraints solved exactly.

    Energy is conserved to rounding under weight alone; springs leave what a Gauss rule of `gauss_points` points along
    the step does not integrate: an error of dt² with one, the midpoint rule, of dt⁶ with G's three.
    """

    columns = ("energy", "length error", "rate error")  # [J], of |d|² = 1, of Re(conj(d) ḋ) = 0 [1/s]

    def __init__(self, chain: PlanarChain | Model, dt: float, *, gauss_points: int = 1):
        points = operator.index(gauss_points)
        if not 1 <= points <= MOST_POINTS:
            raise ValueError(f"gauss_points: expected 1 to {MOST_POINTS}, got {gauss_points}")
        nodes, weights = np.polynomial.legendre.leggauss(points)
        self._rule = np.ascontiguousarray(0.5 * (nodes + 1.0)), np.ascontiguousarray(0.5 * weights)  # on [0, 1]
        super().__init__(chain, dt)
        n = len(self.chain)
        self._scratch = np.zeros((VECTORS, n), dtype=complex), np.zeros((NUMBERS, n)), np.zeros((n, n))

    @property
    def q(self) -> np.ndarray:
        """Angles of the joints (n,), full turns counted."""
        return self.chain.relative(with_turns(np.angle(self.d), self._angle))

    @property
    def v(self) -> np.ndarray:
        """Rates of the joints (n,): what the links' rates are across their directions."""
        return self.chain.relative((self.d.conj() * self.rate).imag)

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J], of the rates as they are: the sum is what the scheme conserves."""
        return self.chain.energies(self.d, self.rate)

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state, complex ones as pairs of numbers."""
        return {"d": self.d.view(float), "rate": self.rate.view(float), "angle": self._angle, "gain": self._gain}

    def _directions(self) -> tuple[np.ndarray, np.ndarray]:
        return self.d, self.rate

    def _correction(self) -> np.ndarray:
        return self.dt * self._scratch[1][RESIDUAL]

    def _begin(self, q: np.ndarray, v: np.ndarray) -> None:
        self._angle = self.chain.absolute(q)
        self.d = np.exp(1j * self._angle)
        self.rate = 1j * self.chain.absolute(v) * self.d
        self._gain = np.zeros(len(self.chain))

    def _run(self, steps: int, record: np.ndarray) -> tuple[int, int]:
        done, iterations = energy_stable_steps_into(
            self.chain.arrays, self._forces, *self._rule, steps, self.dt, self.d, self.rate, self._gain, self._angle,
            *self._scratch, record,
        )  # fmt: skip
        record[:, 0] += self.chain.potential_at_zero
        return done, iterations
