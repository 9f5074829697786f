# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Trees that touch each other: conjugate gradients with the factors of each tree by itself as preconditioner.

The matrix is M + E: M has each tree with all that its contacts do to it while the other side keeps still, factored
along its branches; E = −h/2 Σ (J_pᵀ C J_q + J_qᵀ C J_p) ties the two bodies p and q of each point together. Contact is
soft against inertia in a step, so a few iterations do; each costs as much as there are bodies and points.
"""

from mbsim_ros.collision.touches_kernel import PLANE_BODY, POINT_BODY
from mbsim_ros.contact.contact_kernel import add_wrench, velocity
from mbsim_ros.contact.layout import POSITION
from mbsim_ros.dynamics.joint_motion import joint_dofs
from mbsim_ros.dynamics.kernels.factorisation_kernel import solve_in_place
from mbsim_ros.integrators.lie_variational.matrix_kernel import FOREST
from mbsim_ros.integrators.lie_variational.vectors import (
    CG_DIRECTION,
    CG_IMAGE,
    CG_RESIDUAL,
    CG_SOLVED,
    CG_TIES,
    RESIDUAL,
)
from mbsim_ros.jit import helper
from mbsim_ros.model.model import IV, KIND, PARENT

MOST = 100
ENOUGH = (1.0e-3) ** 2  # of rᵀM⁻¹r: more is not worth its while, since the solve iterates anyway


@helper
def add_ties(factorisation, tree, M, touches, work, h, n_ties, x):
    """Improve x, the solution of the trees each by itself, to that of all together; n_ties points push."""
    if touches is not None and M is not None and factorisation == FOREST and n_ties > 0:
        conjugate_gradients(tree, M, touches, work, h, n_ties, x)


@helper
def conjugate_gradients(tree, M, touches, work, h, n_ties, x):
    """Solve (M + E) x = r with r from work.vectors[RESIDUAL]; x holds M⁻¹r to begin with."""
    n = x.shape[0]
    vectors = work.vectors
    residual, direction, image = vectors[CG_RESIDUAL], vectors[CG_DIRECTION], vectors[CG_IMAGE]
    solved, ties = vectors[CG_SOLVED], vectors[CG_TIES]
    # from x = 0: residual r, solved = M⁻¹r, direction p = solved, image = M p = r
    rho = 0.0
    for i in range(n):
        residual[i] = image[i] = vectors[RESIDUAL, i]
        solved[i] = direction[i] = x[i]
        x[i] = 0.0
        rho += residual[i] * solved[i]
    start = rho
    for _ in range(MOST):
        if not rho > ENOUGH * start:
            return
        ties_into(tree, touches, work, h, n_ties, direction, ties)
        curvature = 0.0
        for i in range(n):
            curvature += direction[i] * (image[i] + ties[i])
        if not curvature > 0.0:
            return
        alpha = rho / curvature
        for i in range(n):
            x[i] += alpha * direction[i]
            residual[i] -= alpha * (image[i] + ties[i])
            solved[i] = residual[i]
        solve_in_place(tree.dof_parent, M, solved[:n])
        following = 0.0
        for i in range(n):
            following += residual[i] * solved[i]
        beta = following / rho
        rho = following
        for i in range(n):
            direction[i] = solved[i] + beta * direction[i]
            image[i] = residual[i] + beta * image[i]  # M p without a product


@helper
def ties_into(tree, touches, work, h, n_ties, u, out):
    """Write E u: what the bodies feel of each other's motion."""
    twists, wrenches, dofs = work.tie_twists, work.tie_wrenches, work.dofs
    for b in range(tree.topology.shape[0]):
        parent, iv = tree.topology[b, PARENT], tree.topology[b, IV]
        for k in range(6):
            twists[b, k] = twists[parent - 1, k] if parent > 0 else 0.0
            wrenches[b, k] = 0.0
        for i in range(iv, iv + joint_dofs(tree.topology[b, KIND])):
            for k in range(6):
                twists[b, k] += dofs[i, k] * u[i]
    factor = -0.5 * h
    for t in range(n_ties):
        n = touches.active[t]
        at, between, c = touches.now.results[n], touches.now.between[n], touches.blocks[n]
        p, q = between[POINT_BODY], between[PLANE_BODY]
        if p < 0 or q < 0:
            continue
        x, y, z = at[POSITION], at[POSITION + 1], at[POSITION + 2]
        vx, vy, vz = velocity(twists[q], x, y, z)
        add_wrench(wrenches[p], x, y, z, *times(c, factor, vx, vy, vz))
        vx, vy, vz = velocity(twists[p], x, y, z)
        add_wrench(wrenches[q], x, y, z, *times(c, factor, vx, vy, vz))
    for b in range(tree.topology.shape[0] - 1, -1, -1):
        parent, iv = tree.topology[b, PARENT], tree.topology[b, IV]
        for i in range(iv, iv + joint_dofs(tree.topology[b, KIND])):
            total = 0.0
            for k in range(6):
                total += dofs[i, k] * wrenches[b, k]
            out[i] = total
        if parent > 0:
            for k in range(6):
                wrenches[parent - 1, k] += wrenches[b, k]


@helper
def times(c, factor, x, y, z):
    """factor · C v, C (9,) row by row."""
    return (
        factor * (c[0] * x + c[1] * y + c[2] * z),
        factor * (c[3] * x + c[4] * y + c[5] * z),
        factor * (c[6] * x + c[7] * y + c[8] * z),
    )
