# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Targets of a walker's five motors at many times, from the motions of the step under way.

A plan has a row for every motion, see the names below; a row is a quintic as `control/joints/quintic.py` makes them:
when it begins, how long it takes, where it ends, and six coefficients in the share of its time.
"""

import math

from mbsim_ros.jit import helper, kernel

# columns of `lengths`, which has a row for each frame [m, rad]
FEMUR, SHIN, HIP_DEPTH, FOOT_RADIUS, FURTHEST, SINE_OF_FURTHEST = range(6)
LENGTHS = 6

DEPTH, WAIST, UP, DOWN, REACH, DEEPER, SETTLING = 0, 1, 2, 3, 4, 6, 8  # REACH and DEEPER of both frames
ROWS = 13
BEGIN, DURATION, END, COEFFICIENTS = 0, 1, 2, 3
COLUMNS = 9
NOBODY = -1  # swings


@kernel
def targets_into(times, rates, plan, swing, settled, lengths, targets):
    """Write angles and rates of the motors, targets (n, 2, 5), at times (n,) of the gait that pass at rates (n,).

    plan (ROWS, COLUMNS); swing: the frame, 0 or 1, or NOBODY; settled: when the motions SETTLING are over; lengths
    (2, LENGTHS) of the frames.
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
            phi, theta, phi_rate, theta_rate = leg_angles(lengths[frame], reach, reach_rate, here, here_rate)
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
def leg_angles(lengths, reach, reach_rate, depth, depth_rate):
    """φ, θ and their rates for feet that reach so far and stand so deep, see `WalkingFrame.motor_angles`.

    lengths (LENGTHS,) of their frame.
    """
    femur, shin, hip, radius = lengths[FEMUR], lengths[SHIN], lengths[HIP_DEPTH], lengths[FOOT_RADIUS]
    theta = shin_angle(shin, radius, reach)
    sine, cosine = math.sin(theta), math.cos(theta)
    theta_rate = -reach_rate / (shin * cosine + radius)
    lowering = (depth - hip - shin * cosine) / femur
    if abs(lowering) >= lengths[SINE_OF_FURTHEST]:
        return math.copysign(lengths[FURTHEST], lowering), theta, 0.0, theta_rate
    phi = math.asin(lowering)
    return phi, theta, (depth_rate + shin * sine * theta_rate) / (femur * math.cos(phi)), theta_rate


@kernel
def shin_angle(shin, radius, reach):
    """θ for feet that reach this far before their hips: the root of L sin θ + r θ + reach."""
    angle = -reach / (shin + radius)
    for _ in range(4):  # Newton: quadratic, from an error of a few percent
        error = shin * math.sin(angle) + radius * angle + reach
        angle -= error / (shin * math.cos(angle) + radius)
        if abs(error) < 1e-9:
            break
    return angle
