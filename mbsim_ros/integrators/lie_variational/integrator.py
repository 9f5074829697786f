# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The Lie-group variational integrator as an object: state, steps, couplings that change, failure."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.body_pairs import BodyPairs
from mbsim_ros.contact.culling.points_kernel import COMPLETE, complete_results_into
from mbsim_ros.contact.friction import set_friction
from mbsim_ros.contact.layout import BN, BT
from mbsim_ros.contact.parameters import ContactParameters
from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.contact.state import contact_state
from mbsim_ros.contact.terrain import Ground
from mbsim_ros.coupling.clutch_kernel import CLUTCH_FORCE, CLUTCH_LIMIT, CLUTCH_LOSS, CLUTCH_MODE, HOLDS
from mbsim_ros.coupling.configuration import CouplingConfiguration, identity
from mbsim_ros.coupling.engagement import Engagement, engage
from mbsim_ros.coupling.positions import column_positions
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.dynamics.kernels.energy_kernel import energy_into
from mbsim_ros.dynamics.kernels.forward_kernel import forward_dynamics_into
from mbsim_ros.dynamics.kernels.momentum_pass_kernel import momentum_pass_into
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.elastic.springs import SpringSet
from mbsim_ros.integrators.composition import SUBSTEPS
from mbsim_ros.integrators.driven import Driven, take_back
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.joint_arrays import make_drives, make_joints
from mbsim_ros.integrators.layout import LEDGER_COLUMNS, ClutchState, Counts
from mbsim_ros.integrators.lie_variational import build as make
from mbsim_ros.integrators.lie_variational.acceptance.divergence import largest_turn, resolving_step
from mbsim_ros.integrators.lie_variational.acceptance.recovery import recover
from mbsim_ros.integrators.lie_variational.acceptance.robot_steps import RobotSteps
from mbsim_ros.integrators.lie_variational.arrays import Scheme, State, System, Tree, Work
from mbsim_ros.integrators.lie_variational.discrete_legendre_kernel import MIDPOINT, TRAPEZOIDAL
from mbsim_ros.integrators.lie_variational.iteration.tolerance import chosen_tolerances
from mbsim_ros.integrators.lie_variational.matrix_kernel import RECURSIVE
from mbsim_ros.integrators.lie_variational.node_velocity_kernel import node_velocity_into
from mbsim_ros.integrators.lie_variational.reactions.step_wrenches import step_wrenches
from mbsim_ros.integrators.lie_variational.rollout.sharing import StepPlayer, share_constants
from mbsim_ros.integrators.lie_variational.root_kernel import spatial_momenta_into
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    FACTORED_STEP,
    LAST_STEP,
    MIDPOINT_KINETIC,
    PARTS,
    ROUGH_STEPS,
    SOLVER_LEFT,
    SOLVER_RATE,
    START_KINETIC,
    UNBALANCED,
)
from mbsim_ros.integrators.lie_variational.step_kernel import steps_into
from mbsim_ros.integrators.retraction import CAYLEY, EXPONENTIAL
from mbsim_ros.model.model import IQ, Model
from mbsim_ros.model.sidecar.settings import Closure

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational.loops.robot_loops import RobotLoops

QUADRATURES = {"midpoint": MIDPOINT, "trapezoidal": TRAPEZOIDAL}
RETRACTIONS = {"cayley": CAYLEY, "exp": EXPONENTIAL}
_CONTACT_STATE = ("modes", "deflections", "results", "energies")
SINGULAR_HERE = "the mass matrix is singular here, so momenta give no velocities"
ALLOWED = 1e-9  # of the largest velocity: what a start may have that the coupling does not let move

Key = TypeVar("Key")
Chosen = TypeVar("Chosen")


