# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Point masses joined by rigid bars, such as the double spherical pendulum of W 2.4.2.

`shake` and `rattle` are in `shake_rattle.py`, the energy-momentum scheme in `energy_momentum.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.integrators.errors import SimulationDiverged


@dataclass(frozen=True, eq=False)
class Particles:
    """n point masses [kg] and m bars: pairs of ends (m, 2), -1 for the fixed origin, with lengths [m]."""

    masses: np.ndarray
    bars: np.ndarray
    lengths: np.ndarray
    gravity: np.ndarray

    @property
    def squares(self) -> np.ndarray:
        """Lengths squared (m,)."""
        return self.lengths * self.lengths

    def ways(self, q: np.ndarray) -> np.ndarray:
        """The way along every bar (…, m, 3) for places q (…, n, 3)."""
        q = np.asarray(q, dtype=float)
        fixed = np.concatenate([q, np.zeros((*q.shape[:-2], 1, 3))], axis=-2)  # the origin is the last, as -1 counts
        return fixed[..., self.bars[:, 0], :] - fixed[..., self.bars[:, 1], :]  # type: ignore[no-any-return]

    def constraints(self, q: np.ndarray) -> np.ndarray:
        """g (…, m), W (2.54)."""
        ways = self.ways(q)
        return (ways * ways).sum(axis=-1) - self.squares

    def energy(self, q: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Energy [J] of places q and momenta p (…, n, 3)."""
        kinetic = 0.5 * (p * p).sum(axis=-1) @ (1.0 / self.masses)
        return kinetic - ((q @ self.gravity) @ self.masses)  # type: ignore[no-any-return]

    def middle_energy(self, q: np.ndarray, h: float) -> np.ndarray:
        """Energy of every step of a path q (steps + 1, n, 3): of its middle, with the momenta M Δq/h."""
        return self.energy(0.5 * (q[1:] + q[:-1]), self.masses[:, None] * np.diff(q, axis=0) / h)

    def weight(self) -> np.ndarray:
        """Acceleration (n, 3) of every mass by its weight."""
        return np.tile(self.gravity, (len(self.masses), 1))

    def multipliers(self, q: np.ndarray, h: float) -> np.ndarray:
        """λ (steps - 1, m) [N/m] of a path q (steps + 1, n, 3) that obeys W (2.55), at the nodes between its steps.

        2 λ times the length of a bar is the force that presses it; below zero it pulls.
        """
        excess = (q[2:] - 2.0 * q[1:-1] + q[:-2]) / (h * h) - self.gravity  # of each mass, by its bars
        G = 2.0 * self._gradients(q[1:-1])  # (…, m, n, 3)
        flat, inverse = G.reshape(*G.shape[:-2], -1), np.repeat(1.0 / self.masses, 3)
        right = flat @ excess.reshape(len(excess), -1, 1)
        return np.linalg.solve((flat * inverse) @ np.swapaxes(flat, -1, -2), right)[..., 0]

    def _gradients(self, q: np.ndarray) -> np.ndarray:
        """Half the derivative of the constraints (…, m, n, 3) by places q (…, n, 3)."""
        ways = self.ways(q)
        G = np.zeros((*ways.shape[:-1], *np.shape(q)[-2:]))
        for j, ends in enumerate(self.bars):
            for end, sign in zip(ends, (1.0, -1.0), strict=True):
                if end >= 0:
                    G[..., j, end, :] = sign * ways[..., j, :]
        return G

    def along_the_bars_removed(self, q: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Momenta p (n, 3) without what would change the lengths of bars, W (2.36), (2.37)."""
        G = self._gradients(q)
        flat, inverse = G.reshape(len(G), -1), np.repeat(1.0 / self.masses, 3)
        pulls = np.linalg.solve((flat * inverse) @ flat.T, flat @ (inverse * p.ravel()))
        return p - (pulls @ flat).reshape(p.shape)

    def work(self) -> np.ndarray:
        """Memory for a step."""
        size = 3 * len(self.masses) + len(self.bars)
        return np.zeros((size, size + 1))


def particles(
    masses: ArrayLike, bars: ArrayLike, lengths: ArrayLike, gravity: ArrayLike = (0.0, 0.0, -9.81)
) -> Particles:
    """Check and make them."""
    m, b = np.array(masses, dtype=float), np.array(bars, dtype=np.int64).reshape(-1, 2)
    lengths = np.array(lengths, dtype=float)
    if m.ndim != 1 or not (m > 0.0).all():
        raise ValueError(f"masses: expected positive numbers, got {masses!r}")
    if len(lengths) != len(b) or not (lengths > 0.0).all():
        raise ValueError(f"lengths: expected {len(b)} positive numbers, got {lengths.tolist()}")
    if ((b < -1) | (b >= len(m))).any() or (b[:, 0] == b[:, 1]).any():
        raise ValueError(f"bars: expected pairs of different ends from -1 to {len(m) - 1}, got {b.tolist()}")
    return Particles(m, b, lengths, np.array(gravity, dtype=float))


def finished(done: int, steps: int, h: float) -> None:
    """Raise SimulationDiverged if a kernel stopped early."""
    if done < steps:
        raise SimulationDiverged(f"t = {done * h:.6g} s: no places with bars of these lengths found; try a smaller h")
