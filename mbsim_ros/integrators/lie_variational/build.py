# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Making the arrays of a step from a model and what acts on it."""

from __future__ import annotations

import numpy as np

from mbsim_ros.contact.body_pairs import BodyPairs
from mbsim_ros.contact.body_pairs_kernel import SHAPE_COLUMNS
from mbsim_ros.contact.culling.pairs import make_pair_culling
from mbsim_ros.contact.culling.points import make_culling
from mbsim_ros.contact.layout import PARAMETER_COLUMNS
from mbsim_ros.contact.parameters import ContactParameters, derive_parameters
from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.contact.state import ContactState
from mbsim_ros.contact.terrain import Ground, floor
from mbsim_ros.coupling.clutch_kernel import CLUTCH_COLUMN, CLUTCH_COLUMNS, CLUTCH_FORCE, CLUTCH_LIMIT, CLUTCH_MODE
from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.dynamics.workspace import Workspace
from mbsim_ros.elastic.springs import SpringSet
from mbsim_ros.elastic.springs_kernel import CONSTANTS, SEGMENT_COLUMNS, STATES
from mbsim_ros.integrators.lie_variational.arrays import (
    ContactArrays,
    CouplingArrays,
    Matrix,
    NodeWork,
    Pairs,
    Springs,
    State,
    Tree,
    Work,
)
from mbsim_ros.integrators.lie_variational.discrete_legendre_kernel import MIDPOINT
from mbsim_ros.integrators.lie_variational.iteration.prediction_kernel import DIFFERENCES
from mbsim_ros.integrators.lie_variational.iteration.slip_correction_kernel import MOST_SLIPS
from mbsim_ros.integrators.lie_variational.matrix_kernel import DENSE, RECURSIVE, TREE
from mbsim_ros.integrators.lie_variational.recursive_kernel import RECURSION_COLUMNS, recursion_rows
from mbsim_ros.integrators.lie_variational.solve_kernel import MEMORY
from mbsim_ros.integrators.lie_variational.step_kernel import SAVED_CONTACT_COLUMNS
from mbsim_ros.integrators.lie_variational.vectors import VECTORS
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC
from mbsim_ros.model.model import IQ, IV, KIND, PARENT, Model

LONG = 15.0  # dofs from a typical one to the root: from about there on a recursion is faster than a sparse matrix


def make_tree(model: Model, quadrature: int) -> Tree:
    """The model's arrays, with the place in q of every dof that has one coordinate."""
    topology = model.topology
    places = np.full(len(model.dof_parent), -1)
    single = topology[:, KIND] <= PRISMATIC
    places[topology[single, IV]] = topology[single, IQ]
    has_inner_groups = bool((~single & (topology[:, PARENT] != 0)).any())
    return Tree(topology, model.constants, model.dof_parent, places, quadrature == MIDPOINT and not has_inner_groups)


def floating_roots(model: Model) -> np.ndarray:
    """First dof (in the tree) of every body that floats in the world, in order."""
    constants = (model.topology[:, KIND] == FLOATING) & (model.topology[:, PARENT] == 0)
    return model.topology[constants, IV]


def choose_factorisation(
    tree: Tree, coupling: CouplingArrays, springs: Springs | None, pairs: Pairs | None, is_part: bool
) -> int:
    """TREE where nothing ties branches together, RECURSIVE if long and not a part of a scene; DENSE elsewhere."""
    has_ties = (springs is not None and len(springs.states) > 0) or (pairs is not None and len(pairs.pairs) > 0)
    if not coupling.is_identity or has_ties:
        return DENSE
    if is_part:
        return TREE
    depths = np.zeros(len(tree.dof_parent))
    for dof, parent in enumerate(tree.dof_parent):
        depths[dof] = 1.0 if parent < 0 else depths[parent] + 1.0
    is_long = (depths**2).mean() > LONG**2 if len(depths) else False
    return RECURSIVE if is_long and tree.has_one_stage else TREE


def make_state(model: Model, nu: int) -> State:
    """A state at rest in the neutral configuration."""
    nv, zeros = len(model.dof_parent), np.zeros
    q = np.array(model.tree_q(model.neutral), dtype=float)
    roots = len(floating_roots(model))
    u, previous, position, momentum, force = (zeros(nu) for _ in range(5))
    differences = zeros((DIFFERENCES, nu))
    return State(q, zeros(nv), zeros((roots, 6)), u, previous, differences, position, momentum, force, zeros(MEMORY))


def make_coupling(configuration: CouplingConfiguration) -> CouplingArrays:
    """D by compressed rows."""
    c = configuration
    is_identity = not c.slipping and c.nu == len(c.start) - 1 and np.array_equal(c.D, np.eye(c.nu))
    return CouplingArrays(is_identity, c.start, c.column, c.ratio, c.rotor_inertia, _make_clutches(c))


def _make_clutches(configuration: CouplingConfiguration) -> np.ndarray:
    """Clutches that slip, until a step finds that they hold."""
    clutches = np.zeros((len(configuration.slipping), CLUTCH_COLUMNS))
    for k, (joint, column) in enumerate(configuration.slipping.items()):
        limit = configuration.definition.torque_limit[joint]
        clutches[k, [CLUTCH_COLUMN, CLUTCH_LIMIT, CLUTCH_MODE, CLUTCH_FORCE]] = column, limit, 1.0, -limit
    return clutches


