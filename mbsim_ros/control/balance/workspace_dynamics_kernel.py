# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Workspace dynamics of a central body whose legs stand on the ground: F₁ = P₁ V̇₁ + z₁, W Algorithms 4.1 to 4.3.

Outward: poses, twists V, the accelerations c = ad(V) S θ̇ that remain without any, and of each body the bias wrench
−ad(V)ᵀ I V less its weight. Inward: each joint is eliminated from the articulated inertia of its body and what is left
goes to the parent, until the central body has it all.

A foot that stands is welded to the ground. Two ways to say so:

big base   the foot's inertia is 10⁶ times that of the central body and its bias is zero, as published.
exact      the foot has six constraints nᵀA = β on its acceleration A. Crossing a joint with axis S, A = A′ + c + S θ̈,
           one of them, turned so that only it sees S, determines θ̈ = (β − nᵀ(A′ + c))/nᵀS; the others go on to the
           parent. With T = I − S nᵀ/nᵀS the wrench that reaches the parent is Tᵀ(P A + z), so P′ = Tᵀ P T. A leg of
           six joints has used up its constraints at the central body; further joints are eliminated as usual.

Where nᵀS vanishes the leg is singular (a straight knee): the central body cannot move along it, and P₁ grows without
bound. Below `singular_reach` the quotient 1/nᵀS becomes nᵀS/((nᵀS)² + λ²), λ² growing to `singular_damping`² with the
singularity: the inertia stays finite and the joint is taken to be locked at last. The big base knows no such remedy, so
near a singularity the constraints take its place.

A foot whose sole is one point, at the end of a leg with fewer than six joints, is pinned there: it has the three
constraints that this point does not accelerate. A leg of three joints has used them up at the central body.

Joints that carry no standing foot are held: they have a known acceleration, and their bodies add to the parent's.
"""

from mbsim_ros.dynamics.articulated import add_moved, rotate_general, rotate_symmetric
from mbsim_ros.dynamics.joint_motion import joint_axis, joint_twist
from mbsim_ros.dynamics.kernels.forward_kernel import eliminate_any, eliminate_revolute, spread
from mbsim_ros.dynamics.kernels.kinematics_kernel import compose, twist_outward
from mbsim_ros.dynamics.layout import (
    ARTICULATED_A as A_,
    ARTICULATED_B as B_,
    ARTICULATED_C as C_,
    ARTICULATED_Z as Z_,
    FORWARD_BIAS as K_,
    R_WB,
)
from mbsim_ros.dynamics.placement import pass_wrench, place_body
from mbsim_ros.dynamics.trigonometry import cosines_and_sines
from mbsim_ros.jit import helper, kernel
from mbsim_ros.model.joint_kinds import REVOLUTE
from mbsim_ros.model.model import CENTRE, INERTIA, IQ, IV, KIND, MASS, MOMENT, PARENT, ROTOR

# Roles of bodies: no part of the robot, carried along by an actuator, on the way to a foot, a foot, the central body, a
# foot that stands on a point.
IGNORED, HELD, LEG, FOOT, CENTRAL, POINT_FOOT = range(6)
# Columns of `more`, one row per body, row 0 is the world: what a workspace row has no room for.
OWN_BIAS, ACCELERATION, WRENCH = 0, 6, 12
MORE_COLUMNS = 18
BLIND = 1e-9  # of nᵀS: no constraint sees the joint


@kernel
def outward_into(topology, constants, roles, q, v, gravity, sincos, rows, more):
    """Write poses, twists, c and the bodies' own bias wrenches. W Algorithms 4.1, 4.2"""
    cosines_and_sines(q, sincos[0], sincos[1])
    world = rows[0]
    for k in range(64):
        world[k] = 0.0
    world[R_WB] = world[R_WB + 4] = world[R_WB + 8] = 1.0
    for i in range(topology.shape[0]):
        if roles[i] == IGNORED:
            continue
        kind, iv = topology[i, KIND], topology[i, IV]
        w, u = rows[i + 1], rows[topology[i, PARENT]]
        place_body(kind, constants[i], q, topology[i, IQ], sincos[0], sincos[1], w)
        compose(u, R_WB, w, 0, w, R_WB)
        vx, vy, vz, wx, wy, wz = twist_outward(kind, v, iv, w, u)
        if roles[i] == CENTRAL:
            for k in range(6):
                w[K_ + k] = 0.0  # a₁ = 0, W Algorithm 4.1
        else:
            jx, jy, jz, kx, ky, kz = joint_twist(kind, v, iv)
            w[K_] = wy * jz - wz * jy + vy * kz - vz * ky
            w[K_ + 1] = wz * jx - wx * jz + vz * kx - vx * kz
            w[K_ + 2] = wx * jy - wy * jx + vx * ky - vy * kx
            w[K_ + 3] = wy * kz - wz * ky
            w[K_ + 4] = wz * kx - wx * kz
            w[K_ + 5] = wx * ky - wy * kx
        own_bias(constants[i], w, gravity, vx, vy, vz, wx, wy, wz, more[i + 1])


