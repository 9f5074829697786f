# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""SHAKE, RATTLE and the energy-momentum scheme on robots that are point masses on bars."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.layout import LEDGER_ACTUATORS, LEDGER_COLUMNS
from mbsim_ros.integrators.particles.bar_motion import joints_of, places_of, rates_of, spins_of
from mbsim_ros.integrators.particles.bar_tree import bars_of, particles_of
from mbsim_ros.integrators.particles.system_kernel import energy_momentum_steps, rattle_steps, shake_steps
from mbsim_ros.model.model import Model

SLOW = 1e-9  # rad/s: how fast a bar may turn about itself at the start


class PointMasses:
    """A scheme of fixed step dt on places and momenta of masses; the joints follow from them.

    Efforts of joints are forces on the masses, those of the middle of a step as the motion before it foretells it.
    """

    def __init__(self, model: Model, dt: float, gravity: np.ndarray):
        self.model, self.dt = model, float(dt)
        self._bars, problems = bars_of(model)
        if problems:
            raise UnsupportedModel(f"'{model.name}' is not of point masses on bars: {'; '.join(problems)}")
        self.gravity, self.ledger = np.array(gravity, dtype=float), np.zeros(LEDGER_COLUMNS)
        self.system = particles_of(self._bars, self.gravity)
        n = len(self._bars)
        self._pivots = np.array([self._pivot(i) for i in range(n)])
        self._x, self._p, self._later, self._free, self._increment = np.zeros((5, n, 3))
        self._pulls, self._work = np.zeros(n), self.system.work()
        self._q = model.neutral.copy()
        self.step_count = self.iterations = 0
        self.reset(model.neutral, np.zeros(model.nv))

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,)."""
        return self._q.copy()

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,) at the node."""
        return rates_of(self.model, self._bars, self._q, self._momenta() / self.system.masses[:, None])

    @property
    def residual(self) -> float:
        """By what part of its length squared a bar is too long or short."""
        return float(np.abs(self.system.constraints(self._x) / self.system.squares).max())

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,); ValueError where a bar turns about itself, which points do not know."""
        q, v = check.configuration(self.model, q), check.velocity(self.model, v)
        turning = {name: spin for name, spin in spins_of(self.model, self._bars, q, v).items() if abs(spin) > SLOW}
        if turning:
            name, spin = next(iter(turning.items()))
            raise ValueError(
                f"v: link '{name}' turns about itself by {abs(spin):.3g} rad/s, and point masses do not turn"
            )
        self._x[:], velocities = places_of(self.model, self._bars, q, v)
        self._p[:] = self.system.masses[:, None] * velocities
        self._q, self.step_count, self.iterations = q.copy(), 0, 0
        self._pulls[:] = self.ledger[:] = 0.0
        self._start()

    def step(self, *, tau: ArrayLike | None = None, steps: int = 1) -> None:
        """Advance by steps under efforts tau (nv,). SimulationDiverged, in the state before the step."""
        effort = np.zeros(self.model.nv) if tau is None else check.effort(self.model, tau)
        self.iterations = 0
        if not effort.any():
            self._take(operator.index(steps), self.system.weight())
            return
        for _ in range(operator.index(steps)):
            pushed, before = self._pushed(effort), self._x.copy()
            self._take(1, self.system.weight() + pushed)
            self.ledger[LEDGER_ACTUATORS] += self.system.masses @ (pushed * (self._x - before)).sum(axis=1)

    def motion_and_weight(self) -> tuple[float, float]:
        """Kinetic energy, and potential energy of the weight [J]."""
        p, m = self._momenta(), self.system.masses
        return 0.5 * float((p * p).sum(axis=1) @ (1.0 / m)), -float(m @ (self._x + self._pivots) @ self.gravity)

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state."""
        return {"q": self._q, "places": self._x, "momenta": self._p, "pulls": self._pulls}

    def _take(self, steps: int, acceleration: np.ndarray) -> None:
        track = np.zeros((steps, *self._x.shape))
        done, iterations = self._run(acceleration, track)
        for places in track[:done]:
            self._q = joints_of(self.model, self._bars, places, self._q)
        self.step_count += done
        self.iterations += iterations
        if done < steps:
            raise SimulationDiverged(
                f"t = {self.step_count * self.dt:.6g} s: no places with bars of these lengths found with "
                f"dt = {self.dt:g} s; try a smaller dt"
            )

    def _pushed(self, effort: np.ndarray) -> np.ndarray:
        """Accelerations (n, 3) of the masses by efforts alone, half a step ahead."""
        x = self._x + 0.5 * self.dt * self._momenta() / self.system.masses[:, None]
        q = joints_of(self.model, self._bars, x, self._q)
        return places_of(self.model, self._bars, q, np.linalg.solve(mass_matrix(self.model, q), effort))[1]

    def _pivot(self, i: int) -> np.ndarray:
        bar = self._bars[i]
        return bar.pivot if bar.parent < 0 else self._pivot(bar.parent)

    def _momenta(self) -> np.ndarray:
        """Momenta (n, 3) at the node."""
        return self._p

    def _start(self) -> None:
        """What else a scheme begins with."""

    def _run(self, acceleration: np.ndarray, track: np.ndarray) -> tuple[int, int]:
        """Take as many steps as track has room for; returns how many were done, and the iterations."""
        raise NotImplementedError


