# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The implicit midpoint rule on angles and rates of a planar chain: the reference in minimal coordinates of G 5.1.6.

With absolute angles θ and rates Ω the equations of motion are N(θ) Ω' = S(θ) Ω² − ∂V/∂θ, where N and S are those of
planar_chain_kernel. The rule commutes with linear maps, so a step is the same as one in relative angles.
"""

import cmath
import math

from mbsim_ros.integrators.joint_resistance_kernel import bends_sharply
from mbsim_ros.integrators.planar.chain_kernel import (
    SEARCHES,
    add_springs,
    correct,
    inertia_into,
    judge_correction,
    potential_at,
    remember_correction,
    spin_energy,
)
from mbsim_ros.integrators.planar.joint_torques_kernel import add_joint_torques, add_link_works
from mbsim_ros.jit import helper, kernel
from mbsim_ros.linalg.dense_kernel import solve_pivoting

ITERATIONS = 60
CONVERGED = 1.0e-11  # of an update times h, in radians: Newton squares it, so what is left is below rounding
LONGEST = 0.5  # update times h that is taken whole
# Rows of `vectors` (complex), `numbers` (real) and `matrices` (n, n).
DIRECTION, TANGENT, GRADIENT = range(3)
VECTORS = 3
MEAN, STEP, RESIDUAL, SUMS = range(4)
NUMBERS = 5
EVEN, ODD, JACOBIAN = range(3)
MATRICES = 3
ENERGY = 0  # the only column of `record`
RECORD = 1


@kernel
def midpoint_steps_into(chain, forces, steps, h, angle, rate, vectors, numbers, matrices, record):
    """Take steps of h from absolute angles (n,) and rates (n,), which are overwritten.

    forces: of the joints, as of joint_torques_kernel. vectors (VECTORS, n), numbers (NUMBERS, n), matrices
    (MATRICES, n, n): scratch. record (steps or 0, RECORD) is written. Returns the steps done and all Newton iterations.
    """
    mean, n, total = numbers[MEAN], angle.shape[0], 0
    for done in range(steps):
        for i in range(n):
            mean[i] = rate[i]
        used = solve_mean_rates(chain, forces, h, angle, rate, vectors, numbers, matrices)
        if used < 0:
            return done, total
        total += used
        add_link_works(forces, h, angle, mean)
        for i in range(n):
            angle[i] += h * mean[i]
            rate[i] = 2.0 * mean[i] - rate[i]
        if record.shape[0] > 0:
            for i in range(n):
                vectors[DIRECTION, i] = cmath.exp(1j * angle[i])
            inertia_into(chain[0], vectors[DIRECTION], matrices[EVEN], matrices[ODD])
            potential = potential_at(chain, vectors[DIRECTION])
            record[done, ENERGY] = spin_energy(matrices[EVEN], rate) + potential
    return steps, total


@helper
def solve_mean_rates(chain, forces, h, angle, rate, vectors, numbers, matrices):
    """Newton's method for the mean rates; returns the iterations, or −1 where it does not converge.

    A correction that makes the residual longer is halved where forces of joints bend sharply, and only there.
    """
    mean, residual, step = numbers[MEAN], numbers[RESIDUAL], numbers[STEP]
    is_searching, before, scale = bends_sharply(forces[0]), math.inf, 0.0
    for iteration in range(SEARCHES if is_searching else ITERATIONS):
        linearise(chain, h, angle, rate, vectors, numbers, matrices)
        add_joint_torques(forces, h, angle, mean, residual, matrices[JACOBIAN])
        before, scale, is_back = judge_correction(is_searching, residual, before, scale, step, mean)
        if is_back:
            continue
        if not solve_pivoting(residual.shape[0], matrices[JACOBIAN], residual, 0.0):
            return -1
        largest = correct(residual, h, LONGEST, mean)
        scale = remember_correction(residual, largest, LONGEST, step)
        if not largest < math.inf:
            return -1
        if largest <= CONVERGED:
            return iteration + 1
    return -1


@helper
def linearise(chain, h, angle, rate, vectors, numbers, matrices):
    """Write the residual N 2(Ω̄ − Ω_0)/h − S Ω̄² + ∂V/∂θ in the middle, and its derivative by Ω̄."""
    d, tangent, gradient = vectors[DIRECTION], vectors[TANGENT], vectors[GRADIENT]
    mean, residual = numbers[MEAN], numbers[RESIDUAL]
    even, odd, jacobian = matrices[EVEN], matrices[ODD], matrices[JACOBIAN]
    n = angle.shape[0]
    for i in range(n):
        d[i] = cmath.exp(1j * (angle[i] + 0.5 * h * mean[i]))
        tangent[i], gradient[i] = 1j * d[i], chain[1][i]
        for j in range(n):
            jacobian[i, j] = 0.0
    inertia_into(chain[0], d, even, odd)
    add_springs(chain, d, tangent, tangent, 1.0, 0.5 * h, gradient, jacobian, numbers[SUMS : SUMS + 2])
    for j in range(n):
        force = (tangent[j].conjugate() * gradient[j]).real
        turning = 0.0  # derivative by θ_j of what stands in row j beside the potential
        for k in range(n):
            change, square = 2.0 * (mean[k] - rate[k]) / h, mean[k] * mean[k]
            force += even[j, k] * change - odd[j, k] * square
            jacobian[j, k] += 2.0 / h * even[j, k] - 2.0 * odd[j, k] * mean[k]
            if k != j:
                turning += odd[j, k] * change + even[j, k] * square
                jacobian[j, k] -= 0.5 * h * (odd[j, k] * change + even[j, k] * square)
        jacobian[j, j] += 0.5 * h * (turning - (d[j].conjugate() * gradient[j]).real)
        residual[j] = force
