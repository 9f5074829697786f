# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Steps that follow commands, or ask a compiled controller for them, and write down the motion: one compiled call.

The kernels of the step and of the velocities at a node are called by address, so what happens is, bit for bit, what
happens when Python calls them step by step.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from mbsim_ros.integrators.layout import DRIVE_EFFORT, DRIVE_POSITION, DRIVE_VELOCITY
from mbsim_ros.jit import helper, kernel
from mbsim_ros.native_call import call_by_address

POSITION, VELOCITY, EFFORT, COMMAND_ROWS = 0, 1, 2, 3


class Plan(NamedTuple):
    """What the motors are to do, and when the motion is written down; steps count from the beginning of the rollout."""

    targets: np.ndarray  # (rows, 2, nu) positions and velocities, in step k those of row k // period; or no rows
    efforts: np.ndarray  # (rows, nm) of the motors, alike; or no rows
    parameters: np.ndarray  # (parameters,) of the compiled controller
    times: np.ndarray  # (rows,) s, when the controller is asked; a quotient in a kernel would be rounded otherwise
    period: int  # steps
    every: int  # steps between two rows of the records
    judging: bool  # True


class Addresses(NamedTuple):
    """Of kernels, 0 for what is not called."""

    steps: int  # steps_into
    velocity: int  # node_velocity_into, or …
    forward: int  # … forward_dynamics_into, where the factors are recursive and nothing has a rotor
    controller: int  # (t, q, v, motor_position, motor_velocity, parameters, command)


class NodeScratch(NamedTuple):
    """Memory for velocities at a node."""

    sincos: np.ndarray
    rows: np.ndarray
    dofs: np.ndarray
    M: np.ndarray  # (nv, nv) of the tree
    reduced: np.ndarray  # (nu, nu), or none where a column is a joint
    u: np.ndarray  # (nu,)
    v: np.ndarray  # (nv,) of the tree
    momentum: np.ndarray  # (nv,)
    still: np.ndarray  # (nu,) zeros
    weightless: np.ndarray  # (3,) zeros
    no_wrenches: np.ndarray  # (0, 6)


class Seen(NamedTuple):
    """The robot as users see it, now."""

    q: np.ndarray  # (nq,)
    v: np.ndarray  # (nv,)
    motor_position: np.ndarray  # (nm,)
    motor_velocity: np.ndarray  # (nm,)
    command: np.ndarray  # (COMMAND_ROWS, nm) of the controller
    own_q: np.ndarray  # (nq,) where its coordinates are among those of the tree
    own_dofs: np.ndarray  # (nv,)


class Rows(NamedTuple):
    """The motion after every so many steps."""

    q: np.ndarray  # (rows, nq)
    v: np.ndarray  # (rows, nv)
    motor_position: np.ndarray  # (rows, nm)
    motor_velocity: np.ndarray  # (rows, nm)


_intrinsic: Any = intrinsic  # mypy takes what it makes for a function of all arguments


@_intrinsic
def call_steps(_context, address, system, substeps, first, last, targets, period, judging):
    """steps_into."""
    signature = (system, substeps, first, last, targets, period, judging)
    return call_by_address(types.UniTuple(types.int64, 4), address, *signature)


@_intrinsic
def call_velocity(_context, address, tree, coupling, q, p, motor_momentum, sincos, rows, dofs, M, reduced, u, v):
    """node_velocity_into."""
    signature = (tree, coupling, q, p, motor_momentum, sincos, rows, dofs, M, reduced, u, v)
    return call_by_address(types.boolean, address, *signature)


@_intrinsic
def call_forward(_context, address, topology, constants, q, v, tau, gravity, wrenches, sincos, rows, dofs, out):
    """forward_dynamics_into."""
    signature = (topology, constants, q, v, tau, gravity, wrenches, sincos, rows, dofs, out)
    return call_by_address(types.int64, address, *signature)


@_intrinsic
def call_controller(_context, address, t, q, v, motor_position, motor_velocity, parameters, command):
    """A controller."""
    signature = (t, q, v, motor_position, motor_velocity, parameters, command)
    return call_by_address(types.none, address, *signature)


