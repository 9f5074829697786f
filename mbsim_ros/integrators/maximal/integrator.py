# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`QuaternionVariational`: W's integrator in maximal coordinates as an object: state, steps, failure."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.layout import MU_DYNAMIC, MU_STATIC
from mbsim_ros.contact.parameters import ContactParameters
from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.contact.state import contact_state
from mbsim_ros.contact.terrain import Ground
from mbsim_ros.coupling.configuration import CouplingConfiguration, identity
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.dynamics.kernels.energy_kernel import energy_into
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.driven import Driven, take_back
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.layout import Counts
from mbsim_ros.integrators.maximal import build as make
from mbsim_ros.integrators.maximal.arrays import ROWS, MaximalSystem
from mbsim_ros.integrators.maximal.closed_loops import ClosedLoops
from mbsim_ros.integrators.maximal.coordinates import bodies_at, body_velocities, maximal_tree, momenta_at
from mbsim_ros.integrators.maximal.coordinates_kernel import joint_coordinates_into
from mbsim_ros.integrators.maximal.joint_wrenches_kernel import multiplier_wrenches_into
from mbsim_ros.integrators.maximal.loop_closures import LoopClosures
from mbsim_ros.integrators.maximal.node_velocity import NodeVelocity
from mbsim_ros.integrators.maximal.step_kernel import (
    EXTRAPOLATE,
    SMALL,
    SOLVER_GAP,
    SOLVER_LEFT,
    STAY,
    ends_plausibly,
    steps_by_tree,
)
from mbsim_ros.integrators.state_bounds import BOUNDS
from mbsim_ros.lie import quaternion
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import Closure

GUESSES = {"current": STAY, "extrapolated": EXTRAPOLATE}
TOLERANCE = 1e-13  # of the momenta and of a metre
NO_TRACK = np.zeros((0, 0, 7))
MOST_PARTS = 64  # into which a step that is not solved is divided