class LieVariational(Driven):
    """K (62)–(64) for trees with every kind of joint, in position-momentum form, with couplings and forces.

    The state is (q, p): p are the momenta at the node, in the layout of the tree's velocities; for a floating base they
    follow from its spatial momentum `mu`, about the world's origin, which is what is carried. Arrays to write to:
    `joints` (what resists the joints), `drives` and `motors` (effort, PD and limit of dofs of the tree and of columns
    of D), `external` (wrenches on bodies, (bodies, 6), in their axes at their origins), `gravity`.
    """

    def __init__(  # noqa: PLR0913 - what a robot may have, each by its name
        self,
        model: Model,
        dt: float,
        *,
        quadrature: str = "midpoint",
        retraction: str = "cayley",
        order: int = 2,
        tolerance: float | None = None,
        gravity: ArrayLike | None = None,
        coupling: CouplingConfiguration | None = None,
        points: ContactPoints | None = None,
        ground: Ground | None = None,
        contact: ContactParameters | None = None,
        springs: SpringSet | None = None,
        pairs: BodyPairs | None = None,
        pair_contact: ContactParameters | None = None,
        body_points: ContactPoints | None = None,
        closures: Iterable[Closure] | None = None,
        is_part: bool = False,
    ):
        """points touch the ground; pairs are of body_points, default points, and shapes of other bodies.

        closures: loops to close, default those of the sidecar; `reset` then has to give a q that closes them.
        tolerance: what the iteration may leave, tolerance.py.
        is_part: it is one of several in a scene (scene/integrator.py), which takes its steps.
        """
        self.model = model
        self.dt = _positive("dt", dt)
        self.order = order
        self._substeps: np.ndarray = self.dt * _choice("order", order, SUBSTEPS)
        # a part shares that of its scene
        chosen = GRAVITY.copy() if gravity is None else check.gravity_vector(gravity)
        self.gravity = chosen if is_part else chosen.copy()
        self.configuration = identity(model) if coupling is None else coupling
        _refuse_slipping(self.configuration, is_part)
        self.springs = springs
        body_points = points if body_points is None else body_points
        touches_something = any(each is not None and len(each) > 0 for each in (points, pairs))
        if touches_something and order != 2:
            raise ValueError(
                f"order: expected 2 with contact, which a substep backwards in time would undo, got {order}"
            )
        self._dampings: np.ndarray | None = None  # of the laws of its points, once a scene has them
        self.contacts = contact_state(0 if points is None else len(points))
        self.pair_contacts = contact_state(0 if pairs is None or body_points is None else len(pairs))
        contacts = len(self.contacts.modes) + len(self.pair_contacts.modes)
        self._workspace = Workspace(model)
        scheme = Scheme(
            _choice("retraction", retraction, RETRACTIONS), _choice("quadrature", quadrature, QUADRATURES), 0,
            self.gravity, chosen_tolerances(tolerance, order),
        )  # fmt: skip
        nv, nu = len(model.dof_parent), self.configuration.nu
        tree = make.make_tree(model, scheme.quadrature)
        columns = make.make_coupling(self.configuration)
        self._is_part = is_part
        self.is_packed = False  # whether a scene has its arrays beside those of others
        if closures is None:
            closures = () if model.sidecar is None or is_part else model.sidecar.closures.values()
        self.loops = _robot_loops(model, tree, tuple(closures), nu)
        # As with parts of scenes, one type of arrays is for all robots with loops.
        self._is_uniform = is_part or self.loops is not None
        # Both or neither: a robot without them compiles nothing for them, and one kernel serves all others.
        tied = (
            self._is_uniform
            or (springs is not None and len(springs) > 0)
            or (pairs is not None and len(self.pair_contacts.modes) > 0)
        )
        chosen_springs = make.make_springs(model, springs) if tied else None
        chosen_pairs = make.make_pairs(model, body_points, pairs, pair_contact, self.pair_contacts) if tied else None
        scheme = scheme._replace(
            factorisation=make.choose_factorisation(tree, columns, chosen_springs, chosen_pairs, self._is_uniform)
        )
        self._system = System(
            tree, scheme, make.make_state(model, nu), columns, make_joints(nv), make_drives(nv),
            make_drives(nu), make.make_contact(model, points, ground, contact, self.contacts), chosen_pairs,
            chosen_springs, np.zeros((model.n_bodies, 6)),
            make.make_matrix(
                model, nu, scheme.factorisation, tree.has_one_stage, self._is_uniform, len(self.contacts.modes)
            ),
            make.make_work(model, nu, contacts), np.zeros(LEDGER_COLUMNS),
        )  # fmt: skip
        self.contacts.complete = self._complete_contacts
        self._own_q = own_coordinates(model)
        self.step_count = 0
        self.iterations = 0  # of the last call, all steps together
        self.counts = Counts()
        self.last_parts = 1  # of which the last step that was taken in parts had the length

    @property
    def _arrays(self) -> System:
        return self._system

    @property
    def state(self) -> State:
        """The arrays that a step changes."""
        return self._system.state

    @property
    def system(self) -> System:
        """All arrays of a step, as kernels take them."""
        return self._system

    @property
    def substeps(self) -> np.ndarray:
        """Lengths [s] of the substeps of a step."""
        return self._substeps

    @property
    def is_part(self) -> bool:
        """Whether it is one of several in a scene."""
        return self._is_part

    def place_bodies(self, rows: np.ndarray, twists: np.ndarray, wrenches: np.ndarray) -> None:
        """Use these arrays for its bodies, which are slices of those of a scene."""
        rows[:] = self._system.work.rows
        self._system = self._system._replace(
            work=self._system.work._replace(rows=rows, twists=twists, wrenches=wrenches)
        )

    def place_contact_laws(self, rows: np.ndarray) -> np.ndarray:
        """Use these rows (points, 14) of a scene for the laws of its points; returns their dampings (points, 2)."""
        contact = self._system.contact
        if self._dampings is None:
            self._dampings = contact.parameters[:, [BN, BT]]
        rows[:] = contact.parameters
        rows[:, [BN, BT]] = self._dampings
        mine = rows[:]
        mine.setflags(write=False)
        self._system = self._system._replace(contact=contact._replace(parameters=mine))
        return self._dampings

    def share_constants(self, other: LieVariational) -> None:
        """Use what another one has and nobody writes to, where it is the same: the tree, the points, the ground."""
        self._system = share_constants(self._system, other.system)

    def use_memory(self, work: Work, workspace: Workspace) -> None:
        """Use this memory for the next steps, which has no meaning between them; what acted on bodies stays its own."""
        self._workspace = workspace
        self._system = self._system._replace(work=work._replace(wrenches=self._system.work.wrenches))

    def place_arrays(self, system: System) -> None:
        """Use these arrays, which have what its own have: they are elsewhere in memory (scene/packing.py)."""
        self._system, self.is_packed = system, True
        for state, own in ((self.contacts, system.contact), (self.pair_contacts, system.pairs)):
            if own is not None:
                state.modes, state.deflections, state.latest = own.modes, own.deflections, own.results
                state.blocks, state.active, state.energies = own.blocks, own.active, own.energies
                state.culling = own.culling

    def share_gravity(self, gravity: np.ndarray) -> None:
        """Use the gravity (3,) of a scene."""
        self.gravity = gravity
        self._system = self._system._replace(scheme=self._system.scheme._replace(gravity=gravity))

    def own_q(self, q_tree: np.ndarray) -> np.ndarray:
        """Configuration (nq,) of the coordinates of the tree."""
        return q_tree[self._own_q]

    def shape_pairs(self) -> np.ndarray:
        """Shapes of a scene: one robot has none."""
        return np.zeros((0, 2), dtype=np.int64)

    def set_friction(self, static: float, dynamic: float) -> None:
        """Coefficients of the ground and between bodies, from the next step on; modes and deflections stay."""
        rows = [each.parameters for each in (self._system.contact, self._system.pairs) if each is not None]
        for each in rows:
            set_friction(each, static, dynamic)

    def set_inertias(self, model: Model) -> None:
        """Go on with the masses of another model of the same tree, at the same q and v; contacts and drives stay.

        ValueError, and all is as it was, where momenta and velocities would not be finite.
        """
        u, _ = self._node_velocities()
        saved, last_step = self.saved(), self.last_step()
        before = self.model, self.configuration, self._workspace, self._system
        self.model, self._workspace = model, Workspace(model)
        self.configuration = replace(self.configuration, model=model)
        self._system = self._system._replace(tree=make.make_tree(model, self._system.scheme.quadrature))
        if self.loops is not None:
            self.loops.model = model
        try:
            self._start(self.state.q.copy(), u, self.configuration.expand(u))
            check.finite_result("energy", np.array(self.energies()), u=u)
        except ValueError:
            self.model, self.configuration, self._workspace, self._system = before
            if self.loops is not None:
                self.loops.model = self.model
            self.restore(saved)
            self.recall_step(last_step)
            raise

    @property
    def q(self) -> np.ndarray:
        """Configuration at the node (nq,)."""
        return self.state.q[self._own_q]  # type: ignore[no-any-return]

    @property
    def p(self) -> np.ndarray:
        """Momenta at the node, of the tree. With couplings only Dᵀp (and the rotors' momenta) means something."""
        return self.state.p  # type: ignore[no-any-return]

    @property
    def mu(self) -> np.ndarray:
        """Spatial momentum (6,) of all that floats."""
        return self.state.mu.sum(axis=0)  # type: ignore[no-any-return]

    @property
    def mean_velocity(self) -> np.ndarray:
        """Mean independent velocities u (nu,) of the last step."""
        return self.state.u  # type: ignore[no-any-return]

    @property
    def motor_position(self) -> np.ndarray:
        """Positions of the columns of D (nu,): free joints where they are, motors from where they started."""
        return self.state.motor_position  # type: ignore[no-any-return]

    @property
    def u(self) -> np.ndarray:
        """Independent velocities at the node (nu,), (DᵀMD + J)⁻¹ (Dᵀp + π)."""
        return self._node_velocities()[0]

    @property
    def v(self) -> np.ndarray:
        """Velocities at the node (nv,), D u: not the mean over the last step."""
        return self._node_velocities()[1][self.configuration.own_dofs]

    def node_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """u (nu,) and v (nv,) at the node."""
        u, v_tree = self._node_velocities()
        return u, v_tree[self.configuration.own_dofs]

    @property
    def residual(self) -> float:
        """What the last step left of its equations, relative to their terms."""
        return float(self.state.memory[SOLVER_LEFT])

    @property
    def rough_steps(self) -> int:
        """Steps since the start in which the energy jumped so far that dt does not resolve the motion."""
        return int(self.state.memory[ROUGH_STEPS]) + self.counts.halvings

    def describe_rough_steps(self) -> str:
        """Which joint moves too far in a step, and which dt would do."""
        joint, angle = largest_turn(self)
        return f"'{joint}' turns {angle:.2g} rad in a step. dt = {resolving_step(self):g} s would do"

    def acceleration(self) -> np.ndarray:
        """Accelerations (nv,) one step ago: the change from the mean velocity of a step to that of the next, over dt.

        For the node between the two that is exact to second order in dt. Zeros until there have been two steps.
        """
        if self.order != 2:
            raise UnsupportedModel("acceleration: only 'lie_variational' of order 2 keeps the velocities of two steps")
        state, configuration = self.state, self.configuration
        change = state.u - state.previous if self.step_count > 1 else np.zeros(configuration.nu)
        return configuration.expand(change / self.dt)[configuration.own_dofs]

    def joint_wrenches(self) -> np.ndarray:
        """The wrench (bodies, 6) that each body got through its joint, mean over the last step, at its origin.

        In its axes, as they turn meanwhile (reactions/step_wrenches_kernel.py). Of a step that was taken in parts it is
        that of the last part. Zeros where there has been no step since the start or a change of coupling or loads.
        """
        if self.loops is not None:
            raise UnsupportedModel(
                f"'{self.model.name}': what its joints carry depends on where its loops are closed, which is not told: "
                "open them (closures of the sidecar) to ask for joint_wrenches"
            )
        return step_wrenches(self)

    def kinetic_energy(self) -> float:
        """Kinetic energy [J] at the node, rotors included: ½ (Dᵀp + π)ᵀ (DᵀMD + J)⁻¹ (Dᵀp + π)."""
        u, v_tree = self._node_velocities()
        return 0.5 * float(self.state.p @ v_tree + self.state.motor_momentum @ u)

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J] at the node, rotors of motors included."""
        u, v_tree = self._node_velocities()
        model, ws, out = self.model, self._workspace, np.empty(2)
        energy_into(model.topology, model.constants, self.state.q, v_tree, self.gravity, ws.sincos, ws.rows, out)
        return float(out[0] + 0.5 * (self._system.coupling.rotor * u * u).sum()), float(out[1])

    def reset(self, q: ArrayLike, v: ArrayLike | None = None, *, u: ArrayLike | None = None) -> None:
        """Start from q (nq,) and velocities v (nv,) at that instant, or u (nu,) of the columns of D: p = M(q) v.

        Without either it is at rest. That is the discrete Legendre start: K (64) itself needs a step before the first.
        Loops that are nearly closed are closed by moving joints, and velocities are those nearest that keep them so.
        """
        q_tree = np.array(check.configuration(self.model, q), dtype=float)
        v = np.zeros(self.model.nv) if v is None else v
        u = self._columns_of(v) if u is None else check.finite("u", check.vector("u", u, self.configuration.nu)).copy()
        if self.loops is not None:
            q = self.loops.closed(np.asarray(q, dtype=float))
            self.loops.refuse_folded(q, self.configuration)
            q_tree = np.array(self.model.tree_q(q), dtype=float)
            u = self.loops.kept_rates(q, self.configuration, u)
            self.loops.begin(q_tree, self.configuration)
        self._start(q_tree, u, self.configuration.expand(u))
        self.state.motor_position[:] = column_positions(self.configuration, q)
        for contacts in (self.contacts, self.pair_contacts):
            contacts.clear()
        self._system.coupling.clutches[:] = make.make_coupling(self.configuration).clutches
        self.work_done[:] = 0.0
        self.step_count = 0
        self.counts = Counts()

    NO_TARGETS = np.zeros((0, 2, 0))

    def step(self, tau: ArrayLike | None = None, steps: int = 1) -> None:
        """Advance by steps of dt; generalised forces tau (nv,), zero for what floats, add to the drives in each.

        Steps that the iteration does not solve are tried with Newton's method and in smaller ones; SimulationDiverged
        if that fails, too. The state is then that before the step.
        """
        steps = operator.index(steps)
        if steps < 0:
            raise ValueError(f"steps: expected at least 0, got {steps}")
        if tau is None:
            self._advance(steps, self.NO_TARGETS, 1)
            return
        own = self.drives.effort.copy()
        self._add_efforts(check.effort(self.model, tau))
        try:
            self._advance(steps, self.NO_TARGETS, 1)
        finally:
            self.drives.effort[:] = own

    def follow(self, targets: ArrayLike, period: int = 1) -> None:
        """Advance while the columns' drives follow targets (rows, 2, nu), positions and velocities: period steps a row.

        A table in one compiled call, such as a gait; what the last row says stays.
        """
        targets = np.ascontiguousarray(targets, dtype=float)
        if targets.ndim != 3 or targets.shape[1:] != (2, self.configuration.nu) or not np.isfinite(targets).all():
            expected = f"(rows, 2, {self.configuration.nu})"
            raise ValueError(f"targets: expected finite numbers of shape {expected}, got shape {targets.shape}")
        if operator.index(period) < 1:
            raise ValueError(f"period: expected at least 1 step, got {period}")
        self._advance(len(targets) * period, targets, period)

    def play(self, steps: int, player: StepPlayer) -> None:
        """Advance as `step` does, with steps that a player takes: one that commands the motors or notes the motion."""
        self._advance(steps, self.NO_TARGETS, 1, player)

    def _advance(self, steps: int, targets: np.ndarray, period: int, player: StepPlayer | None = None) -> None:
        total = taken = 0
        try:
            while taken < steps:
                done, iterations, judged, failure = self._steps(taken, steps, targets, period, player)
                self.counts = self.counts._replace(judged_steps=self.counts.judged_steps + judged)
                taken += done
                total += iterations
                self.step_count += done
                if failure < 0:
                    total += self._recover(failure)
                    self.step_count += 1
                    taken += 1
        except SimulationDiverged:
            self.forget_acting()
            raise
        finally:
            self.iterations = total
            self.counts = self.counts._replace(iterations=self.counts.iterations + total)

    def _steps(
        self, first: int, last: int, targets: np.ndarray, period: int, player: StepPlayer | None
    ) -> tuple[int, int, int, int]:
        """Steps by the plain iteration, as far as it goes."""
        if player is not None:
            return player.take_steps(first, last, self.state.memory[PARTS] > 0.0)
        if self.state.memory[PARTS] > 0.0:  # the step before was taken in parts: this one begins with them, too
            if len(targets) and first % period == 0:
                self.motors.position[:], self.motors.velocity[:] = targets[first // period]
            return 0, 0, 0, UNBALANCED
        return self.take_steps(self._substeps, first, last, targets, period, True)

    def take_steps(
        self, substeps: np.ndarray, first: int, last: int, targets: np.ndarray, period: int, judging: bool
    ) -> tuple[int, int, int, int]:
        """Steps by the plain iteration, each a composition of substeps, as steps_into takes and returns them."""
        if self.loops is not None:
            return self.loops.take_steps(self._system, substeps, first, last, targets, period, judging)
        return steps_into(self._system, substeps, first, last, targets, period, judging)  # type: ignore[no-any-return]

    def engage(
        self, configuration: CouplingConfiguration, motor_speeds: Mapping[str, float] | None = None
    ) -> Engagement:
        """Change the coupling of the running state by momentum balance; drives of columns of the same name are kept."""
        if configuration.model is not self.model:
            raise ValueError(f"coupling '{configuration.name}' is of another model, '{configuration.model.name}'")
        if self.order != 2:
            raise ValueError(f"order: expected 2 with couplings that change, got {self.order}")
        _refuse_slipping(configuration, self._is_part)
        old, state = self.configuration, self.state
        if self.loops is None:
            momentum = old.reduce(state.p) + state.motor_momentum
            done = engage(self.model, self.q, old, configuration, momentum=momentum, motor_speeds=motor_speeds)
        else:
            done = self.loops.engage(self.q, self.u, old, configuration, motor_speeds)
        after = np.concatenate([done.v_tree, done.p_tree, done.momentum, [done.loss, done.p_tree @ done.v_tree]])
        check.finite_result("engage", after, u=done.u)
        positions = dict(zip(old.column_names, state.motor_position.tolist(), strict=True))
        motors, nu = make_drives(configuration.nu), configuration.nu
        for k, name in enumerate(configuration.column_names):
            if name in old.column_names:
                motors[:, k] = self._system.motors[:, old.column_names.index(name)]
        # A clutch is inside the robot: not a bit of its momentum is lost. Brakes of the base are not.
        held = [
            _is_locked_root(each, first) for first in make.floating_roots(self.model) for each in (old, configuration)
        ]
        mu = None if any(held) else state.mu.copy()
        columns = make.make_coupling(configuration)
        scheme = self._system.scheme
        scheme = scheme._replace(
            factorisation=make.choose_factorisation(
                self._system.tree, columns, self._system.springs, self._system.pairs, self._is_uniform
            )
        )
        self.configuration = configuration
        self._system = self._system._replace(
            scheme=scheme, state=make.make_state(self.model, nu), coupling=columns, motors=motors,
            matrix=make.make_matrix(
                self.model, nu, scheme.factorisation, self._system.tree.has_one_stage, self._is_uniform,
                len(self.contacts.modes),
            ),
            work=make.make_work(self.model, nu, len(self._system.work.saved_contacts)),
        )  # fmt: skip
        self._start(state.q, done.u, done.v_tree)
        if self.loops is not None:
            self.loops.begin(state.q, configuration)
        if mu is not None and (self.loops is None or self.loops.arrays.is_internal):
            self.state.mu[:] = mu
        self.state.motor_position[:] = column_positions(configuration, self.q, positions)
        return done

    @property
    def slip_loss(self) -> float:
        """Energy [J] that clutches lost by slipping, since the reset or since the coupling in force was engaged."""
        return float(self._system.coupling.clutches[:, CLUTCH_LOSS].sum())

    def clutch_states(self) -> dict[str, ClutchState]:
        """The brakes and clutches with a torque limit, by joint, as the last step had them."""
        u, rows = self.u, self._system.coupling.clutches
        return {
            joint: ClutchState(
                bool(row[CLUTCH_MODE] != HOLDS), float(row[CLUTCH_FORCE]), float(row[CLUTCH_LIMIT]),
                float(u[column]) if row[CLUTCH_MODE] != HOLDS else 0.0, float(row[CLUTCH_LOSS]),
            )
            for (joint, column), row in zip(self.configuration.slipping.items(), rows, strict=True)
        }  # fmt: skip

    def closure_error(self) -> float:
        """How far the loops are open now [m, or sine of an angle], all rows counted; 0 without loops."""
        return 0.0 if self.loops is None else self.loops.error(self.state.q)

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all that a continuation bit for bit needs, by name; `restore` takes them."""
        counts = np.array([self.step_count, *self.counts], dtype=np.int64)
        return {**{name: array.copy() for name, array in self._saved_arrays().items()}, "counts": counts}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take back what `saved` gave, in an integrator made alike and with the same coupling in force."""
        take_back(self._saved_arrays(), saved)
        self.contacts.forget_culling()
        self.pair_contacts.forget_culling()
        self.step_count, *counts = (int(count) for count in saved["counts"])
        self.counts = Counts(*counts)
        self.forget_acting()

    def last_step(self) -> dict[str, object]:
        """What joint_wrenches has to know of the last step besides what is saved; `recall_step` takes it."""
        acting = self._system.work.wrenches
        return {"parts": self.last_parts, "acting": acting.tolist() if np.isfinite(acting).all() else None}

    def recall_step(self, known: Mapping[str, Any]) -> None:
        """Take back what `last_step` gave; without it that is not known until the next step."""
        try:
            acting, parts = np.array(known.get("acting"), dtype=float), int(known.get("parts", 1))
        except (TypeError, ValueError, OverflowError):  # damaged: nothing that moves the robot
            return
        if acting.shape == self._system.work.wrenches.shape and np.isfinite(acting).all():
            self._system.work.wrenches[:], self.last_parts = acting, max(1, parts)

    def forget_acting(self) -> None:
        """What acted on the bodies in the last step is no longer known; nothing but joint_wrenches asks."""
        self._system.work.wrenches[:] = np.nan

    def last_length(self) -> float:
        """How long [s] the last step was, or the last part of one that was taken in parts; 0 where there was none."""
        length = float(self.state.memory[LAST_STEP])
        return length if length >= 0.0 else self.dt / self.last_parts

    def _saved_arrays(self) -> dict[str, np.ndarray]:
        """Everything that outlives a step: the state, the factors, contacts, drives, and what acts on the robot."""
        s = self._system
        arrays = {"joints": s.joints, "drives": s.drives, "motors": s.motors, "external": s.external}
        for group, of in (("state", s.state), ("matrix", s.matrix)):
            arrays |= {f"{group}.{field}": array for field, array in of._asdict().items() if array is not None}
        for group, contacts in (("contact", self.contacts), ("pairs", self.pair_contacts)):
            arrays |= {f"{group}.{field}": getattr(contacts, field) for field in _CONTACT_STATE}
        if self.loops is not None:
            arrays |= {"loops.force": self.loops.arrays.force, "loops.kept": self.loops.arrays.kept}
        if self._is_part:
            arrays["dofs"] = s.work.dofs  # as they were when the factors were made
        if len(s.coupling.clutches):
            arrays["clutches"] = s.coupling.clutches
        return {**arrays, "gravity": self.gravity, "ledger": s.ledger}

    def _complete_contacts(self) -> None:
        """Write the results of the points that the last step left out because they could not touch."""
        contact = self._system.contact
        if contact.culling.counts[COMPLETE] == 0:
            complete_results_into(
                contact.culling, contact.bodies, contact.geometry, contact.kind, contact.data, contact.grid,
                contact.parameters, contact.modes, contact.deflections, self._system.work.wrenches, contact.results,
                contact.blocks,
            )  # fmt: skip

    def _start(self, q_tree: np.ndarray, u: np.ndarray, v_tree: np.ndarray) -> None:
        """Set q, u and the momenta that belong to them; nothing else."""
        model, ws, state = self.model, self._workspace, self.state
        p, gradient = np.empty(len(v_tree)), np.empty(len(v_tree))
        momentum_pass_into(model.topology, model.constants, q_tree, v_tree, ws.sincos, ws.rows, p, gradient)
        mu = np.zeros(state.mu.shape)
        spatial_momenta_into(self._system.tree, q_tree, p, ws.sincos, ws.rows, mu)
        energy = p @ v_tree + self._system.coupling.rotor @ (u * u)
        check.finite_result("reset", np.concatenate([p, mu.ravel(), [energy]]), q=q_tree, v=v_tree)
        state.q[:], state.p[:], state.mu[:] = q_tree, p, mu
        state.u[:] = u
        state.previous[:] = u
        state.motor_momentum[:] = self._system.coupling.rotor * u
        state.memory[:] = 0.0
        state.memory[SOLVER_RATE] = 1.0
        state.memory[START_KINETIC] = state.memory[MIDPOINT_KINETIC] = 0.5 * energy
        state.force[:] = 0.0

    def _columns_of(self, v: ArrayLike) -> np.ndarray:
        """The u that moves the model with v (nv,); ValueError if there is none."""
        v = check.finite("v", check.vector("v", v, self.model.nv))
        if self._system.coupling.is_identity:
            return v.copy()
        v_tree = self.model.tree_v(v)
        u = np.linalg.lstsq(self.configuration.D, v_tree, rcond=None)[0]
        left = np.abs(self.configuration.expand(u) - v_tree)
        if left.max(initial=0.0) > ALLOWED * np.abs(v_tree).max(initial=0.0):
            raise ValueError(
                f"v: the coupling '{self.configuration.name}' does not allow these velocities; the nearest that it "
                f"allows differ by up to {left.max():.3g}: give u, or engage the coupling after the start"
            )
        return u

    def _node_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """u (nu,) and v of the tree at the node."""
        state = self._system.state
        return self.velocities_of(state.q, state.p, state.motor_momentum)

    def velocities_of(self, q: np.ndarray, p: np.ndarray, motor_momentum: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u (nu,) and v of the tree that momenta p of the tree and those of the columns (nu,) mean at q of the tree."""
        s, ws = self._system, self._workspace
        nv, nu = len(p), self.configuration.nu
        u, v = np.zeros(nu), np.zeros(nv)
        if self.loops is not None:
            if not self.loops.node_velocity_into(s, u, v):
                raise ValueError(f"'{self.model.name}': {SINGULAR_HERE}, or the loops are in a singular pose")
            return u, v
        if s.scheme.factorisation == RECURSIVE and not s.coupling.rotor.any():
            tree, none = s.tree, np.zeros(3)
            singular = forward_dynamics_into(
                tree.topology, tree.constants, q, u, p + motor_momentum, none, check.NO_WRENCHES, ws.sincos, ws.rows,
                ws.dofs, v,
            )  # fmt: skip
            if singular >= 0:
                raise ValueError(f"'{self.model.name}': {SINGULAR_HERE}")
            return v.copy(), v
        dense = 0 if s.coupling.is_identity else nu
        if not node_velocity_into(
            s.tree, s.coupling, q, p, motor_momentum, ws.sincos, ws.rows, ws.dofs, np.zeros((nv, nv)),
            np.zeros((dense, dense)), u, v,
        ):  # fmt: skip
            raise ValueError(f"'{self.model.name}': {SINGULAR_HERE}")
        return u, v

    def forget_factors(self) -> None:
        """Clear what an iteration that failed has left, which may be no numbers; the step has already been taken back.

        Its factors are made anew with the next step.
        """
        for array in self._system.matrix:
            if array is not None:
                array[...] = 0.0
        self.state.memory[FACTORED_STEP] = 0.0

    def guess_node_velocity(self) -> None:
        """Let the next iteration begin with the velocity at the node, which the mean of a short step tends to."""
        state, node_velocity = self.state, self.u
        for guess in (state.u, state.previous):
            guess[:] = node_velocity

    def _add_efforts(self, tau: np.ndarray) -> None:
        """Add forces on the model's dofs to the feed-forward of the drives."""
        effort = np.zeros(len(self.drives.effort))
        effort[self.configuration.own_dofs] = tau
        for first in make.floating_roots(self.model):
            if effort[first : first + 6].any():
                raise ValueError(
                    "tau: expected zeros for a floating body, which no motor drives, got "
                    f"{effort[first : first + 6].tolist()}"
                )
        self.drives.effort[:] += effort

    def _recover(self, failure: int) -> int:
        """Take the step that the iteration did not, and count how; returns the iterations."""
        iterations, how = recover(RobotSteps(self), failure)
        self.counts = self.counts._replace(**{how: getattr(self.counts, how) + 1})
        return iterations


