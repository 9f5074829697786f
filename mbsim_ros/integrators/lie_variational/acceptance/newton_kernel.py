# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A step by Newton's method with line search: slower by far, for steps that the quasi-Newton iteration does not solve.

The Jacobian is that of the residual itself, column by column by differences, so that everything is in it: friction that
clips, stops, springs that turn, the derivative of the mass matrix. Used once in a while, by recovery.py.
Residuals are measured as energies, each by the Jacobian's diagonal, so that light and heavy parts, and columns of D
with small and large ratios, count alike.
"""

import math

from mbsim_ros.integrators.lie_variational.acceptance.balance_kernel import balance_midpoints
from mbsim_ros.integrators.lie_variational.body_forces_kernel import acts_on_bodies
from mbsim_ros.integrators.lie_variational.iteration.prediction_kernel import predict
from mbsim_ros.integrators.lie_variational.rounding_kernel import rounding_energy
from mbsim_ros.integrators.lie_variational.solve_kernel import (
    IMPLAUSIBLE,
    NOT_CONVERGED,
    SINGULAR,
    absolute_terms,
    evaluate,
)
from mbsim_ros.integrators.lie_variational.step_kernel import (
    complete,
    form_rhs,
    is_finite,
    node_gravity_into,
    restore_state,
    save_state,
)
from mbsim_ros.integrators.lie_variational.vectors import MOTOR, RESIDUAL, UPDATE
from mbsim_ros.integrators.state_bounds import is_plausible
from mbsim_ros.jit import helper, kernel
from mbsim_ros.linalg.dense_kernel import solve_pivoting

ITERATIONS = 40
SHORTEST = 1.0 / 128.0  # of the whole Newton step that the line search tries
DIFFERENCE = 1.0e-7  # of a velocity, or of 1
TOLERANCE = (1.0e-13) ** 2  # of the energy of all terms, where an iteration stops …
SMALLEST = 1.0e-300  # entry of the diagonal
STALLED = (1.0e-11) ** 2  # … and where one that no longer gets better is taken as converged


@kernel
def newton_step_into(system, h, jacobian, start, residual):
    """Take one step of length h; returns the iterations or why it failed; the state is then that before the step.

    jacobian (nu, nu), start (nu,), residual (nu,): scratch.
    """
    spatial = acts_on_bodies(system.external, system.contact, system.pairs, system.springs)
    node_gravity_into(system.tree, system.scheme.gravity, system.state.q, system.work)
    save_state(system.state, system.contact, system.pairs, system.ledger, system.work)
    predict(system.state, False)
    form_rhs(system.state.p, h, system.work.vectors)
    result = newton(system, h, spatial, jacobian, start, residual)
    if result > 0:
        for i in range(start.shape[0]):
            system.work.vectors[UPDATE, i] = 0.0
        balance_midpoints(system, h, True)
        complete(system, h, spatial)
        if not is_finite(system.state, system.contact, system.pairs, system.ledger, system.work.vectors):
            result = NOT_CONVERGED
        elif not is_plausible(system.state.q, system.state.u):
            result = IMPLAUSIBLE
    if result < 0:
        restore_state(system.state, system.contact, system.pairs, system.ledger, system.work)
    return result


@helper
def newton(system, h, spatial, jacobian, start, residual):
    """Find u."""
    u, vectors = system.state.u, system.work.vectors
    n = u.shape[0]
    for iteration in range(1, ITERATIONS + 1):
        n_ground, n_pairs, _ = evaluate(system, h, spatial)
        for i in range(n):
            start[i], residual[i] = u[i], vectors[RESIDUAL, i]
        differentiate(system, h, spatial, jacobian, start, residual)
        for i in range(n):  # by what the entries of the residual are measured, until the next iteration
            vectors[UPDATE, i] = 1.0 / max(abs(jacobian[i, i]), SMALLEST)
        evaluate(system, h, spatial)
        before, scale = measure(system, h)
        if before <= TOLERANCE * scale:
            return iteration
        if not solve_pivoting(residual.shape[0], jacobian, residual, 0.0):
            return SINGULAR
        length, size = 1.0, math.inf
        while length >= SHORTEST and not size < (1.0 - 1.0e-4 * length) * before:
            for i in range(n):
                u[i] = start[i] + length * residual[i]
            n_ground, n_pairs, _ = evaluate(system, h, spatial)
            size, scale = measure(system, h)
            length *= 0.5
        if not size < before:
            if before <= STALLED * scale + rounding_energy(system, h, n_ground, n_pairs):
                for i in range(n):
                    u[i] = start[i]
                evaluate(system, h, spatial)
                return iteration
            return NOT_CONVERGED
    return NOT_CONVERGED


@helper
def measure(system, h):
    """The residual as an energy, and in the same way the terms that it is the difference of."""
    vectors, coupling, state = system.work.vectors, system.coupling, system.state
    size = scale = 0.0
    for i in range(state.u.shape[0]):
        weight, left = vectors[UPDATE, i], vectors[RESIDUAL, i]
        size += weight * left * left
        terms = abs(state.motor_momentum[i]) + abs(0.5 * h * vectors[MOTOR, i]) + abs(coupling.rotor[i] * state.u[i])
        scale += weight * terms * terms
    for i in range(state.p.shape[0]):
        terms = absolute_terms(vectors, h, i)
        for k in range(coupling.start[i], coupling.start[i + 1]):
            part = coupling.ratio[k] * terms
            scale += vectors[UPDATE, coupling.column[k]] * part * part
    if not size + scale < math.inf:
        return math.inf, 1.0
    return size, scale


@helper
def differentiate(system, h, spatial, jacobian, start, residual):
    """Write minus the derivative of the residual by u."""
    u, n = system.state.u, start.shape[0]
    for j in range(n):
        step = DIFFERENCE * max(1.0, abs(start[j]))
        u[j] = start[j] + step
        evaluate(system, h, spatial)
        for i in range(n):
            jacobian[i, j] = (residual[i] - system.work.vectors[RESIDUAL, i]) / (u[j] - start[j])
        u[j] = start[j]
