# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What drives do in a state: effort + kp (position − r) + kd (velocity − v), cut at the limit."""

from __future__ import annotations

from mbsim_ros.jit import kernel


@kernel
def drive_efforts_into(effort, kp, kd, position, velocity, limit, dofs, in_q, in_v, q, v, out):
    """Write the efforts of n drives to out (n,): drive k is at dofs[k] of the first six, r = q[in_q[k]], v[in_v[k]]."""
    for k in range(out.shape[0]):
        i = dofs[k]
        wanted = effort[i] + kp[i] * (position[i] - q[in_q[k]]) + kd[i] * (velocity[i] - v[in_v[k]])
        out[k] = min(max(wanted, -limit[i]), limit[i])