def _refuse_slipping(configuration: CouplingConfiguration, is_part: bool) -> None:
    """Raise UnsupportedModel where clutches slip that are not solved for."""
    sidecar = configuration.model.sidecar
    where = "robots of a scene" if is_part else "closed loops" if sidecar is not None and sidecar.closures else ""
    if configuration.slipping and where:
        raise UnsupportedModel(
            f"coupling '{configuration.name}': torque limits of {', '.join(configuration.slipping)}: {where} do not go "
            "with clutches that slip: leave out torque_limit"
        )


def _is_locked_root(configuration: CouplingConfiguration, first: int) -> bool:
    """Whether D does not move the root whose dofs begin there."""
    return bool(configuration.start[first] == configuration.start[first + 1])


def _robot_loops(model: Model, tree: Tree, closures: tuple[Closure, ...], nu: int) -> RobotLoops | None:
    """The loops, with what compiles for them, which robots without any do not wait for."""
    if not closures:
        return None
    from mbsim_ros.integrators.lie_variational.loops.robot_loops import RobotLoops

    return RobotLoops(model, tree, closures, nu)


def own_coordinates(model: Model) -> np.ndarray:
    """Where in the tree's coordinates those of the model are (nq,)."""
    places = list(range(7)) if model.is_floating else []
    for joint in model.joints:
        if joint.iq >= 0:
            first = int(model.topology[joint.body, IQ])
            places += range(first, first + joint.nq)
    return np.array(places, dtype=np.int64)


def _positive(name: str, value: SupportsFloat) -> float:
    number = float(value)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name}: expected a positive number, got {value!r}")
    return number


def _choice(name: str, value: Key, choices: Mapping[Key, Chosen]) -> Chosen:
    if not isinstance(value, (str, int)) or value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {value!r}")
    return choices[value]
