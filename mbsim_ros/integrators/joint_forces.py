# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Forces on single coordinates at the middle of a step, each with its part of the Jacobian and its energy.

A drive, damping, Coulomb friction and stops depend on one coordinate r and its rate v only, so their derivatives are
diagonal. With r at the middle moving by h/2 per unit of v, the slope −dQ/dv of a force −k r − b v is b + k h/2.
"""

import math

from mbsim_ros.integrators.layout import (
    DRIVE_EFFORT,
    DRIVE_KD,
    DRIVE_KP,
    DRIVE_LIMIT,
    DRIVE_POSITION,
    DRIVE_VELOCITY,
    JOINT_DAMPING,
    JOINT_FRICTION,
    JOINT_FRICTION_SPEED,
    JOINT_LOWER,
    JOINT_STOP_DAMPING,
    JOINT_STOP_STIFFNESS,
    JOINT_UPPER,
)
from mbsim_ros.jit import helper


@helper
def drive_force(drives, i, r, v, h):
    """Force of a drive and its slope: effort + PD, cut at the limit."""
    kp, kd, limit = drives[DRIVE_KP, i], drives[DRIVE_KD, i], drives[DRIVE_LIMIT, i]
    wanted = drives[DRIVE_EFFORT, i] + kp * (drives[DRIVE_POSITION, i] - r) + kd * (drives[DRIVE_VELOCITY, i] - v)
    if wanted > limit:
        return limit, 0.0
    if wanted < -limit:
        return -limit, 0.0
    return wanted, kd + 0.5 * h * kp


@helper
def force_beside(own, motor, slope, limit):
    """What is left of a motor's force, and its slope, beside what the joints' own drives do: together up to the limit.

    Gains of the joints' drives may be cut by it, too; that their slopes stay costs iterations, not correctness.
    """
    if not abs(own + motor) > limit:
        return motor, slope
    left = math.copysign(limit, own + motor) - own
    return (left if left * motor > 0.0 else 0.0), 0.0


@helper
def damping_force(joints, i, v):
    """Viscous damping and its slope."""
    return -joints[JOINT_DAMPING, i] * v, joints[JOINT_DAMPING, i]


@helper
def friction_force(joints, i, v):
    """Coulomb friction f v / √(v² + v₀²) and its slope: smooth, so that the solve converges."""
    f = joints[JOINT_FRICTION, i]
    if f == 0.0:
        return 0.0, 0.0
    small = joints[JOINT_FRICTION_SPEED, i]
    root = math.sqrt(v * v + small * small)
    return -f * v / root, f * small * small / (root * root * root)


@helper
def stop_force(joints, i, r, v, h):
    """Force of a position stop and its slope: a spring beyond the limit, damping fading in with depth; only pushes."""
    if r > joints[JOINT_UPPER, i]:
        depth, rate, sign = r - joints[JOINT_UPPER, i], v, -1.0
    elif r < joints[JOINT_LOWER, i]:
        depth, rate, sign = joints[JOINT_LOWER, i] - r, -v, 1.0
    else:
        return 0.0, 0.0
    k, b = joints[JOINT_STOP_STIFFNESS, i], joints[JOINT_STOP_DAMPING, i]
    fade = k * depth / (k * depth + b * FADE_RATE)
    force = k * depth + b * fade * rate
    if force <= 0.0:
        return 0.0, 0.0
    return sign * force, b * fade + 0.5 * h * k


FADE_RATE = 0.1  # [rad/s or m/s] the damping is half there when the spring force equals that of damping at this rate
