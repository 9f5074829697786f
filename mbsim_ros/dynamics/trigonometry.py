# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Sines and cosines of all joint angles at once, without branches, so that the compiler vectorises the loop.

A library call per angle would cost as much as the rest of inverse dynamics. The argument is reduced by multiples of
π/2 given in three parts (Cody and Waite), exact while the multiple has at most 20 bits; on |r| ≤ π/4 sine and cosine
are polynomials whose truncation error is below 2^-57. Larger angles take the library's functions.
"""

import math

import numpy as np

from mbsim_ros.jit import helper

TWO_OVER_PI = 2.0 / math.pi
# π/2 = P1 + P2 + P3 + 2e-42; P1 and P2 have 33 significant bits, so that k·P1 and k·P2 are exact
P1 = float.fromhex("0x1.921fb544p+0")
P2 = float.fromhex("0x1.0b4611a6p-34")
P3 = float.fromhex("0x1.3198a2e037073p-69")
LARGEST_REDUCED = 1.0e6


@helper
def cosines_and_sines(q, cosines, sines):
    """Write cos and sin of every entry of q (also of those that are no angles: a branch would cost more)."""
    n = q.shape[0]
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(q[i]))
    if not largest <= LARGEST_REDUCED:
        for i in range(n):
            cosines[i] = math.cos(q[i])
            sines[i] = math.sin(q[i])
        return
    for i in range(n):
        x = q[i]
        k = np.rint(x * TWO_OVER_PI)
        r = ((x - k * P1) - k * P2) - k * P3
        z = r * r
        s = r + r * z * (
            -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
            + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))))
        )  # fmt: skip
        c = 1.0 - 0.5 * z + z * z * (
            4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
            + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))))
        )  # fmt: skip
        # k mod 4 says in which quadrant r lies: swap for odd k, change signs in the second half
        quadrant = k - 4.0 * np.floor(0.25 * k)
        odd = quadrant == 1.0 or quadrant == 3.0
        sine = c if odd else s
        cosine = s if odd else c
        sines[i] = -sine if quadrant >= 2.0 else sine
        cosines[i] = -cosine if quadrant == 1.0 or quadrant == 2.0 else cosine
