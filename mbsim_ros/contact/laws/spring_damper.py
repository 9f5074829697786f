# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A spring and a damper along the normal, W section 5.2: the law of `contact: {law: spring_damper}`, and the default.

The damper fades in with the depth, so that a touch-down at speed begins with no force: the law is evaluated inside the
solve of a step, where it must be continuous.
"""

from mbsim_ros.contact.layout import BN, FADE_DEPTH, KN
from mbsim_ros.jit import kernel

SUMMARY = "k·depth + b·rate, the damper fading in with the depth"


@kernel
def normal_force(parameters, depth, rate):
    """Normal force for a depth and its rate, and its derivatives by both: (f, ∂f/∂depth, ∂f/∂rate).

    f = k·depth + b·w·rate with w rising smoothly from 0 at depth 0 to 1 at fade_depth; never below zero, W (state 6).
    """
    k, b, fade_depth = parameters[KN], parameters[BN], parameters[FADE_DEPTH]
    if not depth > 0.0:
        return 0.0, 0.0, 0.0
    if depth < fade_depth:
        x = depth / fade_depth
        w, slope = x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x) / fade_depth
    else:
        w, slope = 1.0, 0.0
    f = k * depth + b * w * rate
    if not f > 0.0:
        return 0.0, 0.0, 0.0
    return f, k + b * slope * rate, b * w


@kernel
def spring_work(parameters, h, depth, rate):
    """What the spring takes in a step of h at whose middle it has this depth and rate [J]."""
    return h * parameters[KN] * max(depth, 0.0) * rate


@kernel
def spring_energy(parameters, depth):
    """What the spring holds at a depth [J]."""
    return 0.5 * parameters[KN] * max(depth, 0.0) ** 2
