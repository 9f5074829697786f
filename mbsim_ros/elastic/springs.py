# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Springs of a model: from links and points to the arrays of the kernels, and what they do at (q, v)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.dynamics import arguments as check
from mbsim_ros.dynamics.kernels.kinematics_kernel import body_motions_into, world_poses_into
from mbsim_ros.dynamics.layout import P_WB, R_WB, TWIST
from mbsim_ros.dynamics.workspace import Workspace, workspace_of
from mbsim_ros.elastic.springs_kernel import (
    CONSTANTS,
    DAMPING_TANGENT,
    LENGTH,
    SEGMENT_COLUMNS,
    STATES,
    STIFFNESS_TANGENT,
    generalised_forces_into,
    length_gradients_into,
    spring_wrenches_into,
)
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.sidecar.settings import Spring


@dataclass(frozen=True, eq=False)
class SpringSet:
    """Springs attached to the bodies of a model, as the kernels take them; arrays are read-only. Made by `attach`.

    Spring s has the points start[s] … start[s + 1] − 1.
    """

    model: Model = field(repr=False)
    names: tuple[str, ...]
    start: np.ndarray = field(repr=False)  # (springs + 1,) int64
    point_row: np.ndarray = field(repr=False)  # (points,) int64, row of the body in the workspace, 0 is the world
    point: np.ndarray = field(repr=False)  # (points, 3) in the body's frame
    constants: np.ndarray = field(repr=False)  # (springs, CONSTANTS)

    def __len__(self) -> int:
        return len(self.names)


