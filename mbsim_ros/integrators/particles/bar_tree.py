# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Point masses on bars, as robots: which trees of joints they are.

A bar hangs by a ball joint, or by two hinges that cross in its pivot (a link without mass between them), and has its
mass at one point. Other bars hang from that point. A bar on a ball joint may have inertia about itself, which a point
has not: nothing turns it about itself, so that it never turns if it does not at the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbsim_ros.integrators.capability import listed
from mbsim_ros.integrators.particles.system import Particles
from mbsim_ros.model.joint_kinds import REVOLUTE, SPHERICAL
from mbsim_ros.model.model import (
    CENTRAL_INERTIA,
    CENTRE,
    INERTIA,
    IQ,
    IV,
    KIND,
    MASS,
    PARENT,
    ROTATION,
    ROTOR,
    TRANSLATION,
    Model,
)

NEARLY = 1e-9  # of a length, or of m l²: how exact masses are points and pivots meet


@dataclass(frozen=True, eq=False)
class RigidBar:
    """A bar: where its joint is in its parent's axes, and where its mass is in its own."""

    name: str
    body: int
    cross: int  # the body between two hinges, −1 where there is none
    parent: int  # the bar that it hangs from, −1 for the world
    is_ball: bool
    R_PJ: np.ndarray  # (3, 3) axes of the ball joint or of the first hinge in the parent
    R_JK: np.ndarray  # (3, 3) axes of the second hinge after the first
    pivot: np.ndarray  # (3,) in the world, of bars that hang from it
    end: np.ndarray  # (3,) the mass, in the bar's axes
    mass: float
    iq: tuple[int, ...]
    iv: tuple[int, ...]


def bars_of(model: Model) -> tuple[list[RigidBar], list[str]]:
    """The bars of a model, parents first, and what keeps it from being a tree of point masses on bars."""
    if model.is_floating or model.mimic is not None or model.n_bodies == 0:
        return [], ["it does not hang from the world" if model.is_floating else "it has mimic joints, or none"]
    problems = [f"joint '{j.name}' has a rotor" for j in model.joints if model.constants[j.body, ROTOR] != 0.0]
    bars: list[RigidBar] = []
    bar_of_body: dict[int, int] = {-1: -1}
    crosses: dict[int, int] = {}  # bodies without mass between two hinges, and the bar that they hang from
    for body in range(model.n_bodies):
        parent, name = int(model.topology[body, PARENT]) - 1, model.body_names[body]
        is_free = not model.constants[body, MASS] and not model.constants[body, INERTIA : INERTIA + 6].any()
        kind, row = int(model.topology[body, KIND]), model.constants[body]
        if kind == REVOLUTE and is_free and parent in bar_of_body:
            crosses[body] = parent
            continue
        found = _bar(model, body, parent, bar_of_body, crosses)
        if isinstance(found, str):
            problems.append(f"link '{name}': {found}")
            continue
        at = row if found.is_ball else model.constants[parent]
        hung = at[TRANSLATION : TRANSLATION + 3] - (bars[found.parent].end if found.parent >= 0 else found.pivot)
        if np.linalg.norm(hung) > NEARLY * np.linalg.norm(found.end):
            problems.append(f"link '{name}' does not hang from the mass of '{bars[found.parent].name}'")
        bar_of_body[body] = len(bars)
        bars.append(found)
    unused = [model.body_names[body] for body in crosses if (model.topology[:, PARENT] == body + 1).sum() != 1]
    if unused:
        problems.append(f"links without mass that do not carry one hinge each: {listed(unused)}")
    return bars, problems


def particles_of(bars: list[RigidBar], gravity: np.ndarray) -> Particles:
    """The masses and bars, in places from the pivot in the world of each; gravity (3,) stays this very array."""
    ends = np.array([[i, bar.parent] for i, bar in enumerate(bars)], dtype=np.int64)
    lengths = np.array([np.linalg.norm(bar.end) for bar in bars])
    return Particles(np.array([bar.mass for bar in bars]), ends, lengths, gravity)


def _bar(model: Model, body: int, parent: int, bar_of_body: dict[int, int], crosses: dict[int, int]) -> RigidBar | str:
    """The bar that a body is, or why it is none."""
    row, kind = model.constants[body], int(model.topology[body, KIND])
    end, mass = row[CENTRE : CENTRE + 3].copy(), float(row[MASS])
    length = float(np.linalg.norm(end))
    xx, yy, zz, xy, xz, yz = row[CENTRAL_INERTIA : CENTRAL_INERTIA + 6]
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not mass > 0.0 or not length > 0.0:
        return "it has no mass away from its joint"
    is_ball = kind == SPHERICAL and parent in bar_of_body
    is_near = float(np.linalg.norm(row[TRANSLATION : TRANSLATION + 3])) <= NEARLY * length
    is_crossed = kind == REVOLUTE and parent in crosses and is_near
    if not (is_ball or is_crossed):
        return "it has neither a ball joint nor two hinges that cross in one point"
    along = end / length
    if is_ball:
        inertia = inertia - (along @ inertia @ along) * np.outer(along, along)
    if np.abs(inertia).max() > NEARLY * mass * length * length:
        return f"its mass is no point: it has {np.abs(inertia).max():.3g} kg m² about its centre of mass"
    R = row[ROTATION : ROTATION + 9].reshape(3, 3).copy()
    iq, iv = int(model.topology[body, IQ]), int(model.topology[body, IV])
    name = model.body_names[body]
    if is_ball:
        pivot = row[TRANSLATION : TRANSLATION + 3].copy()
        hung = bar_of_body[parent]
        return RigidBar(name, body, -1, hung, True, R, np.eye(3), pivot, end, mass, (iq,), (iv, iv + 1, iv + 2))
    if abs(R[2, 2]) > 1.0 - NEARLY or np.hypot(end[0], end[1]) < NEARLY * length:
        return "its two hinges do not turn it every way"
    first = model.constants[parent]
    pivot = first[TRANSLATION : TRANSLATION + 3].copy()
    R_PJ = first[ROTATION : ROTATION + 9].reshape(3, 3).copy()
    before = model.topology[parent]
    hung = bar_of_body[crosses[parent]]
    own = (int(before[IQ]), iq), (int(before[IV]), iv)
    return RigidBar(name, body, parent, hung, False, R_PJ, R, pivot, end, mass, *own)
