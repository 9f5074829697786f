# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Integrator`: what every scheme answers, and all that `Simulation`, nodes, bags, snapshots and benches use of one.

A scheme is a folder beside this file. Its capabilities.py has a row for each of its names (capability.py) and `make`,
which gives an `Integrator` for an `IntegrationProblem`; registry.py finds it. `Driven` (driven.py) has the parts that
are the same for all whose kernels take arrays of drives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.collision.shapes import ConvexShapes
from mbsim_ros.contact.body_pairs import BodyPairs
from mbsim_ros.contact.parameters import ContactParameters
from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.contact.state import ContactState
from mbsim_ros.contact.terrain import Ground
from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.coupling.engagement import Engagement
from mbsim_ros.elastic.springs import SpringSet
from mbsim_ros.integrators.layout import ClutchState, Counts, Drives, Joints
from mbsim_ros.model.model import Model


@dataclass(frozen=True)
class Scene:
    """What a robot meets and carries; None where there is nothing of a kind."""

    ground: Ground | None = None
    points: ContactPoints | None = None
    contact: ContactParameters | None = None
    pairs: BodyPairs | None = None
    pair_contact: ContactParameters | None = None
    springs: SpringSet | None = None
    coupling: CouplingConfiguration | None = None
    shapes: ConvexShapes | None = None  # of several entities, which touch each other
    parts: tuple[ScenePart, ...] = ()  # the entities, where there are several


@dataclass(frozen=True)
class ScenePart:
    """One of several entities: its model, with the names that it has in the model of all, and what it meets itself."""

    name: str
    model: Model
    scene: Scene


@dataclass(frozen=True)
class IntegrationProblem:
    """What is to be integrated, and how: all that `make` of a scheme is given."""

    model: Model
    dt: float  # s
    gravity: np.ndarray  # (3,)
    scene: Scene
    quadrature: str = "midpoint"
    retraction: str = "cayley"
    order: int = 2
    stops: bool = False  # whether position limits are to act
    tolerance: float | None = None  # what an iteration may leave; None: what the scheme takes by itself


