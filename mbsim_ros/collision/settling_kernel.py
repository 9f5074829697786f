# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Damping of what carries others in a scene: slow points are damped for the mass that rests on them.

A damper that stops a body within a step throws it back if it is stronger: a step meets a damper with its mean velocity.
But the lowest of a stack carries all of it, and what stops one body lets ten sway. So for free bodies, where nothing
was said about damping (FADE_DEPTH is SETTLES), it is, in each step, that of the law times

    1 + (c − 1) / (1 + (s / SLOW)²),    c: how many times the weight of its body the point carried, 1 … MOST,
                                        s: how fast it moved past its plane, both in the step before

and the law's own for a point that was in the air.
"""

from mbsim_ros.contact.layout import BN, BT, CONTACT_RATE, FADE_DEPTH, FN, KN, REST_DEPTH, VELOCITY
from mbsim_ros.contact.modes import NO_CONTACT
from mbsim_ros.jit import helper

SETTLES = -1.0  # for FADE_DEPTH: the damper acts from the touch on, and more on what is slow
MOST = 10.0
SLOW = 2.0e-3  # m/s


@helper
def settle(mode, result, damping, along, parameters):
    """Write the dampings of a point for a step, from its law's: along the normal, and along the plane."""
    if not parameters[FADE_DEPTH] < 0.0:
        return
    factor = 1.0
    if mode != NO_CONTACT:
        squared = (
            result[CONTACT_RATE] ** 2 + result[VELOCITY] ** 2 + result[VELOCITY + 1] ** 2 + result[VELOCITY + 2] ** 2
        )
        carried = min(max(result[FN] / (parameters[KN] * parameters[REST_DEPTH]), 1.0), MOST)
        factor += (carried - 1.0) / (1.0 + squared / (SLOW * SLOW))
    parameters[BN], parameters[BT] = factor * damping, factor * along


@helper
def settle_points(touches):
    """Write the dampings of all points between bodies for a step."""
    now = touches.now
    for n in range(now.counts[0]):
        settle(now.modes[n], now.results[n], now.dampings[n, 0], now.dampings[n, 1], now.parameters[n])
