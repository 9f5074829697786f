# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a step does to one part of a scene, stage by stage: kernels of their own, each compiled once.

kind and row: the part, records.py.
"""

from mbsim_ros.integrators.lie_variational.acceptance.balance_kernel import HARD, LONG, balance_midpoints
from mbsim_ros.integrators.lie_variational.acceptance.judge_kernel import passes_judgement
from mbsim_ros.integrators.lie_variational.body_forces_kernel import (
    acts_on_bodies,
    add_contact_wrenches,
    apply_wrenches,
    begin_wrenches,
)
from mbsim_ros.integrators.lie_variational.iteration.prediction_kernel import predict, remember_velocity
from mbsim_ros.integrators.lie_variational.matrix_kernel import (
    assemble_recursively,
    begin_matrix,
    complete_matrix,
    factor_matrix,
)
from mbsim_ros.integrators.lie_variational.node_velocity_kernel import node_velocity_into
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    EXACT,
    IMPLAUSIBLE,
    NOT_CONVERGED,
    UNBALANCED,
    evaluate_motion,
    evaluate_residual,
)
from mbsim_ros.integrators.lie_variational.step_kernel import (
    complete,
    form_rhs,
    is_finite,
    node_gravity_into,
    restore_state,
    save_state,
)
from mbsim_ros.integrators.lie_variational.vectors import FORCE
from mbsim_ros.integrators.state_bounds import is_plausible
from mbsim_ros.jit import kernel
from mbsim_ros.records import record


@kernel
def place_part(kind, row):
    """Place the bodies where they are at the node, with the weight there."""
    part = record(kind, row)
    node_gravity_into(part.tree, part.scheme.gravity, part.state.q, part.work)


@kernel
def begin_part(kind, row, h):
    """Save the state, guess the velocity of the step; whether forces act on its bodies without others."""
    part = record(kind, row)
    save_state(part.state, part.contact, part.pairs, part.ledger, part.work)
    predict(part.state, True)
    form_rhs(part.state.p, h, part.work.vectors)
    return (
        part.springs.start.shape[0] > 1
        or part.pairs.pairs.shape[0] > 0
        or acts_on_bodies(part.external, part.contact, None, None)
    )


@kernel
def move_part(kind, row, h):
    """Place the bodies at the midpoint of the step with their twists and what pushes them from outside."""
    part = record(kind, row)
    evaluate_motion(part, h)
    begin_wrenches(part.tree, part.external, part.work)


@kernel
def evaluate_part(kind, row, h, is_pushed):
    """Write the residual with all forces; how many points push on ground and own bodies, and a number for which."""
    part = record(kind, row)
    n_ground, n_pairs, active_set = 0, 0, 0.0
    if is_pushed:
        n_ground, n_pairs, active_set = add_contact_wrenches(part.contact, part.pairs, part.work, h)
        apply_wrenches(part.tree, part.springs, part.work, part.work.vectors[FORCE])
    evaluate_residual(part, h)
    return n_ground, n_pairs, active_set


@kernel
def begin_part_matrix(kind, row, h, n_ground):
    """Write the matrix of a part without what ties branches together."""
    part = record(kind, row)
    begin_matrix(part.tree, part.contact, part.matrix.M, part.matrix.diagonal, part.work, h, n_ground)


@kernel
def complete_part_matrix(kind, row, h, n_pairs):
    """Add what ties branches together."""
    part = record(kind, row)
    complete_matrix(
        part.tree, part.scheme, part.coupling, part.pairs, part.springs, part.matrix.M, part.matrix.reduced, part.work,
        h, n_pairs,
    )  # fmt: skip


@kernel
def factor_part(kind, row, h, n_ground):
    """Factor the matrix that is complete, or make and factor the exact one; False if it is singular."""
    part = record(kind, row)
    matrix = part.matrix
    if part.state.memory[EXACT] != 0.0:
        return assemble_recursively(
            part.tree, part.scheme.retraction, part.contact, matrix.recursive, matrix.diagonal, part.work, h, n_ground
        )
    return factor_matrix(part.tree, part.scheme, matrix.M, matrix.reduced)


@kernel
def complete_part(kind, row, h, is_pushed, is_touching, iterations, judging):
    """Move a part to the end of the step: 0, or why it may not stay there, and whether it was judged.

    Where bodies touch it says nothing about one of them how many iterations all of them took.
    """
    part = record(kind, row)
    is_doubtful = balance_midpoints(part, h, True) or (not is_touching and iterations > LONG)
    complete(part, h, is_pushed)
    if not is_finite(part.state, part.contact, part.pairs, part.ledger, part.work.vectors):
        return NOT_CONVERGED, 0
    if not is_plausible(part.state.q, part.state.u):
        return IMPLAUSIBLE, 0
    if judging and is_doubtful:
        passes = passes_judgement(part, min(iterations, HARD) if is_touching else iterations)
        return 0 if passes else UNBALANCED, 1
    return 0, 0


@kernel
def remember_part(kind, row):
    """Keep the velocity of a step that is there to stay, for the guess of the next."""
    remember_velocity(record(kind, row).state)


@kernel
def restore_part(kind, row):
    """Take back what a step has done."""
    part = record(kind, row)
    restore_state(part.state, part.contact, part.pairs, part.ledger, part.work)


@kernel
def velocities_of_part(kind, row):
    """Leave the velocities at the node in work.node; False where the mass matrix is singular."""
    part = record(kind, row)
    node, state = part.work.node, part.state
    return node_velocity_into(
        part.tree, part.coupling, state.q, state.p, state.motor_momentum, node.sincos, node.rows, node.dofs, node.M,
        node.reduced, node.u, node.v,
    )  # fmt: skip
