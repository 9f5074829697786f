# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How long a step may be: K's bounds on the time step, with the errata, and an estimate where K proves nothing.

K (19), (20) are about one rigid body that turns, J the inertia about the point it turns about, κ its condition number:
below the bound the Jacobian of Newton's method is positive definite, so a step has at most one solution there. K (32),
(38), (41) are about coordinates in ℝⁿ with trapezoidal quadrature and need constants of the model, `Regularity`, that
hold for all configurations; they guarantee convergence and are 35 to 2000 times smaller than need be.

All of it is about free motion: contact, couplings, drives, springs, stops and pushes are in none of these, and a step
that meets them may have to be far shorter. Nothing here refuses a step: the bounds inform.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.factorisation import Factorisation
from mbsim_ros.dynamics.inverse import GRAVITY, inverse_dynamics
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.momentum_pass import generalised_momentum_and_gradient
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.lie_variational.discrete_legendre_kernel import discrete_momenta_into
from mbsim_ros.integrators.lie_variational.integrator import QUADRATURES, RETRACTIONS
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC, REVOLUTE, SPHERICAL
from mbsim_ros.model.model import INERTIA, IQ, IV, KIND, MOMENT, Model

PROVED, ESTIMATE = "proved K (20)", "estimate"
FREE_MOTION = "free motion only"
# K (20) with the errata restricts the step for condition numbers above this.
UNRESTRICTED_CONDITION = 4.850845835555322
# The trial steps of an estimate: from, to, growth [s]
SHORTEST, LONGEST, GROWTH = 1e-7, 1e4, 1.4
TRIAL_ITERATIONS = 80


@dataclass(frozen=True)
class StepBound:
    """A bound on the step [s], infinite if there is none, 0 where no step is short enough to be tried.

    kind: PROVED or ESTIMATE. sentence: for people. scope: what of the robot's motion it is about.
    """

    value: float
    kind: str
    sentence: str
    scope: str = FREE_MOTION


@dataclass(frozen=True)
class Regularity:
    """Constants of K's Assumption 1, (26)–(31): bounds of the mass matrix, its slopes and those of the forces."""

    m1: float
    m2: float
    l0: float
    l1: float
    l2: float
    l3: float = 0.0
    l4: float = 0.0
    l5: float = 0.0
    l6: float = 0.0


def step_bound(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    quadrature: str = "midpoint",
    retraction: str = "cayley",
    gravity: ArrayLike | None = None,
) -> StepBound:
    """How long a step of the variational integrator from q (nq,), v (nv,) may be, in free motion.

    K (20) for what K proves: one body that turns about a fixed point, or freely about its centre of mass at rest
    without weight, and the Cayley map. Elsewhere where the solver's iteration stops contracting at this state. A state
    whose numbers are too large to compute with has the bound 0, and the sentence says so.
    """
    if model.mimic is not None:
        raise UnsupportedModel(f"'{model.name}' has mimic joints, which this integrator takes as couplings only")
    at, rate = check.configuration(model, q).copy(), check.velocity(model, v).copy()
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    for name, given, choices in (("quadrature", quadrature, QUADRATURES), ("retraction", retraction, RETRACTIONS)):
        if given not in choices:
            raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {given!r}")
    if retraction == "cayley" and _only_turns(model, rate, g):
        return _of_turning_body(model, rate)
    try:
        iteration = _Iteration(model, at, rate, g, QUADRATURES[quadrature], RETRACTIONS[retraction])
    except ValueError:  # of q and v that were checked: only their products are too large
        return StepBound(0.0, ESTIMATE, f"{FREE_MOTION}: at this state the numbers are too large to compute with")
    value = _first_failure(iteration.factor)
    return StepBound(value, ESTIMATE, f"{FREE_MOTION}: at this state {_measured(value)}")


def _measured(value: float) -> str:
    if value == 0.0:
        return f"even a step of {SHORTEST:g} s is too long for the iteration"
    if np.isinf(value):
        return f"no step up to {LONGEST:g} s is too long for the iteration"
    return f"the iteration of a step stops contracting at about {value:.3g} s: measured, not proved"


def collocation_bound(condition: float, speed: float) -> float:
    """K (19): trapezoidal Lie-Newmark, for an inertia with this condition number κ ≥ 1 at |ω| = speed."""
    if _condition(condition) == 1.0 or speed == 0.0:
        return np.inf
    return 4.0 / ((condition - 1.0) * speed)