def make_contact(
    model: Model, points: ContactPoints | None, ground: Ground | None, given: ContactParameters | None,
    state: ContactState,
) -> ContactArrays:  # fmt: skip
    """Arrays of the points; a floor and parameters derived from the robot's mass where none are given."""
    ground = floor() if ground is None else ground
    if points is None or len(points.bodies) == 0:
        bodies, geometry, parameters = _constant(
            np.zeros(0, dtype=np.int64), np.zeros((0, 4)), np.zeros((0, PARAMETER_COLUMNS))
        )
    else:
        given = _parameters(model, len(points.bodies), ground) if given is None else given
        bodies, geometry, parameters = points.bodies, points.geometry, given.rows(points.links)
    state.culling = make_culling(bodies, geometry, ground.kind, ground.data, ground.grid)
    return ContactArrays(
        bodies, geometry, ground.kind, ground.data, ground.grid, parameters, state.modes, state.deflections,
        state.latest, state.blocks, state.active, state.energies, state.culling,
    )  # fmt: skip


def make_pairs(
    model: Model, points: ContactPoints | None, pairs: BodyPairs | None, given: ContactParameters | None,
    state: ContactState,
) -> Pairs:  # fmt: skip
    """Arrays of points that may touch other bodies, of which there may be none."""
    if pairs is None or points is None or len(pairs) == 0:
        none = np.zeros(0, dtype=np.int64)
        parts = _constant(
            none.reshape(0, 2), none.reshape(0, 2), np.zeros((0, SHAPE_COLUMNS)), none.copy(), np.zeros((0, 4)),
            np.zeros((0, PARAMETER_COLUMNS)),
        )  # fmt: skip
    else:
        given = _parameters(model, len(points.bodies), floor()) if given is None else given
        shapes = pairs.pairs, pairs.shape_ints, pairs.shape_floats
        parts = (*shapes, points.bodies, points.geometry, given.pair_rows(points.links, pairs))
    states = state.modes, state.deflections, state.latest, state.blocks, state.active, state.energies
    state.culling = make_pair_culling(*parts[:5])
    return Pairs._make((*parts, *states, state.culling))


def make_springs(model: Model, springs: SpringSet | None) -> Springs:
    """Arrays of the springs, of which there may be none."""
    if springs is None or len(springs) == 0:
        parts = _constant(
            np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros((0, CONSTANTS))
        )
    else:
        parts = springs.start, springs.point_row, springs.point, springs.constants
    n = len(parts[0]) - 1
    segments, states = np.zeros((len(parts[2]), SEGMENT_COLUMNS)), np.zeros((n, STATES))
    return Springs._make((*parts, segments, states, np.zeros((n, len(model.dof_parent)))))


def make_matrix(
    model: Model, nu: int, factorisation: int, has_one_stage: bool, is_part: bool = False, points: int = 0
) -> Matrix:
    """Memory for the factors; a tree that may come to move fast has room for the exact ones, too.

    is_part: all parts of a scene are of one type, so those that need no memory of a kind have some without rows.
    """
    nv = len(model.dof_parent)
    dense = nu if factorisation == DENSE else 0
    exact = np.zeros((recursion_rows(model.topology), RECURSION_COLUMNS))
    if factorisation == RECURSIVE:
        return Matrix(None, None, np.zeros(nv), exact, np.zeros((2, 0, nu)))
    recursive = exact if factorisation == TREE and has_one_stage else exact[:0] if is_part else None
    slips = np.zeros((2, 0 if is_part else min(points, MOST_SLIPS), nu))  # scenes and loops have none, or their own
    return Matrix(np.zeros((nv, nv)), np.zeros((dense, dense)), np.zeros(nv), recursive, slips)


def make_work(model: Model, nu: int, contacts: int) -> Work:
    """Scratch memory for a number of independent velocities and one of points and pairs in contact."""
    workspace = Workspace(model)
    nv, nq, nb, roots = len(model.dof_parent), len(workspace.sincos[0]), model.n_bodies, len(floating_roots(model))
    return Work(
        workspace.sincos, workspace.rows, workspace.dofs, np.zeros((VECTORS, max(nq, nv, nu, 6 * roots, MEMORY, 18))),
        np.zeros(nq), np.zeros((nb, 6)), np.zeros((nb, 6)), np.zeros((contacts, SAVED_CONTACT_COLUMNS)),
        np.zeros((3, nu)), np.zeros((roots, 12)), np.zeros((roots, 6)), np.zeros((roots, 6)), make_node_work(model, nu),
    )  # fmt: skip


def make_node_work(model: Model, nu: int) -> NodeWork:
    """Scratch memory for velocities at a node."""
    workspace, nv = Workspace(model), len(model.dof_parent)
    return NodeWork(
        workspace.sincos, workspace.rows, workspace.dofs, np.zeros((nv, nv)), np.zeros((nu, nu)), np.zeros(nu),
        np.zeros(nv),
    )  # fmt: skip


def _parameters(model: Model, points: int, ground: Ground) -> ContactParameters:
    settings = None if model.sidecar is None else model.sidecar.contact
    return derive_parameters(model.mass, points, settings, ground)


def _constant(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    for array in arrays:
        array.setflags(write=False)
    return arrays
