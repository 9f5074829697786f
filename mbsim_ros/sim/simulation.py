# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Simulation`: a robot that moves, with its integrator, contact, couplings, drives, ledger and snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.control.command import Values
from mbsim_ros.coupling.configuration import CouplingConfiguration, named
from mbsim_ros.coupling.engagement import Engagement
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.robot_state import RobotState
from mbsim_ros.elastic.springs import spring_energy
from mbsim_ros.integrators.errors import SimulationDiverged, UnsupportedModel
from mbsim_ros.integrators.integrator import FollowsTargets, Integrator, clutch_states, slip_loss
from mbsim_ros.integrators.layout import ClutchState
from mbsim_ros.integrators.registry import FLAGSHIP, find
from mbsim_ros.integrators.state_bounds import FASTEST, refuse_implausible
from mbsim_ros.integrators.step_bound import StepBound
from mbsim_ros.model.description import Origin
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.payload import POINT, make_payload
from mbsim_ros.model.problems import did_you_mean, warn_user
from mbsim_ros.sim import initial_states
from mbsim_ros.sim.above import SimulationWatcher, Visible
from mbsim_ros.sim.clock import SECOND, step_count, step_in_nanoseconds
from mbsim_ros.sim.divergence import describe_divergence
from mbsim_ros.sim.drives.default_gains import DriveGains
from mbsim_ros.sim.drives.drive_tables import Added, DriveTables
from mbsim_ros.sim.drives.effort_limits import limit_efforts
from mbsim_ros.sim.drives.weak_joints import weakness
from mbsim_ros.sim.energy_accounts import EnergyAccounts
from mbsim_ros.sim.entities import Entities, EntityState, Given
from mbsim_ros.sim.free_step_bound import free_step_bound
from mbsim_ros.sim.integrator_choice import AS_THE_SCHEME_DOES, choose_integrator
from mbsim_ros.sim.joint_resistance import SimulationWarning, apply_joint_resistance
from mbsim_ros.sim.ledger import Energy, Ledger
from mbsim_ros.sim.quantities import Quantities
from mbsim_ros.sim.recording.recorder import Recorder, Recording
from mbsim_ros.sim.resolution import warn_if_unresolved
from mbsim_ros.sim.run_loop import ControllerLike, run
from mbsim_ros.sim.scenes.changes import delete, spawn
from mbsim_ros.sim.snapshots.snapshot import Snapshot, identity_of
from mbsim_ros.sim.snapshots.taking import restore_snapshot, take_snapshot
from mbsim_ros.sim.surroundings.contacts import ContactReport, contact_reports
from mbsim_ros.sim.surroundings.link_wrenches import LinkForces
from mbsim_ros.sim.surroundings.payloads import Payloads
from mbsim_ros.sim.surroundings.pushes import Pushes
from mbsim_ros.sim.surroundings.scene import Springs, chosen_coupling, make_scene
from mbsim_ros.sim.surroundings.standing import standing, warn_if_deep
from mbsim_ros.sim.world import World


