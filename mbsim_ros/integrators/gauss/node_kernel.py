# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""From configuration and velocity to the state of the scheme, and back."""

from mbsim_ros.integrators.gauss.arrays import ROW_MOMENT, STAGE_F, STAGE_Q, STAGE_R, STAGE_V, TURN_GYRE, TURN_REACH
from mbsim_ros.integrators.gauss.chord_kernel import solve_in_place
from mbsim_ros.integrators.gauss.lanes import lane_row
from mbsim_ros.integrators.gauss.momentum_kernel import momenta_into
from mbsim_ros.jit import cross, helper, kernel
from mbsim_ros.model.model import IQ, IV

NO_VELOCITY, OK = 0, -1


@kernel
def start_into(tree, state, work, q, v):
    """Begin at q (nq,) and v (nv,); the frame of a floating base is that of its joint."""
    nv = v.shape[0]
    hold(tree, state, work, q)
    stages = lane_row(work.stages, STAGE_V)
    for i in range(nv):
        stages[i] = v[i]
    momenta_into(tree, work, state.linear, True, False)
    if tree.floats:
        mass, p = tree.carried[0], work.stages[STAGE_R]
        fx, fy, fz = p[0, 0], p[1, 0], p[2, 0]
        ox, oy, oz = arm(tree, work)
        for k in range(4):
            state.turn[k] = q[3 + k]
        state.linear[0], state.linear[1], state.linear[2] = turned(state.turn, fx, fy, fz)
        x, y, z = turned(state.turn, ox, oy, oz)
        state.centre[0], state.centre[1], state.centre[2] = q[0] + x, q[1] + y, q[2] + z
        stages[0], stages[1], stages[2] = v[0] - fx / mass, v[1] - fy / mass, v[2] - fz / mass
        momenta_into(tree, work, state.linear, True, False)
        for k in range(3):
            state.astray[0, k] = state.astray[1, k] = 0.0
        state.spin[0], state.spin[1], state.spin[2] = turned(state.turn, p[3, 0], p[4, 0], p[5, 0])
    for i in range(nv):
        state.p[i] = work.stages[STAGE_R, i, 0]
        state.lost[0, i] = state.lost[1, i] = 0.0
    state.known[0] = 0


@kernel
def node_into(tree, state, work, q, v):
    """Write q (nq,) and v = M(q)⁻¹ p (nv,) of the node; NO_VELOCITY where a part that moves has no inertia, or OK."""
    nv = v.shape[0]
    for i in range(tree.topology.shape[0]):
        if not (tree.floats and i == 0):
            q[tree.topology[i, IQ]] = state.r[tree.topology[i, IV]]
    hold(tree, state, work, q)
    stages, right = lane_row(work.stages, STAGE_V), lane_row(work.stages, STAGE_R)
    for i in range(nv):
        stages[i] = 0.0
    turning = lane_row(work.turning, 0)
    for k in range(TURN_GYRE, TURN_REACH + 1):  # M itself
        turning[k] = 0.0
    momenta_into(tree, work, state.linear, True, True)
    for i in range(6 * tree.floats, nv):
        right[i] = state.p[i]
    if tree.floats:
        turn = state.turn
        ox, oy, oz = arm(tree, work)
        x, y, z = turned(turn, ox, oy, oz)
        q[0], q[1], q[2] = state.centre[0] - x, state.centre[1] - y, state.centre[2] - z
        for k in range(4):
            q[3 + k] = turn[k]
        right[0] = right[1] = right[2] = 0.0
        right[3], right[4], right[5] = turned_back(turn, state.spin[0], state.spin[1], state.spin[2])
    for i in range(nv):
        if not work.chord[i, i, 0] > 0.0:
            return NO_VELOCITY
    solve_in_place(tree, work)
    for i in range(nv):
        v[i] = work.stages[STAGE_R, i, 0]
    if tree.floats:
        x, y, z = turned_back(state.turn, state.linear[0], state.linear[1], state.linear[2])
        mass = tree.carried[0]
        v[0], v[1], v[2] = v[0] + x / mass, v[1] + y / mass, v[2] + z / mass
    return OK


@helper
def hold(tree, state, work, q):
    """Put the joints of all stages where q has them."""
    stages, forces = lane_row(work.stages, STAGE_Q), lane_row(work.stages, STAGE_F)
    for i in range(tree.floats, tree.topology.shape[0]):
        iv = tree.topology[i, IV]
        state.r[iv] = q[tree.topology[i, IQ]]
        stages[iv] = state.r[iv]
        forces[iv] = 0.0


@helper
def arm(tree, work):
    """From the origin of a floating base to the centre of mass, in its axes."""
    mass, moment = tree.carried[0], work.rows[1]
    return moment[ROW_MOMENT, 0] / mass, moment[ROW_MOMENT + 1, 0] / mass, moment[ROW_MOMENT + 2, 0] / mass


@helper
def turned(q, x, y, z):
    """A vector turned by a unit quaternion (x, y, z, w): v + 2 u × (u × v + w v)."""
    ax, ay, az = cross(q[0], q[1], q[2], x, y, z)
    bx, by, bz = cross(q[0], q[1], q[2], ax + q[3] * x, ay + q[3] * y, az + q[3] * z)
    return x + 2.0 * bx, y + 2.0 * by, z + 2.0 * bz


@helper
def turned_back(q, x, y, z):
    """A vector turned by its conjugate."""
    ax, ay, az = cross(q[0], q[1], q[2], x, y, z)
    bx, by, bz = cross(q[0], q[1], q[2], ax - q[3] * x, ay - q[3] * y, az - q[3] * z)
    return x + 2.0 * bx, y + 2.0 * by, z + 2.0 * bz
