# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The energy-stable scheme of Egger, Habrich and Shashkov for planar chains, G 3.3 and (3.43), without multipliers.

With the mean v̄ = (v_0 + v_1)/2 a step is

    M (v_1 − v_0)/h + mean of ∂V/∂d along the step = C(d̄)ᵀ λ + f,    (d_1 − d_0)/h = v̄,    C(d̄)(d_1 − d_0) = 0.

The last says that d_1 − d_0 is across the mean d̄ = (d_0 + d_1)/2, link by link: d_1 − d_0 = i u d̄ with one number u
per link, which is the Cayley map d_1 = d_0 (1 + iu/2)/(1 − iu/2), so |d| = 1 is kept exactly. Along i d̄ the constraint
forces vanish, and n equations for n numbers are left. The mean of the gradient is a Gauss rule along the straight line
from d_0 to d_1: with one point (the middle) it is exact for weight alone, springs take more. Energy changes by what the
rule is off; the velocities keep their constraint Re(conj(d) v) = 0 only up to h² (ERRATA A21).
"""

import math

from mbsim_ros.integrators.joint_resistance_kernel import bends_sharply
from mbsim_ros.integrators.planar.chain_kernel import (
    SEARCHES,
    add_springs,
    chain_energy,
    correct,
    judge_correction,
    remember_correction,
    unit,
)
from mbsim_ros.integrators.planar.joint_torques_kernel import add_joint_torques, add_link_works
from mbsim_ros.jit import helper, kernel
from mbsim_ros.linalg.dense_kernel import solve_pivoting

ITERATIONS = 60
CONVERGED = 1.0e-11  # of an update times h, in radians: Newton squares it, so what is left is below rounding
LONGEST = 0.5  # update times h that is taken whole
# Rows of `vectors` (complex) and `numbers` (real).
MIDDLE, TANGENT, SLOPE, JUMP, PLACE, GRADIENT = range(6)
VECTORS = 6
TURN, SPIN, GROWTH, RATE, STEP, RESIDUAL, SUMS = range(7)
NUMBERS = 8
# Columns of `record`: energy, largest error of |d|² and of Re(conj(d) v), each after a step.
ENERGY, LENGTH_ERROR, RATE_ERROR = range(3)
RECORD = 3


@kernel
def energy_stable_steps_into(
    chain, forces, nodes, weights, steps, h, d, v, gain, angle, vectors, numbers, jacobian, record
):  # fmt: skip
    """Take steps of h from directions d (n,), their rates v (n,) and angles (n,), all of which are overwritten.

    forces: of the joints, as of joint_torques_kernel.
    gain (n,) is by how much u/h exceeds the rate at the start of the step; that of a step is the guess for the next.
    nodes, weights (points,): the Gauss rule on [0, 1]. vectors (VECTORS, n), numbers (NUMBERS, n), jacobian (n, n):
    scratch. record (steps or 0, RECORD) is written. Returns the steps done and all Newton iterations.
    """
    turn, middle, jump = numbers[TURN], vectors[MIDDLE], vectors[JUMP]
    total = 0
    for done in range(steps):
        used = solve_gains(chain, forces, nodes, weights, h, d, v, gain, angle, vectors, numbers, jacobian)
        if used < 0:
            return done, total
        total += used
        for i in range(d.shape[0]):
            numbers[RATE, i] = numbers[SPIN, i] + gain[i]
        add_link_works(forces, h, angle, numbers[RATE])
        for i in range(d.shape[0]):
            place_link(h, d[i], gain[i], i, vectors, numbers)
            v[i] += 2.0 * jump[i]
            d[i] = unit(middle[i] * (1.0 + 0.5j * turn[i]))
            angle[i] += 2.0 * math.atan(0.5 * turn[i])
        if record.shape[0] > 0:
            write_record(chain, d, v, record[done])
    return steps, total


@helper
def solve_gains(chain, forces, nodes, weights, h, d, v, gain, angle, vectors, numbers, jacobian):
    """Newton's method; returns the iterations, or −1 where it does not converge.

    A correction that makes the residual longer is halved where forces of joints bend sharply, and only there.
    """
    residual, step = numbers[RESIDUAL], numbers[STEP]
    n = d.shape[0]
    is_searching, before, scale = bends_sharply(forces[0]), math.inf, 0.0
    for i in range(n):
        square = d[i].real * d[i].real + d[i].imag * d[i].imag
        inside = d[i].conjugate() * v[i] / square
        numbers[GROWTH, i], numbers[SPIN, i] = inside.real, inside.imag
    for iteration in range(SEARCHES if is_searching else ITERATIONS):
        linearise(chain, nodes, weights, h, d, gain, vectors, numbers, jacobian)
        for i in range(n):
            numbers[RATE, i] = numbers[SPIN, i] + gain[i]
        add_joint_torques(forces, h, angle, numbers[RATE], residual, jacobian)  # G (3.8): their power is torque · u/h
        before, scale, is_back = judge_correction(is_searching, residual, before, scale, step, gain)
        if is_back:
            continue
        if not solve_pivoting(residual.shape[0], jacobian, residual, 0.0):
            return -1
        largest = correct(residual, h, LONGEST, gain)
        scale = remember_correction(residual, largest, LONGEST, step)
        if not largest < math.inf:
            return -1
        if largest <= CONVERGED:
            return iteration + 1
    return -1


@helper
def place_link(h, d, gain, i, vectors, numbers):
    """Write u, d̄ and the jump v̄ − v_0 of link i.

    The jump is h times an acceleration, while v̄ and v_0 are large beside it: with v_0 = (growth + i spin) d_0 it is
    written without their difference, or rounding would let the energy wander.
    """
    spin = numbers[SPIN, i] + gain
    turn = h * spin
    middle = d / (1.0 - 0.5j * turn)
    numbers[TURN, i], vectors[MIDDLE, i] = turn, middle
    vectors[JUMP, i] = complex(-numbers[GROWTH, i], gain) * d - 0.5 * spin * turn * middle


@helper
def linearise(chain, nodes, weights, h, d, gain, vectors, numbers, jacobian):
    """Write the residual of (3.43) along i d̄ and its derivative by the gains."""
    M, weight = chain[0], chain[1]
    turn, residual, sums = numbers[TURN], numbers[RESIDUAL], numbers[SUMS : SUMS + 2]
    middle, tangent, slope = vectors[MIDDLE], vectors[TANGENT], vectors[SLOPE]
    jump, place, gradient = vectors[JUMP], vectors[PLACE], vectors[GRADIENT]
    n = d.shape[0]
    for i in range(n):
        place_link(h, d[i], gain[i], i, vectors, numbers)
        tangent[i] = 1j * middle[i]
        slope[i] = h * tangent[i] / (1.0 - 0.5j * turn[i])  # of d_1 − d_0 = u i d̄
        gradient[i] = weight[i]
    for i in range(n):
        for j in range(n):
            gradient[i] += M[i, j] * (2.0 / h * jump[j])  # M (v_1 − v_0)/h
            jacobian[i, j] = 2.0 / (h * h) * (tangent[i].conjugate() * M[i, j] * slope[j]).real
    for q in range(nodes.shape[0]):
        for i in range(n):
            place[i] = d[i] + nodes[q] * turn[i] * tangent[i]  # (3.15)
        add_springs(
            chain, place, tangent, slope, weights[q], weights[q] * nodes[q], gradient, jacobian, sums
        )  # fmt: skip
    for i in range(n):
        residual[i] = (tangent[i].conjugate() * gradient[i]).real
        jacobian[i, i] += 0.5 * ((1j * slope[i]).conjugate() * gradient[i]).real  # i d̄ itself turns


@helper
def write_record(chain, d, v, row):
    """Write energy and constraint errors."""
    kinetic, potential = chain_energy(chain, d, v)
    row[ENERGY], row[LENGTH_ERROR], row[RATE_ERROR] = kinetic + potential, 0.0, 0.0
    for i in range(d.shape[0]):
        square = d[i].real * d[i].real + d[i].imag * d[i].imag
        row[LENGTH_ERROR] = max(row[LENGTH_ERROR], abs(square - 1.0))
        row[RATE_ERROR] = max(row[RATE_ERROR], abs((d[i].conjugate() * v[i]).real))
