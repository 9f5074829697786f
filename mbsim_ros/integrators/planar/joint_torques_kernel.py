# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Forces of joints in planar chains: a constant effort, and what resists a joint by itself.

They come as the tuple (joints, effort, sign, ledger): rows of what resists (7, n), efforts (n,), which way the axis of
each joint points (n,), and the works of all of them. G (3.8) has them as f: a torque of joint i turns link i one way
and link i − 1 the other.
"""

from mbsim_ros.integrators.joint_resistance_kernel import add_works, resisted_effort
from mbsim_ros.jit import helper


@helper
def add_joint_torques(forces, h, angle, rate, residual, jacobian):
    """Take the torques of joints off the residual of the links, and add their slopes by the rates to its derivative.

    angle (n,): absolute angles at the start of the step; rate (n,): mean rates of the links.
    """
    joints, effort, sign = forces[0], forces[1], forces[2]
    for j in range(rate.shape[0]):
        start, speed = joint_motion(sign, j, angle, rate)
        force, slope = resisted_effort(joints, effort, j, start + 0.5 * h * speed, speed, h)
        residual[j] -= sign[j] * force
        jacobian[j, j] += slope
        if j > 0:
            residual[j - 1] += sign[j] * force
            jacobian[j - 1, j - 1] += slope
            jacobian[j, j - 1] -= slope
            jacobian[j - 1, j] -= slope


@helper
def add_link_works(forces, h, angle, rate):
    """Add the works of a step to the ledger; angle and rate as above."""
    joints, effort, sign, ledger = forces[0], forces[1], forces[2], forces[3]
    for j in range(rate.shape[0]):
        start, speed = joint_motion(sign, j, angle, rate)
        add_works(joints, effort, j, start + 0.5 * h * speed, speed, h, ledger)


@helper
def joint_motion(sign, j, angle, rate):
    """Angle and rate of joint j, from the absolute ones of the links."""
    if j == 0:
        return sign[0] * angle[0], sign[0] * rate[0]
    return sign[j] * (angle[j] - angle[j - 1]), sign[j] * (rate[j] - rate[j - 1])
