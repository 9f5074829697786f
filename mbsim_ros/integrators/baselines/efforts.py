# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Schemes without drives as an `Integrator`: they have efforts of joints, and some of them what resists joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.state import contact_state
from mbsim_ros.coupling.configuration import CouplingConfiguration, identity
from mbsim_ros.integrators.baselines.integrator import Baseline
from mbsim_ros.integrators.driven import NO_JOINT_WRENCHES, take_back
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.joint_arrays import make_drives, make_joints
from mbsim_ros.integrators.layout import LEDGER_ACTUATORS, LEDGER_COLUMNS, Counts, Drives, Joints
from mbsim_ros.integrators.state_bounds import BOUNDS, FASTEST, FURTHEST
from mbsim_ros.model.model import Model


class EffortScheme(Protocol):
    """What a scheme has to answer to become an `Integrator` by `DrivenByEfforts`."""

    dt: float
    gravity: np.ndarray  # (3,), to write to
    step_count: int  # since the reset

    @property
    def model(self) -> Model:
        """The robot."""

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,) at the node."""

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,) at the node."""

    @property
    def iterations(self) -> int:
        """Iterations of the last call; 0 for explicit schemes."""

    @property
    def residual(self) -> float:
        """What the last step left of its equations; 0 for explicit schemes."""

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,)."""

    def step(self, *, tau: ArrayLike | None, steps: int) -> None:
        """Advance under efforts tau (nv,); SimulationDiverged, in the last good state."""

    def motion_and_weight(self) -> tuple[float, float]:
        """Kinetic energy, and potential energy of the weight [J]."""

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays of numbers that are its state, themselves."""


@runtime_checkable
class BookingScheme(Protocol):
    """One that books the works of its forces by itself, as it does them in its steps."""

    ledger: np.ndarray  # LEDGER_… of layout.py


@runtime_checkable
class ResistedScheme(BookingScheme, Protocol):
    """One that has damping, friction and stops of joints, too."""

    joints: np.ndarray  # (7, nv), JOINT_… rows of layout.py


class DrivenByEfforts:
    """A scheme as an `Integrator`: of drives only `drives.effort` and limits act, of `joints` what it knows."""

    rough_steps = 0

    def __init__(self, scheme: EffortScheme):
        self._scheme = scheme
        self._resisted = scheme if isinstance(scheme, ResistedScheme) else None
        self._books = isinstance(scheme, BookingScheme)
        self.model, self.dt, self.gravity = scheme.model, scheme.dt, scheme.gravity
        model = scheme.model
        self.configuration = identity(model)
        nv, nu = model.nv, self.configuration.nu
        self.joints = Joints(*(make_joints(nv) if self._resisted is None else self._resisted.joints))
        self.drives, self.motors = Drives(*make_drives(nv)), Drives(*make_drives(nu))
        self.external = np.zeros((model.n_bodies, 6))
        self.work_done = scheme.ledger if isinstance(scheme, BookingScheme) else np.zeros(LEDGER_COLUMNS)
        self.contacts = self.pair_contacts = contact_state(0)
        self.motor_position = np.zeros(nu)
        self.iterations = self._total_iterations = 0
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
        v = self.v
        return self.configuration.reduce(v), v

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

    @property
    def residual(self) -> float:
        """Of the last step."""
        return self._scheme.residual

    @property
    def counts(self) -> Counts:
        """Iterations since the reset; there are no other ways to solve a step."""
        return Counts(iterations=self._total_iterations)

    def describe_rough_steps(self) -> str:
        """They do not look."""
        return ""

    def acceleration(self) -> NoReturn:
        """UnsupportedModel: the velocities of the last step are not kept."""
        raise UnsupportedModel("acceleration: only 'lie_variational' of order 2 keeps the velocities of two steps")

    def joint_wrenches(self) -> NoReturn:
        """UnsupportedModel: what acted in the last step is not kept."""
        raise UnsupportedModel(NO_JOINT_WRENCHES)

    def engage(self, configuration: CouplingConfiguration, motor_speeds: Mapping[str, float] | None = None) -> NoReturn:
        """UnsupportedModel: there are no couplings."""
        raise UnsupportedModel(f"coupling '{configuration.name}': this integrator has none: use lie_variational")

    def set_inertias(self, model: Model) -> NoReturn:
        """UnsupportedModel: loads that change are not for comparisons."""
        raise UnsupportedModel(f"'{model.name}': this integrator cannot change masses: use model.with_(payload=...)")

    def add_work(self, entry: int, energy: float) -> None:
        """Book work [J] that was done from outside, LEDGER_… of integrators.layout."""
        self.work_done[entry] += energy

    def shape_pairs(self) -> np.ndarray:
        """None: bodies do not touch each other here."""
        return np.zeros((0, 2), dtype=np.int64)

    def set_friction(self, static: float, dynamic: float) -> None:
        """Nothing touches anything, so nothing changes."""

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,)."""
        self._scheme.reset(q, v)
        self.work_done[:] = 0.0
        self.iterations = self._total_iterations = 0

    def step(self, tau: np.ndarray | None = None, steps: int = 1) -> None:
        """Advance by steps under tau (nv,) and the drives' efforts, cut at their limits."""
        force = self.drives.effort + (0.0 if tau is None else np.asarray(tau, dtype=float))
        force = np.clip(force, -self.drives.limit, self.drives.limit)
        before = self._scheme.q[self._indices]
        try:
            self._advance(force, steps)
        finally:
            self.iterations = self._scheme.iterations
            self._total_iterations += self.iterations
            if not self._books:  # a constant effort does the work effort · way, whatever the scheme
                way = self._scheme.q[self._indices] - before
                self.work_done[LEDGER_ACTUATORS] += float(force[self._dofs] @ way)

    def _advance(self, force: np.ndarray, steps: int) -> None:
        if isinstance(self._scheme, Baseline):  # looks at every state by itself
            self._scheme.step(force, steps)
            return
        before, start = self.saved(), self.step_count
        try:
            self._scheme.step(tau=force, steps=steps)
        except SimulationDiverged:  # what the failed step began is undone: the good ones are taken again
            done = self.step_count - start
            self.restore(before)
            self._scheme.step(tau=force, steps=done)
            raise
        q, v = self._scheme.q, self._scheme.v
        if not ((np.abs(q) <= FURTHEST).all() and (np.abs(v) <= FASTEST).all()):
            self.restore(before)
            raise SimulationDiverged(
                f"t = {self.step_count * self.dt:.6g} s: the next {steps} steps leave the bounds of states ({BOUNDS}) "
                f"with dt = {self.dt:g} s; try a smaller dt"
            )

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        return self._scheme.motion_and_weight()

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all that a continuation needs."""
        count = np.array([self.step_count], dtype=np.int64)
        return {**{name: array.copy() for name, array in self._kept().items()}, "counts": count}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take back what `saved` gave."""
        take_back(self._kept(), saved)
        self.step_count = int(saved["counts"][0])

    def _kept(self) -> dict[str, np.ndarray]:
        joints = {} if self._resisted is None else {"joints": self._resisted.joints}
        return {**self._scheme.kept(), "work_done": self.work_done, "effort": self.drives.effort, **joints}
