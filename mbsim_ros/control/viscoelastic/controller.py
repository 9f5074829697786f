# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hemami's visco-elastic feedback as a controller: bodies of a robot held as if springs and dampers did, and v of it.

A body that floats is held by its own feedback, H (3) or (12); several are, each by its own, and elements couple them,
H (16). A body that is constrained, by a pivot or because it is part of an arm, has the same feedback, of which the
constraint leaves the projection, H 3.2: physics does that to a wrench, and `acts_by: joints` does it to efforts,
τ = Σ Jᵀ (Λ, N). In all these cases

    v = kinetic + potential energy of the robot + what springs have stored − ε − what active elements have put in

counts from zero at rest and never increases: H (15), (19) with the energy of the coupling, ERRATA B1 to B11.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from mbsim_ros.control.command import WRENCH, Command
from mbsim_ros.control.controller import driven_joints
from mbsim_ros.control.parameters import ValidatedParameters
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.viscoelastic.elements import WORLD, Anchor, Muscle, SpringDamper, read_elements
from mbsim_ros.control.viscoelastic.held_body import BodyMotion, Held, HeldBody
from mbsim_ros.control.viscoelastic.law import ViscoelasticLaw, cross
from mbsim_ros.control.viscoelastic.parameters import JOINTS, POINT, RATES, ViscoelasticParameters
from mbsim_ros.dynamics.energy import energy
from mbsim_ros.dynamics.jacobian import frame_jacobian
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.model.model import CENTRE, MASS, PARENT, Model

UNSTABLE = 2.0  # of h L / m: a damper that is held over h turns a velocity round and makes it larger

__all__ = ["UnstableGains", "ViscoelasticController", "ViscoelasticParameters"]


class UnstableGains(UserWarning):
    """Gains that are too large for the inertia of a link at the period that the controller is asked with."""


