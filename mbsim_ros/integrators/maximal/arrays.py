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

from typing import Any, NamedTuple

ROWS = 6  # most rows of a joint
LOCAL = 7 + 1 + ROWS  # unknowns of a body: X, the multiplier of |q| = 1, and those of its joint


class MaximalTree(NamedTuple):
    """The robot, unchanging."""

    ints: Any  # (n, INT_COLUMNS)
    floats: Any  # (n, FLOAT_COLUMNS)
    centres: Any  # (n + 1, 3) centre of mass in the body frame
    joint_turns: Any  # (n, 4) quaternion of R_PJ


class MaximalState(NamedTuple):
    """What a step changes. (X, P) is all that the equations know; the others are guesses and readings."""

    X: Any  # (n + 1, 7) at the node
    P: Any  # (n, 7) momenta at the node, forces of the step before included
    X_before: Any  # (n + 1, 7) a step ago, for the guess
    multipliers: Any  # (n, 1 + ROWS) of the last step: γ, then λ and the impulse of the coordinate
    coordinates: Any  # (n,) angle or way of every joint that has one coordinate
    memory: Any  # (2,) what the last step left of its equations: momentum, relative; gap of the constraints


class MaximalContact(NamedTuple):
    """Points that may touch the ground, with W's state machine."""

    bodies: Any  # (points,)
    arms: Any  # (points, 4) from the centre of mass, in body axes; radius
    kind: int
    data: Any
    grid: Any
    parameters: Any  # (8,) as contact_kernel names them
    modes: Any  # (points,)
    decided: Any  # (points,) whether a point touches: OPEN, or held as it was late in a search
    anchors: Any  # (points, 3)
    deflections: Any  # (points, 3) for reports
    results: Any  # (points, RESULT_COLUMNS)
    energies: Any  # (6,)
    slopes: Any  # (2, 3, 3) ∂f/∂p and ∂f/∂v of the point at hand


class MaximalWork(NamedTuple):
    """Memory without meaning between steps."""

    X_next: Any  # (n + 1, 7) the unknown
    coordinates_next: Any  # (n,)
    known: Any  # (n, 7) P and what acts at the node whatever the step does
    unbalanced: Any  # (n, 7) W's f
    gaps: Any  # (n, 1 + ROWS) W's b and g
    M: Any  # (n, 7, 7)
    now_out: Any  # (n, ROWS, 7) derivative of a joint's rows by its outer body, at the node
    now_in: Any  # (n, ROWS, 7) and by its inner body
    next_out: Any  # (n, ROWS, 7) at the end of the step; the coordinate's row times its slope
    next_in: Any
    augmented: Any  # (LOCAL, LOCAL + 8) one body's matrix with right sides
    kept_multipliers: Any  # (n, 1 + ROWS) those before the step
    solved: Any  # (n, LOCAL, 8) what the elimination leaves: seven columns by ΔX of the inner body, one alone
    step: Any  # (n + 1, 7) ΔX, the world's being zero
    ways: Any  # (n,) force of every coordinate in the middle of the step
    forces: Any  # (n, 7) external forces in the middle of the step


class MaximalSystem(NamedTuple):
    """All of it."""

    tree: MaximalTree
    state: MaximalState
    joints: Any  # (7, nv), rows of integrators.layout: JOINT_…
    drives: Any  # (6, nv), rows of integrators.layout: DRIVE_…
    motors: Any  # (6, nv), the same for the columns of D, which are the dofs
    external: Any  # (n, 6) wrenches on bodies, in their axes at their origins
    gravity: Any  # (3,)
    contact: MaximalContact
    work: MaximalWork
    ledger: Any  # (LEDGER_COLUMNS,)
