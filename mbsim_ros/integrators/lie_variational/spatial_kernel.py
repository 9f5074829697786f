# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Wrenches and momenta of a floating base, between its body frame and the world. Its pose X_WB is in w[0:12]."""

from mbsim_ros.jit import helper


@helper
def wrench_to_world(w, wrench, factor, out):
    """Write factor · Ad⁻ᵀ(X_WB) wrench to out[0:6], for a body with X_WB in w[0:12]."""
    fx, fy, fz, tx, ty, tz = wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5]
    x, y, z = w[0] * fx + w[1] * fy + w[2] * fz, w[3] * fx + w[4] * fy + w[5] * fz, w[6] * fx + w[7] * fy + w[8] * fz
    out[0], out[1], out[2] = factor * x, factor * y, factor * z
    out[3] = factor * (w[0] * tx + w[1] * ty + w[2] * tz + w[10] * z - w[11] * y)
    out[4] = factor * (w[3] * tx + w[4] * ty + w[5] * tz + w[11] * x - w[9] * z)
    out[5] = factor * (w[6] * tx + w[7] * ty + w[8] * tz + w[9] * y - w[10] * x)


@helper
def wrench_to_body(w, mu, out):
    """Write Adᵀ(X_WB) mu to out[0:6], for a body with X_WB in w[0:12]: a spatial momentum as the body has it."""
    fx, fy, fz = mu[0], mu[1], mu[2]
    tx = mu[3] - (w[10] * fz - w[11] * fy)
    ty = mu[4] - (w[11] * fx - w[9] * fz)
    tz = mu[5] - (w[9] * fy - w[10] * fx)
    for k in range(3):
        out[k] = w[k] * fx + w[3 + k] * fy + w[6 + k] * fz
        out[3 + k] = w[k] * tx + w[3 + k] * ty + w[6 + k] * tz
