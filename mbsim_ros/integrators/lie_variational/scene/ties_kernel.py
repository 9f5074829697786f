# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Parts that touch: conjugate gradients with the factors of each part by itself as preconditioner.

The matrix is M + E: M has each part with all that its contacts do to it while the other side keeps still, factored as
that of a robot alone; E = −h/2 Σ (J_pᵀ C J_q + J_qᵀ C J_p) ties the bodies p and q of each point. Each iteration costs
as much as there are bodies and points. Small islands have one matrix instead (joint_matrix_kernel.py).
"""

from mbsim_ros.collision.touches_kernel import PLANE_BODY, POINT_BODY
from mbsim_ros.contact.contact_kernel import add_wrench, velocity
from mbsim_ros.contact.layout import POSITION
from mbsim_ros.coupling.reduction_kernel import expand_vector_into, reduce_vector_into
from mbsim_ros.dynamics.joint_motion import joint_dofs
from mbsim_ros.integrators.lie_variational.matrix_kernel import solve_assembled
from mbsim_ros.integrators.lie_variational.vectors import (
    CG_DIRECTION,
    CG_EXPANDED,
    CG_IMAGE,
    CG_RESIDUAL,
    CG_SOLVED,
    CG_TIES,
    RESIDUAL,
    UPDATE,
)
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.model import IV, KIND, PARENT
from mbsim_ros.records import record

MOST = 100
ENOUGH = (1.0e-3) ** 2  # of rᵀM⁻¹r: more is not worth its while, since the solve iterates anyway


@kernel
def tie_parts(kind, scene_kind, scene_row, members, active, h):
    """Improve the updates of the members, each solved by itself, to those of all together; active: points that push."""
    scene = record(scene_kind, scene_row)
    rho = begin_gradients(kind, scene, members)
    start = rho
    for _ in range(MOST):
        if not rho > ENOUGH * start:
            return
        ties_into(kind, scene, members, active, h)
        curvature = 0.0
        for m in range(members.shape[0]):
            part = record(kind, scene.table[members[m]])
            vectors = part.work.vectors
            for i in range(part.state.u.shape[0]):
                vectors[CG_TIES, i] += vectors[CG_IMAGE, i]
                curvature += vectors[CG_DIRECTION, i] * vectors[CG_TIES, i]
        if not curvature > 0.0:
            return
        following = descend(kind, scene, members, rho / curvature)
        beta = following / rho
        rho = following
        for m in range(members.shape[0]):
            part = record(kind, scene.table[members[m]])
            vectors = part.work.vectors
            for i in range(part.state.u.shape[0]):
                vectors[CG_DIRECTION, i] = vectors[CG_SOLVED, i] + beta * vectors[CG_DIRECTION, i]
                vectors[CG_IMAGE, i] = vectors[CG_RESIDUAL, i] + beta * vectors[CG_IMAGE, i]  # M p without a product


@helper
def begin_gradients(kind, scene, members):
    """From x = 0: residual r, solved = M⁻¹r, which is the update so far, direction p = solved, image = M p = r."""
    rho = 0.0
    for m in range(members.shape[0]):
        part = record(kind, scene.table[members[m]])
        vectors = part.work.vectors
        for i in range(part.state.u.shape[0]):
            vectors[CG_RESIDUAL, i] = vectors[CG_IMAGE, i] = vectors[RESIDUAL, i]
            vectors[CG_SOLVED, i] = vectors[CG_DIRECTION, i] = vectors[UPDATE, i]
            rho += vectors[RESIDUAL, i] * vectors[UPDATE, i]
            vectors[UPDATE, i] = 0.0
    return rho


@helper
def descend(kind, scene, members, alpha):
    """Go along the directions by alpha; returns rᵀM⁻¹r there."""
    following = 0.0
    for m in range(members.shape[0]):
        part = record(kind, scene.table[members[m]])
        vectors, matrix, nu = part.work.vectors, part.matrix, part.state.u.shape[0]
        for i in range(nu):
            vectors[UPDATE, i] += alpha * vectors[CG_DIRECTION, i]
            vectors[CG_RESIDUAL, i] -= alpha * vectors[CG_TIES, i]
            vectors[CG_SOLVED, i] = vectors[CG_RESIDUAL, i]
        solve_assembled(
            part.scheme.factorisation, part.tree, matrix.M, matrix.reduced, matrix.recursive, False,
            vectors[CG_SOLVED, :nu],
        )  # fmt: skip
        for i in range(nu):
            following += vectors[CG_RESIDUAL, i] * vectors[CG_SOLVED, i]
    return following


@helper
def ties_into(kind, scene, members, active, h):
    """Write E p of the directions p: what the bodies feel of each other's motion."""
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        twists_of_direction(part, scene.first_row[t], scene.tie_twists, scene.tie_wrenches)
    add_tie_wrenches(scene.touches, active, scene.tie_twists, -0.5 * h, scene.tie_wrenches)
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        project_ties(part, scene.first_row[t], scene.tie_wrenches)