@kernel
def rollout_into(system, substeps, first, last, plan, addresses, scratch, seen, rows):
    """Take the steps first … last − 1 as steps_into does, and return what it returns for all of them."""
    k, iterations, judged = first, 0, 0
    while k < last:
        end = min(last, k - k % plan.every + plan.every)
        if plan.efforts.shape[0] > 0 or addresses.controller != 0:
            end = min(end, k - k % plan.period + plan.period)
            if k % plan.period == 0:
                command(system, k, plan, addresses, scratch, seen)
        done, more, hard, failure = call_steps(
            addresses.steps, system, substeps, k, end, plan.targets, plan.period, plan.judging
        )
        k += done
        iterations += more
        judged += hard
        if failure < 0:
            return k - first, iterations, judged, failure
        if k % plan.every == 0:
            write_down(system, k // plan.every - 1, addresses, scratch, seen, rows)
    return k - first, iterations, judged, 0


@kernel
def write_down_into(system, row, addresses, scratch, seen, rows):
    """Write one row of the records."""
    write_down(system, row, addresses, scratch, seen, rows)


@kernel
def command_into(system, k, plan, addresses, scratch, seen):
    """Do what is due before step k: targets, efforts, or what the controller says."""
    if plan.targets.shape[0] > 0:
        for i in range(system.motors.shape[1]):
            system.motors[DRIVE_POSITION, i] = plan.targets[k // plan.period, 0, i]
            system.motors[DRIVE_VELOCITY, i] = plan.targets[k // plan.period, 1, i]
    command(system, k, plan, addresses, scratch, seen)


@helper
def command(system, k, plan, addresses, scratch, seen):
    """Set efforts of the table, or all that the controller says."""
    motors = system.motors
    nm = seen.motor_position.shape[0]
    base = motors.shape[1] - nm
    if plan.efforts.shape[0] > 0:
        for i in range(nm):
            motors[DRIVE_EFFORT, base + i] = plan.efforts[k // plan.period, i]
    if addresses.controller != 0:
        look(system, addresses, scratch, seen)
        for i in range(nm):
            seen.command[POSITION, i] = motors[DRIVE_POSITION, base + i]
            seen.command[VELOCITY, i] = motors[DRIVE_VELOCITY, base + i]
            seen.command[EFFORT, i] = motors[DRIVE_EFFORT, base + i]
        call_controller(
            addresses.controller, plan.times[k // plan.period], seen.q, seen.v, seen.motor_position,
            seen.motor_velocity, plan.parameters, seen.command,
        )  # fmt: skip
        for i in range(nm):
            motors[DRIVE_POSITION, base + i] = seen.command[POSITION, i]
            motors[DRIVE_VELOCITY, base + i] = seen.command[VELOCITY, i]
            motors[DRIVE_EFFORT, base + i] = seen.command[EFFORT, i]


@helper
def write_down(system, row, addresses, scratch, seen, rows):
    """Write the motion of now into a row."""
    look(system, addresses, scratch, seen)
    copy(seen.q, rows.q[row])
    copy(seen.v, rows.v[row])
    copy(seen.motor_position, rows.motor_position[row])
    copy(seen.motor_velocity, rows.motor_velocity[row])


@helper
def copy(values, row):
    """Write values into a row."""
    for i in range(values.shape[0]):
        row[i] = values[i]


@helper
def look(system, addresses, scratch, seen):
    """Write the robot as it is now, velocities of NaN where the mass matrix is singular."""
    state = system.state
    for i in range(scratch.M.shape[0]):
        for j in range(scratch.M.shape[1]):
            scratch.M[i, j] = 0.0
    for i in range(scratch.reduced.shape[0]):
        for j in range(scratch.reduced.shape[1]):
            scratch.reduced[i, j] = 0.0
    if addresses.forward != 0:
        for i in range(state.p.shape[0]):
            scratch.momentum[i] = state.p[i] + state.motor_momentum[i]
        is_known = call_forward(
            addresses.forward, system.tree.topology, system.tree.constants, state.q, scratch.still, scratch.momentum,
            scratch.weightless, scratch.no_wrenches, scratch.sincos, scratch.rows, scratch.dofs, scratch.v,
        ) < 0  # fmt: skip
        for i in range(scratch.u.shape[0]):
            scratch.u[i] = scratch.v[i]
    else:
        is_known = call_velocity(
            addresses.velocity, system.tree, system.coupling, state.q, state.p, state.motor_momentum, scratch.sincos,
            scratch.rows, scratch.dofs, scratch.M, scratch.reduced, scratch.u, scratch.v,
        )  # fmt: skip
    base = scratch.u.shape[0] - seen.motor_position.shape[0]
    for i in range(seen.q.shape[0]):
        seen.q[i] = state.q[seen.own_q[i]]
    for i in range(seen.v.shape[0]):
        seen.v[i] = scratch.v[seen.own_dofs[i]] if is_known else np.nan
    for i in range(seen.motor_position.shape[0]):
        seen.motor_position[i] = state.motor_position[base + i]
        seen.motor_velocity[i] = scratch.u[base + i] if is_known else np.nan
