# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A dense solve on one thread, to time Algorithm 5.1 beside: libraries of linear algebra take all cores there are."""

from mbsim_ros.jit import kernel


@kernel
def solve_dense(A, x):
    """Replace x (n,) by A⁻¹ x with row pivoting; A (n, n) is overwritten. Zeros are no special case."""
    n = x.shape[0]
    for k in range(n):
        at = k
        for row in range(k + 1, n):
            if abs(A[row, k]) > abs(A[at, k]):
                at = row
        if at != k:
            for column in range(k, n):
                A[k, column], A[at, column] = A[at, column], A[k, column]
            x[k], x[at] = x[at], x[k]
        for row in range(k + 1, n):
            factor = A[row, k] / A[k, k]
            for column in range(k + 1, n):
                A[row, column] -= factor * A[k, column]
            x[row] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        for column in range(k + 1, n):
            x[k] -= A[k, column] * x[column]
        x[k] /= A[k, k]