@helper
def own_bias(m, w, gravity, vx, vy, vz, wx, wy, wz, out):
    """Write b = −F_e + Ω M V of W (4.1), at the body's origin instead of its centre: −ad(V)ᵀ I V less the weight."""
    mass, hx, hy, hz = m[MASS], m[MOMENT], m[MOMENT + 1], m[MOMENT + 2]
    ixx, iyy, izz = m[INERTIA], m[INERTIA + 1], m[INERTIA + 2]
    ixy, ixz, iyz = m[INERTIA + 3], m[INERTIA + 4], m[INERTIA + 5]
    px, py, pz = mass * vx + wy * hz - wz * hy, mass * vy + wz * hx - wx * hz, mass * vz + wx * hy - wy * hx
    lx = ixx * wx + ixy * wy + ixz * wz + hy * vz - hz * vy
    ly = ixy * wx + iyy * wy + iyz * wz + hz * vx - hx * vz
    lz = ixz * wx + iyz * wy + izz * wz + hx * vy - hy * vx
    r = R_WB
    gx = w[r] * gravity[0] + w[r + 3] * gravity[1] + w[r + 6] * gravity[2]
    gy = w[r + 1] * gravity[0] + w[r + 4] * gravity[1] + w[r + 7] * gravity[2]
    gz = w[r + 2] * gravity[0] + w[r + 5] * gravity[1] + w[r + 8] * gravity[2]
    out[OWN_BIAS] = wy * pz - wz * py - mass * gx
    out[OWN_BIAS + 1] = wz * px - wx * pz - mass * gy
    out[OWN_BIAS + 2] = wx * py - wy * px - mass * gz
    out[OWN_BIAS + 3] = wy * lz - wz * ly + vy * pz - vz * py - (hy * gz - hz * gy)
    out[OWN_BIAS + 4] = wz * lx - wx * lz + vz * px - vx * pz - (hz * gx - hx * gz)
    out[OWN_BIAS + 5] = wx * ly - wy * lx + vx * py - vy * px - (hx * gy - hy * gx)


