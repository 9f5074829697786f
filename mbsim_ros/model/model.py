# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Model`: a robot as the algorithms use it. Immutable; everything that changes lives elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbsim_ros.model.assembly.base_choice import BaseChoice
from mbsim_ros.model.description import RobotDescription
from mbsim_ros.model.sidecar.settings import Sidecar

# Columns of Model.topology: one row per body, in an order in which parents come first and subtrees are contiguous.
# PARENT: row of the parent, where row 0 is the world and body i has row i + 1. END: one past the last of the subtree.
PARENT, KIND, IQ, IV, END = range(5)
INT_COLUMNS = 5
# Columns of Model.constants.
ROTATION, TRANSLATION = 0, 9  # R_PJ row by row, p_PJ: the joint's frame in the parent body
MASS, MOMENT, INERTIA = 12, 13, 16  # m, m·c, inertia about the body's origin (xx yy zz xy xz yz)
CENTRE, CENTRAL_INERTIA = 22, 25  # c, inertia about the centre of mass
ROTOR = 31
FLOAT_COLUMNS = 32


@dataclass(frozen=True)
class Frame:
    """A link's (or joint's) frame: which body it is fixed to (-1: the world) and where, X_BF (4, 4)."""

    name: str
    body: int
    X_BF: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class ModelJoint:
    """A joint that moves: where its coordinates are. `iq` and `iv` are -1 for a mimic joint, which has none."""

    name: str
    type: str
    body: int
    iq: int
    iv: int
    nq: int
    nv: int
    child_link: str


@dataclass(frozen=True)
class Coordinates:
    """How the coordinates of the tree follow from those of the model: the same, except for mimic joints.

    q_tree = ratio_q · q[source_q] + offset_q, v_tree = ratio_v · v[source_v], entry by entry.
    """

    source_q: np.ndarray
    ratio_q: np.ndarray
    offset_q: np.ndarray
    source_v: np.ndarray
    ratio_v: np.ndarray

    def matrix(self, nv: int) -> np.ndarray:
        """G (tree nv, nv) with v_tree = G v."""
        G = np.zeros((len(self.source_v), nv))
        G[np.arange(len(self.source_v)), self.source_v] = self.ratio_v
        return G


@dataclass(frozen=True, eq=False)
class Model:
    """A robot: its tree of bodies in flat arrays, its names, its description.

    `q` has nq and `v` has nv entries in Pinocchio's layout (see docs/notation.md). Make one with `load_urdf` or
    `make_model`.
    """

    name: str
    description: RobotDescription = field(repr=False)
    is_floating: bool
    nq: int
    nv: int
    topology: np.ndarray = field(repr=False)  # (bodies, INT_COLUMNS) int64, read-only
    constants: np.ndarray = field(repr=False)  # (bodies, FLOAT_COLUMNS) float64, read-only
    dof_parent: np.ndarray = field(repr=False)  # (tree nv,) the dof before each on the way to the root, -1 if none
    body_names: tuple[str, ...] = field(repr=False)  # the link whose joint moves the body
    joints: tuple[ModelJoint, ...] = field(repr=False)  # in order, mimic joints included, the floating base not
    frames: Mapping[str, Frame] = field(repr=False)  # by link name
    joint_frames: Mapping[str, Frame] = field(repr=False)  # by joint name, fixed joints included
    mimic: Coordinates | None = field(default=None, repr=False)
    sidecar: Sidecar | None = field(default=None, repr=False)
    quaternions: tuple[int, ...] = field(default=(), repr=False)  # where in q the quaternions (x, y, z, w) begin
    neutral: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)  # q with every joint at zero
    lower: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)  # (nv,) position limits, ±inf where none
    upper: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    effort_limit: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)  # (nv,)
    velocity_limit: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)  # (nv,)
    damping: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)  # (nv,)
    friction: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)  # (nv,)

    base_choice: BaseChoice = field(default=BaseChoice(True, ""), repr=False)  # why it floats, or does not
    scratch: dict[int, Any] = field(default_factory=dict, repr=False)  # workspaces by thread; no part of the model

    @property
    def n_bodies(self) -> int:
        """Number of moving bodies."""
        return len(self.topology)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move, in the order of q, mimic joints included."""
        return tuple(joint.name for joint in self.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, in the order of the file."""
        return tuple(link.name for link in self.description.links)

    @property
    def mass(self) -> float:
        """Total moving mass [kg]."""
        return float(self.constants[:, MASS].sum())

    def joint(self, name: str) -> ModelJoint:
        """The moving joint of this name; KeyError says which there are."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise KeyError(f"no moving joint named {name!r}; there are: {', '.join(self.joint_names)}")

    def frame(self, link: str) -> Frame:
        """The frame of a link; KeyError says which there are."""
        try:
            return self.frames[link]
        except (KeyError, TypeError):  # of what is no name at all, too
            raise KeyError(f"no link named {link!r}; there are: {', '.join(self.frames)}") from None

    def tree_q(self, q: np.ndarray) -> np.ndarray:
        """Coordinates of the tree: q with the mimic joints filled in."""
        m = self.mimic
        return q if m is None else m.ratio_q * q[m.source_q] + m.offset_q

    def tree_v(self, v: np.ndarray) -> np.ndarray:
        """Velocities of the tree: v with those of the mimic joints filled in."""
        m = self.mimic
        return v if m is None else m.ratio_v * v[m.source_v]

    def reduce_forces(self, tau_tree: np.ndarray) -> np.ndarray:
        """Generalised forces of the model from those of the tree: those of mimic joints act on their leader."""
        m = self.mimic
        return tau_tree if m is None else np.bincount(m.source_v, m.ratio_v * tau_tree, self.nv)

    def q_to_pinocchio(self, q: np.ndarray) -> np.ndarray:
        """This q in Pinocchio's layout, where continuous and planar angles are (cos, sin) and mimic joints stand."""
        q_tree = self.tree_q(np.asarray(q, dtype=float))
        parts = [q_tree[:7]] if self.is_floating else []
        at = 7 if self.is_floating else 0
        for joint in self.joints:
            own = q_tree[at : at + joint.nq]
            at += joint.nq
            turns = joint.type in ("continuous", "planar")
            parts.append(np.concatenate([own[:-1], [np.cos(own[-1]), np.sin(own[-1])]]) if turns else own)
        return np.concatenate(parts) if parts else np.zeros(0)

    def with_(
        self,
        *,
        mass: float | Mapping[str, float] | None = None,
        payload: Mapping[str, float | Sequence] | None = None,
        friction: float | None = None,
        damping: float | Mapping[str, float] | None = None,
    ) -> Model:
        """The same robot with other numbers, as another model; this one stays what it is.

        mass: a factor for all links, or masses [kg] by link; the inertia of a link grows with its mass.
        payload: by link a mass [kg] at its origin, (mass, (x, y, z)) in its frame, as a point that is fixed there, or
            (mass, (x, y, z), inertia) with its inertia [kg m²] about that point, as `Simulation.set_payload` has it.
        friction: coefficient of the robot's contact. damping: a factor for all joints, or dampings by joint.
        """
        from mbsim_ros.model.variation import varied

        return varied(self, mass, payload, friction, damping)

    def __str__(self) -> str:
        from mbsim_ros.model.summary import summary

        return summary(self)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as what it was made from: smaller, and never half of it."""
        from mbsim_ros.model.assembly.assemble import make_model

        return make_model, (self.description, "floating" if self.is_floating else "fixed", self.sidecar)
