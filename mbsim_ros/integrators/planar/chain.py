# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`PlanarChain`: links in a row that turn about parallel axes, as the schemes of G take them.

The plane is the complex plane. Link i points along d_i = exp(iθ_i), θ_i its absolute angle, zero where every joint is
at zero; joint i + 1, its centre of mass and the points where springs are fastened to it are at complex multiples of d_i
from joint i. So centres of mass need not lie between the joints, G (3.21).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.energy import energy
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.elastic import SpringSet, attach
from mbsim_ros.elastic.springs_kernel import SPRING_DAMPING
from mbsim_ros.integrators.capability import listed, resisting_joints
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.planar.chain_kernel import chain_energy
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import CENTRAL_INERTIA, CENTRE, KIND, MASS, PARENT, ROTOR, Model

PARALLEL = 1e-9  # [1] how far axes may be from parallel, [m] how far a spring may leave the plane


@dataclass(frozen=True, eq=False)
class PlanarChain:
    """A chain of n links in its plane, with springs and weight. Made by `planar_chain`."""

    model: Model = field(repr=False)
    mass_matrix: np.ndarray = field(repr=False)  # (n, n) complex, G (3.32) with ERRATA A1, of the directions' rates
    weight: np.ndarray = field(repr=False)  # (n,) complex, gradient of the weight's potential
    start: np.ndarray = field(repr=False)  # (springs + 1,) int64, first segment of each spring
    offset: np.ndarray = field(repr=False)  # (segments,) complex
    coefficient: np.ndarray = field(repr=False)  # (segments, n) complex: a segment is offset + coefficient · d
    constants: np.ndarray = field(repr=False)  # (springs, 4), as of elastic.springs_kernel
    centres: np.ndarray = field(repr=False)  # (n, n) complex: centres of mass are base + centres · d
    base: complex  # place of the first joint
    sign: np.ndarray = field(repr=False)  # (n,) ±1: which way the axis of each joint points
    potential_at_zero: float  # added to potentials, so that they are those of dynamics.energy
    gravity: np.ndarray = field(repr=False)  # (3,)
    springs: SpringSet = field(repr=False)

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the kernels take."""
        return self.mass_matrix, self.weight, self.start, self.offset, self.coefficient, self.constants

    def absolute(self, joints: ArrayLike) -> np.ndarray:
        """Absolute angles or rates (n,) of the links, from those of the joints."""
        return np.cumsum(self.sign * np.asarray(joints, dtype=float))

    def relative(self, links: np.ndarray) -> np.ndarray:
        """Angles or rates (n,) of the joints, from the absolute ones of the links."""
        return self.sign * np.diff(links, prepend=0.0)

    def energies(self, d: np.ndarray, rate: np.ndarray) -> tuple[float, float]:
        """Kinetic and potential energy at directions d (n,) that change by rate (n,), both complex."""
        kinetic, potential = chain_energy(self.arrays, d, rate)
        return kinetic, potential + self.potential_at_zero

    def weight_energy(self, d: np.ndarray) -> float:
        """Potential energy of the weight alone at directions d (n,)."""
        return float((self.weight.conj() @ d).real) + self.potential_at_zero

    def under(self, gravity: np.ndarray) -> PlanarChain:
        """The same under another gravity (3,)."""
        return planar_chain(self.model, self.springs, gravity, resisted=True)

    def joint_energies(self, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
        """Kinetic and potential energy at joint angles q (n,) and rates v (n,)."""
        d = np.exp(1j * self.absolute(q))
        return self.energies(d, 1j * self.absolute(v) * d)


def planar_chain(
    model: Model, springs: SpringSet | None = None, gravity: ArrayLike | None = None, *, resisted: bool = False
) -> PlanarChain:
    """The model as a planar chain with springs, default those of its sidecar, and gravity (3,), default 9.81 down.

    resisted: whether damping and friction of joints, which are no part of a chain, are told to its scheme.

    Raises UnsupportedModel with everything that stands in the way: another topology, axes that are not parallel, parts
    that take energy.
    """
    springs = attach(model) if springs is None else springs
    g = GRAVITY if gravity is None else check.gravity_vector(gravity)
    if springs.model is not model:
        raise ValueError(f"springs: expected those of model '{model.name}', got those of '{springs.model.name}'")
    problems = chain_obstacles(model, springs) + ([] if resisted else _resisting(model))
    if problems:
        raise UnsupportedModel(
            f"'{model.name}' is not a conservative planar chain: {'; '.join(problems)}; "
            "the integrator 'lie_variational' covers it"
        )
    X_WB = forward_kinematics(model, model.neutral).X_WB
    axes = X_WB[:, :3, 2]  # a body has its joint's axis as z
    first, second = _plane(axes[0])

    def in_plane(place: np.ndarray) -> np.ndarray:
        return place @ first + 1j * (place @ second)

    joints = in_plane(X_WB[:, :3, 3])
    arms = np.append(np.diff(joints), 0.0)  # from each joint to the next
    centre = in_plane(np.einsum("bij,bj->bi", X_WB[:, :3, :3], model.constants[:, CENTRE : CENTRE + 3]))
    centres = np.tril(np.tile(arms, (len(arms), 1)), -1) + np.diag(centre)
    mass = model.constants[:, MASS]
    # T = ½ Σ m |ẋ|² + ½ Σ J |ḋ|², G (3.24), (3.27), for |ḋ_i| is the link's rate
    mass_matrix = centres.conj().T @ (mass[:, None] * centres) + np.diag(model.constants[:, CENTRAL_INERTIA + 2])
    weight = -centres.conj().T @ (mass * in_plane(g))  # G (3.36)
    start, offset, coefficient = _segments(springs, X_WB, arms, joints, in_plane)
    neutral = energy(model, model.neutral, np.zeros(model.nv), g).potential
    return PlanarChain(
        model, mass_matrix, weight, start, offset, coefficient, np.array(springs.constants), centres,
        complex(joints[0]), np.sign(axes @ axes[0]), neutral - float(weight.real.sum()),
        np.array(g, dtype=float), springs,
    )  # fmt: skip


def _plane(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two directions across the axis: the first along the world's x if that can be, and axis × first."""
    start = np.eye(3)[0] if abs(axis[0]) < 0.9 else np.eye(3)[1]
    first = start - axis * (axis @ start)
    first = first / np.linalg.norm(first)
    return first, np.cross(axis, first)


