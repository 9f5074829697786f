# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Making the arrays of a step in maximal coordinates from a model and what acts on it."""

from __future__ import annotations

import numpy as np

from mbsim_ros.contact.law_kernel import LAWS, spring_energy
from mbsim_ros.contact.layout import KN, PARAMETER_COLUMNS, STORED_NORMAL
from mbsim_ros.contact.parameters import ContactParameters, derive_parameters
from mbsim_ros.contact.points import ContactPoints
from mbsim_ros.contact.state import ContactState
from mbsim_ros.contact.terrain import Ground, floor
from mbsim_ros.contact.terrain_kernel import terrain_at
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.joint_arrays import make_drives, make_joints
from mbsim_ros.integrators.layout import LEDGER_COLUMNS
from mbsim_ros.integrators.maximal.arrays import (
    LOCAL,
    ROWS,
    MaximalContact,
    MaximalState,
    MaximalSystem,
    MaximalTree,
    MaximalWork,
)
from mbsim_ros.integrators.maximal.body_kernel import momenta_into
from mbsim_ros.integrators.maximal.coordinates import maximal_tree
from mbsim_ros.integrators.maximal.joint_kernel import joint_rows_into
from mbsim_ros.jit import kernel
from mbsim_ros.lie import quaternion
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import CENTRE, IQ, IV, KIND, MASS, PARENT, ROTOR, Model


def make_system(
    model: Model, gravity: np.ndarray, points: ContactPoints | None, ground: Ground | None,
    contact: ContactParameters | None, state: ContactState,
) -> MaximalSystem:  # fmt: skip
    """All arrays, at rest; gravity and the contact's state are kept, not copied."""
    n, nv = model.n_bodies, len(model.dof_parent)
    return MaximalSystem(
        maximal_tree(model), _state(n), make_joints(nv), make_drives(nv), make_drives(nv), np.zeros((n, 6)), gravity,
        _contact(model, points, ground, contact, state), _work(n), np.zeros(LEDGER_COLUMNS),
    )  # fmt: skip


def _state(n: int) -> MaximalState:
    zeros = np.zeros
    X = zeros((n + 1, 7))
    X[:, 3] = 1.0
    return MaximalState(X, zeros((n, 7)), X.copy(), zeros((n, 1 + ROWS)), zeros(n), zeros(2))


def _work(n: int) -> MaximalWork:
    zeros = np.zeros
    rows = (n, ROWS, 7)
    return MaximalWork(
        zeros((n + 1, 7)), zeros(n), zeros((n, 7)), zeros((n, 7)), zeros((n, 1 + ROWS)), zeros((n, 7, 7)), zeros(rows),
        zeros(rows), zeros(rows), zeros(rows), zeros((LOCAL, LOCAL + 8)), zeros((n, 1 + ROWS)), zeros((n, LOCAL, 8)),
        zeros((n + 1, 7)), zeros(n), zeros((n, 7)),
    )  # fmt: skip


def _contact(
    model: Model, points: ContactPoints | None, ground: Ground | None, given: ContactParameters | None,
    state: ContactState,
) -> MaximalContact:  # fmt: skip
    ground = floor() if ground is None else ground
    n = 0 if points is None else len(points)
    bodies, arms, parameters = np.zeros(n, dtype=np.int64), np.zeros((n, 4)), np.zeros((n, PARAMETER_COLUMNS))
    if points is not None and n:
        bodies[:], arms[:] = points.bodies, contact_arms(model, points)
        law = derive_parameters(model.mass, n, None, ground) if given is None else given
        parameters[:] = law.rows(points.links)
    return MaximalContact(
        bodies, arms, ground.kind, ground.data, ground.grid, parameters, state.modes,
        np.zeros(n, dtype=np.int64), np.zeros((n, 3)),
        state.deflections, state.results, state.energies, np.zeros((2, 3, 3)), given is not None and is_inside(given),
    )  # fmt: skip


def is_inside(contact: ContactParameters) -> bool:
    """Whether the law is one of contact/laws, inside the solve; UnsupportedModel where some links have W's machine."""
    laws = {own.law for own in (contact, *contact.links.values())}
    inside = [law for law in laws if law in LAWS]
    if 0 < len(inside) < len(laws):
        words = f"contact law {', '.join(sorted(map(str, inside)))} of some links beside W's of others"
        raise UnsupportedModel(f"{words}: quaternion_variational has one or the other, give the law of all of them")
    return bool(inside)


def contact_arms(model: Model, points: ContactPoints) -> np.ndarray:
    """Where the points are from the centres of mass of their bodies, and their radii (points, 4)."""
    arms = points.geometry.copy()
    arms[:, :3] -= model.constants[points.bodies, CENTRE : CENTRE + 3]
    return arms


def single_coordinates(model: Model, q_tree: np.ndarray) -> np.ndarray:
    """Coordinate of every joint that has one (n,), 0 for the others."""
    topology = model.topology
    found = np.zeros(model.n_bodies)
    single = topology[:, KIND] <= PRISMATIC
    found[single] = q_tree[topology[single, IQ]]
    return found


def column_positions(model: Model, coordinates: np.ndarray) -> np.ndarray:
    """The same by dof (nv,)."""
    topology = model.topology
    found = np.zeros(len(model.dof_parent))
    single = topology[:, KIND] <= PRISMATIC
    found[topology[single, IV]] = coordinates[single]
    return found


def add_rotor_momenta(tree: MaximalTree, X: np.ndarray, v_tree: np.ndarray, P: np.ndarray) -> None:
    """Add what rotors of joints have at velocities v: J v ∂θ/∂X."""
    g, out, inn = np.zeros(ROWS), np.zeros((ROWS, 7)), np.zeros((ROWS, 7))
    for i, (topology, body) in enumerate(zip(tree.topology, tree.constants, strict=True)):
        if topology[KIND] > PRISMATIC or body[ROTOR] == 0.0:
            continue
        parent = topology[PARENT]
        joint_rows_into(
            topology[KIND], body, tree.centres[i + 1], tree.centres[parent], tree.joint_turns[i], X[i + 1], X[parent],
            0.0, g, out, inn,
        )  # fmt: skip
        momentum = body[ROTOR] * v_tree[topology[IV]]
        P[i] += momentum * out[ROWS - 1]
        if parent > 0:
            P[parent - 1] += momentum * inn[ROWS - 1]


def store_contact(system: MaximalSystem) -> None:
    """Book what the springs of points hold that are in the ground to begin with."""
    contact, X = system.contact, system.state.X
    for body, arm, law in zip(contact.bodies, contact.arms, contact.parameters, strict=True):
        place = X[body + 1, :3] + quaternion.to_matrix(X[body + 1, 3:]) @ arm[:3]
        depth = arm[3] - terrain_at(contact.kind, contact.data, contact.grid, *place.tolist())[0]
        own = spring_energy(law, depth) if contact.inside else 0.5 * law[KN] * max(depth, 0.0) ** 2
        contact.energies[STORED_NORMAL] += own


@kernel
def end_momenta(system, h):
    """Write P of a step of h that went from X_before to X, with gravity and no other force."""
    tree, state, work = system.tree, system.state, system.work
    for i in range(tree.topology.shape[0]):
        momenta_into(tree.constants[i], state.X_before[i + 1], state.X[i + 1], h, work.unbalanced[i], state.P[i])
        for k in range(3):
            state.P[i, k] += 0.5 * h * tree.constants[i, MASS] * system.gravity[k]
