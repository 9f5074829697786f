"""The Lie-group variational integrator as an object: state, steps, failure."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mbsim_ros.contact.parameters import ContactParameters, derive_parameters
from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.contact.state import ContactState, contact_state
from mbsim_ros.contact.terrain import Ground, floor
from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.dynamics.momentum import momentum
from mbsim_ros.dynamics.momentum_pass import generalised_momentum_and_gradient
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.integrators.arrays import Contact, Coupling, Drives, Joints, Scheme, State, Tree, Work
from mbsim_ros.integrators.composition import SUBSTEPS
from mbsim_ros.integrators.discrete_legendre import MIDPOINT, TRAPEZOIDAL
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.retraction import CAYLEY, EXPONENTIAL
from mbsim_ros.integrators.step_kernel import LEDGER, MEMORY, RATE, SINGULAR, VECTORS, steps_into
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import IQ, IV, KIND, Model

QUADRATURES = {"midpoint": MIDPOINT, "trapezoidal": TRAPEZOIDAL}
RETRACTIONS = {"cayley": CAYLEY, "exp": EXPONENTIAL}
FRICTION_SPEED = 1e-3  # [rad/s or m/s] below it Coulomb friction is viscous


class LieVariational:
    """K (62)–(64) for trees with every kind of joint, in position-momentum form, with couplings and joint forces.

    The state is (q, p): p are the momenta at the node, in the layout of v; for a floating base they follow from the
    spatial momentum `mu`, about the world's origin, which is what is carried. `joints`, `drives` and `motors` are
    arrays to write to: what resists the joints, and the drives (effort, PD, limit) of joints and of columns of D.
    """

    def __init__(
        self,
        model: Model,
        dt: float,
        *,
        quadrature: str = "midpoint",
        retraction: str = "cayley",
        order: int = 2,
        gravity: Any = None,
        coupling: CouplingConfiguration | None = None,
        points: ContactPoints | None = None,
        ground: Ground | None = None,
        contact: ContactParameters | None = None,
    ):
        if model.mimic is not None:
            raise UnsupportedModel(f"'{model.name}' has mimic joints: this integrator does not take them yet")
        self.model = model
        self.dt = _positive("dt", dt)
        self._substeps = self.dt * _choice("order", order, SUBSTEPS)
        self.gravity = GRAVITY.copy() if gravity is None else check.gravity_vector(gravity).copy()
        self._tree = Tree(model.ints, model.floats, model.dof_parent, _coordinate_of_dof(model))
        self._scheme = Scheme(
            _choice("retraction", retraction, RETRACTIONS), _choice("quadrature", quadrature, QUADRATURES), self.gravity
        )
        self._coupling = _identity(model.nv) if coupling is None else _columns(coupling)
        nq, nv, nu = model.nq, model.nv, len(self._coupling.rotor)
        zeros = np.zeros
        self.state = State(
            model.neutral.copy(), zeros(nv), zeros(6), zeros(nu), zeros(nu), zeros(nu), zeros(nu), np.ones(MEMORY)
        )
        unlimited = np.full(nv, np.inf)
        self.joints = Joints(
            zeros(nv), zeros(nv), np.array([FRICTION_SPEED]), -unlimited, unlimited.copy(), zeros(nv), zeros(nv)
        )
        self.drives, self.motors = _no_drives(nv), _no_drives(nu)
        self._workspace = Workspace(model)
        self._work = Work(
            self._workspace.trig, self._workspace.rows, self._workspace.dofs, zeros((nv, nv)), zeros((nu, nu)),
            zeros((VECTORS, max(nq, nv, nu, 18))), zeros(nq), check.NO_WRENCHES, zeros((model.n_bodies, 6)),
            zeros((model.n_bodies, 6)),
        )  # fmt: skip
        touching = points is not None and len(points.bodies) > 0
        if touching and order != 2:
            raise ValueError(
                f"order: expected 2 with contact, which a substep backwards in time would undo, got {order}"
            )
        self.contacts = contact_state(len(points.bodies) if points is not None else 0)
        self._contact = _contact(model, points, ground, contact, self.contacts)
        self.work_done = zeros(LEDGER)  # by actuators, damping, friction, stops since the start [J]
        self.step_count = 0
        self.iterations = 0  # of the last call, all steps together

    @property
    def q(self) -> np.ndarray:
        """Configuration at the node (nq,)."""
        return self.state.q  # type: ignore[no-any-return]

    @property
    def p(self) -> np.ndarray:
        """Momenta at the node, of the tree (nv,). With couplings only Dᵀp (and the rotors' momenta) means something."""
        return self.state.p  # type: ignore[no-any-return]

    @property
    def mu(self) -> np.ndarray:
        """Spatial momentum (6,) of a robot with a floating base."""
        return self.state.mu  # type: ignore[no-any-return]

    @property
    def mean_velocity(self) -> np.ndarray:
        """Mean independent velocities u (nu,) of the last step."""
        return self.state.u  # type: ignore[no-any-return]

    @property
    def u(self) -> np.ndarray:
        """Independent velocities at the node (nu,), (DᵀMD + J)⁻¹ (Dᵀp + π)."""
        D = _dense(self._coupling, self.model.nv)
        M = D.T @ mass_matrix(self.model, self.q, workspace=self._workspace) @ D + np.diag(self._coupling.rotor)
        return np.linalg.solve(M, D.T @ self.p + self.state.motor_momentum)

    @property
    def v(self) -> np.ndarray:
        """Velocities at the node (nv,), D u: not the mean over the last step."""
        return _dense(self._coupling, self.model.nv) @ self.u

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.step_count * self.dt

    def reset(self, q: Any, v: Any) -> None:
        """Start from q (nq,) and velocities v (nv,) at that instant, or u (nu,) with couplings: p = M(q) v.

        That is the discrete Legendre start: K (64) itself needs a step before the first.
        """
        q = check.configuration(self.model, q).copy()
        state, coupling = self.state, self._coupling
        u = check.finite("v", check.vector("v", v, len(coupling.rotor))).copy()
        v = _dense(coupling, self.model.nv) @ u
        p = generalised_momentum_and_gradient(self.model, q, v, workspace=self._workspace).p
        mu = momentum(self.model, q, v, workspace=self._workspace)
        state.q[:], state.p[:], state.mu[:] = q, p, mu
        state.u[:] = u
        state.previous[:] = u
        state.motor_position[:] = 0.0
        state.motor_momentum[:] = coupling.rotor * u
        state.memory[RATE] = 1.0
        self.work_done[:] = 0.0
        self.contacts.clear()
        self.step_count = 0

    def step(self, tau: Any = None, steps: int = 1) -> None:
        """Advance by steps of dt under generalised forces tau (nv,), the same in each; zero for a floating base.

        Raises SimulationDiverged if a step has no solution; the state is then that before the step.
        """
        steps = operator.index(steps)
        if steps < 0:
            raise ValueError(f"steps: expected at least 0, got {steps}")
        effort = np.zeros(self.model.nv) if tau is None else check.effort(self.model, tau)
        if self.model.is_floating and effort[:6].any():
            raise ValueError(f"tau: expected zeros for the floating base, got {effort[:6].tolist()}")
        self.drives.effort[:] = effort
        done, result = steps_into(
            self._tree, self._scheme, self._substeps, steps, self.state, self._coupling, self.joints, self.drives,
            self.motors, self._contact, self._work, self.work_done,
        )  # fmt: skip
        self.step_count += done
        self.iterations = result
        if done < steps:
            raise SimulationDiverged(self._why(result))

    def _why(self, result: int) -> str:
        what = "the mass matrix is singular" if result == SINGULAR else "the velocities of the step were not found"
        fastest = np.abs(self.state.u).max()
        return f"t = {self.time:.6g} s: {what}; dt = {self.dt:g} s, largest velocity {fastest:.3g}; try a smaller dt"


def _coordinate_of_dof(model: Model) -> np.ndarray:
    """Place in q of every dof that has one coordinate, -1 for those of groups."""
    places = np.full(model.nv, -1)
    single = model.ints[:, KIND] <= PRISMATIC
    places[model.ints[single, IV]] = model.ints[single, IQ]
    return places


def _identity(nv: int) -> Coupling:
    return Coupling(True, *_constant(np.arange(nv + 1), np.arange(nv), np.ones(nv), np.zeros(nv)))


def _columns(configuration: CouplingConfiguration) -> Coupling:
    c = configuration
    is_identity = c.nu == len(c.start) - 1 and np.array_equal(c.D, np.eye(c.nu))
    return Coupling(is_identity, c.start, c.column, c.ratio, c.rotor_inertia)


def _contact(
    model: Model, points: ContactPoints | None, ground: Ground | None, given: ContactParameters | None,
    state: ContactState,
) -> Contact:  # fmt: skip
    """Arrays of the points; a floor and parameters derived from the robot's mass where none are given."""
    ground = floor() if ground is None else ground
    if points is None or len(points.bodies) == 0:
        bodies, geometry, parameters = _constant(np.zeros(0, dtype=np.int64), np.zeros((0, 4)), np.zeros(8))
    else:
        settings = None if model.sidecar is None else model.sidecar.contact
        given = derive_parameters(model.mass, len(points.bodies), settings, ground) if given is None else given
        bodies, geometry, parameters = points.bodies, points.geometry, given.array()
    return Contact(
        bodies, geometry, ground.kind, ground.data, ground.grid, parameters, state.modes, state.deflections,
        state.results, state.blocks, state.active, state.energies,
    )  # fmt: skip


def _constant(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    for array in arrays:
        array.setflags(write=False)
    return arrays


def _dense(coupling: Coupling, nv: int) -> np.ndarray:
    D = np.zeros((nv, len(coupling.rotor)))
    for i in range(nv):
        entries = slice(coupling.start[i], coupling.start[i + 1])
        D[i, coupling.column[entries]] = coupling.ratio[entries]
    return D


def _no_drives(n: int) -> Drives:
    return Drives(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.full(n, np.inf))


def _positive(name: str, value: Any) -> float:
    number = float(value)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name}: expected a positive number, got {value!r}")
    return number


def _choice(name: str, value: Any, choices: dict[Any, Any]) -> Any:
    if value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {value!r}")
    return choices[value]
