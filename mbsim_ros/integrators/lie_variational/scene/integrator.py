# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The Lie-group variational integrator for scenes: many robots and bodies, each a part with its own state and matrices.

To the simulation it is the integrator of one model, that of all parts. Each part is a `LieVariational` as that of a
robot alone; a step finds what touches, solves each island by itself and advances it (step_kernel.py). An island whose
step is hard is recovered by itself while the others have gone on.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.collision import touching
from mbsim_ros.collision.shapes import ConvexShapes
from mbsim_ros.collision.touches_kernel import PLANE_BODY, POINT_BODY
from mbsim_ros.contact.friction import set_friction
from mbsim_ros.contact.layout import ENERGIES, STORED_NORMAL, STORED_TANGENTIAL
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.contact.state import ContactState, contact_state
from mbsim_ros.coupling.configuration import CouplingConfiguration, identity
from mbsim_ros.coupling.engagement import Engagement
from mbsim_ros.dynamics import arguments as check
from mbsim_ros.integrators.driven import Driven, take_back
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.joint_arrays import make_drives, make_joints
from mbsim_ros.integrators.layout import LEDGER_COLUMNS, Counts
from mbsim_ros.integrators.lie_variational.acceptance.recovery import recover
from mbsim_ros.integrators.lie_variational.integrator import SINGULAR_HERE, LieVariational, own_coordinates
from mbsim_ros.integrators.lie_variational.scene import adoption
from mbsim_ros.integrators.lie_variational.scene.adoption import joined_coupling
from mbsim_ros.integrators.lie_variational.scene.arrays import SceneArrays, SceneInputs
from mbsim_ros.integrators.lie_variational.scene.build import FAR_AWAY, make_scene_arrays, touch_state
from mbsim_ros.integrators.lie_variational.scene.couplings import coupling_of_part, is_same, joined
from mbsim_ros.integrators.lie_variational.scene.island_steps import IslandSteps
from mbsim_ros.integrators.lie_variational.scene.packing import pack_parts
from mbsim_ros.integrators.lie_variational.scene.part_layout import PartLayout, columns_of
from mbsim_ros.integrators.lie_variational.scene.step_kernel import (
    begin_twists,
    scene_steps_into,
    scene_velocities_into,
    take_back_step,
)
from mbsim_ros.linalg.tile_matrix import packed, unpack
from mbsim_ros.model.model import Model
from mbsim_ros.records import RecordKind, row_of

_TOUCHES = ("counts", "between", "geometry", "parameters", "modes", "deflections", "results", "dampings", "stored")