@helper
def twists_of_direction(part, first, twists, wrenches):
    """Write how the bodies of a part move with its direction; clears the wrenches on them."""
    topology, coupling, vectors, dofs = part.tree.topology, part.coupling, part.work.vectors, part.work.dofs
    nv, nu = part.state.p.shape[0], part.state.u.shape[0]
    v = vectors[CG_EXPANDED, :nv]
    expand_vector_into(coupling.start, coupling.column, coupling.ratio, vectors[CG_DIRECTION, :nu], v)
    for b in range(topology.shape[0]):
        parent, iv, at = topology[b, PARENT], topology[b, IV], first + b
        for k in range(6):
            twists[at, k] = twists[first + parent - 1, k] if parent > 0 else 0.0
            wrenches[at, k] = 0.0
        for i in range(iv, iv + joint_dofs(topology[b, KIND])):
            for k in range(6):
                twists[at, k] += dofs[i, k] * v[i]


@helper
def add_tie_wrenches(touches, active, twists, factor, wrenches):
    """Add what each body feels of the motion of the other one of every point that pushes."""
    for a in range(active.shape[0]):
        n = active[a]
        at, between, c = touches.now.results[n], touches.now.between[n], touches.blocks[n]
        p, q = between[POINT_BODY], between[PLANE_BODY]
        if p < 0 or q < 0:
            continue
        x, y, z = at[POSITION], at[POSITION + 1], at[POSITION + 2]
        vx, vy, vz = velocity(twists[q], x, y, z)
        add_wrench(wrenches[p], x, y, z, *times(c, factor, vx, vy, vz))
        vx, vy, vz = velocity(twists[p], x, y, z)
        add_wrench(wrenches[q], x, y, z, *times(c, factor, vx, vy, vz))


@helper
def project_ties(part, first, wrenches):
    """Write the wrenches on the bodies of a part as forces of its columns, Dᵀ Sᵀ W."""
    topology, coupling, vectors, dofs = part.tree.topology, part.coupling, part.work.vectors, part.work.dofs
    nv, nu = part.state.p.shape[0], part.state.u.shape[0]
    out = vectors[CG_EXPANDED, :nv]
    for b in range(topology.shape[0] - 1, -1, -1):
        parent, iv, at = topology[b, PARENT], topology[b, IV], first + b
        for i in range(iv, iv + joint_dofs(topology[b, KIND])):
            total = 0.0
            for k in range(6):
                total += dofs[i, k] * wrenches[at, k]
            out[i] = total
        if parent > 0:
            for k in range(6):
                wrenches[first + parent - 1, k] += wrenches[at, k]
    reduce_vector_into(coupling.start, coupling.column, coupling.ratio, out, vectors[CG_TIES, :nu])


@helper
def times(c, factor, x, y, z):
    """factor · C v, C (9,) row by row."""
    return (
        factor * (c[0] * x + c[1] * y + c[2] * z),
        factor * (c[3] * x + c[4] * y + c[5] * z),
        factor * (c[6] * x + c[7] * y + c[8] * z),
    )