def _segments(
    springs: SpringSet,
    X_WB: np.ndarray,
    arms: np.ndarray,
    joints: np.ndarray,
    in_plane: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the segments of each spring start, and each segment as offset + coefficient · d, G (2.6)."""
    n = len(arms)
    offsets, rows = np.zeros(len(springs.point), dtype=complex), np.zeros((len(springs.point), n), dtype=complex)
    for k, (row, point) in enumerate(zip(springs.point_row, springs.point, strict=True)):
        if row == 0:
            offsets[k] = in_plane(point)
        else:
            offsets[k] = joints[0]
            rows[k, : row - 1] = arms[: row - 1]
            rows[k, row - 1] = in_plane(X_WB[row - 1, :3, :3] @ point)
    inner = [k for s in range(len(springs)) for k in range(springs.start[s], springs.start[s + 1] - 1)]
    start = np.array(springs.start) - np.arange(len(springs) + 1)
    after = [k + 1 for k in inner]
    return start.astype(np.int64), offsets[after] - offsets[inner], rows[after] - rows[inner]


def chain_obstacles(model: Model, springs: SpringSet | None) -> list[str]:
    """What keeps a model with springs from being a planar chain; nothing where it is one."""
    return _topology(model) or _obstacles(model, attach(model, ()) if springs is None else springs)


def _topology(model: Model) -> list[str]:
    problems = []
    if model.is_floating:
        problems.append("its base floats (base='fixed' holds it)")
    if model.mimic is not None:
        problems.append("it has mimic joints")
    if model.n_bodies == 0:
        problems.append("it has no joint that moves")
    elif not np.array_equal(model.topology[:, PARENT], np.arange(model.n_bodies)):
        off = [i for i in range(model.n_bodies) if model.topology[i, PARENT] != i]
        problems.append(f"it branches at {listed([model.body_names[i] for i in off])}")
    others = [f"{joint.name} ({joint.type})" for joint in model.joints if model.topology[joint.body, KIND] != REVOLUTE]
    if others:
        problems.append(f"it has joints that are not revolute: {listed(others)}")
    return problems


def _resisting(model: Model) -> list[str]:
    return [f"it has {what} at {listed(names)}" for what, names in resisting_joints(model).items()]


def _obstacles(model: Model, springs: SpringSet) -> list[str]:
    problems = []
    names = model.joint_names
    X_WB = forward_kinematics(model, model.neutral).X_WB
    axes = X_WB[:, :3, 2]  # a body has its joint's axis as z
    turned = [names[i] for i in range(len(axes)) if np.linalg.norm(np.cross(axes[i], axes[0])) > PARALLEL]
    if turned:
        problems.append(f"the axes of {', '.join(turned)} are not parallel to that of {names[0]}")
    rotors = [name for name, value in zip(names, model.constants[:, ROTOR], strict=True) if value != 0.0]
    if rotors:
        problems.append(f"it has rotors at {listed(rotors)}")
    for s, name in enumerate(springs.names):
        if springs.constants[s, SPRING_DAMPING] != 0.0:
            problems.append(f"spring '{name}' has damping")
        heights = []
        for k in range(springs.start[s], springs.start[s + 1]):
            X = X_WB[springs.point_row[k] - 1] if springs.point_row[k] > 0 else np.eye(4)
            heights.append(axes[0] @ (X[:3, :3] @ springs.point[k] + X[:3, 3]))
        if not turned and np.ptp(heights) > PARALLEL:
            problems.append(f"spring '{name}' leaves the plane by {np.ptp(heights):.3g} m")
    return problems
