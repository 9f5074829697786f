# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Steps in maximal coordinates: guess, Newton's method with Algorithm 5.1, and the state at the end."""

from mbsim_ros.integrators.maximal.arrays import ROWS
from mbsim_ros.integrators.maximal.body_kernel import momenta_into
from mbsim_ros.integrators.maximal.contact.contact_kernel import OPEN, decide_contacts, finish_contacts
from mbsim_ros.integrators.maximal.equations_kernel import begin_step, equations_into
from mbsim_ros.integrators.maximal.forces_kernel import add_group_efforts, add_work_of_forces
from mbsim_ros.integrators.maximal.joint_kernel import joint_rows_into
from mbsim_ros.integrators.maximal.quaternion_kernel import body_torque, product, quaternion_force
from mbsim_ros.integrators.maximal.tree_solver_kernel import solve_tree
from mbsim_ros.integrators.state_bounds import FASTEST, FURTHEST
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import PRISMATIC
from mbsim_ros.model.model import KIND, PARENT, ROTOR

STAY, EXTRAPOLATE = range(2)  # where a step begins to look: where the robot is, or where it would be going on as before
SOLVER_LEFT, SOLVER_GAP = range(2)  # places in the memory of the state
MOST_ITERATIONS = 40
DECIDED = 10  # from this Newton step on no point of contact changes its mind, and some steps are halved
SMALL = 1.0e-9  # relative: only from here on may the search end because it gets no further


