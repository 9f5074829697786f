# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Rk4` and `LieEuler`: what the variational integrator is compared with, on the same models."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.energy import energy
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.baselines.steps_kernel import (
    NO_ACCELERATION,
    ROWS,
    lie_euler_steps_into,
    rk4_steps_into,
)
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.retraction import CAYLEY, EXPONENTIAL
from mbsim_ros.integrators.state_bounds import BOUNDS
from mbsim_ros.model.model import Model

RETRACTIONS = {"cayley": CAYLEY, "exp": EXPONENTIAL}


class Baseline:
    """State (q, v), time and failure of a one-step scheme on forward dynamics; subclasses have the scheme."""

    iterations, residual = 0, 0.0  # an explicit scheme solves nothing

    def __init__(self, model: Model, dt: float, *, gravity: ArrayLike | None = None):
        if model.mimic is not None:
            raise UnsupportedModel(f"'{model.name}' has mimic joints, which this integrator does not cover")
        self.model = model
        self.dt = float(dt)
        if not 0.0 < self.dt < np.inf:
            raise ValueError(f"dt: expected a positive number, got {dt!r}")
        self.gravity = GRAVITY.copy() if gravity is None else check.gravity_vector(gravity).copy()
        self._workspace = Workspace(model)
        self._work = np.zeros((ROWS, max(model.nq, model.nv)))
        self._no_wrenches = np.zeros((0, 6))
        self._force = np.zeros(model.nv)
        self.q, self.v = model.neutral.copy(), np.zeros(model.nv)
        self.step_count = 0

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,)."""
        q, v = check.configuration(self.model, q), check.velocity(self.model, v)
        self.q[:], self.v[:] = q, v
        self.step_count = 0

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.step_count * self.dt

    def motion_and_weight(self) -> tuple[float, float]:
        """Kinetic energy, and potential energy of the weight [J]."""
        found = energy(self.model, self.q, self.v, self.gravity)
        return found.kinetic, found.potential

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are its state."""
        return {"q": self.q, "v": self.v}

    def step(self, tau: ArrayLike | None = None, steps: int = 1) -> None:
        """Advance by steps of dt under generalised forces tau (nv,), the same in each.

        Raises SimulationDiverged if a step leaves the finite numbers; the state is then that before the step.
        """
        steps = operator.index(steps)
        if steps < 0:
            raise ValueError(f"steps: expected a number that is not negative, got {steps}")
        self._force[:] = 0.0 if tau is None else check.effort(self.model, tau)
        done, result = self._run(steps)
        self.step_count += done
        if done < steps:
            raise SimulationDiverged(self._why(result))

    def _run(self, steps: int) -> tuple[int, int]:
        """Take steps in a compiled loop; returns how many were done and why no more."""
        raise NotImplementedError

    def _why(self, result: int) -> str:
        what = f"the state left the bounds of states ({BOUNDS})"
        if result == NO_ACCELERATION:
            what = "forward dynamics found no acceleration (a movable part without inertia, or numbers too large)"
        return (
            f"t = {self.time:.6g} s: {what} with dt = {self.dt:g} s "
            f"(largest velocity {np.abs(self.v).max(initial=0.0):.3g}); try a smaller dt"
        )


class Rk4(Baseline):
    """Classical Runge-Kutta of order 4 on (q, v), quaternions scaled to unit length after each step."""

    def _run(self, steps: int) -> tuple[int, int]:
        model, ws = self.model, self._workspace
        return rk4_steps_into(  # type: ignore[no-any-return]
            model.topology, model.constants, steps, self.dt, self.gravity, self._force, self.q, self.v, ws.sincos,
            ws.rows, ws.dofs, self._work, self._no_wrenches,
        )  # fmt: skip


class LieEuler(Baseline):
    """Semi-implicit Euler on the group: v += h a, then q = q ⊕ h v; order 1."""

    def __init__(self, model: Model, dt: float, *, retraction: str = "exp", gravity: ArrayLike | None = None):
        if not isinstance(retraction, str) or retraction not in RETRACTIONS:
            raise ValueError(f"retraction: expected one of {', '.join(map(repr, RETRACTIONS))}, got {retraction!r}")
        super().__init__(model, dt, gravity=gravity)
        self._retraction = RETRACTIONS[retraction]

    def _run(self, steps: int) -> tuple[int, int]:
        model, ws = self.model, self._workspace
        return lie_euler_steps_into(  # type: ignore[no-any-return]
            model.topology, model.constants, self._retraction, steps, self.dt, self.gravity, self._force, self.q,
            self.v, ws.sincos, ws.rows, ws.dofs, self._work, self._no_wrenches,
        )  # fmt: skip
