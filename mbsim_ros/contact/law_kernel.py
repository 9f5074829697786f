# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The force law of a contact point: pure functions of depth, velocity and deflection. Modes change elsewhere.

W section 5.2 has a spring and a damper along the normal and along the ground. Along the normal the law is one of those
in contact/laws, by its number in the parameters. Along the ground two things differ from W, because here the law is
evaluated inside the solve of a step, where it must be continuous:

* the tangential spring acts on a deflection s, carried along by the velocity of the material at the contact,
  s_next = s + h P v, and not on the distance to an anchor, which moves under a foot that rolls;
* both modes have the same tangential law, spring and damper clipped at μ f_n (W's clipping in state 5), and differ in
  μ only. Sliding, the clipped force opposes the motion; W's -μ_d f_n v/‖v‖ is its limit at speed, and near rest the
  spring takes the place of W's -μ_d f_n v/zvt, which creeps. With μ_s = μ_d no change of mode changes the force.

Scalars in, scalars out. C stands for −∂F/∂v, v being the mean velocity over the step, on which the middle of the step
depends with h/2.
"""

import math

from mbsim_ros.contact.layout import LAW
from mbsim_ros.contact.modes import SLIDING_TO_STICKING, STICKING
from mbsim_ros.jit import helper, kernel
from mbsim_ros.kernel_cache.families import chosen_by_number, modules_of

DEFAULT_LAW = "spring_damper"
LAWS = modules_of("mbsim_ros.contact.laws", first=DEFAULT_LAW)


def _force_of(number, law, of_others):
    own = law.normal_force

    @kernel
    def normal_force(parameters, depth, rate):
        if parameters[LAW] == number:
            return own(parameters, depth, rate)
        return of_others(parameters, depth, rate)

    return normal_force


def _work_of(number, law, of_others):
    own = law.spring_work

    @kernel
    def spring_work(parameters, h, depth, rate):
        if parameters[LAW] == number:
            return own(parameters, h, depth, rate)
        return of_others(parameters, h, depth, rate)

    return spring_work


def _energy_of(number, law, of_others):
    own = law.spring_energy

    @kernel
    def spring_energy(parameters, depth):
        if parameters[LAW] == number:
            return own(parameters, depth)
        return of_others(parameters, depth)

    return spring_energy


@kernel
def no_force(_parameters, _depth, _rate):
    """The force of a law that there is not."""
    return 0.0, 0.0, 0.0


@kernel
def no_work(_parameters, _h, _depth, _rate):
    """What its spring takes."""
    return 0.0


@kernel
def no_energy(_parameters, _depth):
    """What its spring holds."""
    return 0.0


# of the law that the parameters name, as its file describes them
normal_force = chosen_by_number(LAWS, _force_of, no_force)
spring_work = chosen_by_number(LAWS, _work_of, no_work)
spring_energy = chosen_by_number(LAWS, _energy_of, no_energy)


@kernel
def friction_coefficient(mode, mu_static, mu_dynamic):
    """μ of a step that begins in this mode: static where the point sticks or was left to stick."""
    if mode == STICKING or mode == SLIDING_TO_STICKING:  # noqa: SIM109 (a tuple is slower in a kernel)
        return mu_static
    return mu_dynamic


@kernel
def tangential_force(kt, bt, bound, h, sx, sy, sz, vx, vy, vz):
    """Tangential force at the middle of a step from the deflection s at its beginning and the mean velocity v.

    s and v lie in the tangent plane; bound = μ f_n. Returns (fx, fy, fz, along, across, slips): the part of C along
    the force and across it, both ≥ 0, and whether the force was clipped.
    """
    gain = 0.5 * h * kt + bt
    tx, ty, tz = kt * sx + gain * vx, kt * sy + gain * vy, kt * sz + gain * vz
    trial = math.sqrt(tx * tx + ty * ty + tz * tz)
    if trial <= bound:
        return -tx, -ty, -tz, gain, gain, False
    ratio = bound / trial
    return -ratio * tx, -ratio * ty, -ratio * tz, 0.0, ratio * gain, True


@kernel
def next_deflection(kt, bound, h, sx, sy, sz, vx, vy, vz):
    """Deflection at the end of a step: s + h v, no longer than what the bound lets the spring hold."""
    sx, sy, sz = sx + h * vx, sy + h * vy, sz + h * vz
    pull = kt * math.sqrt(sx * sx + sy * sy + sz * sz)
    if pull <= bound:
        return sx, sy, sz
    ratio = bound / pull
    return ratio * sx, ratio * sy, ratio * sz


@helper
def block_into(c, mu, nx, ny, nz, fx, fy, fz, along, across, slips, full, block):
    """Write C (9,), row by row: c n nᵀ + along t tᵀ + across (1 − n nᵀ − t tᵀ), t the direction of the force.

    That is symmetric and positive semidefinite. full: adds what the change of f_n does to a clipped force, which is
    the whole derivative, not symmetric.
    """
    length = math.sqrt(fx * fx + fy * fy + fz * fz)
    inverse = 1.0 / length if length > 0.0 else 0.0
    tx, ty, tz = inverse * fx, inverse * fy, inverse * fz
    a, d = c - across, along - across
    xy, xz, yz = a * nx * ny + d * tx * ty, a * nx * nz + d * tx * tz, a * ny * nz + d * ty * tz
    block[0], block[1], block[2] = across + a * nx * nx + d * tx * tx, xy, xz
    block[3], block[4], block[5] = xy, across + a * ny * ny + d * ty * ty, yz
    block[6], block[7], block[8] = xz, yz, across + a * nz * nz + d * tz * tz
    if full and slips:
        e = mu * c
        block[0], block[1], block[2] = block[0] + e * tx * nx, block[1] + e * tx * ny, block[2] + e * tx * nz
        block[3], block[4], block[5] = block[3] + e * ty * nx, block[4] + e * ty * ny, block[5] + e * ty * nz
        block[6], block[7], block[8] = block[6] + e * tz * nx, block[7] + e * tz * ny, block[8] + e * tz * nz
