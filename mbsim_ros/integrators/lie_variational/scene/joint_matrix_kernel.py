# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Small islands: one full matrix for all members, factored once and kept while nothing changes.

A row of the factor is kept in the row that its unknown has among all those of the scene. So a factor has its place as
long as its island is the same, wherever other islands come and go.
"""

import math

from mbsim_ros.collision.touches_kernel import PLANE_BODY, POINT_BODY
from mbsim_ros.contact.layout import POSITION
from mbsim_ros.integrators.lie_variational.matrix_kernel import TREE, add_point_columns
from mbsim_ros.integrators.lie_variational.scene.part_kernel import begin_part_matrix, complete_part_matrix
from mbsim_ros.integrators.lie_variational.vectors import RESIDUAL, UPDATE
from mbsim_ros.jit import helper, inlined, kernel
from mbsim_ros.records import record

MOST_UNKNOWNS = 96  # of an island that is solved by one matrix


@helper
def count_unknowns(scene, members):
    """Write where the unknowns of the members are among those of the scene, in order; returns how many there are."""
    n, first, home = 0, scene.inputs.first_column, scene.joint.home
    for m in range(members.shape[0]):
        t = members[m]
        size = first[t + 1] - first[t]
        if n + size > MOST_UNKNOWNS:
            return MOST_UNKNOWNS + 1
        scene.joint.start[t] = n
        for i in range(size):
            home[n + i] = first[t] + i
        n += size
    return n


@helper
def signature(scene, members):
    """A number that tells the islands of these members from others."""
    total = 0.0
    for m in range(members.shape[0]):
        serial = scene.joint.serial[members[m]]
        total += (serial + 1.3) * (serial + 1.7)
    return total + members.shape[0]


@inlined
def factor_jointly(kind, scene_kind, scene_row, members, active, n, h):
    """Assemble and factor the matrix of all members; False if it is singular."""
    scene = record(scene_kind, scene_row)
    islands, joint = scene.islands, scene.joint
    L, home = joint.factors, joint.home
    for i in range(n):
        for j in range(i + 1):
            L[home[i], j] = 0.0
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        begin_part_matrix(kind, scene.table[t], h, islands.n_ground[t])
        complete_part_matrix(kind, scene.table[t], h, islands.n_pairs[t])
        add_part(part, joint, joint.start[t])
    for a in range(active.shape[0]):
        add_point(kind, scene, active[a], 0.5 * h)
    return factorise(L, home, n)


@helper
def add_part(part, joint, start):
    """Add the matrix of a member by itself."""
    L, home = joint.factors, joint.home
    for i in range(part.state.u.shape[0]):
        row = L[home[start + i]]
        if part.scheme.factorisation == TREE:
            j = i
            while j >= 0:
                row[start + j] = part.matrix.M[i, j]
                j = part.tree.dof_parent[j]
        else:
            for j in range(i + 1):
                row[start + j] = part.matrix.reduced[i, j]


@helper
def add_point(kind, scene, n, factor):
    """Add factor · BᵀCB of a point between bodies, B being how the one moves past the other."""
    p, q = scene.touches.now.between[n, POINT_BODY], scene.touches.now.between[n, PLANE_BODY]
    write_columns(kind, scene, p, n)
    write_columns(kind, scene, q, n)
    add_product_of(kind, scene, p, p, n, factor)
    add_product_of(kind, scene, q, q, n, factor)
    if p >= 0 and q >= 0:
        if scene.joint.start[scene.bodies.part_of[p]] > scene.joint.start[scene.bodies.part_of[q]]:
            add_product_of(kind, scene, p, q, n, -factor)
        else:
            add_product_of(kind, scene, q, p, n, -factor)


@helper
def write_columns(kind, scene, body, n):
    """Write how a point of a body moves with the unknowns of its part."""
    if body < 0:
        return
    t = scene.bodies.part_of[body]
    part = record(kind, scene.table[t])
    columns, at = part.work.columns, scene.touches.now.results[n]
    for k in range(3):
        for i in range(columns.shape[1]):
            columns[k, i] = 0.0
    add_point_columns(
        part.tree, body - scene.first_row[t], part.coupling, part.work.dofs, at[POSITION], at[POSITION + 1],
        at[POSITION + 2], 1.0, columns,
    )  # fmt: skip


@helper
def add_product_of(kind, scene, row_body, column_body, n, factor):
    """Add factor · B_rᵀ C B_c of two bodies, the lower triangle of it where they are one."""
    if row_body < 0 or column_body < 0:
        return
    t, s = scene.bodies.part_of[row_body], scene.bodies.part_of[column_body]
    rows, columns = record(kind, scene.table[t]).work.columns, record(kind, scene.table[s]).work.columns
    c, L = scene.touches.blocks[n], scene.joint.factors
    for i in range(rows.shape[1]):
        x, y, z = rows[0, i], rows[1, i], rows[2, i]
        a = factor * (c[0] * x + c[3] * y + c[6] * z)
        b = factor * (c[1] * x + c[4] * y + c[7] * z)
        d = factor * (c[2] * x + c[5] * y + c[8] * z)
        if a == 0.0 and b == 0.0 and d == 0.0:
            continue
        row, start = L[scene.joint.home[scene.joint.start[t] + i]], scene.joint.start[s]
        for j in range(i + 1 if t == s else columns.shape[1]):
            row[start + j] += a * columns[0, j] + b * columns[1, j] + d * columns[2, j]


@helper
def factorise(L, home, n):
    """L Lᵀ in place, row by row; False where a pivot is not positive."""
    for i in range(n):
        row = L[home[i]]
        for j in range(i + 1):
            above = L[home[j]]
            total = row[j]
            for k in range(j):
                total -= row[k] * above[k]
            if j < i:
                row[j] = total / above[j]
            else:
                if not total > 0.0:
                    return False
                row[i] = math.sqrt(total)
    return True


@kernel
def solve_jointly(kind, scene_kind, scene_row, members, n):
    """Write the updates of all members."""
    scene = record(scene_kind, scene_row)
    L, home, x = scene.joint.factors, scene.joint.home, scene.joint.x
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        for i in range(part.state.u.shape[0]):
            x[scene.joint.start[t] + i] = part.work.vectors[RESIDUAL, i]
    for i in range(n):
        row, total = L[home[i]], x[i]
        for k in range(i):
            total -= row[k] * x[k]
        x[i] = total / row[i]
    for i in range(n - 1, -1, -1):
        row = L[home[i]]
        x[i] /= row[i]
        for k in range(i):
            x[k] -= row[k] * x[i]
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        for i in range(part.state.u.shape[0]):
            part.work.vectors[UPDATE, i] = x[scene.joint.start[t] + i]
