# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Schemes on (q, v) as an `Integrator`: they have no forces but efforts of joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.state import contact_state
from mbsim_ros.coupling.configuration import CouplingConfiguration, identity
from mbsim_ros.dynamics.energy import energy
from mbsim_ros.integrators.baselines.integrator import Baseline
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.layout import LEDGER_ACTUATORS, LEDGER_COLUMNS, Counts, Drives, Joints
from mbsim_ros.model.model import Model


class DrivenByEfforts:
    """A `Baseline` as an `Integrator`: of drives and joints' arrays only `drives.effort` and the limits act."""

    residual, rough_steps = 0.0, 0
    counts = Counts()  # they solve nothing

    def __init__(self, scheme: Baseline):
        self._scheme = scheme
        self.model, self.dt, self.gravity = scheme.model, scheme.dt, scheme.gravity
        model = scheme.model
        self.configuration = identity(model)
        nv, nu = model.nv, self.configuration.nu
        zeros, unlimited = np.zeros, np.full(nv, np.inf)
        self.joints = Joints(zeros(nv), zeros(nv), np.array([1e-3]), -unlimited, unlimited.copy(), zeros(nv), zeros(nv))
        self.drives = Drives(zeros(nv), zeros(nv), zeros(nv), zeros(nv), zeros(nv), unlimited.copy())
        self.motors = Drives(zeros(nu), zeros(nu), zeros(nu), zeros(nu), zeros(nu), np.full(nu, np.inf))
        self.external = zeros((model.n_bodies, 6))
        self.work_done = zeros(LEDGER_COLUMNS)
        self.contacts = self.pair_contacts = contact_state(0)
        self.motor_position = zeros(nu)
        self.iterations = 0
        driven = [joint for joint in model.joints if joint.nv == 1]
        self._dofs = np.array([joint.iv for joint in driven], dtype=np.int64)
        self._indices = np.array([joint.iq for joint in driven], dtype=np.int64)

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

    def describe_rough_steps(self) -> str:
        """They do not look."""
        return ""

    def acceleration(self) -> NoReturn:
        """UnsupportedModel: the velocities of the last step are not kept."""
        raise UnsupportedModel("acceleration: only 'lie_variational' of order 2 keeps the velocities of two steps")

    def engage(self, configuration: CouplingConfiguration, motor_speeds: Mapping[str, float] | None = None) -> NoReturn:
        """UnsupportedModel: there are no couplings."""
        raise UnsupportedModel(f"coupling '{configuration.name}': this integrator has none: use lie_variational")

    def set_inertias(self, model: Model) -> NoReturn:
        """UnsupportedModel: loads that change are not for comparisons."""
        raise UnsupportedModel(f"'{model.name}': this integrator cannot change masses: use model.with_(payload=...)")

    def shape_pairs(self) -> np.ndarray:
        """None: bodies do not touch each other here."""
        return np.zeros((0, 2), dtype=np.int64)

    def set_friction(self, static: float, dynamic: float) -> None:
        """Nothing touches anything, so nothing changes."""

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,)."""
        self._scheme.reset(q, v)
        self.work_done[:] = 0.0

    def step(self, tau: np.ndarray | None = None, steps: int = 1) -> None:
        """Advance by steps under tau (nv,) and the drives' efforts, cut at their limits."""
        force = self.drives.effort + (0.0 if tau is None else np.asarray(tau, dtype=float))
        force = np.clip(force, -self.drives.limit, self.drives.limit)
        before = self._scheme.q[self._indices]
        try:
            self._scheme.step(force, steps)
        finally:  # a constant effort does the work effort · way, whatever the scheme
            self.work_done[LEDGER_ACTUATORS] += float(force[self._dofs] @ (self._scheme.q[self._indices] - before))

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        found = energy(self.model, self._scheme.q, self._scheme.v, self.gravity)
        return found.kinetic, found.potential

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all that a continuation needs."""
        count = np.array([self.step_count], dtype=np.int64)
        return {**{name: array.copy() for name, array in self._kept().items()}, "counts": count}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take back what `saved` gave."""
        for name, array in self._kept().items():
            array[...] = saved[name]
        self.step_count = int(saved["counts"][0])

    def _kept(self) -> dict[str, np.ndarray]:
        scheme = self._scheme
        return {"q": scheme.q, "v": scheme.v, "work_done": self.work_done, "effort": self.drives.effort}
