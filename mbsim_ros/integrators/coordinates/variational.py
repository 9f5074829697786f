# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`CoordinateVariational`: K (21)–(25), the trapezoidal variational integrator in coordinates, solved as in K.

The flagship with trapezoidal quadrature takes the same steps on these models and is the one to use. This one has the
mass matrix, the exact Jacobian (25) and the pure Algorithm 1 of the paper, whose solvability K's bounds are about.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.energy import energy
from mbsim_ros.dynamics.inverse import GRAVITY, inverse_dynamics
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.momentum_pass import generalised_momentum_and_gradient
from mbsim_ros.integrators.coordinates.derivatives import momentum_slopes, refuse_other_joints
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.joint_arrays import make_joints
from mbsim_ros.integrators.joint_resistance_kernel import add_all_works, resisted_efforts_into
from mbsim_ros.integrators.layout import JOINT_DAMPING, JOINT_FRICTION, JOINT_STOP_STIFFNESS, LEDGER_COLUMNS
from mbsim_ros.model.model import Model

ITERATIONS = 100
SEARCHES, SHORTEST = 300, 1e-3  # where joints have friction or stops: iterations, shortest part of a correction
ENOUGH = 1e-10  # of |v|, for a correction after which there is nothing left to correct


@dataclass(frozen=True)
class NewtonResult:
    """What Algorithm 1 came to: v (n,), how many corrections it took, whether they came to an end."""

    v: np.ndarray
    iterations: int
    converged: bool
    correction: float = 0.0  # the last one, as a part of |v|