def cayley_bound(condition: float, speed: float) -> float:
    """K (20) with the errata: the symplectic Cayley scheme, for condition number κ ≥ 1 at |ω| = speed.

    With x = h |ω| and σ₋ = 1, De ≥ 1 − b x + c x². b = (κ − 1) / 4 as in K. Of the rest of (18), with h²/4 and h²/2,
    the least eigenvalue is x² (½ a − ¼ |J u|), a = uᵀJu, u = ω / |ω|; and |J u|² ≤ (κ + 1) a − κ. The least over a in
    [1, κ] is c = ¼ for κ ≤ 3, where a = 1, and κ / (2 (κ + 1)) − (κ + 1) / 32 beyond.
    """
    if _condition(condition) <= UNRESTRICTED_CONDITION or speed == 0.0:
        return np.inf
    b = (condition - 1.0) / 4.0
    c = condition / (2.0 * (condition + 1.0)) - (condition + 1.0) / 32.0
    # The smaller root in the form that has no cancellation and no 0/0 at c = 0.
    return 2.0 / (b + np.sqrt(b * b - 4.0 * c)) / speed


def regular_jacobian_bound(constants: Regularity, speed: float) -> float:
    """K (32), the root over [·]² + 8 ℓ₂|v|²m₁ only: below it the Jacobian at |v| = speed is invertible."""
    linear = constants.l3 * speed + constants.l4
    square = constants.l2 * speed**2
    # 4 m₁ / (√(…) + …) is the root of the quadratic also where ℓ₂|v|² = 0.
    below = np.sqrt(linear**2 + 8.0 * square * constants.m1) + linear
    return float(4.0 * constants.m1 / below) if below > 0.0 else np.inf


def regular_iterates_bound(constants: Regularity, speed: float, bias: float) -> float:
    """K (38) with −2 m₁: below it the Jacobian is invertible at all iterates of Newton's method.

    bias: |b_k(v_k) − B u_k|, the norm of −∂T/∂q + ∂V/∂q less all forces at the state.
    """
    c = constants
    L0, L1 = _residual(c, speed, bias), _slope(c, speed)

    def phi(h: float) -> float:
        largest = speed + 2.0 * h * L0 / (c.m1 - h * L1)  # K (37)
        return c.l2 * largest**2 * h**2 + (c.l3 * largest + c.l4) * h - 2.0 * c.m1

    end = c.m1 / L1 if L1 > 0.0 else np.inf
    return _first_root(phi, end)


def newton_bound(constants: Regularity, speed: float, bias: float) -> float:
    """K (41) with 3 m₁²L₁: below it, and below (38), Newton's method converges from v_k to the only solution near.

    Not above 1 s, since (39) leaves out a factor h of ℓ₂|v|.
    """
    c = constants
    L0, L1 = _residual(c, speed, bias), _slope(c, speed)
    L2, L3 = 0.5 * (c.l0 + 2.0 * c.l1 + c.l6), 0.5 * (c.l2 + c.l5)  # K (39)
    L4 = (L2 + L3 * speed) * c.m1  # K (40)
    L5 = 2.0 * L0 * L3 - L1 * L2 - L1 * L3 * speed
    cubic = [2.0 * L0 * L5 + L1**3, 2.0 * L0 * L4 - 3.0 * c.m1 * L1**2, 3.0 * c.m1**2 * L1, -(c.m1**3)]
    roots = np.roots(cubic)
    real = roots.real[(np.abs(roots.imag) <= 1e-9 * np.abs(roots)) & (roots.real > 0.0)]
    return min(float(real.min(initial=np.inf)), regular_iterates_bound(constants, speed, bias), 1.0)


def _condition(condition: float) -> float:
    if not condition >= 1.0:
        raise ValueError(f"condition: expected a condition number of at least 1, got {condition!r}")
    return condition


def _residual(c: Regularity, speed: float, bias: float) -> float:
    """L₀ of K (34)."""
    return c.l0 * speed**2 + bias


def _slope(c: Regularity, speed: float) -> float:
    """L₁ of K (35)."""
    return c.l1 * speed + 0.5 * (c.l3 * speed + c.l4)


def _first_root(function: Callable[[float], float], end: float) -> float:
    """The smallest zero of a function that is negative at 0 and rises, below `end`, where it may have a pole."""
    low, high = 0.0, min(1.0, end)
    while high < end and function(high) < 0.0:
        low, high = high, min(2.0 * high, end)
        if high > LONGEST:
            return np.inf
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if function(middle) < 0.0 else (low, middle)
    return low


