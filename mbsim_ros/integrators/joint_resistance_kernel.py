# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A constant effort and what resists a joint by itself, together: for schemes that have no other forces on joints."""

from mbsim_ros.integrators.joint_forces import FADE_RATE, damping_force, friction_force, stop_force
from mbsim_ros.integrators.layout import (
    JOINT_FRICTION,
    JOINT_LOWER,
    JOINT_STOP_DAMPING,
    JOINT_STOP_STIFFNESS,
    JOINT_UPPER,
    LEDGER_ACTUATORS,
    LEDGER_DAMPING,
    LEDGER_FRICTION,
    LEDGER_STOPS,
)
from mbsim_ros.jit import helper, kernel


@helper
def resisted_effort(joints, effort, i, r, v, h):
    """Force on joint i and its slope −dQ/dv, at the middle of a step: r moves by h/2 per unit of v."""
    damping, damping_slope = damping_force(joints, i, v)
    friction, friction_slope = friction_force(joints, i, v)
    stop, stop_slope = stop_force(joints, i, r, v, h)
    if stop != 0.0:
        stop_slope = max(0.0, stop_slope + fading_slope(joints, i, r, v, h))
    return effort[i] + damping + friction + stop, damping_slope + friction_slope + stop_slope


@helper
def fading_slope(joints, i, r, v, h):
    """What the slope of a stop's force has from its damping fading in, which stop_force leaves out."""
    is_above = r > joints[JOINT_UPPER, i]
    depth, rate = (r - joints[JOINT_UPPER, i], v) if is_above else (joints[JOINT_LOWER, i] - r, -v)
    k, b = joints[JOINT_STOP_STIFFNESS, i], joints[JOINT_STOP_DAMPING, i]
    half = b * FADE_RATE
    return 0.5 * h * b * rate * k * half / ((k * depth + half) * (k * depth + half))


@helper
def bends_sharply(joints):
    """Whether a joint has friction or a stop, whose forces Newton's method may step over for ever."""
    for i in range(joints.shape[1]):
        if joints[JOINT_FRICTION, i] != 0.0 or joints[JOINT_STOP_STIFFNESS, i] != 0.0:
            return True
    return False


@helper
def add_works(joints, effort, i, r, v, h, ledger):
    """Add the work of each of them over a step in which joint i moves by h v."""
    way = h * v
    ledger[LEDGER_ACTUATORS] += way * effort[i]
    ledger[LEDGER_DAMPING] += way * damping_force(joints, i, v)[0]
    ledger[LEDGER_FRICTION] += way * friction_force(joints, i, v)[0]
    ledger[LEDGER_STOPS] += way * stop_force(joints, i, r, v, h)[0]


@kernel
def resisted_efforts_into(joints, effort, r, v, h, force, slope):
    """Write forces and slopes (n,) of all joints, at r and v (n,) of the middle of a step."""
    for i in range(v.shape[0]):
        force[i], slope[i] = resisted_effort(joints, effort, i, r[i], v[i], h)


@kernel
def add_all_works(joints, effort, r, v, h, ledger):
    """Add the works of all joints."""
    for i in range(v.shape[0]):
        add_works(joints, effort, i, r[i], v[i], h, ledger)
