# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The joint's own twist in the body frame: velocities put at the places of the kind's motion subspace."""

from mbsim_ros.jit import helper
from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL


@helper
def joint_twist(kind, v, iv):
    """Components (v, ω) of S v for a joint whose velocities begin at iv."""
    if kind == REVOLUTE:
        return 0.0, 0.0, 0.0, 0.0, 0.0, v[iv]
    if kind == PRISMATIC:
        return 0.0, 0.0, v[iv], 0.0, 0.0, 0.0
    if kind == SPHERICAL:
        return 0.0, 0.0, 0.0, v[iv], v[iv + 1], v[iv + 2]
    if kind == PLANAR:
        return v[iv], v[iv + 1], 0.0, 0.0, 0.0, v[iv + 2]
    return v[iv], v[iv + 1], v[iv + 2], v[iv + 3], v[iv + 4], v[iv + 5]


@helper
def project_wrench(kind, fx, fy, fz, tx, ty, tz, out, iv):
    """Write Sᵀ F for a wrench (f, τ) in the body frame."""
    if kind == REVOLUTE:
        out[iv] = tz
    elif kind == PRISMATIC:
        out[iv] = fz
    elif kind == SPHERICAL:
        out[iv], out[iv + 1], out[iv + 2] = tx, ty, tz
    elif kind == PLANAR:
        out[iv], out[iv + 1], out[iv + 2] = fx, fy, tz
    else:
        out[iv], out[iv + 1], out[iv + 2], out[iv + 3], out[iv + 4], out[iv + 5] = fx, fy, fz, tx, ty, tz


@helper
def joint_dofs(kind):
    """Number of dofs of a kind."""
    if kind in (REVOLUTE, PRISMATIC):
        return 1
    return 6 if kind == FLOATING else 3


@helper
def joint_axis(kind, k):
    """Place of a joint's dof k in (vx, vy, vz, ωx, ωy, ωz)."""
    if kind == REVOLUTE:
        return 5
    if kind == PRISMATIC:
        return 2
    if kind == SPHERICAL:
        return 3 + k
    if kind == PLANAR:
        return 5 if k == 2 else k
    return k
