# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The variational integrator on (S¹)ⁿ for planar chains, G 4.3.3, as a map of (q_k, p_k).

q_i is the direction of link i in the frame of the link before, a complex number of length 1; a step turns it twice by
the half angle f_i, (4.29), (4.30), and has the velocity ω' in the middle. The two halves of (4.28) are

    p_k     = c M(q')ω' − h/4 C(q', ω') + h/2 G(q'),      C_i = ω'ᵀ ∂M/∂φ_i ω',  G_i = ∂V/∂φ_i
    p_{k+1} = c M(q')ω' + h/4 C(q', ω') − h/2 G(q').

    PRINTED   ω' = sin(2f)/h, c = 1: (4.28) with (4.31) as they stand; of second order, but not symplectic (ERRATA A17)
    CHORD     ω' = sin(2f)/h, c_i = cos(2f_i): the exact derivative of the discrete Lagrangian with (4.31)
    ANGLE     ω' = 2f/h, c = 1: the same with the angle turned in place of its sine
"""

import cmath
import math

from mbsim_ros.integrators.joint_resistance_kernel import add_works, bends_sharply, resisted_effort
from mbsim_ros.integrators.planar.chain_kernel import (
    SEARCHES,
    add_springs,
    correct,
    inertia_into,
    judge_correction,
    largest_norm_error,
    potential_at,
    remember_correction,
    spin_energy,
    unit,
)
from mbsim_ros.jit import helper, kernel
from mbsim_ros.linalg.dense_kernel import solve_pivoting

PRINTED, CHORD, ANGLE = range(3)
ITERATIONS = 60
CONVERGED = 1.0e-11  # of an update, in radians: Newton squares it, so what is left is below rounding
LONGEST = 0.25  # update of f that is taken whole
# Rows of `vectors` (complex), `numbers` (real) and `matrices` (n, n).
DIRECTION, TANGENT, GRADIENT = range(3)
VECTORS = 3
SPEED, SPEED_SLOPE, SPIN_RATE, FACTOR, MOMENTUM, INERTIAL, FORCE, RESISTANCE, STEP, RESIDUAL, SUMS = range(11)
NUMBERS = 12
EVEN, ODD, STIFFNESS, MOMENTUM_SLOPE, FORCE_SLOPE, JACOBIAN = range(6)
MATRICES = 6
# Columns of `record`, after each step: energies at the node (through p), in the middle, and of q_{k+1} with ω' (ERRATA
# A18), and the largest error of |q|, (5.2).
NODE_ENERGY, MIDDLE_ENERGY, MIXED_ENERGY, NORM_ERROR = range(4)
RECORD = 4


@kernel
def circle_steps_into(chain, forces, version, steps, h, q, p, half, angle, vectors, numbers, matrices, record):
    """Take steps of h from q (n,) complex and p (n,); half (n,) are the half angles f, the guess of the first step.

    forces: of the joints, as of joint_torques_kernel. angle (n,) grows by 2f.
    vectors (VECTORS, n), numbers (NUMBERS, n), matrices (MATRICES, n, n): scratch. record
    (steps or 0, RECORD) is written. Returns the steps done and all Newton iterations.
    """
    n = q.shape[0]
    total = 0
    for done in range(steps):
        used = solve_half_angles(chain, forces, version, h, q, p, half, angle, vectors, numbers, matrices)
        if used < 0:
            return done, total
        total += used
        middle_energy = 0.0
        if record.shape[0] > 0:
            middle_energy = spin_energy(matrices[EVEN], numbers[SPIN_RATE]) + potential_at(chain, vectors[DIRECTION])
        for i in range(n):
            start, speed = forces[2][i] * angle[i], forces[2][i] * numbers[SPEED, i]
            add_works(forces[0], forces[1], i, start + 0.5 * h * speed, speed, h, forces[3])
            p[i] += h * (numbers[INERTIAL, i] - numbers[FORCE, i])  # the two halves of (4.28) together
            q[i] = unit(q[i] * cmath.exp(2j * half[i]))  # (4.29), (4.30)
            angle[i] += 2.0 * half[i]
        if record.shape[0] > 0:
            write_record(chain, middle_energy, q, p, vectors, numbers, matrices, record[done])
    return steps, total


@helper
def solve_half_angles(chain, forces, version, h, q, p, half, angle, vectors, numbers, matrices):
    """Newton's method for f; ends with everything evaluated there. Returns the iterations, or −1.

    A correction that makes the residual longer is halved where forces of joints bend sharply, and only there.
    """
    residual, step = numbers[RESIDUAL], numbers[STEP]
    n = q.shape[0]
    largest = math.inf
    is_searching, before, scale = bends_sharply(forces[0]), math.inf, 0.0
    for iteration in range(SEARCHES if is_searching else ITERATIONS):
        evaluate(chain, version, h, q, half, vectors, numbers, matrices)
        for i in range(n):  # efforts and what resists, half of them at each end of the step
            start, speed = forces[2][i] * angle[i], forces[2][i] * numbers[SPEED, i]
            force, slope = resisted_effort(forces[0], forces[1], i, start + 0.5 * h * speed, speed, h)
            numbers[FORCE, i] -= forces[2][i] * force
            numbers[RESISTANCE, i] = slope
        if largest <= CONVERGED:
            return iteration
        for i in range(n):
            momentum = numbers[FACTOR, i] * numbers[MOMENTUM, i]
            residual[i] = momentum + 0.5 * h * (numbers[FORCE, i] - numbers[INERTIAL, i]) - p[i]
        before, scale, is_back = judge_correction(is_searching, residual, before, scale, step, half)
        if is_back:
            continue
        differentiate(version, h, half, vectors, numbers, matrices)
        for i in range(n):
            matrices[JACOBIAN, i, i] += 0.5 * h * numbers[RESISTANCE, i] * numbers[SPEED_SLOPE, i]
        if not solve_pivoting(residual.shape[0], matrices[JACOBIAN], residual, 0.0):
            return -1
        largest = correct(residual, 1.0, LONGEST, half)
        scale = remember_correction(residual, largest, LONGEST, step)
        if not largest < math.inf:
            return -1
    return -1


@helper
def evaluate(chain, version, h, q, half, vectors, numbers, matrices):
    """Write Mω', C/2 and G in the middle, per joint, and the matrices that their derivatives need."""
    d, tangent, gradient = vectors[DIRECTION], vectors[TANGENT], vectors[GRADIENT]
    rate, even, odd, stiffness = numbers[SPIN_RATE], matrices[EVEN], matrices[ODD], matrices[STIFFNESS]
    weight, n = chain[1], q.shape[0]
    direction, spin = 1.0 + 0.0j, 0.0
    for i in range(n):
        set_speed(version, h, half[i], i, numbers)
        direction *= q[i] * cmath.exp(1j * half[i])  # (4.29)
        spin += numbers[SPEED, i]
        d[i], rate[i] = direction, spin
        tangent[i], gradient[i] = 1j * direction, weight[i]
        for j in range(n):
            stiffness[i, j] = 0.0
    inertia_into(chain[0], d, even, odd)
    add_springs(chain, d, tangent, tangent, 1.0, 1.0, gradient, stiffness, numbers[SUMS : SUMS + 2])
    momentum = inertial = force = 0.0
    for j in range(n - 1, -1, -1):  # a joint carries all links from its own on
        across = 0.0
        for k in range(n):
            momentum += even[j, k] * rate[k]
            across += odd[j, k] * rate[k]
        inertial += rate[j] * across
        force += (tangent[j].conjugate() * gradient[j]).real
        stiffness[j, j] -= (d[j].conjugate() * gradient[j]).real
        numbers[MOMENTUM, j], numbers[INERTIAL, j], numbers[FORCE, j] = momentum, inertial, force


@helper
def set_speed(version, h, half, i, numbers):
    """Write ω', its derivative by f, and the factor of Mω'."""
    numbers[FACTOR, i] = 1.0
    if version == ANGLE:
        numbers[SPEED, i], numbers[SPEED_SLOPE, i] = 2.0 * half / h, 2.0 / h
        return
    numbers[SPEED, i] = math.sin(2.0 * half) / h  # (4.31)
    numbers[SPEED_SLOPE, i] = 2.0 * math.cos(2.0 * half) / h
    if version == CHORD:
        numbers[FACTOR, i] = math.cos(2.0 * half)


@helper
def differentiate(version, h, half, vectors, numbers, matrices):
    """Write the derivative of the residual by f. Links turn with all joints before them: sums from the end."""
    rate, slope = numbers[SPIN_RATE], numbers[SPEED_SLOPE]
    even, odd, stiffness, jacobian = matrices[EVEN], matrices[ODD], matrices[STIFFNESS], matrices[JACOBIAN]
    momentum_slope, force_slope = matrices[MOMENTUM_SLOPE], matrices[FORCE_SLOPE]
    n = rate.shape[0]
    for j in range(n):
        across = along = 0.0  # S Ω, and N Ω without the link itself
        for k in range(n):
            across += odd[j, k] * rate[k]
            if k != j:
                along += even[j, k] * rate[k]
        momentum_by_rate = momentum_by_angle = inertial_by_rate = inertial_by_angle = potential_by_angle = 0.0
        for k in range(n - 1, -1, -1):
            momentum_by_rate += even[j, k]
            inertial_by_rate += rate[j] * odd[j, k]
            potential_by_angle += stiffness[j, k]
            if k == j:
                momentum_by_angle += across
                inertial_by_rate += across
                inertial_by_angle -= rate[j] * along
            else:
                momentum_by_angle -= odd[j, k] * rate[k]
                inertial_by_angle += rate[j] * even[j, k] * rate[k]
            momentum_slope[j, k] = slope[k] * momentum_by_rate + momentum_by_angle
            force = potential_by_angle - inertial_by_angle - slope[k] * inertial_by_rate
            force_slope[j, k] = 0.5 * h * force
    for k in range(n):
        momentum = force = 0.0
        for j in range(n - 1, -1, -1):
            momentum += momentum_slope[j, k]
            force += force_slope[j, k]
            jacobian[j, k] = numbers[FACTOR, j] * momentum + force
    if version == CHORD:
        for j in range(n):
            jacobian[j, j] -= 2.0 * math.sin(2.0 * half[j]) * numbers[MOMENTUM, j]


@helper
def write_record(chain, middle_energy, q, p, vectors, numbers, matrices, row):
    """Write the three energies and the error of the lengths. Overwrites directions and matrices."""
    d, even = vectors[DIRECTION], matrices[EVEN]
    direction = 1.0 + 0.0j
    for i in range(q.shape[0]):
        direction *= q[i]
        d[i] = direction
    potential = potential_at(chain, d)
    inertia_into(chain[0], d, even, matrices[ODD])
    row[MIDDLE_ENERGY], row[NORM_ERROR] = middle_energy, largest_norm_error(q)
    row[MIXED_ENERGY] = spin_energy(even, numbers[SPIN_RATE]) + potential
    row[NODE_ENERGY] = node_kinetic_energy(even, p, numbers[MOMENTUM]) + potential


@helper
def node_kinetic_energy(even, p, rate):
    """½ pᵀM⁻¹p; even (n, n) is overwritten, rate (n,) has the absolute rates of the links afterwards."""
    n = p.shape[0]
    for j in range(n):
        rate[j] = p[j] - (p[j + 1] if j + 1 < n else 0.0)
    solve_pivoting(rate.shape[0], even, rate, 0.0)
    energy = 0.0
    for j in range(n):
        energy += 0.5 * (p[j] - (p[j + 1] if j + 1 < n else 0.0)) * rate[j]
    return energy


@kernel
def node_rates_into(chain, q, p, vectors, matrices, rate):
    """Write the absolute rates (n,) of the links at the node (q, p)."""
    direction = 1.0 + 0.0j
    for i in range(q.shape[0]):
        direction *= q[i]
        vectors[DIRECTION, i] = direction
    inertia_into(chain[0], vectors[DIRECTION], matrices[EVEN], matrices[ODD])
    node_kinetic_energy(matrices[EVEN], p, rate)
