# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where the Jacobian of a step of one rigid body becomes singular, K (17), (18), and whether Newton's method copes.

With J = diag(1, j, κ) and ω = |ω| u the determinant of the Jacobian is a polynomial in x = h |ω|, of degree 3 for the
trapezoidal Lie-Newmark scheme and 6 for the Cayley scheme. Its smallest positive root is where steps become singular.
"""

import math

from mbsim_ros.integrators.rigid_body.cayley_kernel import CAYLEY, jacobian, mean_velocity, step_momentum
from mbsim_ros.jit import helper, kernel

DEGREE = 6
ENTRIES, COEFFICIENTS, DERIVATIVES, ROOTS, INERTIA = 0, 27, 34, 83, 139  # places in `work`
WORK = 145
SMALLEST = 1e-9  # of 1/x: roots beyond 1e9 are none


@kernel
def singular_steps_into(scheme, middle, kappa, directions, work, singular):
    """Write the smallest singular h |ω| of each body diag(1, middle, kappa) (n,) turning about u (n, 3), or inf."""
    for n in range(middle.shape[0]):
        singular[n] = singular_step(
            scheme, middle[n], kappa, directions[n, 0], directions[n, 1], directions[n, 2], work
        )


@kernel
def newton_failures_into(scheme, middle, kappa, directions, steps, work, failed):
    """Write whether Newton's method fails from ω_k for h |ω| = steps (n,), the momentum being that of ω_k."""
    J = work[INERTIA : INERTIA + 6]
    for n in range(middle.shape[0]):
        J[0], J[1], J[2], J[3], J[4], J[5] = 1.0, middle[n], kappa, 0.0, 0.0, 0.0
        x, y, z = steps[n] * directions[n, 0], steps[n] * directions[n, 1], steps[n] * directions[n, 2]
        mx, my, mz = step_momentum(scheme, J, -1.0, x, y, z)  # c_k, d_k of K (15), (16)
        _, _, _, count = mean_velocity(scheme, J, 1.0, mx, my, mz, x, y, z)
        failed[n] = count < 0


@helper
def singular_step(scheme, middle, kappa, ux, uy, uz, work):
    """The smallest x > 0 at which the Jacobian with h ω = x u is singular, infinite if there is none."""
    determinant_into(scheme, middle, kappa, ux, uy, uz, work)
    c = work[COEFFICIENTS:DERIVATIVES]
    if c[1] >= 0.0 and c[2] >= 0.0 and c[3] >= 0.0 and c[4] >= 0.0 and c[5] >= 0.0 and c[6] >= 0.0:
        return math.inf  # Descartes
    y = largest_root(work)
    return 1.0 / y if y > SMALLEST else math.inf


@helper
def determinant_into(scheme, middle, kappa, ux, uy, uz, work):
    """Write the coefficients of det(D₀ + x D₁ + x² D₂), the Jacobian at h = 1, ω = x u, the constant one first."""
    J = work[INERTIA : INERTIA + 6]
    J[0], J[1], J[2], J[3], J[4], J[5] = 1.0, middle, kappa, 0.0, 0.0, 0.0
    ahead, behind = jacobian(scheme, J, 1.0, ux, uy, uz), jacobian(scheme, J, -1.0, ux, uy, uz)
    for k in range(9):
        inertia = 0.0
        if k % 4 == 0:
            inertia = J[k // 4]
        work[3 * k] = inertia
        work[3 * k + 1] = 0.5 * (ahead[k] - behind[k])
        work[3 * k + 2] = 0.5 * (ahead[k] + behind[k]) - inertia if scheme == CAYLEY else 0.0
    for k in range(DEGREE + 1):
        work[COEFFICIENTS + k] = 0.0
    for column in range(3):
        one, two = (column + 1) % 3, (column + 2) % 3
        add_product(work, column, one, two, 1.0)
        add_product(work, column, two, one, -1.0)


@helper
def add_product(work, first, second, third, sign):
    """Add the product of three entries, one of each row, that are polynomials of degree 2."""
    for a in range(3):
        for b in range(3):
            ab = sign * work[3 * first + a] * work[9 + 3 * second + b]
            for c in range(3):
                work[COEFFICIENTS + a + b + c] += ab * work[18 + 3 * third + c]


@helper
def largest_root(work):
    """The largest positive root y of Σ c_k y^(6−k), 0 if there is none: 1/y is the smallest positive one of Σ c_k x^k.

    Between two neighbouring roots of its derivative a polynomial has at most one, so the roots of all derivatives are
    found one after the other, from the straight line up. c₀ = det J > 0 leads, which bounds the roots.
    """
    bound = 0.0
    for k in range(DEGREE + 1):
        work[DERIVATIVES + k] = work[COEFFICIENTS + k]
        bound = max(bound, abs(work[COEFFICIENTS + k]) / work[COEFFICIENTS])
    bound += 1.0
    # Row d has the d-th derivative, the leading coefficient first; there are 7 rows of 7.
    for d in range(1, DEGREE):
        degree = DEGREE - d + 1
        for k in range(degree):
            work[DERIVATIVES + 7 * d + k] = (degree - k) * work[DERIVATIVES + 7 * (d - 1) + k]
    # Row d of ROOTS, 8 wide: how many, and the roots of the d-th derivative within (0, bound), rising.
    work[ROOTS + 8 * DEGREE] = 0.0
    for d in range(DEGREE - 1, -1, -1):
        count, low = 0, 0.0
        number = int(work[ROOTS + 8 * (d + 1)])
        for k in range(number + 1):
            high = bound
            if k < number:
                high = work[ROOTS + 8 * (d + 1) + 1 + k]
            at_low, at_high = value(work, d, low), value(work, d, high)
            if (at_low < 0.0) != (at_high < 0.0):
                count += 1
                work[ROOTS + 8 * d + count] = bisected(work, d, low, high, at_low < 0.0)
            low = high
        work[ROOTS + 8 * d] = count
    number = int(work[ROOTS])
    return work[ROOTS + number] if number > 0 else 0.0


@helper
def value(work, d, y):
    """The d-th derivative at y."""
    total = 0.0
    for k in range(DEGREE - d + 1):
        total = total * y + work[DERIVATIVES + 7 * d + k]
    return total


@helper
def bisected(work, d, low, high, is_rising):
    """The root of the d-th derivative between two places with values of opposite signs."""
    for _ in range(100):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if (value(work, d, middle) < 0.0) == is_rising:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
