# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`PlanarMidpoint`: the implicit midpoint rule in joint angles, the reference of G 5.1.6, here with springs too."""

from __future__ import annotations

import numpy as np

from mbsim_ros.integrators.planar.chain import PlanarChain
from mbsim_ros.integrators.planar.midpoint_kernel import MATRICES, NUMBERS, RESIDUAL, VECTORS, midpoint_steps_into
from mbsim_ros.integrators.planar.scheme import PlanarScheme
from mbsim_ros.model.model import Model


class PlanarMidpoint(PlanarScheme):
    """The state is the absolute angles of the links and their rates, (n,): minimal coordinates, no constraints."""

    columns = ("energy",)  # [J]

    def __init__(self, chain: PlanarChain | Model, dt: float):
        super().__init__(chain, dt)
        n = len(self.chain)
        self._scratch = (
            np.zeros((VECTORS, n), dtype=complex), np.zeros((NUMBERS, n)), np.zeros((MATRICES, n, n))
        )  # fmt: skip

    @property
    def q(self) -> np.ndarray:
        """Angles of the joints (n,)."""
        return self.chain.relative(self._angle)

    @property
    def v(self) -> np.ndarray:
        """Rates of the joints (n,)."""
        return self.chain.relative(self._rate)

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state."""
        return {"angle": self._angle, "rate": self._rate}

    def _correction(self) -> np.ndarray:
        return self.dt * self._scratch[1][RESIDUAL]

    def _begin(self, q: np.ndarray, v: np.ndarray) -> None:
        self._angle, self._rate = self.chain.absolute(q), self.chain.absolute(v)

    def _run(self, steps: int, record: np.ndarray) -> tuple[int, int]:
        done, iterations = midpoint_steps_into(
            self.chain.arrays, self._forces, steps, self.dt, self._angle, self._rate, *self._scratch, record
        )
        record[:, 0] += self.chain.potential_at_zero
        return done, iterations
