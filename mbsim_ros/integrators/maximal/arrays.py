# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arrays of a step in maximal coordinates: every body by its centre of mass and a unit quaternion.

A body's state X is (x, y, z, qw, qx, qy, qz), its momentum P has the same seven places. Sizes: n bodies; arrays of
states have one row more, row 0 being the world, as PARENT counts. A joint has up to six rows: its constraints, and
after them, where it has one coordinate, the row of that coordinate, through which drives and rotors act.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROWS = 6  # most rows of a joint
LOCAL = 7 + 1 + ROWS  # unknowns of a body: X, the multiplier of |q| = 1, and those of its joint


class MaximalTree(NamedTuple):
    """The robot, unchanging."""

    topology: np.ndarray  # (n, INT_COLUMNS)
    constants: np.ndarray  # (n, FLOAT_COLUMNS)
    centres: np.ndarray  # (n + 1, 3) centre of mass in the body frame
    joint_turns: np.ndarray  # (n, 4) quaternion of R_PJ


class MaximalState(NamedTuple):
    """What a step changes. (X, P) is all that the equations know; the others are guesses and readings."""

    X: np.ndarray  # (n + 1, 7) at the node
    P: np.ndarray  # (n, 7) momenta at the node, forces of the step before included
    X_before: np.ndarray  # (n + 1, 7) a step ago, for the guess
    multipliers: np.ndarray  # (n, 1 + ROWS) of the last step: γ, then λ and the impulse of the coordinate
    coordinates: np.ndarray  # (n,) angle or way of every joint that has one coordinate
    memory: np.ndarray  # (2,) what the last step left of its equations: momentum, relative; gap of the constraints


class MaximalContact(NamedTuple):
    """Points that may touch the ground, with W's state machine or with the laws of contact/laws inside the solve."""

    bodies: np.ndarray  # (points,)
    arms: np.ndarray  # (points, 4) from the centre of mass, in body axes; radius
    kind: int
    data: np.ndarray
    grid: np.ndarray
    parameters: np.ndarray  # (points, 14) as contact.layout names them
    modes: np.ndarray  # (points,)
    decided: np.ndarray  # (points,) whether a point touches: OPEN, or held as it was late in a search
    anchors: np.ndarray  # (points, 3)
    deflections: np.ndarray  # (points, 3) of the springs along the ground; of W's machine for reports
    results: np.ndarray  # (points, RESULT_COLUMNS)
    energies: np.ndarray  # (6,)
    slopes: np.ndarray  # (2, 3, 3) ∂f/∂p and ∂f/∂v of the point at hand
    inside: bool  # whether the law is one of contact/laws, and not W's


class MaximalWork(NamedTuple):
    """Memory without meaning between steps."""

    X_next: np.ndarray  # (n + 1, 7) the unknown
    coordinates_next: np.ndarray  # (n,)
    known: np.ndarray  # (n, 7) P and what acts at the node whatever the step does
    unbalanced: np.ndarray  # (n, 7) W's f
    gaps: np.ndarray  # (n, 1 + ROWS) W's b and g
    M: np.ndarray  # (n, 7, 7)
    now_out: np.ndarray  # (n, ROWS, 7) derivative of a joint's rows by its outer body, at the node
    now_in: np.ndarray  # (n, ROWS, 7) and by its inner body
    next_out: np.ndarray  # (n, ROWS, 7) at the end of the step; the coordinate's row times its slope
    next_in: np.ndarray
    augmented: np.ndarray  # (LOCAL, LOCAL + 8) one body's matrix with right sides
    kept_multipliers: np.ndarray  # (n, 1 + ROWS) those before the step
    solved: np.ndarray  # (n, LOCAL, 8) what the elimination leaves: seven columns by ΔX of the inner body, one alone
    step: np.ndarray  # (n + 1, 7) ΔX, the world's being zero
    ways: np.ndarray  # (n,) force of every coordinate in the middle of the step
    forces: np.ndarray  # (n, 7) external forces in the middle of the step


class MaximalSystem(NamedTuple):
    """All of it."""

    tree: MaximalTree
    state: MaximalState
    joints: np.ndarray  # (7, nv), rows of integrators.layout: JOINT_…
    drives: np.ndarray  # (6, nv), rows of integrators.layout: DRIVE_…
    motors: np.ndarray  # (6, nv), the same for the columns of D, which are the dofs
    external: np.ndarray  # (n, 6) wrenches on bodies, in their axes at their origins
    gravity: np.ndarray  # (3,)
    contact: MaximalContact
    work: MaximalWork
    ledger: np.ndarray  # (LEDGER_COLUMNS,)