class CoordinateVariational:
    """Steps of K (22) on a model of revolute, continuous and prismatic joints, with damping and efforts.

    Its state is (q_k, p_k), so that it starts from any q and v by the discrete Legendre transform; `mean_velocity` is
    K's v_k = (q_k − q_{k−1}) / h and `v` the velocity at the instant.
    """

    def __init__(self, model: Model, dt: float, *, gravity: ArrayLike | None = None, damping: ArrayLike | None = None):
        """damping (nv,): f^x = −damping · v, K 4.2.1. `joints` (7, nv) has it, and what else may resist."""
        refuse_other_joints(model)
        self.model, self.dt = model, float(dt)
        if not 0.0 < self.dt < np.inf:
            raise ValueError(f"dt: expected a positive number, got {dt!r}")
        self.gravity = GRAVITY.copy() if gravity is None else check.gravity_vector(gravity).copy()
        self.joints = make_joints(model.nv)
        self.damping = self.joints[JOINT_DAMPING]
        self.damping[:] = 0.0 if damping is None else check.velocity(model, damping)
        self.ledger = np.zeros(LEDGER_COLUMNS)
        self._none, self._force, self._slope = np.zeros((3, model.nv))
        self.reset(model.neutral, np.zeros(model.nv))

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,)."""
        self.q = check.configuration(self.model, q).copy()
        v = check.velocity(self.model, v)
        self._p = generalised_momentum_and_gradient(self.model, self.q, v).p
        self.mean_velocity = v.copy()
        self.step_count, self.iterations, self.residual = 0, 0, 0.0
        self.ledger[:] = 0.0

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,) at the node, M(q)⁻¹p."""
        return np.linalg.solve(mass_matrix(self.model, self.q), self._p)

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.step_count * self.dt

    def step(self, tau: ArrayLike | None = None, steps: int = 1) -> None:
        """Advance by steps of dt under efforts tau (nv,). Raises SimulationDiverged, in the state before the step."""
        u = np.zeros(self.model.nv) if tau is None else check.effort(self.model, tau)
        self.iterations = 0
        for _ in range(operator.index(steps)):
            h = self.dt
            found = self.newton(self._p + 0.5 * h * (u - self.weight(self.q)), self.mean_velocity, h, self._is_sharp())
            self.iterations += found.iterations
            if not found.converged:
                raise SimulationDiverged(
                    f"t = {self.time:.6g} s: Newton's method found no mean velocity with dt = {h:g} s; try a smaller dt"
                )
            q_next = self.q + h * found.v
            resistance, _ = self._resistance(found.v, h)
            # p = D₂L_d + f⁺: the second half of (22)
            begin = generalised_momentum_and_gradient(self.model, self.q, found.v)
            end = generalised_momentum_and_gradient(self.model, q_next, found.v)
            self._p = 0.5 * (begin.p + end.p) + 0.5 * h * (end.dT_dr - self.weight(q_next) + resistance + u)
            add_all_works(self.joints, u, self.q + 0.5 * h * found.v, found.v, h, self.ledger)
            self.q, self.mean_velocity, self.residual = q_next, found.v, found.correction
            self.step_count += 1

    def newton(self, right: np.ndarray, v: np.ndarray, h: float, is_searching: bool = False) -> NewtonResult:
        """Algorithm 1: the v (nv,) with ½[M(q) + M(q + hv)]v − ½h ∂T/∂q + ½h damping v = right, from this guess.

        It has failed when a correction is not finite, the Jacobian is singular, or there is no end of corrections.
        is_searching: whether corrections that make the error longer are halved, which Algorithm 1 does not.
        """
        v, d, scale, before = np.array(v, dtype=float), np.zeros(self.model.nv), 0.0, np.inf
        for count in range(SEARCHES if is_searching else ITERATIONS):
            try:
                with np.errstate(over="raise", invalid="raise"):
                    error = right - self.residual_terms(v, h)
                    if is_searching:
                        if not np.linalg.norm(error) < before and scale > SHORTEST:
                            scale *= 0.5
                            v = v - scale * d
                            continue
                        before, scale = float(np.linalg.norm(error)), 1.0
                    d = np.linalg.solve(self.jacobian(v, h), error)
            except (np.linalg.LinAlgError, FloatingPointError, ValueError):
                return NewtonResult(v, count, False)
            v = v + d
            if not np.isfinite(v).all() or np.abs(v).max(initial=0.0) > 1e100:
                return NewtonResult(v, count + 1, False)
            size, length = float(np.linalg.norm(d)), float(np.linalg.norm(v))
            if size <= ENOUGH * length:
                return NewtonResult(v, count + 1, True, size / length if length > 0.0 else 0.0)
        return NewtonResult(v, ITERATIONS, False)

    def residual_terms(self, v: np.ndarray, h: float) -> np.ndarray:
        """What e_k of K (24) has of v, (nv,)."""
        begin = generalised_momentum_and_gradient(self.model, self.q, v)
        end = generalised_momentum_and_gradient(self.model, self.q + h * v, v)
        return 0.5 * (begin.p + end.p) - 0.5 * h * (begin.dT_dr + self._resistance(v, h)[0])

    def jacobian(self, v: np.ndarray, h: float) -> np.ndarray:
        """De_k of K (25), (nv, nv)."""
        q_next = self.q + h * v
        middle = 0.5 * (mass_matrix(self.model, self.q) + mass_matrix(self.model, q_next))
        slopes = momentum_slopes(self.model, q_next, v) - momentum_slopes(self.model, self.q, v).T
        return middle + 0.5 * h * (slopes + np.diag(self._resistance(v, h)[1]))

    def _is_sharp(self) -> bool:
        """Whether joints have friction or stops, which Newton's method may step over for ever."""
        return bool(self.joints[JOINT_FRICTION].any() or self.joints[JOINT_STOP_STIFFNESS].any())

    def _resistance(self, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        """What resists the joints in the middle of a step with the mean velocity v, and its slopes −dQ/dv, (nv,)."""
        resisted_efforts_into(self.joints, self._none, self.q + 0.5 * h * v, v, h, self._force, self._slope)
        return self._force, self._slope

    def motion_and_weight(self) -> tuple[float, float]:
        """Kinetic energy, and potential energy of the weight [J]."""
        found = energy(self.model, self.q, self.v, self.gravity)
        return found.kinetic, found.potential

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state."""
        return {"q": self.q, "p": self._p, "mean_velocity": self.mean_velocity}

    def weight(self, q: np.ndarray) -> np.ndarray:
        """∇V (nv,)."""
        still = np.zeros(self.model.nv)
        return inverse_dynamics(self.model, q, still, still, gravity=self.gravity)

    def bias(self, tau: ArrayLike | None = None) -> float:
        """|b_k(v_k) − B u_k| of K (34) at this state with K's v_k, which K's bounds (38), (41) need."""
        u = np.zeros(self.model.nv) if tau is None else check.effort(self.model, tau)
        v = self.mean_velocity
        gradient = generalised_momentum_and_gradient(self.model, self.q, v).dT_dr
        return float(np.linalg.norm(self.weight(self.q) - gradient + self.damping * v - u))
