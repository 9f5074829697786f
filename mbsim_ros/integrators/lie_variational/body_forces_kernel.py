# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Forces on bodies at the midpoint of a step: contact, springs and what pushes from outside, as wrenches on the tree.

Wrenches are about the world's origin in its axes, so those of a subtree simply add. The half of an impulse that acts at
a node is Adᵀ of the root's pose there; between two bodies, or between a body and the ground, nothing is lost.
"""

from mbsim_ros.contact.culling.pairs_kernel import culled_pairs_pass_into, finish_near_pairs_into
from mbsim_ros.contact.culling.points_kernel import culled_pass_into, finish_near_into
from mbsim_ros.contact.layout import SLIPS, STORED_NORMAL, STORED_TANGENTIAL
from mbsim_ros.dynamics.layout import P_WB, R_WB
from mbsim_ros.elastic.springs_kernel import spring_wrenches_into
from mbsim_ros.integrators.lie_variational.midpoint_kernel import V_, project_rotated, rotate
from mbsim_ros.integrators.lie_variational.spatial_kernel import wrench_to_body
from mbsim_ros.jit import cross, helper
from mbsim_ros.model.joint_kinds import FLOATING, PRISMATIC, REVOLUTE
from mbsim_ros.model.model import IV, KIND, PARENT


@helper
def acts_on_bodies(external, contact, pairs, springs):
    """Whether there may be forces on bodies. pairs and springs are None where there are none."""
    if pairs is not None or springs is not None or contact.bodies.shape[0] > 0:
        return True
    pushed = 0.0
    for i in range(external.shape[0]):
        for k in range(6):
            pushed += abs(external[i, k])
    return pushed > 0.0


@helper
def apply_spatial_forces(tree, external, contact, pairs, springs, work, h, force):
    """Add all of them to the forces of the tree's dofs.

    Returns how many points push on the ground and on bodies, and a number that says which, and which of them slip.
    """
    begin_wrenches(tree, external, work)
    n_ground, n_pairs, active_set = add_contact_wrenches(contact, pairs, work, h)
    apply_wrenches(tree, springs, work, force)
    return n_ground, n_pairs, active_set


@helper
def begin_wrenches(tree, external, work):
    """Write the twists of the bodies and what pushes them from outside."""
    for i in range(tree.topology.shape[0]):
        w, twist, wrench = work.rows[i + 1], work.twists[i], work.wrenches[i]
        wx, wy, wz = w[V_ + 3], w[V_ + 4], w[V_ + 5]
        x, y, z = cross(w[P_WB], w[P_WB + 1], w[P_WB + 2], wx, wy, wz)
        twist[0], twist[1], twist[2], twist[3], twist[4], twist[5] = w[V_] + x, w[V_ + 1] + y, w[V_ + 2] + z, wx, wy, wz
        push_into(external[i], w, wrench)


@helper
def add_contact_wrenches(contact, pairs, work, h):
    """Add what points do that touch the ground or other bodies of the robot; returns as apply_spatial_forces does."""
    n_ground = culled_pass_into(
        contact.culling, contact.bodies, contact.geometry, contact.kind, contact.data, contact.grid, contact.parameters,
        contact.modes, contact.deflections, work.rows, work.twists, h, work.wrenches, contact.results, contact.blocks,
        contact.active,
    )  # fmt: skip
    n_pairs, active_set = 0, 0.0
    for k in range(n_ground):
        i = contact.active[k]
        active_set += (i + 1.0) * (i + 1.5) * (1.0 + 0.123 * contact.results[i, SLIPS])
    if pairs is not None:
        n_pairs = culled_pairs_pass_into(
            pairs.culling, pairs.pairs, pairs.shape_ints, pairs.shape_floats, pairs.bodies, pairs.geometry,
            pairs.parameters, pairs.modes, pairs.deflections, work.rows, work.twists, h, work.wrenches, pairs.results,
            pairs.blocks, pairs.active,
        )  # fmt: skip
        for k in range(n_pairs):
            i = pairs.active[k]
            active_set += (i + 1.3) * (i + 1.7) * (1.0 + 0.123 * pairs.results[i, SLIPS])
    return n_ground, n_pairs, active_set


@helper
def apply_wrenches(tree, springs, work, force):
    """Add those of springs, and all of them to the forces of the dofs."""
    if springs is not None:
        spring_wrenches_into(
            springs.start, springs.point_row, springs.point, springs.constants, work.rows, work.twists,
            springs.segments, springs.states, work.wrenches,
        )  # fmt: skip
    gather_wrenches(tree.topology, work.rows, work.wrenches, work.root_poses, work.root_wrenches, force)


@helper
def push_into(push, w, wrench):
    """Write a wrench in a body's axes at its origin as one about the world's origin."""
    if not is_pushed(push):
        for k in range(6):
            wrench[k] = 0.0
        return
    fx, fy, fz = rotate(w, push[0], push[1], push[2])
    tx, ty, tz = rotate(w, push[3], push[4], push[5])
    x, y, z = cross(w[P_WB], w[P_WB + 1], w[P_WB + 2], fx, fy, fz)
    wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5] = fx, fy, fz, tx + x, ty + y, tz + z


@helper
def is_pushed(push):
    """Whether a wrench from outside is one; most bodies have none, most of the time."""
    return abs(push[0]) + abs(push[1]) + abs(push[2]) + abs(push[3]) + abs(push[4]) + abs(push[5]) != 0.0


@helper
def gather_wrenches(topology, rows, wrenches, root_poses, root_wrenches, force):
    """Add Sᵀ W to the force of every dof, W being all that acts beyond it; those of floating roots are kept as such."""
    root = root_poses.shape[0]
    for i in range(topology.shape[0] - 1, -1, -1):
        kind, iv, parent = topology[i, KIND], topology[i, IV], topology[i, PARENT]
        w, wrench = rows[i + 1], wrenches[i]
        fx, fy, fz = wrench[0], wrench[1], wrench[2]
        if kind == PRISMATIC:
            force[iv] += w[R_WB + 2] * fx + w[R_WB + 5] * fy + w[R_WB + 8] * fz
        else:
            x, y, z = cross(w[P_WB], w[P_WB + 1], w[P_WB + 2], fx, fy, fz)
            tx, ty, tz = wrench[3] - x, wrench[4] - y, wrench[5] - z
            if kind == REVOLUTE:
                force[iv] += w[R_WB + 2] * tx + w[R_WB + 5] * ty + w[R_WB + 8] * tz
            elif kind == FLOATING and parent == 0:
                root -= 1
                for k in range(6):
                    root_wrenches[root, k] = wrench[k]
                wrench_to_body(root_poses[root], wrench, force[iv : iv + 6])
            else:
                add_projected(kind, w, fx, fy, fz, tx, ty, tz, force, iv)
        if parent > 0:
            above = wrenches[parent - 1]
            for k in range(6):
                above[k] += wrench[k]


@helper
def add_projected(kind, w, fx, fy, fz, tx, ty, tz, force, iv):
    """Add Sᵀ F of a joint that is a group."""
    dofs = 6 if kind == FLOATING else 3
    own = w[0:6]  # free once a body is placed
    project_rotated(kind, w, fx, fy, fz, tx, ty, tz, own, 0)
    for k in range(dofs):
        force[iv + k] += own[k]


@helper
def finish_spatial_forces(contact, pairs, rows, twists, h):
    """Carry the state of all contacts to the end of a step that was taken; needs the bodies at its midpoint."""
    if contact.bodies.shape[0] > 0:
        contact.energies[STORED_NORMAL] = contact.energies[STORED_TANGENTIAL] = 0.0
        finish_near_into(
            contact.culling, contact.parameters, h, contact.modes, contact.deflections, contact.results,
            contact.energies, rows, twists,
        )  # fmt: skip
    if pairs is not None:
        pairs.energies[STORED_NORMAL] = pairs.energies[STORED_TANGENTIAL] = 0.0
        finish_near_pairs_into(
            pairs.culling, pairs.pairs, pairs.shape_ints, pairs.parameters, rows, h, pairs.modes, pairs.deflections,
            pairs.results, pairs.energies,
        )  # fmt: skip


@helper
def power_of_pushes(external, rows, twists):
    """Power of what pushes from outside, with the twists at the midpoint of the step."""
    total = 0.0
    for i in range(external.shape[0]):
        push, w, twist = external[i], rows[i + 1], twists[i]
        if not is_pushed(push):
            continue
        wx, wy, wz = twist[3], twist[4], twist[5]
        x, y, z = cross(w[P_WB], w[P_WB + 1], w[P_WB + 2], wx, wy, wz)
        fx, fy, fz = rotate(w, push[0], push[1], push[2])
        tx, ty, tz = rotate(w, push[3], push[4], push[5])
        total += fx * (twist[0] - x) + fy * (twist[1] - y) + fz * (twist[2] - z) + tx * wx + ty * wy + tz * wz
    return total
