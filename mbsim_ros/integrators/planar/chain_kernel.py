# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the schemes for planar chains share: springs and inertia, in the directions of the links as complex numbers.

Link i points along d_i = exp(iθ_i), where θ_i is its absolute angle. Centres of mass, joints and the points where
springs are fastened are linear in the d, so that with complex constants

    kinetic energy     T = ½ Σ Re(conj(ḋ_j) M_jk ḋ_k)       G (3.31), M constant (ERRATA A1)
    weight             V = Σ Re(conj(weight_j) d_j)          G (3.35)
    spring segment     w = offset + Σ coefficient_j d_j      G (2.6), its length s = |w|

A chain comes as the tuple (M, weight, start, offset, coefficient, constants): spring s has the segments start[s] …
start[s + 1] − 1, its law is that of elastic.springs_kernel.
"""

import math

from mbsim_ros.elastic.springs_kernel import tension_of
from mbsim_ros.jit import helper, kernel

# Rows of `sums`, scratch of the springs.
LEFT_SUM, RIGHT_SUM = range(2)

# Newton's method where forces of joints bend sharply: iterations with those of the line search, the shortest part of a
# correction that is tried.
SEARCHES, SHORTEST = 300, 1.0e-3


@helper
def add_springs(chain, d, left, right, force_factor, stiffness_factor, gradient, stiffness, sums):
    """Add what springs do at the directions d (n,), and return what they store.

    gradient (n,) complex grows by force_factor · ∂V/∂d, G (2.8), (2.9); stiffness (n, n) by stiffness_factor · the
    second derivative of V along left_i and right_j, changes of d_i and d_j.
    """
    start, offset, coefficient, constants = chain[2], chain[3], chain[4], chain[5]
    n = d.shape[0]
    stored = 0.0
    for s in range(start.shape[0] - 1):
        length = 0.0
        for k in range(start[s], start[s + 1]):
            length += abs(segment(offset, coefficient, k, d))
        tension, _, k_s, _ = tension_of(constants[s], length, 0.0)
        if k_s <= 0.0:
            continue
        stored += 0.5 * tension * tension / k_s  # G (2.3), (2.4)
        for i in range(n):
            sums[LEFT_SUM, i] = sums[RIGHT_SUM, i] = 0.0
        for k in range(start[s], start[s + 1]):
            w = segment(offset, coefficient, k, d)
            size = abs(w)
            if size > 0.0:  # a segment of no length has no direction
                add_segment(
                    coefficient[k], w / size, tension / size, left, right, force_factor * tension, stiffness_factor,
                    gradient, stiffness, sums,
                )  # fmt: skip
        for i in range(n):
            for j in range(n):
                stiffness[i, j] += stiffness_factor * k_s * sums[LEFT_SUM, i] * sums[RIGHT_SUM, j]
    return stored


@helper
def segment(offset, coefficient, k, d):
    """The vector along segment k, G (2.6)."""
    w = offset[k]
    for j in range(d.shape[0]):
        w += coefficient[k, j] * d[j]
    return w


@helper
def add_segment(
    coefficient, direction, transverse, left, right, pull, stiffness_factor, gradient, stiffness, sums
):  # fmt: skip
    """Add one segment: its pull along itself, and the stiffness tension/length across it."""
    n = left.shape[0]
    for i in range(n):
        gradient[i] += pull * coefficient[i].conjugate() * direction
        along = direction.conjugate() * coefficient[i] * left[i]
        sums[LEFT_SUM, i] += along.real
        for j in range(n):
            other = direction.conjugate() * coefficient[j] * right[j]
            stiffness[i, j] += stiffness_factor * transverse * along.imag * other.imag
    for j in range(n):
        sums[RIGHT_SUM, j] += (direction.conjugate() * coefficient[j] * right[j]).real


@helper
def spring_energy_at(chain, d):
    """What the springs store at the directions d (n,)."""
    start, offset, coefficient, constants = chain[2], chain[3], chain[4], chain[5]
    stored = 0.0
    for s in range(start.shape[0] - 1):
        length = 0.0
        for k in range(start[s], start[s + 1]):
            length += abs(segment(offset, coefficient, k, d))
        tension, _, k_s, _ = tension_of(constants[s], length, 0.0)
        if k_s > 0.0:
            stored += 0.5 * tension * tension / k_s
    return stored


@helper
def potential_at(chain, d):
    """Weight and springs at the directions d (n,)."""
    total = spring_energy_at(chain, d)
    weight = chain[1]
    for i in range(d.shape[0]):
        total += (weight[i].conjugate() * d[i]).real  # G (3.35)
    return total


@kernel
def chain_energy(chain, d, velocity):
    """Kinetic and potential energy at directions d (n,) that change by velocity (n,), both complex."""
    M = chain[0]
    kinetic = 0.0
    for i in range(d.shape[0]):
        momentum = 0.0j
        for j in range(d.shape[0]):
            momentum += M[i, j] * velocity[j]
        kinetic += 0.5 * (velocity[i].conjugate() * momentum).real  # G (3.31)
    return kinetic, potential_at(chain, d)


@helper
def inertia_into(M, d, even, odd):
    """Write N and S (n, n), real and imaginary part of conj(d_j) M_jk d_k.

    With absolute angles θ and rates Ω the kinetic energy is ½ ΩᵀNΩ, and ∂N_jk/∂θ_k = −S_jk, ∂S_jk/∂θ_k = N_jk.
    """
    n = d.shape[0]
    for j in range(n):
        for k in range(n):
            z = d[j].conjugate() * M[j, k] * d[k]
            even[j, k] = z.real
            odd[j, k] = z.imag


@helper
def spin_energy(even, rate):
    """½ ΩᵀNΩ."""
    total = 0.0
    for j in range(rate.shape[0]):
        for k in range(rate.shape[0]):
            total += 0.5 * rate[j] * even[j, k] * rate[k]
    return total


@helper
def unit(d):
    """D scaled to length 1, for a d whose length is 1 up to rounding."""
    return d * (1.5 - 0.5 * (d.real * d.real + d.imag * d.imag))


@helper
def largest_norm_error(d):
    """Largest distance of the lengths of d (n,) from 1."""
    worst = 0.0
    for i in range(d.shape[0]):
        worst = max(worst, abs(math.sqrt(d[i].real * d[i].real + d[i].imag * d[i].imag) - 1.0))
    return worst


@helper
def judge_correction(is_searching, residual, before, scale, step, unknown):
    """Where one searches: take half of the last correction back if the residual (n,) is no shorter after it.

    before: its squares at the start of that correction, step (n,), of which `scale` was taken off the unknowns. Returns
    squares and scale of now, and whether half was taken back.
    """
    if not is_searching:
        return before, scale, False
    squares = 0.0
    for i in range(residual.shape[0]):
        squares += residual[i] * residual[i]
    if squares < before or scale <= SHORTEST:
        return squares, scale, False
    for i in range(residual.shape[0]):
        unknown[i] += 0.5 * scale * step[i]
    return before, 0.5 * scale, True


@helper
def remember_correction(residual, largest, longest, step):
    """Write the correction that `correct` has taken off to step (n,); returns how much of it that was."""
    for i in range(residual.shape[0]):
        step[i] = residual[i]
    return 1.0 if largest <= longest else longest / largest


@helper
def correct(residual, h, longest, unknown):
    """Take a solved Newton correction off the unknowns, shortened where h times it is longer than `longest`.

    Returns h times its largest entry; infinity, with nothing changed, where it is no number.
    """
    largest = 0.0
    for i in range(residual.shape[0]):
        largest = max(largest, h * abs(residual[i]))
        if not abs(residual[i]) < math.inf:
            return math.inf
    scale = 1.0 if largest <= longest else longest / largest
    for i in range(residual.shape[0]):
        unknown[i] -= scale * residual[i]
    return largest
