# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How exactly a step can be solved at all: what the rounding of lengths makes of stiff forces.

A spring of stiffness k between places x apart has an error of k ε x in its force, however small the force is, and so
an error of k (ε x)² in the energy by which the iteration judges itself. A robot that stands still on stiff ground, or
is held by stiff drives, has nothing else that this is small against.
"""

from mbsim_ros.contact.layout import KN, KT, POSITION
from mbsim_ros.elastic.springs_kernel import LENGTH, PLACE, REST_LENGTH, STIFFNESS_TANGENT
from mbsim_ros.integrators.layout import DRIVE_KD, DRIVE_KP, DRIVE_POSITION, DRIVE_VELOCITY, JOINT_STOP_STIFFNESS
from mbsim_ros.jit import helper

ROUNDING = (4.0e-15) ** 2  # a few roundings along the tree, squared


@helper
def rounding_energy(system, h, n_ground, n_pairs):
    """The energy ΔuᵀAΔu below which an iteration cannot get, with the forces as they are now."""
    state, joints = system.state, system.joints
    total = 0.0
    for i in range(state.p.shape[0]):
        at = system.tree.dof_q[i]
        if at >= 0:
            total += (
                held(system.drives, i, state.q[at], h) + joints[JOINT_STOP_STIFFNESS, i] * state.q[at] * state.q[at]
            )
    for i in range(state.u.shape[0]):
        total += held(system.motors, i, state.motor_position[i], h)
    for k in range(n_ground):
        n = system.contact.active[k]
        total += pressed(system.contact.parameters[n], system.contact.results[n])
    return ROUNDING * (total + pairs_and_springs(system.pairs, system.springs, n_pairs))


@helper
def pairs_and_springs(pairs, springs, n_pairs):
    """What may be None is an argument of its own: numba then compiles nothing for it."""
    total = 0.0
    if pairs is not None:
        for k in range(n_pairs):
            n = pairs.active[k]
            total += pressed(pairs.parameters[n], pairs.results[n])
    if springs is not None:
        for s in range(springs.states.shape[0]):
            spring, first = springs.states[s], springs.segments[springs.start[s]]
            x = spring[LENGTH] + springs.constants[s, REST_LENGTH]
            x += abs(first[PLACE]) + abs(first[PLACE + 1]) + abs(first[PLACE + 2])
            total += spring[STIFFNESS_TANGENT] * x * x
    return total


@helper
def held(drives, i, r, h):
    """k x² of a drive, and the same of its damper, whose x is the way of a step."""
    x, target = abs(r) + abs(drives[DRIVE_POSITION, i]), drives[DRIVE_VELOCITY, i]
    return drives[DRIVE_KP, i] * x * x + h * drives[DRIVE_KD, i] * target * target


@helper
def pressed(parameters, result):
    """k x² of a point in contact: where it is in the world is known to ε times its distance."""
    x = abs(result[POSITION]) + abs(result[POSITION + 1]) + abs(result[POSITION + 2])
    return (parameters[KN] + parameters[KT]) * x * x
