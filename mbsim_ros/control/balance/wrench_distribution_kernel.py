# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How the feet that stand share a wrench on the central body, W Algorithm 4.5. Everything in world axes.

Minimum norm   Foot i at r_i from the centre of mass contributes G_i F_i, G_i = [[1, 0], [r̂_i, 1]]. The least ΣF_i² is
               F_i = G_iᵀ (G Gᵀ)⁻¹ F, W (4.29): all feet have the same moment. Nothing says that the ground can do it.
               The norm adds N and N m: published is a length of 1 m between them, with which feet that are 0.3 m apart
               carry a moment almost wholly by twisting the soles. A length of the size of a sole, Σ f² + (τ/l)², lets
               them shift the load instead.

Friction cones The ground pushes at the points of the soles, inside friction pyramids: F = Σ a_j ρ_j with ρ_j ≥ 0, four
               edges a_j per point. That is all the limits there are: no pull, no slip, the centre of pressure within
               the sole, no more twist than friction gives. The quadratic programme

                   min ½ Σρ_j² + |A ρ − F|²/(2ε)   over ρ ≥ 0

               has the dual: min φ(y) = ½ Σ max(0, a_jᵀy)² + ½ε|y|² − Fᵀy over y in R⁶, ρ = max(0, Aᵀy). φ is convex
               with a piecewise linear slope, so Newton's method with the edges that push, (A₊A₊ᵀ + ε) y = F, and an
               exact search along its steps ends after finitely many. A wrench that can be had is had (to ε y); else
               the nearest one is. F is what the legs pass on to the central body: what the ground carries of the legs'
               own weight comes on top of it and is not in the limits.
