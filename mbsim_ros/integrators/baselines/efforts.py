# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The baselines in the shape that `Simulation` drives: no contact, couplings, springs or PD, only efforts on joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbsim_ros.contact.state import contact_state
from mbsim_ros.coupling.configuration import identity
from mbsim_ros.dynamics.energy import energy
from mbsim_ros.integrators.baselines.integrator import Baseline, LieEuler, Rk4
from mbsim_ros.integrators.layout import LEDGER_ACTUATORS, LEDGER_COLUMNS, Counts, Drives, Joints
from mbsim_ros.integrators.rigid_body.trapezoidal_lie_newmark import TrapezoidalLieNewmark
from mbsim_ros.model.model import Model
from mbsim_ros.sim.names import driven_joints, own_dofs

BASELINES = ("rk4", "lie_euler", "trapezoidal_lie_newmark")


class BaselineEngine:
    """`Rk4`, `LieEuler` or `TrapezoidalLieNewmark` with the attributes of the flagship that have a meaning for it."""

    def __init__(self, model: Model, dt: float, integrator: str, retraction: str, gravity: np.ndarray):
        if integrator == "rk4":
            self._scheme: Baseline = Rk4(model, dt, gravity=gravity)
        elif integrator == "trapezoidal_lie_newmark":
            self._scheme = TrapezoidalLieNewmark(model, dt, gravity=gravity)
        else:
            self._scheme = LieEuler(model, dt, retraction=retraction, gravity=gravity)
        self.model, self.gravity = model, self._scheme.gravity
        self.configuration = identity(model)
        nv = model.nv
        zeros, unlimited = np.zeros, np.full(nv, np.inf)
        self.joints = Joints(zeros(nv), zeros(nv), np.array([1e-3]), -unlimited, unlimited.copy(), zeros(nv), zeros(nv))
        self.drives = Drives(zeros(nv), zeros(nv), zeros(nv), zeros(nv), zeros(nv), unlimited.copy())
        nu = self.configuration.nu
        self.motors = Drives(zeros(nu), zeros(nu), zeros(nu), zeros(nu), zeros(nu), np.full(nu, np.inf))
        self.external = zeros((model.n_bodies, 6))
        self.work_done = zeros(LEDGER_COLUMNS)
        self.contacts = self.pair_contacts = contact_state(0)
        self.springs = None
        self.motor_position = zeros(nu)
        self.iterations, self.residual, self.counts = 0, 0.0, Counts()  # they solve nothing
        names = driven_joints(model).names
        self._dofs = own_dofs(model, names)
        self._places = np.array([model.joint(name).iq for name in names], dtype=np.int64)

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,)."""
        return self._scheme.q.copy()

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,)."""
        return self._scheme.v.copy()

    def node_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """u (nu,) and v (nv,)."""
        return self.u, self.v

    @property
    def u(self) -> np.ndarray:
        """The same in the order of the columns (nu,)."""
        return self.configuration.reduce(self._scheme.v)

    @property
    def step_count(self) -> int:
        """Steps since the start."""
        return self._scheme.step_count

    @step_count.setter
    def step_count(self, value: int) -> None:
        self._scheme.step_count = value

    def reset(self, q: Any, v: Any) -> None:
        """Start from q (nq,) and v (nv,)."""
        self._scheme.reset(q, v)
        self.work_done[:] = 0.0

    def step(self, tau: Any = None, steps: int = 1) -> None:
        """Advance by steps under tau (nv,) and the drives' efforts, cut at their limits."""
        force = self.drives.effort + (0.0 if tau is None else np.asarray(tau, dtype=float))
        force = np.clip(force, -self.drives.limit, self.drives.limit)
        before = self._scheme.q[self._places]
        try:
            self._scheme.step(force, steps)
        finally:  # a constant effort does the work effort · way, whatever the scheme
            self.work_done[LEDGER_ACTUATORS] += float(force[self._dofs] @ (self._scheme.q[self._places] - before))

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        found = energy(self.model, self._scheme.q, self._scheme.v, self.gravity)
        return found.kinetic, found.potential

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all that a continuation needs."""
        count = np.array([self.step_count], dtype=np.int64)
        return {**{name: array.copy() for name, array in self._kept().items()}, "counts": count}

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Take back what `saved` gave."""
        for name, array in self._kept().items():
            array[...] = saved[name]
        self.step_count = int(saved["counts"][0])

    def _kept(self) -> dict[str, np.ndarray]:
        scheme = self._scheme
        return {"q": scheme.q, "v": scheme.v, "work_done": self.work_done, "effort": self.drives.effort}