class Rattle(PointMasses):
    """W (2.33)–(2.37): symplectic; momenta at the nodes obey the bars."""

    def _run(self, acceleration: np.ndarray, track: np.ndarray) -> tuple[int, int]:
        s = self.system
        return rattle_steps(  # type: ignore[no-any-return]
            s.masses, s.bars, s.squares, acceleration, self.dt, self._x, self._p, self._pulls, self._free, self._later,
            self._increment, self._work, track, np.zeros_like(track),
        )  # fmt: skip


class EnergyMomentum(PointMasses):
    """W 2.4.2 after Gonzalez: energy and momenta of symmetries to rounding, not symplectic."""

    def _run(self, acceleration: np.ndarray, track: np.ndarray) -> tuple[int, int]:
        s = self.system
        return energy_momentum_steps(  # type: ignore[no-any-return]
            s.masses, s.bars, s.squares, acceleration, self.dt, self._x, self._p, self._pulls, self._later,
            self._increment, self._work, track, np.zeros_like(track),
        )  # fmt: skip


class Shake(PointMasses):
    """W (2.32), (2.55): the state is places and their last increment, which begins as RATTLE does.

    The momenta at a node are RATTLE's: the increment with half a step of forces, without what is along the bars.
    """

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state."""
        own = {"increment": self._increment, "forces": self._last}
        return {"q": self._q, "places": self._x, **own, "pulls": self._pulls}

    def _start(self) -> None:
        self._last = self.system.weight()  # accelerations by the forces of the last step
        self._increment[:] = self.dt * (self._p / self.system.masses[:, None] - 0.5 * self.dt * self._last)

    def _momenta(self) -> np.ndarray:
        rate = self._increment / self.dt + 0.5 * self.dt * self._last
        return self.system.along_the_bars_removed(self._x, self.system.masses[:, None] * rate)

    def _run(self, acceleration: np.ndarray, track: np.ndarray) -> tuple[int, int]:
        s, total = self.system, 0
        for first in (slice(0, 1), slice(1, None)):  # forces at the first node are half those of before
            if not len(track[first]):
                continue
            done, iterations = shake_steps(
                s.masses, s.bars, s.squares, 0.5 * (self._last + acceleration), self.dt, self._x, self._increment,
                self._pulls, self._free, self._later, self._work, False, track[first],
            )  # fmt: skip
            total += iterations
            if done < len(track[first]):
                return (0 if first.start == 0 else 1) + done, total
            self._last[:] = acceleration
        return len(track), total
