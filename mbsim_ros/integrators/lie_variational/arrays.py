# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arrays that a step works on, in named groups: what the kernels take instead of a hundred arguments.

Numba passes a named tuple of arrays as it passes the arrays. Sizes: nv and nq of the tree (mimic joints included), nu
independent velocities (v = D u), nb bodies, nr roots that float.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbsim_ros.contact.culling.pairs import PairCulling
from mbsim_ros.contact.culling.points import Culling


class Tree(NamedTuple):
    """The model, unchanging."""

    topology: np.ndarray  # (nb, INT_COLUMNS)
    constants: np.ndarray  # (nb, FLOAT_COLUMNS)
    dof_parent: np.ndarray  # (nv,)
    dof_q: np.ndarray  # (nv,) place in q of a dof with one coordinate, -1 for the dofs of groups
    has_one_stage: bool  # midpoint quadrature, and no joint but the roots is a group


class Scheme(NamedTuple):
    """Which variational integrator, and how its equations are solved."""

    retraction: int
    quadrature: int
    factorisation: int  # matrix_kernel: TREE, DENSE or RECURSIVE
    gravity: np.ndarray  # (3,)
    tolerances: np.ndarray  # (2,) of the iteration, without and with contact (tolerance.py)


class State(NamedTuple):
    """What a step changes; with the contact's state and the matrix all that a continuation bit for bit needs."""

    q: np.ndarray  # (nq,)
    p: np.ndarray  # (nv,) momenta of the tree at the node
    mu: np.ndarray  # (nr, 6) spatial momentum of each tree whose root floats
    u: np.ndarray  # (nu,) mean velocity of the last step
    previous: np.ndarray  # (nu,) that of the step before
    differences: np.ndarray  # (DIFFERENCES, nu) of the velocities of the last steps, prediction_kernel
    motor_position: np.ndarray  # (nu,) integral of u
    motor_momentum: np.ndarray  # (nu,) of the rotors, with the motors' impulses, at the node
    force: np.ndarray  # (nu,) that of all but the weight at the midpoint of the last step
    memory: np.ndarray  # (MEMORY,) of the solver and of the balance of energy, solve_kernel


class CouplingArrays(NamedTuple):
    """v = D u, row by row: entries start[i] … start[i + 1] of column and ratio."""

    is_identity: bool
    start: np.ndarray  # (nv + 1,)
    column: np.ndarray
    ratio: np.ndarray
    rotor: np.ndarray  # (nu,) rotor inertia of a column
    clutches: np.ndarray  # (clutches, CLUTCH_COLUMNS) that slip at a limit, coupling.clutch_kernel


class ContactArrays(NamedTuple):
    """Points that may touch the ground, and the state of each; no points where the robot floats freely."""

    bodies: np.ndarray  # (points,) index of the body
    geometry: np.ndarray  # (points, 4) place in the body frame, radius
    kind: int  # of the ground, with its data and grid: contact.terrain_kernel
    data: np.ndarray
    grid: np.ndarray
    parameters: np.ndarray  # (points, 14), contact.layout
    modes: np.ndarray
    deflections: np.ndarray
    results: np.ndarray
    blocks: np.ndarray
    active: np.ndarray
    energies: np.ndarray
    culling: Culling


class Pairs(NamedTuple):
    """Points that may touch shapes of other bodies, as contact.body_pairs_kernel takes them."""

    pairs: np.ndarray  # (pairs, 2)
    shape_ints: np.ndarray
    shape_floats: np.ndarray
    bodies: np.ndarray  # of the points
    geometry: np.ndarray
    parameters: np.ndarray  # (pairs, 14), contact.layout
    modes: np.ndarray
    deflections: np.ndarray
    results: np.ndarray
    blocks: np.ndarray
    active: np.ndarray
    energies: np.ndarray
    culling: PairCulling


class Springs(NamedTuple):
    """Springs between bodies, as elastic.springs_kernel takes them."""

    start: np.ndarray  # (springs + 1,)
    point_row: np.ndarray
    point: np.ndarray
    constants: np.ndarray
    segments: np.ndarray
    states: np.ndarray
    gradients: np.ndarray  # (springs, nv) of the lengths


class Matrix(NamedTuple):
    """The factored matrix of the iteration, kept from step to step."""

    M: np.ndarray | None  # (nv, nv), zero outside the pattern of the tree; None where the factors are recursive
    reduced: np.ndarray | None  # (nu, nu), None as M
    diagonal: np.ndarray  # (nv,) inertia of each dof and h/2 times the slope of its joint's forces: measures residuals
    recursive: np.ndarray | None  # (recursion_rows, RECURSION_COLUMNS), or None
    slips: np.ndarray  # (2, points, nu) what slipping friction adds, slip_correction_kernel


class NodeWork(NamedTuple):
    """Memory for the velocities at a node, apart from that of a step, which has what it needs next in its own."""

    sincos: np.ndarray
    rows: np.ndarray
    dofs: np.ndarray
    M: np.ndarray  # (nv, nv), zero outside the pattern of the tree
    reduced: np.ndarray  # (nu, nu), or none where a column is a joint
    u: np.ndarray  # (nu,)
    v: np.ndarray  # (nv,)


class Work(NamedTuple):
    """Memory without meaning between steps."""

    sincos: np.ndarray
    rows: np.ndarray
    dofs: np.ndarray
    vectors: np.ndarray  # (VECTORS, max(nq, nv, nu, 18))
    stage: np.ndarray  # (nq,)
    twists: np.ndarray  # (nb, 6) spatial twists of the bodies at the midpoint of the step
    wrenches: np.ndarray  # (nb, 6) spatial wrenches on them
    saved_contacts: np.ndarray  # (points + pairs, SAVED_CONTACT_COLUMNS) modes, deflections and results before the step
    columns: np.ndarray  # (3, nu) how a point of contact between bodies moves with u
    root_poses: np.ndarray  # (nr, 12) of the floating roots at the beginning of the step
    root_weights: np.ndarray  # (nr, 6) spatial wrench of gravity on their trees, at the node
    root_wrenches: np.ndarray  # (nr, 6) spatial wrench of all other forces, in the middle
    node: NodeWork


class System(NamedTuple):
    """All of it."""

    tree: Tree
    scheme: Scheme
    state: State
    coupling: CouplingArrays
    joints: np.ndarray  # (7, nv), rows of integrators.layout: JOINT_…
    drives: np.ndarray  # (6, nv), rows of integrators.layout: DRIVE_…
    motors: np.ndarray  # (6, nu)
    contact: ContactArrays
    pairs: Pairs | None
    springs: Springs | None
    external: np.ndarray  # (nb, 6) wrenches on bodies, in their axes at their origins
    matrix: Matrix
    work: Work
    ledger: np.ndarray  # (LEDGER_COLUMNS,) work done on the mechanism by each kind of force