def attach(model: Model, springs: Mapping[str, Spring] | Iterable[Spring] | None = None) -> SpringSet:
    """The springs, default those of the model's sidecar, attached to its bodies.

    Raises ValueError with every problem: unknown links, bad numbers, a spring that can never act.
    """
    if springs is None:
        springs = {} if model.sidecar is None else model.sidecar.springs
    listed = list(springs.values() if isinstance(springs, Mapping) else springs)
    problems = [problem for spring in listed for problem in _problems(model, spring)]
    names = tuple(spring.name for spring in listed)
    problems += [f"spring '{name}': given twice" for name in sorted({name for name in names if names.count(name) > 1})]
    if problems:
        raise ValueError("\n".join(problems))
    points = [point for spring in listed for point in spring.points]
    frames = [model.frame(point.link) for point in points]
    start = np.cumsum([0, *(len(spring.points) for spring in listed)], dtype=np.int64)
    rows = np.array([frame.body + 1 for frame in frames], dtype=np.int64)
    placed = [f.X_BF[:3, :3] @ np.array(p.point) + f.X_BF[:3, 3] for f, p in zip(frames, points, strict=True)]
    constants = [(s.stiffness, s.rest_length, s.damping, float(s.tension_only)) for s in listed]
    return SpringSet(
        model, names, _constant(start), _constant(rows), _constant(np.array(placed, dtype=float).reshape(-1, 3)),
        _constant(np.array(constants, dtype=float).reshape(-1, CONSTANTS)),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SpringAction:
    """What springs do at (q, v). `states` and `segments` have the columns that the kernel names."""

    stored: float  # energy in all springs [J]
    dissipated: float  # power of all dampers [W]
    states: np.ndarray = field(repr=False)  # (springs, STATES): length, rate, tension, …
    segments: np.ndarray = field(repr=False)  # (points, SEGMENT_COLUMNS)
    wrenches: np.ndarray = field(repr=False)  # (bodies, 6) in world axes about the world's origin
    rows: np.ndarray = field(repr=False)  # where the bodies are; the next call in this workspace overwrites it


def spring_action(
    model: Model, springs: SpringSet, q: ArrayLike, v: ArrayLike | None = None, *, workspace: Workspace | None = None
) -> SpringAction:
    """Lengths, tensions, energy and wrenches of all springs at q (nq,) and v (nv,), at rest without."""
    if springs.model is not model:
        raise ValueError(f"springs: expected those of model '{model.name}', got those of '{springs.model.name}'")
    q_tree = check.configuration(model, q)
    ws = workspace_of(model, workspace)
    world_poses_into(model.topology, model.constants, q_tree, ws.sincos, ws.rows)
    twists = np.zeros((model.n_bodies, 6))
    if v is not None:
        body_motions_into(model.topology, check.velocity(model, v), np.zeros(len(model.dof_parent)), ws.rows)
        twists = _world_twists(ws.rows[1:])
    segments, states = np.empty((len(springs.point), SEGMENT_COLUMNS)), np.empty((len(springs), STATES))
    wrenches = np.zeros((model.n_bodies, 6))
    stored, dissipated = spring_wrenches_into(
        springs.start, springs.point_row, springs.point, springs.constants, ws.rows, twists, segments, states, wrenches
    )
    check.finite_result("springs", wrenches.ravel(), q=q, v=np.zeros(0) if v is None else v)
    return SpringAction(stored, dissipated, states, segments, wrenches, ws.rows)


def spring_energy(model: Model, springs: SpringSet, q: ArrayLike, *, workspace: Workspace | None = None) -> float:
    """What all springs store at q (nq,) [J], G (2.3), (2.4)."""
    return spring_action(model, springs, q, workspace=workspace).stored


def spring_forces(
    model: Model, springs: SpringSet, q: ArrayLike, v: ArrayLike | None = None, *, workspace: Workspace | None = None
) -> np.ndarray:
    """Generalised forces (nv,) of all springs at q (nq,), v (nv,): minus the gradient of their energy, and damping."""
    action = spring_action(model, springs, q, v, workspace=workspace)
    tau = np.empty(len(model.dof_parent))
    generalised_forces_into(model.topology, action.rows, action.wrenches, tau)
    return model.reduce_forces(tau)


def spring_lengths(model: Model, springs: SpringSet, q: ArrayLike, *, workspace: Workspace | None = None) -> np.ndarray:
    """Length of each spring (springs,) at q (nq,), all its segments together, G (2.6)."""
    return spring_action(model, springs, q, workspace=workspace).states[:, LENGTH].copy()


def spring_stiffness(
    model: Model, springs: SpringSet, q: ArrayLike, v: ArrayLike | None = None, *, workspace: Workspace | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping (nv, nv) along the springs at q, v: Σ k g gᵀ and Σ d g gᵀ, g the gradient of a length.

    Both are positive semidefinite. What the turning of the segments adds to the stiffness is not in them.
    """
    action = spring_action(model, springs, q, v, workspace=workspace)
    g = np.empty((len(springs), len(model.dof_parent)))
    length_gradients_into(model.topology, springs.start, springs.point_row, action.rows, action.segments, g)
    g = g if model.mimic is None else g @ model.mimic.matrix(model.nv)
    k, d = action.states[:, STIFFNESS_TANGENT], action.states[:, DAMPING_TANGENT]
    return (g.T * k) @ g, (g.T * d) @ g


def _world_twists(rows: np.ndarray) -> np.ndarray:
    """Twists (bodies, 6) in world axes about the world's origin, from those in the body frames."""
    R, p = rows[:, R_WB : R_WB + 9].reshape(-1, 3, 3), rows[:, P_WB : P_WB + 3]
    linear = np.einsum("bij,bj->bi", R, rows[:, TWIST : TWIST + 3])
    angular = np.einsum("bij,bj->bi", R, rows[:, TWIST + 3 : TWIST + 6])
    return np.ascontiguousarray(np.hstack([linear + np.cross(p, angular), angular]))


def _problems(model: Model, spring: Spring) -> list[str]:
    who = f"spring '{spring.name}'"
    problems = []
    for name in ("stiffness", "rest_length", "damping"):
        value = getattr(spring, name)
        if not (math.isfinite(value) and value >= 0.0):
            problems.append(f"{who}: expected a {name.replace('_', ' ')} of zero or more, got {value}")
    for place in spring.points:
        if place.link not in model.frames:
            hint = did_you_mean(place.link, model.frames, "see the URDF", 0)
            problems.append(f"{who}: no link named '{place.link}': {hint}")
        if len(place.point) != 3 or not all(math.isfinite(value) for value in place.point):
            problems.append(f"{who}: expected a point of three finite numbers on '{place.link}', got {place.point}")
    if len(spring.points) < 2:
        problems.append(f"{who}: expected two points or more, got {len(spring.points)}")
    elif not problems and len({model.frame(place.link).body for place in spring.points}) == 1:
        problems.append(f"{who}: all its points are on one body, so it can never act: name links that move apart")
    return problems


def _constant(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