@kernel
def steps_by_tree(system, h, steps, guess, tolerance, absolute, every, track):
    """Take steps of h; returns (steps done, Newton steps, whether the next could not be solved).

    tolerance: relative to the momenta and to lengths of one metre; absolute: if above zero, what f, b and g may leave
    in place of that. The state is that after the last step done. track (rows, n, 7): gets X after every so many steps.
    """
    iterations = 0
    for done in range(steps):
        begin(system, h, guess)
        taken = newton(system, h, tolerance, absolute)
        if taken < 0 or not ends_plausibly(system, h):
            give_up(system)
            return done, iterations, True
        iterations += taken
        finish(system, h)
        if every > 0 and (done + 1) % every == 0:
            for i in range(track.shape[1]):
                for k in range(7):
                    track[(done + 1) // every - 1, i, k] = system.state.X[i + 1, k]
    return steps, iterations, False


@helper
def newton(system, h, tolerance, absolute):
    """Solve for X_next and the multipliers; returns the number of Newton steps, -1 if they did not converge."""
    before = 1.0e300
    for iteration in range(MOST_ITERATIONS):
        left, gap, scale = equations_into(system, h)
        if has_converged(left, gap, scale, before, tolerance, absolute, system.state.memory):
            return iteration
        before = system.state.memory[SOLVER_LEFT] + system.state.memory[SOLVER_GAP]
        if iteration == DECIDED:
            decide_contacts(system.contact)
        if not solve_tree(system, 0.5 if iteration > DECIDED and iteration % 4 == 0 else 1.0):
            return -1
    return -1


@kernel
def has_converged(left, gap, scale, before, tolerance, absolute, memory):
    """Whether to end the search, and write what is left to the memory; before: the sum of it an iteration ago."""
    if absolute > 0.0:
        memory[SOLVER_LEFT], memory[SOLVER_GAP] = left, gap
        return left <= absolute and gap <= absolute
    relative = left / scale if scale > 0.0 else left
    memory[SOLVER_LEFT], memory[SOLVER_GAP] = relative, gap
    found = relative + gap
    # Rounding ends every search; where it lies depends on the robot's size, so it is found by going there.
    return (relative <= tolerance and gap <= tolerance) or (found < SMALL and found > 0.25 * before)


@kernel
def begin(system, h, guess):
    """What is known, and where to begin."""
    state, work = system.state, system.work
    begin_step(system, h)
    for i in range(system.contact.decided.shape[0]):
        system.contact.decided[i] = OPEN
    copy_rows(state.multipliers, work.kept_multipliers)
    copy_rows(state.X, work.X_next)
    if guess == STAY:
        return
    for i in range(1, state.X.shape[0]):
        now, before, later = state.X[i], state.X_before[i], work.X_next[i]
        for k in range(3):
            later[k] = 2.0 * now[k] - before[k]
        w, x, y, z = product(before[3], -before[4], -before[5], -before[6], now[3], now[4], now[5], now[6])
        later[3], later[4], later[5], later[6] = product(now[3], now[4], now[5], now[6], w, x, y, z)


@kernel
def ends_plausibly(system, h):
    """Whether the step that was solved ends within the bounds of states; a body turns by at most π in it anyway."""
    X, X_next = system.state.X, system.work.X_next
    for i in range(1, X.shape[0]):
        for k in range(3):
            if not (abs(X_next[i, k]) <= FURTHEST and abs(X_next[i, k] - X[i, k]) <= FASTEST * h):
                return False
    for i in range(system.state.coordinates.shape[0]):
        now, later = system.state.coordinates[i], system.work.coordinates_next[i]
        if not (abs(later) <= FURTHEST and abs(later - now) <= FASTEST * h):
            return False
    return True


@kernel
def give_up(system):
    """Leave everything as it was before the step."""
    copy_rows(system.work.kept_multipliers, system.state.multipliers)


@kernel
def finish(system, h):
    """Go to the end of the step that was solved: momenta, coordinates, modes of contact, books."""
    tree, state, work = system.tree, system.state, system.work
    topology, X_next = tree.topology, work.X_next
    for i in range(topology.shape[0]):
        end_momentum(
            tree.constants[i], state.X[i + 1], X_next[i + 1], h, work.unbalanced[i], work.step[i + 1], state.P[i]
        )
        for k in range(7):
            state.P[i, k] += 0.5 * h * work.forces[i, k]
    for i in range(topology.shape[0]):
        kind, parent = topology[i, KIND], topology[i, PARENT]
        if kind > PRISMATIC:
            continue
        rate = (work.coordinates_next[i] - state.coordinates[i]) / h
        impulse = 0.5 * h * work.ways[i] + tree.constants[i, ROTOR] * rate
        if impulse == 0.0:
            continue
        joint_rows_into(
            kind, tree.constants[i], tree.centres[i + 1], tree.centres[parent], tree.joint_turns[i], X_next[i + 1],
            X_next[parent], work.coordinates_next[i], work.gaps[i], work.now_out[i], work.now_in[i],
        )  # fmt: skip
        for k in range(7):
            state.P[i, k] += impulse * work.now_out[i, ROWS - 1, k]
            if parent > 0:
                state.P[parent - 1, k] += impulse * work.now_in[i, ROWS - 1, k]
    add_group_efforts(tree, system.drives, system.motors, X_next, 0.5 * h, state.P)
    add_work_of_forces(
        tree, system.joints, system.drives, system.motors, system.external, state.X, X_next, state.coordinates,
        work.coordinates_next, h, system.ledger,
    )  # fmt: skip
    if system.contact.bodies.shape[0] > 0:
        finish_contacts(system.contact, X_next, h)
    copy_rows(state.X, state.X_before)
    copy_rows(X_next, state.X)
    for i in range(topology.shape[0]):
        state.coordinates[i] = work.coordinates_next[i]


@helper
def end_momentum(body, X, X_next, h, left, start, P):
    """Write h D₂L of a body to P, less what the balance at the node was left with, for that is an error of the rate.

    X_next is rounded, and h divides that: momenta by differences wander by ε|X|m/h a step. The balance knows better.
    """
    momenta_into(body, X, X_next, h, start, P)
    for k in range(3):
        P[k] -= left[k]
    lx, ly, lz = body_torque(X_next[3], X_next[4], X_next[5], X_next[6], left[3], left[4], left[5], left[6])
    f0, f1, f2, f3 = quaternion_force(X[3], X[4], X[5], X[6], 0.25 * lx, 0.25 * ly, 0.25 * lz)
    P[3], P[4], P[5], P[6] = P[3] - f0, P[4] - f1, P[5] - f2, P[6] - f3


@helper
def copy_rows(source, target):
    """Entry by entry: numba would allocate memory for a copy of the whole."""
    for i in range(source.shape[0]):
        for k in range(source.shape[1]):
            target[i, k] = source[i, k]
