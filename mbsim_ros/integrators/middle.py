"""The middle of a step: where the bodies are and how they move there, and what wrenches there do to the coordinates.

A group is in the middle where two equal steps make the whole one: for the Cayley map that is half_cay, not half the
velocity. Twists and wrenches are spatial, in the world's axes about its origin, so they simply add along the tree.
"""

import math

from mbsim_ros.dynamics.jacobian_kernel import motion_columns_into
from mbsim_ros.dynamics.joint_motion import joint_dofs, joint_twist
from mbsim_ros.dynamics.kinematics_kernel import world_poses_into
from mbsim_ros.integrators.retraction import CAYLEY, advance_group
from mbsim_ros.jit import helper
from mbsim_ros.model.joint_kinds import FLOATING, PLANAR, PRISMATIC, SPHERICAL
from mbsim_ros.model.model import IQ, IV, KIND, PARENT


@helper
def move_to_middle(tree, retraction, q, v, h, trig, rows, dofs, half, middle, twists, wrenches):
    """Write the configuration in the middle, world poses (rows), columns of the dofs (dofs) and the bodies' twists.

    twists and wrenches (nb, 6); the wrenches are set to zero, for forces to be added.
    """
    for i in range(tree.ints.shape[0]):
        kind, iq, iv = tree.ints[i, KIND], tree.ints[i, IQ], tree.ints[i, IV]
        if kind <= PRISMATIC:
            middle[iq] = q[iq] + 0.5 * h * v[iv]
        else:
            halve(kind, retraction, v, iv, h, half)
            advance_group(kind, retraction, q, iq, half, 0, 1.0, middle)
    world_poses_into(tree.ints, tree.floats, middle, trig, rows)
    motion_columns_into(tree.ints, rows, dofs)
    for i in range(tree.ints.shape[0]):
        parent, iv = tree.ints[i, PARENT], tree.ints[i, IV]
        for k in range(6):
            total = twists[parent - 1, k] if parent > 0 else 0.0
            for dof in range(joint_dofs(tree.ints[i, KIND])):
                total += dofs[iv + dof, k] * v[iv + dof]
            twists[i, k] = total
            wrenches[i, k] = 0.0


@helper
def halve(kind, retraction, v, iv, h, half):
    """Write the step of a group to the middle, in the layout of its velocities, to half[0…]."""
    a, b, c, x, y, z = joint_twist(kind, v, iv)
    a, b, c, x, y, z = h * a, h * b, h * c, h * x, h * y, h * z
    k, m = 0.5, 0.0
    if retraction == CAYLEY:
        k = 1.0 / (1.0 + math.sqrt(1.0 + 0.25 * (x * x + y * y + z * z)))
        m = 0.125 * k * k * (x * a + y * b + z * c)
    if kind == SPHERICAL:
        half[0], half[1], half[2] = k * x, k * y, k * z
    elif kind == PLANAR:
        half[0], half[1], half[2] = k * a, k * b, k * z
    else:
        half[0], half[1], half[2] = k * a + m * x, k * b + m * y, k * c + m * z
        half[3], half[4], half[5] = k * x, k * y, k * z


@helper
def gather_wrenches(tree, wrenches, dofs, force, total):
    """Add Sᵀ W to the force of every dof, W being all that acts beyond it; total[0:6] is the sum of all wrenches.

    The rows of a floating root are left alone: its share is total, carried as spatial momentum.
    """
    for k in range(6):
        total[k] = 0.0
    for i in range(tree.ints.shape[0] - 1, -1, -1):
        parent, iv = tree.ints[i, PARENT], tree.ints[i, IV]
        kind = tree.ints[i, KIND]
        if not (kind == FLOATING and parent == 0):
            for dof in range(joint_dofs(kind)):
                s = dofs[iv + dof]
                along = 0.0
                for k in range(6):
                    along += s[k] * wrenches[i, k]
                force[iv + dof] += along
        for k in range(6):
            if parent == 0:
                total[k] += wrenches[i, k]
            else:
                wrenches[parent - 1, k] += wrenches[i, k]


@helper
def add_block(tree, body, block, x, y, z, factor, dofs, M):
    """Add factor · JᵀCJ to the pattern of M: J is the velocity of the point (x, y, z) of a body, C (9,) its block."""
    i = tree.ints[body, IV] + joint_dofs(tree.ints[body, KIND]) - 1
    while i >= 0:
        ax, ay, az = point_velocity(dofs[i], x, y, z)
        cx = factor * (block[0] * ax + block[3] * ay + block[6] * az)
        cy = factor * (block[1] * ax + block[4] * ay + block[7] * az)
        cz = factor * (block[2] * ax + block[5] * ay + block[8] * az)
        j = i
        while j >= 0:
            bx, by, bz = point_velocity(dofs[j], x, y, z)
            M[i, j] += cx * bx + cy * by + cz * bz
            j = tree.dof_parent[j]
        i = tree.dof_parent[i]


@helper
def point_velocity(column, x, y, z):
    """Velocity of the point (x, y, z) for a spatial twist (v, ω)."""
    return (
        column[0] + column[4] * z - column[5] * y,
        column[1] + column[5] * x - column[3] * z,
        column[2] + column[3] * y - column[4] * x,
    )