def _only_turns(model: Model, v: np.ndarray, gravity: np.ndarray) -> bool:
    """Whether a step is K's (11), (12): one body on a ball joint, or a free one about its centre of mass at rest.

    A free body that also moves is none: the Cayley map of SE(3) couples its translation to its rotation.
    """
    if model.n_bodies != 1:
        return False
    if model.topology[0, KIND] == SPHERICAL:
        return True
    if model.topology[0, KIND] != FLOATING:
        return False
    return not (model.constants[0, MOMENT : MOMENT + 3].any() or v[:3].any() or gravity.any())


def _of_turning_body(model: Model, v: np.ndarray) -> StepBound:
    xx, yy, zz, xy, xz, yz = model.constants[0, INERTIA : INERTIA + 6]
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    condition, speed = float(moments[2] / moments[0]), float(np.linalg.norm(v[-3:]))
    value = cayley_bound(max(condition, 1.0), speed)
    what = f"{FREE_MOTION}: one body that turns at {speed:.3g} rad/s, condition number {condition:.3g} of its inertia"
    if np.isinf(value):
        return StepBound(value, PROVED, f"{what}: the Jacobian of a step is invertible for steps of any length")
    return StepBound(value, PROVED, f"{what}: the Jacobian of a step is invertible for steps below {value:.3g} s")


class _Iteration:
    """The quasi-Newton iteration of a step from one state, as step_kernel has it without forces, for trial steps."""

    def __init__(
        self, model: Model, q: np.ndarray, v: np.ndarray, gravity: np.ndarray, quadrature: int, retraction: int
    ):
        self._model, self._q, self._v = model, q, v
        self._scheme = retraction, quadrature
        self._ws = Workspace(model)
        self._p = generalised_momentum_and_gradient(model, q, v, workspace=self._ws).p
        still = np.zeros(model.nv)
        self._weight = inverse_dynamics(model, q, still, still, gravity=gravity, workspace=self._ws)
        self._scratch = np.zeros((3, max(model.nq, model.nv, 18)))
        self._stage, self._minus, self._plus = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)

    def factor(self, h: float) -> float:
        """By how much an iteration shrinks ΔvᵀMΔv's root, on average over a solve; 1 if it does not converge."""
        solver = self._solver(h)
        if solver is None:
            return 1.0
        v, right = self._v.copy(), self._p - 0.5 * h * self._weight
        first = 0.0
        for count in range(TRIAL_ITERATIONS):
            residual = right - self._momenta(v, h)
            with np.errstate(over="ignore", invalid="ignore"):
                update = _solution(solver, residual)
                left, turned_over = float(np.sqrt(abs(residual @ update))), float(np.abs(self._minus) @ np.abs(v))
            if not left < 1e150:
                return 1.0
            if left <= 1e-13 * np.sqrt(turned_over):
                return float((left / first) ** (1.0 / count)) if first > 0.0 and left > 0.0 else 0.0
            first = first or left
            v += update
        return float(min(1.0, (left / first) ** (1.0 / (TRIAL_ITERATIONS - 1))))

    def _solver(self, h: float) -> Factorisation | None:
        """The mass matrix at the middle of the step as predicted, joints that are groups at its beginning."""
        model, middle = self._model, self._q.copy()
        for kind, iq, iv in model.topology[:, [KIND, IQ, IV]]:
            if kind in (REVOLUTE, PRISMATIC):
                middle[iq] += 0.5 * h * self._v[iv]
        try:
            return Factorisation(model, mass_matrix(model, middle, workspace=self._ws))
        except ValueError:
            return None

    def _momenta(self, v: np.ndarray, h: float) -> np.ndarray:
        """−D₁L_d at (q, v)."""
        retraction, quadrature = self._scheme
        discrete_momenta_into(
            self._model.topology, self._model.constants, retraction, quadrature, self._q, v, h, self._ws.sincos,
            self._ws.rows, self._stage, self._scratch, self._minus, self._plus,
        )  # fmt: skip
        return self._minus


def _solution(solver: Factorisation, residual: np.ndarray) -> np.ndarray:
    """M⁻¹ residual; the residual itself, or NaN, where an iteration that runs away has left the numbers."""
    if not np.isfinite(residual).all():
        return residual
    try:
        return solver.solve(residual)
    except ValueError:
        return np.full(len(residual), np.nan)


def _first_failure(factor: Callable[[float], float]) -> float:
    """The shortest step at which the factor reaches 1, to a hundredth; 0 if the shortest of all is one."""
    low, high = 0.0, SHORTEST
    while factor(high) < 1.0:
        low, high = high, GROWTH * high
        if high > LONGEST:
            return np.inf
    while high > 1.01 * low > 0.0:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if factor(middle) < 1.0 else (low, middle)
    return low
