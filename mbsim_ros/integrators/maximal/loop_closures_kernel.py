# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The rows of closed loops: two points of two bodies that coincide, and for a hinge an axis fixed in both.

A closure has three rows, p_a − p_b = 0, and a hinge two more: the axis on b has no part along two directions across
the axis on a. Rows are polynomials in the quaternions, as those of joints are.
"""

from mbsim_ros.integrators.maximal.joint_kernel import way_row
from mbsim_ros.integrators.maximal.quaternion_kernel import rotate, rotate_gradient
from mbsim_ros.jit import kernel


@kernel
def closure_rows_into(bodies, arms, axes, X, g, G_a, G_b):
    """Write all rows (m,) and their derivatives by the two bodies, (m, 7) each.

    bodies (closures, 2): rows of X, 0 for the world; arms (closures, 2, 3): the points from the centres of mass, body
    axes; axes (closures, 3, 3): two directions on a and the axis on b, all zero where there is no hinge.
    """
    row = 0
    for c in range(bodies.shape[0]):
        A, B, arm = X[bodies[c, 0]], X[bodies[c, 1]], arms[c]
        ax, ay, az = rotate(A[3], A[4], A[5], A[6], arm[0, 0], arm[0, 1], arm[0, 2])
        bx, by, bz = rotate(B[3], B[4], B[5], B[6], arm[1, 0], arm[1, 1], arm[1, 2])
        g[row], g[row + 1], g[row + 2] = A[0] + ax - B[0] - bx, A[1] + ay - B[1] - by, A[2] + az - B[2] - bz
        for k in range(3):
            way_row(
                A, B, arm[0, 0], arm[0, 1], arm[0, 2], arm[1, 0], arm[1, 1], arm[1, 2], 1.0 * (k == 0), 1.0 * (k == 1),
                1.0 * (k == 2), G_a[row + k], G_b[row + k],
            )  # fmt: skip
        row += 3
        d = axes[c, 2]
        if d[0] == d[1] == d[2] == 0.0:
            continue
        for k in range(2):
            e = axes[c, k]
            ex, ey, ez = rotate(A[3], A[4], A[5], A[6], e[0], e[1], e[2])
            dx, dy, dz = rotate(B[3], B[4], B[5], B[6], d[0], d[1], d[2])
            g[row] = ex * dx + ey * dy + ez * dz
            a, b = G_a[row], G_b[row]
            a[0] = a[1] = a[2] = b[0] = b[1] = b[2] = 0.0
            a[3], a[4], a[5], a[6] = rotate_gradient(A[3], A[4], A[5], A[6], e[0], e[1], e[2], dx, dy, dz)
            b[3], b[4], b[5], b[6] = rotate_gradient(B[3], B[4], B[5], B[6], d[0], d[1], d[2], ex, ey, ez)
            row += 1