@kernel
def inward_into(
    topology,
    constants,
    roles,
    stands,
    central,
    big_base,
    heavy,
    singular,
    held,
    no_effort,
    rows,
    more,
    dofs,
    constraints,
    counts,
):
    """Leave P₁ and z₁ in the central body's row; returns the least |nᵀS| of all joints that carry. W Algorithm 4.3

    stands (bodies,): whether the way to a standing foot leads over the body. big_base: the factor of the published
    approximation, or 0 for the exact weld. heavy (bodies, 6): the central body's moments of inertia in the axes of each
    foot (xx yy zz xy xz yz), and of one that stands on a point where that is, (x y z 0 0 0). singular: reach and
    damping of the remedy. held (nv,): accelerations of the joints that carry no foot. no_effort (nv,): zeros.
    constraints (rows, 6, 7), counts (rows,): memory.
    """
    n = topology.shape[0]
    least = 1e9
    for i in range(n):
        if roles[i] != IGNORED:
            start(constants[i], rows[i + 1], more[i + 1])
            counts[i + 1] = 0
    for i in range(n - 1, -1, -1):
        if roles[i] == IGNORED or roles[i] == CENTRAL:
            continue
        if not stands[i]:
            add_held(topology, i, held, rows)
            continue
        if roles[i] == FOOT:
            if big_base > 0.0:
                weld_to_big_base(constants[i], big_base * constants[central, MASS], heavy[i], big_base, rows[i + 1])
            else:
                weld(rows[i + 1], constraints[i + 1], counts, i + 1)
        elif roles[i] == POINT_FOOT:
            pin(heavy[i], constraints[i + 1], counts, i + 1)
        if counts[i + 1] > 0:
            least = min(
                least,
                eliminate_constrained(topology, i, roles, constants[i, ROTOR], singular, rows, constraints, counts),
            )
        elif topology[i, KIND] == REVOLUTE and constants[i, ROTOR] == 0.0:
            eliminate_revolute(topology, i, no_effort, rows, dofs)
        else:
            eliminate_any(topology, constants, i, no_effort, rows, dofs)
    return least


@helper
def start(m, w, own):
    """The body's own inertia and bias."""
    mass, hx, hy, hz = m[MASS], m[MOMENT], m[MOMENT + 1], m[MOMENT + 2]
    w[A_], w[A_ + 1], w[A_ + 2], w[A_ + 3], w[A_ + 4], w[A_ + 5] = mass, mass, mass, 0.0, 0.0, 0.0
    w[B_], w[B_ + 1], w[B_ + 2] = 0.0, hz, -hy
    w[B_ + 3], w[B_ + 4], w[B_ + 5] = -hz, 0.0, hx
    w[B_ + 6], w[B_ + 7], w[B_ + 8] = hy, -hx, 0.0
    for k in range(6):
        w[C_ + k] = m[INERTIA + k]
        w[Z_ + k] = own[OWN_BIAS + k]


@helper
def weld_to_big_base(m, mass, inertia, factor, w):
    """P = 10⁶ M₁ at the foot's centre of mass, z = 0. W Algorithm 4.3"""
    x, y, z = m[CENTRE], m[CENTRE + 1], m[CENTRE + 2]
    w[A_], w[A_ + 1], w[A_ + 2], w[A_ + 3], w[A_ + 4], w[A_ + 5] = mass, mass, mass, 0.0, 0.0, 0.0
    w[B_], w[B_ + 1], w[B_ + 2] = 0.0, mass * z, -mass * y
    w[B_ + 3], w[B_ + 4], w[B_ + 5] = -mass * z, 0.0, mass * x
    w[B_ + 6], w[B_ + 7], w[B_ + 8] = mass * y, -mass * x, 0.0
    w[C_] = factor * inertia[0] + mass * (y * y + z * z)
    w[C_ + 1] = factor * inertia[1] + mass * (x * x + z * z)
    w[C_ + 2] = factor * inertia[2] + mass * (x * x + y * y)
    w[C_ + 3] = factor * inertia[3] - mass * x * y
    w[C_ + 4] = factor * inertia[4] - mass * x * z
    w[C_ + 5] = factor * inertia[5] - mass * y * z
    for k in range(6):
        w[Z_ + k] = 0.0


@helper
def weld(w, N, counts, row):
    """Six constraints: the foot does not accelerate. What it weighs the ground carries."""
    for j in range(6):
        for k in range(7):
            N[j, k] = 0.0
        N[j, j] = 1.0
    counts[row] = 6


@helper
def pin(point, N, counts, row):
    """Three constraints: the point (3,) of the foot, at rest, does not accelerate, a + α × r = 0."""
    x, y, z = point[0], point[1], point[2]
    for j in range(3):
        for k in range(7):
            N[j, k] = 0.0
        N[j, j] = 1.0
    N[0, 4], N[0, 5] = z, -y
    N[1, 3], N[1, 5] = -z, x
    N[2, 3], N[2, 4] = y, -x
    counts[row] = 3