class ViscoelasticController:
    """Wrenches on the bodies that are held, as if springs and dampers did; `lyapunov` is v [J] of the last update.

    The states D and Φ of the feedback are its memory. They follow their linear equations exactly for a place and angles
    that go straight from one update to the next. Between updates a wrench is held in the axes of its link.
    """

    Parameters: ClassVar[type[ValidatedParameters]] = ViscoelasticParameters
    commands: ClassVar[tuple[str, ...]] = (WRENCH,)

    def __init__(self, model: Model, parameters: ViscoelasticParameters | None = None):
        self._model = model
        given = ViscoelasticParameters() if parameters is None else parameters
        self.links = _links(model, given)
        self._acts_by = given.acts_by
        holds_base_alone = model.is_floating and self.links == model.body_names[:1]
        self.needed_joints: tuple[str, ...] | None = () if holds_base_alone else None
        if given.acts_by == JOINTS:
            _check_joints(model)
        self._driven = driven_joints(model)
        self._centres = {link: _centre(model, link) for link in self.links}
        self._masses = _carried(model, self.links)
        self.bodies: tuple[HeldBody, ...] = ()
        self.elements: tuple[SpringDamper | Muscle, ...] = ()
        self._elements_text = ""
        self.configure(given)
        self.reset()

    def configure(self, parameters: ViscoelasticParameters) -> None:
        """Go on with other parameters; D, Φ and ε stay. Links and the way to act stay what they were."""
        n = len(self.links)
        if _links(self._model, parameters) != self.links or parameters.acts_by != self._acts_by:
            raise ValueError("links, acts_by: expected those that the controller began with; start another one")
        held, places = self._held(parameters), parameters.places(n)
        elements = read_elements(parameters.elements, self._model.frames)
        if not self.bodies:
            self.bodies = tuple(HeldBody(link, way, None) for link, way in zip(self.links, held, strict=True))
        for k, (body, way) in enumerate(zip(self.bodies, held, strict=True)):
            body.configure(way)
            if places is not None:
                body.place = places[k]
        if parameters.elements != self._elements_text:  # muscles that stay keep their lengths
            self.elements, self._elements_text = elements, parameters.elements
        self._gravity = np.array([0.0, 0.0, -parameters.gravity])
        self._longest_period = 0.0  # s: of those that the gains are known to be right for
        self.parameters = parameters

    def reset(self) -> None:
        """Begin anew: supports are where the weight holds them, Φ where the angles hold it."""
        places = self.parameters.places(len(self.links))
        for k, body in enumerate(self.bodies):
            body.reset(None if places is None else places[k])
        for element in self.elements:
            element.reset()
        self.lyapunov: float | None = None
        self._last_time: float | None = None
        self.rise = 0.0  # J: the largest by which v has risen from one update to the next

    def activate(self, muscle: str, force: float) -> None:
        """Let a muscle's active element pull with a force [N] from the next update on: its neural input."""
        for element in self.elements:
            if element.name == muscle and isinstance(element, Muscle):
                element.activate(force)
                return
        there = ", ".join(each.name for each in self.elements if isinstance(each, Muscle)) or "none"
        raise ValueError(f"muscle: no muscle named {muscle!r}; there are: {there}")

    @property
    def D(self) -> np.ndarray:
        """Supports of all bodies, (3 n,)."""
        return np.concatenate([body.D for body in self.bodies])

    @property
    def Phi(self) -> np.ndarray:
        """Φ of all bodies, (3 n,)."""
        return np.concatenate([body.Phi for body in self.bodies])

    @property
    def law(self) -> ViscoelasticLaw:
        """The feedback of each body."""
        return self.bodies[0].held.law

    def update(self, t: float, state: RobotState) -> Command:
        """Wrenches or efforts for the state at t [s]."""
        self._check_period(t, state)
        motions = self._motions(state)
        wrenches = {body.link: body.update(t, motions[body.link]) for body in self.bodies}
        for element in self.elements:
            first, second = element.anchors
            (p1, v1), (p2, v2) = _point(motions, first), _point(motions, second)
            force = element.update(t, p1 - p2, v1 - v2)
            _add(wrenches, motions, first, force)
            _add(wrenches, motions, second, -force)
        self._measure(state)
        if self._acts_by != JOINTS:
            return Command(wrench=wrenches)
        tau = sum(
            (frame_jacobian(self._model, state.q, link).T @ wrench for link, wrench in wrenches.items()),
            np.zeros(self._model.nv),
        )
        names = tuple(joint.name for joint in self._driven)
        return Command(names, effort=np.array([tau[joint.iv] for joint in self._driven]))

    def _check_period(self, t: float, state: RobotState) -> None:
        """Warn of gains that are unstable in wrenches that are held over a period, once for each longer period."""
        h = 0.0 if self._last_time is None else round(t - self._last_time, 9)
        self._last_time = t
        if h <= self._longest_period:
            return
        self._longest_period = h
        mass = mass_matrix(self._model, state.q)
        for body in self.bodies:
            law = body.held.law
            of_place, of_turn = (
                np.linalg.norm(L + 0.5 * h * K, 2) for L, K in ((law.LTa, law.KTa), (law.LRa, law.KRa))
            )
            J = frame_jacobian(self._model, state.q, body.link)
            J[:3] -= np.cross(self._centres[body.link], J[3:], axisb=0, axisc=0)  # of the centre of mass
            damping = np.repeat([of_place, of_turn], 3)
            share = h / UNSTABLE * float(np.linalg.eigvals((J @ np.linalg.solve(mass, J.T)) * damping).real.max())
            if share >= 1.0:
                warnings.warn(
                    f"gains: with a control period of {h:g} s those of {body.link} are {share:.3g} times what its "
                    "inertia can take before they throw it about: make LTa, LRa, KTa, KRa smaller, or the period "
                    "shorter",
                    UnstableGains,
                    stacklevel=3,
                )

    def _measure(self, state: RobotState) -> None:
        """v of this state."""
        stored = sum(body.stored for body in self.bodies) + sum(element.stored for element in self.elements)
        at_rest = sum(body.energy_at_rest() for body in self.bodies)
        before = self.lyapunov
        self.lyapunov = energy(self._model, state.q, state.v, self._gravity).total - at_rest + stored
        if before is not None:
            self.rise = max(self.rise, self.lyapunov - before)

    def _held(self, parameters: ViscoelasticParameters) -> list[Held]:
        n, law = len(self.links), parameters.law()
        angles, points = parameters.attitudes(n), parameters.triples("point", n)
        return [
            Held(
                law, angles[k], points[k], np.array([0.0, 0.0, -parameters.gravity * mass]), parameters.carry_weight,
                parameters.feedback == POINT, parameters.measures == RATES, parameters.only_pushes,
            )
            for k, mass in enumerate(self._masses)
        ]  # fmt: skip

    def _motions(self, state: RobotState) -> dict[str, BodyMotion]:
        """Of the links that are held, and of those that elements are fixed to."""
        moving = forward_kinematics(self._model, state.q, state.v)
        found = {}
        anchored = (anchor.link for element in self.elements for anchor in element.anchors if anchor.link != WORLD)
        for link in dict.fromkeys([*self.links, *anchored]):
            pose, twist, centre = moving.link_pose(link), moving.link_twist(link), self._centres.get(link, _ORIGIN)
            A, W = pose[:3, :3], twist[3:]
            X, V = pose[:3, 3] + A @ centre, A @ (twist[:3] + cross(W, centre))
            found[link] = BodyMotion(A, X, V, W, pose[:3, 3], centre)
        return found