class Integrator(Protocol):
    """A scheme with its state: where the robot is at a node, how it goes on, what that cost and did.

    `joints`, `drives`, `motors`, `external` and `gravity` are arrays to write to, which act from the next step on; a
    change of coupling makes new `motors`. A step that raises leaves the state of before the step.
    """

    model: Model
    dt: float
    gravity: np.ndarray  # (3,)
    configuration: CouplingConfiguration  # v = D u; the identity where a scheme has no couplings
    pair_contacts: ContactState  # of points with other bodies
    step_count: int  # since the reset
    iterations: int  # of the last call, all of its steps together

    @property
    def contacts(self) -> ContactState:
        """Of points with the ground."""

    @property
    def q(self) -> np.ndarray:
        """Configuration at the node (nq,), a copy."""

    @property
    def v(self) -> np.ndarray:
        """Velocities at the node (nv,)."""

    @property
    def u(self) -> np.ndarray:
        """Velocities of the columns of D at the node (nu,)."""

    @property
    def motor_position(self) -> np.ndarray:
        """Positions of the columns of D (nu,)."""

    @property
    def joints(self) -> Joints:
        """What resists the joints, per dof of the tree."""

    @property
    def drives(self) -> Drives:
        """Drives of the tree's dofs."""

    @property
    def motors(self) -> Drives:
        """Drives of the columns of D."""

    @property
    def external(self) -> np.ndarray:
        """Wrenches on the bodies (bodies, 6), in their axes at their origins."""

    @property
    def work_done(self) -> np.ndarray:
        """Work [J] done on the mechanism since the reset by each kind of force, LEDGER_… of layout.py."""

    def add_work(self, entry: int, energy: float) -> None:
        """Book work [J] that was done from outside."""

    @property
    def residual(self) -> float:
        """What the last step left of its equations, relative to their terms; 0 for explicit schemes."""

    @property
    def counts(self) -> Counts:
        """What solving cost since the reset."""

    @property
    def rough_steps(self) -> int:
        """Steps since the reset in which dt did not resolve the motion; 0 where a scheme does not look."""

    def describe_rough_steps(self) -> str:
        """Which joint moves too far in a step, and which dt would do; "" where a scheme does not look."""

    def shape_pairs(self) -> np.ndarray:
        """Shapes of the scene (n, 2) that the first rows of pair_contacts are between: whose point, whose plane."""

    def node_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """u (nu,) and v (nv,) at the node, at the price of one of them."""

    def acceleration(self) -> np.ndarray:
        """Accelerations (nv,) one step ago; UnsupportedModel from a scheme that does not keep them."""

    def joint_wrenches(self) -> np.ndarray:
        """The wrench (bodies, 6) that each body got through its joint in the last step, at its origin in its axes.

        Zeros before the first step; UnsupportedModel from a scheme that does not keep what it follows from.
        """

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J] at the node, rotors of motors included."""

    def reset(self, q: ArrayLike, v: ArrayLike) -> None:
        """Start from q (nq,) and v (nv,) at that instant; ledger, contacts and counts begin anew."""

    def step(self, tau: np.ndarray | None = None, steps: int = 1) -> None:
        """Advance by steps of dt; generalised forces tau (nv,) add to the drives in each. SimulationDiverged."""

    def engage(
        self, configuration: CouplingConfiguration, motor_speeds: Mapping[str, float] | None = None
    ) -> Engagement:
        """Change the coupling of the running state; UnsupportedModel from a scheme without couplings."""

    def set_friction(self, static: float, dynamic: float) -> None:
        """Coefficients of friction of all contact, from the next step on."""

    def set_inertias(self, model: Model) -> None:
        """Go on at the same q and v with a model that differs in masses and inertias only."""

    def saved(self) -> dict[str, np.ndarray]:
        """Copies of all that a continuation bit for bit needs, by name."""

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take back what `saved` gave, in an integrator made alike."""


@runtime_checkable
class GoesOnWithOthers(Protocol):
    """One of a scene, which can go on with other entities beside those that stay."""

    def adopt(self, other: Any, coupling_name: str) -> None:
        """Go on with what another scene has of this one's entities, bit for bit; those that it has not begin here."""

    def add_work(self, entry: int, energy: float) -> None:
        """Book work [J] that was done from outside, LEDGER_… of layout.py."""


@runtime_checkable
class HasSlippingClutches(Protocol):
    """One whose brakes and clutches slip at a torque limit."""

    @property
    def slip_loss(self) -> float:
        """Energy [J] that clutches lost by slipping, since the reset or since the coupling in force was engaged."""

    def clutch_states(self) -> dict[str, ClutchState]:
        """Brakes and clutches with a torque limit, by joint, as the last step had them."""


def slip_loss(integrator: Integrator) -> float:
    """What the clutches of the coupling in force lost by slipping [J]; none of a scheme without such."""
    return integrator.slip_loss if isinstance(integrator, HasSlippingClutches) else 0.0


def clutch_states(integrator: Integrator) -> dict[str, ClutchState]:
    """Brakes and clutches with a torque limit, by joint; none of a scheme without such."""
    if integrator.configuration.slipping and isinstance(integrator, HasSlippingClutches):
        return integrator.clutch_states()
    return {}


@runtime_checkable
class RemembersStep(Protocol):
    """One that can tell of the last step after a snapshot was restored: a step itself needs nothing of it."""

    def last_step(self) -> dict[str, object]:
        """What is to be known, in numbers and lists."""

    def recall_step(self, known: Mapping[str, Any]) -> None:
        """Take that back; {} where it is not known."""


@runtime_checkable
class FollowsTargets(Protocol):
    """One whose drives of columns can follow a table of targets in one compiled call."""

    def follow(self, targets: np.ndarray, period: int = 1) -> None:
        """Advance with targets (rows, 2, nu), positions and velocities, for `period` steps each; the last stays."""