class LieVariationalScene(Driven):
    """Parts that move and touch each other, as one integrator. Arrays to write to are those of `LieVariational`."""

    def __init__(
        self, model: Model, parts: Mapping[str, LieVariational], shapes: ConvexShapes, gravity: np.ndarray, dt: float,
        coupling: CouplingConfiguration | None = None,
    ):  # fmt: skip
        """model: of all, whose names are those of the parts together. parts: by entity, in the order of their solution.

        shapes: of all, their bodies by the numbers of the model.
        """
        self.model, self.dt = model, dt
        self.gravity = gravity
        self.entities, self.parts = tuple(parts), list(parts.values())
        self.shapes = shapes
        self._layout, self._own_q = PartLayout(model, self.parts), own_coordinates(model)
        self.pair_contacts = touch_state(shapes)
        self.configuration = identity(model)
        nv, nu = len(model.dof_parent), self.configuration.nu
        self._joints, self._drives = make_joints(nv), make_drives(nv)
        self._motors, self._external = make_drives(nu), np.zeros((model.n_bodies, 6))
        self._ledger = np.zeros(LEDGER_COLUMNS)  # of what happened to the scene as such: entities that came and went
        self._gone = np.zeros(ENERGIES)  # of contact with the ground of entities that went
        self._all = np.ones(len(self.parts), dtype=bool)
        self._is_packed = False  # whether the arrays of all parts are together
        self.step_count = 0
        self.iterations = 0  # of the last call, all steps together
        self.counts = Counts()
        self.arrays: SceneArrays = self._make_arrays()
        if coupling is not None:
            self._take_coupling(coupling)

    def adopt(self, other: LieVariationalScene, coupling_name: str) -> None:
        """Go on with the parts of another scene that are in this one, too; those that are not there begin here."""
        self.gravity = other.gravity
        kept = dict(zip(other.entities, other.parts, strict=True))
        for t, entity in enumerate(self.entities):
            if entity in kept:
                self.parts[t] = kept[entity]
            else:
                self.parts[t].share_gravity(self.gravity)
        self._ledger[:], self._gone[:] = other._ledger, other._gone
        for entity, part in kept.items():
            if entity not in self.entities:
                self._ledger += part.work_done
                self._gone += part.contacts.energies
        self._gone[[STORED_NORMAL, STORED_TANGENTIAL]] = 0.0
        self.step_count, self.counts = other.step_count, other.counts
        self.configuration = joined_coupling(self.model, [part.configuration for part in self.parts], coupling_name)
        self._motors = make_drives(self.configuration.nu)
        self.arrays = self._make_arrays()
        adoption.copy_inputs(self, other)
        adoption.copy_bodies(self, other)
        adoption.number_parts(self, other)
        adoption.copy_points(self, other)

    def _make_arrays(self) -> SceneArrays:
        first_column, columns = columns_of(self.configuration.column_names, self.parts)
        layout = self._layout
        inputs = SceneInputs(
            self._joints, self._drives, self._motors, self._external, layout.first_dof, layout.dofs, first_column,
            columns, layout.first_body, layout.bodies,
        )  # fmt: skip
        self.kind = RecordKind(self.parts[0].system) if self.parts else None
        arrays = make_scene_arrays(self.parts, layout, inputs, self.shapes, self.pair_contacts)
        self.scene_kind, self.scene_row = RecordKind(arrays), np.array(row_of(arrays), dtype=np.int64)
        return arrays

    @property
    def _arrays(self) -> SceneInputs:  # type: ignore[override]
        return self.arrays.inputs

    @property
    def work_done(self) -> np.ndarray:
        """Work [J] done on all parts since the reset by each kind of force, LEDGER_… of integrators.layout, a copy."""
        return self._ledger + sum(part.work_done for part in self.parts)  # type: ignore[no-any-return]

    def add_work(self, entry: int, energy: float) -> None:
        """Book work [J] that was done on the scene as such."""
        self._ledger[entry] += energy

    @property
    def contacts(self) -> ContactState:
        """Of the points of all parts with the ground, in the order of the parts."""
        states = [part.contacts for part in self.parts]
        if not states:
            return contact_state(0)
        fields = ("modes", "deflections", "results", "blocks", "active")
        modes, deflections, results, blocks, active = (
            np.concatenate([getattr(state, field) for state in states]) for field in fields
        )
        energies = self._gone + np.sum([state.energies for state in states], axis=0)
        return ContactState(modes, deflections, results, blocks, active, energies)

    @property
    def q(self) -> np.ndarray:
        """Configuration at the node (nq,)."""
        return self._tree_q()[self._own_q]

    @property
    def u(self) -> np.ndarray:
        """Velocities of the columns of D at the node (nu,)."""
        return self._node_velocities()[0]

    @property
    def v(self) -> np.ndarray:
        """Velocities at the node (nv,)."""
        return self.node_velocities()[1]

    @property
    def motor_position(self) -> np.ndarray:
        """Positions of the columns of D (nu,)."""
        return self._of_columns([part.motor_position for part in self.parts])

    @property
    def residual(self) -> float:
        """What the last step left of its equations, of the part with most."""
        return max((part.residual for part in self.parts), default=0.0)

    @property
    def rough_steps(self) -> int:
        """Steps of parts in which dt did not resolve the motion."""
        return sum(part.rough_steps for part in self.parts) + self.counts.halvings

    def describe_rough_steps(self) -> str:
        """Which joint of which entity moves too far in a step, and which dt would do."""
        worst = max(self.parts, key=lambda part: part.rough_steps)
        return worst.describe_rough_steps()

    def touching_parts(self) -> np.ndarray:
        """Which parts (P,) have points of contact with others, or with what is fixed to the world."""
        touches, found = self.arrays.touches, np.zeros(len(self.parts), dtype=bool)
        bodies = touches.now.between[: touches.now.counts[0], [PLANE_BODY, POINT_BODY]]
        found[self.arrays.bodies.part_of[bodies[bodies >= 0]]] = True
        return found

    def shape_pairs(self) -> np.ndarray:
        """Shapes (n, 2) that the first rows of pair_contacts are between: whose point, whose plane."""
        return touching.shape_pairs(self.arrays.touches)

    def node_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """u (nu,) and v (nv,) at the node."""
        u, v_tree = self._node_velocities()
        return u, v_tree[self.configuration.own_dofs]

    def acceleration(self) -> np.ndarray:
        """Accelerations (nv,) one step ago, as of `LieVariational`."""
        v_tree = np.zeros(len(self.model.dof_parent))
        for t, part in enumerate(self.parts):
            part.step_count = self.step_count
            own = np.zeros(len(part.model.dof_parent))
            own[part.configuration.own_dofs] = part.acceleration()
            v_tree[self._dofs(t)] = own
        return v_tree[self.configuration.own_dofs]

    def joint_wrenches(self) -> np.ndarray:
        """The wrench (bodies, 6) that each body got through its joint in the last step, as of `LieVariational`."""
        found = np.zeros((self.model.n_bodies, 6))
        for t, part in enumerate(self.parts):
            found[self._layout.bodies[self._bodies(t)]] = part.joint_wrenches()
        return found

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J] at the node, rotors of motors included."""
        found = [part.energies() for part in self.parts]
        return sum(kinetic for kinetic, _ in found), sum(potential for _, potential in found)

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,) at that instant; ledger, contacts and counts begin anew."""
        q_tree = np.array(check.configuration(self.model, q), dtype=float)
        v_tree = self.model.tree_v(check.finite("v", check.vector("v", v, self.model.nv)))
        starts = []
        for t, part in enumerate(self.parts):
            v_own = v_tree[self._dofs(t)][part.configuration.own_dofs]
            starts.append((part.own_q(q_tree[self._coordinates(t)]), v_own, part.saved()))
        try:
            for part, (q_own, v_own, _) in zip(self.parts, starts, strict=True):
                part.reset(q_own, v_own)
        except ValueError:
            for part, (_, _, saved) in zip(self.parts, starts, strict=True):
                part.restore(saved)
            raise
        self.pair_contacts.clear()
        touching.forget(self.arrays.touches)
        self._ledger[:] = self._gone[:] = 0.0
        self.arrays.bodies.reference[:] = FAR_AWAY
        if self.parts:
            begin_twists(self.kind, self.arrays.table, self.dt)
        self.step_count = 0
        self.counts = Counts()

    def step(self, tau: ArrayLike | None = None, steps: int = 1) -> None:
        """Advance by steps of dt; generalised forces tau (nv,) add to the drives in each. SimulationDiverged."""
        steps = operator.index(steps)
        if steps < 0:
            raise ValueError(f"steps: expected at least 0, got {steps}")
        own = self.drives.effort.copy()
        if tau is not None:
            self.drives.effort[self.configuration.own_dofs] += check.effort(self.model, tau)
        try:
            self._advance(steps)
        finally:
            self.drives.effort[:] = own

    def _advance(self, steps: int) -> None:
        self._pack_parts()
        total = taken = judged = 0
        try:
            while taken < steps and self.parts:
                done, iterations, now, failed = scene_steps_into(
                    self.kind, self.scene_kind, self.scene_row, self.dt, taken, steps, self._all, True
                )
                taken, total, judged = taken + done, total + iterations, judged + now
                self.step_count += done
                if failed:
                    total += self._recover()
                    self.step_count += 1
                    taken += 1
            self.step_count += steps - taken  # where nothing can move time goes on all the same
        finally:
            self.iterations = total
            self.counts = self.counts._replace(
                iterations=self.counts.iterations + total, judged_steps=self.counts.judged_steps + judged
            )
        touching.warn_if_crowded(self.arrays.touches)

    def _pack_parts(self) -> None:
        """Bring the arrays of parts together, once they are to move: `adopt` replaces most of those made before."""
        if not self._is_packed and self.parts:
            pack_parts(self.parts)
            self.arrays.table[:] = [row_of(part.system) for part in self.parts]
        self._is_packed = True

    def _recover(self) -> int:
        """Take the step of the islands that have not; returns the iterations of the one that took most.

        Where one cannot, the others take theirs back, so that all are at one time: SimulationDiverged.
        """
        islands, most = self.arrays.islands, 0
        failures, numbers = islands.failure.copy(), islands.number.copy()
        at_node, recovered = touching.at_node(self.arrays.touches), []
        try:
            for number in dict.fromkeys(numbers[failures < 0].tolist()):
                members = np.flatnonzero(numbers == number)
                steps = IslandSteps(self, members)
                recovered.append((steps, steps.saved()))
                iterations, how = recover(steps, int(failures[members].min()))
                self.counts = self.counts._replace(**{how: getattr(self.counts, how) + 1})
                most = max(most, iterations)
        except SimulationDiverged:
            for steps, saved in recovered:
                steps.restore(saved)
                steps.forget_factors()
            take_back_step(self.kind, self.arrays.table, failures == 0)
            touching.put_back(self.arrays.touches, at_node)
            for part in self.parts:
                part.forget_acting()
            raise
        return most

    def engage(
        self, configuration: CouplingConfiguration, motor_speeds: Mapping[str, float] | None = None
    ) -> Engagement:
        """Change the coupling of the parts that it concerns, each by itself."""
        if configuration.model is not self.model:
            raise ValueError(f"coupling '{configuration.name}' is of another model, '{configuration.model.name}'")
        wanted = self._couplings(configuration)
        done = []
        for part, own in zip(self.parts, wanted, strict=True):
            if not is_same(own, part.configuration):
                speeds = {name: speed for name, speed in (motor_speeds or {}).items() if name in own.motors}
                done.append(part.engage(own, speeds or None))
        self._follow_coupling(configuration)
        p_tree = np.zeros(len(self.model.dof_parent))
        for t, part in enumerate(self.parts):
            p_tree[self._dofs(t)] = part.p
        return joined(configuration, done, self.u, p_tree)

    def _couplings(self, configuration: CouplingConfiguration) -> list[CouplingConfiguration]:
        """The coupling of each part; CouplingError, before anything has changed."""
        pairs = zip(self.entities, self.parts, strict=True)
        return [coupling_of_part(configuration, part.model, entity) for entity, part in pairs]

    def _take_coupling(self, configuration: CouplingConfiguration) -> None:
        """Begin with a coupling."""
        for part, own in zip(self.parts, self._couplings(configuration), strict=True):
            if not is_same(own, part.configuration):
                part.engage(own)
        self._follow_coupling(configuration)

    def _follow_coupling(self, configuration: CouplingConfiguration) -> None:
        """Make the arrays that depend on the columns of D; drives of columns of the same name are kept."""
        old, motors = self.configuration.column_names, make_drives(configuration.nu)
        for k, name in enumerate(configuration.column_names):
            if name in old:
                motors[:, k] = self._motors[:, old.index(name)]
        self.configuration, self._motors = configuration, motors
        # the factors of islands go with the columns that they were for: they are made anew
        kept = {name: array.copy() for name, array in self._touch_arrays().items() if not name.startswith("joint.")}
        serials = self.arrays.joint.serial.copy()
        self.arrays = self._make_arrays()
        self.arrays.joint.serial[:] = serials
        take_back({name: array for name, array in self._touch_arrays().items() if name in kept}, kept)

    def set_friction(self, static: float, dynamic: float) -> None:
        """Coefficients of friction of all contact, from the next step on."""
        for part in self.parts:
            part.set_friction(static, dynamic)
        touches = self.arrays.touches
        for rows in (touches.shapes.parameters, touches.shapes.own_parameters, touches.now.parameters):
            set_friction(rows, static, dynamic)

    def set_inertias(self, model: Model) -> None:
        """Go on at the same q and v with a model that differs in masses and inertias only; ValueError: nothing done."""
        before = [(part.model, part.saved()) for part in self.parts]
        try:
            for t, part in enumerate(self.parts):
                constants = model.constants[self._layout.bodies[self._bodies(t)]].copy()
                if not np.array_equal(constants, part.model.constants):
                    part.set_inertias(replace(part.model, constants=constants))
        except ValueError:
            for part, (own, saved) in zip(self.parts, before, strict=True):
                if part.model is not own:
                    part.set_inertias(own)
                    part.restore(saved)
            raise
        self.model = model
        self.configuration = replace(self.configuration, model=model)
        self._follow_coupling(self.configuration)

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all that a continuation bit for bit needs, by name."""
        touches = self._touch_arrays()
        saved = {name: array.copy() for name, array in {**self._own_arrays(), **touches}.items()}
        count = int(touches["touches.counts"][0])
        for name in (f"touches.{field}" for field in _TOUCHES[1:]):
            saved[name][count:] = NO_CONTACT if name == "touches.modes" else 0  # left from points that are no more
        for entity, part in zip(self.entities, self.parts, strict=True):
            saved |= {f"{entity}.{name}": array for name, array in part.saved().items()}
        joint = self.arrays.joint
        is_kept = np.repeat(joint.mark != 0.0, np.diff(joint.first_tile))
        saved |= {f"joint.{name}": array for name, array in packed(joint.matrix, is_kept).items()}
        return {**saved, "counts": np.array([self.step_count, *self.counts], dtype=np.int64)}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take back what `saved` gave, in an integrator made alike and with the same coupling in force."""
        of_parts = [_within(saved, entity) for entity in self.entities]
        touching.refuse_impossible(self.arrays.touches, saved["touches.counts"], saved["touches.between"])
        unpack(self.arrays.joint.matrix, _within(saved, "joint"))
        take_back({**self._own_arrays(), **self._touch_arrays()}, saved)
        for part, own in zip(self.parts, of_parts, strict=True):
            part.restore(own)
        self.step_count, *counts = (int(count) for count in saved["counts"])
        self.counts = Counts(*counts)

    def last_step(self) -> dict[str, object]:
        """What joint_wrenches has to know of the last step of each entity."""
        return {entity: part.last_step() for entity, part in zip(self.entities, self.parts, strict=True)}

    def recall_step(self, known: Mapping[str, Any]) -> None:
        """Take back what `last_step` gave."""
        for entity, part in zip(self.entities, self.parts, strict=True):
            own = known.get(entity)
            part.recall_step(own if isinstance(own, dict) else {})

    def _own_arrays(self) -> dict[str, np.ndarray]:
        return {
            "joints": self._joints, "drives": self._drives, "motors": self._motors, "external": self._external,
            "ledger": self._ledger, "gone": self._gone, "gravity": self.gravity, "serial": self.arrays.joint.serial,
        }  # fmt: skip

    def _touch_arrays(self) -> dict[str, np.ndarray]:
        touches = self.arrays.touches
        arrays = {f"touches.{field}": getattr(touches.now, field) for field in _TOUCHES}
        return {
            **arrays, "touches.energies": touches.energies, "touches.reference": self.arrays.bodies.reference,
            "touches.twists": self.arrays.bodies.twists, "joint.mark": self.arrays.joint.mark,
        }  # fmt: skip

    def _dofs(self, t: int) -> np.ndarray:
        """Dofs of the tree of all that are those of a part."""
        return self._layout.dofs[self._layout.first_dof[t] : self._layout.first_dof[t + 1]]

    def _coordinates(self, t: int) -> np.ndarray:
        return self._layout.coordinates[self._layout.first_coordinate[t] : self._layout.first_coordinate[t + 1]]

    def _bodies(self, t: int) -> slice:
        return slice(int(self._layout.first_body[t]), int(self._layout.first_body[t + 1]))

    def _tree_q(self) -> np.ndarray:
        q_tree = np.array(self.model.tree_q(self.model.neutral), dtype=float)
        if self.parts:
            q_tree[self._layout.coordinates] = np.concatenate([part.state.q for part in self.parts])
        return q_tree

    def _of_columns(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Numbers of the columns of each part in the order of those of all."""
        found = np.zeros(self.configuration.nu)
        if values:
            found[self.arrays.inputs.columns] = np.concatenate(values)
        return found

    def _node_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """u (nu,) and v of the tree at the node."""
        u, v, inputs = np.zeros(self.configuration.nu), np.zeros(len(self.model.dof_parent)), self.arrays.inputs
        if self.parts:
            singular = scene_velocities_into(
                self.kind, self.arrays.table, u, v, inputs.first_column, inputs.columns, inputs.first_dof,
                inputs.dofs,
            )  # fmt: skip
            if singular >= 0:
                raise ValueError(f"'{self.entities[singular]}': {SINGULAR_HERE}")
        return u, v


def _within(saved: Mapping[str, np.ndarray], entity: str) -> dict[str, np.ndarray]:
    start = f"{entity}."
    return {name[len(start) :]: array for name, array in saved.items() if name.startswith(start)}
