# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Cable drives: joints whose rotation is measured from a link further inboard than the one they hang on, N (29).

A motor on that link turns the joint's pulley by cables that run along the links between. What the motor turns is then
not the joint's own angle but how far the link beyond it has turned about the joint's axis e_j, seen from the motor:

    e_j · (ω_j − ω_inboard) = r'_j + Σ_i (e_j · e_i) r'_i        over the joints i between,

so the row of the joint is what its motors drive less Σ_i (e_j · e_i) times the rows of the joints between. With
parallel axes that is N's −1, the zeros in C^R of (29); N's printed form holds only for those, since a revolute joint
cannot undo a rotation about another axis: of that only the part along its own one is undone.

The products e_j · e_i are constants where at most the joint nearest to the inboard link has an axis that is not
parallel, which is N's own case: a motor two bodies inboard, any angle between the axes. Further inboard with axes that
are not parallel they would change with the configuration, and D with them: that is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbsim_ros.coupling.definition import CouplingError
from mbsim_ros.coupling.rows import Row, tree_dof
from mbsim_ros.dynamics.jacobian import motion_subspaces
from mbsim_ros.model.joint_kinds import KINDS
from mbsim_ros.model.model import IV, KIND, PARENT, Model

PARALLEL = 1e-9  # how far a product of two unit axes may be from ±1, or from 0
TINY = 1e-14  # of a ratio: rounding of axes at a right angle


def add_cables(model: Model, measured_from: Mapping[str, str], rows: list[Row]) -> None:
    """Take from the rows of these joints what the joints between them and the links they are measured from turn."""
    if not measured_from:
        return
    axes = motion_subspaces(model, model.neutral)[3:].T
    for joint in (joint.name for joint in model.joints if joint.name in measured_from):  # those inboard first
        dof = tree_dof(model, joint)
        for other, product in _products(model, joint, measured_from[joint], axes).items():
            for column, ratio in rows[other].items():
                rows[dof][column] = rows[dof].get(column, 0.0) - product * ratio
        largest = max(map(abs, rows[dof].values()), default=0.0)
        rows[dof] = {column: ratio for column, ratio in rows[dof].items() if abs(ratio) > TINY * largest}


def _products(model: Model, joint: str, link: str, axes: np.ndarray) -> dict[int, float]:
    """e_j · e_i by dof of the joints between; CouplingError where they are no constants."""
    dof, found = tree_dof(model, joint), dict[int, float]()
    between = bodies_between(model, joint, link)
    for body in between:
        first = int(model.topology[body, IV])
        dofs = range(first, first + _COUNTS[int(model.topology[body, KIND])])
        own = {other: float(axes[dof] @ axes[other]) for other in dofs}
        found |= own
        is_parallel = len(own) == 1 and abs(abs(own[first]) - 1.0) <= PARALLEL
        if body != between[-1] and axes[dofs].any() and not is_parallel:
            raise CouplingError(
                f"joint '{joint}' measured from '{link}': the joint of '{model.body_names[body]}' between them turns "
                "about another axis, so D would change with the configuration: measure it from a link nearer to it"
            )
    return {other: product for other, product in found.items() if abs(product) > PARALLEL}


def bodies_between(model: Model, joint: str, link: str) -> list[int]:
    """The bodies between a joint and a link inboard of it, outboard ones first; CouplingError if it is not inboard."""
    body, goal = int(model.topology[model.joint(joint).body, PARENT]) - 1, model.frames[link].body
    found = []
    while body not in (goal, -1):
        found.append(body)
        body = int(model.topology[body, PARENT]) - 1
    if body != goal:
        raise CouplingError(f"joint '{joint}' measured from '{link}': that link is not between it and the root")
    return found


_COUNTS = {kind.number: kind.nv for kind in KINDS.values()}
