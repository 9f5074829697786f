# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Steps of Gauss collocation in (r, p), and of a floating base by its angular momentum.

Stages of the joints (Hairer, Lubich & Wanner, II.1.3), with p = ∂L/∂ṙ and f = ∂L/∂r + effort:
    R_i = r + h Σ a_ij V_j,  p(R_i, V_i) = p + h Σ a_ij f(R_j, V_j);  r ← r + h Σ b_i V_i,  p ← p + h Σ b_i f_i.
The unknowns are the velocities V_i. A chord iteration V_i ← V_i − M(R_i)⁻¹ (p(R_i, V_i) − …) solves for them, with the
factors of M from its first iterate; it begins with the polynomials of the two steps before.

A floating robot is seen from its centre of mass, which moves in closed form: there its linear momentum is zero and its
angular momentum l constant. Its orientation is a quaternion ε with ε̇ = ½ ε ω, and l in the axes of the base is ε* l ε,
which is the momentum that goes with ω. The same steps with the canonical (ε, p_ε) in ℝ⁴ × ℝ⁴ have p_ε = 2 l ε in every
stage, for both obey ẏ = ½ y ω, which commutes with a product from the left: so this is a Gauss method in canonical
coordinates, symplectic, and it keeps |ε|² and l, which are quadratic.
"""

import math

from mbsim_ros.integrators.gauss.arrays import (
    DIAGONAL,
    HA,
    ONE_BEFORE,
    STAGE_F,
    STAGE_Q,
    STAGE_R,
    STAGE_V,
    TURN_GYRE,
    TURN_RATE,
    TURN_REACH,
    TURN_SPIN,
    TURN_SUMS,
    TWO_BEFORE,
)
from mbsim_ros.integrators.gauss.chord_kernel import solve_in_place
from mbsim_ros.integrators.gauss.lanes import LANES, lane_row, spread_lane
from mbsim_ros.integrators.gauss.momentum_kernel import momenta_into
from mbsim_ros.integrators.state_bounds import FASTEST, FURTHEST
from mbsim_ros.jit import helper, kernel

# Why steps ended early, in place of OK.
UNSOLVED, IMPLAUSIBLE, OK = 0, 1, -1
MOST_ITERATIONS = 40
LEAST_RATE = 0.03  # of convergence that is believed: the first two iterations often gain more than the next
LITTLE = 0.1  # [rad or m] a motion in a step that is not small
SLOW = 0.4  # of an iteration's gain: slower, and the factors are made anew
STALLED, NEAR = 4, 1e-9  # so many iterations that do not halve what is left, this near, are at its rounding


@kernel
def gauss_steps_into(tree, coefficients, state, work, steps, gravity, force, tolerance):
    """Take steps; returns how many were done, OK or why no more, iterations, and what the last left unsolved."""
    weighs = not tree.floats and (gravity[0] != 0.0 or gravity[1] != 0.0 or gravity[2] != 0.0)
    total, left = 0, 0.0
    for done in range(steps):
        known = state.known[0]
        iterations, left = 0, math.inf
        while True:  # a start that was extrapolated too far is tried again without
            used, left = solve_stages(tree, coefficients, state, work, gravity, weighs, force, tolerance, known)
            iterations += used
            if left <= NEAR or known == 0:
                break
            known -= 1
        total += iterations
        if not left <= NEAR:
            return done, UNSOLVED, total, left
        if not is_plausible(tree, state, work):
            return done, IMPLAUSIBLE, total, left
        advance(tree, coefficients, state, work, gravity)
    return steps, OK, total, left


@helper
def solve_stages(tree, coefficients, state, work, gravity, weighs, force, tolerance, known):
    """Find the velocities of the stages; returns iterations, and the estimated error of h V, infinite if there is none.

    It is relative to h |V|, or to LITTLE where that is less.
    """
    begin_stages(tree, coefficients, state, work, known)
    last, rate, best, since, h = 1.0, 0.0, math.inf, 0, coefficients.h
    for iteration in range(MOST_ITERATIONS):
        momenta_into(tree, work, gravity, weighs, iteration == 0 or rate > SLOW)
        form_residuals(tree, coefficients, state, work, force)
        solve_in_place(tree, work)
        change, size = correct_stages(tree, coefficients, state, work)
        change = h * math.sqrt(change) / max(LITTLE, h * math.sqrt(size))
        if not change < 1e3:
            return iteration + 1, math.inf
        rate = min(max(change / last, LEAST_RATE), 1.0) if iteration > 0 else 1.0
        if change * rate <= tolerance:
            return iteration + 1, change * rate
        since = 0 if change < 0.5 * best else since + 1
        if since == 0:
            best = change
        elif since >= STALLED and change <= NEAR:
            return iteration + 1, change
        last = change
    return MOST_ITERATIONS, math.inf


@helper
def begin_stages(tree, coefficients, state, work, known):
    """Velocities from the steps before, positions and orientations with them."""
    v, e, s = lane_row(work.stages, STAGE_V), lane_row(coefficients.lanes, 0), coefficients.stages
    last, before = lane_row(state.history, 0), lane_row(state.history, 1)
    for i in range(state.p.shape[0]):
        if known == 0:
            v[i] = 0.0
        elif known == 1:
            v[i] = combined(e, ONE_BEFORE, last[i], s)
        else:
            v[i] = combined(e, TWO_BEFORE, before[i], s) + combined(e, TWO_BEFORE + s, last[i], s)
    place_stages(tree, coefficients, state, work)
    t = lane_row(work.turning, 0)
    t[TURN_REACH] = e[DIAGONAL]
    if tree.floats:
        for k in range(4):
            t[k] = state.turn[k]
        turn_stages(coefficients, state, work, 3)


@helper
def combined(coefficients, at, x, stages):
    """Σ_j c_j x_j: lanes of a sum over the stages."""
    total = coefficients[at] * spread_lane(x, 0) + coefficients[at + 1] * spread_lane(x, 1)
    if stages > 2:
        total += coefficients[at + 2] * spread_lane(x, 2)
    if stages > 3:
        total += coefficients[at + 3] * spread_lane(x, 3)
    return total


@helper
def place_stages(tree, coefficients, state, work):
    """R_i = r + h Σ a_ij V_j."""
    q, v, e = lane_row(work.stages, STAGE_Q), lane_row(work.stages, STAGE_V), lane_row(coefficients.lanes, 0)
    for i in range(6 * tree.floats, state.p.shape[0]):
        q[i] = state.r[i] + combined(e, HA, v[i], coefficients.stages)


@helper
def turn_stages(coefficients, state, work, rounds):
    """ε_i = ε + h Σ a_ij K_j, K_i = ½ ε_i ω_i, by fixed-point rounds, and Π_i = ε_i* l ε_i."""
    t, e = lane_row(work.turning, 0), lane_row(coefficients.lanes, 0)
    turn_rates(work)
    for _ in range(rounds):
        for k in range(4):
            t[k] = state.turn[k] + combined(e, HA, t[TURN_RATE + k], coefficients.stages)
        turn_rates(work)
    lx, ly, lz = state.spin[0], state.spin[1], state.spin[2]
    x, y, z, w = t[0], t[1], t[2], t[3]
    along, square = 2.0 * (x * lx + y * ly + z * lz), w * w - x * x - y * y - z * z
    w = 2.0 * w
    t[TURN_SPIN] = square * lx + along * x - w * (y * lz - z * ly)
    t[TURN_SPIN + 1] = square * ly + along * y - w * (z * lx - x * lz)
    t[TURN_SPIN + 2] = square * lz + along * z - w * (x * ly - y * lx)
    for k in range(3):
        t[TURN_GYRE + k] = e[DIAGONAL] * t[TURN_SPIN + k]


@helper
def turn_rates(work):
    """K = ½ ε ω."""
    t, v = lane_row(work.turning, 0), lane_row(work.stages, STAGE_V)
    i, j, k, r, x, y, z = t[0], t[1], t[2], t[3], 0.5 * v[3], 0.5 * v[4], 0.5 * v[5]
    t[TURN_RATE] = r * x + j * z - k * y
    t[TURN_RATE + 1] = r * y + k * x - i * z
    t[TURN_RATE + 2] = r * z + i * y - j * x
    t[TURN_RATE + 3] = -(i * x + j * y + k * z)


@helper
def form_residuals(tree, coefficients, state, work, force):
    """From the momenta of the stages take what they should be."""
    p, f, e = lane_row(work.stages, STAGE_R), lane_row(work.stages, STAGE_F), lane_row(coefficients.lanes, 0)
    for i in range(6 * tree.floats, state.p.shape[0]):
        f[i] += force[i]
        p[i] -= state.p[i] + combined(e, HA, f[i], coefficients.stages)
    if tree.floats:  # linear momentum 0, angular momentum Π
        t = lane_row(work.turning, 0)
        for k in range(3):
            p[3 + k] -= t[TURN_SPIN + k]


@helper
def correct_stages(tree, coefficients, state, work):
    """Take the solution from the velocities; returns the sums of squares of both."""
    v, x = lane_row(work.stages, STAGE_V), lane_row(work.stages, STAGE_R)
    sums = lane_row(work.turning, 0)
    change, size = 0.0 * x[0], 0.0 * x[0]
    for i in range(state.p.shape[0]):
        change += x[i] * x[i]
        v[i] -= x[i]
        size += v[i] * v[i]
    sums[TURN_SUMS], sums[TURN_SUMS + 1] = change, size
    place_stages(tree, coefficients, state, work)
    if tree.floats:
        turn_stages(coefficients, state, work, 2)
    changes, sizes = work.turning[0, TURN_SUMS], work.turning[0, TURN_SUMS + 1]
    return changes[0] + changes[1] + changes[2] + changes[3], sizes[0] + sizes[1] + sizes[2] + sizes[3]


@helper
def is_plausible(tree, state, work):
    """Whether the stages are within the bounds of states."""
    for i in range(state.p.shape[0]):
        for lane in range(LANES):
            if not abs(work.stages[STAGE_V, i, lane]) <= FASTEST:
                return False
            if i >= 6 * tree.floats and not abs(work.stages[STAGE_Q, i, lane]) <= FURTHEST:
                return False
    return True


@helper
def advance(tree, coefficients, state, work, gravity):
    """The node at the end of the step, with what rounding has left over from one step to the next."""
    b = coefficients.weights
    for i in range(6 * tree.floats, state.p.shape[0]):
        v, f = work.stages[STAGE_V, i], work.stages[STAGE_F, i]
        way = b[0] * v[0] + b[1] * v[1] + b[2] * v[2] + b[3] * v[3] + state.lost[0, i]
        push = b[0] * f[0] + b[1] * f[1] + b[2] * f[2] + b[3] * f[3] + state.lost[1, i]
        r, p = state.r[i] + way, state.p[i] + push
        state.lost[0, i], state.lost[1, i] = way - (r - state.r[i]), push - (p - state.p[i])
        state.r[i], state.p[i] = r, p
    if tree.floats:
        float_base(tree, coefficients, state, work, gravity)
    for i in range(state.p.shape[0]):
        for lane in range(LANES):
            state.history[1, i, lane] = state.history[0, i, lane]
            state.history[0, i, lane] = work.stages[STAGE_V, i, lane]
    state.known[0] = min(state.known[0] + 1, 2)


@helper
def float_base(tree, coefficients, state, work, gravity):
    """The orientation by its rates; the centre of mass as it falls."""
    b, h, mass = coefficients.weights, coefficients.h, tree.carried[0]
    square = 0.0
    for k in range(4):
        rate = work.turning[0, TURN_RATE + k]
        state.turn[k] += b[0] * rate[0] + b[1] * rate[1] + b[2] * rate[2] + b[3] * rate[3]
        square += state.turn[k] * state.turn[k]
    scale = 1.0 / math.sqrt(square)  # 1 but for rounding and what the stages left unsolved
    for k in range(4):
        state.turn[k] *= scale
    for k in range(3):
        fall, pull = h * gravity[k], state.astray[1, k] + h * mass * gravity[k]
        way = h * (state.linear[k] / mass + 0.5 * fall) + state.astray[0, k]
        centre, linear = state.centre[k] + way, state.linear[k] + pull
        state.astray[0, k], state.astray[1, k] = way - (centre - state.centre[k]), pull - (linear - state.linear[k])
        state.centre[k], state.linear[k] = centre, linear
