# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Point masses with rigid bars under gravity: SHAKE, RATTLE and the energy-momentum scheme, a step each.

q (n, 3); bars (m, 2): the two ends of a bar, -1 for the origin, which is fixed; squares (m,): lengths squared. The
constraint of a bar is g = |d|² − l² with d the way between its ends, W (2.54). acceleration (n, 3): of each mass by the
forces on it, its weight among them. `work` is (m + 3n, m + 3n + 1) at least. Kernels return the steps done and all
iterations.
"""

from mbsim_ros.integrators.maximal.tree_solver_kernel import gauss_jordan
from mbsim_ros.jit import helper, kernel

MOST_ITERATIONS = 50
ROUNDING = 1.0e-15  # of a length squared


@helper
def way(q, bars, j, k):
    """Component k of the way along bar j."""
    other = q[bars[j, 1], k] if bars[j, 1] >= 0 else 0.0
    return (q[bars[j, 0], k] if bars[j, 0] >= 0 else 0.0) - other


@helper
def add_pull(bars, j, dx, dy, dz, factor, out):
    """Add factor · Dgᵀ of bar j, 2 d on its first end and −2 d on the other, to out (n, 3)."""
    for end in range(2):
        body = bars[j, end]
        if body >= 0:
            f = 2.0 * factor if end == 0 else -2.0 * factor
            out[body, 0] += f * dx
            out[body, 1] += f * dy
            out[body, 2] += f * dz


@helper
def overlap(masses, bars, q, i, later, j):
    """Dg_j(later) M⁻¹ Dg_iᵀ(q)."""
    along = way(q, bars, i, 0) * way(later, bars, j, 0) + way(q, bars, i, 1) * way(later, bars, j, 1)
    along += way(q, bars, i, 2) * way(later, bars, j, 2)
    total = 0.0
    for a in range(2):
        for b in range(2):
            if bars[i, a] == bars[j, b] and bars[i, a] >= 0:
                total += (4.0 if a == b else -4.0) / masses[bars[i, a]]
    return total * along


@helper
def reach(masses, bars, squares, q, q_next, increment, free, h, pulls, work):
    """Find pulls λ (m,) with which q + increment has the bars' lengths; increment = free + h M⁻¹ Dgᵀ(q) λ.

    Returns the iterations, or −1 where there are none.
    """
    m = bars.shape[0]
    before = 1.0e300
    for count in range(MOST_ITERATIONS):
        for i in range(q.shape[0]):
            for k in range(3):
                increment[i, k] = 0.0
        for j in range(m):
            add_pull(bars, j, way(q, bars, j, 0), way(q, bars, j, 1), way(q, bars, j, 2), h * pulls[j], increment)
        for i in range(q.shape[0]):
            for k in range(3):
                increment[i, k] = free[i, k] + increment[i, k] / masses[i]
                q_next[i, k] = q[i, k] + increment[i, k]
        worst = 0.0
        for j in range(m):
            x, y, z = way(q_next, bars, j, 0), way(q_next, bars, j, 1), way(q_next, bars, j, 2)
            work[j, m] = -(x * x + y * y + z * z - squares[j])
            worst = max(worst, abs(work[j, m]) / squares[j])
        if worst <= ROUNDING or (worst < 1.0e-12 and worst > 0.25 * before):
            return count
        before = worst
        for j in range(m):
            for i in range(m):
                work[j, i] = h * overlap(masses, bars, q, i, q_next, j)
        if not gauss_jordan(work, m, m + 1):
            return -1
        for j in range(m):
            pulls[j] += work[j, m]
    return -1


@kernel
def shake_steps(masses, bars, squares, acceleration, h, q, increment, pulls, free, q_next, work, by_places, track):
    """SHAKE, W (2.32) and (2.55); the state is q and the last increment of it.

    by_places: W's form, in which the increment is the difference of two places, rounded as these are.

    increment_next = increment + h² M⁻¹ (F + Dgᵀ(q) λ), g(q_next) = 0. track (steps, n, 3) gets q after every step.
    """
    total = 0
    for step in range(track.shape[0]):
        for i in range(q.shape[0]):
            for k in range(3):
                free[i, k] = increment[i, k] + h * h * acceleration[i, k]
        used = reach(masses, bars, squares, q, q_next, increment, free, h * h, pulls, work)
        if used < 0:
            return step, total
        total += used
        for i in range(q.shape[0]):
            for k in range(3):
                if by_places:
                    increment[i, k] = q_next[i, k] - q[i, k]
                q[i, k] = track[step, i, k] = q_next[i, k]
    return track.shape[0], total


@kernel
def rattle_steps(masses, bars, squares, acceleration, h, q, p, pulls, free, q_next, increment, work, track, momenta):
    """RATTLE, W (2.33)–(2.37); track and momenta (steps, n, 3) get q and p after every step."""
    m, total = bars.shape[0], 0
    for step in range(track.shape[0]):
        for i in range(q.shape[0]):
            for k in range(3):
                free[i, k] = h * (p[i, k] / masses[i] + 0.5 * h * acceleration[i, k])
        used = reach(masses, bars, squares, q, q_next, increment, free, 0.5 * h * h, pulls, work)
        if used < 0:
            return step, total
        total += used
        for i in range(q.shape[0]):
            for k in range(3):
                q[i, k] = track[step, i, k] = q_next[i, k]
                p[i, k] = masses[i] * (increment[i, k] / h + 0.5 * h * acceleration[i, k])
        for j in range(m):  # W (2.36), (2.37): the part of p along the bars goes
            for i in range(m):
                work[j, i] = overlap(masses, bars, q, i, q, j)
            work[j, m] = 0.0
            for end in range(2):
                body = bars[j, end]
                if body >= 0:
                    sign = -2.0 if end == 0 else 2.0
                    for k in range(3):
                        work[j, m] += sign * way(q, bars, j, k) * p[body, k] / masses[body]
        if not gauss_jordan(work, m, m + 1):
            return step, total
        for j in range(m):
            add_pull(bars, j, way(q, bars, j, 0), way(q, bars, j, 1), way(q, bars, j, 2), work[j, m], p)
        for i in range(q.shape[0]):
            for k in range(3):
                momenta[step, i, k] = p[i, k]
    return track.shape[0], total


@kernel
def energy_momentum_steps(masses, bars, squares, acceleration, h, q, p, pulls, q_next, p_next, work, track, momenta):
    """The energy-momentum scheme of W 2.4.2; track and momenta (steps, n, 3) get q and p after every step.

    q_next = q + h M⁻¹ (p + p_next)/2 and p_next = p + h F − λ (d + d_next) along every bar, with g(q_next) = 0: pulls
    at the mean of both ends of the step do exactly the work that keeps the energy.
    """
    total = 0
    for step in range(track.shape[0]):
        for i in range(q.shape[0]):
            for k in range(3):
                q_next[i, k] = q[i, k] + h * (p[i, k] / masses[i] + 0.5 * h * acceleration[i, k])
        used = energy_momentum_step(masses, bars, squares, acceleration, h, q, p, pulls, q_next, p_next, work)
        if used < 0:
            return step, total
        total += used
        for i in range(q.shape[0]):
            for k in range(3):
                p[i, k] = momenta[step, i, k] = p_next[i, k]
                q[i, k] = track[step, i, k] = q_next[i, k]
    return track.shape[0], total


@helper
def energy_momentum_step(masses, bars, squares, acceleration, h, q, p, pulls, q_next, p_next, work):
    """Newton's method for q_next and the pulls; the equations are q_next − q − h M⁻¹ (p + p_next)/2 = 0 and g = 0.

    Returns the iterations, or −1.
    """
    n, m = q.shape[0], bars.shape[0]
    size = 3 * n + m
    before = 1.0e300
    for count in range(MOST_ITERATIONS):
        for row in range(size):
            for column in range(size + 1):
                work[row, column] = 0.0
        for i in range(n):
            for k in range(3):
                p_next[i, k] = p[i, k] + h * masses[i] * acceleration[i, k]
                work[3 * i + k, 3 * i + k] = 1.0
        worst = 0.0
        for j in range(m):
            row = 3 * n + j
            gap = -squares[j]
            for k in range(3):
                d, d_next = way(q, bars, j, k), way(q_next, bars, j, k)
                gap += d_next * d_next
                for end in range(2):
                    body = bars[j, end]
                    if body < 0:
                        continue
                    sign, half = (1.0 if end == 0 else -1.0), 0.5 * h / masses[body]
                    p_next[body, k] -= sign * pulls[j] * (d + d_next)
                    work[row, 3 * body + k] = sign * 2.0 * d_next
                    work[3 * body + k, row] = sign * half * (d + d_next)
                    for end_too in range(2):
                        other = bars[j, end_too]
                        if other >= 0:
                            work[3 * body + k, 3 * other + k] += (1.0 if end == end_too else -1.0) * half * pulls[j]
            work[row, size] = -gap
            worst = max(worst, abs(gap) / squares[j])
        for i in range(n):
            for k in range(3):
                left = q_next[i, k] - q[i, k] - 0.5 * h * (p[i, k] + p_next[i, k]) / masses[i]
                work[3 * i + k, size] = -left
                worst = max(worst, abs(left))
        if worst <= ROUNDING or (worst < 1.0e-12 and worst > 0.25 * before):
            return count
        before = worst
        if not gauss_jordan(work, size, size + 1):
            return -1
        for i in range(n):
            for k in range(3):
                q_next[i, k] += work[3 * i + k, size]
        for j in range(m):
            pulls[j] += work[3 * n + j, size]
    return -1
