# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`CircleVariational`: the variational integrator on (S¹)ⁿ of G 4 for planar chains with springs."""

from __future__ import annotations

import numpy as np

from mbsim_ros.integrators.planar.chain import PlanarChain
from mbsim_ros.integrators.planar.circle_variational_kernel import (
    ANGLE,
    CHORD,
    MATRICES,
    MIDDLE_ENERGY,
    MIXED_ENERGY,
    NODE_ENERGY,
    NUMBERS,
    PRINTED,
    RESIDUAL,
    VECTORS,
    circle_steps_into,
    node_rates_into,
)
from mbsim_ros.integrators.planar.scheme import PlanarScheme, with_turns
from mbsim_ros.model.model import Model

VERSIONS = {"printed": PRINTED, "chord": CHORD, "angle": ANGLE}


class CircleVariational(PlanarScheme):
    """The state is the directions of the links, each in the frame of the one before, and the momenta p of the joints.

    version: "angle" and "chord" are symplectic, "printed" is G (4.28) with (4.31) as they stand, which is not (ERRATA
    A17). It starts from p_0 = M(q_0) v_0, the discrete Legendre transform that G leaves out (A16).
    """

    columns = ("energy", "energy in the middle", "mixed energy", "norm error")  # [J], [J], [J] (A18), G (5.2)

    def __init__(self, chain: PlanarChain | Model, dt: float, *, version: str = "angle"):
        if version not in VERSIONS:
            raise ValueError(f"version: expected one of {', '.join(map(repr, VERSIONS))}, got {version!r}")
        self._version = VERSIONS[version]
        super().__init__(chain, dt)
        n = len(self.chain)
        self._scratch = (
            np.zeros((VECTORS, n), dtype=complex), np.zeros((NUMBERS, n)), np.zeros((MATRICES, n, n))
        )  # fmt: skip

    @property
    def q(self) -> np.ndarray:
        """Angles of the joints (n,), full turns counted."""
        return self.chain.sign * with_turns(np.angle(self.direction), self._angle)

    @property
    def v(self) -> np.ndarray:
        """Rates of the joints (n,) at the node, M(q)⁻¹p."""
        rate = np.empty(len(self.chain))
        node_rates_into(self.chain.arrays, self.direction, self.p, self._scratch[0], self._scratch[2], rate)
        return self.chain.relative(rate)

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state, complex ones as pairs of numbers."""
        return {"direction": self.direction.view(float), "p": self.p, "half": self._half, "angle": self._angle}

    def _correction(self) -> np.ndarray:
        return 2.0 * self._scratch[1][RESIDUAL]

    def _begin(self, q: np.ndarray, v: np.ndarray) -> None:
        self._angle = self.chain.sign * q
        self.direction = np.exp(1j * self._angle)
        d, rate = np.exp(1j * np.cumsum(self._angle)), self.chain.absolute(v)
        of_links = (d.conj() * (self.chain.mass_matrix @ (d * rate))).real
        self.p = np.ascontiguousarray(np.cumsum(of_links[::-1])[::-1])  # a joint carries all links from its own on
        self._half = 0.5 * self.dt * self.chain.sign * v

    def _run(self, steps: int, record: np.ndarray) -> tuple[int, int]:
        done, iterations = circle_steps_into(
            self.chain.arrays, self._forces, self._version, steps, self.dt, self.direction, self.p, self._half,
            self._angle, *self._scratch, record,
        )  # fmt: skip
        record[:, [NODE_ENERGY, MIDDLE_ENERGY, MIXED_ENERGY]] += self.chain.potential_at_zero
        return done, iterations
