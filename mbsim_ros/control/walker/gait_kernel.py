# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Targets of the walker's five motors at many times, from the motions of the step under way.

A plan has a row for every motion, see the names below; a row is a quintic as `control/joints/quintic.py` makes them:
when it begins, how long it takes, where it ends, and six coefficients in the share of its time.
"""

import math

from mbsim_ros.jit import helper, kernel

FEMUR, FOOT_RADIUS = 0.2, 0.02  # [m]
SHIN_A, SHIN_B = 0.4, 0.32
HIP_DEPTH_A, HIP_DEPTH_B = 0.0, 0.08  # of the hips below the top frame
FURTHEST = 1.2  # [rad] of a femur, by its stops

DEPTH, WAIST, UP, DOWN, REACH, DEEPER, SETTLING = 0, 1, 2, 3, 4, 6, 8  # REACH and DEEPER of A and B
ROWS = 13
BEGIN, DURATION, END, COEFFICIENTS = 0, 1, 2, 3
COLUMNS = 9
NOBODY = -1  # swings


@kernel
def targets_into(times, rates, plan, swing, settled, targets):
    """Write angles and rates of the motors, targets (n, 2, 5), at times (n,) of the gait that pass at rates (n,).

    plan (ROWS, COLUMNS); swing: 0 for A, 1 for B, or NOBODY; settled: when the motions SETTLING are over.
    """
    for i in range(times.shape[0]):
        time, rate = times[i], rates[i]
        depth, depth_rate = quintic_at(plan, DEPTH, time)
        angle, speed = quintic_at(plan, WAIST, time)
        targets[i, 0, 0], targets[i, 1, 0] = angle, rate * speed
        for frame in range(2):
            reach, reach_rate = quintic_at(plan, REACH + frame, time)
            deeper, deeper_rate = quintic_at(plan, DEEPER + frame, time)
            here, here_rate = depth + deeper, depth_rate + deeper_rate
            if frame == swing:
                risen, rising = quintic_at(plan, UP, time)
                sunk, sinking = quintic_at(plan, DOWN, time)
                here, here_rate = here - (risen - sunk), here_rate - (rising - sinking)
            shin, hip = (SHIN_A, HIP_DEPTH_A) if frame == 0 else (SHIN_B, HIP_DEPTH_B)
            phi, theta, phi_rate, theta_rate = leg_angles(shin, hip, reach, reach_rate, here, here_rate)
            k = 1 + 2 * frame
            targets[i, 0, k], targets[i, 1, k] = phi, rate * phi_rate
            targets[i, 0, k + 1], targets[i, 1, k + 1] = theta, rate * theta_rate
        if time < settled:
            for k in range(5):
                offset, offset_rate = quintic_at(plan, SETTLING + k, time)
                targets[i, 0, k] += offset
                targets[i, 1, k] += rate * offset_rate


@helper
def quintic_at(plan, row, time):
    """Position and velocity of a motion."""
    duration = plan[row, DURATION]
    s = (time - plan[row, BEGIN]) / duration
    c0, c1 = plan[row, COEFFICIENTS], plan[row, COEFFICIENTS + 1]
    if s >= 1.0:
        return plan[row, END], 0.0
    if s <= 0.0:
        return c0, (c1 / duration if s == 0.0 else 0.0)
    c2, c3 = plan[row, COEFFICIENTS + 2], plan[row, COEFFICIENTS + 3]
    c4, c5 = plan[row, COEFFICIENTS + 4], plan[row, COEFFICIENTS + 5]
    position = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    rate = c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
    return position, rate / duration


@kernel
def leg_angles(shin, hip, reach, reach_rate, depth, depth_rate):
    """φ, θ and their rates for feet that reach so far and stand so deep, see `walker_legs.motor_angles`."""
    theta = shin_angle(shin, reach)
    sine, cosine = math.sin(theta), math.cos(theta)
    theta_rate = -reach_rate / (shin * cosine + FOOT_RADIUS)
    lowering = (depth - hip - shin * cosine) / FEMUR
    if abs(lowering) >= math.sin(FURTHEST):
        return math.copysign(FURTHEST, lowering), theta, 0.0, theta_rate
    phi = math.asin(lowering)
    return phi, theta, (depth_rate + shin * sine * theta_rate) / (FEMUR * math.cos(phi)), theta_rate


@kernel
def shin_angle(shin, reach):
    """θ for feet that reach this far before their hips: the root of L sin θ + r θ + reach."""
    angle = -reach / (shin + FOOT_RADIUS)
    for _ in range(4):  # Newton: quadratic, from an error of a few percent
        error = shin * math.sin(angle) + FOOT_RADIUS * angle + reach
        angle -= error / (shin * math.cos(angle) + FOOT_RADIUS)
        if abs(error) < 1e-9:
            break
    return angle