"""

from mbsim_ros.control.joints.linear_kernel import SIX, solve_six
from mbsim_ros.jit import cross, helper

EDGES = 4  # of a friction pyramid
RIDGE = 1e-4  # ε
MOST_NEWTON_STEPS = 60
MOST_SEARCH_STEPS = 40
SETTLED = 1e-8  # of the slope against its start
AT, ALONG = 6, 7  # columns of A behind a_j: a_jᵀy and a_jᵀd


@helper
def minimum_norm_into(places, stands, length, F, H, y, wrenches):
    """Write F_i (feet, 6) in world axes at the places (feet, 3), seen from the centre of mass; zero for raised feet."""
    for r in range(SIX):
        y[r] = F[r]
        for c in range(SIX):
            H[r, c] = 0.0
    for i in range(places.shape[0]):
        for k in range(SIX):
            wrenches[i, k] = 0.0
        if not stands[i]:
            continue
        square = length * length
        x, y_, z = places[i, 0], places[i, 1], places[i, 2]
        for k in range(3):
            H[k, k] += 1.0
        # G Gᵀ = [[1, r̂ᵀ], [r̂, l² + r̂ r̂ᵀ]], lower half
        H[3, 1] -= z
        H[3, 2] += y_
        H[4, 0] += z
        H[4, 2] -= x
        H[5, 0] -= y_
        H[5, 1] += x
        H[3, 3] += square + y_ * y_ + z * z
        H[4, 4] += square + x * x + z * z
        H[5, 5] += square + x * x + y_ * y_
        H[4, 3] -= x * y_
        H[5, 3] -= x * z
        H[5, 4] -= y_ * z
    if not solve_six(H, y):
        return
    for i in range(places.shape[0]):
        if stands[i]:
            dx, dy, dz = cross(y[3], y[4], y[5], places[i, 0], places[i, 1], places[i, 2])
            wrenches[i, 0], wrenches[i, 1], wrenches[i, 2] = y[0] + dx, y[1] + dy, y[2] + dz
            square = length * length
            wrenches[i, 3], wrenches[i, 4], wrenches[i, 5] = square * y[3], square * y[4], square * y[5]


@helper
def within_cones_into(points, owner, places, stands, friction, weights, F, H, A, y, best, wrenches):
    """Write F_i (feet, 6) that the ground can give; returns the Newton steps taken.

    points (n, 3): points of soles from the centre of mass. owner (n,): the foot of each. weights (6,): of the parts of
    the wrench where not all can be had. A (n·4, 8), H (6, 6), best (6,): memory. y (6,): start, and result.
    """
    edges_into(points, owner, stands, friction, weights, A)
    steps, limit = 0, 0.0
    for k in range(SIX):
        limit = max(limit, SETTLED * abs(weights[k] * F[k]))
    for _ in range(MOST_NEWTON_STEPS):
        if slope_into(A, weights, F, y, best) <= limit:
            break
        steps += 1
        curvature_into(A, H)
        if not solve_six(H, best):  # best: the slope, then the step away from it
            break
        move_along(A, weights, F, best, y)
    share_into(points, owner, places, weights, A, y, wrenches)
    return steps


@helper
def slope_into(A, weights, F, y, slope):
    """Write the slope of φ at y and a_jᵀy; returns its largest entry."""
    for k in range(SIX):
        slope[k] = RIDGE * y[k] - weights[k] * F[k]
    for j in range(A.shape[0]):
        A[j, AT] = along(A, j, y)
        if A[j, AT] > 0.0:
            for k in range(SIX):
                slope[k] += A[j, AT] * A[j, k]
    largest = 0.0
    for k in range(SIX):
        largest = max(largest, abs(slope[k]))
    return largest


@helper
def curvature_into(A, H):
    """Write A₊A₊ᵀ + ε, lower half, with the edges that push; with all of them if none does."""
    everything = True
    for j in range(A.shape[0]):
        everything = everything and not A[j, AT] > 0.0
    for r in range(SIX):
        for c in range(SIX):
            H[r, c] = RIDGE if r == c else 0.0
    for j in range(A.shape[0]):
        if everything or A[j, AT] > 0.0:
            for r in range(SIX):
                for c in range(r + 1):
                    H[r, c] += A[j, r] * A[j, c]


@helper
def move_along(A, weights, F, step, y):
    """Replace y by y − t·step with the t at which φ is least: the root of a rising line with kinks, by Newton's method.

    φ(y − t·step) has the slope s(0) < 0 in t. Where only edges join or leave, every Newton iterate brackets the root.
    """
    base, ridge = 0.0, 0.0
    for k in range(SIX):
        base -= (RIDGE * y[k] - weights[k] * F[k]) * step[k]
        ridge += RIDGE * step[k] * step[k]
    for j in range(A.shape[0]):
        A[j, ALONG] = -along(A, j, step)
    low, high, t = 0.0, 1e9, 1.0
    for _ in range(MOST_SEARCH_STEPS):
        s, c = base + ridge * t, ridge
        for j in range(A.shape[0]):
            at = A[j, AT] + t * A[j, ALONG]
            if at > 0.0:
                s += at * A[j, ALONG]
                c += A[j, ALONG] * A[j, ALONG]
        if s > 0.0:
            high = t
        else:
            low = t
        following = t - s / c
        if not low < following < high:
            following = 0.5 * (low + high) if high < 1e9 else 2.0 * low
        if abs(following - t) <= 1e-14 * t:
            break
        t = following
    for k in range(SIX):
        y[k] -= t * step[k]


@helper
def edges_into(points, owner, stands, friction, weights, A):
    """Write the weighted wrenches of a unit push along each edge of each pyramid; zero for raised feet."""
    for i in range(points.shape[0]):
        for e in range(EDGES):
            j = EDGES * i + e
            fx = friction * (1.0 - e) if e % 2 == 0 else 0.0  # +x, +y, −x, −y
            fy = friction * (2.0 - e) if e % 2 == 1 else 0.0
            fz = 1.0
            if not stands[owner[i]]:
                fx = fy = fz = 0.0
            tx, ty, tz = cross(points[i, 0], points[i, 1], points[i, 2], fx, fy, fz)
            A[j, 0], A[j, 1], A[j, 2] = weights[0] * fx, weights[1] * fy, weights[2] * fz
            A[j, 3], A[j, 4], A[j, 5] = weights[3] * tx, weights[4] * ty, weights[5] * tz


@helper
def share_into(points, owner, places, weights, A, y, wrenches):
    """Write what the pushes ρ = max(0, Aᵀy) at its points make of each foot."""
    for i in range(places.shape[0]):
        for k in range(SIX):
            wrenches[i, k] = 0.0
    for j in range(A.shape[0]):
        push = along(A, j, y)
        if push > 0.0:
            point = points[j // EDGES]
            foot = owner[j // EDGES]
            fx, fy, fz = push * A[j, 0] / weights[0], push * A[j, 1] / weights[1], push * A[j, 2] / weights[2]
            tx, ty, tz = cross(
                point[0] - places[foot, 0], point[1] - places[foot, 1], point[2] - places[foot, 2], fx, fy, fz
            )
            wrenches[foot, 0] += fx
            wrenches[foot, 1] += fy
            wrenches[foot, 2] += fz
            wrenches[foot, 3] += tx
            wrenches[foot, 4] += ty
            wrenches[foot, 5] += tz


@helper
def along(A, j, y):
    """a_jᵀ y."""
    return A[j, 0] * y[0] + A[j, 1] * y[1] + A[j, 2] * y[2] + A[j, 3] * y[3] + A[j, 4] * y[4] + A[j, 5] * y[5]
