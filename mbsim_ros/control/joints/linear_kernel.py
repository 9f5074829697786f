# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Six equations with a symmetric positive definite matrix, in place."""

from mbsim_ros.jit import helper

SIX = 6


@helper
def solve_six(H, x):
    """Write H⁻¹ x over x (6,); H (6, 6), of which the lower half is read, becomes its Cholesky factor. False if not."""
    for j in range(SIX):
        d = H[j, j]
        for k in range(j):
            d -= H[j, k] * H[j, k]
        if not d > 0.0:
            return False
        d = d**0.5
        H[j, j] = d
        for i in range(j + 1, SIX):
            total = H[i, j]
            for k in range(j):
                total -= H[i, k] * H[j, k]
            H[i, j] = total / d
    for i in range(SIX):
        total = x[i]
        for k in range(i):
            total -= H[i, k] * x[k]
        x[i] = total / H[i, i]
    for i in range(SIX - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, SIX):
            total -= H[k, i] * x[k]
        x[i] = total / H[i, i]
    return True
