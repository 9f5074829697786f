# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Multipliers of the kept rows: what a factored matrix A makes of them, S = J A⁻¹ Jᵀ, and the impulses on the tree."""

from mbsim_ros.coupling.reduction_kernel import reduce_vector_into, solve_dense_in_place
from mbsim_ros.dynamics.kernels.factorisation_kernel import solve_in_place
from mbsim_ros.integrators.lie_variational.loops.rows_kernel import closure_rows_into, kept_rows, placed
from mbsim_ros.integrators.lie_variational.midpoint_kernel import rotate
from mbsim_ros.integrators.lie_variational.node_velocity_kernel import node_velocity_into
from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.linalg.dense_kernel import solve_pivoting

DEPENDENT = 1.0e-14  # of the largest entry of S: a pivot that is smaller is none


@helper
def reduce_rows(coupling, loops, G, J):
    """Write the kept rows of G D to J: with couplings the loops are closed by what moves together."""
    n = kept_rows(loops)
    for k in range(n):
        reduce_vector_into(coupling.start, coupling.column, coupling.ratio, G[loops.kept[k]], J[k])
    return n


@helper
def schur(n, J, solved, S):
    """Write S = J A⁻¹ Jᵀ from the rows of J and those of A⁻¹ Jᵀ, perhaps of another place."""
    for a in range(n):
        for b in range(n):
            total = 0.0
            for i in range(J.shape[1]):
                total += J[a, i] * solved[b, i]
            S[a, b] = total


@helper
def solve_multipliers(n, S, x):
    """Replace x[:n] by S⁻¹ x, with partial pivoting; S is overwritten. False where its rows are not independent."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(S[i, i]))
    return solve_pivoting(n, S, x, DEPENDENT * largest)


@helper
def add_impulses(loops, n, G, out):
    """Add Gᵀ Λ of the kept rows to out (nv,)."""
    for k in range(n):
        row, impulse = G[loops.kept[k]], loops.impulse[k]
        for i in range(out.shape[0]):
            out[i] += row[i] * impulse


@kernel
def closed_node_velocity_into(tree, coupling, loops, q, p, motor_momentum, node, u, v):
    """Write u (nu,) and v = D u (tree nv,) that keep the loops closed: (DᵀMD + J) u + (GD)ᵀ μ = Dᵀp + π, G D u = 0.

    Momenta at a node may have any part along Gᵀ, which the next step's multipliers take up. Returns False if the mass
    matrix is singular, or rows that were independent are not.
    """
    if not node_velocity_into(
        tree, coupling, q, p, motor_momentum, node.sincos, node.rows, node.dofs, node.M, node.reduced, u, v
    ):
        return False
    closure_rows_into(tree, loops, q, node.sincos, node.rows, loops.G_node)
    n = reduce_rows(coupling, loops, loops.G_node, loops.J_node)
    for _ in range(2):  # the second time for what rounding left: velocities are to be kept closed to the last digit
        for k in range(n):
            loops.change[k] = 0.0
            for i in range(u.shape[0]):
                loops.solved[k, i] = loops.J_node[k, i]
                loops.change[k] += loops.J_node[k, i] * u[i]
            if coupling.is_identity:
                solve_in_place(tree.dof_parent, node.M, loops.solved[k])
            else:
                solve_dense_in_place(node.reduced, loops.solved[k])
        schur(n, loops.J_node, loops.solved, loops.S)
        if not solve_multipliers(n, loops.S, loops.change):
            return False
        for k in range(n):
            for i in range(u.shape[0]):
                u[i] -= loops.solved[k, i] * loops.change[k]
    for i in range(v.shape[0]):
        v[i] = 0.0
        for k in range(coupling.start[i], coupling.start[i + 1]):
            v[i] += coupling.ratio[k] * u[coupling.column[k]]
    return True


@helper
def add_root_impulses(tree, loops, q, node, mu):
    """Add the spatial impulses of loops that lead out of a tree that floats to its momentum (nr, 6).

    Within a tree they add up to nothing, so not a bit of its momentum changes.
    """
    if loops.is_internal:
        return
    closure_rows_into(tree, loops, q, node.sincos, node.rows, loops.G_end)  # for where the bodies are
    row = kept = 0
    for c in range(loops.bodies.shape[0]):
        a, b = loops.bodies[c, 0], loops.bodies[c, 1]
        has_axis = loops.axes[c, 2, 0] != 0.0 or loops.axes[c, 2, 1] != 0.0 or loops.axes[c, 2, 2] != 0.0
        fx = fy = fz = tx = ty = tz = 0.0
        for k in range(5 if has_axis else 3):
            impulse = 0.0
            if kept < loops.kept.shape[0] and loops.kept[kept] == row:
                impulse = loops.impulse[kept]
                kept += 1
            row += 1
            if k < 3:
                fx, fy, fz = fx + impulse * (k == 0), fy + impulse * (k == 1), fz + impulse * (k == 2)
            else:
                e, d = loops.axes[c, k - 3], loops.axes[c, 2]
                ex, ey, ez = rotate(node.rows[a], e[0], e[1], e[2])
                dx, dy, dz = rotate(node.rows[b], d[0], d[1], d[2])
                x, y, z = cross(ex, ey, ez, dx, dy, dz)
                tx, ty, tz = tx + impulse * x, ty + impulse * y, tz + impulse * z
        if loops.roots[c, 0] == loops.roots[c, 1]:
            continue
        for end in range(2):
            root, sign = loops.roots[c, end], 1.0 - 2.0 * end
            if root >= 0:
                x, y, z = placed(node.rows[loops.bodies[c, end]], loops.points[c, end])
                x, y, z = cross(x, y, z, fx, fy, fz)
                out = mu[root]
                out[0], out[1], out[2] = out[0] + sign * fx, out[1] + sign * fy, out[2] + sign * fz
                out[3], out[4], out[5] = out[3] + sign * (x + tx), out[4] + sign * (y + ty), out[5] + sign * (z + tz)
