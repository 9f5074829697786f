# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The matrix of an island of parts that touch, in tiles of six unknowns: sparse, factored, and kept while it serves.

A part has as many tiles as its unknowns fill, all tied to each other; points that push tie the tiles of two parts. What
slipping friction adds, that it follows the normal force, is not symmetric and in it as well.
"""

from mbsim_ros.collision.touches_kernel import PLANE_BODY, POINT_BODY
from mbsim_ros.contact.contact_kernel import add_point_block
from mbsim_ros.contact.layout import FN, FORCE, NORMAL, POSITION, SLIPS
from mbsim_ros.contact.slip_kernel import slip_block_into, slip_gain
from mbsim_ros.dynamics.joint_motion import joint_dofs
from mbsim_ros.integrators.lie_variational.matrix_kernel import TREE, add_point_columns
from mbsim_ros.integrators.lie_variational.scene.part_kernel import begin_part_matrix, complete_part_matrix
from mbsim_ros.integrators.lie_variational.vectors import RESIDUAL, UPDATE
from mbsim_ros.jit import helper, inlined, kernel
from mbsim_ros.linalg.tile_lu_kernel import begin_numbers, factor_tiles, place_of, solve_tiles
from mbsim_ros.linalg.tile_matrix import TILE
from mbsim_ros.linalg.tile_order_kernel import begin_pattern, order_tiles, tie
from mbsim_ros.model.model import IV, KIND
from mbsim_ros.records import record

FACTORED, CROWDED, INDEFINITE = range(3)


@helper
def list_tiles(joint, members):
    """Write the tiles of the members; returns how many there are."""
    n = 0
    for m in range(members.shape[0]):
        for tile in range(joint.first_tile[members[m]], joint.first_tile[members[m] + 1]):
            joint.tiles[n] = tile
            n += 1
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
def factor_jointly(kind, scene_kind, scene_row, members, active, h, is_full):
    """Assemble and factor the matrix of all members: FACTORED, CROWDED if too many are tied to one, or INDEFINITE."""
    scene = record(scene_kind, scene_row)
    joint = scene.joint
    n = list_tiles(joint, members)
    tiles = joint.tiles[:n]
    if not tie_members(scene, members, active, tiles):
        return CROWDED
    if not order_tiles(joint.matrix, tiles):
        return CROWDED
    begin_numbers(joint.matrix, tiles)
    for m in range(members.shape[0]):
        t = members[m]
        begin_part_matrix(kind, scene.table[t], h, scene.islands.n_ground[t])
        complete_part_matrix(kind, scene.table[t], h, scene.islands.n_pairs[t])
        add_part(kind, scene_kind, scene_row, t, 0.5 * h, is_full)
    add_points(kind, scene_kind, scene_row, active, 0.5 * h, is_full)
    return FACTORED if factor_tiles(joint.matrix, n) else INDEFINITE


@helper
def tie_members(scene, members, active, tiles):
    """Write which tiles are tied; False where there are too many."""
    joint, between = scene.joint, scene.touches.now.between
    begin_pattern(joint.matrix, tiles)
    for m in range(members.shape[0]):
        if not tie_parts_tiles(joint, members[m], members[m]):
            return False
    last_p = last_q = -1
    for a in range(active.shape[0]):
        p, q = between[active[a], POINT_BODY], between[active[a], PLANE_BODY]
        if p < 0 or q < 0 or (p == last_p and q == last_q):
            continue
        last_p, last_q = p, q
        if not tie_parts_tiles(joint, scene.bodies.part_of[p], scene.bodies.part_of[q]):
            return False
    return True


@helper
def tie_parts_tiles(joint, t, s):
    """Tie all tiles of two parts to each other."""
    for a in range(joint.first_tile[t], joint.first_tile[t + 1]):
        for b in range(joint.first_tile[s], joint.first_tile[s + 1]):
            if not tie(joint.matrix, a, b):
                return False
    return True


@kernel
def add_part(kind, scene_kind, scene_row, t, factor, is_full):
    """Add the matrix of a member by itself; what does not fill its last tile is 1 on the diagonal."""
    scene = record(scene_kind, scene_row)
    part, joint = record(kind, scene.table[t]), scene.joint
    first, nu = joint.first_tile[t], part.state.u.shape[0]
    for i in range(nu):
        if part.scheme.factorisation == TREE:
            j = i
            while j >= 0:
                add_symmetric(joint.matrix, first, i, j, part.matrix.M[i, j])
                j = part.tree.dof_parent[j]
        else:
            for j in range(i + 1):
                add_symmetric(joint.matrix, first, i, j, part.matrix.reduced[i, j])
    for i in range(nu, TILE * (joint.first_tile[t + 1] - first)):
        add_symmetric(joint.matrix, first, i, i, 1.0)
    if is_full:
        for k in range(scene.islands.n_ground[t]):
            n = part.contact.active[k]
            if part.contact.results[n, SLIPS] > 0.0:
                add_slip(part, joint, t, n, factor)


@helper
def add_symmetric(matrix, first, i, j, value):
    """Add a value at (i, j) and (j, i) of a part whose tiles begin at first."""
    add_value(matrix, first, i, j, value)
    if i != j:
        add_value(matrix, first, j, i, value)


@helper
def add_value(matrix, first, i, j, value):
    """Add a value at (i, j) of a part whose tiles begin at first."""
    a, b = i // TILE, j // TILE
    tile, place = place_of(matrix, first + a, first + b)
    matrix.numbers[tile, place, TILE * (i - TILE * a) + j - TILE * b] += value


@helper
def add_slip(part, joint, t, n, factor):
    """Add what the normal force of a slipping point on the ground does to its friction: factor · c (f_t / f_n) nᵀ."""
    columns, at = part.work.columns, part.contact.results[n]
    nx, ny, nz, fn = at[NORMAL], at[NORMAL + 1], at[NORMAL + 2], at[FN]
    scaled = factor * slip_gain(at, part.contact.blocks[n])
    tx, ty, tz = at[FORCE] - fn * nx, at[FORCE + 1] - fn * ny, at[FORCE + 2] - fn * nz
    nu = part.state.u.shape[0]
    for k in range(3):
        for i in range(nu):
            columns[k, i] = 0.0
    add_point_columns(
        part.tree, part.contact.bodies[n], part.coupling, part.work.dofs, at[POSITION], at[POSITION + 1],
        at[POSITION + 2], 1.0, columns,
    )  # fmt: skip
    first = joint.first_tile[t]
    for i in range(nu):
        along = scaled * (tx * columns[0, i] + ty * columns[1, i] + tz * columns[2, i])
        if along == 0.0:
            continue
        for j in range(nu):
            by_normal = nx * columns[0, j] + ny * columns[1, j] + nz * columns[2, j]
            add_value(joint.matrix, first, i, j, along * by_normal)


@kernel
def add_points(kind, scene_kind, scene_row, active, factor, is_full):
    """Add factor · Bᵀ C B of points between bodies, those of two bodies at once; B: how one moves past the other."""
    scene = record(scene_kind, scene_row)
    between, joint = scene.touches.now.between, scene.joint
    begin = 0
    while begin < active.shape[0]:
        p, q = between[active[begin], POINT_BODY], between[active[begin], PLANE_BODY]
        for i in range(TILE):
            for k in range(TILE):
                joint.spatial[i, k] = 0.0
        end = begin
        while end < active.shape[0]:
            n = active[end]
            a, b = between[n, POINT_BODY], between[n, PLANE_BODY]
            if not ((a == p and b == q) or (a == q and b == p)):
                break
            at, block = scene.touches.now.results[n], scene.touches.blocks[n]
            x, y, z = at[POSITION], at[POSITION + 1], at[POSITION + 2]
            add_point_block(block, x, y, z, factor, joint.spatial)
            if is_full and at[SLIPS] > 0.0:
                slip_block_into(at, block, joint.block)
                add_point_block(joint.block, x, y, z, factor, joint.spatial)
            end += 1
        add_pair(kind, scene_kind, scene_row, p, q)
        begin = end


@kernel
def add_pair(kind, scene_kind, scene_row, p, q):
    """Add Bᵀ K B of two bodies, one of which may be the world, -1; joint.spatial has K (6, 6), of spatial twists."""
    scene = record(scene_kind, scene_row)
    joint = scene.joint
    write_twists(kind, scene, p, joint.point_twists)
    write_twists(kind, scene, q, joint.plane_twists)
    add_product_of(scene, p, p, joint.point_twists, joint.point_twists, 1.0)
    add_product_of(scene, q, q, joint.plane_twists, joint.plane_twists, 1.0)
    add_product_of(scene, p, q, joint.point_twists, joint.plane_twists, -1.0)
    add_product_of(scene, q, p, joint.plane_twists, joint.point_twists, -1.0)


@helper
def write_twists(kind, scene, body, twists):
    """Write the spatial twist of a body for each unknown of its part, zeros where the last tile is not filled."""
    if body < 0:
        return
    t = scene.bodies.part_of[body]
    part, joint = record(kind, scene.table[t]), scene.joint
    for i in range(TILE * (joint.first_tile[t + 1] - joint.first_tile[t])):
        for k in range(TILE):
            twists[i, k] = 0.0
    topology, coupling = part.tree.topology, part.coupling
    own = body - scene.first_row[t]
    i = topology[own, IV] + joint_dofs(topology[own, KIND]) - 1
    while i >= 0:
        for c in range(coupling.start[i], coupling.start[i + 1]):
            ratio, row = coupling.ratio[c], twists[coupling.column[c]]
            for k in range(TILE):
                row[k] += ratio * part.work.dofs[i, k]
        i = part.tree.dof_parent[i]


@helper
def add_product_of(scene, row_body, column_body, rows, columns, sign):
    """Add sign · B_rᵀ K B_c of two bodies with their twists."""
    if row_body < 0 or column_body < 0:
        return
    joint, K = scene.joint, scene.joint.spatial
    t, s = scene.bodies.part_of[row_body], scene.bodies.part_of[column_body]
    for a in range(joint.first_tile[t], joint.first_tile[t + 1]):
        first = TILE * (a - joint.first_tile[t])
        for i in range(TILE):
            row = rows[first + i]
            for k in range(TILE):
                joint.products[TILE * i + k] = sign * (
                    row[0] * K[0, k] + row[1] * K[1, k] + row[2] * K[2, k] + row[3] * K[3, k] + row[4] * K[4, k]
                    + row[5] * K[5, k]
                )  # fmt: skip
        for b in range(joint.first_tile[s], joint.first_tile[s + 1]):
            tile, place = place_of(joint.matrix, a, b)
            at = TILE * (b - joint.first_tile[s])
            add_tile(joint.products, columns[at : at + TILE], joint.matrix.numbers[tile, place])


@helper
def add_tile(products, columns, target):
    """Add products (36,) times columns (6, 6), transposed, to a tile."""
    for j in range(TILE):
        c0, c1, c2 = columns[j, 0], columns[j, 1], columns[j, 2]
        c3, c4, c5 = columns[j, 3], columns[j, 4], columns[j, 5]
        for i in range(TILE):
            r = TILE * i
            target[r + j] += (
                products[r] * c0 + products[r + 1] * c1 + products[r + 2] * c2 + products[r + 3] * c3
                + products[r + 4] * c4 + products[r + 5] * c5
            )  # fmt: skip


@kernel
def solve_jointly(kind, scene_kind, scene_row, members):
    """Write the updates of all members."""
    scene = record(scene_kind, scene_row)
    matrix, first = scene.joint.matrix, scene.joint.first_tile
    n = 0
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        nu = part.state.u.shape[0]
        for tile in range(first[t], first[t + 1]):
            matrix.order[matrix.rank[tile]] = tile
            n += 1
            for k in range(TILE):
                i = TILE * (tile - first[t]) + k
                matrix.x[tile, k] = part.work.vectors[RESIDUAL, i] if i < nu else 0.0
    solve_tiles(matrix, n)
    for m in range(members.shape[0]):
        t = members[m]
        part = record(kind, scene.table[t])
        for i in range(part.state.u.shape[0]):
            tile = i // TILE
            part.work.vectors[UPDATE, i] = matrix.x[first[t] + tile, i - TILE * tile]
