# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From a Lagrangian and constraints to an integrator: W's construction, W 2.1 to 2.3, for any functions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics.arguments import finite, vector
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.lagrangian.equations import QUADRATURES, discrete_equations
from mbsim_ros.lagrangian.expressions import Traced
from mbsim_ros.lagrangian.motion import LagrangianMotion, LagrangianState
from mbsim_ros.lagrangian.newton import EPSILON, NoSolution, length, solve
from mbsim_ros.lagrangian.start import checked_start, what_is_singular

AT_ONCE = 4096  # nodes whose matrices are in memory
UNSEEN: Any = {"over": "ignore", "invalid": "ignore"}  # by NumPy: Newton's method refuses what is not finite


def variational_integrator(
    lagrangian: Traced,
    constraints: Traced | None = None,
    *,
    q: ArrayLike,
    v: ArrayLike | None = None,
    dt: float,
    t: float = 0.0,
    quadrature: str = "midpoint",
    forces: Traced | None = None,
    project: bool = False,
) -> LagrangianIntegrator:
    """An integrator for L(q, v) with constraints g(q) = 0, symplectic and true to the momenta of symmetries.

    lagrangian: a function of q and v, arrays (n,), that gives one number; written with NumPy, or CasADi's functions.
    constraints: a function of q that gives a vector (m,), zero where the system can be, or one number.
    q, v: where and how fast it starts; v is 0 if not given.
    dt: the step [s]. t: the time at the start.
    quadrature: "midpoint", W (2.23); "trapezoidal", which is RATTLE and velocity Verlet where L = ½ vᵀMv − V(q);
    or "endpoint", W (2.45).
    forces: a function of q, v and t that gives what L does not have (n,), such as friction or motors, W (5.4).
    project: move q and v to the nearest ones that obey the constraints, and do not refuse others.
    """
    return LagrangianIntegrator(
        lagrangian, constraints, q=q, v=v, dt=dt, t=t, quadrature=quadrature, forces=forces, project=project
    )


class _Node(NamedTuple):
    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    impulses: np.ndarray  # σ₁ (m,) of the step that ends here