_ORIGIN = np.zeros(3)


def _links(model: Model, parameters: ViscoelasticParameters) -> tuple[str, ...]:
    """The links that are held; ValueError if there are none."""
    named = tuple(name.strip() for name in parameters.links.split(",") if name.strip())
    if not named:
        floating = [joint.child_link for joint in model.joints if joint.nv == 6]
        named = model.body_names[:1] if model.is_floating else tuple(floating)
    if not named:
        raise ValueError(
            f"model: expected a floating base, got '{model.name}', whose base is fixed; name the links to hold by the "
            "parameter links"
        )
    strange = [name for name in named if name not in model.frames or model.frames[name].body < 0]
    if strange:
        raise ValueError(f"links: no link that moves is named {strange[0]!r}; there are {', '.join(model.body_names)}")
    if len({model.frames[name].body for name in named}) < len(named):
        raise ValueError(f"links: expected each body once, got {', '.join(named)}")
    return named


def _check_joints(model: Model) -> None:
    several = [joint.name for joint in model.joints if joint.nv > 1]
    if model.is_floating or several:
        what = "a floating base" if model.is_floating else f"the joint {several[0]}"
        raise ValueError(
            f"acts_by: expected a fixed base and joints of one dof, on which efforts act, got '{model.name}' with "
            f"{what}: use wrenches"
        )


def _centre(model: Model, link: str) -> np.ndarray:
    """The centre of mass (3,) of a link's body, in the axes of the link."""
    frame = model.frame(link)
    centre = model.constants[frame.body, CENTRE : CENTRE + 3]
    return np.array(frame.X_BF[:3, :3].T @ (centre - frame.X_BF[:3, 3]))


def _carried(model: Model, links: Iterable[str]) -> list[float]:
    """The mass that hangs on each link, up to the next that is held [kg]."""
    holders = {model.frame(link).body: k for k, link in enumerate(links)}
    masses = [0.0] * len(holders)
    of_body: list[int | None] = []  # by which link each body is carried; parents come first
    for body in range(model.n_bodies):
        parent = int(model.topology[body, PARENT]) - 1
        of_body.append(holders.get(body, of_body[parent] if parent >= 0 else None))
        holder = of_body[body]
        if holder is not None:
            masses[holder] += float(model.constants[body, MASS])
    return masses


def _point(motions: dict[str, BodyMotion], anchor: Anchor) -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity (3,) of an anchor in the world."""
    if anchor.link == WORLD:
        return anchor.point, np.zeros(3)
    motion = motions[anchor.link]
    return motion.origin + motion.A @ anchor.point, motion.V + motion.A @ cross(motion.W, anchor.point - motion.centre)


def _add(wrenches: dict[str, np.ndarray], motions: dict[str, BodyMotion], anchor: Anchor, force: np.ndarray) -> None:
    """A force (3,) in the world at an anchor, to the wrench on its link."""
    if anchor.link == WORLD:
        return
    in_link = motions[anchor.link].A.T @ force
    wrench = np.concatenate([in_link, cross(anchor.point, in_link)])
    wrenches[anchor.link] = wrenches[anchor.link] + wrench if anchor.link in wrenches else wrench
