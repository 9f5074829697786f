# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The laws of contact/laws inside the solve of a step in maximal coordinates, in place of W's machine.

W's printed law has a damper that begins with a jump and an anchor, and changes the force only at the ends of steps, by
which an elastic ball gains height. Here the force is that of `lie_variational`: continuous, of the middle of the step,
part of W (5.11), with its whole derivative in W's M. With the normal n and the tangential projection P = 1 − n nᵀ

    f = f_n n + t,   f_n = N(depth, rate),   depth = radius − gap(p),   rate = −n·v
    t = −(k_t s + g P v), g = h/2 k_t + b_t; where that is longer than μ f_n, t = −μ f_n u, u its direction

    ∂f/∂p = −N_d l nᵀ
    ∂f/∂v = −N_r l nᵀ − (g P, or clipped (μ f_n/|k_t s + g v|) g (P − u uᵀ)),   l = n, or clipped n − μ u

p and v are place and mean velocity of the material that touches, which depend on X_next as in `add_contact_forces`. The
deflection s and the mode, which chooses μ, are those of the beginning of the step. The bend of the ground, ∂n/∂p, is
left out of the derivative: it is small beside k, and the residual has it all the same.
"""

from mbsim_ros.contact.contact_kernel import finish_step_into
from mbsim_ros.contact.law_kernel import friction_coefficient, normal_force, tangential_force
from mbsim_ros.contact.layout import (
    BT,
    CONTACT_RATE,
    DEPTH,
    FN,
    FORCE,
    KT,
    MU_DYNAMIC,
    MU_STATIC,
    NORMAL,
    SLIPS,
    STORED_NORMAL,
    STORED_TANGENTIAL,
    VELOCITY,
)
from mbsim_ros.jit import kernel


@kernel
def law_force_into(parameters, mode, s, h, result, slopes):
    """Write FN, SLIPS, FORCE and the slopes ∂f/∂p, ∂f/∂v (2, 3, 3); returns whether there is a force.

    s (3,): deflection at the beginning of the step. result has depth, rate, normal and tangential velocity.
    """
    result[SLIPS] = result[FORCE] = result[FORCE + 1] = result[FORCE + 2] = 0.0
    fn, by_depth, by_rate = normal_force(parameters, result[DEPTH], result[CONTACT_RATE])
    result[FN] = fn
    if not fn > 0.0:
        return False
    nx, ny, nz = result[NORMAL], result[NORMAL + 1], result[NORMAL + 2]
    out = nx * s[0] + ny * s[1] + nz * s[2]
    mu = friction_coefficient(mode, parameters[MU_STATIC], parameters[MU_DYNAMIC])
    tx, ty, tz, along, across, slips = tangential_force(
        parameters[KT], parameters[BT], mu * fn, h, s[0] - out * nx, s[1] - out * ny, s[2] - out * nz,
        result[VELOCITY], result[VELOCITY + 1], result[VELOCITY + 2],
    )  # fmt: skip
    result[SLIPS] = 1.0 if slips else 0.0
    result[FORCE], result[FORCE + 1], result[FORCE + 2] = fn * nx + tx, fn * ny + ty, fn * nz + tz
    ux = uy = uz = 0.0  # −u: where a clipped force points, in which it grows with f_n and not with the velocity
    if slips and mu > 0.0:
        ux, uy, uz = tx / (mu * fn), ty / (mu * fn), tz / (mu * fn)
    for row in range(3):
        n_row = nx if row == 0 else ny if row == 1 else nz
        u_row = ux if row == 0 else uy if row == 1 else uz
        l_row = n_row + mu * u_row
        for column in range(3):
            n_column = nx if column == 0 else ny if column == 1 else nz
            u_column = ux if column == 0 else uy if column == 1 else uz
            plane = (1.0 if row == column else 0.0) - n_row * n_column
            slopes[0, row, column] = -by_depth * l_row * n_column
            slopes[1, row, column] = -by_rate * l_row * n_column - across * plane + (across - along) * u_row * u_column
    return True


@kernel
def finish_laws(contact, h):
    """Carry modes and deflections to the end of the step whose last pass left the results, and book its energies."""
    contact.energies[STORED_NORMAL] = contact.energies[STORED_TANGENTIAL] = 0.0
    finish_step_into(contact.parameters, h, contact.modes, contact.deflections, contact.results, contact.energies)
