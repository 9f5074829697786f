# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Hunt and Crossley's law, `contact: {law: hunt_crossley}`: f = K·depth^1.5 (1 + 1.5·c·rate).

The stiffness of two round bodies (Hertz), and a damper that fades in with the same power of the depth, so that force
and damping begin together. A body that arrives at speed v leaves at about (1 − c v) v: `dissipation` is that c [s/m].
K is such that a point sinks in under its weight as deep as with `spring_damper`.

K. H. Hunt, F. R. E. Crossley: Coefficient of restitution interpreted as damping in vibroimpact, J. Appl. Mech. 42, 1975
"""

import math

from mbsim_ros.contact.layout import KN, LAW_PARAMETER, REST_DEPTH
from mbsim_ros.jit import helper, kernel

SUMMARY = "K·depth^1.5 (1 + 1.5·c·rate): round bodies, restitution 1 − c·v"
PARAMETERS = {"dissipation": 1.0}  # c [s/m]


@kernel
def normal_force(parameters, depth, rate):
    """Normal force for a depth and its rate, and its derivatives by both: (f, ∂f/∂depth, ∂f/∂rate)."""
    if not depth > 0.0:
        return 0.0, 0.0, 0.0
    K, c = hertz_stiffness(parameters), 1.5 * parameters[LAW_PARAMETER]
    root = math.sqrt(depth)
    elastic = K * depth * root
    f = elastic * (1.0 + c * rate)
    if not f > 0.0:
        return 0.0, 0.0, 0.0
    return f, 1.5 * K * root * (1.0 + c * rate), elastic * c


@kernel
def spring_work(parameters, h, depth, rate):
    """What the spring takes in a step of h at whose middle it has this depth and rate [J]."""
    depth = max(depth, 0.0)
    return h * hertz_stiffness(parameters) * depth * math.sqrt(depth) * rate


@kernel
def spring_energy(parameters, depth):
    """What the spring holds at a depth [J]."""
    depth = max(depth, 0.0)
    return 0.4 * hertz_stiffness(parameters) * depth * depth * math.sqrt(depth)


@helper
def hertz_stiffness(parameters):
    """K [N/m^1.5] with which the depth under the weight is that of a spring k."""
    return parameters[KN] / math.sqrt(parameters[REST_DEPTH])