@helper
def eliminate_constrained(topology, i, roles, rotor, singular, rows, constraints, counts):
    """Cross a joint whose acceleration a constraint determines; returns |nᵀS|. See the head of this file."""
    w, s, N, m = rows[i + 1], rows[0], constraints[i + 1], counts[i + 1]
    axis, parent = joint_axis(topology[i, KIND], 0), topology[i, PARENT]
    size = 0.0
    for j in range(m):
        size += N[j, axis] * N[j, axis]
    size = size**0.5
    seen, along = size > BLIND, 0.0
    if seen:  # Householder: constraint 0 sees all of S, the others nothing
        along = -size if N[0, axis] > 0.0 else size
        scale = 1.0 / (size * size - along * N[0, axis])
        for k in range(7):
            total = 0.0
            for j in range(m):
                total += N[j, k] * (N[j, axis] - (along if j == 0 else 0.0))
            total *= scale
            for j in range(m):
                # N[:, axis] is needed until the end: it is written last
                if k != axis:
                    N[j, k] -= total * (N[j, axis] - (along if j == 0 else 0.0))
        for j in range(m):
            N[j, axis] = 0.0
        N[0, axis] = along
    reach, damping = singular[0], singular[1]
    square = damping * damping * (1.0 - (size / reach) ** 2) if size < reach else 0.0
    quotient = along / (along * along + square) if seen else 0.0
    spread(w, s)
    # P′ = Tᵀ P T, z′ = Tᵀ (P (T c + S β/nᵀS) + z), with t = n/nᵀS
    beyond = N[0, 6] * quotient
    for k in range(6):
        s[36 + k] = N[0, k] * quotient
        beyond -= s[36 + k] * w[K_ + k]
        s[42 + k] = s[6 * k + axis]
    inertia = s[42 + axis] + rotor
    for r in range(6):
        total = w[Z_ + r] + s[42 + r] * beyond
        for c in range(6):
            total += s[6 * r + c] * w[K_ + c]
        s[48 + r] = total
    effort = s[48 + axis] + rotor * beyond
    for r in range(6):
        s[48 + r] -= s[36 + r] * effort
        for c in range(6):
            s[6 * r + c] += s[36 + r] * (s[36 + c] * inertia - s[42 + c]) - s[42 + r] * s[36 + c]
    u = rows[parent]
    move_to_parent(w, s, u)
    pass_wrench(w, u, Z_, s[48], s[49], s[50], s[51], s[52], s[53])
    if roles[parent - 1] != CENTRAL:
        first = 1 if seen else 0
        for j in range(first, m):
            M, remaining = constraints[parent, j - first], N[j, 6]
            for k in range(6):
                remaining -= N[j, k] * w[K_ + k]
                M[k] = 0.0
            M[6] = remaining
            pass_wrench(w, M, 0, N[j, 0], N[j, 1], N[j, 2], N[j, 3], N[j, 4], N[j, 5])
        counts[parent] = m - first
    return size


@helper
def add_held(topology, i, held, rows):
    """A body that its actuator holds: it moves with the parent, plus a known S θ̈."""
    w, s, u = rows[i + 1], rows[0], rows[topology[i, PARENT]]
    spread(w, s)
    w[K_ + joint_axis(topology[i, KIND], 0)] += held[topology[i, IV]]
    for r in range(6):
        total = w[Z_ + r]
        for c in range(6):
            total += s[6 * r + c] * w[K_ + c]
        s[48 + r] = total
    w[K_ + joint_axis(topology[i, KIND], 0)] -= held[topology[i, IV]]
    move_to_parent(w, s, u)
    pass_wrench(w, u, Z_, s[48], s[49], s[50], s[51], s[52], s[53])


@helper
def move_to_parent(w, s, u):
    """Add the inertia s[0:36] of the body in row w to its parent's row u."""
    A = rotate_symmetric(w, s[0], s[7], s[14], s[1], s[2], s[8])
    B = rotate_general(w, s[3], s[4], s[5], s[9], s[10], s[11], s[15], s[16], s[17])
    C = rotate_symmetric(w, s[21], s[28], s[35], s[22], s[23], s[29])
    add_moved(u, w[9], w[10], w[11], A, B, C)