class LagrangianIntegrator:
    """Of `variational_integrator`. A step that fails raises SimulationDiverged and leaves the last good state."""

    def __init__(
        self, lagrangian: Traced, constraints: Traced | None, *, q: ArrayLike, v: ArrayLike | None, dt: float,
        t: float, quadrature: str, forces: Traced | None, project: bool,
    ):  # fmt: skip
        self.dt = _number("dt", dt)
        if not self.dt > 0.0:
            raise ValueError(f"dt: expected a positive number of seconds, got {dt!r}")
        if quadrature not in QUADRATURES:
            raise ValueError(f"quadrature: expected one of {', '.join(QUADRATURES)}, got {quadrature!r}")
        self.quadrature = quadrature
        n = np.size(q)
        if n == 0:
            raise ValueError("q: expected one coordinate at least, got none")
        self._equations = discrete_equations(n, self.dt, quadrature, lagrangian, constraints, forces)
        self.reset(q, v, t=t, project=project)

    def reset(self, q: ArrayLike, v: ArrayLike | None = None, *, t: float = 0.0, project: bool = False) -> None:
        """Start anew from q and v."""
        n = self._equations.n
        place, speed = _numbers("q", q, n), np.zeros(n) if v is None else _numbers("v", v, n)
        t = _number("t", t)
        place, speed = checked_start(self._equations, place, speed, t, project)
        p = self._equations.momentum(place, speed)[0].copy()
        self._set(_Node(place, speed, p, np.zeros(self._equations.m)), t)

    def start_between(self, q_before: ArrayLike, q: ArrayLike, *, t: float = 0.0) -> None:
        """Start anew from two places a step apart, as W's tables do; the state is that at the second, at t + dt."""
        n = self._equations.n
        before, now = _numbers("q_before", q_before, n), _numbers("q", q, n)
        t = _number("t", t)
        for place, time in ((before, t), (now, t + self.dt)):
            checked_start(self._equations, place, np.zeros(n), time, project=False)
        try:
            node = self._arrive(before, now, (now - before) / self.dt, t)
        except NoSolution as reason:
            raise ValueError(f"q: no velocity belongs to these two places: {reason}") from None
        self._set(node, t + self.dt)

    @property
    def state(self) -> LagrangianState:
        """The state now."""
        q, v, p = (each.copy() for each in self._node[:3])
        t = float(self._time())
        energy, multipliers = float(self.energy(q, v)), self._multipliers(q[None], v[None], np.array([t]))[0]
        return LagrangianState(t, q, v, p, multipliers, energy)

    def step(self) -> LagrangianState:
        """Take one step; the state after it."""
        with np.errstate(**UNSEEN):
            self._advance()
        return self.state

    def run(self, steps: int) -> LagrangianMotion:
        """Take many steps; all states on the way, the present one first."""
        if not isinstance(steps, (int, np.integer)) or steps < 0:
            raise ValueError(f"steps: expected a whole number, 0 or more, got {steps!r}")
        t, (q, v, p) = self._time(np.arange(steps + 1)), np.empty((3, steps + 1, self._equations.n))
        q[0], v[0], p[0] = self._node[:3]
        with np.errstate(**UNSEEN):
            for k in range(1, steps + 1):
                self._advance()
                q[k], v[k], p[k] = self._node[:3]
        return LagrangianMotion(t, q, v, p, self._multipliers(q, v, t), self.energy(q, v))

    def energy(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Energy ∂L/∂v · v − L of places and velocities, (n,) or (…, n)."""
        places, speeds = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        if places.shape[-1:] != (self._equations.n,):
            raise ValueError(f"q: expected {self._equations.n} numbers in the last axis, got shape {places.shape}")
        rows = (each.reshape(-1, self._equations.n) for each in (places, speeds))
        return self._equations.energy.rows(*rows)[0].reshape(places.shape[:-1])

    def _multipliers(self, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> np.ndarray:
        found = np.empty((len(t), self._equations.m))
        for first in range(0, len(t) if self._equations.m else 0, AT_ONCE):
            some = slice(first, first + AT_ONCE)
            right, matrices = self._equations.acceleration.rows(q[some], v[some], t[some])
            found[some] = np.linalg.solve(matrices, right[..., None])[:, self._equations.n :, 0]
        return found

    def _set(self, node: _Node, t: float) -> None:
        self._node, self._start, self._steps = node, t, 0

    def _time(self, further: np.ndarray | int = 0) -> Any:
        return self._start + (self._steps + further) * self.dt

    def _advance(self) -> None:
        """From this node to the next, or SimulationDiverged."""
        t = self._time()
        try:
            d = self._leave(t)
            q_next = self._node.q + self.dt * d
            self._node = self._arrive(self._node.q, q_next, d, t)
        except NoSolution as reason:
            singular = what_is_singular(self._equations, self._node.q, self._node.v, t)
            raise SimulationDiverged(
                f"t = {t:.6g} s: the step was not taken: {singular or reason}. The state is that at t = {t:.6g} s, the "
                f"last good one. Try a smaller dt than {self.dt:.3g} s"
            ) from None
        self._steps += 1

    def _leave(self, t: float) -> np.ndarray:
        """The mean velocity d of the step, from the node on."""
        q, v, p, impulses = self._node
        leave = self._equations.leave
        unknowns = leave.inputs[0]
        leave.inputs[1][:], leave.inputs[2][:], leave.inputs[3][:] = q, p, t
        unknowns[: len(q)], unknowns[len(q) :] = v, impulses
        solve(leave.evaluate, unknowns, len(q), EPSILON * length(q) / self.dt)
        return unknowns[: len(q)].copy()

    def _arrive(self, q: np.ndarray, q_next: np.ndarray, d: np.ndarray, t: float) -> _Node:
        """The node at the end of a step: its momentum by the discrete Legendre transform, on the constraints."""
        free = self._equations.arrive(d, q, t)[0]
        node = self._equations.node
        unknowns = node.inputs[0]
        node.inputs[1][:], node.inputs[2][:] = q_next, free
        unknowns[: len(q)], unknowns[len(q) :] = d, 0.0
        solve(node.evaluate, unknowns, len(q), linear=self._equations.node_is_linear)
        v, impulses = unknowns[: len(q)].copy(), unknowns[len(q) :].copy()
        # Not ∂L/∂v of v, which is rounded as the solution is: momenta of symmetries do not feel G.
        return _Node(q_next, v, free - node.outputs[1][: len(q), len(q) :] @ impulses, impulses)


def _numbers(name: str, value: object, size: int) -> np.ndarray:
    """A copy of finite numbers."""
    return finite(name, vector(name, value, size)).copy()


def _number(name: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name}: expected a finite number, got {value!r}")
    return number