class Simulation(Quantities, Visible):
    """A robot under gravity, drives, contact and couplings; time is k · dt in whole nanoseconds.

    model: a Model, or what `load_urdf` takes; several of them in a list, or in a dict by name, make a scene in which
        all may touch each other, with names such as `walker/left_hip`, as does a World (docs/scenes.md).
    base: "floating", "fixed" or "auto", of what is loaded.
    dt: step [s], a whole number of nanoseconds up to one second.
    integrator: "lie_variational"; "quaternion_variational", in maximal coordinates, with W's contact, without
        couplings and springs; "rk4" and "lie_euler" to compare with, which have no forces but efforts; or a
        scheme for robots of one kind, such as "energy_stable" for planar chains: docs/integrators.md has them all.
    quadrature, retraction, order: of lie_variational, see docs/integrators.md. Order 4 goes with nothing that takes
        energy: no contact, damping, friction, stops or clutches.
    gravity: acceleration (3,) in the world.
    terrain: None (the sidecar's; the floor if it or `contact` speaks of contact; else none), "flat", a Terrain, a
        Ground, or False for none.
    contact: a dict with keys of the sidecar's `contact`, which it changes, ContactSettings, or ContactParameters.
    coupling: a name in the sidecar, an entry of one (also as a dict), or a CouplingConfiguration.
    springs: None for the sidecar's, () for none, or what `elastic.attach` takes.
    body_contact: pairs of links that may touch each other, or "all" for all that no joints connect.
    package_dirs: packages, or folders of packages, with the meshes of what is loaded.
    contact_points: the points that can touch, in place of those that follow from collision shapes and sidecar.
    stops: whether position limits act, as stiff springs; None: where the integrator can have them (order 2).
    tolerance: what an iteration may leave of its equations, relative to their terms; 0: rounding; None: the scheme's.

    It starts in the state `home`. `tau` and `motor` are ordered by `tau_names` and `motor_names`; every call takes
    mappings by name as well. A call that raises ValueError leaves everything as it was.
    """

    def __init__(  # noqa: PLR0913 - what a simulation may have, each by its name
        self, model: Model | str | Path | Given | World, dt: float = 1e-3, integrator: str = FLAGSHIP,
        quadrature: str = "midpoint", retraction: str = "cayley", order: int = 2, gravity: ArrayLike = (0, 0, -9.81),
        terrain: object = None, contact: object = None, coupling: object = None, springs: Springs = None, *,
        body_contact: object = None,
        stops: bool | None = None, base: str = "auto", package_dirs: Sequence[str | Path] = (),
        contact_points: ContactPoints | None = None, tolerance: float | None = None,
    ):  # fmt: skip
        self.entities: Entities | None = None
        if isinstance(model, World | Sequence | Mapping) and not isinstance(model, str):
            self.entities = Entities(model, base, package_dirs)
            model, base = self.entities.forest, "auto"
            if body_contact is not None:
                raise ValueError("body_contact: entities of a scene touch each other without it, got a scene and it")
            gravity = gravity if self.entities.world.gravity is None else self.entities.world.gravity
            terrain = self.entities.world.ground if terrain is None else terrain
        if isinstance(model, Model) and base != "auto":
            raise ValueError(f"base: {base!r} is for a robot that is loaded here, and this model has its base already")
        self.model = model if isinstance(model, Model) else load_urdf(model, base, package_dirs=package_dirs)
        self.dt_ns = step_in_nanoseconds(dt)
        self.dt = self.dt_ns / SECOND
        g = check.gravity_vector(gravity).copy()
        self.scene = make_scene(
            self.model, self.dt, g, terrain, contact if self.entities is None else None, coupling, springs,
            body_contact, contact_points,
        )  # fmt: skip
        self.given_contact = contact
        if self.entities is not None:
            self.scene = self.entities.in_scene(self.scene, contact, float(np.linalg.norm(g)), self.dt)
        self.integrator: Integrator
        self.integrator, self.has_stops = choose_integrator(
            integrator, self.model, self.dt, g, self.scene, quadrature, retraction, order, stops, tolerance
        )
        self.capabilities = find(integrator, order)
        self.scheme: dict[str, object] = {
            "dt": self.dt_ns, "integrator": integrator, "quadrature": quadrature, "retraction": retraction,
            "order": order, "tolerance": AS_THE_SCHEME_DOES if tolerance is None else float(tolerance),
        }  # fmt: skip
        if self.capabilities.drives or self.capabilities.damping:
            apply_joint_resistance(self.model, self.integrator, self.dt, self.has_stops)
        self.watcher: SimulationWatcher | None = None  # the view that shows it; it changes nothing by itself
        self._accounts = EnergyAccounts()
        self.pushes = Pushes(self.model, self.integrator.external)
        self.payloads = Payloads(self)
        self.gains = DriveGains(self.model, self.dt)
        self.read_coupling()
        self.reset()

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,), a copy."""
        return self.integrator.q

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,) at this instant, M(q)⁻¹p: not the mean over the last step."""
        return self.integrator.v

    @property
    def time(self) -> int:
        """Time since the reset [ns]."""
        return self.integrator.step_count * self.dt_ns

    @property
    def seconds(self) -> float:
        """Time since the reset [s]."""
        return self.time / SECOND

    @property
    def motor_position(self) -> np.ndarray:
        """Positions of the columns of D in the order of `motor_names`: joints where they are, motors from 0."""
        return np.array(self.integrator.motor_position[self.drive_tables.columns])

    @property
    def motor_velocity(self) -> np.ndarray:
        """Rates of the columns of D in the order of `motor_names`."""
        return np.array(self.integrator.u[self.drive_tables.columns])

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """`motor_velocity` and `v` at once, which costs as much as one of them."""
        u, v = self.integrator.node_velocities()
        return u[self.drive_tables.columns], v

    @property
    def efforts(self) -> np.ndarray:
        """Efforts of the joints' actuators, ordered by `tau_names`, as /joint_states has them.

        Of each what its drive does at q and v of now, with the `tau` of the last step, after the joint's limit.
        """
        return self.drive_tables.joint_efforts(self.q, self.v)

    @property
    def motor_efforts(self) -> np.ndarray:
        """The same of the columns of D, ordered by `motor_names`, with the `motor` of the last step.

        That of a brake or clutch with a torque limit has the torque by which it holds or slips.
        """
        return self.motor_efforts_at(self.motor_velocity)

    def motor_efforts_at(self, rates: np.ndarray) -> np.ndarray:
        """The same for one who has the rates of now already."""
        efforts = self.drive_tables.motor_efforts(rates)
        for joint, clutch in clutch_states(self.integrator).items():
            efforts[self.coupling.slipping[joint] - self.drive_tables.columns.start] += clutch.torque
        return efforts

    @property
    def acceleration(self) -> np.ndarray:
        """Accelerations (nv,) one step ago: (mean velocity of the last step − that of the step before) / dt.

        For the instant between the two that is exact to second order in dt. Zeros until there have been two steps.
        """
        return self.integrator.acceleration()

    @property
    def iterations(self) -> int:
        """Iterations of the solver in the last call, all of its steps together."""
        return int(self.integrator.iterations)

    @property
    def tau_names(self) -> tuple[str, ...]:
        """The joints that `tau` is for: of one dof, mimicking no other, in the order of `model.joint_names`."""
        return self.drive_tables.joint_names.names

    @property
    def motor_names(self) -> tuple[str, ...]:
        """The columns of D that `motor` is for: all but the floating base's."""
        return self.drive_tables.column_names.names

    def state(self) -> RobotState:
        """What a controller sees."""
        q, (motor_velocity, v) = self.q, self.velocities()
        return RobotState(
            self.time, q, v, self.motor_position, motor_velocity, self.coupling.name,
            self.drive_tables.joint_efforts(q, v), self.model.is_floating, self.link_forces.links,
            self.link_forces.now(),
        )  # fmt: skip

    def reset(self, q: initial_states.ByJoint | None = None, v: initial_states.ByJoint | None = None) -> None:
        """Start again at time 0 from q (nq,) and v (nv,), from mappings by joint (`base` for the base), or by name.

        reset("home") takes an initial state of the sidecar; so does reset() if there is a `home`, else it is the
        neutral one within the joints' limits, at rest. A state that does not place a floating base has it where it
        stands on the ground. A start that is in the ground says so (ContactWarning). The ledger starts again; drives,
        pushes, loads and the coupling stay.
        """
        weight = float(np.linalg.norm(self.integrator.gravity))
        start: ArrayLike
        rates: ArrayLike
        if q is None or isinstance(q, str):
            name = initial_states.HOME if q is None else q
            if self.entities is not None:
                start, at_rest = self.entities.start(name, self.scene, weight)
            else:
                start, at_rest = initial_states.named_state(self.model, name)
            if self.entities is None and not initial_states.places_base(self.model, name):
                start = standing(self.model, self.scene, start, weight)
            rates = at_rest if v is None else initial_states.velocity(self.model, v)
        else:
            is_placed = not isinstance(q, Mapping) or "base" in q
            start = initial_states.configuration(self.model, q)
            start = start if is_placed else standing(self.model, self.scene, np.asarray(start), weight)
            rates = np.zeros(self.model.nv) if v is None else initial_states.velocity(self.model, v)
        refuse_implausible(np.ravel(start), np.ravel(rates))
        self.integrator.reset(start, rates)
        warn_if_deep(self.model, self.scene, self.q, weight)
        self._accounts.begin(self)
        self.drive_tables.acted = []
        self._is_told_rough = False

    def entity(self, name: str) -> EntityState:
        """One of several robots and bodies as it is now; KeyError with those that there are."""
        if self.entities is None or name not in self.entities:
            known = () if self.entities is None else tuple(self.entities)
            hint = did_you_mean(name, known, f"there are {', '.join(known) or 'none: it is a simulation of one'}", 0)
            raise KeyError(f"no entity named {name!r}: {hint}")
        return EntityState(self, self.entities[name])

    def spawn(
        self, name: str, model: Model | str | Path, pose: Origin | None = None, q: ArrayLike | None = None,
        v: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Add a robot or body to a scene while it runs: at a pose of its root, or standing on the ground at the origin.

        q (nq,), v (nv,): its own, in its own order, in place of its initial state. Others go on bit for bit.
        """
        spawn(self, name, model if isinstance(model, Model) else load_urdf(model), pose, q, v)

    def delete(self, name: str) -> None:
        """Take an entity out of a scene while it runs; others go on bit for bit."""
        delete(self, name)

    def accounts_from(self, other: Simulation) -> None:
        """Go on with the energy accounts of another simulation."""
        self._accounts.restore(other._accounts.saved())

    def become(self, other: Simulation) -> None:
        """Be another simulation from now on, for all who have this one."""
        watcher, is_told = self.watcher, self._is_told_rough
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)
        self.payloads.of(self)
        self.watcher, self._is_told_rough = watcher, is_told

    def randomise(self, seed: int | np.random.Generator, spread: float = 1.0) -> None:
        """Start again, at rest, with every joint somewhere within its limits and a floating base on the ground.

        seed: an integer, which gives the same start again, or a numpy Generator, which goes on. spread: how much of the
        way from home to that start it goes, 0 … 1. A joint without limits is up to π away. Links may overlap.
        """
        q = initial_states.random_configuration(self.model, seed, spread)
        self.reset(standing(self.model, self.scene, q, float(np.linalg.norm(self.integrator.gravity))))

    def step(self, tau: Values | None = None, motor: Values | None = None) -> None:
        """One step under efforts of joints `tau` and of columns of D `motor`, for this step, added to the drives'.

        The load on the columns is Dᵀtau + motor. Raises SimulationDiverged, in the last good state.
        """
        self.advance(1, tau, motor)

    def advance(self, steps: int, tau: Values | None = None, motor: Values | None = None) -> None:
        """Many steps in one compiled call, under the drives and the same efforts in each: bit for bit as one by one."""
        steps = step_count("steps", steps)
        self._move(steps, self.drive_tables.added(tau, motor), lambda: self.integrator.step(None, steps))

    @property
    def can_follow(self) -> bool:
        """Whether its integrator has `follow`."""
        return isinstance(self.integrator, FollowsTargets)

    def follow(self, targets: np.ndarray, period: int) -> None:
        """Advance while the drives of motors follow targets (rows, 2, columns of D), positions and velocities.

        Each row for `period` steps, all in one compiled call; what the last says stays. For gaits that are known ahead.
        """
        integrator = self.integrator
        if not isinstance(integrator, FollowsTargets):
            raise UnsupportedModel(
                f"follow: integrator '{self.scheme['integrator']}' takes no tables: use drive_motors"
            )
        self._move(len(targets) * period, [], lambda: integrator.follow(targets, period))

    def _move(self, steps: int, added: list[Added], go: Callable[[], None]) -> None:
        """Take steps with these efforts added to those of the drives, and see to what follows from them."""
        held = [efforts[places].copy() for efforts, places, _ in added]
        try:
            for efforts, places, values in added:
                efforts[places] += values
            go()
        except SimulationDiverged as error:
            raise describe_divergence(self, error) from None
        finally:
            for (efforts, places, _), values in zip(added, held, strict=True):
                efforts[places] = values
        self.drive_tables.acted = added
        if not self._is_told_rough:
            self._is_told_rough = warn_if_unresolved(self)
        if self.watcher is not None:
            self.watcher.after_steps(steps)

    def run(
        self, seconds: float, controller: ControllerLike | None = None, *, control_period: float | None = None,
        record: Recorder | Iterable[str] | bool | None = None, progress: bool | None = None,
    ) -> Recording | None:  # fmt: skip
        """Advance by the whole number of steps nearest to this time.

        controller: has update(t_seconds, state) → command, or is called with this simulation; asked at the start and
            then every control_period [s], a multiple of dt (default the controller's own, or dt). A command is None,
            efforts of joints, a Command, or an object with any of its parts; efforts hold until the next. In a scene
            a dict of controllers by entity, each as if its robot were alone: {"walker": gait, "arm": hold}.
        record: names of channels, True for q, v and energy, or a Recorder with names and every how many steps.
        progress: a bar on standard error; None shows it on a terminal once the run takes longer than a second.
        Returns the recording, if there is one; a SimulationDiverged has what was recorded as its `recording`.
        """
        return run(self, seconds, controller, control_period, record, progress)

    def drive(
        self, position: Values | None = None, velocity: Values | None = None, effort: Values | None = None,
        kp: Values | None = None, kd: Values | None = None,
    ) -> None:  # fmt: skip
        """Drive joints from now on: effort + kp (position − r) + kd (velocity − v), solved with every step.

        Each is a mapping by joint, or an array in the order of `tau_names`. What is not given stays; gains that a joint
        never had are those of the sidecar, or by the rule of sim/drives/default_gains.py, of which the log tells once.
        """
        self.drive_tables.joints.set(position, velocity, effort, kp, kd)

    def drive_motors(
        self, position: Values | None = None, velocity: Values | None = None, effort: Values | None = None,
        kp: Values | None = None, kd: Values | None = None,
    ) -> None:  # fmt: skip
        """The same for columns of D, in the order of `motor_names`; the positions are those of `motor_position`."""
        if self._only_efforts:
            raise UnsupportedModel(f"drive_motors: {self._only_efforts}: use drive")
        self.drive_tables.motors.set(position, velocity, effort, kp, kd)

    def hold(self) -> None:
        """Let the drives of all joints hold where they are now, until they are driven otherwise or released.

        A SimulationWarning tells of joints whose effort limits do not carry what hangs on them.
        """
        places = {name: self.model.joint(name) for name in self.tau_names}
        q = self.q
        self.drive(position={name: q[joint.iq] for name, joint in places.items()}, velocity=dict.fromkeys(places, 0.0))
        too_weak = self.weakness()
        if too_weak:
            warn_user(too_weak, SimulationWarning)

    def weakness(self) -> str:
        """In a sentence which joints cannot hold the robot where it is, for want of effort, or ""."""
        return weakness(self.model, self.scene, self.q, self.integrator.gravity, self.motor_names)

    def release_drives(self, names: Iterable[str] | None = None) -> None:
        """End the drives of these joints, or all drives of joints and motors."""
        self.drive_tables.joints.release(names)
        if names is None:
            self.drive_tables.motors.release()

    def push(
        self, link: str, force: ArrayLike | None = None, torque: ArrayLike | None = None, at: ArrayLike | None = None
    ) -> None:
        """Push a link with a force (3,) and a torque (3,), in its axes, until replaced; push(link, None) ends it.

        at: the point (3,) of the link where the force acts, default its origin.
        """
        if self._only_efforts:
            raise UnsupportedModel(f"push: {self._only_efforts}")
        self.pushes.set(link, force, torque, at)

    def set_payload(self, link: str, mass: float, at: ArrayLike = POINT, inertia: ArrayLike | None = None) -> None:
        """Put a load of this mass [kg] on a link, in place of what it carries; mass 0 takes it off.

        at: the load's centre (3,) in the link's frame. inertia: about that centre in the link's axes [kg m²], as three
        moments, six numbers (xx, xy, xz, yy, yz, zz) or a matrix; None for a point. q and v stay: the load moves with
        the link at once, and what energy it brings is in the ledger's `external_work`. A reset keeps it. `model` is the
        robot with its loads from then on, `payloads.bare` without.
        """
        if self._only_efforts:
            name = self.scheme["integrator"]
            raise UnsupportedModel(f"set_payload: not with integrator '{name}': use model.with_(payload=...)")
        self.payloads.set({**self.payloads.loads, link: make_payload(link, mass, at, inertia)})

    @cached_property
    def couplings(self) -> Mapping[str, CouplingConfiguration]:
        """The couplings of the sidecar by name."""
        return MappingProxyType(named(self.model))

    @property
    def coupling(self) -> CouplingConfiguration:
        """The coupling in force."""
        return self.integrator.configuration

    def couple(self, coupling: object, *, motor_speeds: Mapping[str, float] | None = None) -> Engagement:
        """Change the coupling, by name or as given, keeping momentum; says what was lost and the impulse on each joint.

        motor_speeds: of rotors that the coupling in force does not name. Drives of columns with the same name stay.
        """
        if self._no_damping:
            raise UnsupportedModel(f"couple: a clutch takes energy: {self._no_damping}")
        for motor, speed in (motor_speeds or {}).items():
            if abs(speed) > FASTEST:
                raise ValueError(f"motor_speeds[{motor!r}]: expected at most {FASTEST:g} rad/s, got {speed:.6g}")
        is_known = isinstance(coupling, str) and coupling in self.couplings
        chosen = self.couplings[str(coupling)] if is_known else self.payloads.of_now(coupling)
        configuration = chosen_coupling(self.model, chosen)
        self._refuse_slipping(configuration)
        slipped = slip_loss(self.integrator)
        engagement = self.integrator.engage(configuration, motor_speeds)
        self._accounts.engaged(engagement, motor_speeds, slipped)
        self.read_coupling()
        return engagement

    def clutches(self) -> dict[str, ClutchState]:
        """Brakes and clutches of the coupling in force that have a torque limit, by joint: torque, slip, loss."""
        return clutch_states(self.integrator)

    def energy(self) -> Energy:
        """Energy now [J], with the velocities of this instant; rotors of motors count."""
        kinetic, potential = self.integrator.energies()
        elastic = 0.0 if self.scene.springs is None else spring_energy(self.model, self.scene.springs, self.q)
        return Energy(kinetic, potential, elastic, self._accounts.contact_stored(self.integrator))

    def ledger(self) -> Ledger:
        """Stores now, works and losses since the reset, and what is left over [J]."""
        return self._accounts.ledger(self)

    def contacts(self) -> tuple[ContactReport, ...]:
        """Every contact point as the last step had it: mode, penetration, force, and where it is."""
        return contact_reports(self.scene, self.integrator)

    def step_bound(self) -> StepBound:
        """How long a step from here may be in free motion: proved by K where K proves it, an estimate elsewhere.

        It only informs: contact, couplings, drives and what else acts are not in it, and its sentence says which.
        """
        return free_step_bound(self)

    def snapshot(self) -> Snapshot:
        """Everything from which this simulation, or one made alike, continues bit for bit."""
        return take_snapshot(self, self._accounts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot. Raises ValueError, naming the difference, if it is of another simulation."""
        restore_snapshot(self, self._accounts, snapshot)

    @cached_property
    def identity(self) -> dict[str, object]:
        """What this is a simulation of, in comparable words, for snapshots."""
        return identity_of(self.payloads.bare, self.scene, self.scheme, self.capabilities.default_contact_law)

    @cached_property
    def link_forces(self) -> LinkForces:
        """Forces of contact by link."""
        return LinkForces(self)

    @property
    def _only_efforts(self) -> str:
        """Why there are no forces but efforts on joints, or ""."""
        row = self.capabilities
        return "" if row.drives else f"integrator '{row.name}' has no forces but efforts of joints"

    @property
    def _no_damping(self) -> str:
        """Why nothing may take energy, or ""."""
        row = self.capabilities
        backwards = f"order={row.order} has a substep back in time: use order 2" if row.drives else ""
        return "" if row.damping else self._only_efforts or backwards

    def _refuse_slipping(self, configuration: CouplingConfiguration) -> None:
        """Raise UnsupportedModel where the scheme has no clutches that slip."""
        if configuration.slipping and not self.capabilities.slipping:
            raise UnsupportedModel(
                f"couple: torque limits of {', '.join(configuration.slipping)}: {self.capabilities.title} has no "
                "clutches that slip: leave out torque_limit"
            )

    def read_coupling(self) -> None:
        """Take names, drives and limits of the columns from the coupling that the integrator now has."""
        limit_efforts(self.model, self.integrator)
        self.drive_tables = DriveTables(self.model, self.integrator, self.gains, self._only_efforts, self._no_damping)