class QuaternionVariational(Driven):
    """W (5.4) and (5.11): a tree in maximal coordinates, solved by Algorithm 5.1, with W's contact.

    The state is (X, P): centre of mass and unit quaternion of every body, and momenta, which carry what W's two-step
    form has in X of the step before. Arrays to write to: `joints`, `drives`, `motors`, `external`, `gravity`, as of
    `LieVariational`.

    closures: loops to close, by a general sparse solve; None for those of the sidecar.
    guess: where the search for a step begins, "extrapolated", or "current" as W has it.
    absolute: if given, what the equations may leave [N s, m] in place of 1e-13 of the momenta and of a metre.
    """

    def __init__(
        self,
        model: Model,
        dt: float,
        *,
        gravity: ArrayLike | None = None,
        points: ContactPoints | None = None,
        ground: Ground | None = None,
        contact: ContactParameters | None = None,
        closures: Iterable[Closure] | None = None,
        guess: str = "extrapolated",
        absolute: float = 0.0,
    ):
        if model.mimic is not None:
            raise UnsupportedModel(f"'{model.name}' has mimic joints, which quaternion_variational does not cover")
        self.model = model
        self.dt = float(dt)
        if not 0.0 < self.dt < np.inf:
            raise ValueError(f"dt: expected a positive number, got {dt!r}")
        if guess not in GUESSES:
            raise ValueError(f"guess: expected one of {', '.join(map(repr, GUESSES))}, got {guess!r}")
        self._guess, self._absolute = GUESSES[guess], float(absolute)
        self.gravity = GRAVITY.copy() if gravity is None else check.gravity_vector(gravity).copy()
        self.configuration = identity(model)
        self.contacts = contact_state(0 if points is None else len(points))
        self.pair_contacts = contact_state(0)
        self.springs = None
        self._workspace = Workspace(model)
        self._points = points
        self.system = make.make_system(model, self.gravity, points, ground, contact, self.contacts)
        self._velocity = NodeVelocity(model, self._workspace)
        if closures is None:
            closures = () if model.sidecar is None else model.sidecar.closures.values()
        self._closures = tuple(closures)
        self.loops = self._closed_loops()
        self._q = np.array(model.neutral)
        self.step_count = 0
        self.iterations = 0  # of the last call, all steps together
        self._total = 0
        self.divided = 0  # steps since the reset that were taken in smaller ones
        self._last_parts = 1  # of which the last step was the last
        if self.loops is None:  # loops are seldom closed at zero
            self.reset(model.neutral)

    @property
    def _arrays(self) -> MaximalSystem:
        return self.system

    @property
    def X(self) -> np.ndarray:
        """Centre of mass and quaternion (w, x, y, z) of every body (n, 7)."""
        return self.system.state.X[1:]  # type: ignore[no-any-return]

    @property
    def P(self) -> np.ndarray:
        """Momenta of the bodies at the node (n, 7)."""
        return self.system.state.P  # type: ignore[no-any-return]

    @property
    def q(self) -> np.ndarray:
        """Configuration at the node (nq,)."""
        state = self.system.state
        joint_coordinates_into(self.system.tree, state.X, state.coordinates, self._q)
        return self._q.copy()

    @property
    def v(self) -> np.ndarray:
        """Velocities at the node (nv,): those whose momenta are Dᵀψ P."""
        tree, X, q = self.system.tree, self.system.state.X, self.q
        if self.loops is not None:
            return self.loops.kept_velocity(q, X, self._velocity.momenta(tree, X, self.P))
        return self._velocity.of(tree, X, self.P, q)

    @property
    def u(self) -> np.ndarray:
        """The same: the columns of D are the dofs."""
        return self.v

    def node_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """u (nu,) and v (nv,)."""
        v = self.v
        return v, v.copy()

    @property
    def motor_position(self) -> np.ndarray:
        """Positions of the columns of D (nu,); 0 for those of joints of several dofs."""
        return make.column_positions(self.model, self.system.state.coordinates)

    @property
    def residual(self) -> float:
        """What the last step left of its equations, relative to the momenta."""
        return float(self.system.state.memory[SOLVER_LEFT])

    @property
    def gap(self) -> float:
        """How far the last step missed the constraints [m, or half radians]."""
        return float(self.system.state.memory[SOLVER_GAP])

    def closure_error(self) -> float:
        """How far the loops are open now [m, or sine of an angle], all rows counted; 0 without loops."""
        return 0.0 if self.loops is None else self.loops.closures.error(self.system.state.X)

    def momentum(self) -> np.ndarray:
        """Linear momentum and angular momentum about the world's origin (6,): what the scheme conserves exactly."""
        self._velocity.momenta(self.system.tree, self.system.state.X, self.P)
        return self._velocity.total.copy()

    def joint_wrenches(self) -> np.ndarray:
        """The wrench (bodies, 6) that each body got through its joint at the last node, at its origin in its axes.

        Those are the multipliers of the last step over its length, at the node at which it began; along a coordinate
        what drives, damping, friction and stops gave in the step (a rotor's own torque left aside), along what a joint
        of several dofs lets free nothing. Zeros before the first step.
        """
        out, s = np.zeros((self.model.n_bodies, 6)), self.system
        if not s.state.multipliers.any():
            return out
        multiplier_wrenches_into(
            s.tree, s.state.X_before, s.state.multipliers, s.state.coordinates, self.dt / self._last_parts,
            np.zeros(ROWS), np.zeros((ROWS, 7)), np.zeros((ROWS, 7)), out,
        )  # fmt: skip
        return check.finite_result("joint_wrenches", out)

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J] at the node."""
        model, ws, out, q = self.model, self._workspace, np.empty(2), self.q
        energy_into(model.topology, model.constants, q, self.v, self.gravity, ws.sincos, ws.rows, out)
        return float(out[0]), float(out[1])

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Start from q (nq,) and velocities v (nv,) at that instant, default at rest."""
        q_tree = np.array(check.configuration(self.model, q), dtype=float)
        v_tree = np.array(check.velocity(self.model, np.zeros(self.model.nv) if v is None else v), dtype=float)
        if self.loops is not None:
            q_tree = self.loops.closed(q_tree)
        self._place(q_tree, v_tree)
        self._begin()

    def set_inertias(self, model: Model) -> None:
        """Go on with the masses of another model of the same tree, at the same q and v; contacts and drives stay.

        ValueError, and all is as it was, where momenta and velocities would not be finite.
        """
        q, v, saved = self.q, self.v, self.saved()
        before = self.model, self.configuration, self._workspace, self.system, self._velocity, self.loops
        self.model, self._workspace = model, Workspace(model)
        self.configuration = replace(self.configuration, model=model)
        contact = self.system.contact
        if self._points is not None:
            contact = contact._replace(arms=make.contact_arms(model, self._points))
        self.system = self.system._replace(tree=maximal_tree(model), contact=contact)
        self._velocity = NodeVelocity(model, self._workspace)
        self.loops = self._closed_loops()
        try:
            self._place(q, v)
            check.finite_result("energy", np.array(self.energies()), v=v)
        except ValueError:
            self.model, self.configuration, self._workspace, self.system, self._velocity, self.loops = before
            self.restore(saved)
            raise

    def _closed_loops(self) -> ClosedLoops | None:
        loops = LoopClosures(self.model, self._closures)
        return ClosedLoops(self.model, self.system, loops, self._workspace) if len(loops) else None

    def _place(self, q_tree: np.ndarray, v_tree: np.ndarray) -> None:
        """Set the bodies and their momenta to q, at which loops are closed, and v; the guesses begin anew."""
        model, tree, state = self.model, self.system.tree, self.system.state
        X = bodies_at(model, tree, q_tree, self._workspace)
        if self.loops is not None:
            self.loops.begin(X)
            v_tree = self.loops.kept_velocity(q_tree, X, mass_matrix(model, q_tree) @ v_tree)
            bodies_at(model, tree, q_tree, self._workspace)
        velocities = body_velocities(model, tree, v_tree, self._workspace)
        P = momenta_at(model, X, velocities)
        make.add_rotor_momenta(tree, X, v_tree, P)
        check.finite_result("reset", np.concatenate([X.ravel(), P.ravel()]), q=q_tree, v=v_tree)
        state.X[:], state.P[:] = X, P
        state.coordinates[:] = make.single_coordinates(model, q_tree)
        self._q[:] = q_tree
        state.X_before[:] = X
        for i, (before, own) in enumerate(zip(state.X_before[1:], velocities, strict=True)):
            before[:3] -= self.dt * own[:3]
            before[3:] = quaternion.integrate(X[i + 1, 3:], own[3:], -self.dt)
        state.multipliers[:] = 0.0
        state.memory[:] = 0.0

    def start_between(self, X_before: ArrayLike, X: ArrayLike) -> None:
        """Start as W does, from two states (n, 7) a step apart; q must be near that of the last reset or step."""
        state = self.system.state
        before, now = (np.asarray(value, dtype=float).reshape(self.model.n_bodies, 7) for value in (X_before, X))
        state.X_before[1:], state.X[1:] = before, now
        make.end_momenta(self.system, self.dt)
        self._begin()

    def _begin(self) -> None:
        state = self.system.state
        state.multipliers[:] = 0.0
        state.memory[:] = 0.0
        self.contacts.clear()
        self.system.contact.anchors[:] = 0.0
        make.store_contact(self.system)
        self.work_done[:] = 0.0
        self.step_count = self.iterations = self.divided = self._total = 0

    def step(self, tau: ArrayLike | None = None, steps: int = 1) -> None:
        """Advance by steps of dt; generalised forces tau (nv,) add to the drives in each.

        A step that Newton's method does not solve is taken in up to 64 smaller ones; SimulationDiverged if that fails,
        too. The state is then that before the step.
        """
        steps = operator.index(steps)
        if steps < 0:
            raise ValueError(f"steps: expected at least 0, got {steps}")
        if tau is None:
            self._advance(steps)
            return
        own = self.drives.effort.copy()
        self.drives.effort[:] += check.effort(self.model, tau)
        try:
            self._advance(steps)
        finally:
            self.drives.effort[:] = own

    def track(self, steps: int, every: int = 1) -> np.ndarray:
        """Take steps in one compiled call; returns X of all bodies after every so many of them, (rows, n, 7)."""
        rows = np.zeros((operator.index(steps) // operator.index(every), self.model.n_bodies, 7))
        if self.loops is not None:
            for row in rows:
                self.step(steps=every)
                row[:] = self.X
            return rows
        done, self.iterations, failed = steps_by_tree(
            self.system, self.dt, steps, self._guess, TOLERANCE, self._absolute, every, rows
        )
        self.step_count += done
        if failed:
            raise SimulationDiverged(self._why("and `track` takes no smaller ones"))
        return rows

    def _advance(self, steps: int) -> None:
        total = taken = 0
        try:
            while taken < steps:
                done, iterations, failed = self._steps(self.dt, steps - taken)
                if done:
                    self._last_parts = 1
                taken += done
                total += iterations
                self.step_count += done
                if failed:
                    total += self._divide()
                    taken += 1
                    self.step_count += 1
        finally:
            self.iterations = total
            self._total += total

    def _steps(self, h: float, steps: int) -> tuple[int, int, bool]:
        """Take steps of h; how many were done, Newton steps, and whether the next could not be solved."""
        if self.loops is not None:
            return self.loops.steps(h, steps, self._guess, TOLERANCE, self._absolute)
        return steps_by_tree(  # type: ignore[no-any-return]
            self.system, h, steps, self._guess, TOLERANCE, self._absolute, 0, NO_TRACK
        )

    def _divide(self) -> int:
        """Take one step in 2, 4, … 64 parts; returns the Newton steps."""
        before = {name: array.copy() for name, array in self._kept().items()}
        parts = 2
        while parts <= MOST_PARTS:
            _, iterations, failed = self._steps(self.dt / parts, parts)
            if not failed:
                self.divided += 1
                self._last_parts = parts
                return iterations
            for name, array in self._kept().items():
                array[...] = before[name]
            if self.loops is not None:
                self.loops.restored()
            parts *= 2
        raise SimulationDiverged(self._why(f"nor {MOST_PARTS} parts of it"))

    def _why(self, tried: str) -> str:
        fastest = int(np.abs(self.P).max(axis=1).argmax())
        what = "Newton's method does not solve the step"
        if self.residual + self.gap < SMALL and not ends_plausibly(self.system, self.dt):
            what = f"the step ends beyond the bounds of states ({BOUNDS})"
        return (
            f"t = {self.time:.9g} s: {what}, {tried} "
            f"(dt = {self.dt:g} s, residual {self.residual:.3g}, gap {self.gap:.3g}; largest momentum: "
            f"'{self.model.body_names[fastest]}'); try a smaller dt"
        )

    def shape_pairs(self) -> np.ndarray:
        """None: bodies do not touch each other here."""
        return np.zeros((0, 2), dtype=np.int64)

    def set_friction(self, static: float, dynamic: float) -> None:
        """Change the friction of the ground from the next step on."""
        self.system.contact.parameters[:, [MU_STATIC, MU_DYNAMIC]] = static, dynamic

    @property
    def counts(self) -> Counts:
        """What solving cost since the reset."""
        return Counts(self._total, 0, self.divided)

    def engage(self, configuration: CouplingConfiguration, motor_speeds: Mapping[str, float] | None = None) -> NoReturn:
        """Couplings are for `LieVariational`: UnsupportedModel."""
        raise UnsupportedModel(f"coupling '{configuration.name}': quaternion_variational has none: use lie_variational")

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all that a continuation bit for bit needs, by name; `restore` takes them."""
        counts = np.array([self.step_count, self.divided, self._total], dtype=np.int64)
        return {**{name: array.copy() for name, array in self._kept().items()}, "counts": counts}

    def last_step(self) -> dict[str, object]:
        """What joint_wrenches has to know of the last step besides what is saved."""
        return {"parts": self._last_parts}

    def recall_step(self, known: Mapping[str, Any]) -> None:
        """Take back what `last_step` gave."""
        parts = known.get("parts", 1)
        self._last_parts = parts if isinstance(parts, int) and 1 <= parts <= MOST_PARTS else 1

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take back what `saved` gave, in an integrator made alike."""
        for name in ("state.X", "state.X_before"):
            if name in saved and not np.array_equal(saved[name][:1], self._kept()[name][:1]):
                raise ValueError(f"saved state: {name}: expected the world where it is")
        take_back(self._kept(), saved)
        if self.loops is not None:
            self.loops.restored()
        self.step_count, self.divided, self._total = (int(count) for count in saved["counts"])

    def _kept(self) -> dict[str, np.ndarray]:
        """Everything that outlives a step."""
        s = self.system
        arrays = {f"state.{name}": array for name, array in s.state._asdict().items()}
        arrays |= {"joints": s.joints, "drives": s.drives, "motors": s.motors, "external": s.external}
        contact = ("modes", "anchors", "deflections", "results", "energies")
        arrays |= {f"contact.{name}": getattr(s.contact, name) for name in contact}
        if self.loops is not None:
            arrays |= {"closures.pulls": self.loops.pulls, "closures.in_use": self.loops.in_use}
        return {**arrays, "gravity": self.gravity, "ledger": s.ledger, "angles": self._q}
