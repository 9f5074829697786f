# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Two bodies of H that a spring and a damper couple, H 3.3 and (16)–(20)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mbsim_ros.control.viscoelastic.law import attitude, cross
from mbsim_ros.experiments.hemami.body import ANGLES, PLACE, STATES, TURN, VELOCITY, HemamiBody

# After the two states: σ₁, σ₂ of H (18), and the same with Ż in place of Z, as printed.
SIGMAS, PRINTED_SIGMAS = slice(2 * STATES, 2 * STATES + 2), slice(2 * STATES + 2, 2 * STATES + 4)
LENGTH = 2 * STATES + 4


@dataclass(frozen=True)
class CoupledBodies:
    """Two bodies, a spring and a damper between their points S1 (3,), S2 (3,): stiffness (3,), damping (3,)."""

    first: HemamiBody
    second: HemamiBody
    S1: np.ndarray = field(repr=False)
    S2: np.ndarray = field(repr=False)
    stiffness: np.ndarray = field(repr=False)
    damping: np.ndarray = field(repr=False)

    def stretch(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The way (3,) from the second point to the first, and its rate (3,), in the world."""
        (p1, v1), (p2, v2) = (
            _point(state, S) for state, S in ((y[:STATES], self.S1), (y[STATES : 2 * STATES], self.S2))
        )
        return p1 - p2, v1 - v2

    def force(self, y: np.ndarray) -> np.ndarray:
        """Δ₁₂ (3,), on the first body; the second has the opposite."""
        way, rate = self.stretch(y)
        return np.asarray(-self.stiffness * way - self.damping * rate)

    def rates(self, y: np.ndarray) -> np.ndarray:
        """Ẏ (40,) of H (16), (18): both states and the energies that the coupling has brought."""
        force = self.force(y)
        z1, z2 = y[:STATES], y[STATES : 2 * STATES]
        result = np.empty(LENGTH)
        result[:STATES] = self.first.rates(z1, force, self.S1)
        result[STATES : 2 * STATES] = self.second.rates(z2, -force, self.S2)
        result[SIGMAS] = _power(z1, z1, force, self.S1), _power(z2, z2, force, self.S2)
        result[PRINTED_SIGMAS] = (
            _power(z1, result[:STATES], force, self.S1),
            _power(z2, result[STATES : 2 * STATES], force, self.S2),
        )
        return result

    def energies(self, y: np.ndarray) -> tuple[float, float]:
        """v₁ + v₂, without the coupling, and the elastic energy of the coupling [J]."""
        way, _ = self.stretch(y)
        own = sum(self.first.energies(y[:STATES])) + sum(self.second.energies(y[STATES : 2 * STATES]))
        return own, float(0.5 * way @ (self.stiffness * way))


def _point(z: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    A = attitude(z[ANGLES])
    return z[PLACE] + A @ S, z[VELOCITY] + A @ cross(z[TURN], S)


def _power(z: np.ndarray, with_entries: np.ndarray, force: np.ndarray, S: np.ndarray) -> float:
    """Z' G(Z) Δ with the entries of Z or of Ż: G has I for the velocity and Š Aᵀ for the angular velocity."""
    torque = cross(S, attitude(z[ANGLES]).T @ force)
    return float(with_entries[VELOCITY] @ force + with_entries[TURN] @ torque)
