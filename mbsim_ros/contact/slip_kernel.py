# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What law_kernel.block_into leaves out of a slipping point unless it is full: friction follows the normal force.

C = −∂F/∂v then has c (f_t / f_n) nᵀ beside its symmetric part, c being what that has along the normal.
"""

from mbsim_ros.contact.layout import FN, FORCE, NORMAL
from mbsim_ros.jit import helper


@helper
def slip_gain(at, symmetric):
    """c / f_n of a point with these results, symmetric (9,) being its block."""
    nx, ny, nz = at[NORMAL], at[NORMAL + 1], at[NORMAL + 2]
    c = (
        nx * (symmetric[0] * nx + symmetric[1] * ny + symmetric[2] * nz)
        + ny * (symmetric[3] * nx + symmetric[4] * ny + symmetric[5] * nz)
        + nz * (symmetric[6] * nx + symmetric[7] * ny + symmetric[8] * nz)
    )
    return c / at[FN]


@helper
def slip_block_into(at, symmetric, block):
    """Write it (9,), row by row."""
    gain, nx, ny, nz = slip_gain(at, symmetric), at[NORMAL], at[NORMAL + 1], at[NORMAL + 2]
    for i in range(3):
        along = gain * (at[FORCE + i] - at[FN] * at[NORMAL + i])
        block[3 * i], block[3 * i + 1], block[3 * i + 2] = along * nx, along * ny, along * nz
